import { ACTIONS } from "../../model/action-kinds.ts";
import { adviceFor, isAboutObject, missingText, whyHeld } from "../../model/hold.ts";
import type { Hold } from "../../model/plan.ts";
import { REASONS } from "../../model/reason.ts";
import { addressText } from "./actions.ts";
import { untilText } from "./times.ts";

/** Returns `203.0.113.4: not assigned`, or what is not done to the object itself. */
export function holdText(hold: Hold): string {
  const told = missingText(hold) ?? heldText(hold);
  const what = hold.object.kind === "routedip" ? told.replace("this pool", "this routed IP") : told;
  return isAboutObject(hold) ? what : `${addressText(hold.subject)}: ${what}`;
}

function heldText({ kind, reason }: Hold): string {
  if (kind === "reconcile") return REASONS[reason].held?.object ?? "nothing is changed";
  const { held, heldAs } = ACTIONS[kind];
  return (heldAs === undefined ? undefined : REASONS[reason].held?.[heldAs]) ?? held;
}

/** Returns why something is not done, until when where that is known, and what a person can do where there is something. */
export function whyHold(hold: Hold, nowMs: number): string {
  const when = hold.notBeforeMs === undefined ? "" : ` Waits ${untilText(hold.notBeforeMs, nowMs)}.`;
  const advice = adviceFor(hold);
  return whyHeld(hold) + when.replace("Waits due now", "Due now") + (advice === undefined ? "" : ` ${advice}`);
}
