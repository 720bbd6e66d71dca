import { FAILOVER_BOUNDS } from "../../model/meter.ts";
import type { RecordSetAssessment } from "../../model/plan.ts";
import type { RunEnd } from "../../model/run.ts";
import { isRouted } from "../is-routed.ts";
import { METRICS } from "./metrics.ts";
import { objectSamples } from "./object-samples.ts";
import { poolSamples } from "./pool-samples.ts";
import { callSamples, limitSamples } from "./provider-samples.ts";
import { routedIPSamples } from "./routed-ip-samples.ts";
import { type RunFacts, runSamples, successSamples, workSamples } from "./run-samples.ts";
import { type Sample, sample } from "./sample.ts";
import type { Totals } from "./totals.ts";

/** What a run is told with. */
export interface MetricsRequest extends Pick<RunFacts, "version" | "exitCode"> {
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

function changeSamples({ changes, failovers }: Totals): readonly Sample[] {
  return [
    ...Object.entries(changes).map(([key, count]) => {
      const [action = "", outcome = ""] = key.split(" ");
      return sample("flipop_applied_changes_total", { action, outcome }, count);
    }),
    sample("flipop_failover_duration_seconds", {}, { histogram: failovers, bounds: FAILOVER_BOUNDS }),
  ];
}

function recordSamples({ object, written, fqdn, published }: RecordSetAssessment): readonly Sample[] {
  if (published === undefined) return [];
  const { namespace, name } = object;
  const labels = { namespace, name, provider: written.provider, dns: fqdn ?? "" };
  return [sample("flipop_nodednsrecordset_records", labels, published.length)];
}

/** Samples of one metric stand together, as the text format wants them. */
function inOrder(samples: readonly Sample[]): readonly Sample[] {
  const byMetric = Map.groupBy(samples, ({ metric }) => metric);
  return Object.keys(METRICS).flatMap((name) => byMetric.get(name as Sample["metric"]) ?? []);
}
