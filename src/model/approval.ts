import { type ObjectRef, refKey, type Taken } from "./action.ts";
import { openNote } from "./person-notes.ts";
import type { ObjectMeta } from "./resource.ts";
import { contentHash } from "./text.ts";
import { timestamp } from "./time.ts";

/**
 * Annotation of an object with `spec.approval: Voluntary`, as JSON: a person lets the object take what it asks to take from somebody. `flipop approve` writes it.
 *
 *   flipop.digitalocean.com/approved: {"plan":"0f3a…-91bc…","by":"ana","until":"2026-01-02T10:15:00Z"}
 *
 * `plan` has one hash for each thing that is taken. It holds for these things or some of them, for this object in its present generation, until that time by the API
 * server's clock. A thing more, another spec or another object needs another approval.
 */
export const APPROVED_ANNOTATION: string = "flipop.digitalocean.com/approved";

/** Whether a person has to approve what an object takes from somebody. */
export type ApprovalPolicy = "None" | "Voluntary";

/** What the annotation says. */
export interface Approval {
  /** A hash per thing, see {@link hashOfTaken}. */
  readonly plan: ReadonlySet<string>;
  /** `""` where nobody is named. */
  readonly by: string;
  readonly untilMs?: number;
  /** What of the annotation cannot be read; absent = nothing. */
  readonly problem?: string;
}

const FIELDS = ["plan", "by", "until"];

/** Reads what the annotation says. Never throws. Pure. */
export function parseApproval(text: string): Approval {
  const note = openNote(text, FIELDS);
  if (note === undefined) return { plan: new Set(), by: "", problem: "it is no JSON object" };
  const untilMs = note.timeOf("until");
  const by = note.textOf("by");
  const plan = note.valueOf("plan");
  const isText = typeof plan === "string" && /^[0-9a-f]{14}(-[0-9a-f]{14})*$/.test(plan);
  const problem =
    note.problem() ??
    (isText ? undefined : '"plan" is no hash') ??
    (untilMs === undefined ? '"until" is missing' : undefined);
  return {
    plan: new Set(isText ? plan.split("-") : []),
    by,
    ...(untilMs === undefined ? {} : { untilMs }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Writes the annotation. Pure. */
export function approvalText(plan: readonly string[], by: string, untilMs: number): string {
  return JSON.stringify({ plan: plan.join("-"), by, until: timestamp(untilMs) });
}

/** Returns the hash of a thing that an object takes from somebody: 14 hexadecimal digits. Pure. */
export function hashOfTaken({ uid, generation }: ObjectMeta, { what, impact }: Pick<Taken, "what" | "impact">): string {
  return contentHash(JSON.stringify([uid, generation, what, impact]));
}

/** Returns why an approval does not cover these hashes; undefined where it does. Pure. */
export function notApproved(
  approval: Approval | undefined,
  hashes: readonly string[],
  nowMs: number,
): string | undefined {
  if (approval === undefined) return "nobody has approved it";
  const { plan, by, untilMs = 0, problem } = approval;
  if (problem !== undefined) return `the annotation ${APPROVED_ANNOTATION} cannot be read: ${problem}`;
  const whose = `the approval by ${by === "" ? "somebody" : by}`;
  if (untilMs <= nowMs) return `${whose} is over since ${timestamp(untilMs)}`;
  return hashes.every((hash) => plan.has(hash)) ? undefined : `${whose} is for something else`;
}

/** Returns what a person can do. Pure. */
export function approveAdvice(object: ObjectRef): string {
  return `Run flipop approve ${refKey(object)}.`;
}
