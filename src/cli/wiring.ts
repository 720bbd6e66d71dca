import { WEBHOOK } from "../adapters/webhook/traits.ts";
import type { Sources } from "../doctor/gather.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import type { RunRestraint } from "../model/restraint.ts";
import type { PassResult, RunEnd, Selection } from "../model/run.ts";
import type { ScheduledWorkload } from "../model/workload.ts";
import type {
  AnnotatableCluster,
  ClusterReader,
  ClusterWriter,
  EventReader,
  IdentityReader,
  LeaseRecord,
  NamespaceReader,
  Overlay,
  Staleness,
} from "../ports/cluster.ts";
import type { HostNetwork, OwnNode } from "../ports/host.ts";
import type { ZoneServers } from "../ports/resolver.ts";
import { type Clock, type LockState, within } from "../ports/system.ts";
import type { ObjectTrial } from "../ports/trial.ts";
import type { PlannedWorld, PlanOptions } from "../reconcile.ts";
import type { SavedApplication } from "../saved/application.ts";
import { type AnnotateFailure, NO_LOCK } from "../watch/lease.ts";
import type { LeaseTerms } from "../watch/lease-acquire.ts";
import { type ShardAnswer, withShardLease } from "../watch/shard-lock.ts";
import type { WatchAnswer, WatchListener } from "../watch/watch.ts";
import { type Config, ownLease, type Runtime, warnOfKeptLease } from "./config.ts";
import type { DoctorTerms } from "./doctor-sources.ts";
import { given } from "./environment.ts";
import {
  openAnnotator,
  openClusterReader,
  openClusterWriter,
  openOwnNode,
  openTrial,
  openWarmCluster,
} from "./open-cluster.ts";
import { openProviderReaders, openProviders, readMeters, unusableTokens } from "./providers.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";

/** The way from commands to the world. Each method opens what its command needs, lends it to the work, and closes it again, also when the work throws. */
export interface Wiring {
  readonly clock: Clock;
  /** For `status`. Of a snapshot where the configuration names one. */
  readonly withReader: <T>(config: Config, work: (cluster: Reader) => Promise<T>) => Promise<T>;
  /** For `suspend` and `resume`: writes annotations that a person asks for, and nothing else. */
  readonly withAnnotator: <T>(config: Config, work: (cluster: AnnotatableCluster) => Promise<T>) => Promise<T>;
  /** For `validate`: a plan of the cluster with other objects, and what the API server says of them. Nothing here can write. */
  readonly withTrial: <T>(
    config: Config,
    overlay: Overlay,
    work: (planner: Planner, trial: ObjectTrial) => Promise<T>,
  ) => Promise<T>;
  /** Of a snapshot where the configuration names one. `overlay` says how objects are seen in the place of the stored ones; absent = as they are. */
  readonly withPlanner: <T>(config: Config, work: (planner: Planner) => Promise<T>, overlay?: Overlay) => Promise<T>;
  /** As `withPlanner`, for `status --live`: beside it what asks the servers of zones. */
  readonly withLive: <T>(config: Config, work: (planner: Planner, servers: ZoneServers) => Promise<T>) => Promise<T>;
  /** `deadlineMs`, monotonic, is when the run must have ended: it bounds every call. */
  readonly withReconciler: <T>(
    config: Config,
    deadlineMs: number,
    work: (reconciler: Reconciler) => Promise<T>,
  ) => Promise<T>;
  readonly withWatcher: <T>(config: Config, work: (watcher: Watcher) => Promise<T>) => Promise<T>;
  /** For `host`; without a name no cluster is opened. `searchPath` is where its programs are looked for first. */
  readonly withHost: <T>(
    config: Config,
    terms: { readonly nodeName: string | undefined; readonly searchPath: string },
    work: (world: HostWorld) => Promise<T>,
  ) => Promise<T>;
  /** For `doctor`: how each fact is read. Nothing is opened before; what cannot be opened fails where it is read. */
  readonly withSources: <T>(config: Config, terms: DoctorTerms, work: (sources: Sources) => Promise<T>) => Promise<T>;
}

/** Everything that `host` works with: one node of the cluster, which cannot be written, and the network of the machine. */
export interface HostWorld {
  /** Absent where no node is named. */
  readonly node?: OwnNode;
  readonly network: HostNetwork;
}

