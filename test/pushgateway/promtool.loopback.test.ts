import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, expect, test } from "vitest";
import { metricsText, processMetrics } from "../../src/adapters/pushgateway/pushgateway.ts";
import { METRICS, type MetricName, metricFacts } from "../../src/report/metrics/metrics.ts";
import { runMetrics } from "../../src/report/metrics/samples.ts";
import { addRun, readTotals } from "../../src/report/metrics/totals.ts";
import { debianProgram } from "../programs/debian-program.ts";
import { aToldRun } from "../report/metrics/told-run.ts";

let promtool: string | undefined;

beforeAll(async () => {
  promtool = await debianProgram("prometheus", "promtool");
});

/** What `promtool check metrics` says about a text, line by line, and its exit code: 0 clean, 3 = findings. */
async function check(program: string, text: string): Promise<{ readonly code: unknown; readonly findings: string[] }> {
  const child = spawn(program, ["check", "metrics"], { stdio: ["pipe", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  child.stdin.end(text);
  const [code] = await once(child, "close");
  return { code, findings: stderr.split("\n").filter((line) => line !== "") };
}

test("promtool finds nothing wrong with the metrics but the two inherited names without _total", async ({ skip }) => {
  if (promtool === undefined) return skip("needs promtool");
  const end = aToldRun();
  const totals = addRun(readTotals(undefined), end, true);
  const text = await metricsText(runMetrics({ version: "1.2.3", exitCode: 0, end, totals, isWhole: true }));
  const names = (Object.keys(METRICS) as MetricName[]).filter((name) => metricFacts(name).isInherited);
  expect(names).toHaveLength(2);
  expect(await check(promtool, text)).toEqual({
    code: 3,
    findings: names.map((name) => `${name} counter metrics should have "_total" suffix`).sort(),
  });
});

test("of the process's metrics promtool finds wrong only the three names that prom-client gives them", async ({
  skip,
}) => {
  if (promtool === undefined) return skip("needs promtool");
  const text = processMetrics();
  const names = ["handles", "requests", "resources"].map((what) => `nodejs_active_${what}_total`);
  const findings = names.map((name) => `${name} non-counter metrics should not have "_total" suffix`);
  expect(await check(promtool, await text())).toEqual({ code: 3, findings });
  await expect.poll(text, { interval: 400 }).toMatch(/^nodejs_eventloop_lag_mean_seconds [\d.]+$/m);
  expect(await check(promtool, await text())).toEqual({ code: 3, findings });
});

test("promtool would find a name that breaks the rules", async ({ skip }) => {
  if (promtool === undefined) return skip("needs promtool");
  const { code } = await check(
    promtool,
    "# HELP flipop_wait_minutes A.\n# TYPE flipop_wait_minutes gauge\nflipop_wait_minutes 1\n",
  );
  expect(code).toBe(3);
});
