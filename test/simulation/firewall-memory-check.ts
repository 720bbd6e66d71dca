import { objectKey, type RoutedIPStatus } from "../../src/model/resource.ts";
import type { SimCall } from "./faults.ts";
import { onRecord, viewFirewalls } from "./firewall-truth.ts";
import type { Monitor, Violation } from "./monitor.ts";
import type { Process } from "./process.ts";

/** What writing the status of a RoutedIP breaks: what was added to a firewall for it, and is there, stays on some record. */
export function checkFirewallMemory(monitor: Monitor, process: Process, call: SimCall): readonly Violation[] {
  const { firewalls, records, simulation } = monitor;
  const [status] = call.args as readonly [RoutedIPStatus];
  const pool = simulation.world.pool(call.subject);
  if (pool === undefined) return [];
  const written = new Set(onRecord({ status }));
  const others = firewalls.recorded(pool);
  const owed = new Set(firewalls.owed().map(({ id, part }) => `${id} ${part}`));
  const forgotten = onRecord(pool).filter((part) => owed.has(part) && !written.has(part) && !others.has(part));
  return forgotten.flatMap((part) => {
    const [id = ""] = part.split(" ");
    const isExcused =
      process.isMisled ||
      (records.touchedAtMs.get(call.subject) ?? 0) >= process.passStartMs ||
      (firewalls.changedMs.get(id) ?? 0) >= process.passStartMs ||
      process.readings.firewalls.missing.has(id);
    if (!isExcused) return [{ invariant: "leak", text: `${process.identity}: ${call.subject} forgets ${part}` }];
    firewalls.abandoned.add(part);
    return [];
  });
}

/** What letting go of a RoutedIP breaks: what was added for it goes before, if it is to be given back. */
export function checkFirewallFarewell(monitor: Monitor, process: Process, call: SimCall): readonly Violation[] {
  const { firewalls, simulation } = monitor;
  const pool = simulation.world.pool(call.subject);
  if (pool?.kind !== "routedip" || call.args[0] !== false || !pool.meta.isDeleting) return [];
  const others = firewalls.recorded(pool);
  const there = new Set(
    viewFirewalls(simulation.world).flatMap(({ id, parts }) => [...parts].map((part) => `${id} ${part}`)),
  );
  const owed = new Set(firewalls.owed().map(({ id, part }) => `${id} ${part}`));
  return onRecord(pool).flatMap((part) => {
    if (!there.has(part) || !owed.has(part) || others.has(part)) return [];
    const isGiven = pool.spec.reclaimPolicy !== "Delete" || !monitor.isStable(process, pool) || process.isMisled;
    if (!isGiven)
      return [
        { invariant: "leak", text: `${process.identity}: lets go of ${objectKey(pool.meta)} and leaves ${part}` },
      ];
    firewalls.abandoned.add(part);
    return [];
  });
}