/** A cluster that cannot be written, as far as commands read it by themselves; or a snapshot of one. */
export type Reader = NamespaceReader &
  EventReader &
  IdentityReader &
  Pick<
    ClusterReader,
    | "server"
    | "now"
    | "listPools"
    | "listRoutedIPs"
    | "listRoutedIPIssuers"
    | "listServices"
    | "listRecordSets"
    | "listNodes"
  > &
  Partial<Pick<ClusterReader, "listPods">> & {
    /**
     * Lists what runs flipop in a namespace, in no order. A reader without this method has nothing to look for it in.
     * @throws KubeError `forbidden` where the permission is missing, `not-found` where a snapshot holds no such list
     */
    readonly listWorkloads?: (namespace: string) => Promise<readonly ScheduledWorkload[]>;
    readonly readLease: (
      namespace: string,
      name: string,
    ) => Promise<Pick<LeaseRecord, "namespace" | "name" | "holder" | "renewTimeMs" | "annotations"> | undefined>;
  };

/** The world of `plan`: nothing here can write. */
export interface Planner {
  readonly cluster: Reader;
  plan(selection: Selection, options?: PlanOptions): Promise<PlannedWorld>;
}

/** The world of `reconcile`. */
interface Reconciler {
  readonly cluster: Reader;
  /** Which cluster it is, for people: `context "prod" of /home/me/.kube/config (https://…)`. */
  readonly where: string;
  /** Takes the lock and passes; `locked` when someone else kept it. */
  reconcile(request: ReconcileRequest): Promise<ReconcileAnswer>;
}

/** The world of `reconcile --watch`. */
interface Watcher {
  readonly cluster: ClusterReader;
  /** Why lists in memory may be old; undefined while they are not. */
  staleness(): Staleness | undefined;
  watch(request: WatchRequest): Promise<WatchAnswer>;
}

/** The request to a single run or a watching process. */
export interface RunRequest {
  readonly selection: Selection;
  readonly signal: AbortSignal;
  /** Absent = without a lock. */
  readonly lock?: LeaseTerms;
  /** How much the run may take from anybody; remembers what it has begun. Absent = as much as is planned. */
  readonly restraint?: RunRestraint;
  /** Returns what the Lease is to say of a run that has ended: `last-success`, totals and the like. */
  readonly annotate: (end: RunEnd) => Readonly<Record<string, string>>;
  /** The same of a run that ended with an error. */
  readonly annotateFailure: AnnotateFailure;
}

/** The request to one run of `reconcile`. */
export interface ReconcileRequest extends RunRequest {
  /** Monotonic, milliseconds. */
  readonly deadlineMs: number;
  readonly settle: boolean;
  /** The saved plan to carry out. Absent = all that is planned is done. */
  readonly saved?: SavedApplication;
  /** Is told of every outcome as soon as it is known, with the plan that its action is of. Absent = the answer tells of all. */
  readonly onEnd?: (outcome: Outcome, plan: Plan) => void;
}

/** The request to a process that watches. */
export interface WatchRequest extends RunRequest, WatchListener {
  readonly identity: string;
  readonly intervalMs: number;
  /** The most that one pass may take, milliseconds. */
  readonly passMs: number;
  /** Told of every pass that read the cluster, before `onTurn`. */
  readonly onRun: (noted: NotedRun) => void;
}

/** A run as metrics are made of it. `isNoted` = what `annotate` returned is on the Lease. */
export interface NotedRun {
  readonly end: RunEnd;
  readonly isNoted: boolean;
}

/** The end of a run; `noted` is absent if there are no meters. */
export type ReconcileAnswer =
  | { readonly kind: "done"; readonly value: PassResult; readonly noted?: NotedRun }
  | Extract<ShardAnswer<never>, { readonly kind: "locked" }>;

