import type { NodeVerdict } from "./plan.ts";
import { REASONS, type Reason } from "./reason.ts";

/** Returns what to say of a node in a list: `not ready`. */
export function verdictPhrase(reason: Reason): string {
  const { phrase, text } = REASONS[reason];
  return phrase ?? text;
}

/** Returns `not ready` or `taint not tolerated: dedicated=db:NoSchedule`, for a bracket behind a node's name. */
export function nodePhrase({ reason, detail }: NodeVerdict): string {
  const phrase = verdictPhrase(reason);
  return detail === "" ? phrase : `${phrase}: ${detail}`;
}
