import type { ObjectRef } from "../model/action.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Hold, Obstacle } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";

/** What is known of an obstacle beside its reason. */
interface Particulars {
  /** False unless a person must act. */
  readonly needsPerson?: boolean;
  /** When it ends by itself, milliseconds; undefined if that is not known. */
  readonly notBeforeMs?: number | undefined;
  readonly waitsFor?: Obstacle["waitsFor"] | undefined;
  readonly advice?: string | undefined;
  readonly nextNode?: string | undefined;
  readonly held?: string | undefined;
}

/** Returns why something is not done now. */
export function obstacle(reason: Reason, detail = "", particulars: Particulars = {}): Obstacle {
  const { needsPerson = false, notBeforeMs, waitsFor, advice, nextNode, held } = particulars;
  return {
    reason,
    detail,
    ...(waitsFor === undefined ? {} : { waitsFor }),
    needsPerson,
    ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
    ...(advice === undefined ? {} : { advice }),
    ...(nextNode === undefined ? {} : { nextNode }),
    ...(held === undefined ? {} : { held }),
  };
}

/** Returns an obstacle that only a person can remove. */
export function personNeeded(reason: Reason, detail = ""): Obstacle {
  return obstacle(reason, detail, { needsPerson: true });
}

/** What an object asks for and nobody has, as one sentence. */
export interface NothingSelected {
  readonly of: "nodes" | "pods";
  readonly what: string;
}

/** The same, and whether something serves the object for all that. */
export interface EmptyTarget extends NothingSelected {
  readonly isServing: boolean;
}

/** Returns why a person has to look at such an object. */
export function emptyTargetObstacle({ of, what, isServing }: EmptyTarget): Obstacle {
  return {
    ...personNeeded("EmptyTarget", what),
    ...(of === "nodes" ? { advice: "Correct that selector, or give nodes the labels that it asks for." } : {}),
    ...(isServing ? {} : { held: "nothing can serve" }),
  };
}

/** Returns the hold of an action: what it is about, and why it is not done. */
export function hold(kind: Hold["kind"], object: ObjectRef, subject: string, why: Obstacle): Hold {
  return { kind, object, subject, ...obstacle(why.reason, why.detail, why) };
}

/** Returns the text of holds and gaps about an unreadable node. `what` is the detail of its verdict. Pure. */
export function undecidedText({ name }: NodeFacts, what: string): string {
  return `nobody can tell whether node ${name} matches: ${what}`;
}
