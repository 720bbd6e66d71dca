import { type Action, refKey } from "../model/action.ts";
import { compareIPv4, entryOf } from "../model/address.ts";
import { announcedActions, type Hold, type Plan, type PoolAssessment } from "../model/plan.ts";
import type { IPState, IPStatus } from "../model/resource.ts";
import { countText, listText } from "./count-text.ts";
import { errorLines } from "./error-lines.ts";
import { isRouted } from "./is-routed.ts";
import { entryLines } from "./layout.ts";
import { headingLines, matchText, nodeLines } from "./node-lines.ts";
import { actionLines, holdLines, type PlanLayout } from "./plan-entry.ts";
import { publishedLines } from "./published-lines.ts";
import { routedAddress } from "./routed-address.ts";
import { activeCount, unreadAddresses, unreadInUse } from "./summary.ts";

/** Returns the lines about one pool or routed IP of a plan: heading, nodes, actions, holds and, on demand, what stays. */
export function poolSection(pool: PoolAssessment, plan: Plan, layout: PlanLayout): string[] {
  const key = refKey(pool.object);
  const actions = announcedActions(plan).filter(({ object }) => refKey(object) === key);
  const holds = plan.holds.filter(({ object }) => refKey(object) === key);
  const served = new Set(actions.flatMap((action) => servedNode(action)));
  // A node may carry an address that could not be looked at.
  const isKnown = unreadInUse(pool) === 0;
  const without = isRouted(pool) ? pool.waiting : pool.waiting.filter((name) => !keepersOf(pool).has(name));
  const waiting = isKnown ? without.filter((name) => !served.has(name)) : [];
  return [
    ...headingLines(key, headingFacts(pool, holds), layout),
    ...nodeLines({ ...pool, waiting, isRouted: isRouted(pool) }, layout),
    ...actions.flatMap((action) => actionLines(action, pool, layout)),
    ...holds.flatMap((hold) => holdLines(hold, plan.observedAtMs, layout)),
    ...restLines(pool, actions, holds, layout),
    ...firewallLines(pool, actions, layout),
    ...publishedLines(pool.status, [...actions, ...holds], layout),
  ];
}

/** The nodes that still have an address of the pool, be it surplus or released. */
function keepersOf({ status }: PoolAssessment): ReadonlySet<string> {
  const surplus = Object.values(status.ips).filter(({ state }) => state === "disabled");
  return new Set([...surplus, ...status.released].flatMap(({ nodeName }) => nodeName ?? []));
}

function headingFacts(pool: PoolAssessment, holds: readonly Hold[]): string {
  if (holds.some(({ reason }) => reason === "InvalidSpec")) return ": invalid";
  if (holds.some(({ reason }) => reason === "SelectorRefused")) return ": its nodes are unknown";
  return `: ${isRouted(pool) ? routedText(pool) : addressesText(pool)}, ${matchText(pool)}`;
}

/** Of addresses that nobody could look at, what was seen last. */
function addressesText(pool: PoolAssessment): string {
  const active = activeCount(pool);
  const unread = unreadInUse(pool);
  const known = countText(pool.desired - unread, "address", "addresses");
  if (unread === 0) return `${active} of ${known} active`;
  const seen = [...unreadAddresses(pool)].filter((ip) => entryOf(pool.status.ips, ip)?.state === "active").length;
  const last = seen === 0 ? "" : ` (${seen >= unread ? "" : `${seen} of them `}active when last seen)`;
  if (unread === pool.desired) return `${countText(unread, "address", "addresses")}, not readable now${last}`;
  return `${active} of ${known} active, ${unread} not readable now${last}`;
}

/** How the address of a routed IP stands, by its state. */
const STANDING: Readonly<Record<IPState, (ip: string, node: string) => string>> = {
  active: (ip, node) => `${ip} active on ${node}`,
  "in-progress": (ip, node) => `${ip} on its way to ${node}`,
  error: (ip) => `${ip} in error`,
  "no-match": (ip, node) => `${ip} on ${node}, which does not match`,
  unassigned: (ip) => `${ip} without a node`,
  disabled: (ip) => `${ip} disabled`,
};

function routedText(pool: PoolAssessment): string {
  const address = routedAddress(pool.status);
  if (address === undefined) return "no address yet";
  const { ip, entry } = address;
  if (unreadAddresses(pool).has(ip))
    return `${ip}, not readable now${entry.state === "active" ? ` (active on ${entry.nodeName ?? "a node"} when last seen)` : ""}`;
  return STANDING[entry.state](ip, entry.nodeName ?? "a machine outside the cluster");
}

function servedNode(action: Action): readonly string[] {
  if (action.kind === "assign-ip" || action.kind === "move-ip") return [action.after.nodeName];
  return action.kind === "acquire-ip" && "node" in action.after ? [action.after.node.nodeName] : [];
}

function restLines(
  pool: PoolAssessment,
  actions: readonly Action[],
  holds: readonly Hold[],
  layout: PlanLayout,
): string[] {
  const { focus } = layout;
  const told = new Set([...actions.flatMap((a) => ("ip" in a ? [a.ip] : [])), ...holds.map(({ subject }) => subject)]);
  const rest = Object.entries(pool.status.ips)
    .filter(
      ([ip, { nodeName }]) => !told.has(ip) && (focus === undefined || focus.has(ip) || focus.has(nodeName ?? "")),
    )
    .sort(([a], [b]) => compareIPv4(a, b));
  return [
    ...errorLines(pool.status.error, holds, layout),
    ...rest.flatMap(([ip, status]) => addressLines(ip, status, layout)),
  ];
}

/** With `all`, what flipop added to firewalls and stays there, where no action tells of that firewall. */
function firewallLines({ status }: PoolAssessment, actions: readonly Action[], layout: PlanLayout): string[] {
  if (!layout.all || layout.focus !== undefined) return [];
  const told = new Set(actions.flatMap((action) => ("firewall" in action ? [action.firewall.id] : [])));
  return (status.firewalls ?? [])
    .filter(({ id }) => !told.has(id))
    .flatMap(({ name, ports, machineIDs }) => {
      const added = [...ports, ...(machineIDs.length === 0 ? [] : [countText(machineIDs.length, "node")])];
      const verb = added.length === 1 && ports.length <= 1 && machineIDs.length <= 1 ? "stays" : "stay";
      return entryLines("=", `${listText(added)} ${verb} on firewall ${name}`, "", layout);
    });
}

function addressLines(ip: string, status: IPStatus, layout: PlanLayout): string[] {
  if (status.state === "error") return entryLines("!", `${ip} is in error`, status.error ?? "", layout);
  if (!layout.all) return [];
  const where = status.nodeName === undefined ? "" : ` on ${status.nodeName}`;
  const what = status.state === "active" ? `${ip} stays${where}` : `${ip} stays ${status.state}${where}`;
  return entryLines("=", what, "", layout);
}
