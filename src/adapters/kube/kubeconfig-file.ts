import { dirname, isAbsolute, resolve, sep } from "node:path";
import { ConfigError } from "../../model/errors.ts";
import { asList, asRecord, asText } from "./json-value.ts";
import { readSmallFile, whyUnreadable } from "./small-file.ts";

/** A named entry's content, as written; paths in it are absolute. */
export type KubeconfigEntry = Readonly<Record<string, unknown>>;

/** One kubeconfig file, or several merged: what is needed to find a cluster and to log in to it. */
export interface Kubeconfig {
  /** Where it came from, for texts. */
  readonly source: string;
  /** `""` when no file sets it. */
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>;
  readonly users: ReadonlyMap<string, KubeconfigEntry>;
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>;
}

/**
 * Reads one kubeconfig file of at most 1 MiB; an empty file is an empty kubeconfig. Relative paths in it are relative to its folder, and
 * absolute in what is returned. Undefined when the file does not exist.
 * @throws ConfigError when it cannot be read or is not a kubeconfig; with the line where the YAML breaks, never its content.
 */
export async function readKubeconfig(file: string): Promise<Kubeconfig | undefined> {
  const text = await readText(file);
  if (text === undefined) return undefined;
  const { parseYAML } = await import("./parse-yaml.ts");
  const parsed = parseYAML(text);
  if (parsed.kind === "broken") throw broken(file, parsed.why);
  const root = asRecord(parsed.value ?? {});
  if (root === undefined) throw broken(file, "it is not a YAML mapping");
  // Absolute, as in kubectl: joined to the folder `.` the plugin `./x` would be `x`, which is looked for on the PATH.
  const folder = resolve(dirname(file));
  return {
    source: file,
    currentContext: asText(root["current-context"]) ?? "",
    clusters: entries(root["clusters"], "cluster", (entry) => absolute(entry, folder, ["certificate-authority"])),
    users: entries(root["users"], "user", (entry) => absoluteUser(entry, folder)),
    contexts: entries(root["contexts"], "context", (entry) => entry),
  };
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readSmallFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ConfigError(
      "invalid",
      `Cannot read the kubeconfig ${file}: ${whyUnreadable(error)}. ` +
        "Make it a file this user may read, or name another with --kubeconfig.",
      { cause: error },
    );
  }
}

function broken(file: string, why: string): ConfigError {
  return new ConfigError(
    "invalid",
    `Cannot use the kubeconfig ${file}: ${why}. Correct the file, or name another with --kubeconfig.`,
  );
}

/** The first entry of a name wins, as it does between files. */
function entries(
  value: unknown,
  member: string,
  complete: (entry: KubeconfigEntry) => KubeconfigEntry,
): ReadonlyMap<string, KubeconfigEntry> {
  const found = new Map<string, KubeconfigEntry>();
  for (const item of asList(value)) {
    const named = asRecord(item);
    const name = named?.["name"];
    if (named === undefined || (typeof name !== "string" && typeof name !== "number")) continue;
    if (!found.has(String(name))) found.set(String(name), complete(asRecord(named[member]) ?? {}));
  }
  return found;
}

function absoluteUser(entry: KubeconfigEntry, folder: string): KubeconfigEntry {
  const user = absolute(entry, folder, ["client-certificate", "client-key", "tokenFile"]);
  const exec = asRecord(user["exec"]);
  const command = asText(exec?.["command"]);
  // A bare word is looked up in $PATH (GetAuthInfoFileReferences of client-go 0.35, read 2026-11-22).
  if (exec === undefined || command === undefined || !command.includes(sep)) return user;
  return { ...user, exec: absolute(exec, folder, ["command"]) };
}

function absolute(entry: KubeconfigEntry, folder: string, members: readonly string[]): KubeconfigEntry {
  const paths = members.flatMap((member) => {
    const path = asText(entry[member]);
    return path === undefined || isAbsolute(path) ? [] : [[member, resolve(folder, path)] as const];
  });
  return { ...entry, ...Object.fromEntries(paths) };
}
