import { type Firewall, letsIn, type PortRange, portText, progressAt } from "../../src/model/firewall.ts";
import { FINALIZER, ipFamilyOf, objectKey, type Pool } from "../../src/model/resource.ts";
import type { SimCall } from "./faults.ts";
import {
  type FirewallView,
  holdingMachine,
  isOpen,
  keepsAll,
  liveRoutedIPs,
  MOST_MACHINES,
  MOST_RULES,
  onRecord,
  servingMachine,
  targetOf,
  viewFirewalls,
} from "./firewall-truth.ts";
import type { Monitor, Violation } from "./monitor.ts";
import type { Process } from "./process.ts";
import { dropletOf, isBlocked, managedBy, serves } from "./truth.ts";
import type { World } from "./world.ts";

/** How far a list of addresses may lag behind, milliseconds. */
const LAG_MS = 5500;

/** One request that changed a firewall, or was to. */
interface FirewallChange {
  readonly monitor: Monitor;
  readonly process: Process;
  readonly call: SimCall;
  readonly what: string;
  readonly all: readonly FirewallView[];
  readonly before: FirewallView;
  readonly after: FirewallView;
  /** What the request took away, and brought. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** Objects that are what the pass has read, as far as the cluster goes. */
  readonly stable: readonly Pool[];
}

/** Holds one request that changed a firewall against the promises. */
export function checkFirewallChange(
  monitor: Monitor,
  process: Process,
  call: SimCall,
  views: { readonly before: readonly FirewallView[]; readonly after: readonly FirewallView[] },
): void {
  const find = (all: readonly FirewallView[]): FirewallView | undefined => all.find(({ id }) => id === call.subject);
  const [before, after] = [find(views.before), find(views.after)];
  if (before === undefined || after === undefined) return;
  const { world } = monitor.simulation;
  const { firewalls } = monitor;
  const change: FirewallChange = {
    monitor,
    process,
    call,
    what: `${process.identity}: ${call.operation} ${before.name} ${call.args.join(" ")}`,
    all: views.before,
    before,
    after,
    removed: [...before.parts].filter((part) => !after.parts.has(part)),
    added: [...after.parts].filter((part) => !before.parts.has(part)),
    stable: process.isMisled ? [] : liveRoutedIPs(world).filter((pool) => monitor.isStable(process, pool)),
  };
  firewalls.noteNames();
  checkPlace(change);
  checkRemoval(change);
  checkClosing(change);
  if (call.operation === "open-ports" || call.operation === "add-machines") checkRecord(change);
  firewalls.accepted(call, before, after);
}

/** Only firewalls that are asked for, never those of Kubernetes, within what one may hold, and after another look where something is taken away. */
function checkPlace({ monitor, process, call, what, before }: FirewallChange): void {
  const { firewalls } = monitor;
  if (before.name.startsWith("k8s-")) monitor.violated("P6", `${what}, which is Kubernetes' own`);
  if (!firewalls.everNamed.has(before.id)) monitor.violated("P6", `${what}, which nobody ever named`);
  if (process.settings.target !== undefined)
    monitor.violated("selection", `${what} although something else is selected`);
  const isTaking = call.operation === "close-ports" || call.operation === "remove-machines";
  if (isTaking && !process.readings.firewalls.singly.has(before.id))
    monitor.violated("re-read", `${what} without having read it again since the pass began`);
  const known = process.readings.firewalls.newest(before.id);
  if (known === undefined) monitor.violated("P2", `${what} without having read it`);
  else if (monitor.firewalls.lastChangedMs < process.passStartMs) checkRoom(monitor, call, what, known);
}

function checkRoom(monitor: Monitor, call: SimCall, what: string, known: Firewall): void {
  const missing = call.args.filter((part) => !partsOf(known).has(String(part)));
  if (call.operation === "open-ports" && known.ruleCount + missing.length > MOST_RULES)
    monitor.violated("limit", `${what}, which has ${known.ruleCount} rules`);
  if (call.operation === "add-machines" && known.machineIDs.length + missing.length > MOST_MACHINES)
    monitor.violated("limit", `${what}, which has ${known.machineIDs.length} machines`);
}

function partsOf({ rules, machineIDs }: Firewall): ReadonlySet<string> {
  return new Set([...rules.map(({ ports }) => portText(ports)), ...machineIDs]);
}

