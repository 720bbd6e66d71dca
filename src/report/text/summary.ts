import type { Action, ActionKind } from "../../model/action.ts";
import { ACTIONS, changesName } from "../../model/action-kinds.ts";
import { announcedActions, type Gap, type Plan, type PoolAssessment } from "../../model/plan.ts";
import { isRouted } from "../overview.ts";
import { amountOf } from "./actions.ts";
import { countText } from "./layout.ts";

/** Returns how many actions there are of each kind, in the order of writes; kinds without any are absent. */
export function countKinds(actions: readonly Action[]): ReadonlyMap<ActionKind, number> {
  return sums(actions, () => 1);
}

/** Returns how many things the actions of each kind change, as {@link amountOf} counts them; else as {@link countKinds}. A name that is changed twice, since an address of it is known only later, counts once. */
export function countChanges(actions: readonly Action[]): ReadonlyMap<ActionKind, number> {
  const keyOf = (action: Action): unknown =>
    changesName(action) ? `${action.kind} ${action.dnsProvider} ${action.fqdn}` : action;
  return sums([...new Map(actions.map((action) => [keyOf(action), action])).values()], amountOf);
}

function sums(actions: readonly Action[], weigh: (action: Action) => number): ReadonlyMap<ActionKind, number> {
  const table = Object.keys(ACTIONS);
  const byKind = Map.groupBy(actions, ({ kind }) => kind);
  return new Map(
    [...byKind]
      .map(([kind, own]) => [kind, own.reduce((sum, action) => sum + weigh(action), 0)] as const)
      .toSorted(([a], [b]) => ACTIONS[a].phase - ACTIONS[b].phase || table.indexOf(a) - table.indexOf(b)),
  );
}

