import { ACTIONS, type Action } from "../model/action.ts";
import { compareIPv4 } from "../model/address.ts";
import type { Hold, Plan, PoolAssessment } from "../model/plan.ts";
import type { IPStatus } from "../model/resource.ts";
import { actionText, whyAction } from "./action-message.ts";
import { countText, listText } from "./count-text.ts";
import { holdText, whyHold } from "./hold-message.ts";
import { entryLines, type Layout } from "./layout.ts";
import { groupVerdicts } from "./node-phrase.ts";
import { objectText } from "./object-text.ts";
import { oneLine } from "./one-line.ts";
import { wrap } from "./wrap.ts";

/** How much a plan shows. */
export interface PlanLayout extends Layout {
  /** Addresses that stay as they are, too. */
  readonly all: boolean;
  /** Every node by name, ids and reason words, too. */
  readonly wide: boolean;
  /** Only what concerns these nodes and addresses. */
  readonly focus?: ReadonlySet<string>;
}

/** Returns the lines about one pool of a plan: heading, nodes, actions, holds and, on demand, what stays. */
export function poolSection(pool: PoolAssessment, plan: Plan, layout: PlanLayout): string[] {
  const key = objectText(pool.object);
  const actions = plan.actions.filter(({ object }) => objectText(object) === key);
  const holds = plan.holds.filter(({ object }) => objectText(object) === key);
  return [
    ...headingLines(pool, holds, layout),
    ...nodeLines(pool, actions, layout),
    ...actions.flatMap((action) => actionLines(action, pool, layout)),
    ...holds.flatMap((hold) => holdLines(hold, plan.observedAtMs, layout)),
    ...restLines(pool, actions, holds, layout),
  ];
}

function headingLines(pool: PoolAssessment, holds: readonly Hold[], { palette, width }: PlanLayout): string[] {
  const name = objectText(pool.object);
  const [first = "", ...rest] = wrap(`${name}${headingFacts(pool, holds)}`, "", width);
  return [palette.strong(name) + first.slice(name.length), ...rest];
}

function headingFacts({ status, matching, notMatching, desired }: PoolAssessment, holds: readonly Hold[]): string {
  if (holds.some(({ reason }) => reason === "InvalidSpec")) return ": invalid";
  const active = Object.values(status.ips).filter(({ state }) => state === "active").length;
  const nodes = countText(matching.length + notMatching.length, "node");
  const match = matching.length === 1 ? "matches" : "match";
  return `: ${active} of ${countText(desired, "address", "addresses")} active, ${matching.length} of ${nodes} ${match}`;
}

function nodeLines(pool: PoolAssessment, actions: readonly Action[], layout: PlanLayout): string[] {
  const { width, palette, wide, focus } = layout;
  const isMeant = (name: string): boolean => focus === undefined || focus.has(name);
  const notMatching = pool.notMatching.filter(({ nodeName }) => isMeant(nodeName));
  const skipped = pool.skipped.filter(({ nodeName }) => isMeant(nodeName));
  const most = wide ? Number.POSITIVE_INFINITY : 3;
  const served = new Set(actions.flatMap((action) => servedNode(action)));
  const waiting = pool.waiting.filter((name) => !served.has(name) && isMeant(name));
  const texts = [
    ...(notMatching.length > 0 ? [`Not matching: ${groupVerdicts(notMatching, most)}.`] : []),
    ...(skipped.length > 0 ? [`Cannot take an address: ${groupVerdicts(skipped, most)}.`] : []),
    ...(waiting.length > 0 ? [`Still without an address: ${listText(waiting, most)}.`] : []),
  ];
  return texts.flatMap((text) => wrap(text, "    ", width).map((line) => palette.faint(line)));
}

function servedNode(action: Action): readonly string[] {
  if (action.kind === "assign-ip" || action.kind === "move-ip") return [action.after.nodeName];
  return action.kind === "acquire-ip" && "node" in action.after ? [action.after.node.nodeName] : [];
}

/** Returns the lines about one action that is still to be done. */
function actionLines(action: Action, pool: PoolAssessment, layout: PlanLayout): string[] {
  const what = layout.wide ? `${actionText(action)} [${action.reason}${idsOf(action)}]` : actionText(action);
  return entryLines(ACTIONS[action.kind].symbol, what, whyAction(action, pool), layout);
}

function idsOf(action: Action): string {
  if (action.kind !== "assign-ip" && action.kind !== "move-ip") return "";
  const from = action.before === undefined ? "" : `${action.before.machineID} -> `;
  return `, droplet ${from}${action.after.machineID}`;
}

/** Returns the lines about one hold: what is not done, until when and why. */
export function holdLines(hold: Hold, nowMs: number, layout: PlanLayout): string[] {
  const what = layout.wide ? `${holdText(hold)} [${hold.reason}]` : holdText(hold);
  return entryLines(hold.needsPerson ? "!" : ".", what, whyHold(hold, nowMs), layout);
}

function restLines(
  pool: PoolAssessment,
  actions: readonly Action[],
  holds: readonly Hold[],
  layout: PlanLayout,
): string[] {
  const { focus } = layout;
  const told = new Set([...actions.flatMap((a) => ("ip" in a ? [a.ip] : [])), ...holds.map(({ subject }) => subject)]);
  const isTold = holds.some(({ kind }) => kind === "reconcile");
  const error = pool.status.error;
  const invalid = error === undefined || isTold ? [] : entryLines("!", oneLine(error), "", layout);
  const rest = Object.entries(pool.status.ips)
    .filter(
      ([ip, { nodeName }]) => !told.has(ip) && (focus === undefined || focus.has(ip) || focus.has(nodeName ?? "")),
    )
    .sort(([a], [b]) => compareIPv4(a, b));
  return [...invalid, ...rest.flatMap(([ip, status]) => addressLines(ip, status, layout))];
}

function addressLines(ip: string, status: IPStatus, layout: PlanLayout): string[] {
  if (status.state === "error") return entryLines("!", `${ip} is in error`, oneLine(status.error ?? ""), layout);
  if (!layout.all) return [];
  const where = status.nodeName === undefined ? "" : ` on ${status.nodeName}`;
  const what = status.state === "active" ? `${ip} stays${where}` : `${ip} stays ${status.state}${where}`;
  return entryLines("=", what, "", layout);
}
