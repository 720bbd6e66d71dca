import { describe, expect, test } from "vitest";
import { metricsText } from "../../../src/adapters/pushgateway/pushgateway.ts";
import { METRICS, type MetricName, metricFacts } from "../../../src/report/metrics/metrics.ts";
import { runMetrics, type Sample } from "../../../src/report/metrics/samples.ts";
import { addRun, readTotals } from "../../../src/report/metrics/totals.ts";
import { aToldRun } from "./told-run.ts";

function told(
  changes: {
    readonly isWhole?: boolean;
    readonly exitCode?: number;
    readonly notes?: Readonly<Record<string, string>>;
  } = {},
): readonly Sample[] {
  const { isWhole = true, exitCode = 3, notes } = changes;
  const end = aToldRun(notes === undefined ? {} : { notes });
  return runMetrics({ version: "1.2.3", exitCode, end, totals: addRun(readTotals(undefined), end, isWhole), isWhole });
}

/** Values by metric. */
function valuesOf(samples: readonly Sample[], metric: MetricName): readonly unknown[] {
  return samples.filter((sample) => sample.metric === metric).map(({ value }) => value);
}

describe("the metrics of a run", () => {
  test("are this text", async () => {
    await expect(await metricsText(told())).toMatchFileSnapshot("run.prom");
  });

  test("are all those of the table but what only a process that watches knows", () => {
    const ofRuns = Object.keys(METRICS).filter((name) => !["flipop_leader", "flipop_cluster_current"].includes(name));
    expect(ofRuns).toEqual([...new Set(told().map(({ metric }) => metric))]);
  });

  test("have exactly the labels of the table", () => {
    const wrong = told().filter(
      ({ metric, labels }) =>
        Object.keys(labels).sort().join(" ") !== metricFacts(metric).labels.split(" ").sort().join(" "),
    );
    expect(wrong).toEqual([]);
  });

  test("of a routed IP are under names of its own, also beside a pool of the same name", () => {
    const routed = told().filter(({ labels }) => labels["ip"] === "203.0.113.50");
    expect(routed.map(({ metric, value }) => [metric, value])).toEqual([
      ["flipop_routedip_address_state", 1],
      ["flipop_routedip_assignments_total", 1],
      ["flipop_routedip_assignment_errors_total", 0],
    ]);
  });

  test("count a routed IP that has no address", () => {
    const end = aToldRun();
    const { remaining } = end.result;
    const pools = remaining.pools.map((pool) => ({ ...pool, status: { ...pool.status, ips: {} } }));
    const result = { ...end.result, remaining: { ...remaining, pools } };
    const samples = runMetrics({
      version: "",
      exitCode: 0,
      end: { ...end, result },
      totals: readTotals(undefined),
      isWhole: true,
    });
    expect(valuesOf(samples, "flipop_routedip_missing_addresses")).toEqual([1, 1]);
    expect(valuesOf(told(), "flipop_routedip_missing_addresses")).toEqual([0, 0]);
  });

  test("say when namespaces may not be listed, and nothing of grants where they do not count", () => {
    const end = aToldRun();
    const { grants, ...remaining } = end.result.remaining;
    const samplesWith = (changes: Pick<typeof end.result.remaining, "grants">): readonly Sample[] => {
      const result = { ...end.result, remaining: { ...remaining, ...changes } };
      const request = { version: "", exitCode: 0, totals: readTotals(undefined), isWhole: true };
      return runMetrics({ ...request, end: { ...end, result } });
    };
    if (grants === undefined) throw new Error("the run has no grants");
    const refused = samplesWith({ grants: { ...grants, refusal: "not permitted" } });
    expect(valuesOf(refused, "flipop_grants_readable")).toEqual([0]);
    expect(valuesOf(samplesWith({}), "flipop_grants_readable")).toEqual([]);
  });

  test("name no series twice", () => {
    const names = told().map(({ metric, labels }) => JSON.stringify([metric, Object.entries(labels).sort()]));
    expect(new Set(names).size).toBe(names.length);
  });

  test("have the last success that the Lease remembers when the run failed", () => {
    expect(valuesOf(told({ exitCode: 75 }), "flipop_last_success_timestamp_seconds")).toEqual([
      Date.parse("2026-08-01T11:00:00Z") / 1000,
    ]);
  });

  test("have no last success when no run ever had one", () => {
    expect(valuesOf(told({ exitCode: 75, notes: {} }), "flipop_last_success_timestamp_seconds")).toEqual([]);
    const notes = { "flipop.digitalocean.com/last-success": "2027-08-01T11:00:00Z" };
    expect(valuesOf(told({ exitCode: 75, notes }), "flipop_last_success_timestamp_seconds")).toEqual(
      valuesOf(told({ exitCode: 0 }), "flipop_last_success_timestamp_seconds"),
    );
  });

  test("tell nothing of objects when the run was for some of them only", () => {
    const names = new Set(told({ isWhole: false }).map(({ metric }) => metric));
    expect([...names].filter((name) => /namespace/.test(metricFacts(name).labels))).toEqual([
      "flipop_providers_calls_total",
      "flipop_providers_call_duration_seconds",
    ]);
  });

  test.for([
    [0, "done"],
    [3, "partly"],
    [75, "temporary"],
    [77, "not-permitted"],
    [78, "invalid-configuration"],
    [1, "unexpected"],
    [5, "unexpected"],
  ] as const)("with exit code %i have the result %s, and no other", ([exitCode, result]) => {
    const results = told({ exitCode }).filter(
      ({ metric, value }) => metric === "flipop_last_run_result" && value === 1,
    );
    expect(results.map(({ labels }) => labels["result"])).toEqual([result]);
  });

  test("escape what Kubernetes and providers put into labels", async () => {
    const text = await metricsText([{ metric: "flipop_build_info", labels: { version: 'a"b\\c\nd' }, value: 1 }]);
    expect(text.endsWith('flipop_build_info{version="a\\"b\\\\c\\nd"} 1\n')).toBe(true);
  });
});
