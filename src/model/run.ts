import type { Action, ObjectRef } from "./action.ts";
import type { MeterReading } from "./meter.ts";
import type { PassNotice } from "./notice.ts";
import type { Observation } from "./observation.ts";
import type { Outcome } from "./outcome.ts";
import type { Plan } from "./plan.ts";

/** Which objects a run may write for. Reading and planning always cover the whole cluster. */
export interface Selection {
  /** Only objects of this namespace; absent = all. */
  readonly namespace?: string;
  /** Only these objects, `KIND/NAMESPACE/NAME` as {@link refKey} makes it; absent = all. */
  readonly objects?: readonly string[];
  /** Only objects with these labels (a selector in `labels.Parse` grammar); absent = all. */
  readonly labelSelector?: string;
  /** Only what is of this shard, as `--shard` has it; absent = what has no label of a shard. */
  readonly shard?: string;
}

/** A Kubernetes write of flipop's own bookkeeping that failed: status or Event. */
export interface ReportFailure {
  readonly object: ObjectRef;
  readonly what: "status" | "event";
  readonly error: Error;
}

/** How long the parts of a run took, over all its passes, milliseconds. */
export interface RunTiming {
  readonly observeMs: number;
  readonly planMs: number;
  readonly applyMs: number;
  /** Writing statuses, Events and notes on the Lease. */
  readonly reportMs: number;
  /** One per address that was moved off a node, seconds from the first sight of the node as unready until the address was verified; only where the first is known. */
  readonly failoverSeconds: readonly number[];
}

/** What one pass found, did and left; texts, JSON, exit code and metrics are rendered from it. */
export interface PassResult {
  /** As planned before anything was done; of a single run with what was announced to follow. */
  readonly plan: Plan;
  /** What came of every action tried: pass by pass; in each first what was announced, in the order of its plan, then what was found on the way, in the order in which it ended. */
  readonly outcomes: readonly Outcome[];
  /** Planned again on the world as the pass left it: what remains, and the status that was written. */
  readonly remaining: Plan;
  readonly reportFailures: readonly ReportFailure[];
  /** True when the pass stopped early because the Lease was lost or a signal came. */
  readonly wasInterrupted: boolean;
  /** True where that was because the Lease was lost. Absent = it was not. */
  readonly hasLostLease?: true;
  readonly timing: RunTiming;
  /** Providers whose token cannot stand in a header: a wrong setting, not a missing permission. Absent = none. */
  readonly unusableTokens?: readonly string[];
  /** What became of the saved plan that was carried out. Absent = the run did all that it planned. */
  readonly saved?: SavedRun;
  /** What is new, for whoever asked to be notified, in the order in which it happened. Absent = nothing. */
  readonly notices?: readonly PassNotice[];
}

/** What became of a saved plan. What was begun of it, and what was refused, stands among the outcomes of the run. */
export interface SavedRun {
  readonly planID: string;
  readonly savedAtMs: number;
  /** How many actions it has. */
  readonly count: number;
  /** Those that the world already showed as done. */
  readonly done: readonly Action[];
  /** What would be done now and is not in it. */
  readonly others: readonly Action[];
}

/** A pass of a process that goes on. */
export interface Pass {
  readonly result: PassResult;
  /** Until something that is moving or could not be read may be read again, milliseconds; absent when there is nothing of that kind. */
  readonly nextReadInMs?: number;
  /** When a status that was refused or held back may be written, milliseconds of the API server's clock; absent when there is none. */
  readonly nextStatusMs?: number;
}

/** How a run that could read the cluster ended, and what metrics need beside its result. */
export interface RunEnd {
  readonly result: PassResult;
  /** By the API server's clock, milliseconds. */
  readonly endedAtMs: number;
  /** From its start, the wait for the lock included, milliseconds. */
  readonly durationMs: number;
  /** One per provider that was used. */
  readonly meters: readonly MeterReading[];
  /** The annotations of the Lease as earlier runs left them. */
  readonly notes: Readonly<Record<string, string>>;
}

/** Says of a plan which objects are to wait a moment, and until when. Returns what {@link Observation.settling} holds. */
export type Settling = (plan: Plan, known: SettlingFacts) => NonNullable<Observation["settling"]>;

/** What the pass knows of objects, by {@link refKey}, beside its plan. */
export interface SettlingFacts {
  /** The record sets of whose records the plan knows nothing yet. */
  readonly unread: ReadonlySet<string>;
  /** The objects that something was begun for: what they wished for no longer waits. */
  readonly begun: ReadonlySet<string>;
}
