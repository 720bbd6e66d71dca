import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { delimiter, join } from "node:path";
import { ConfigError } from "../../model/errors.ts";
import type { ChooseProxy } from "../http/proxy-choice.ts";
import { type Connection, type Impersonation, optional } from "./call.ts";
import { type Kubeconfig, mergeKubeconfigs, readKubeconfig, resolveContext } from "./kubeconfig.ts";

// Finds the cluster to talk to, as kubectl finds it. client-node's own loader differs from kubectl in several ways
// (duplicate names and missing files throw, the last current-context wins, `tokenFile` is not read; 2.0.1, 2026-08) and takes
// 0.4 s to load, so files are read and merged here, and client-node is loaded only where it is needed: ./delegate.ts.

/** Everything that decides which cluster is used; flags and environment are read by the caller. */
export interface KubeConfigInputs {
  /** `--kubeconfig`: one file, which must exist. */
  readonly kubeconfig?: string;
  /** `$KUBECONFIG`: files that are merged; missing ones are skipped. */
  readonly kubeconfigEnv?: string;
  /** The home folder, for `~/.kube/config`; `""` when there is none. */
  readonly home: string;
  readonly context?: string;
  /** `--as` and `--as-group`: they replace all impersonation of the kubeconfig. */
  readonly as?: string;
  readonly asGroups?: readonly string[];
  /** `$KUBERNETES_SERVICE_HOST` and `_PORT`, and the folder of the service account when it is not the usual one. */
  readonly inCluster: { readonly host?: string; readonly port?: string; readonly folder?: string };
  /** What exec plugins inherit; they need at least `PATH` and `HOME`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The proxy that the environment names for a server; the kubeconfig's `proxy-url` goes before it. Absent = none. */
  readonly chooseProxy?: ChooseProxy;
}

/**
 * Chooses the API server and the way to log in: `--kubeconfig`, else `$KUBECONFIG`, else `~/.kube/config`, else the pod's
 * service account. An empty kubeconfig counts as none. Reads files; calls no one.
 * @throws ConfigError when no cluster is configured, a file or context is missing or broken: what it is, and what to do.
 */
export async function loadConfig(inputs: KubeConfigInputs): Promise<Connection> {
  const kubeconfig = await loadKubeconfig(inputs);
  if (kubeconfig !== undefined && (inputs.kubeconfig || !isEmpty(kubeconfig))) {
    const connection = resolveContext(kubeconfig, inputs.context || undefined, inputs.environment);
    return complete(connection, inputs);
  }
  const inside = inputs.context ? undefined : await inClusterConnection(inputs.inCluster);
  if (inside === undefined) throw nothingConfigured(inputs, kubeconfig);
  return complete(inside, inputs);
}

/** Returns the names of the contexts that `--context` can choose, sorted. Reads files; calls no one. @throws ConfigError as {@link loadConfig} */
export async function listContexts(inputs: KubeConfigInputs): Promise<readonly string[]> {
  return [...((await loadKubeconfig(inputs))?.contexts.keys() ?? [])].toSorted();
}

function complete(connection: Connection, inputs: KubeConfigInputs): Connection {
  return {
    ...connection,
    impersonation: impersonation(inputs) ?? connection.impersonation,
    ...optional("proxy", connection.proxy ?? inputs.chooseProxy?.(new URL(connection.server))),
  };
}

async function loadKubeconfig(inputs: KubeConfigInputs): Promise<Kubeconfig | undefined> {
  if (inputs.kubeconfig)
    return (await readKubeconfig(inputs.kubeconfig)) ?? missing(`The kubeconfig ${inputs.kubeconfig}`);
  const listed = (inputs.kubeconfigEnv ?? "").split(delimiter).filter((file) => file !== "");
  if (listed.length > 0) {
    const files: Kubeconfig[] = [];
    for (const file of listed) {
      const read = await readKubeconfig(file);
      if (read !== undefined) files.push(read);
    }
    if (files.length === 0) missing(`No file of $KUBECONFIG (${listed.join(", ")})`);
    return mergeKubeconfigs(files);
  }
  return inputs.home === "" ? undefined : await readKubeconfig(join(inputs.home, ".kube", "config"));
}

function missing(what: string): never {
  const isNone = what.startsWith("No ");
  throw new ConfigError(
    "invalid",
    `${what} ${isNone ? "exists" : "does not exist"}. Correct the path${isNone ? ", or unset the variable" : ", or leave out --kubeconfig"} to use ~/.kube/config.`,
  );
}

function isEmpty(kubeconfig: Kubeconfig): boolean {
  return kubeconfig.currentContext === "" && kubeconfig.contexts.size === 0 && kubeconfig.clusters.size === 0;
}

/** The flags' impersonation; undefined when there is none. */
function impersonation(inputs: KubeConfigInputs): Impersonation | undefined {
  const groups = inputs.asGroups ?? [];
  if (inputs.as) return { user: inputs.as, groups, extra: {} };
  if (groups.length === 0) return undefined;
  throw new ConfigError("usage", "--as-group needs --as: Kubernetes impersonates groups only together with a user.");
}

function nothingConfigured(inputs: KubeConfigInputs, empty: Kubeconfig | undefined): ConfigError {
  const what = inputs.context ? `Cannot use context "${inputs.context}"` : "No cluster is configured";
  const isListed = empty !== undefined && Boolean(inputs.kubeconfigEnv);
  return new ConfigError(
    "invalid",
    isListed
      ? `${what}: ${emptyText(empty.source)}`
      : `${what}: ${inputs.context ? "no kubeconfig was found: " : ""}${NOTHING_GIVEN}`,
  );
}

const NOTHING_GIVEN =
  "neither --kubeconfig nor $KUBECONFIG is given, ~/.kube/config is missing or empty, and this is not a pod " +
  "with a service account. Set KUBECONFIG or pass --kubeconfig FILE; to try flipop without a cluster, pass --sandbox.";

/** Of the files that `$KUBECONFIG` names, and nothing is in. */
function emptyText(source: string): string {
  const which = source.includes(", ")
    ? `all of the kubeconfigs ${source} that $KUBECONFIG names are empty`
    : `the kubeconfig ${source} that $KUBECONFIG names is empty`;
  return (
    `${which}, and this is not a pod with a service account. Write a kubeconfig into it, set KUBECONFIG to another ` +
    "or pass --kubeconfig FILE; to try flipop without a cluster, pass --sandbox."
  );
}

const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The connection of a pod: the API server its environment names and the mounted service account, whose token file is read
 * again while flipop runs. Undefined outside a pod, and in a pod whose token is not mounted. Reads files; calls no one.
 */
async function inClusterConnection(place: {
  readonly host?: string;
  readonly port?: string;
  readonly folder?: string;
}): Promise<Connection | undefined> {
  const folder = place.folder ?? FOLDER;
  const tokenFile = join(folder, "token");
  if (!place.host || (await textOf(tokenFile)) === undefined) return undefined;
  const host = isIPv6(place.host) ? `[${place.host}]` : place.host;
  return {
    server: `https://${host}:${place.port || "443"}`,
    source: "the pod's service account",
    context: "",
    namespace: (await textOf(join(folder, "namespace"))) ?? "default",
    tls: { authorityFile: join(folder, "ca.crt"), isInsecure: false },
    user: { tokenFile },
    impersonation: { groups: [], extra: {} },
  };
}

/** The file's text without surrounding space; undefined when it cannot be read or is empty. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim() || undefined;
  } catch {
    return undefined;
  }
}
