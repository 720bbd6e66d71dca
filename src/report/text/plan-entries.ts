import { type Action, isAssign } from "../../model/action.ts";
import { ACTIONS, changesFirewall, changesMachines, changesName } from "../../model/action-kinds.ts";
import { whyHeld } from "../../model/hold.ts";
import type { Hold, PoolAssessment } from "../../model/plan.ts";
import { heldTogether, withoutSubjects } from "../causes.ts";
import { actionText, dnsChangeLines, whyAction } from "./actions.ts";
import { heldOfSeveral, holdText, whyHold, withTimeAndAdvice } from "./holds.ts";
import { countText, type EntrySymbol, entryLines, type Layout, listText } from "./layout.ts";

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

/** Returns the lines about one action that is still to be done: what, for DNS address by address, and why. The pool tells why a holder no longer matches. */
export function actionLines(action: Action, pool: PoolAssessment | undefined, layout: PlanLayout): string[] {
  const what = layout.wide ? `${actionText(action)} [${action.reason}${idsOf(action)}]` : actionText(action);
  return entryLines(symbolOf(action), what, changeAndReason(action, whyAction(action, pool), layout), layout);
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

/** Returns the lines about the holds of one object: those of several subjects that have one cause are one entry. */
export function heldLines(holds: readonly Hold[], nowMs: number, layout: PlanLayout, isRest = false): string[] {
  return heldTogether(holds).flatMap((together) => {
    const [first, ...more] = together;
    if (more.length === 0) return holdLines(first, nowMs, layout, { isRest });
    const subjects = together.map(({ subject }) => subject);
    const text = `${listText(subjects, layout.wide ? Number.POSITIVE_INFINITY : MOST_TOGETHER)}: ${heldOfSeveral(first)}`;
    const what = layout.wide ? `${text} [${first.reason}]` : text;
    const why = withTimeAndAdvice(withoutSubjects(whyHeld(first), new Set(subjects)), first, nowMs);
    return entryLines(first.needsPerson ? "!" : ".", what, why, layout);
  });
}

/** How many of the subjects that have one cause are named. */
const MOST_TOGETHER = 3;

/** Returns the lines about one hold: what is not done, until when and why; then a line that says more, if there is one. */
export function holdLines(
  hold: Hold,
  nowMs: number,
  layout: PlanLayout,
  { more = "", isRest = false }: { readonly more?: string; readonly isRest?: boolean },
): string[] {
  const text = holdText(hold, isRest);
  const what = layout.wide ? `${text} [${hold.reason}]` : text;
  return entryLines(hold.needsPerson ? "!" : ".", what, `${whyHold(hold, nowMs)}\n${more}`.trimEnd(), layout);
}

/** True for an annotation that only follows an address: it comes when the address is confirmed, and goes when its node no longer has it. */
export function isFollowing(action: Action): boolean {
  if (action.kind === "annotate-node") return action.reason === "Verified";
  return action.kind === "clear-annotation" && action.requires.length > 0 && action.isGivenUp !== true;
}

/** Returns the one line about annotations that only follow: `2 annotations follow (-o wide shows them)`. */
export function followingLines(count: number, verb: "follow" | "followed", layout: Layout): string[] {
  const said = verb === "follow" && count === 1 ? "follows" : verb;
  return entryLines(
    "~",
    `${countText(count, "annotation")} ${said} (-o wide shows ${count === 1 ? "it" : "them"})`,
    "",
    layout,
  );
}
