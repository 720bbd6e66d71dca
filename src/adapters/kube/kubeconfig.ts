import { dirname, isAbsolute, resolve, sep } from "node:path";
import { ConfigError } from "../../model/errors.ts";
import { readProxy } from "../http/proxy-choice.ts";
import { type Connection, type ConnectionUser, type ExecPlugin, type Impersonation, optional } from "./call.ts";
import { readSmallFile, whyUnreadable } from "./credentials.ts";
import { asList, asRecord, asText, asTexts } from "./json.ts";

/**
 * The connection a context of a kubeconfig stands for. Pure.
 * @param wanted the context's name; undefined takes `current-context`.
 * @param environment what exec plugins inherit.
 * @throws ConfigError when the context, its cluster or its user is not defined: lists the contexts that exist; or for a proxy-url that is none.
 */
export function resolveContext(
  kubeconfig: Kubeconfig,
  wanted: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Connection {
  const name = wanted ?? kubeconfig.currentContext;
  const context = kubeconfig.contexts.get(name);
  if (context === undefined) throw unknownContext(kubeconfig, name);
  const source = `context "${name}" of ${kubeconfig.source}`;
  const cluster = member(kubeconfig.clusters, asText(context["cluster"]) ?? "", "cluster", source);
  const userName = asText(context["user"]);
  const user = userName === undefined ? {} : member(kubeconfig.users, userName, "user", source);
  return {
    server: serverOf(cluster, source),
    source,
    context: name,
    namespace: asText(context["namespace"]) ?? "default",
    tls: tlsOf(cluster),
    ...optional("proxy", proxyOf(cluster, source)),
    user: userOf(user, cluster, environment),
    impersonation: impersonationOf(user),
  };
}

function unknownContext(kubeconfig: Kubeconfig, name: string): ConfigError {
  const names = [...kubeconfig.contexts.keys()].toSorted();
  if (names.length === 0)
    return new ConfigError(
      "invalid",
      `No cluster is configured: ${kubeconfig.source} has no contexts. Write a kubeconfig into it, or pass another with --kubeconfig FILE.`,
    );
  const what =
    name === ""
      ? `No context is chosen: ${kubeconfig.source} sets no current-context`
      : `Context "${name}" does not exist in ${kubeconfig.source}`;
  return new ConfigError("invalid", `${what}. It has: ${names.join(", ")}. Choose one with --context NAME.`);
}

function member(
  entries: ReadonlyMap<string, KubeconfigEntry>,
  name: string,
  kind: "cluster" | "user",
  source: string,
): KubeconfigEntry {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  const what = name === "" ? `names no ${kind}` : `names the ${kind} "${name}", which is not defined`;
  throw new ConfigError(
    "invalid",
    `The ${source} ${what}. Correct the kubeconfig, or choose another context with --context.`,
  );
}

function serverOf(cluster: KubeconfigEntry, source: string): string {
  const text = asText(cluster["server"]) ?? "";
  // kubectl takes a host without a scheme, too.
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url === null || text === "" || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(
      "invalid",
      `The cluster of ${source} has no usable server URL. Set clusters[].cluster.server.`,
    );
  }
  url.username = "";
  url.password = "";
  url.search = "";
  url.hash = "";
  return url.href.replace(/\/+$/, "");
}

function proxyOf(cluster: KubeconfigEntry, source: string): Connection["proxy"] {
  const text = asText(cluster["proxy-url"]);
  return text === undefined ? undefined : readProxy(text, `proxy-url of ${source}`);
}

function tlsOf(cluster: KubeconfigEntry): Connection["tls"] {
  return {
    ...optional("authority", decoded(cluster["certificate-authority-data"])),
    ...optional("authorityFile", asText(cluster["certificate-authority"])),
    ...optional("serverName", asText(cluster["tls-server-name"])),
    isInsecure: cluster["insecure-skip-tls-verify"] === true,
  };
}

function userOf(
  user: KubeconfigEntry,
  cluster: KubeconfigEntry,
  environment: Readonly<Record<string, string | undefined>>,
): ConnectionUser {
  const exec = asRecord(user["exec"]);
  return {
    ...optional("token", asText(user["token"])),
    ...optional("tokenFile", asText(user["tokenFile"])),
    ...optional("username", asText(user["username"])),
    ...optional("password", asText(user["password"])),
    ...optional("certificate", decoded(user["client-certificate-data"])),
    ...optional("certificateFile", asText(user["client-certificate"])),
    ...optional("key", decoded(user["client-key-data"])),
    ...optional("keyFile", asText(user["client-key"])),
    ...(exec === undefined ? {} : { exec: execOf(exec, cluster, environment) }),
    ...optional("authProvider", asRecord(user["auth-provider"])),
  };
}

const SECRET_NAME = /(TOKEN|SECRET|PASSWORD|PASSWD|_KEY)$/i;

function execOf(
  exec: KubeconfigEntry,
  cluster: KubeconfigEntry,
  environment: Readonly<Record<string, string | undefined>>,
): ExecPlugin {
  const added = asList(exec["env"]).flatMap((item) => {
    const name = asText(asRecord(item)?.["name"]);
    return name === undefined ? [] : [[name, String(asRecord(item)?.["value"] ?? "")] as const];
  });
  const members = ["server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url"];
  const told = members.flatMap((name) => (cluster[name] === undefined ? [] : [[name, cluster[name]] as const]));
  return {
    command: asText(exec["command"]) ?? "",
    searchPath: environment["PATH"] ?? "",
    args: asTexts(exec["args"]),
    environment: { ...environment, ...Object.fromEntries(added) },
    secrets: added.flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : [])),
    apiVersion: asText(exec["apiVersion"]) ?? "client.authentication.k8s.io/v1",
    installHint: asText(exec["installHint"])?.trim() ?? "",
    needsTerminal: exec["interactiveMode"] === "Always",
    ...(exec["provideClusterInfo"] === true ? { cluster: Object.fromEntries(told) } : {}),
  };
}

function impersonationOf(user: KubeconfigEntry): Impersonation {
  const extra = Object.entries(asRecord(user["as-user-extra"]) ?? {}).map(([key, values]) => [key, asTexts(values)]);
  return {
    ...optional("user", asText(user["as"])),
    groups: asTexts(user["as-groups"]),
    ...optional("uid", asText(user["as-uid"])),
    extra: Object.fromEntries(extra),
  };
}

function decoded(value: unknown): string | undefined {
  const text = asText(value);
  return text === undefined ? undefined : Buffer.from(text, "base64").toString("utf8");
}

/** A named entry's content, as written; paths in it are absolute. */
type KubeconfigEntry = Readonly<Record<string, unknown>>;

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

/**
 * Merges kubeconfigs as kubectl merges the files of `$KUBECONFIG`: for each cluster, user and context the first file that has
 * the name gives the whole entry, and the first file that sets `current-context` wins. Pure.
 * @see https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files (2026-08)
 */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  return {
    source: files.map((file) => file.source).join(", "),
    currentContext: files.map((file) => file.currentContext).find((name) => name !== "") ?? "",
    clusters: firstWins(files.map((file) => file.clusters)),
    users: firstWins(files.map((file) => file.users)),
    contexts: firstWins(files.map((file) => file.contexts)),
  };
}

function firstWins(maps: readonly ReadonlyMap<string, KubeconfigEntry>[]): ReadonlyMap<string, KubeconfigEntry> {
  return new Map(maps.toReversed().flatMap((map) => [...map]));
}
