import { ACTIONS } from "../../model/action-kinds.ts";
import { adviceFor, isAboutObject, missingText, whyHeld } from "../../model/hold.ts";
import type { Hold } from "../../model/plan.ts";
import { REASONS } from "../../model/reason.ts";
import { addressText } from "./actions.ts";
import { clockText, readableTimes, untilText } from "./times.ts";

/** Returns `203.0.113.4: not assigned`, or what is not done to the object itself. `isRest` = the text stands below what brings the others of the missing addresses. */
export function holdText(hold: Hold, isRest = false): string {
  const told = (isRest ? restText(hold) : missingText(hold)) ?? heldText(hold);
  const what = hold.object.kind === "routedip" ? told.replace("this pool", "this routed IP") : told;
  return isAboutObject(hold) ? what : `${addressText(hold.subject)}: ${what}`;
}

/** Returns `1 more address is missing`; undefined for a hold that keeps no address from being acquired. */
function restText({ missing }: Hold): string | undefined {
  if (missing === undefined) return undefined;
  return missing.count === 1 ? "1 more address is missing" : `${missing.count} more addresses are missing`;
}

/** Returns what is not done, without its subject: `not assigned`. */
export function heldText({ kind, reason, held: own }: Hold): string {
  if (own !== undefined) return own;
  if (kind === "reconcile") return REASONS[reason].held?.object ?? "nothing is changed";
  const { held, heldAs } = ACTIONS[kind];
  return (heldAs === undefined ? undefined : REASONS[reason].held?.[heldAs]) ?? held;
}

/** Returns {@link heldText} of several subjects: `left as they are`, `wait for a node`. */
export function heldOfSeveral(hold: Hold): string {
  return heldText(hold)
    .replace(/^(stay|wait)s\b/, "$1")
    .replace(/\bit is\b/, "they are")
    .replace(/\bit serves\b/, "they serve")
    .replace(/\bits\b/, "their");
}

/** Returns why something is not done, until when where that is known, and what a person can do where there is something. */
export function whyHold(hold: Hold, nowMs: number): string {
  return withTimeAndAdvice(whyHeld(hold), hold, nowMs);
}

/** Returns a text about a hold, with until when it waits where the text does not say that itself, and with what a person can do. */
export function withTimeAndAdvice(text: string, hold: Hold, nowMs: number): string {
  const { notBeforeMs } = hold;
  const told = readableTimes(text, nowMs);
  const isTold = notBeforeMs === undefined || told.includes(clockText(notBeforeMs, nowMs));
  const when = isTold ? "" : ` Waits ${untilText(notBeforeMs, nowMs)}.`;
  const advice = adviceFor(hold);
  return told + when.replace("Waits due now", "Due now") + (advice === undefined ? "" : ` ${advice}`);
}
