import { type Action, type ObjectRef, refKey } from "../../model/action.ts";
import { entryOf } from "../../model/address.ts";
import { LAST_SUCCESS_ANNOTATION } from "../../model/lease-annotations.ts";
import { CALL_BOUNDS, FAILOVER_BOUNDS, type Histogram, type MeterReading } from "../../model/meter.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { Hold, NodeVerdict, Plan, PoolAssessment, RecordSetAssessment } from "../../model/plan.ts";
import type { RunEnd } from "../../model/run.ts";
import { EXIT, isSuccess, SIGNAL_CODES } from "../exit-code.ts";
import { isRouted } from "../overview.ts";
import { type LabelName, METRICS, type MetricName } from "./metrics.ts";
import { addressKey, namesOf, nameTotalsKey, type Totals } from "./totals.ts";

/** What a run is told with. */
interface MetricsRequest extends Pick<RunFacts, "version" | "exitCode"> {
  readonly end: RunEnd;
  /** What is counted over all runs, as the Lease now has it. */
  readonly totals: Totals;
  /** False when the run was for some objects only: then nothing is told of objects, since it would pass for all there are. */
  readonly isWhole: boolean;
}

/** Returns everything that a run tells, in the order of {@link METRICS}. A pure function of what was read, planned and done. */
export function runMetrics({ version, exitCode, end, totals, isWhole }: MetricsRequest): readonly Sample[] {
  const { plan, remaining } = end.result;
  const ofObjects = [
    ...objectSamples(remaining, plan, totals),
    ...remaining.pools.flatMap((pool) => (isRouted(pool) ? routedIPSamples(pool, totals) : poolSamples(pool, totals))),
    ...remaining.recordSets.flatMap(recordSamples),
    ...grantSamples(remaining),
  ];
  return inOrder([
    ...runSamples({ version, exitCode, endedAtMs: end.endedAtMs }),
    ...successSamples(end, exitCode),
    ...workSamples(end),
    ...changeSamples(totals),
    ...limitSamples(remaining, end.meters),
    ...callSamples(totals),
    ...(isWhole ? ofObjects : []),
  ]);
}

function grantSamples({ grants }: Plan): readonly Sample[] {
  const missing = Map.groupBy(
    grants?.missing ?? [],
    ({ object, grant, effect }) => `${refKey(object)} ${grant} ${effect}`,
  );
  const problems = Map.groupBy(grants?.problems ?? [], ({ namespace }) => namespace);
  const isReadable = grants?.refusal === undefined;
  return [
    ...(grants === undefined ? [] : [sample("flipop_grants_readable", { mode: grants.mode }, Number(isReadable))]),
    ...[...missing.values()].flatMap(([first, ...more]) => {
      if (first === undefined) return [];
      const { object, grant, effect } = first;
      return [sample("flipop_not_granted", { ...object, grant, effect }, 1 + more.length)];
    }),
    ...[...problems].map(([namespace, all]) =>
      sample(
        "flipop_unusable_grants",
        { namespace },
        all.reduce((sum, { count = 1 }) => sum + count, 0),
      ),
    ),
  ];
}

function changeSamples({ changes, failovers }: Totals): readonly Sample[] {
  return [
    ...Object.entries(changes).map(([key, count]) => {
      const [action = "", outcome = ""] = key.split(" ");
      return sample("flipop_applied_changes_total", { action, outcome }, count);
    }),
    sample("flipop_failover_duration_seconds", {}, { histogram: failovers, bounds: FAILOVER_BOUNDS }),
  ];
}

function recordSamples({ object, written, ipv6, ...first }: RecordSetAssessment): readonly Sample[] {
  const { namespace, name } = object;
  return [first, ipv6 ?? []].flat().flatMap(({ fqdn, published }) => {
    if (published === undefined) return [];
    const labels = { namespace, name, provider: written.provider, dns: fqdn ?? "" };
    return [sample("flipop_nodednsrecordset_records", labels, published.length)];
  });
}

/** Samples of one metric stand together, as the text format wants them. */
function inOrder(samples: readonly Sample[]): readonly Sample[] {
  const byMetric = Map.groupBy(samples, ({ metric }) => metric);
  return Object.keys(METRICS).flatMap((name) => byMetric.get(name as Sample["metric"]) ?? []);
}

