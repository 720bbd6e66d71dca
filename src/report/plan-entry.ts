import { ACTIONS, type Action } from "../model/action.ts";
import type { Hold, PoolAssessment } from "../model/plan.ts";
import { actionText, whyAction } from "./action-message.ts";
import { dnsChangeLines } from "./dns-change.ts";
import { holdText, whyHold } from "./hold-message.ts";
import { type EntrySymbol, entryLines, type Layout } from "./layout.ts";

/** How much a plan shows. */
export interface PlanLayout extends Layout {
  /** Addresses and names that stay as they are, too. */
  readonly all: boolean;
  /** Every node by name, ids and reason words, too. */
  readonly wide: boolean;
  /** Only what concerns these nodes and addresses. */
  readonly focus?: ReadonlySet<string>;
  /** What to say where no object is shown. */
  readonly none?: string;
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
  return "fqdn" in action ? [...dnsChangeLines(action, most), why].join("\n") : why;
}

function idsOf(action: Action): string {
  if ("machines" in action)
    return `, firewall ${action.firewall.id}, ${action.machines.map(({ machineID }) => `machine ${machineID}`).join(", ")}`;
  if ("firewall" in action) return `, firewall ${action.firewall.id}`;
  if (action.kind !== "assign-ip" && action.kind !== "move-ip") return "";
  const from = action.before === undefined ? "" : `${action.before.machineID} -> `;
  return `, machine ${from}${action.after.machineID}`;
}

/** Returns the lines about one hold: what is not done, until when and why. */
export function holdLines(hold: Hold, nowMs: number, layout: PlanLayout): string[] {
  const what = layout.wide ? `${holdText(hold)} [${hold.reason}]` : holdText(hold);
  return entryLines(hold.needsPerson ? "!" : ".", what, whyHold(hold, nowMs), layout);
}
