import { CORDON_KEY } from "./node.ts";
import type { NodeVerdict } from "./plan.ts";
import { REASONS } from "./reason.ts";
import type { IPStatus } from "./resource.ts";

type Verdict = Pick<NodeVerdict, "reason" | "detail">;

/** Returns what to say of nodes in a list, which are grouped by it: `not ready`, `cordoned`, `tainted dedicated=db`. */
export function verdictPhrase({ reason, detail }: Verdict): string {
  const { phrase, text, isOfTaint } = REASONS[reason];
  if (isOfTaint !== true || detail === "") return phrase ?? text;
  const taint = detail.replace(/:[A-Za-z]*$/, "");
  return taint === CORDON_KEY ? "cordoned" : `tainted ${taint}`;
}

/** Returns `not ready`, `cordoned` or `taint not tolerated: dedicated=db:NoSchedule`, for a bracket behind a node's name. */
export function nodePhrase(verdict: Verdict): string {
  const { reason, detail } = verdict;
  const phrase = verdictPhrase(verdict);
  if (phrase === "cordoned") return phrase;
  return detail === "" ? phrase : `${REASONS[reason].phrase ?? REASONS[reason].text}: ${detail}`;
}

/** Returns where an address is by its status, as a sentence: `203.0.113.1 is active on worker-1.` */
export function placeSentence(ip: string, entry: IPStatus | undefined): string {
  if (entry === undefined) return `No object has ${ip}.`;
  const { state, nodeName, reason, error } = entry;
  const where = nodeName === undefined ? "" : ` on ${nodeName}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  const told = error === undefined ? "" : ` (${error})`;
  return `${ip} is ${STATES[state]}${where}${why}${told}.`;
}

const STATES: Readonly<Record<IPStatus["state"], string>> = {
  active: "active",
  "in-progress": "on its way",
  error: "in error",
  "no-match": "parked",
  unassigned: "on no machine",
  disabled: "not in use",
};
