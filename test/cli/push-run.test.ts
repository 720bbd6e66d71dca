import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { NotedRun } from "../../src/cli/wiring.ts";
import { KubeError } from "../../src/model/errors.ts";
import { TOTALS_ANNOTATION } from "../../src/model/lease-annotations.ts";
import { type ScriptedGateway, scriptedGateway } from "../adapters/pushgateway/scripted-gateway.ts";
import { PUSH_PASSWORD } from "../fake/fake-tokens.ts";
import { aToldRun } from "../report/metrics/told-run.ts";
import { aQuietRun, steady } from "../report/runs.ts";
import { NOW_MS } from "../report/world.ts";
import { invoke, type Scene, type Transcript } from "./invoke.ts";

let gateway: ScriptedGateway;
beforeEach(async () => {
  gateway = await scriptedGateway();
});
afterEach(() => gateway.close());

function aScene(noted: NotedRun): Scene {
  return { observation: steady(), answer: async () => ({ kind: "done", value: noted.end.result, noted }) };
}

const quiet = aScene({ end: aToldRun({ result: aQuietRun() }), isNoted: true });

const run = (scene: Scene, more: readonly string[] = [], env = {}): Promise<Transcript> =>
  invoke(["reconcile", "--pushgateway", gateway.url, ...more], { ...scene, env });

/** The value of a series in the text that was pushed last. */
function pushed(series: string): string | undefined {
  const lines = gateway.requests.at(-1)?.body.split("\n") ?? [];
  return lines.find((line) => line.startsWith(`${series} `))?.slice(series.length + 1);
}

const LIST_CALLS =
  'flipop_providers_calls_total{provider="digitalocean",call="list",outcome="success",kind="",namespace="",name=""}';

describe("a run with a Pushgateway", () => {
  test("replaces the whole group once it has ended", async () => {
    expect(await run(quiet)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(gateway.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "PUT /metrics/job@base64/ZmxpcG9w",
    ]);
    expect(pushed("flipop_last_success_timestamp_seconds")).toBe(String((NOW_MS + 2500) / 1000));
  });

  test("adds to the totals of earlier runs", async () => {
    const notes = { [TOTALS_ANNOTATION]: '{"calls":{"digitalocean list success":40}}' };
    await run(aScene({ end: aToldRun({ notes }), isNoted: true }));
    expect(pushed(LIST_CALLS)).toBe("42");
  });

  test("pushes the totals as they were when it could not note the new ones", async () => {
    const notes = { [TOTALS_ANNOTATION]: '{"calls":{"digitalocean list success":40}}' };
    await run(aScene({ end: aToldRun({ notes }), isNoted: false }));
    expect(pushed(LIST_CALLS)).toBe("40");
  });

  test("leaves the objects in the group alone when it was for some of them", async () => {
    await run(quiet, ["pool/ingress/web"]);
    expect(gateway.requests.map(({ method }) => method)).toEqual(["POST"]);
    expect(gateway.requests[0]?.body).not.toContain("floatingippoolcontroller");
  });

  test("pushes only how it ended when it could not read the cluster, so that the last success stays", async () => {
    const error = new KubeError({
      failure: "unavailable",
      operation: "list",
      subject: "",
      status: 0,
      message: "connection refused",
    });
    expect((await run({ error })).exitCode).toBe(75);
    expect(gateway.requests.map(({ method }) => method)).toEqual(["POST"]);
    expect(pushed('flipop_last_run_result{result="temporary"}')).toBe("1");
    expect(gateway.requests[0]?.body).not.toContain("success");
  });

  test("pushes nothing while another run holds the lock, nor when its target does not exist", async () => {
    await run({ observation: steady(), answer: async () => ({ kind: "locked", holder: "x" }) });
    await run(quiet, ["pool/ingress/nothing"]);
    expect(gateway.requests).toEqual([]);
  });

  test("takes the URL, job and labels of the group from the environment, too", async () => {
    const env = { PUSHGATEWAY_URL: gateway.url, FLIPOP_PUSH_JOB: "ip", FLIPOP_PUSH_GROUPING: "cluster=a,region=b" };
    await invoke(["reconcile"], { ...quiet, env });
    const base64 = (text: string): string => Buffer.from(text).toString("base64url");
    expect(gateway.requests[0]?.path).toBe(
      `/metrics/job@base64/${base64("ip")}/cluster@base64/${base64("a")}/region@base64/${base64("b")}`,
    );
  });

  test("says of a grouping without a Pushgateway that nothing is pushed, and goes on", async () => {
    const { exitCode, stderr } = await invoke(["reconcile", "--push-grouping", "cluster=a"], quiet);
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      "flipop: No metrics are pushed: --push-grouping names no Pushgateway. Add --pushgateway URL, or set PUSHGATEWAY_URL.\n",
    );
    expect((await invoke(["reconcile"], quiet)).stderr).toBe("");
  });

  test("refuses a grouping before it begins", async () => {
    const transcript = await run(quiet, ["--push-grouping", "instance="]);
    expect(transcript).toMatchObject({ exitCode: 64, requests: [] });
  });
});

describe("a run whose push is refused", () => {
  beforeEach(async () => {
    await gateway.close();
    gateway = await scriptedGateway((response) => response.writeHead(401).end("no"));
  });

  test("ends as it would without, and says so on stderr", async () => {
    const { exitCode, stderr, stdout } = await run(quiet);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Nothing to do");
    expect(stderr).toContain(
      `flipop: Could not push metrics to the Pushgateway at ${gateway.url}: it answered 401: no.`,
    );
  });

  test("says so as one JSON line", async () => {
    const { stderr } = await run(quiet, ["--log-format", "json"]);
    const lines = stderr.trim().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ level: "warn", reason: "PushFailed" });
  });

  test("shows no password", async () => {
    const env = { PUSHGATEWAY_USERNAME: "me", PUSHGATEWAY_PASSWORD: PUSH_PASSWORD };
    const { stderr, stdout } = await run(quiet, ["-vv"], env);
    const encoded = Buffer.from(`me:${PUSH_PASSWORD}`).toString("base64");
    expect(gateway.requests[0]?.headers.authorization).toBe(`Basic ${encoded}`);
    expect(stderr + stdout).not.toMatch(/hunter2/);
    expect(stderr + stdout).not.toContain(encoded);
  });
});
