import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { readBytes } from "../adapters/files/read-bytes.ts";
import { ConfigError } from "../model/errors.ts";

/** A file of manifests with its text, or why it cannot be read. */
export type ReadManifest = { readonly name: string } & (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unread"; readonly error: ConfigError }
);

/** The most that one file of manifests may hold, bytes: ten thousand objects are less than a tenth of it. */
const MOST_BYTES = 32 * 1024 * 1024;

const MANIFEST = /\.(ya?ml|json)$/;

/**
 * Reads a file, standard input (`-`), or the manifests in a folder by name; with `isDeep` also those of the folders below, but for hidden ones. Never throws.
 * @param stdinName - what standard input is called
 */
export async function readManifests(
  path: string,
  { isDeep = false, stdinName = "-" }: { readonly isDeep?: boolean; readonly stdinName?: string } = {},
): Promise<readonly ReadManifest[]> {
  if (path === "-") return [await readOne(stdinName, path)];
  const folder = await trying(path, async () =>
    (await stat(path)).isDirectory() ? await manifestsIn(path, isDeep) : undefined,
  );
  if (folder instanceof ConfigError) return [{ name: path, kind: "unread", error: folder }];
  const files: ReadManifest[] = [];
  // One after the other: a process may have only so many files open.
  for (const name of folder ?? [path]) files.push(await readOne(name, name));
  return files;
}

/** The manifests in a folder, those of the folder itself first. Links to folders are not followed: they may lead back. */
async function manifestsIn(folder: string, isDeep: boolean): Promise<readonly string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const files = entries.filter((entry) => !entry.isDirectory() && MANIFEST.test(entry.name));
  const below = isDeep ? entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")) : [];
  const deeper = await Promise.all(below.map(({ name }) => manifestsIn(join(folder, name), isDeep)));
  return [...files.map(({ name }) => join(folder, name)), ...deeper.flat()];
}

async function readOne(name: string, path: string): Promise<ReadManifest> {
  const text = await trying(name, async () => decoded(name, await readBytes(path, { mostBytes: MOST_BYTES })));
  return text instanceof ConfigError ? { name, kind: "unread", error: text } : { name, kind: "text", text };
}

/** @throws ConfigError for bytes that are no UTF-8 */
function decoded(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ConfigError("invalid", `Cannot read ${name}: it is no text in UTF-8.`, { cause: error });
  }
}

const UNREAD: ReadonlyMap<string, (path: string) => string> = new Map([
  ["ENOENT", (path) => `There is no file ${path}.`],
  ["EACCES", (path) => `You may not read ${path}.`],
  ["EISDIR", (path) => `${path} is a folder, and no file.`],
]);

/** The result of some work on files; or in words why it cannot be done. */
async function trying<T>(path: string, work: () => Promise<T>): Promise<T | ConfigError> {
  try {
    return await work();
  } catch (error) {
    return error instanceof ConfigError ? error : unreadable(path, error);
  }
}

/** Returns the error of the system for a file as a person understands it. */
export function unreadable(path: string, error: unknown): ConfigError {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = UNREAD.get(code ?? "");
  const text = why?.(path) ?? `Cannot read ${path}: ${message}`;
  return new ConfigError("invalid", text, { cause: error });
}
