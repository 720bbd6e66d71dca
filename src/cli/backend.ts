import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import type { PassResult, RunEnd, Selection } from "../model/run.ts";
import type { Clock } from "../ports/clock.ts";
import type { ClusterReader } from "../ports/cluster.ts";
import type { Config } from "./config.ts";

/** What `plan` needs: nothing here can write. */
export interface PlanWorld {
  readonly cluster: ClusterReader;
  plan(selection: Selection): Promise<{ readonly observation: Observation; readonly plan: Plan }>;
}

/** What `status` needs. */
export interface StatusWorld {
  readonly cluster: ClusterReader;
}

/** What `reconcile` needs. */
interface ReconcileWorld {
  readonly cluster: ClusterReader;
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

/** Builds what a command needs, lends it to the work, and closes it again, also when the work throws. */
export interface Backend {
  readonly clock: Clock;
  withPlanWorld<T>(config: Config, work: (world: PlanWorld) => Promise<T>): Promise<T>;
  withStatusWorld<T>(config: Config, work: (world: StatusWorld) => Promise<T>): Promise<T>;
  withReconcileWorld<T>(config: Config, work: (world: ReconcileWorld) => Promise<T>): Promise<T>;
}