/** Only what the program added goes, and nothing that an object needs, or that may not be let go for it. */
function checkRemoval(change: FirewallChange): void {
  const { monitor, what, before, removed, stable } = change;
  // What was put on record for a call that was never made, and somebody added meanwhile, nobody can tell from an own one.
  const { added, byHand } = monitor.firewalls;
  const known = monitor.firewalls.recorded();
  const isUntellable = (key: string): boolean => byHand.has(key) && known.has(key);
  const strange = removed.filter((part) => !added.has(`${before.id} ${part}`) && !isUntellable(`${before.id} ${part}`));
  if (strange.length > 0) monitor.violated("P6", `${what}: the program did not add ${strange.join(" ")}`);
  const isSettled = monitor.firewalls.lastChangedMs < monitor.simulation.world.nowMs() || removed.length === 0;
  if (!isSettled) return;
  for (const pool of stable) {
    const needed = neededOf(pool, change);
    const lost = removed.filter((part) => needed.includes(part));
    if (lost.length > 0) monitor.violated("firewall", `${what}: ${objectKey(pool.meta)} needs ${lost.join(" ")}`);
  }
}

/** What an object needs of the firewall that is changed, or has on record there while nothing may be let go for it. */
function neededOf(pool: Pool, { monitor, process, all, before }: FirewallChange): readonly (string | undefined)[] {
  const { world } = monitor.simulation;
  const prefix = `${before.id} `;
  const recorded = keepsAll(pool, all) ? onRecord(pool).filter((part) => part.startsWith(prefix)) : [];
  const kept = recorded.map((part) => part.slice(prefix.length));
  const target = targetOf(pool, all);
  if (typeof target !== "object" || target.firewall.id !== before.id || isBlocked(pool)) return kept;
  const isUnknown = isMoved(monitor, process, pool) || isUnread(process, pool);
  const machines = isUnknown ? [] : [servingMachine(world, pool), holdingMachine(world, pool)];
  return [...kept, ...target.ports.map(portText), ...machines];
}

/** True where an address of the object could not be read by itself: a list that shows it elsewhere than status has it may lag behind. */
function isUnread({ readings }: Process, pool: Pool): boolean {
  return [...managedBy(pool)].some((ip) => readings.newest.get(ip) === "failed");
}

/** True when somebody else moved an address of the object since shortly before the pass began. */
function isMoved({ records }: Monitor, { passStartMs }: Process, pool: Pool): boolean {
  return [...managedBy(pool)].some((ip) => (records.handMoved.get(ip) ?? 0) >= passStartMs - LAG_MS);
}

/**
 * An address that was served is not shut out, through whatever firewall. What a former firewall lets in for an object stands in its status alone: nobody knows of it
 * any more where somebody took that away.
 */
function checkClosing({ monitor, what, all, before, after, stable }: FirewallChange): void {
  const { records, simulation } = monitor;
  const allAfter = all.map((view) => (view === before ? after : view));
  for (const pool of stable) {
    const target = targetOf(pool, all);
    const machine = servingMachine(simulation.world, pool);
    if (typeof target !== "object" || machine === undefined || !isServing(simulation.world, pool, machine)) continue;
    if (records.touchedAtMs.has(objectKey(pool.meta)) && target.firewall.id !== before.id) continue;
    const shut = target.ports.filter((one) => isServed(all, machine, one) && !isServed(allAfter, machine, one));
    if (shut.length > 0)
      monitor.violated("firewall", `${what} shuts out ${shut.map(portText).join(" ")} of ${objectKey(pool.meta)}`);
  }
}

/** True where clients are answered at the machine: its node matches, or is in grace. */
function isServing(world: World, pool: Pool, machine: string): boolean {
  return world.nodes().some((node) => String(dropletOf(node)) === machine && serves(world, pool, node) !== "no");
}

/** A machine behind no firewall at all lets everything in. */
function isServed(all: readonly FirewallView[], machine: string, ports: PortRange): boolean {
  const own = all.filter(({ covered }) => covered.has(machine));
  return own.length === 0 || own.some((view) => isOpen(view, ports));
}

/** What is added is on record before, and will be taken away again where that is asked for. */
function checkRecord({ monitor, process, what, before, added }: FirewallChange): void {
  const { records, firewalls, simulation } = monitor;
  const pools = simulation.world.pools();
  const isMoving =
    process.isMisled ||
    records.lastChangeMs >= process.passStartMs ||
    [...records.touchedAtMs.values()].some((ms) => ms >= process.passStartMs);
  for (const part of added) {
    const holders = pools.filter((pool) => onRecord(pool).includes(`${before.id} ${part}`));
    if (isMoving) {
      if (holders.length === 0) queueMicrotask(() => firewalls.abandoned.add(`${before.id} ${part}`));
      continue;
    }
    if (holders.length === 0) monitor.violated("leak", `${what}: ${part} is on no record`);
    const isGiven = holders.some(
      ({ spec, meta }) => spec.reclaimPolicy !== "Delete" || meta.finalizers.includes(FINALIZER),
    );
    if (holders.length > 0 && !isGiven) monitor.violated("leak", `${what}: ${part} before the finalizer is set`);
  }
}

