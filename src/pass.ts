import type { Attempts } from "./apply/attempts.ts";
import type { WriteAccess } from "./apply/context.ts";
import type { EventWriter } from "./apply/event-writer.ts";
import type { Outcome } from "./model/outcome.ts";
import type { Plan } from "./model/plan.ts";
import type { RunRestraint } from "./model/restraint.ts";
import type { Selection, Settling } from "./model/run.ts";
import type { ObserveDeps } from "./observe/observe.ts";
import type { SavedApplication } from "./saved/application.ts";

/** What a mutating run works with. */
export type WriterDeps = ObserveDeps &
  WriteAccess & {
    /** What this process remembers of its own attempts. Absent for a process that makes one pass. */
    readonly attempts?: Attempts | undefined;
    /** Writes the Events of all passes of this process. Absent for a process that makes one pass: it waits until they are written. */
    readonly events?: EventWriter | undefined;
  };

/** How a mutating run is bounded. */
export interface PassOptions {
  readonly selection: Selection;
  /** Monotonic milliseconds by which the run must have ended; the last of it is kept for writing statuses. */
  readonly deadlineMs: number;
  /** Aborted when the run is asked to end: what is in flight is finished, statuses are written. */
  readonly signal: AbortSignal;
  /** Aborted when something more urgent has come up: everything planned is still begun, but nothing is waited for. Absent = never. */
  readonly hurry?: AbortSignal;
  /**
   * Returns a signal that the next change of the cluster aborts: what a pass cannot end is gone on with beside what has changed, and what has become due. Absent for a single
   * pass, which goes by what it saw.
   */
  readonly nextChange?: () => AbortSignal;
  /** Says which record sets are to wait. Absent = none. */
  readonly settling?: Settling;
  /** How much the run may take from anybody; it is told what the pass begins. Absent = as much as is planned. */
  readonly restraint?: RunRestraint;
  /** Is told of every outcome as soon as it is known, with the plan that its action is of. Absent = all are told at the end. */
  readonly onEnd?: (outcome: Outcome, plan: Plan) => void;
  /** The saved plan that is carried out; it is told what the pass begins. Absent = all that is planned is done. */
  readonly saved?: SavedApplication;
}

/** Kept at the end of a run for statuses, Events and the Lease, milliseconds. */
export const CLOSING_MS = 3000;
