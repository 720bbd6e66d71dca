import type { KubeError } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import type { PassResult, RunEnd, Selection } from "../model/run.ts";
import type { ClusterReader, ClusterWriter, NamespaceReader, Staleness } from "../ports/cluster.ts";
import type { Clock, LockState } from "../ports/system.ts";
import type { WatchAnswer } from "../watch/watch.ts";
import type { Turn } from "../watch/watch-loop.ts";
import type { Config } from "./config.ts";
import { type Machine, NO_LOCK, readMeters } from "./machine.ts";
import { openClusterReader, openClusterWriter, openWarmCluster } from "./open-cluster.ts";
import { openProviderReaders, openProviders, unusableTokens } from "./providers.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";

/** Kept for what a run writes to the cluster at its end, when the providers have kept it waiting; milliseconds. */
const LAST_WORDS_MS = 1500;

/** Builds the real thing: adapters from the configuration, each loaded only when a command needs it. */
export function createBackend(machine: Machine = { clock: SYSTEM_CLOCK }): Backend {
  const { clock } = machine;
  return {
    clock,
    withPlanWorld: (flags, work) =>
      withSandbox(flags, async (config) => {
        const { planPass } = await import("../reconcile.ts");
        const access = await openProviderReaders(config, machine);
        return withCluster(await openClusterReader(config, clock), (cluster) =>
          work({
            cluster,
            plan: (selection) => planPass({ cluster, ...access, clock, leaseName: config.lease }, selection),
          }),
        );
      }),
    withStatusWorld: (flags, work) =>
      withSandbox(flags, async (config) =>
        withCluster(await openClusterReader(config, clock), (cluster) => work({ cluster })),
      ),
    withWatchWorld: (flags, work) =>
      withSandbox(flags, async (config) => {
        const { watchWorld } = await import("./watch-world.ts");
        return withCluster(await openWarmCluster(config, clock), (cluster) =>
          work(watchWorld(config, cluster, machine)),
        );
      }),
    withReconcileWorld: (flags, deadlineMs, work) =>
      withSandbox(flags, async (config) =>
        withCluster(await openClusterWriter(config, clock, deadlineMs), (cluster) =>
          work({ cluster, reconcile: (request) => reconcile(machine, config, cluster, request) }),
        ),
      ),
  };
}

async function withCluster<C extends { close(): void }, T>(cluster: C, work: (cluster: C) => Promise<T>): Promise<T> {
  try {
    return await work(cluster);
  } finally {
    cluster.close();
  }
}

async function reconcile(
  machine: Machine,
  config: Config,
  cluster: ClusterWriter,
  request: ReconcileRequest,
): Promise<ReconcileAnswer> {
  const { clock } = machine;
  const { deadlineMs, signal, lock } = request;
  const startMs = clock.monotonicMs();
  if (lock === undefined) return done(await passes(machine, config, cluster, request, { lock: NO_LOCK, startMs }));
  const { withLease } = await import("../watch/lease.ts");
  const answer = await withLease({ ...config.lease, ...lock, cluster, clock, signal, deadline: deadlineMs }, (held) =>
    passes(machine, config, cluster, request, { lock: held, startMs }),
  );
  return answer.kind === "locked" ? answer : done(answer.value);
}

function done(noted: NotedRun): ReconcileAnswer {
  return { kind: "done", value: noted.end.result, noted };
}

/** Passes, and leaves on the Lease how it went; a note that cannot be left changes nothing of that. */
async function passes(
  machine: Machine,
  config: Config,
  cluster: ClusterWriter,
  { selection, settle, deadlineMs, signal, annotate, lock: wanted }: ReconcileRequest,
  { lock, startMs }: { readonly lock: LockState; readonly startMs: number },
): Promise<NotedRun> {
  const run = settle ? (await import("../reconcile.ts")).settle : (await import("../reconcile.ts")).reconcilePass;
  const { meters, ...access } = await openProviders(config, { ...machine, untilMs: deadlineMs - LAST_WORDS_MS });
  const { clock } = machine;
  const deps = { cluster, ...access, clock, lock, leaseName: config.lease };
  const passed = await run(deps, { selection, deadline: deadlineMs, signal });
  const result = { ...passed, unusableTokens: unusableTokens(config) };
  const end = {
    result,
    endedAtMs: cluster.now(),
    durationMs: clock.monotonicMs() - startMs,
    meters: readMeters(meters),
    notes: wanted === undefined ? await storedNotes(config, cluster) : lock.annotations(),
  };
  if (wanted === undefined || !lock.isHeld()) return { end, isNoted: false };
  const isNoted = await lock.annotate(annotate(end)).then(
    () => true,
    () => false,
  );
  return { end, isNoted };
}

