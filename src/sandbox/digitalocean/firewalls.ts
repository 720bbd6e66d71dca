import { type APIObject, type Route, timeText } from "../provider.ts";
import {
  type Caller,
  hasScope,
  listAnswer,
  need,
  notFound,
  type RouteAnswer,
  type RouteCall,
  unprocessable,
} from "./calls.ts";
import type { CloudState, DropletState } from "./cloud-state.ts";
import {
  type FirewallState,
  type InboundState,
  keptRule,
  type OutboundState,
  type RulesRequest,
  readDropletIDs,
  readRules,
  ruleKey,
  type TargetState,
} from "./firewall-rules.ts";

/** @see https://docs.digitalocean.com/products/networking/firewalls/details/limits/ verified 2026-08-07 */
const mostRules = 50;
const mostDroplets = 10;

/** All firewalls, in the order they were made. @throws Refusal */
export function listFirewalls(state: CloudState, caller: Caller): readonly FirewallState[] {
  enter(state, caller, "firewall:read");
  return state.firewalls;
}

/** One firewall. @throws Refusal */
export function readFirewall(state: CloudState, caller: Caller, id: string): FirewallState {
  enter(state, caller, "firewall:read");
  return knownFirewall(state, id);
}

/** Adds rules; one that is there already stays one. @throws Refusal */
export function addRules(state: CloudState, caller: Caller, id: string, { inbound, outbound }: RulesRequest): void {
  const firewall = toChange(state, caller, id);
  const allInbound = unique([...firewall.inbound_rules, ...inbound.map(keptRule)]);
  const allOutbound = unique([...firewall.outbound_rules, ...outbound.map(keptRule)]);
  if (allInbound.length + allOutbound.length > mostRules) {
    throw unprocessable(`Firewall must have no more than ${mostRules} rules.`);
  }
  firewall.inbound_rules = allInbound;
  firewall.outbound_rules = allOutbound;
  carryOut(state, caller, firewall, coveredDroplets(state, firewall));
}

/**
 * Removes the rules that are exactly the given ones; what is not there is not missed, and `all` is never there, since it is kept
 * as `0`.
 * @throws Refusal
 * @see https://github.com/mondoohq/cnspec/pull/3839 verified 2026-11-21
 */
export function removeRules(state: CloudState, caller: Caller, id: string, { inbound, outbound }: RulesRequest): void {
  const firewall = toChange(state, caller, id);
  const isLeft = (asked: RulesRequest["inbound"] | RulesRequest["outbound"]): ((rule: Rule) => boolean) => {
    const keys = new Set(asked.map(ruleKey));
    return (rule) => !keys.has(ruleKey(rule));
  };
  firewall.inbound_rules = firewall.inbound_rules.filter(isLeft(inbound));
  firewall.outbound_rules = firewall.outbound_rules.filter(isLeft(outbound));
  carryOut(state, caller, firewall, coveredDroplets(state, firewall));
}

/** Attaches droplets; one that is attached already stays so. @throws Refusal */
export function addDroplets(state: CloudState, caller: Caller, id: string, dropletIDs: readonly number[]): void {
  const firewall = toChange(state, caller, id);
  for (const dropletID of dropletIDs) {
    if (!state.droplets.some((droplet) => droplet.id === dropletID)) throw notFound();
  }
  const all = [...new Set([...firewall.droplet_ids, ...dropletIDs])];
  // The text is DigitalOcean's, see https://github.com/alphaonedev/ai-memory-mcp/issues/1537 verified 2026-11-21.
  if (all.length > mostDroplets) throw unprocessable(`Firewall must have no more than ${mostDroplets} droplets.`);
  const added = all.filter((dropletID) => !firewall.droplet_ids.includes(dropletID));
  firewall.droplet_ids = all;
  carryOut(state, caller, firewall, added);
}

/** Detaches droplets; one that is not attached is not missed. @throws Refusal */
export function removeDroplets(state: CloudState, caller: Caller, id: string, dropletIDs: readonly number[]): void {
  const firewall = toChange(state, caller, id);
  const removed = firewall.droplet_ids.filter((dropletID) => dropletIDs.includes(dropletID));
  firewall.droplet_ids = firewall.droplet_ids.filter((dropletID) => !removed.includes(dropletID));
  carryOut(state, caller, firewall, removed, true);
}

/** Ends the changes whose time has come; those of an unreachable droplet, and what was given up, stay. */
export function settleFirewalls(state: CloudState, nowMs: number): void {
  const unreachable = new Set(state.droplets.flatMap((droplet) => (droplet.unreachable === true ? [droplet.id] : [])));
  keepChanges(state, ({ droplet_id: dropletID, status, completes_at: completesAt }) => {
    if (status === "failed" || completesAt === undefined) return true;
    return unreachable.has(dropletID) || Date.parse(completesAt) > nowMs;
  });
}

/** A droplet that is deleted leaves its firewalls. A change that never ends by itself stays pending for it. */
export function leaveFirewalls(state: CloudState, dropletID: number): void {
  for (const firewall of state.firewalls) firewall.droplet_ids = firewall.droplet_ids.filter((id) => id !== dropletID);
  keepChanges(state, (change) => change.droplet_id !== dropletID || change.completes_at === undefined);
}

function keepChanges(
  state: CloudState,
  isKept: (change: NonNullable<FirewallState["pending_changes"]>[number]) => boolean,
): void {
  for (const firewall of state.firewalls) {
    const left = firewall.pending_changes?.filter(isKept) ?? [];
    if (left.length > 0) firewall.pending_changes = left;
    else delete firewall.pending_changes;
  }
}

