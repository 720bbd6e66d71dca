import type { KubeError } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import type { PassResult, RunEnd, Selection } from "../model/run.ts";
import type { ClusterReader, NamespaceReader, Staleness } from "../ports/cluster.ts";
import type { Clock } from "../ports/system.ts";
import type { WatchAnswer } from "../watch/watch.ts";
import type { Turn } from "../watch/watch-loop.ts";
import type { Config } from "./config.ts";

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
