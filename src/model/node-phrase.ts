import { entryText, isSent } from "./address.ts";
import { CORDON_KEY } from "./node.ts";
import type { NodeVerdict } from "./plan.ts";
import { REASONS, type Reason } from "./reason.ts";
import type { IPStatus } from "./resource.ts";

type Verdict = Pick<NodeVerdict, "reason" | "detail" | "isOfFirewall">;

/** Returns what to say of nodes in a list, which are grouped by it: `not ready`, `cordoned`, `tainted dedicated=db`. */
export function verdictPhrase({ reason, detail, isOfFirewall }: Verdict): string {
  const { phrase, firewallPhrase, text, isOfTaint } = REASONS[reason];
  if (isOfFirewall === true && firewallPhrase !== undefined) return firewallPhrase;
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
  if (entry === undefined) return `No object has ${entryText(ip)}.`;
  const { state, nodeName, reason, error } = entry;
  const isComing = isSent(entry);
  const where = nodeName === undefined ? "" : ` ${isComing ? "to" : "on"} ${nodeName}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  const told = error === undefined ? "" : ` (${error})`;
  const how = state === "in-progress" && !isComing ? "locked" : STATES[state];
  return `${entryText(ip)} is ${how}${where}${why}${told}.`;
}

const STATES: Readonly<Record<IPStatus["state"], string>> = {
  active: "active",
  "in-progress": "on its way",
  error: "in error",
  "no-match": "parked",
  unassigned: "on no machine",
  disabled: "not in use",
};

/** Returns `worker-4: The machine already carries an address that no object names. (203.0.113.99)`, as status keeps of a node that can take no address. */
export function skippedSentence({ nodeName, reason, detail }: Verdict & { readonly nodeName: string }): string {
  return `${nodeName}: ${REASONS[reason].text}${detail === "" ? "" : ` (${detail})`}`;
}

/** Of what a sentence of status tells: which node, and why. `reason` is absent for an error that no word stands for. */
interface SkippedNode extends Partial<Verdict> {
  readonly nodeName: string;
  readonly message: string;
}

/** Returns what {@link skippedSentence} wrote, or of any other error of a node the node and the error; undefined for an error that is of no node. */
export function readSkipped(sentence: string): SkippedNode | undefined {
  const [, nodeName, error = ""] = /^([a-z0-9][a-z0-9.-]*): (.+)$/s.exec(sentence) ?? [];
  if (nodeName === undefined) return undefined;
  for (const reason of NODE_ERRORS) {
    const verdict = { reason, detail: error.slice(REASONS[reason].text.length).replace(/^ \((.*)\)$/s, "$1") };
    if (skippedSentence({ nodeName, ...verdict }) === sentence)
      return { nodeName, ...verdict, message: nodePhrase(verdict) };
  }
  return { nodeName, message: error };
}

const NODE_ERRORS: readonly Reason[] = (Object.keys(REASONS) as readonly Reason[]).filter(
  (reason) => REASONS[reason].isNodeError === true,
);
