import type { ObjectRef } from "../../model/action.ts";
import { addHistograms, FAILOVER_BOUNDS, type Histogram, histogramOf } from "../../model/meter.ts";
import type { Plan } from "../../model/plan.ts";
import { ownerKey } from "../../model/resource.ts";
import type { Outcome, RunEnd } from "../../model/run.ts";
import { addNames, type NamesTotals } from "./name-totals.ts";

/** Counts by their labels, separated by spaces. */
type Counts = Readonly<Record<string, number>>;

/** What is counted over all runs. */
export interface Totals {
  /** By `PROVIDER CALL OUTCOME`. */
  readonly calls: Counts;
  /** By `PROVIDER CALL`, seconds. */
  readonly durations: Readonly<Record<string, Histogram>>;
  /** By `ACTION OUTCOME`. */
  readonly changes: Counts;
  /** By `NAMESPACE/NAME ADDRESS`, or `routedip/NAMESPACE/NAME ADDRESS`; only addresses that pools and routed IPs have. */
  readonly assignments: Counts;
  /** By the same; only addresses that pools and routed IPs have. */
  readonly assignmentErrors: Counts;
  /** Seconds. */
  readonly failovers: Histogram;
  readonly names: NamesTotals;
}

/** Returns the totals with those of a run added. `isWhole` = it planned for every object, so that what no object has any more is forgotten. Pure. */
export function addRun(
  totals: Totals,
  { result, meters }: Pick<RunEnd, "result" | "meters">,
  isWhole: boolean,
): Totals {
  const { outcomes, remaining, timing } = result;
  const known = isWhole ? knownAddresses(remaining) : undefined;
  const calls = meters.flatMap(({ provider, calls: counts }) =>
    counts.map(({ operation, outcome, count }) => [`${provider} ${operation} ${outcome}`, count] as const),
  );
  const durations = meters.flatMap((meter) =>
    meter.durations.map(({ operation, seconds }) => {
      const key = `${meter.provider} ${operation}`;
      return [key, addHistograms(totals.durations[key], seconds)] as const;
    }),
  );
  return {
    calls: addCounts(totals.calls, calls),
    durations: { ...totals.durations, ...Object.fromEntries(durations) },
    changes: addCounts(
      totals.changes,
      outcomes.map(({ action, outcome }) => [`${action.kind} ${outcome}`, 1]),
    ),
    assignments: keep(known, addCounts(totals.assignments, outcomes.flatMap(acceptedAssignment))),
    assignmentErrors: keep(known, addCounts(totals.assignmentErrors, outcomes.flatMap(failedAssignment))),
    failovers: addHistograms(totals.failovers, histogramOf(timing.failoverSeconds, FAILOVER_BOUNDS)),
    names: addNames(totals.names, result, isWhole),
  };
}

function addCounts(before: Counts, more: readonly (readonly [string, number])[]): Counts {
  const sums = new Map(Object.entries(before));
  for (const [key, count] of more) sums.set(key, (sums.get(key) ?? 0) + count);
  return Object.fromEntries(sums);
}

function acceptedAssignment(outcome: Outcome): readonly (readonly [string, number])[] {
  const ip = assignedAddress(outcome);
  return ip === undefined || outcome.acceptedAtMs === undefined ? [] : [[addressKey(outcome.action.object, ip), 1]];
}

function failedAssignment(outcome: Outcome): readonly (readonly [string, number])[] {
  const ip = assignedAddress(outcome);
  return ip === undefined || outcome.outcome !== "failed" ? [] : [[addressKey(outcome.action.object, ip), 1]];
}

/** The address of an attempt to attach one; undefined for other changes, and where a purchase brought none. */
function assignedAddress({ action, address }: Outcome): string | undefined {
  if (action.kind === "assign-ip" || action.kind === "move-ip") return action.ip;
  return action.kind === "acquire-ip" && "node" in action.after ? address?.ip : undefined;
}

/** Returns the key of an object's address in the totals: that of a pool as earlier versions wrote it, that of a routed IP another one where both have the same name. */
export function addressKey(object: ObjectRef, ip: string): string {
  return `${ownerKey(object)} ${ip}`;
}

function knownAddresses({ pools }: Plan): ReadonlySet<string> {
  return new Set(pools.flatMap(({ object, status }) => Object.keys(status.ips).map((ip) => addressKey(object, ip))));
}

function keep(known: ReadonlySet<string> | undefined, counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([key]) => known?.has(key) ?? true));
}
