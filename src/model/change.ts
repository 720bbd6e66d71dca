import type { ActionKind, ObjectRef } from "./action.ts";

/** Where a fact of the past is known from. `status` is what objects keep, `lease` what the last run left. */
export type ChangeSource = "event" | "log" | "status" | "lease";

/**
 * What a fact of the past is about: a kind of action; or one of these.
 *
 *   ready      the object became ready, or is not
 *   stall      the object waits for a person
 *   match      a node of the object stopped matching
 *   record     somebody else changed the records of its name
 *   retry      something failed, and is tried again: no time is known but that of the look
 *   suspend    somebody lets flipop stand still
 *   report     a status or an Event could not be written
 *   run        a run ended
 *   other      an Event about the object that flipop did not write, or that a later version wrote
 */
export type ChangeKind =
  | ActionKind
  | "ready"
  | "stall"
  | "match"
  | "record"
  | "retry"
  | "suspend"
  | "report"
  | "run"
  | "other";

/**
 * How it went.
 *
 *   applied      done, and seen to be true
 *   unconfirmed  accepted by the provider, and not seen to be true
 *   failed       tried and refused; or wrong since then
 *   waiting      a person has to act
 *   seen         it happened, and was no act of flipop's
 */
export type ChangeOutcome = "applied" | "unconfirmed" | "failed" | "waiting" | "seen";

/** One fact of the past. */
export interface Change {
  /** Milliseconds; of what happened several times the last time. */
  readonly timeMs: number;
  /** Milliseconds; of what happened several times the first time. */
  readonly firstMs: number;
  /** How often it happened; at least 1. */
  readonly count: number;
  /** Absent where it is about all of them: a run, a suspension of everything. */
  readonly object?: ObjectRef;
  readonly kind: ChangeKind;
  /** An address, a node, a name or a firewall; `""` = the object itself. */
  readonly subject: string;
  readonly outcome: ChangeOutcome;
  /** One of flipop's reasons, or that of somebody else; `""` = none. */
  readonly reason: string;
  /** What happened, in lower case and without a full stop: `moved 203.0.113.10 from worker-1 to worker-5`. */
  readonly what: string;
  /** Why; `""` where it is not known. */
  readonly why: string;
  /** Each once, the one that told the time first. */
  readonly sources: readonly ChangeSource[];
  /** The pod or host that flipop ran on, or who else did it. Absent = not known. */
  readonly by?: string;
  /** How long it took, milliseconds. Absent = not known. */
  readonly tookMs?: number;
}

/** An Event about an object of ours as the cluster keeps it, whoever wrote it. */
export interface PastEvent {
  readonly object: ObjectRef;
  readonly type: string;
  readonly reason: string;
  /** `AssignIP`; `""` = none. */
  readonly action: string;
  readonly note: string;
  /** Milliseconds: when it happened first. */
  readonly firstMs: number;
  /** Milliseconds: when it happened last. */
  readonly lastMs: number;
  /** How often; at least 1. */
  readonly count: number;
  /** What wrote it: `flipop.digitalocean.com/flipop`. */
  readonly controller: string;
  /** The pod or host that wrote it. */
  readonly instance: string;
}

/** Returns `AssignIP` for `assign-ip`: Kubernetes wants action names of Events in UpperCamelCase. Pure. */
export function eventAction(kind: ActionKind): string {
  const words = kind.split("-").map((word) => {
    return word === "ip" || word === "dns" ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);
  });
  return words.join("");
}

/** What the Event of an object that waits for a person says it does. */
export const STALL_ACTION = "Stall";