/** What is known of every run, also of one that could not read the cluster. */
interface RunFacts {
  readonly version: string;
  /** By the best clock there is, milliseconds. */
  readonly endedAtMs: number;
  /** As with `partialOk: false`. */
  readonly exitCode: number;
}

const RESULTS: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ["done", [EXIT.done]],
  ["partly", [EXIT.partly]],
  ["temporary", [EXIT.temporary]],
  ["not-permitted", [EXIT.notPermitted]],
  ["invalid-configuration", [EXIT.invalidConfiguration]],
  ["interrupted", Object.values(SIGNAL_CODES)],
]);

/** Returns what is told of every run, however it ended. */
export function runSamples({ version, endedAtMs, exitCode }: RunFacts): readonly Sample[] {
  const results = [...RESULTS];
  const result = results.find(([, codes]) => codes.includes(exitCode))?.[0] ?? "unexpected";
  return [
    sample("flipop_build_info", { version }, 1),
    sample("flipop_last_run_timestamp_seconds", {}, seconds(endedAtMs)),
    ...[...results.map(([word]) => word), "unexpected"].map((word) =>
      sample("flipop_last_run_result", { result: word }, word === result ? 1 : 0),
    ),
  ];
}

/** Returns when a run last succeeded: this one, or the one that the Lease remembers; nothing where neither did. A time that has not come is now. */
function successSamples({ endedAtMs, notes }: RunEnd, exitCode: number): readonly Sample[] {
  const lastMs = isSuccess(exitCode)
    ? endedAtMs
    : Math.min(Date.parse(notes[LAST_SUCCESS_ANNOTATION] ?? ""), endedAtMs);
  return Number.isNaN(lastMs) ? [] : [sample("flipop_last_success_timestamp_seconds", {}, seconds(lastMs))];
}

/** Returns how long the parts of a run took, and what it found and left to do. */
function workSamples({ result, durationMs }: RunEnd): readonly Sample[] {
  const { observeMs, planMs, applyMs, reportMs } = result.timing;
  const other = Math.max(0, durationMs - observeMs - planMs - applyMs - reportMs);
  const phases = { observe: observeMs, plan: planMs, apply: applyMs, report: reportMs, other };
  return [
    ...Object.entries(phases).map(([phase, ms]) =>
      sample("flipop_last_run_duration_seconds", { phase }, Math.round(ms) / 1000),
    ),
    ...counted("flipop_planned_changes", result.plan.actions, changeLabels),
    ...counted("flipop_remaining_changes", result.remaining.actions, changeLabels),
  ];
}

function changeLabels({ kind, reason }: Action): { readonly action: string; readonly reason: string } {
  return { action: kind, reason };
}

/** Prometheus' unit of time. */
function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

const CONDITIONS = ["Ready", "Reconciling", "Stalled"];

type Assessment = PoolAssessment | RecordSetAssessment;

/** Returns what is told of pools, routed IPs and record sets alike: conditions, nodes, holds, grace, names. `found` is the plan the run began with. */
function objectSamples(remaining: Plan, found: Plan, totals: Totals): readonly Sample[] {
  const holds = Map.groupBy(remaining.holds, ({ object }) => refKey(object));
  const before = new Map<string, Assessment>(
    [...found.pools, ...found.recordSets].map((one) => [refKey(one.object), one]),
  );
  return [...remaining.pools, ...remaining.recordSets].flatMap((one) => {
    const key = refKey(one.object);
    const own = holds.get(key) ?? [];
    return [
      ...standing(one),
      ...nodeSamples(one),
      ...holdSamples(one.object, own),
      ...graceSamples(one.object, own),
      // After a failed write the records are unknown: then they are as the run found them.
      ...nameSamples(one, before.get(key), totals),
    ];
  });
}

function standing({ object, status, suspended }: Assessment): readonly Sample[] {
  const labels = objectLabels(object);
  const isTrue = (type: string): boolean =>
    status.conditions.some((condition) => condition.type === type && condition.status === "True");
  return [
    ...CONDITIONS.map((condition) => sample("flipop_condition", { ...labels, condition }, isTrue(condition) ? 1 : 0)),
    sample("flipop_suspended", labels, suspended === undefined ? 0 : 1),
    ...(suspended?.untilMs === undefined
      ? []
      : [sample("flipop_suspension_end_timestamp_seconds", labels, suspended.untilMs / 1000)]),
  ];
}

