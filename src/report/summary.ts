import { ACTIONS, type ActionKind } from "../model/action.ts";
import type { Plan } from "../model/plan.ts";
import { VERBS } from "./action-message.ts";
import { countText } from "./count-text.ts";
import { untoldGaps } from "./untold-gaps.ts";

/** Returns how many actions there are of each kind, in the order of writes; kinds without any are absent. */
export function countKinds(kinds: readonly ActionKind[]): ReadonlyMap<ActionKind, number> {
  const order = [...new Set(kinds)].sort((a, b) => ACTIONS[a].phase - ACTIONS[b].phase || (a < b ? -1 : 1));
  return new Map(order.map((kind) => [kind, kinds.filter((other) => other === kind).length]));
}

/** Returns `2 to assign, 1 to move, 1 held, 1 blocked.`, or that nothing is to do and how many addresses are active. */
export function summaryText(plan: Plan): string {
  const parts = [...countKinds(plan.actions.map(({ kind }) => kind))].map(([kind, n]) => countOf(n, VERBS[kind].count));
  const blocked = plan.holds.filter((hold) => hold.needsPerson).length;
  const unread = untoldGaps(plan).length;
  const held = plan.holds.length - blocked;
  const rest = [
    ...(held > 0 ? [`${held} held`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(unread > 0 ? [`${unread} unreadable`] : []),
  ];
  if (parts.length > 0) return `${[...parts, ...rest].join(", ")}.`;
  return rest.length > 0 ? `Nothing to do now: ${rest.join(", ")}.` : `Nothing to do: ${activeText(plan)}.`;
}

/** Returns `1 annotation to clear`, `2 annotations to clear`, `2 to assign`: a noun, where there is one, in its number. */
export function countOf(count: number, text: string): string {
  return `${count} ${count === 1 ? text : text.replace(/^(annotation|finalizer|DNS name|DNS withdrawal)\b/, "$1s")}`;
}

/** Returns `2 pools, 3 of 4 addresses active`, and `3 record sets as desired` or `2 of 3 record sets as desired` where there are any. */
export function activeText(plan: Plan): string {
  const active = plan.pools.flatMap(({ status }) => Object.values(status.ips).filter((ip) => ip.state === "active"));
  const desired = plan.pools.reduce((sum, pool) => sum + pool.desired, 0);
  const pools = `${countText(plan.pools.length, "pool")}, ${active.length} of ${countText(desired, "address", "addresses")} active`;
  if (plan.recordSets.length === 0) return pools;
  return plan.pools.length === 0 ? recordSetText(plan) : `${pools}, ${recordSetText(plan)}`;
}

function recordSetText({ recordSets }: Plan): string {
  const ready = recordSets.filter(({ status }) =>
    status.conditions.some((condition) => condition.type === "Ready" && condition.status === "True"),
  ).length;
  const all = countText(recordSets.length, "record set");
  return ready === recordSets.length ? `${all} as desired` : `${ready} of ${all} as desired`;
}
