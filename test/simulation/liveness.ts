import type { PassResult } from "../../src/model/run.ts";
import { atRest } from "./at-rest.ts";
import type { Slot } from "./history.ts";
import type { Simulation } from "./simulation.ts";
import { ZONES } from "./world.ts";

/** A run that sees everything, takes the Lease from whoever died with it, and looks once. */
const QUIET: Slot = { pauseMs: 0, startsAtMs: 0, timeoutMs: 60_000, settles: false, onLocked: "wait" };
/** Pauses between the passes in which the program must come to rest, seconds: every wait the manual knows ends inside them. */
const PAUSES = [1, 2, 5, 10, 15, 20, 30, 60, 60, 61, 90, 120, 301, 601, 601, 601, 601, 15, 15, 15].map(
  (seconds) => seconds * 1000,
);

/** A program that has nothing to do and waits for nothing in so many passes running is at rest. */
const QUIET_PASSES = 3;
/** Longer than any wait the manual knows, milliseconds. */
const LONGEST_WAIT_MS = 601_000;

/** How long a lost answer is watched for, and a second, milliseconds. */
const ANSWER_WATCH_MS = 31_000;

/** P8 and P12: once nothing fails and nobody touches anything, passes converge, nothing bought is forgotten, and then nothing is written any more. */
export async function checkStandstill(simulation: Simulation): Promise<void> {
  const { world, monitor } = simulation;
  unlock(simulation);
  const isQuiet = await comeToRest(simulation);
  if (monitor.violation !== undefined) return;
  if (isQuiet) await world.scheduler.sleep(simulation, LONGEST_WAIT_MS);
  for (const fault of atRest(simulation)) monitor.violated(fault.invariant, fault.text);
  const before = monitor.writes.length;
  const results = await passOfAll(simulation);
  const done = results.flatMap((result) => result?.outcomes ?? []).filter(({ outcome }) => outcome === "applied");
  if (done.length > 0) monitor.violated("P8", `a pass over a world at rest does ${done[0]?.action.id}`);
  const written = monitor.writes.slice(before);
  if (written.length > 0) monitor.violated("P8", `a pass over a world at rest writes ${written.join(", ")}`);
}

/** What somebody must end before anything can come to rest: locks, pending events, records in the way. */
function unlock({ world }: Simulation): void {
  const { state } = world.cloud;
  for (const address of [...state.reserved_ips, ...state.reserved_ipv6, ...state.byoip]) delete address.locked;
  for (const droplet of state.droplets) delete droplet.pending_event_until;
  state.settings.fail_next_actions = 0;
  for (const account of Object.values(world.dns))
    for (const zone of ZONES)
      if (account.zoneName(zone) !== undefined) account.removeRecords(zone, ({ type }) => type === "CNAME");
}

/** Passes until nothing is done nor waited for, or every wait must have ended; true in the first case. */
async function comeToRest(simulation: Simulation): Promise<boolean> {
  const { world, monitor } = simulation;
  let quiet = 0;
  for (const pauseMs of PAUSES) {
    const earlier = monitor.writes.length;
    const results = await passOfAll(simulation);
    if (monitor.violation !== undefined) return false;
    const isAnyWaiting = results.some((result) => isWaiting(simulation, result));
    quiet = monitor.writes.length === earlier && !isAnyWaiting ? quiet + 1 : 0;
    if (quiet >= QUIET_PASSES) return true;
    await world.scheduler.sleep(simulation, pauseMs);
    world.cloud.state.settings.list_lag_ms = 0;
  }
  return false;
}

/** A pass of every shard that is to go on, one after the other; of the one process where there are none. */
async function passOfAll(simulation: Simulation): Promise<readonly (PassResult | undefined)[]> {
  const { shards, slots } = simulation.history;
  const results: (PassResult | undefined)[] = [];
  const lasting = slots.filter(({ endsAtMs }) => endsAtMs === undefined).map(({ shard }) => shard);
  for (const shard of shards === undefined ? [undefined] : new Set(lasting)) {
    const { result } = await simulation.start(results.length, shard === undefined ? QUIET : { ...QUIET, shard });
    results.push(result);
  }
  return results;
}

/** True while a later pass may do something although nothing happens meanwhile. */
function isWaiting({ world }: Simulation, result: PassResult | undefined): boolean {
  // What the provider has yet to carry out may be for an object that is gone.
  if (world.cloud.state.actions.some(({ status }) => status === "in-progress")) return true;
  const { droplets, firewalls } = world.cloud.state;
  const cutOff = new Set(droplets.flatMap(({ id, unreachable }) => (unreachable === true ? [id] : [])));
  const pending = firewalls.flatMap((firewall) => firewall.pending_changes ?? []);
  if (pending.some((change) => !cutOff.has(change.droplet_id))) return true;
  // An address that left its names is told of until no resolver has it.
  if (
    world
      .pools()
      .some(({ status }) => status.released.some(({ drainingUntil = "" }) => Date.parse(drainingUntil) > world.nowMs()))
  )
    return true;
  // The answer of a creation is watched for also where its pool cannot be worked on and does not say so.
  const isWatched = (startedAt: string): boolean => Date.parse(startedAt) + ANSWER_WATCH_MS > world.nowMs();
  if (world.pools().some(({ status }) => status.pendingAcquisitions.some((open) => isWatched(open.startedAt))))
    return true;
  if (result === undefined || result.wasInterrupted || result.remaining.actions.length > 0) return true;
  return result.remaining.holds.some(
    ({ notBeforeMs, reason }) =>
      notBeforeMs !== undefined || reason === "InProgress" || reason === "AcquisitionUnanswered",
  );
}