function nodeSamples(one: Assessment): readonly Sample[] {
  const labels = objectLabels(one.object);
  const [waiting, skipped] = "waiting" in one ? [[one.waiting.length], one.skipped] : [[], []];
  // There may be thousands.
  const verdicts = Map.groupBy<string, NodeVerdict>([...one.notMatching, ...skipped], ({ reason }) => reason);
  return [
    sample("flipop_nodes", { ...labels, gate: "matching" }, one.matching.length),
    ...waiting.map((count) => sample("flipop_nodes", { ...labels, gate: "waiting" }, count)),
    ...[...verdicts].map(([gate, { length }]) => sample("flipop_nodes", { ...labels, gate }, length)),
  ];
}

function holdSamples(object: ObjectRef, holds: readonly Hold[]): readonly Sample[] {
  const labels = ({ reason }: Hold): Labels & { readonly reason: string } => ({ ...objectLabels(object), reason });
  return [
    ...counted(
      "flipop_blocked",
      holds.filter((hold) => hold.needsPerson),
      labels,
    ),
    ...counted(
      "flipop_deferred",
      holds.filter((hold) => !hold.needsPerson),
      labels,
    ),
  ];
}

function graceSamples(object: ObjectRef, holds: readonly Hold[]): readonly Sample[] {
  const { kind, ...pool } = objectLabels(object);
  // Only pools have a cool-off, and their name alone stands in the label.
  const coolOff = kind === "pool" ? firstEnd(holds, "CoolOff") : [];
  return [
    ...firstEnd(holds, "Grace").map((at) => sample("flipop_grace_end_timestamp_seconds", objectLabels(object), at)),
    ...coolOff.map((at) => sample("flipop_cool_off_end_timestamp_seconds", pool, at)),
  ];
}

/** When the first hold of this reason ends, seconds. */
function firstEnd(holds: readonly Hold[], wanted: Hold["reason"]): readonly number[] {
  const ends = holds.flatMap(({ reason, notBeforeMs }) =>
    reason === wanted && notBeforeMs !== undefined ? [notBeforeMs / 1000] : [],
  );
  return ends.length === 0 ? [] : [Math.min(...ends)];
}

/** @param before - the same object as the run found it */
function nameSamples(one: Assessment, before: Assessment | undefined, totals: Totals): readonly Sample[] {
  const known = before === undefined ? [] : namesOf(before);
  return namesOf(one).flatMap((name) => {
    const drift = name.drift ?? known.find(({ fqdn }) => fqdn === name.fqdn)?.drift;
    const labels = { ...objectLabels(one.object), provider: name.provider, dns: name.fqdn };
    const { foreign = 0, replaced = 0 } = totals.names[nameTotalsKey(one.object, name)] ?? {};
    return [
      ...(drift === undefined ? [] : [sample("flipop_dns_drift", labels, drift)]),
      sample("flipop_dns_foreign_changes_total", labels, foreign),
      ...(name.foreign === undefined ? [] : [sample("flipop_dns_foreign_records", labels, name.foreign.length)]),
      sample("flipop_dns_foreign_records_replaced_total", labels, replaced),
    ];
  });
}

type Labels = { readonly kind: string; readonly namespace: string; readonly name: string };

function objectLabels({ kind, namespace, name }: ObjectRef): Labels {
  return { kind, namespace, name };
}

/** Returns what is told of a FloatingIPPool and its addresses: the Go operator's metrics and a few more. */
function poolSamples(pool: PoolAssessment, totals: Totals): readonly Sample[] {
  const { object, desired, waiting, status } = pool;
  const { namespace, name } = object;
  const labels = publishingLabels(pool);
  const assigned = Object.values(status.ips).filter(({ providerID }) => providerID !== undefined).length;
  return [
    sample("flipop_desired_ips", { namespace, name }, desired),
    sample("flipop_pool_assignments_total", { namespace, name }, status.assignments ?? 0),
    sample("flipop_floatingippoolcontroller_node_status", { ...labels, status: "available" }, waiting.length),
    sample("flipop_floatingippoolcontroller_node_status", { ...labels, status: "assigned" }, assigned),
    sample("flipop_floatingippoolcontroller_unfulfilled_ips", labels, missingAddresses(pool)),
    ...addressSamples(pool, totals, {
      state: "flipop_floatingippoolcontroller_ip_state",
      node: "flipop_floatingippoolcontroller_ip_node",
      assignments: "flipop_floatingippoolcontroller_ip_assignments",
      errors: "flipop_floatingippoolcontroller_ip_assignment_errors",
    }),
  ];
}

