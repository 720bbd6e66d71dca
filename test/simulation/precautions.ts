import { familyOf } from "../../src/sandbox/digitalocean/actions.ts";
import type { SimCall } from "./faults.ts";
import type { Monitor, Violation } from "./monitor.ts";
import type { Process } from "./process.ts";
import { dropletOf, managedBy, serves } from "./truth.ts";

/** How long after the account's addresses were listed nobody may rely on that any more, milliseconds: the manual's two seconds, and a few calls that are slow to be answered. */
const LATE_MS = 14_000;

/** So long after a refusal for the limit is over a move does without a reading that the pass has just made, and so old that one may be, milliseconds: a few calls with their time included. */
const SHORT_MS = 60_000;
const JUST_MS = 3500;

/** How many halves of calls there are from the plan to an assignment, at most, what must be on record first included. */
const ROUND_CALLS = 10;
/** What that takes where calls take no time, milliseconds: a pass collects what ends in the same moment. */
const ROUND_MS = 10;

/** What has to be looked at again right before a write that takes something away, and what must be known to be free before it is asked for. */
export function checkPrecautions(monitor: Monitor, process: Process, call: SimCall, what: string): void {
  if (!["assign", "unassign", "delete"].includes(call.operation)) return;
  if (mustBeRead(monitor, process, call) && !process.readings.singly.has(call.subject))
    monitor.violated("re-read", `${what} without having read it again since the pass began`);
  if (call.operation !== "assign") return;
  const shown = process.readings.seen.get(call.subject)?.holderID;
  const target = String(call.args[0]);
  if (!monitor.records.everNode.has(Number(target)))
    monitor.violated("match", `${what}, which never was a node's machine`);
  const { world, history } = monitor.simulation;
  // What another action reads meanwhile comes too late for one that is under way.
  const knownMs = world.nowMs() - Math.max(ROUND_MS, ROUND_CALLS * history.latencyMs);
  const isThere = (ip: string): boolean => String(world.address(ip)?.droplet_id) === target;
  const other = [...process.readings.seen.values()].find(
    ({ ip, holderID }) =>
      ip !== call.subject &&
      familyOf(ip) === familyOf(call.subject) &&
      holderID === target &&
      isThere(ip) &&
      (process.readings.learnedMs.get(ip) ?? knownMs) <= knownMs,
  );
  if (other !== undefined) monitor.violated("P5", `${what}, which was seen to carry ${other.ip}`);
  if (shown !== undefined) checkHolder(monitor, process, Number(shown), what);
}

function mustBeRead(monitor: Monitor, process: Process, call: SimCall): boolean {
  const { listedMs = process.passStartMs, seen } = process.readings;
  if (call.operation !== "assign" || monitor.simulation.world.nowMs() - listedMs > LATE_MS) return true;
  const shown = seen.get(call.subject)?.holderID;
  // What the shard before has sent to the very machine meanwhile is taken from nobody.
  const isThereByOthers = monitor.simulation.history.shards !== undefined && shown === call.args[0];
  return shown !== undefined && !isThereByOthers && !isSpared(monitor, process, call);
}

/** True where the provider has lately asked the process for no calls, and the account was listed a moment ago: each call that is not needed may be the one that it would have allowed. */
function isSpared({ simulation }: Monitor, { closedUntilMs, readings }: Process, { provider }: SimCall): boolean {
  const nowMs = simulation.world.nowMs();
  const untilMs = closedUntilMs.get(provider ?? "");
  const isShort = untilMs !== undefined && nowMs - untilMs <= SHORT_MS + JUST_MS;
  return isShort && readings.listedMs !== undefined && nowMs - readings.listedMs <= JUST_MS;
}

/** A node that does not match is judged again before it loses its address. */
function checkHolder(monitor: Monitor, process: Process, holder: number, what: string): void {
  if (isInMotion(monitor, process, holder)) return;
  const nodes = monitor.simulation.world.nodes().filter((node) => dropletOf(node) === holder);
  if (nodes.length > 0 && !nodes.some(({ name }) => process.readings.nodes.has(name)))
    monitor.violated("re-read", `${what} without having read ${nodes[0]?.name} again, which it is taken from`);
}

/** True where the pass has seen another pool that had the address, and has gone or changed since. */
export function hadOther({ records }: Monitor, { passStartMs }: Process, ip: string): boolean {
  return [...(records.namerKeys.get(ip) ?? [])].some((key) => records.changedAtMs(key) >= passStartMs);
}

/** An address is sent only to the machine of a node that matches. */
export function checkTarget(monitor: Monitor, process: Process, call: SimCall, what: string): readonly Violation[] {
  const { records, simulation } = monitor;
  const { world } = simulation;
  const machine = Number(call.args[0]);
  const owners = records.namers(call.subject).filter((pool) => managedBy(pool).has(call.subject));
  const isStable = world.pools().every((pool) => monitor.isStable(process, pool));
  const isKnown = owners.length > 0 && isStable && !hadOther(monitor, process, call.subject);
  if (!isKnown || isInMotion(monitor, process, machine)) return [];
  const nodes = world.nodes().filter((node) => dropletOf(node) === machine);
  const isMatch = nodes.some((node) => owners.some((pool) => serves(world, pool, node) === "match"));
  return isMatch ? [] : [{ invariant: "match", text: `${what}, which is the machine of no node that matches` }];
}

/** True when a node of the machine, or a pod on it, changed since the pass began to read. */
function isInMotion({ records, simulation }: Monitor, { passStartMs }: Process, machine: number): boolean {
  if ((records.machineChangedMs.get(machine) ?? 0) >= passStartMs) return true;
  const nodes = simulation.world.nodes().filter((node) => dropletOf(node) === machine);
  return nodes.some(({ name }) => (records.nodeChangedMs.get(name) ?? 0) >= passStartMs);
}
