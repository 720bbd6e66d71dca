import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ProgramRun, runProgram } from "../cli/cluster-run.ts";
import { debianProgram } from "../programs/debian-program.ts";
import { type ServerProgram, startPrometheus, startPushgateway } from "./server-program.ts";

let programs: { readonly pushgateway: string; readonly prometheus: string } | undefined;
let gateway: ServerProgram;
let directory: string;
let world: string;

beforeAll(async () => {
  const pushgateway = await debianProgram("prometheus-pushgateway", "prometheus-pushgateway");
  const prometheus = await debianProgram("prometheus", "prometheus");
  if (pushgateway !== undefined && prometheus !== undefined) programs = { pushgateway, prometheus };
});

beforeEach(async ({ skip }) => {
  if (programs === undefined) return skip("needs a Pushgateway and a Prometheus");
  directory = mkdtempSync(join(tmpdir(), "flipop-push-"));
  world = join(directory, "world");
  gateway = await startPushgateway(programs.pushgateway, directory);
});

afterEach(async () => {
  await gateway?.stop();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

const reconcile = (...more: readonly string[]): Promise<ProgramRun> =>
  runProgram(["--sandbox", world, "reconcile", "--pushgateway", gateway.url, "--partial", "ok", ...more], {});

/** Every series that the Pushgateway shows: its labels sorted into its name, and its value. */
async function series(): Promise<ReadonlyMap<string, number>> {
  const answer = await fetch(`${gateway.url}/metrics`);
  expect(answer.status).toBe(200);
  const lines = (await answer.text()).split("\n").filter((line) => /^(flipop|push)_/.test(line));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

async function sum(pattern: RegExp): Promise<number> {
  return [...(await series())].filter(([name]) => pattern.test(name)).reduce((total, [, value]) => total + value, 0);
}

const CALLS = /^flipop_providers_calls_total/;

describe("a real Pushgateway", () => {
  test("is given everything by a run, counts over runs, and forgets what is gone", async () => {
    const first = await reconcile("--settle", "--timeout", "20s");
    expect(first).toMatchObject({ code: 0 });
    expect(first.stderr).not.toContain("Pushgateway");
    const after = await series();
    expect(after.get('flipop_build_info{instance="",job="flipop",version="0.1.0"}')).toBe(1);
    expect(await sum(/_ip_state\{.*name="web",namespace="ingress".*state="active"/)).toBe(3);
    const [calls, assigned] = [await sum(CALLS), await sum(/_ip_assignments\{/)];
    expect(assigned).toBeGreaterThan(0);
    expect((await reconcile()).code).toBe(0);
    expect(await sum(CALLS)).toBeGreaterThan(calls);
    expect(await sum(/_ip_assignments\{/)).toBe(assigned);
    writeFileSync(join(world, "pools.yaml"), "");
    expect((await reconcile()).code).toBe(0);
    expect(await sum(/_ip_state/)).toBe(0);
    expect(await sum(CALLS)).toBeGreaterThan(calls);
  });

  test("is told how often somebody else rewrote a name, over runs, though each run puts it right", async () => {
    const foreign = (): Promise<number> => sum(/^flipop_dns_foreign_changes_total\{.*dns="nodes.example.net"/);
    const account = join(world, "cloudflare.yaml");
    const rewrite = (from: string, to: string): void =>
      writeFileSync(account, readFileSync(account, "utf8").replace(from, to));
    await reconcile("--settle", "--timeout", "20s");
    expect([...(await series())].filter(([name]) => name.startsWith("flipop_dns_foreign_changes_total"))).toHaveLength(
      2,
    );
    expect(await foreign()).toBe(0);
    rewrite("content: 192.0.2.3\n", "content: 198.51.100.66\n");
    await reconcile();
    expect(await foreign()).toBe(1);
    rewrite("content: 192.0.2.1\n        ttl: 60", "content: 192.0.2.1\n        ttl: 120");
    await reconcile();
    expect(await foreign()).toBe(2);
    await reconcile();
    expect(await foreign()).toBe(2);
    expect(await sum(/^flipop_dns_drift/)).toBe(0);
  });

  test("keeps the last success and the objects through a run that cannot read the cluster", async () => {
    await reconcile();
    const before = await series();
    writeFileSync(
      join(world, "faults.yaml"),
      "- {server: kubernetes, path: /floatingippools, status: 403, times: 0}\n",
    );
    expect((await reconcile()).code).toBe(77);
    const after = await series();
    const last = 'flipop_last_success_timestamp_seconds{instance="",job="flipop"}';
    expect(after.get(last)).toBe(before.get(last));
    expect(after.get('flipop_last_run_result{instance="",job="flipop",result="not-permitted"}')).toBe(1);
    expect([...after.keys()].filter((name) => name.includes("ip_state"))).toEqual(
      [...before.keys()].filter((name) => name.includes("ip_state")),
    );
  });

  test("takes a group whose labels have slashes and letters of any kind", async () => {
    await reconcile("--push-grouping", "cluster=arn:aws:eks:eu/über");
    expect(
      (await series()).get('flipop_build_info{cluster="arn:aws:eks:eu/über",instance="",job="flipop",version="0.1.0"}'),
    ).toBe(1);
  });

  test("that somebody else has poisoned is told of, fails no run, and recovers once the group is deleted", async () => {
    const poison = `${gateway.url}/metrics/job/flipop/instance@base64/=`;
    await reconcile();
    await fetch(poison, { method: "PUT", body: "other_metric 1\n" });
    const run = await reconcile();
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(`Could not push metrics to the Pushgateway at ${gateway.url}: it answered 400`);
    await fetch(poison, { method: "DELETE" });
    expect((await reconcile()).stderr).not.toContain("Pushgateway");
  });

  test("with the same metric of another type in another group is told of, too", async () => {
    const body = "# TYPE flipop_build_info counter\nflipop_build_info 1\n";
    await fetch(`${gateway.url}/metrics/job/other`, { method: "PUT", body });
    const run = await reconcile();
    expect(run).toMatchObject({ code: 0, stderr: expect.stringMatching(/it answered 400: .*Another group holds/) });
  });

  test("that is not there delays a run by less than 5 s and fails none", async () => {
    const timed = async (): Promise<{ readonly run: Awaited<ReturnType<typeof reconcile>>; readonly ms: number }> => {
      const startMs = performance.now();
      return { run: await reconcile(), ms: performance.now() - startMs };
    };
    const usual = await timed();
    await gateway.stop();
    const { run, ms } = await timed();
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining("Could not push metrics") });
    // Beside other work a run may take longer than the one before it.
    expect(ms).toBeLessThan(3 * usual.ms + 5000);
  });

  test("is scraped by a real Prometheus, which then has the labels as they were pushed, and knows flipop's groups", async () => {
    await reconcile("--push-job", "edge", "--push-grouping", "cluster=production");
    if (programs === undefined) throw new Error("there is no Prometheus");
    const prometheus = await startPrometheus(programs.prometheus, directory, gateway);
    const labelsOf = async (query: string): Promise<Record<string, string>[]> => {
      for (let round = 0; round < 100; round += 1) {
        await sleep(200);
        const answer = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`);
        const { data } = (await answer.json()) as { data: { result: { metric: Record<string, string> }[] } };
        if (data.result.length > 0) return data.result.map(({ metric }) => metric);
      }
      return [];
    };
    try {
      const [state] = await labelsOf('flipop_floatingippoolcontroller_ip_state{job="edge",cluster="production"}');
      expect(state).toMatchObject({ provider: "digitalocean", namespace: expect.any(String) });
      expect(state).not.toHaveProperty("exported_namespace");
      expect(await labelsOf("push_time_seconds and ignoring (version) flipop_build_info")).toContainEqual(
        expect.objectContaining({ job: "edge", cluster: "production" }),
      );
    } finally {
      await prometheus.stop();
    }
  });
});
