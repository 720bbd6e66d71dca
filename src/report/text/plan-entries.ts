import { type Action, isAssign } from "../../model/action.ts";
import { ACTIONS, changesFirewall, changesMachines, changesName } from "../../model/action-kinds.ts";
import { whyHeld } from "../../model/hold.ts";
import type { Hold, PoolAssessment } from "../../model/plan.ts";
import { heldTogether, withoutSubjects } from "../causes.ts";
import { actionText, dnsChangeLines, whyAction } from "./actions.ts";
import { heldOfSeveral, holdText, whyHold, withTimeAndAdvice } from "./holds.ts";
import { countText, type Entry, type EntrySymbol, type Layout, listText } from "./layout.ts";

/** How much a plan shows. */
export interface PlanLayout extends Layout {
  /** Objects, addresses and names that stay as they are, too. */
  readonly all: boolean;
  /** True where a person has named the objects: then all of them are shown. */
  readonly isNamed?: boolean;
  /** Every node by name, ids and reason words, too. */
  readonly wide: boolean;
  /** Only what concerns these nodes and addresses. */
  readonly focus?: ReadonlySet<string>;
  /** What to say where no object is shown. */
  readonly none?: string;
  /** Says in the end who knows more. */
  readonly hint?: string;
  /** How the world that is planned for differs from the one that was read. */
  readonly edits?: EditsTold;
}

/** How a world that is planned for was imagined, in the words of who asked. */
export interface EditsTold {
  readonly edits: readonly string[];
  readonly files: readonly string[];
}

/** How many addresses that stay in a name are shown. */
const MOST_KEPT = 3;

/** Returns one action that is still to be done: what, for DNS address by address, and why. The pool tells why a holder no longer matches. */
export function actionEntry(action: Action, pool: PoolAssessment | undefined, layout: Pick<PlanLayout, "wide">): Entry {
  const what = layout.wide ? `${actionText(action)} [${action.reason}${idsOf(action)}]` : actionText(action);
  return { symbol: symbolOf(action), what, why: changeAndReason(action, whyAction(action, pool), layout) };
}

/** Returns the symbol of an action: the first records of a name are a creation. */
export function symbolOf(action: Action): EntrySymbol {
  return action.kind === "update-dns" && action.before.addresses.length === 0 ? "+" : ACTIONS[action.kind].symbol;
}

/** Returns what becomes of each address of a name, a line each, and then why; for anything but DNS only why. */
export function changeAndReason(action: Action, why: string, { wide }: Pick<PlanLayout, "wide">): string {
  const most = wide ? Number.POSITIVE_INFINITY : MOST_KEPT;
  return changesName(action) ? [...dnsChangeLines(action, most), why].join("\n") : why;
}

function idsOf(action: Action): string {
  if (changesMachines(action))
    return `, firewall ${action.firewall.id}, ${action.machines.map(({ machineID }) => `machine ${machineID}`).join(", ")}`;
  if (changesFirewall(action)) return `, firewall ${action.firewall.id}`;
  if (!isAssign(action)) return "";
  const from = action.before === undefined ? "" : `${action.before.machineID} -> `;
  return `, machine ${from}${action.after.machineID}`;
}

/** Returns the holds of one object: those of several subjects that have one cause are one entry. */
export function heldEntries(
  holds: readonly Hold[],
  nowMs: number,
  layout: Pick<PlanLayout, "wide">,
  isRest = false,
): readonly Entry[] {
  return heldTogether(holds).map((together) => {
    const [first, ...more] = together;
    if (more.length === 0) return holdEntry(first, nowMs, layout, { isRest });
    const subjects = together.map(({ subject }) => subject);
    const text = `${listText(subjects, layout.wide ? Number.POSITIVE_INFINITY : MOST_TOGETHER)}: ${heldOfSeveral(first)}`;
    const what = layout.wide ? `${text} [${first.reason}]` : text;
    const why = withTimeAndAdvice(withoutSubjects(whyHeld(first), new Set(subjects)), first, nowMs);
    return { symbol: heldSymbol(first), what, why };
  });
}

/** How many of the subjects that have one cause are named. */
const MOST_TOGETHER = 3;

/** Returns one hold: what is not done, until when and why; then a line that says more, if there is one. */
export function holdEntry(
  hold: Hold,
  nowMs: number,
  { wide }: Pick<PlanLayout, "wide">,
  { more = "", isRest = false }: { readonly more?: string; readonly isRest?: boolean },
): Entry {
  const text = holdText(hold, isRest);
  const what = wide ? `${text} [${hold.reason}]` : text;
  return { symbol: heldSymbol(hold), what, why: `${whyHold(hold, nowMs)}\n${more}`.trimEnd() };
}

function heldSymbol({ needsPerson }: Hold): EntrySymbol {
  return needsPerson ? "!" : ".";
}

/** True for an annotation that only follows an address: it comes when the address is confirmed, and goes when its node no longer has it. */
export function isFollowing(action: Action): boolean {
  if (action.kind === "annotate-node") return action.reason === "Verified";
  return action.kind === "clear-annotation" && action.requires.length > 0 && action.isGivenUp !== true;
}

/** Returns what is told of all annotations that only follow: `2 annotations follow (-o wide shows them)`. */
export function followingEntry(count: number, verb: "follow" | "followed"): Entry {
  const said = verb === "follow" && count === 1 ? "follows" : verb;
  const what = `${countText(count, "annotation")} ${said} (-o wide shows ${count === 1 ? "it" : "them"})`;
  return { symbol: "~", what, why: "" };
}
