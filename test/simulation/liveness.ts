import { atRest } from "./at-rest.ts";
import type { Slot } from "./history.ts";
import type { Simulation } from "./simulation.ts";

/** A run that sees everything, takes the Lease from whoever died with it, and looks once. */
const QUIET: Slot = { pauseMs: 0, startsAtMs: 0, timeoutMs: 60_000, settles: false, onLocked: "wait" };
/** Pauses between the passes in which the program must come to rest, seconds: every wait the manual knows ends inside them. */
const PAUSES = [1, 2, 5, 10, 15, 20, 30, 60, 60, 61, 90, 120, 301, 601, 601, 601, 601, 15, 15, 15].map(
  (seconds) => seconds * 1000,
);

/** P8 and P12: once nothing fails and nobody touches anything, passes converge, nothing bought is forgotten, and then nothing is written any more. */
export async function checkStandstill(simulation: Simulation): Promise<void> {
  const { world, monitor } = simulation;
  const { state } = world.cloud;
  for (const address of [...state.reserved_ips, ...state.byoip]) delete address.locked;
  for (const droplet of state.droplets) delete droplet.pending_event_until;
  state.settings.fail_next_actions = 0;
  for (const pauseMs of PAUSES) {
    await simulation.start(0, QUIET);
    if (monitor.violation !== undefined) return;
    await world.scheduler.sleep(simulation, pauseMs);
    state.settings.list_lag_ms = 0;
  }
  for (const fault of atRest(simulation)) monitor.violated(fault.invariant, fault.text);
  const before = monitor.writes.length;
  await simulation.start(0, QUIET);
  const written = monitor.writes.slice(before);
  if (written.length > 0) monitor.violated("P8", `a pass over a world at rest writes ${written.join(", ")}`);
}
