import { ConfigError } from "../../model/errors.ts";
import { readProxy } from "../http/proxy-choice.ts";
import type { Connection, ConnectionUser, ExecPlugin, Impersonation } from "./connection.ts";
import { asList, asRecord, asText, asTexts } from "./json-value.ts";
import type { Kubeconfig, KubeconfigEntry } from "./kubeconfig-file.ts";
import { optional } from "./optional.ts";

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
  const known = names.length === 0 ? "It has no contexts" : `It has: ${names.join(", ")}`;
  const what =
    name === ""
      ? `No context is chosen: ${kubeconfig.source} sets no current-context`
      : `Context "${name}" does not exist in ${kubeconfig.source}`;
  return new ConfigError("invalid", `${what}. ${known}. Choose one with --context NAME.`);
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
