import type { ObjectRef } from "./action.ts";
import type { Applied, Failed, Unconfirmed } from "./outcome.ts";
import type { PoolAssessment } from "./plan.ts";

/** A change that a pass made, was promised or failed to make, as it is told to whoever asked to be notified. */
export interface ChangeNotice {
  readonly kind: "change";
  /** How it ended last. */
  readonly outcome: Applied | Unconfirmed | Failed;
  /** How often it was tried in the pass. */
  readonly attempts: number;
  /** How often it has failed in a row, in earlier runs, too; 0 for one that was made, and where nobody counts. */
  readonly failures: number;
  /** As it was planned: it tells why a holder no longer matches. Absent for a record set. */
  readonly pool?: PoolAssessment;
  /** Of the plan that the change stands in. */
  readonly planID: string;
  /** Milliseconds, by the API server's clock. */
  readonly atMs: number;
}

/** An object that waits for a person, and did not before. */
export interface BlockedNotice {
  readonly kind: "blocked";
  readonly object: ObjectRef;
  readonly reason: string;
  readonly message: string;
  readonly planID: string;
  /** Milliseconds, by the API server's clock. */
  readonly atMs: number;
}

/** A run that did not look at everything. */
export interface FailedRunNotice {
  readonly kind: "run";
  readonly exitCode: number;
  /** The category of the error that ended it; absent for a run that came to its end. */
  readonly category?: string;
  readonly message: string;
  /** How many runs in a row have failed; absent where nobody counts. */
  readonly failures?: number;
  /** Milliseconds. */
  readonly atMs: number;
}

/** What is new after a pass. */
export type PassNotice = ChangeNotice | BlockedNotice;

/** Something that is told to whoever asked to be notified. */
export type Notice = PassNotice | FailedRunNotice;