/** Returns what is told of a RoutedIP and its address: the same as of a pool's, under names of its own. */
function routedIPSamples(routedIP: PoolAssessment, totals: Totals): readonly Sample[] {
  const isMissing = missingAddresses(routedIP) > 0;
  return [
    sample("flipop_routedip_missing_addresses", publishingLabels(routedIP), isMissing ? 1 : 0),
    ...addressSamples(routedIP, totals, {
      state: "flipop_routedip_address_state",
      node: "flipop_routedip_address_node",
      assignments: "flipop_routedip_assignments_total",
      errors: "flipop_routedip_assignment_errors_total",
    }),
  ];
}

function publishingLabels({ object: { namespace, name }, provider, dns }: PoolAssessment): PublishingLabels {
  return { namespace, name, provider, dns: dns?.fqdn ?? "" };
}

type PublishingLabels = Readonly<Record<"namespace" | "name" | "provider" | "dns", string>>;

function missingAddresses({ desired, status }: PoolAssessment): number {
  const usable = Object.values(status.ips).filter(({ fault }) => fault !== "invalid").length;
  return Math.max(0, desired - usable);
}

/** The metrics of the addresses of one kind of object. */
interface AddressMetrics {
  readonly state: "flipop_floatingippoolcontroller_ip_state" | "flipop_routedip_address_state";
  readonly node: "flipop_floatingippoolcontroller_ip_node" | "flipop_routedip_address_node";
  readonly assignments: "flipop_floatingippoolcontroller_ip_assignments" | "flipop_routedip_assignments_total";
  readonly errors: "flipop_floatingippoolcontroller_ip_assignment_errors" | "flipop_routedip_assignment_errors_total";
}

function addressSamples(pool: PoolAssessment, totals: Totals, metrics: AddressMetrics): readonly Sample[] {
  return Object.entries(pool.status.ips).flatMap(([ip, { state, nodeName, providerID }]) => {
    const key = addressKey(pool.object, ip);
    const labels = { ...publishingLabels(pool), ip };
    const place = { ...labels, provider_id: providerID ?? "", node: nodeName ?? "" };
    return [
      sample(metrics.state, { ...labels, state }, 1),
      ...(providerID === undefined ? [] : [sample(metrics.node, place, 1)]),
      sample(metrics.assignments, labels, totals.assignments[key] ?? 0),
      sample(metrics.errors, labels, totals.assignmentErrors[key] ?? 0),
    ];
  });
}

/** The Go operator's labels for the object a call was made for; one call of flipop serves many. */
const NO_OBJECT = { kind: "", namespace: "", name: "" };

/** Returns what is told of calls to providers over all runs. */
function callSamples({ calls, durations }: Totals): readonly Sample[] {
  return [
    ...Object.entries(calls).map(([key, count]) => {
      const [provider = "", call = "", outcome = ""] = key.split(" ");
      return sample("flipop_providers_calls_total", { provider, call, outcome, ...NO_OBJECT }, count);
    }),
    ...Object.entries(durations).map(([key, histogram]) => {
      const [provider = "", call = ""] = key.split(" ");
      const value = { histogram, bounds: CALL_BOUNDS };
      return sample("flipop_providers_call_duration_seconds", { provider, call, ...NO_OBJECT }, value);
    }),
  ];
}

