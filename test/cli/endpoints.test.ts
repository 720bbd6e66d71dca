import { expect, test } from "vitest";
import { processMetrics } from "../../src/adapters/pushgateway/pushgateway.ts";
import { type Endpoints, parseListenAddress, serveEndpoints } from "../../src/cli/endpoints.ts";
import type { WatchRequest } from "../../src/cli/wiring.ts";
import { aToldRun } from "../report/metrics/told-run.ts";
import { aQuietRun, steady } from "../report/runs.ts";
import { invoke } from "./invoke.ts";

const OK = { isOK: true, why: "all is well" };

async function withEndpoints(
  sources: Partial<Parameters<typeof serveEndpoints>[1]>,
  work: (get: (path: string, init?: RequestInit) => Promise<Response>) => Promise<void>,
): Promise<void> {
  const all = { metrics: async () => "a 1\n", health: () => OK, readiness: () => OK, ...sources };
  const endpoints: Endpoints = await serveEndpoints({ host: "127.0.0.1", port: 0 }, all);
  try {
    await work((path, init) => fetch(`http://127.0.0.1:${endpoints.port}${path}`, init));
  } finally {
    await endpoints.close();
  }
}

async function freePort(): Promise<number> {
  const idle = { metrics: async () => "", health: () => OK, readiness: () => OK };
  const endpoints = await serveEndpoints({ host: "127.0.0.1", port: 0 }, idle);
  await endpoints.close();
  return endpoints.port;
}

test("metrics are served as Prometheus' text, and checks as 200 or 503 with their reason", async () => {
  await withEndpoints({ readiness: () => ({ isOK: false, why: "the cluster is away" }) }, async (get) => {
    const metrics = await get("/metrics");
    expect([metrics.status, metrics.headers.get("content-type"), await metrics.text()]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
      "a 1\n",
    ]);
    expect((await get("/healthz?verbose")).status).toBe(200);
    const ready = await get("/readyz");
    expect([ready.status, await ready.text()]).toEqual([503, "the cluster is away\n"]);
  });
});

test("nothing else is served, and nothing can be written", async () => {
  await withEndpoints({}, async (get) => {
    expect((await get("/")).status).toBe(404);
    expect((await get("/metrics/../etc/passwd")).status).toBe(404);
    const post = await get("/metrics", { method: "POST", body: "x" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    const head = await get("/metrics", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });
});

test("metrics that cannot be written are a 500, and the server goes on", async () => {
  await withEndpoints({ metrics: () => Promise.reject(new Error("broken")) }, async (get) => {
    expect((await get("/metrics")).status).toBe(500);
    expect((await get("/healthz")).status).toBe(200);
  });
});

test("what nobody has measured since the last scrape is left out", async () => {
  const text = processMetrics();
  const measured = /^nodejs_eventloop_lag_mean_seconds [\d.]+$/m;
  await expect.poll(text, { interval: 400 }).toMatch(measured);
  const [, second] = [await text(), await text()];
  expect(second).not.toMatch(/^nodejs_eventloop_lag_\w+_seconds /m);
  expect(second).not.toMatch(/ nan$/im);
  expect(second).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
});

test("an address that is taken is refused with its port and what to do", async () => {
  const first = await serveEndpoints(
    { host: "127.0.0.1", port: 0 },
    { metrics: async () => "", health: () => OK, readiness: () => OK },
  );
  const flags = ["reconcile", "--watch", "--metrics-addr", `127.0.0.1:${first.port}`];
  const { exitCode, stderr } = await invoke(flags, { observation: steady() });
  await first.close();
  expect(exitCode).toBe(78);
  expect(stderr).toContain(`Could not listen on 127.0.0.1:${first.port} for --metrics-addr: EADDRINUSE.`);
});

test("a watcher serves its endpoints while it stands by and while it leads", async () => {
  const seen: string[] = [];
  const port = await freePort();
  const watch = async (request: WatchRequest): Promise<{ kind: "stopped" }> => {
    const look = async (path: string, pattern: RegExp): Promise<void> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      seen.push(`${answer.status} ${pattern.exec(await answer.text())?.[0]}`);
    };
    await look("/readyz", /.+/);
    request.onWarm();
    await look("/readyz", /.+/);
    await look("/metrics", /flipop_leader \d/);
    request.onLead();
    request.onRun({ end: aToldRun({ result: aQuietRun() }), isNoted: true });
    await look("/metrics", /flipop_leader \d/);
    await look("/metrics", /flipop_last_success_timestamp_seconds \d/);
    await look("/metrics", /^process_cpu_seconds_total (?=\d)/m);
    await look("/metrics", /^nodejs_heap_size_used_bytes (?=\d)/m);
    await look("/healthz", /.+/);
    return { kind: "stopped" };
  };
  await invoke(["reconcile", "--watch", "--metrics-addr", `127.0.0.1:${port}`], { observation: steady(), watch });
  expect(seen).toEqual([
    "503 the cluster has not been read yet",
    "200 the cluster is known",
    "200 flipop_leader 0",
    "200 flipop_leader 1",
    "200 flipop_last_success_timestamp_seconds 1",
    "200 process_cpu_seconds_total ",
    "200 nodejs_heap_size_used_bytes ",
    "200 the last pass ended 0s ago",
  ]);
});

test("every metric of a watching shard has its label, as pushes have it", async () => {
  const port = await freePort();
  const seen: string[] = [];
  const watch = async (request: WatchRequest): Promise<{ kind: "stopped" }> => {
    request.onLead();
    request.onRun({ end: aToldRun({ result: aQuietRun() }), isNoted: true });
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    seen.push(...text.split("\n").filter((line) => line.startsWith("flipop_")));
    return { kind: "stopped" };
  };
  const args = ["reconcile", "--watch", "--shard", "2/3", "--metrics-addr", `127.0.0.1:${port}`];
  await invoke(args, { observation: steady(), watch });
  expect(seen).toContain('flipop_leader{shard="2/3"} 1');
  expect(seen.filter((line) => !/[{,]shard="2\/3"[,}]/.test(line))).toEqual([]);
});

test.for([
  [":8080", { port: 8080 }],
  ["127.0.0.1:8080", { host: "127.0.0.1", port: 8080 }],
  ["[::1]:9", { host: "::1", port: 9 }],
  ["localhost:0", { host: "localhost", port: 0 }],
] as const)("%s is an address to listen on", ([text, address]) => {
  expect(parseListenAddress(text)).toEqual(address);
});

test.for(["", "8080", ":", ":http", ":65536", "a b:1", "::1:80", "http://localhost:80"])("'%s' is none", (text) => {
  expect(() => parseListenAddress(text)).toThrow("Write it like :8080 or 127.0.0.1:8080.");
});
