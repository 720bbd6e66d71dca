import { createHash } from "node:crypto";
import { access, chmod, constants, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseDocument, visit } from "yaml";
import { readBytes } from "../adapters/files/read-bytes.ts";
import { ConfigError } from "../model/errors.ts";
import { API_VERSION } from "../report/json/document.ts";
import { readEntryLines } from "./entry-lines.ts";
import { unreadable } from "./manifest-files.ts";
import type { Session } from "./session.ts";

// Documents that flipop writes to files and reads again: snapshots and saved plans.

/** What stands before the content of a document. */
interface Head {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly digest?: unknown;
}

/** A document as it was read. */
export interface ReadDocument {
  /** For texts: the path, or `stdin`. */
  readonly name: string;
  readonly document: Head & Readonly<Record<string, unknown>>;
}

/** Returns the digest of a document's content: SHA-256 as hexadecimal text. */
export function digestOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}

/**
 * Reads a document from a file, or from standard input (`-`), and makes something of it.
 * @param kind - as the document must have it, and what it is called
 * @throws ConfigError `invalid` for what cannot be read, is no such document, or is one of a later version
 */
export async function readDocumentFile<T>(
  path: string,
  kind: readonly [kind: string, called: string],
  make: (read: ReadDocument) => T,
): Promise<T> {
  const name = path === "-" ? "stdin" : path;
  try {
    const document = parsed((await readBytes(path)).toString("utf8"));
    checkHead(document, kind);
    return make({ name, document });
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(error.kind, `Cannot use ${name}. ${error.message}`);
    throw unreadable(name, error);
  }
}

/** The document of a text: JSON, which is quickly read, or YAML. */
function parsed(text: string): ReadDocument["document"] {
  const value: unknown = asJSON(text) ?? readEntryLines(text, asYAML);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as ReadDocument["document"]) : {};
}

function asJSON(text: string): unknown {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asYAML(text: string): unknown {
  const document = parseDocument(text, { logLevel: "silent" });
  const [wrong] = document.errors;
  // Below its first line the parser shows the place, so that line ends in a colon.
  const told = wrong?.message.split("\n", 1)[0]?.replace(/:$/, "");
  if (told !== undefined) throw new ConfigError("invalid", `It is no YAML: ${told}.`);
  visit(document, {
    Alias: (_, { source }) => {
      throw new ConfigError("invalid", `It has *${source}, a reference of YAML. Write out what that stands for.`);
    },
  });
  return document.toJS({ maxAliasCount: 0 }) ?? {};
}

function checkHead({ apiVersion, kind }: Head, [wanted, called]: readonly [string, string]): void {
  if (kind !== wanted) throw new ConfigError("invalid", `It is no ${called}: its kind is not ${wanted}.`);
  if (apiVersion === API_VERSION) return;
  const given = typeof apiVersion === "string" ? apiVersion : "none";
  throw new ConfigError("invalid", `Its apiVersion is ${given}; this flipop reads ${API_VERSION}.`);
}

/** What looks like a token of a provider or of the cluster, whoever it belongs to. */
const TOKEN =
  /\bdo[opr]_v1_[0-9a-f]{16,}|\bbearer\s+[A-Za-z0-9._~+/-]{16,}|\beyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}\./i;

/** True for a text that holds a secret of this process, or what looks like one. */
export function holdsSecret(text: string, { secrets }: Pick<Session, "secrets">): boolean {
  return TOKEN.test(text) || secrets.redact(text) !== text;
}

/** Looks whether a file can be written, before anything is read for it: at worst that takes a minute. @throws ConfigError as {@link writeNewFile} does */
export async function refuseUnwritable(path: string, mayReplace: boolean): Promise<void> {
  const there = await stat(path).catch(() => undefined);
  if (there?.isDirectory() === true) throw new ConfigError("usage", `${path} is a folder: name a file.`);
  // A new file would take the place of /dev/null, for everybody.
  if (there?.isFile() === false)
    throw new ConfigError("usage", `${path} is a device or a pipe, which is not replaced: name a file.`);
  if (there !== undefined && !mayReplace) throw existing(path);
  const folder = dirname(path);
  const isFolder = (await stat(folder).catch(() => undefined))?.isDirectory();
  if (isFolder === undefined) throw new ConfigError("invalid", `Cannot write ${path}: there is no folder ${folder}.`);
  if (!isFolder) throw new ConfigError("invalid", `Cannot write ${path}: ${folder} is no folder.`);
  await access(folder, constants.W_OK).catch((error: Error) => {
    throw unwritable(path, error);
  });
}

function existing(path: string, cause?: unknown): ConfigError {
  return new ConfigError("usage", `${path} exists. --force replaces it.`, { cause });
}

function unwritable(path: string, cause: Error): ConfigError {
  return new ConfigError("invalid", `Cannot write ${path}: ${cause.message}`, { cause });
}

/**
 * Writes a file that only its owner may read, in one step: on a disk that is full nothing is left of it.
 * @throws ConfigError `usage` where there is one already, `invalid` where it cannot be written
 */
export async function writeNewFile(path: string, text: string, mayReplace: boolean): Promise<void> {
  await refuseUnwritable(path, mayReplace);
  const next = mayReplace ? `${path}.${process.pid}.new` : path;
  try {
    await (await open(next, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw existing(path, error);
    throw unwritable(path, error as Error);
  }
  try {
    await writeFile(next, text);
    await chmod(next, 0o600);
    if (next !== path) await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw unwritable(path, error as Error);
  }
}