/** Returns what is left of rate limits and quotas, and what could not be read. */
function limitSamples({ budget, gaps }: Plan, meters: readonly MeterReading[]): readonly Sample[] {
  return [
    ...meters.flatMap(({ provider, rateLimit: { remaining, limit } }) => [
      ...(remaining === undefined ? [] : [sample("flipop_provider_ratelimit_remaining", { provider }, remaining)]),
      ...(limit === undefined ? [] : [sample("flipop_provider_ratelimit_limit", { provider }, limit)]),
    ]),
    ...budget.flatMap(({ provider, addressCount, addressLimit }) => [
      ...(addressCount === undefined
        ? []
        : [sample("flipop_provider_quota", { provider, type: "used" }, addressCount)]),
      ...(addressLimit === undefined
        ? []
        : [sample("flipop_provider_quota", { provider, type: "limit" }, addressLimit)]),
    ]),
    ...[...new Set([...meters, ...gaps].map(({ provider }) => provider))].map((provider) =>
      sample(
        "flipop_unreadable",
        { provider },
        gaps.filter((gap) => gap.provider === provider && gap.putOff === undefined).length,
      ),
    ),
    ...meters.map(({ provider }) => {
      const putOff = gaps.find((gap) => gap.provider === provider && gap.putOff !== undefined)?.putOff;
      return sample("flipop_dns_put_off", { provider }, putOff?.names ?? 0);
    }),
  ];
}

/** Returns what meters have counted since an earlier reading; a provider that was not there then counts from zero. */
export function metersSince(before: readonly MeterReading[], now: readonly MeterReading[]): readonly MeterReading[] {
  return now.map((reading) => {
    const earlier = before.find(({ provider }) => provider === reading.provider);
    return earlier === undefined ? reading : since(earlier, reading);
  });
}

function since(before: MeterReading, now: MeterReading): MeterReading {
  const callKey = ({ operation, outcome }: MeterReading["calls"][number]): string => `${operation} ${outcome}`;
  const counts = new Map(before.calls.map((call) => [callKey(call), call.count]));
  const durations = new Map(before.durations.map(({ operation, seconds }) => [operation, seconds]));
  return {
    ...now,
    calls: now.calls
      .map((call) => ({ ...call, count: call.count - (counts.get(callKey(call)) ?? 0) }))
      .filter(({ count }) => count > 0),
    durations: now.durations
      .map(({ operation, seconds }) => ({ operation, seconds: less(seconds, durations.get(operation)) }))
      .filter(({ seconds }) => seconds.counts.some((count) => count > 0)),
  };
}

function less(now: Histogram, before: Histogram | undefined): Histogram {
  if (before === undefined) return now;
  return { counts: now.counts.map((count, at) => count - (before.counts[at] ?? 0)), sum: now.sum - before.sum };
}

/**
 * Returns how long each address that was moved off a node had not been served, seconds: from the first sight of its holder as not matching, as the plan that moved
 * it has it, until it was verified on another node. Moves whose beginning or end is not known are left out. Pure.
 */
export function failoverSeconds({ pools }: Plan, outcomes: readonly Outcome[]): readonly number[] {
  return outcomes.flatMap(({ action, outcome, endedAtMs }) => {
    if (outcome !== "applied" || endedAtMs === undefined) return [];
    if (action.kind !== "move-ip" && action.kind !== "assign-ip") return [];
    const pool = pools.find(({ object }) => refKey(object) === refKey(action.object));
    const sinceMs = Date.parse(entryOf(pool?.status.ips ?? {}, action.ip)?.notMatchingSince ?? "");
    return Number.isNaN(sinceMs) ? [] : [Math.max(0, endedAtMs - sinceMs) / 1000];
  });
}

/** A value of a metric with its labels. */
export interface Sample {
  readonly metric: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  /** A histogram comes with the upper bounds of its buckets, in the metric's unit. */
  readonly value: number | { readonly histogram: Histogram; readonly bounds: readonly number[] };
}

type Value<N extends MetricName> = (typeof METRICS)[N]["type"] extends "histogram"
  ? Exclude<Sample["value"], number>
  : number;

/** Returns a sample; the compiler holds that it has exactly the labels of its metric, and its kind of value. */
export function sample<N extends MetricName>(
  metric: N,
  labels: Readonly<Record<LabelName<N>, string>>,
  value: Value<N>,
): Sample {
  return { metric, labels, value };
}

/** Returns a sample per combination of labels: how many items have it, in the order of first occurrence. */
function counted<T, N extends MetricName>(
  metric: N,
  items: readonly T[],
  labelsOf: (item: T) => Sample["labels"] & Readonly<Record<LabelName<N>, string>>,
): readonly Sample[] {
  const groups = Map.groupBy(items, (item) => JSON.stringify(labelsOf(item)));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ metric, labels: labelsOf(first), value: group.length }];
  });
}