/** What runs with the lock have left; nothing where it cannot be read. */
async function storedNotes({ lease }: Config, cluster: ClusterWriter): Promise<RunEnd["notes"]> {
  const record = await cluster.readLease(lease.namespace, lease.name).catch(() => undefined);
  return record?.annotations ?? {};
}

/** What `plan` needs: nothing here can write. */
export interface PlanWorld {
  readonly cluster: ClusterReader & NamespaceReader;
  plan(selection: Selection): Promise<{ readonly observation: Observation; readonly plan: Plan }>;
}

/** What `status` needs. */
export interface StatusWorld {
  readonly cluster: ClusterReader & NamespaceReader;
}

/** What `reconcile` needs. */
interface ReconcileWorld {
  readonly cluster: ClusterReader & NamespaceReader;
  /** Takes the lock and passes; `locked` when someone else kept it. `deadlineMs` is monotonic. */
  reconcile(request: ReconcileRequest): Promise<ReconcileAnswer>;
}

/** One run of `reconcile`. */
export interface ReconcileRequest {
  readonly selection: Selection;
  readonly deadlineMs: number;
  readonly settle: boolean;
  readonly signal: AbortSignal;
  /** Absent = without a lock. */
  readonly lock?: LockRequest;
  /** What the Lease is to say of the run, computed once it has ended: `last-success`, totals and the like. */
  readonly annotate: (end: RunEnd) => Readonly<Record<string, string>>;
}

/** How the Lease is taken and kept; milliseconds. */
export interface LockRequest {
  readonly identity: string;
  readonly onLocked: "fail" | "skip" | "wait";
  readonly durationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

/** A run as metrics are made of it. `isNoted` = what `annotate` returned is on the Lease. */
export interface NotedRun {
  readonly end: RunEnd;
  readonly isNoted: boolean;
}

/** What came of a run; `noted` is absent where there are no meters. */
export type ReconcileAnswer =
  | { readonly kind: "done"; readonly value: PassResult; readonly noted?: NotedRun }
  | { readonly kind: "locked"; readonly holder: string };

/** What `reconcile --watch` needs. */
interface WatchWorld {
  readonly cluster: ClusterReader;
  /** Why lists in memory may be old; undefined while they are not. */
  staleness(): Staleness | undefined;
  watch(request: WatchRequest): Promise<WatchAnswer>;
}

/** One process that watches. */
export interface WatchRequest {
  readonly selection: Selection;
  readonly identity: string;
  readonly intervalMs: number;
  /** How long one pass may take, milliseconds. */
  readonly passMs: number;
  readonly signal: AbortSignal;
  /** Absent = without a lock. */
  readonly lock?: LockRequest;
  readonly annotate: ReconcileRequest["annotate"];
  /** Told when this process has the lock and begins to pass. */
  readonly onLead: () => void;
  /** Told of every pass that read the cluster, before {@link onTurn}. */
  readonly onRun: (noted: NotedRun) => void;
  /** Told of every turn of the loop. */
  readonly onTurn: (turn: Turn) => void;
  /** Told whenever a standby has all it would need in memory. */
  readonly onWarm: () => void;
  /** Told of every time that a standby could not read the cluster, and how many there were in a row. */
  readonly onStandbyFailure: (error: KubeError, failures: number) => void;
}

/** Builds what a command needs, lends it to the work, and closes it again, also when the work throws. */
export interface Backend {
  readonly clock: Clock;
  withPlanWorld<T>(config: Config, work: (world: PlanWorld) => Promise<T>): Promise<T>;
  withStatusWorld<T>(config: Config, work: (world: StatusWorld) => Promise<T>): Promise<T>;
  withWatchWorld<T>(config: Config, work: (world: WatchWorld) => Promise<T>): Promise<T>;
  /** `deadlineMs`, monotonic, is when the run must have ended: it bounds every call. */
  withReconcileWorld<T>(config: Config, deadlineMs: number, work: (world: ReconcileWorld) => Promise<T>): Promise<T>;
}

/**
 * Runs work on the cluster and accounts of the configuration, or, with `--sandbox`, on an embedded world that lives only
 * meanwhile: its kubeconfig, URLs and token replace those of the configuration, and nothing else knows.
 */
export async function withSandbox<T>(config: Config, work: (config: Config) => Promise<T>): Promise<T> {
  if (config.sandboxDir === undefined) return work(config);
  const { startSandbox } = await import("../sandbox/start.ts");
  const sandbox = await startSandbox({ dir: config.sandboxDir });
  const token = { kind: "value", variable: "the sandbox", token: sandbox.token, isPublic: true } as const;
  try {
    return await work({
      ...config,
      kubeconfigFlag: sandbox.kubeconfig,
      digitalOcean: { ...config.digitalOcean, apiURL: sandbox.digitaloceanURL, token },
      cloudflare: { ...config.cloudflare, apiURL: sandbox.cloudflareURL, token },
    });
  } finally {
    await sandbox.close();
  }
}
