import { type ObjectRef, refKey } from "./action.ts";
import { openNote } from "./person-notes.ts";
import type { Obstacle } from "./plan.ts";
import type { ObjectMeta } from "./resource.ts";
import { timestamp } from "./time.ts";

/**
 * Annotation that lets flipop stand still, as JSON: on an object for that object, on the Lease for all of them. A person writes it with `flipop suspend`, so no spec
 * changes, and whoever applies specs from a repository does not undo it.
 *
 *   flipop.digitalocean.com/suspend: {"by":"ana","reason":"maintenance 4711","since":"2026-01-02T08:00:00Z","until":"2026-01-02T10:00:00Z"}
 *
 * Once `until` is over by the API server's clock, the annotation means nothing. A text that cannot be read suspends, without an end: somebody wanted flipop to stand
 * still, and only a person can tell what was meant. The object says so.
 */
export const SUSPEND_ANNOTATION: string = "flipop.digitalocean.com/suspend";

/** The longest time that `flipop suspend --for` takes, milliseconds. */
export const LONGEST_SUSPENSION_MS: number = 7 * 86_400_000;

/** What the annotation says. */
export interface Suspension {
  /** `""` where nobody is named. */
  readonly by: string;
  /** Why; `""` where it is not said. */
  readonly why: string;
  /** Milliseconds; absent where it is not said. */
  readonly sinceMs?: number;
  /** When it ends by itself, milliseconds; absent = only a person ends it. */
  readonly untilMs?: number;
  /** What of the annotation cannot be read; absent = nothing. */
  readonly problem?: string;
}

/** A suspension that holds now, and what says so: a field of the object's spec, an annotation of the object, or an annotation of the Lease. */
export interface Suspended extends Suspension {
  readonly source: "spec" | "object" | "lease";
}

const FIELDS = ["by", "reason", "since", "until"];

/** Reads what the annotation says. Never throws: what cannot be read is named in `problem`. Pure. */
export function parseSuspension(text: string): Suspension {
  const note = openNote(text, FIELDS);
  if (note === undefined) return { by: "", why: "", problem: "it is no JSON object" };
  const [sinceMs, untilMs] = [note.timeOf("since"), note.timeOf("until")];
  const [by, why] = [note.textOf("by"), note.textOf("reason")];
  const problem = note.problem();
  return {
    by,
    why,
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Writes the annotation. Pure. */
export function suspensionText({ by, why, sinceMs, untilMs }: Suspension): string {
  return JSON.stringify({
    by,
    reason: why,
    ...(sinceMs === undefined ? {} : { since: timestamp(sinceMs) }),
    ...(untilMs === undefined ? {} : { until: timestamp(untilMs) }),
  });
}

/** Returns what suspends an object now: its spec, else its annotation, else the Lease's; undefined while nothing does. Pure. */
export function suspensionOf(
  { meta, spec }: { readonly meta: ObjectMeta; readonly spec: { readonly suspend: boolean } },
  ofAll: Suspension | undefined,
  nowMs: number,
): Suspended | undefined {
  if (spec.suspend) return { source: "spec", by: "", why: "" };
  if (holdsNow(meta.suspension, nowMs)) return { ...meta.suspension, source: "object" };
  return holdsNow(ofAll, nowMs) ? { ...ofAll, source: "lease" } : undefined;
}

/** True while a suspension is not over. */
export function holdsNow(suspension: Suspension | undefined, nowMs: number): suspension is Suspension {
  return suspension !== undefined && (suspension.untilMs === undefined || suspension.untilMs > nowMs);
}

/** Returns who suspended what and why, as the end of a sentence: `by ana (maintenance 4711)`. Without the time. Pure. */
export function whySuspended({ source, by, why, problem }: Suspended): string {
  if (source === "spec") return "spec.suspend is true";
  const where = source === "lease" ? "with all objects" : "";
  if (problem !== undefined)
    return `${where}${where && ", "}${source === "lease" ? "the Lease's" : "its"} annotation ${SUSPEND_ANNOTATION} cannot be read: ${problem}`;
  const who = `by ${by === "" ? "somebody" : by}`;
  return `${where}${where && " "}${who} (${why === "" ? "no reason given" : why})`;
}

/** Returns why nothing is changed for a suspended object. An annotation that cannot be read waits for a person. Pure. */
export function suspendedObstacle(suspended: Suspended, object: ObjectRef): Obstacle {
  const { source, untilMs, problem } = suspended;
  return {
    reason: "Suspended",
    detail: whySuspended(suspended),
    needsPerson: problem !== undefined,
    ...(untilMs === undefined ? {} : { notBeforeMs: untilMs }),
    ...(source === "spec" ? {} : { advice: resumeAdvice(suspended, object) }),
  };
}

/** As {@link suspendedObstacle}, for the deletion of the object: without an end it waits for a person. Pure. */
export function deletionSuspended(suspended: Suspended, object: ObjectRef): Obstacle {
  return { ...suspendedObstacle(suspended, object), needsPerson: suspended.untilMs === undefined };
}

function resumeAdvice({ source, untilMs }: Suspended, object: ObjectRef): string {
  const earlier = untilMs === undefined ? "" : " earlier";
  return `To go on${earlier}, run flipop resume ${source === "lease" ? "--all" : refKey(object)}.`;
}