/** What sending an address to a machine breaks: its firewall must have been seen to let everything in there. */
export function checkSending(monitor: Monitor, process: Process, call: SimCall): readonly Violation[] {
  const { operation, subject, args } = call;
  if (operation !== "assign" && operation !== "create") return [];
  const pools = monitor.simulation.world.pools();
  const [owner, ...others] =
    operation === "create"
      ? pools.filter(({ meta }) => objectKey(meta) === process.intentOf(call))
      : pools.filter((pool) => managedBy(pool).has(subject));
  const [place] = args as readonly [string | { readonly machineID?: string }];
  const machine = typeof place === "string" ? place : place.machineID;
  if (owner === undefined || others.length > 0 || machine === undefined) return [];
  return checkLetIn(monitor, process, owner, machine, `${process.identity}: ${operation} ${subject} to ${machine}`);
}

function checkLetIn(
  monitor: Monitor,
  process: Process,
  pool: Pool,
  machine: string,
  what: string,
): readonly Violation[] {
  const { firewall: wish } = pool;
  if (wish === undefined || process.isMisled || !monitor.isStable(process, pool)) return [];
  // Of a firewall that is not to be changed nobody knows more before a person has acted: an address that serves nobody goes on.
  if (isUnusable(monitor.simulation.world, pool) && wasPlaced(pool)) return [];
  // What somebody closes by hand while the pass waits for something else is put right by the next one.
  if (monitor.firewalls.lastChangedMs >= process.passStartMs) return [];
  const readings = process.readings.firewalls.of(wish.firewall);
  const newest = readings.at(-1);
  if (newest === undefined) return [{ invariant: "firewall", text: `${what}, without having read its firewall` }];
  const { needed, shut } = neededPorts(pool, newest);
  if (shut.length > 0)
    return [{ invariant: "firewall", text: `${what}, where ${shut.join(" ")} was last seen closed` }];
  if (!isShownBehind(monitor, newest, machine))
    return [{ invariant: "firewall", text: `${what}, which was last seen outside its firewall` }];
  const wasDone = readings.some(
    (one) =>
      progressAt(one, machine) === "in-force" &&
      isShownBehind(monitor, one, machine) &&
      needed.every((ports) => isShownOpen(one, pool, ports)),
  );
  return wasDone ? [] : [{ invariant: "firewall", text: `${what}, where its firewall was never seen to be done` }];
}

/** The ports without which an address of the object is not sent anywhere, and those of them that were last seen closed. An object that has served goes on with those that are open. */
function neededPorts(
  pool: Pool,
  newest: Firewall,
): { readonly needed: readonly PortRange[]; readonly shut: readonly string[] } {
  const ports = pool.firewall?.ports ?? [];
  const open = ports.filter((one) => isShownOpen(newest, pool, one));
  const needed = wasPlaced(pool) && open.length > 0 ? open : ports;
  return { needed, shut: needed.filter((one) => !open.includes(one)).map(portText) };
}

function wasPlaced({ status }: Pick<Pool, "status">): boolean {
  return Object.values(status.ips).some(({ providerID }) => providerID !== undefined);
}

function isUnusable(world: World, pool: Pool): boolean {
  return targetOf(pool, viewFirewalls(world)) === "unusable";
}

/** What publishing an address breaks: its firewall must not have been seen to keep it out. */
export function checkShownOpen(monitor: Monitor, process: Process, pool: Pool, what: string): void {
  const { firewall: wish, status } = pool;
  const { world } = monitor.simulation;
  const isMoving = monitor.firewalls.lastChangedMs >= process.passStartMs;
  if (wish === undefined || isMoving || process.isMisled || !monitor.isStable(process, pool)) return;
  const newest = process.readings.firewalls.of(wish.firewall).at(-1);
  const [machine] = Object.keys(status.ips).flatMap((ip) => world.address(ip)?.droplet_id ?? []);
  const isIn =
    newest !== undefined &&
    wish.ports.every((one) => isShownOpen(newest, pool, one)) &&
    (machine === undefined || isShownBehind(monitor, newest, String(machine)));
  if (!isIn) monitor.violated("firewall", `${what}, where its firewall was last seen to keep it out`);
}

function isShownOpen({ rules }: Firewall, { spec }: Pool, ports: PortRange): boolean {
  return rules.some((rule) => letsIn(rule, { ports, family: ipFamilyOf(spec) }));
}

function isShownBehind({ simulation }: Monitor, { machineIDs, tags }: Firewall, machine: string): boolean {
  const droplet = simulation.world.cloud.state.droplets.find(({ id }) => String(id) === machine);
  return machineIDs.includes(machine) || (droplet?.tags ?? []).some((tag) => tags.includes(tag));
}
