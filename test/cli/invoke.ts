import type { Ask } from "../../src/cli/ask.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import type { Config } from "../../src/cli/config.ts";
import type { Environment } from "../../src/cli/environment.ts";
import type { Invocation } from "../../src/cli/session.ts";
import type {
  HostWorld,
  Planner,
  ReconcileAnswer,
  ReconcileRequest,
  WatchRequest,
  Wiring,
} from "../../src/cli/wiring.ts";
import { refKey } from "../../src/model/action.ts";
import type { PastEvent } from "../../src/model/change.ts";
import type { ZoneAnswer } from "../../src/model/live.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { RoutedIP } from "../../src/model/routed-ip.ts";
import type {
  AnnotationChanges,
  ClusterReader,
  EventReader,
  IdentityReader,
  LeaseRecord,
  NamespaceReader,
} from "../../src/ports/cluster.ts";
import { planWorld } from "../../src/reconcile.ts";
import type { WatchAnswer } from "../../src/watch/watch.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { INVOKED_TOKENS, shownTokens } from "../fake/fake-tokens.ts";
import { NOW_MS } from "../report/world.ts";

/** What a command line is run on and with. */
export interface Scene {
  readonly observation?: Observation;
  /** As the cluster has them; those of the observation are pools already. */
  readonly routedIPs?: readonly RoutedIP[];
  /** Thrown by every list of routed IPs. */
  readonly routedIPsError?: Error;
  /** Every Lease, those aside that are absent. */
  readonly lease?: LeaseRecord;
  readonly absentLeases?: readonly string[];
  /** Namespaces that exist; absent = nobody may look. */
  readonly namespaces?: readonly string[];
  readonly answer?: (request: ReconcileRequest) => Promise<ReconcileAnswer>;
  readonly watch?: (request: WatchRequest) => Promise<WatchAnswer>;
  /** Thrown by every reading of the Lease. */
  readonly leaseError?: Error;
  /** What the servers of zones say, by name in full. */
  readonly answers?: Readonly<Record<string, ZoneAnswer>>;
  /** What `host` works with. */
  readonly host?: HostWorld;
  readonly events?: readonly PastEvent[];
  /** Thrown by every list of Events. */
  readonly eventsError?: Error;
  /** Thrown by every list of pools. */
  readonly error?: Error;
  readonly env?: Environment;
  /** Width of the terminal; absent = both streams are pipes. */
  readonly terminal?: number;
  readonly signal?: AbortSignal;
  /** Absent = `flipop`. */
  readonly program?: Invocation["program"];
  /** Absent = one that nobody moves. */
  readonly clock?: FakeClock;
  /** The API server's clock; absent = it stands still. */
  readonly now?: () => number;
  /** Awaited by every list of pools. */
  readonly delay?: () => Promise<void>;
  /** True once nobody reads stdout any more. */
  readonly isClosed?: () => boolean;
  /** Told that a call was left in flight. */
  readonly abandon?: () => void;
  /** Absent = nobody sits at a terminal. */
  readonly ask?: Ask;
  /** Told of every text as it is written. */
  readonly onWrite?: (stream: "stdout" | "stderr", text: string) => void;
  /** Which cluster it is; absent = {@link CLUSTER_UID}. */
  readonly clusterUID?: string;
}

/** The cluster that command lines are run on. */
export const CLUSTER_UID = "3f1c0a52-0000-4000-8000-000000000001";

/** What a command line printed and returned. */
export interface Transcript {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Requests that reached the reconciler. */
  readonly requests: readonly ReconcileRequest[];
  /** Configurations that the wiring was asked with. */
  readonly configs: readonly Config[];
  /** Annotations that were written: of which object, or `lease NAMESPACE/NAME`. */
  readonly annotated: readonly { readonly what: string; readonly annotations: AnnotationChanges }[];
}

/**
 * Runs a command line in this process on stand-ins for the cluster; plans are made by the real planner.
 * @throws Error when a token is printed
 */
export async function invoke(argv: readonly string[], scene: Scene = {}): Promise<Transcript> {
  const written = { stdout: "", stderr: "" };
  const requests: ReconcileRequest[] = [];
  const configs: Config[] = [];
  const annotated: Mutable<Transcript["annotated"]> = [];
  const stream = (name: "stdout" | "stderr"): Invocation["streams"]["stdout"] => ({
    isTTY: scene.terminal !== undefined,
    ...(scene.terminal === undefined ? {} : { columns: scene.terminal }),
    ...(scene.isClosed === undefined ? {} : { isClosed: scene.isClosed }),
    write: (text) => {
      written[name] += text;
      scene.onWrite?.(name, text);
    },
  });
  const exitCode = await runCommandLine({
    argv,
    env: { ...INVOKED_TOKENS, ...scene.env },
    streams: { stdout: stream("stdout"), stderr: stream("stderr") },
    signal: scene.signal ?? new AbortController().signal,
    ...(scene.ask === undefined ? {} : { ask: scene.ask }),
    ...(scene.program === undefined ? {} : { program: scene.program }),
    ...(scene.abandon === undefined ? {} : { abandon: scene.abandon }),
    runID: "0f1e2d3c",
    identity: "laptop_42_0f1e2d3c",
    wallMs: () => NOW_MS,
    loadWiring: () => Promise.resolve(wiringOf(scene, requests, configs, annotated)),
  });
  const [leaked] = shownTokens(`${written.stdout}${written.stderr}`);
  if (leaked !== undefined) throw new Error(`the token ${leaked} was printed`);
  return { ...written, exitCode, requests, configs, annotated };
}