/** Wires the real thing: adapters from the configuration, each loaded only when a command needs it. */
export function createWiring(runtime: Runtime = { clock: SYSTEM_CLOCK }): Wiring {
  const { clock } = runtime;
  return {
    clock,
    withReader: async (given, work) => {
      const { from } = given;
      if (from !== undefined)
        return work(await (await import("./from-snapshot.ts")).snapshotReader({ ...given, from }));
      return withSandbox(given, runtime, async (config) => withCluster(await openClusterReader(config, clock), work));
    },
    withAnnotator: (given, work) =>
      withSandbox(given, runtime, async (config) => withCluster(await openAnnotator(config, clock), work)),
    withPlanner: async (given, work, overlay) => {
      const { from } = given;
      if (from !== undefined) {
        const { snapshotPlanner } = await import("./from-snapshot.ts");
        return work(await snapshotPlanner({ ...given, from }, overlay));
      }
      return withSandbox(given, runtime, (config) => withLivePlanner(config, runtime, overlay, work));
    },
    withLive: (given, work) =>
      withSandbox(given, runtime, async (config) => {
        const { createZoneServers } = await import("../adapters/resolver/zone-servers.ts");
        const servers = createZoneServers({ only: config.resolver });
        return withLivePlanner(config, runtime, undefined, (planner) => work(planner, servers));
      }),
    withTrial: (given, overlay, work) =>
      withSandbox(given, runtime, async (config) =>
        withCluster(await openTrial(config, clock), (trial) =>
          withLivePlanner(config, runtime, overlay, (planner) => work(planner, trial)),
        ),
      ),
    withReconciler: (given, deadlineMs, work) =>
      withSandbox(given, runtime, async (config) =>
        withCluster(await openClusterWriter(config, runtime, deadlineMs), (cluster) =>
          work({
            cluster,
            where: `${cluster.source} (${cluster.server})`,
            reconcile: async (request) => {
              // A call about the Lease has seconds, and a person's login may take longer.
              await within(clock, deadlineMs - clock.monotonicMs(), cluster.logIn(), request.signal);
              return await reconcile({ config, runtime, cluster, request });
            },
          }),
        ),
      ),
    withHost: async (given, { nodeName, searchPath }, work) => {
      const { createHostNetwork } = await import("../adapters/host/host-network.ts");
      const network = createHostNetwork(searchPath);
      if (nodeName === undefined) return work({ network });
      return withSandbox(given, runtime, async (config) =>
        withCluster(await openOwnNode(config, clock, nodeName), (node) => work({ node, network })),
      );
    },
    withSources: (given, terms, work) =>
      withSandbox(given, runtime, (config) => examineWith(config, runtime, { terms, work })),
    withWatcher: (given, work) =>
      withSandbox(given, runtime, async (config) => {
        const { watchCluster } = await import("./watched-passes.ts");
        return withCluster(await openWarmCluster(config, runtime), (cluster) =>
          work({
            cluster,
            staleness: () => cluster.staleness(),
            watch: (request) => watchCluster({ config, runtime, cluster, request }),
          }),
        );
      }),
  };
}

/** As `withPlanner`, of the cluster and the accounts of the configuration. */
async function withLivePlanner<T>(
  config: Config,
  runtime: Runtime,
  overlay: Overlay | undefined,
  work: (planner: Planner) => Promise<T>,
): Promise<T> {
  const { clock } = runtime;
  const { planPass } = await import("../reconcile.ts");
  const access = await openProviderReaders(config, runtime);
  return withCluster(await openClusterReader(config, clock, overlay), (cluster) => {
    const deps = { cluster, ...access, clock, leaseName: config.lease, shard: config.shard, grants: config.grants };
    return work({ cluster, plan: (selection, options) => planPass(deps, selection, options) });
  });
}

/** As `withReader`, for `doctor`. */
async function examineWith<T>(
  config: Config,
  runtime: Runtime,
  { terms, work }: { readonly terms: DoctorTerms; readonly work: (sources: Sources) => Promise<T> },
): Promise<T> {
  const { openSources } = await import("./doctor-sources.ts");
  const { sources, close } = openSources(config, runtime, terms);
  try {
    return await work(sources);
  } finally {
    close();
  }
}

/**
 * Runs work on the cluster and accounts of the configuration. With `--sandbox` it runs on an embedded world that lives only
 * meanwhile and in the same time: its kubeconfig, URLs and token replace those of the configuration, and nothing else knows.
 */
