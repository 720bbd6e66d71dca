import { describe, expect, test } from "vitest";
import type { WatchRequest } from "../../src/cli/wiring.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { PassResult } from "../../src/model/run.ts";
import type { WatchAnswer } from "../../src/watch/watch.ts";
import { aToldRun } from "../report/metrics/told-run.ts";
import { applied, aQuietRun, aRun, failed, steady } from "../report/runs.ts";
import { schemaErrors } from "../report/schemas.ts";
import { afterFailure, NOW_MS } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

type Act = (request: WatchRequest) => void | Promise<void>;

/** A watcher that leads, does what the test says, and is asked to end. */
function watching(act: Act = () => undefined): Scene & { readonly requests: WatchRequest[] } {
  const requests: WatchRequest[] = [];
  return {
    observation: steady(),
    requests,
    watch: async (request) => {
      requests.push(request);
      request.onLead();
      await act(request);
      return { kind: "stopped" };
    },
  };
}

const passed = (request: WatchRequest, result: PassResult): void => {
  request.onRun({ end: aToldRun({ result }), isNoted: true });
  request.onPass({ kind: "passed", cause: { kind: "start" }, pass: { result } });
};

const moved = (): PassResult => aRun(afterFailure(), steady(), applied);

describe("reconcile --watch", () => {
  test("watches with its defaults, and waits for the Lease", async () => {
    const scene = watching();
    const { exitCode } = await invoke(["reconcile", "--watch"], scene);
    expect(exitCode).toBe(0);
    expect(scene.requests[0]).toMatchObject({
      intervalMs: 60_000,
      passMs: 50_000,
      selection: {},
      lock: { onLocked: "wait" },
    });
  });

  test("takes what the flags say", async () => {
    const scene = watching();
    await invoke(
      ["reconcile", "--watch", "--interval", "5m", "--timeout", "20s", "--on-locked", "fail", "-n", "shop"],
      scene,
    );
    expect(scene.requests[0]).toMatchObject({
      intervalMs: 300_000,
      passMs: 20_000,
      selection: { namespace: "shop" },
      lock: { onLocked: "fail" },
    });
    await invoke(["reconcile", "--watch", "--no-lock"], scene);
    expect(scene.requests[1]).not.toHaveProperty("lock");
  });

  test("tells each change once, with its time and reason, and nothing while nothing changes", async () => {
    const scene = watching((request) => {
      passed(request, aQuietRun());
      passed(request, aQuietRun());
      passed(request, moved());
      passed(request, aQuietRun());
    });
    const { stdout, stderr } = await invoke(["reconcile", "--watch"], scene);
    expect(stdout).toMatchInlineSnapshot(`
      "2026-08-01T12:00:00Z 1 pool, 1 of 1 address active; watching for changes.
      2026-08-01T12:00:00Z > pool/ingress/web: moved 203.0.113.10 from worker-1 to worker-3: worker-1 no longer matches (not ready), and worker-3 waits for an address.
      2026-08-01T12:00:00Z ~ pool/ingress/web: annotated node worker-3 with 203.0.113.10: The annotation tells which address is confirmed on the node.
      2026-08-01T12:00:00Z - pool/ingress/web: cleared the annotation 203.0.113.10 of node worker-1: worker-1 no longer matches (not ready).
      "
    `);
    expect(stderr).toMatchInlineSnapshot(`
      "flipop: waiting for the Lease flipop/flipop
      flipop: holds the Lease flipop/flipop and passes from now on
      flipop: stopped
      "
    `);
  });

  test("tells a failed change as one", async () => {
    const scene = watching((request) => passed(request, aRun(afterFailure(), afterFailure(), failed)));
    const { stdout } = await invoke(["reconcile", "--watch"], scene);
    expect(stdout).toMatch(/ ! pool\/ingress\/web: could not move 203\.0\.113\.10 .*DigitalOcean refused it/);
  });

  test.for([[], ["--log-format", "json"], ["-o", "jsonl"]])(
    "tells once that a status cannot be written, and again for another cause: %j",
    async (flags) => {
      const failing = (message: string): PassResult => {
        const object = { kind: "pool", namespace: "ingress", name: "web" } as const;
        return { ...aQuietRun(), reportFailures: [{ object, what: "status", error: new Error(message) }] };
      };
      const scene = watching((request) => {
        passed(request, aQuietRun());
        for (let time = 0; time < 12; time++) passed(request, failing("Not allowed."));
        passed(request, failing("Too large."));
        passed(request, aQuietRun());
        passed(request, failing("Not allowed."));
      });
      const { stdout, stderr } = await invoke(["reconcile", "--watch", ...flags], scene);
      const [told, ...more] = `${stdout}${stderr}`.split("Not allowed.");
      expect([told?.includes("status"), more.length, more[0]?.split("Too large.").length]).toEqual([true, 1, 2]);
    },
  );

  test("tells what waits for a moment only to who asks for more, and symbols have their colours", async () => {
    const brief = {
      kind: "update-dns",
      reason: "Settling",
      subject: "www.example.com",
      detail: "",
      needsPerson: false,
    } as const;
    const quiet = aQuietRun();
    const object = { kind: "pool", namespace: "ingress", name: "web" } as const;
    const waiting = {
      ...quiet,
      remaining: { ...quiet.remaining, holds: [{ ...brief, object, notBeforeMs: NOW_MS + 1000 }] },
    };
    const scene = watching((request) => {
      passed(request, waiting);
      passed(request, moved());
    });
    const lines = async (...flags: readonly string[]): Promise<readonly string[]> =>
      (await invoke(["reconcile", "--watch", ...flags], scene)).stdout.split("\n");
    expect((await lines()).filter((line) => line.includes("More nodes may be changing"))).toEqual([]);
    expect((await lines("-v"))[0]).toBe(
      "2026-08-01T12:00:00Z . pool/ingress/web: www.example.com: DNS not changed: More nodes may be changing; their records are written together. Waits until 12:00:01 UTC (in 1s).",
    );
    const [, first = ""] = await lines("--color", "always");
    expect(first).toContain("Z \u001b[33m>\u001b[39m pool/ingress/web: moved 203.0.113.10 from worker-1 to worker-3");
  });

  test("says at its end whether the Lease is free", async () => {
    const end = async (answer: WatchAnswer): Promise<string> => {
      const { stderr } = await invoke(["reconcile", "--watch"], { ...watching(), watch: async () => answer });
      return stderr.trimEnd().split("\n").at(-1) ?? "";
    };
    expect(await end({ kind: "stopped", isLeaseFree: true })).toBe("flipop: stopped; the Lease is free");
    expect(await end({ kind: "stopped" })).toBe("flipop: stopped");
  });

  test("writes JSON lines on stderr alone where programs read", async () => {
    const scene = watching((request) => {
      passed(request, aQuietRun());
      passed(request, aQuietRun());
      passed(request, moved());
    });
    const { stdout, stderr } = await invoke(["reconcile", "--watch", "--log-format", "json"], scene);
    expect(stdout).toBe("");
    const lines = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ msg }) => msg)).toMatchInlineSnapshot(`
      [
        "waiting for the Lease flipop/flipop",
        "holds the Lease flipop/flipop and passes from now on",
        "Nothing to do: 1 pool, 1 of 1 address active.",
        "moved 203.0.113.10 from worker-1 to worker-3: worker-1 no longer matches (not ready), and worker-3 waits for an address.",
        "annotated node worker-3 with 203.0.113.10: The annotation tells which address is confirmed on the node.",
        "cleared the annotation 203.0.113.10 of node worker-1: worker-1 no longer matches (not ready).",
        "1 moved, 1 annotated, 1 annotation cleared; 1 pool, 1 of 1 address active.",
        "stopped",
      ]
    `);
    for (const line of lines) expect(line).toMatchObject({ runID: "0f1e2d3c", time: expect.any(String) });
  });

  test("with -o jsonl prints a document in a line for the first pass, and for each that changed something", async () => {
    const scene = watching((request) => {
      passed(request, aQuietRun());
      passed(request, aQuietRun());
      passed(request, moved());
      passed(request, aQuietRun());
    });
    const { stdout, stderr } = await invoke(["reconcile", "--watch", "-o", "jsonl"], scene);
    const documents = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(documents.map((document) => schemaErrors(document, "RunResult"))).toEqual([[], []]);
    expect(documents.map(({ outcomes, exitCode }) => [outcomes.length, exitCode])).toEqual([
      [0, 0],
      [3, 0],
    ]);
    expect(stderr.split("\n")).toContain("flipop: holds the Lease flipop/flipop and passes from now on");
    const logged = await invoke(["reconcile", "--watch", "-o", "jsonl", "--log-format", "json"], scene);
    expect(logged.stdout).toBe(stdout);
    expect(logged.stderr).toContain('"msg":"1 moved, 1 annotated, 1 annotation cleared');
  });

  test("with -o jsonl ends with an Error document in a line when it cannot go on", async () => {
    const error = new KubeError({
      failure: "forbidden",
      operation: "list x",
      subject: "",
      status: 403,
      message: "It is not permitted.",
    });
    const scene: Scene = { observation: steady(), watch: () => Promise.reject(error) };
    const { stdout, exitCode } = await invoke(["reconcile", "--watch", "-o", "jsonl"], scene);
    expect(exitCode).toBe(77);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    const message = "It is not permitted. Nothing was changed.";
    expect(JSON.parse(stdout)).toMatchObject({ kind: "Error", exitCode: 77, message });
  });

  test("tells a cluster that is away at the 1st, 2nd, 4th, 8th failure, and when it is back", async () => {
    const error = new KubeError({
      failure: "unavailable",
      operation: "x",
      subject: "",
      status: 0,
      message: "It is away.",
    });
    const scene = watching((request) => {
      for (let failures = 1; failures <= 9; failures += 1)
        request.onPass({ kind: "failed", cause: { kind: "again" }, error, failures, retryInMs: 1000 });
      passed(request, aQuietRun());
    });
    const { stderr } = await invoke(["reconcile", "--watch"], scene);
    expect(stderr.split("\n").filter((line) => line.includes("away")).length).toBe(4);
    expect(stderr).toContain("the cluster can be read again after");
  });

  test("says who holds the Lease when it does not wait for it", async () => {
    const scene: Scene = { observation: steady(), watch: async () => ({ kind: "locked", holder: "other" }) };
    const { exitCode, stderr } = await invoke(["reconcile", "--watch", "--on-locked", "fail"], scene);
    expect(exitCode).toBe(5);
    expect(stderr).toContain("other holds the Lease flipop/flipop");
  });

  test.for([
    [["--watch", "--settle"], "--settle is for a single run"],
    [["--watch", "--pushgateway", "http://127.0.0.1:1"], "--pushgateway is for single runs"],
    [["--watch", "-o", "json"], "-o json prints one result"],
    [["--watch", "-o", "yaml"], "Use -o jsonl for a document per line"],
    [["--watch", "-o", "markdown"], "argument 'markdown' is invalid"],
    [["--watch", "--metrics-addr", "8080"], "is no address to listen on"],
    [["--watch", "--metrics-addr", ":99999"], "is no address to listen on"],
    [["--metrics-addr", ":8080"], "--metrics-addr needs --watch"],
    [["--interval", "1m"], "--interval needs --watch"],
  ] as const)("%j is refused before anything is done", async ([flags, why]) => {
    const scene = watching();
    const { exitCode, stderr, configs } = await invoke(["reconcile", ...flags], scene);
    expect(exitCode).toBe(64);
    expect(stderr).toContain(why);
    expect(configs).toEqual([]);
  });
});
