import { type ObjectRef, refKey } from "../../model/action.ts";
import type { Hold, NodeVerdict, Plan, PoolAssessment, RecordSetAssessment } from "../../model/plan.ts";
import { countBy } from "./count-by.ts";
import { nameOf, nameTotalsKey } from "./name-totals.ts";
import { type Sample, sample } from "./sample.ts";
import type { Totals } from "./totals.ts";

const CONDITIONS = ["Ready", "Reconciling", "Stalled"];

type Assessment = PoolAssessment | RecordSetAssessment;

/** Returns what is told of pools, routed IPs and record sets alike: conditions, nodes, holds, grace, names. `found` is the plan the run began with. Pure. */
export function objectSamples(remaining: Plan, found: Plan, totals: Totals): readonly Sample[] {
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
      ...nameSamples(one, one.drift ?? before.get(key)?.drift, totals),
    ];
  });
}

function standing({ object, status, isSuspended }: Assessment): readonly Sample[] {
  const labels = objectLabels(object);
  const isTrue = (type: string): boolean =>
    status.conditions.some((condition) => condition.type === type && condition.status === "True");
  return [
    ...CONDITIONS.map((condition) => sample("flipop_condition", { ...labels, condition }, isTrue(condition) ? 1 : 0)),
    sample("flipop_suspended", labels, isSuspended ? 1 : 0),
  ];
}

function nodeSamples(one: Assessment): readonly Sample[] {
  const labels = objectLabels(one.object);
  const [waiting, skipped] = "waiting" in one ? [[one.waiting.length], one.skipped] : [[], []];
  const verdicts: readonly NodeVerdict[] = [...one.notMatching, ...skipped];
  return [
    sample("flipop_nodes", { ...labels, gate: "matching" }, one.matching.length),
    ...waiting.map((count) => sample("flipop_nodes", { ...labels, gate: "waiting" }, count)),
    ...countBy(verdicts, ({ reason }) => ({ ...labels, gate: reason })).map((gate) =>
      sample("flipop_nodes", gate.labels, gate.count),
    ),
  ];
}

function holdSamples(object: ObjectRef, holds: readonly Hold[]): readonly Sample[] {
  const labels = ({ reason }: Hold): Labels & { readonly reason: string } => ({ ...objectLabels(object), reason });
  const [blocked, deferred] = [holds.filter((hold) => hold.needsPerson), holds.filter((hold) => !hold.needsPerson)];
  return [
    ...countBy(blocked, labels).map((one) => sample("flipop_blocked", one.labels, one.count)),
    ...countBy(deferred, labels).map((one) => sample("flipop_deferred", one.labels, one.count)),
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

function nameSamples(one: Assessment, drift: number | undefined, totals: Totals): readonly Sample[] {
  const name = nameOf(one);
  if (name === undefined) return [];
  const labels = { ...objectLabels(one.object), provider: name.provider, dns: name.fqdn };
  const foreign = totals.names[nameTotalsKey(one.object, name)]?.foreign ?? 0;
  return [
    ...(drift === undefined ? [] : [sample("flipop_dns_drift", labels, drift)]),
    sample("flipop_dns_foreign_changes_total", labels, foreign),
  ];
}

type Labels = { readonly kind: string; readonly namespace: string; readonly name: string };

function objectLabels({ kind, namespace, name }: ObjectRef): Labels {
  return { kind, namespace, name };
}