async function withSandbox<T>(config: Config, { clock }: Runtime, work: (config: Config) => Promise<T>): Promise<T> {
  if (config.sandboxDir === undefined) return work(config);
  const { startSandbox } = await import("../sandbox/start.ts");
  const warn = (text: string): void => config.warn("UnknownFile", text);
  const sandbox = await startSandbox({ dir: config.sandboxDir, now: () => clock.wallMs(), warn });
  const token = { kind: "value", variable: "the sandbox", token: sandbox.token, isPublic: true } as const;
  try {
    return await work({
      ...config,
      kube: { ...config.kube, kubeconfig: sandbox.kubeconfig },
      resolver: config.resolver ?? sandbox.resolver,
      providers: {
        digitalocean: { ...config.providers["digitalocean"], apiURL: sandbox.digitaloceanURL, token },
        cloudflare: { ...config.providers["cloudflare"], apiURL: sandbox.cloudflareURL, token },
        hetzner: { ...config.providers["hetzner"], apiURL: sandbox.hetznerURL, token },
      },
      webhooks: [{ name: WEBHOOK, url: sandbox.webhookURL }],
    });
  } finally {
    await sandbox.close();
  }
}

async function withCluster<C extends { close(): void }, T>(cluster: C, work: (cluster: C) => Promise<T>): Promise<T> {
  try {
    return await work(cluster);
  } finally {
    cluster.close();
  }
}

interface Run {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly cluster: ClusterWriter;
  readonly request: ReconcileRequest;
}

async function reconcile(run: Run): Promise<ReconcileAnswer> {
  const { config, runtime, cluster, request } = run;
  const { clock } = runtime;
  const startMs = clock.monotonicMs();
  const { lock, signal, deadlineMs, annotateFailure } = request;
  const terms = {
    ...config.lease,
    annotateFailure,
    cluster,
    clock,
    signal,
    deadline: deadlineMs,
    progress: config.progress,
    onKept: (error: unknown) => warnOfKeptLease(config, error),
  };
  const answer =
    lock === undefined
      ? ({ kind: "done", value: await pass(run, NO_LOCK, startMs) } as const)
      : await withShardLease({ ...terms, ...lock, shard: config.shard }, (held) => pass(run, held, startMs));
  return answer.kind === "locked" ? answer : { kind: "done", value: answer.value.end.result, noted: answer.value };
}

/** Kept for what a run writes to the cluster at its end, when the providers have kept it waiting; milliseconds. */
const LAST_WORDS_MS = 1500;

/** Passes, and leaves on the Lease how it went; a note that cannot be left changes nothing of that. */
async function pass({ config, runtime, cluster, request }: Run, lock: LockState, startMs: number): Promise<NotedRun> {
  const { selection, settle: mustSettle, deadlineMs, signal, annotate, restraint, onEnd, saved } = request;
  const { settle, reconcilePass } = await import("../reconcile.ts");
  const { meters, ...access } = await openProviders(config, { ...runtime, untilMs: deadlineMs - LAST_WORDS_MS }, () =>
    lock.isHeld(),
  );
  const { clock } = runtime;
  const { lease: leaseName, shard, grants = "off", progress } = config;
  const deps = { cluster, ...access, clock, lock, leaseName, shard, grants, progress };
  const result = await (mustSettle ? settle : reconcilePass)(deps, {
    selection,
    deadlineMs,
    signal,
    ...given({ restraint, onEnd, saved }),
  });
  const end = {
    result: { ...result, unusableTokens: unusableTokens(config) },
    endedAtMs: cluster.now(),
    durationMs: clock.monotonicMs() - startMs,
    meters: readMeters(meters),
    notes: lock === NO_LOCK ? await storedNotes(config, cluster) : lock.annotations(),
  };
  if (lock === NO_LOCK || !lock.isHeld()) return { end, isNoted: false };
  const isNoted = await lock.annotate(annotate(end)).then(
    () => true,
    () => false,
  );
  return { end, isNoted };
}

/** Returns what runs with the lock have left; nothing if it cannot be read. */
async function storedNotes(config: Config, cluster: ClusterWriter): Promise<RunEnd["notes"]> {
  const { namespace, name } = ownLease(config);
  const record = await cluster.readLease(namespace, name).catch(() => undefined);
  return record?.annotations ?? {};
}