/** True when the droplet carries this tag, in whatever case. */
export function hasTag({ tags = [] }: DropletState, tag: string): boolean {
  return tags.some((other) => other.toLowerCase() === tag.toLowerCase());
}

type Rule = FirewallState["inbound_rules"][number] | FirewallState["outbound_rules"][number];

function enter(state: CloudState, caller: Caller, scope: string): void {
  settleFirewalls(state, caller.nowMs);
  need(caller, scope);
}

function toChange(state: CloudState, caller: Caller, id: string): FirewallState {
  enter(state, caller, "firewall:update");
  return knownFirewall(state, id);
}

function knownFirewall(state: CloudState, id: string): FirewallState {
  const firewall = state.firewalls.find((item) => item.id === id);
  if (firewall === undefined) throw notFound();
  return firewall;
}

function coveredDroplets(state: CloudState, { droplet_ids: ids, tags }: FirewallState): readonly number[] {
  const tagged = state.droplets.filter((droplet) => tags.some((tag) => hasTag(droplet, tag)));
  return [...new Set([...ids, ...tagged.map((droplet) => droplet.id)])];
}

/** A change that takes no time is carried out before anyone can look. */
function carryOut(
  state: CloudState,
  { nowMs }: Caller,
  firewall: FirewallState,
  dropletIDs: readonly number[],
  removing: boolean = false,
): void {
  const completesAt = timeText(nowMs + state.settings.action_delay_ms);
  delete firewall.status;
  const others = (firewall.pending_changes ?? []).filter((change) => !dropletIDs.includes(change.droplet_id));
  const started = dropletIDs.map((id) => ({ droplet_id: id, removing, completes_at: completesAt }));
  firewall.pending_changes = [...others, ...started];
  settleFirewalls(state, nowMs);
}

function unique<R extends Rule>(rules: readonly R[]): R[] {
  return [...new Map(rules.map((rule) => [ruleKey(rule), rule])).values()];
}

const rulesPath = /^\/v2\/firewalls\/([^/]+)\/rules$/;
const dropletsPath = /^\/v2\/firewalls\/([^/]+)\/droplets$/;

/** The operations on firewalls that add and remove; firewalls themselves, and their tags, are made in the file. */
export const firewallRoutes: readonly Route<RouteCall, RouteAnswer>[] = [
  ["GET", /^\/v2\/firewalls$/, firewalls],
  ["GET", /^\/v2\/firewalls\/([^/]+)$/, firewall],
  ["POST", rulesPath, (call, id) => changed(call, id, addRules, readRules)],
  ["DELETE", rulesPath, (call, id) => changed(call, id, removeRules, readRules)],
  ["POST", dropletsPath, (call, id) => changed(call, id, addDroplets, readDropletIDs)],
  ["DELETE", dropletsPath, (call, id) => changed(call, id, removeDroplets, readDropletIDs)],
];

function firewalls(call: RouteCall): RouteAnswer {
  const { cloud, caller } = call;
  return listAnswer(
    "firewalls",
    listFirewalls(cloud.state, caller).map((item) => firewallJSON(item, caller)),
    call,
  );
}

function firewall({ cloud, caller }: RouteCall, id = ""): RouteAnswer {
  return { status: 200, body: { firewall: firewallJSON(readFirewall(cloud.state, caller, id), caller) } };
}

function changed<T>(
  { cloud, caller, body }: RouteCall,
  id: string | undefined,
  change: (state: CloudState, caller: Caller, id: string, request: T) => void,
  read: (body: unknown) => T,
): RouteAnswer {
  change(cloud.state, caller, id ?? "", read(body));
  return { status: 204 };
}

/** `firewall` as a caller may see it: droplets and tags only with the scopes to read them; rules and addresses in an order of its own. */
export function firewallJSON(firewall: FirewallState, caller: Caller): APIObject {
  const { id, name, status = "succeeded", pending_changes: pending = [] } = firewall;
  const sees = hasScope(caller, "droplet:read");
  return {
    id,
    name,
    status: shownStatus(status, pending),
    inbound_rules: inOrder(firewall.inbound_rules).map((rule) => ({
      ...ruleJSON(rule),
      sources: targetJSON(rule.sources),
    })),
    outbound_rules: inOrder(firewall.outbound_rules).map((rule) => ({
      ...ruleJSON(rule),
      destinations: targetJSON(rule.destinations),
    })),
    created_at: "2026-01-01T00:00:00Z",
    droplet_ids: sees ? firewall.droplet_ids : [],
    tags: hasScope(caller, "tag:read") ? firewall.tags : [],
    pending_changes: pending.map(({ droplet_id, removing, status: state = "waiting" }) => ({
      ...(sees ? { droplet_id } : {}),
      removing,
      status: state,
    })),
  };
}

/** While a change is at work somewhere it is waiting; else it has failed as soon as one change has. */
function shownStatus(
  own: "succeeded" | "waiting" | "failed",
  pending: NonNullable<FirewallState["pending_changes"]>,
): string {
  if (pending.some(({ status }) => status !== "failed")) return "waiting";
  return pending.length > 0 && own === "succeeded" ? "failed" : own;
}

function ruleJSON({ protocol, ports, action }: InboundState | OutboundState): APIObject {
  return { protocol, ports, ...(action === undefined ? {} : { action }) };
}

function targetJSON({ addresses, ...others }: TargetState): APIObject {
  return { ...(addresses === undefined ? {} : { addresses: addresses.toSorted().reverse() }), ...others };
}

function inOrder<R extends InboundState | OutboundState>(rules: readonly R[]): readonly R[] {
  return rules.toSorted((a, b) => (ruleKey(a) < ruleKey(b) ? -1 : 1));
}