type Mutable<T> = T extends readonly (infer E)[] ? E[] : never;

function wiringOf(
  scene: Scene,
  requests: ReconcileRequest[],
  configs: Config[],
  annotated: Mutable<Transcript["annotated"]>,
): Wiring {
  const cluster = readerOf(scene);
  const planner: Planner = {
    cluster,
    plan: async (selection, options) => {
      await cluster.listPools();
      return planWorld(observationOf(scene), selection, options);
    },
  };
  return {
    clock: scene.clock ?? new FakeClock(),
    withPlanner: (config, work) => {
      configs.push(config);
      return work(planner);
    },
    withLive: (config, work) => {
      configs.push(config);
      return work(planner, { answerOf: async (fqdn) => scene.answers?.[fqdn] ?? { error: "nobody was asked" } });
    },
    withReader: (config, work) => {
      configs.push(config);
      return work(cluster);
    },
    withTrial: async () => {
      throw new Error("this scene has no API server to try objects at");
    },
    withHost: async (config, { nodeName }, work) => {
      configs.push(config);
      const { host } = scene;
      if (host === undefined) throw new Error("this scene has no host");
      return work(nodeName === undefined ? { network: host.network } : host);
    },
    withSources: async () => {
      throw new Error("this scene has no world to examine");
    },
    withAnnotator: (config, work) => {
      configs.push(config);
      return work({
        ...cluster,
        annotateObject: async (object, annotations) => {
          annotated.push({ what: refKey(object), annotations });
        },
        annotateLease: async (namespace, name, annotations) => {
          annotated.push({ what: `lease ${namespace}/${name}`, annotations });
        },
      });
    },
    withWatcher: (config, work) => {
      configs.push(config);
      return work({
        cluster,
        staleness: () => undefined,
        watch: async (request) => scene.watch?.(request) ?? { kind: "locked", holder: "" },
      });
    },
    withReconciler: (config, _deadlineMs, work) => {
      configs.push(config);
      return work({
        cluster,
        where: "context prod (https://kubernetes.example:6443)",
        reconcile: async (request) => {
          requests.push(request);
          await cluster.listPools();
          return scene.answer?.(request) ?? { kind: "locked", holder: "" };
        },
      });
    },
  };
}

function observationOf({ observation }: Scene): Observation {
  if (observation === undefined) throw new Error("this scene has no world");
  return observation;
}

function readerOf(scene: Scene): ClusterReader & NamespaceReader & IdentityReader & EventReader {
  return {
    server: "https://kubernetes.example:6443",
    now: scene.now ?? (() => NOW_MS),
    listPools: async () => {
      await scene.delay?.();
      if (scene.error !== undefined) throw scene.error;
      return observationOf(scene).pools.filter(({ kind }) => kind === "pool");
    },
    listRecordSets: async () => observationOf(scene).recordSets,
    listRoutedIPs: async () => {
      if (scene.routedIPsError !== undefined) throw scene.routedIPsError;
      return scene.routedIPs ?? [];
    },
    listRoutedIPIssuers: async () => [],
    listNamespaceGrants: async () => [],
    listServices: async () => [],
    listEndpointSlices: async () => [],
    listNodes: async () => observationOf(scene).nodes,
    listPods: async () => [],
    readPool: async (meta) => named(observationOf(scene).pools, meta),
    readRecordSet: async (meta) => named(observationOf(scene).recordSets, meta),
    readRoutedIP: async (meta) => named(scene.routedIPs ?? [], meta),
    readNode: async () => undefined,
    listEvents: async (namespace) => {
      if (scene.eventsError !== undefined) throw scene.eventsError;
      return (scene.events ?? []).filter(({ object }) => namespace === undefined || object.namespace === namespace);
    },
    hasNamespace: async (name) => scene.namespaces?.includes(name),
    clusterUID: async () => scene.clusterUID ?? CLUSTER_UID,
    readPodsOn: async () => [],
    readEndpointSlices: async () => [],
    readLease: async (_namespace, name) => {
      if (scene.leaseError !== undefined) throw scene.leaseError;
      return scene.absentLeases?.includes(name) === true ? undefined : scene.lease;
    },
  };
}

function named<T extends { readonly meta: { readonly namespace: string; readonly name: string } }>(
  objects: readonly T[],
  { namespace, name }: { readonly namespace: string; readonly name: string },
): T | undefined {
  return objects.find(({ meta }) => meta.namespace === namespace && meta.name === name);
}