/** Returns `2 to assign, 1 to move, 1 held, 1 blocked.`, or that nothing is to do and how many addresses are active. */
export function summaryText(plan: Plan): string {
  const parts = [...countChanges(announcedActions(plan))].map(([kind, n]) => countOf(n, ACTIONS[kind].count));
  const blocked = plan.holds.filter((hold) => hold.needsPerson).length;
  const unread = untoldGaps(plan).length;
  const putOff = putOffCount(plan);
  const held = plan.holds.length - blocked;
  const rest = [
    ...(held > 0 ? [`${held} held`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(unread > 0 ? [`${unread} unreadable`] : []),
    ...(putOff > 0 ? [`${putOff} put off`] : []),
  ];
  if (parts.length > 0) return `${[...parts, ...rest].join(", ")}.`;
  return rest.length > 0 ? `Nothing to do now: ${rest.join(", ")}.` : `Nothing to do: ${activeText(plan)}.`;
}

/** Returns `1 annotation to clear`, `2 annotations to clear`, `2 to assign`: a noun, where there is one, in its number. */
export function countOf(count: number, text: string): string {
  return `${count} ${count === 1 ? text : text.replace(/^(annotation|finalizer|DNS name|DNS withdrawal|port|node)\b/, "$1s")}`;
}

/** Returns `2 pools, 3 of 4 addresses active`, and `2 of 3 routed IPs active` and `3 record sets as desired` where there are any; pools are left out where there are only others. */
export function activeText(plan: Plan): string {
  const pools = plan.pools.filter((pool) => !isRouted(pool));
  const routed = plan.pools.filter(isRouted);
  const others = [
    ...(routed.length === 0 ? [] : [routedText(routed)]),
    ...(plan.recordSets.length === 0 ? [] : [recordSetText(plan)]),
  ];
  const parts = [...(pools.length === 0 ? [] : [poolText(pools)]), ...others];
  return parts.length === 0 ? "no pools, routed IPs or record sets" : parts.join(", ");
}

/** Of what nobody could look at only how much it is: whether it serves is not known. */
function poolText(pools: readonly PoolAssessment[]): string {
  const sum = (count: (pool: PoolAssessment) => number): number =>
    pools.reduce((total, pool) => total + count(pool), 0);
  const stay = sum((pool) => (isLeftAlone(pool) ? Object.keys(pool.status.ips).length : 0));
  const unread = sum(unreadInUse);
  const known = sum(({ desired }) => desired) - unread;
  return [
    countText(pools.length, "pool"),
    ...(known > 0 || unread + stay === 0
      ? [`${sum(activeCount)} of ${countText(known, "address", "addresses")} active`]
      : []),
    ...unreadText(unread, known > 0),
    ...(stay > 0
      ? [`${countText(stay, "address", "addresses")} ${stay === 1 ? "stays as it is" : "stay as they are"}`]
      : []),
  ].join(", ");
}

function unreadText(count: number, isBeside: boolean): readonly string[] {
  if (count === 0) return [];
  return [isBeside ? `${count} not readable now` : `${countText(count, "address", "addresses")} not readable now`];
}

/** Returns how many of the addresses that a pool should have could not be looked at. */
export function unreadInUse(pool: PoolAssessment): number {
  if (pool.blocked !== undefined) return isLeftAlone(pool) ? 0 : pool.desired;
  return Math.min(unreadAddresses(pool).size, pool.desired);
}

/** Returns the addresses of a pool that could not be looked at: its status has them as they were seen last. */
export function unreadAddresses(pool: PoolAssessment): ReadonlySet<string> {
  if (isLeftAlone(pool)) return new Set();
  const { blocked, status } = pool;
  const entries = Object.entries(status.ips).filter(([, { state }]) => state !== "disabled");
  const unread = blocked === undefined ? entries.filter(([, { reason }]) => reason === "Unreadable") : entries;
  return new Set(unread.map(([ip]) => ip));
}

/** True for a pool of which nothing changes whatever its addresses do, since what it wants is not known. */
function isLeftAlone({ blocked }: PoolAssessment): boolean {
  return blocked === "InvalidSpec" || blocked === "SelectorRefused" || blocked === "PodsForbidden";
}

/** Returns how many addresses of a pool are known to be active. */
export function activeCount(pool: PoolAssessment): number {
  if (pool.blocked !== undefined) return 0;
  return Object.values(pool.status.ips).filter(({ state, reason }) => state === "active" && reason !== "Unreadable")
    .length;
}

function routedText(routed: readonly PoolAssessment[]): string {
  const unread = routed.filter((one) => unreadInUse(one) > 0).length;
  const known = routed.length - unread;
  const active = routed.filter((one) => activeCount(one) > 0).length;
  if (known === 0) return `${countText(unread, "routed IP")} not readable now`;
  const all = countText(known, "routed IP");
  const some = `${active} of ${known} routed IPs`;
  const rest = unread === 0 ? "" : `, ${unread} not readable now`;
  return `${active === known ? all : some} active${rest}`;
}

function recordSetText({ recordSets }: Plan): string {
  const ready = recordSets.filter(({ status }) =>
    status.conditions.some((condition) => condition.type === "Ready" && condition.status === "True"),
  ).length;
  const all = countText(recordSets.length, "record set");
  return `${ready === recordSets.length ? all : `${ready} of ${recordSets.length} record sets`} as desired`;
}

/** Returns what could not be read and no hold of the plan tells. */
export function untoldGaps({ gaps, holds, pools }: Pick<Plan, "gaps" | "holds" | "pools">): readonly Gap[] {
  const subjects = new Set(holds.map(({ subject }) => subject));
  const details = new Set(holds.map(({ detail }) => detail));
  // A token that is not accepted keeps everything of its provider from being read.
  const closed = new Set(
    pools.flatMap(({ blocked, provider }) => (blocked === "ProviderUnavailable" ? [provider] : [])),
  );
  const isTold = ({ provider, subject, error }: Gap): boolean =>
    subjects.has(subject) || details.has(error) || (subject === "" && closed.has(provider));
  return gaps.filter((gap) => gap.putOff === undefined && !isTold(gap));
}

/** Returns looks that were put off: of what could not be read they are what nothing stood in the way of. */
export function putOffGaps({ gaps }: Pick<Plan, "gaps">): readonly (Gap & Required<Pick<Gap, "putOff">>)[] {
  return gaps.flatMap((gap) => (gap.putOff === undefined ? [] : [{ ...gap, putOff: gap.putOff }]));
}

/** Returns how many names were put off, over all providers. */
export function putOffCount(plan: Plan): number {
  return putOffGaps(plan).reduce((sum, { putOff }) => sum + putOff.names, 0);
}
