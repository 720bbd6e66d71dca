import { hostname } from "node:os";
import type { Connection } from "../adapters/kube/call.ts";
import type { TransportOptions } from "../adapters/kube/transport.ts";
import type {
  AnnotatableCluster,
  ClusterReader,
  ClusterWriter,
  EventReader,
  IdentityReader,
  NamespaceReader,
  Overlay,
  PodLabelReader,
  WarmCluster,
  WorkloadReader,
} from "../ports/cluster.ts";
import type { OwnNode } from "../ports/host.ts";
import type { Clock } from "../ports/system.ts";
import type { ObjectTrial } from "../ports/trial.ts";
import type { Config, Runtime } from "./config.ts";
import { given, passwordsIn, readVersion } from "./environment.ts";
import { warnOfPlainText } from "./output.ts";

/** A cluster whose idle connections can be let go. */
type Closable<C> = C & { close(): void };

/**
 * Returns the cluster that the configuration chooses, for a run that only reads.
 *
 * @param overlay - how objects are seen in the place of the stored ones; absent = as they are
 * @throws ConfigError when there is none or its kubeconfig is broken
 */
export async function openClusterReader(
  config: Config,
  clock: Clock,
  overlay?: Overlay,
): Promise<Closable<ClusterReader & NamespaceReader & IdentityReader & EventReader & PodLabelReader & WorkloadReader>> {
  const { createClusterReader } = await import("../adapters/kube/cluster-reader.ts");
  const { connection, reload } = await connect(config);
  return createClusterReader(connection, { ...transportOf(config, clock), reload, ...given({ overlay }) });
}

/**
 * Returns the cluster that the configuration chooses, for a command that writes annotations only.
 * @throws ConfigError when there is none or its kubeconfig is broken
 */
export async function openAnnotator(config: Config, clock: Clock): Promise<Closable<AnnotatableCluster>> {
  const { createAnnotator } = await import("../adapters/kube/annotate.ts");
  const { connection, reload } = await connect(config);
  return createAnnotator(connection, { ...transportOf(config, clock), reload });
}

/**
 * Returns what asks the cluster that the configuration chooses whether it would take objects.
 * @throws ConfigError when there is none or its kubeconfig is broken
 */
export async function openTrial(config: Config, clock: Clock): Promise<Closable<ObjectTrial>> {
  const { createTrial } = await import("../adapters/kube/trial.ts");
  const { connection, reload } = await connect(config);
  return createTrial(connection, { ...transportOf(config, clock), reload });
}

/** What a login is known by in texts, and a way to do it before anything else. */
interface LogIn {
  readonly source: string;
  /** @throws ConfigError where there are no credentials */
  readonly logIn: () => Promise<void>;
}

/**
 * Returns the cluster that the configuration chooses, for a run that may write and must be over at `untilMs`, monotonic.
 * @throws ConfigError when there is none or its kubeconfig is broken
 */
export async function openClusterWriter(
  config: Config,
  { clock, machine = hostname() }: Runtime,
  untilMs: number,
): Promise<Closable<ClusterWriter & NamespaceReader & IdentityReader & EventReader & LogIn>> {
  const { createClusterWriter } = await import("../adapters/kube/cluster-writer.ts");
  const { connection, reload } = await connect(config);
  const options = { ...transportOf(config, clock), untilMs, reload, reportingInstance: machine };
  return createClusterWriter(connection, options);
}

/**
 * Returns the cluster that the configuration chooses, with its lists kept in memory by watches.
 * @throws ConfigError when there is none or its kubeconfig is broken
 */
export async function openWarmCluster(config: Config, { clock, machine = hostname() }: Runtime): Promise<WarmCluster> {
  const { createWarmCluster } = await import("../adapters/kube/warm-cluster.ts");
  const { connection, reload } = await connect(config);
  return createWarmCluster(connection, { ...transportOf(config, clock), reload, reportingInstance: machine });
}

/**
 * Returns one node of the cluster that the configuration chooses, kept in memory by a watch.
 * @throws ConfigError when there is no cluster or its kubeconfig is broken
 */
export async function openOwnNode(config: Config, clock: Clock, name: string): Promise<OwnNode> {
  const { createOwnNode } = await import("../adapters/kube/own-node.ts");
  const { connection, reload } = await connect(config);
  return createOwnNode(connection, { ...transportOf(config, clock), reload, name });
}

/** Returns the cluster and the way to log in, now and later. A later login keeps the context, whatever the kubeconfig says by then. */
export async function connect({
  chooseProxy,
  secrets,
  warn,
  ...config
}: Config): Promise<{ readonly connection: Connection; readonly reload: () => Promise<Connection> }> {
  const { loadConfig } = await import("../adapters/kube/config.ts");
  const kube = { ...config.kube, chooseProxy };
  const connection: Connection = { ...(await loadConfig(kube)), secrets };
  for (const secret of passwordsIn(connection.proxy?.url.href ?? "")) secrets.add(secret);
  const { token, tokenFile, username, exec, authProvider } = connection.user;
  const logsIn = [token, tokenFile, username, exec, authProvider].some((way) => way !== undefined);
  if (logsIn) warnOfPlainText(warn, connection.server, `What ${connection.source} logs in with`);
  const chosen = connection.context === "" ? kube : { ...kube, context: connection.context };
  return { connection, reload: () => loadConfig(chosen) };
}

/** Returns what every call to the cluster has in common. */
export function transportOf(
  { requestTimeoutMs, progress }: Config,
  clock: Clock,
): Pick<TransportOptions, "version" | "clock" | "requestTimeoutMs" | "progress"> {
  return { version: readVersion(), clock, ...given({ requestTimeoutMs, progress }) };
}
