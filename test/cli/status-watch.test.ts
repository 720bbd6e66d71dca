import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
// Loaded before any test: a command that loads them itself waits for the disk, which the fake clock knows nothing of.
import "../../src/cli/status.ts";
import "../../src/cli/status-watch.ts";
import "../../src/cli/yaml-text.ts";
import { KubeError, type KubeFailure } from "../../src/model/errors.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { LeaseRecord } from "../../src/ports/cluster.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { schemaErrors } from "../report/schemas.ts";
import { afterFailure, aLease, aPool, NOW_MS, reconciled } from "../report/world.ts";
import { invoke, type Scene, type Transcript } from "./invoke.ts";

/** A scene that a test changes while a command looks at it. */
type ChangingScene = { -readonly [K in keyof Scene]: Scene[K] } & { readonly clock: FakeClock };

function changing(more: Partial<Scene> = {}): ChangingScene {
  const clock = new FakeClock();
  const lease: LeaseRecord = aLease();
  return { observation: afterFailure(), lease, clock, now: () => NOW_MS + clock.monotonicMs(), ...more };
}

function refusal(failure: KubeFailure, status = 0): KubeError {
  const message = `Could not list floatingippools: ${failure}.`;
  return new KubeError({ failure, operation: "list floatingippools", subject: "", status, message });
}

/** A Lease after one more run at a time since the start, milliseconds. */
function afterRun(atMs: number, result = "3 some objects in error"): LeaseRecord {
  const at = new Date(NOW_MS + atMs).toISOString();
  const { annotations } = aLease();
  const changes = {
    "flipop.digitalocean.com/last-run": at,
    "flipop.digitalocean.com/last-success": at,
    "flipop.digitalocean.com/last-result": result,
  };
  return {
    ...aLease({ holder: `run-${atMs}`, renewTimeMs: NOW_MS + atMs }),
    annotations: { ...annotations, ...changes },
  };
}

/** One change of the scene, and how long it lasts, milliseconds. */
type Step = readonly [ms: number, change: (scene: ChangingScene) => void];

/** Watches through the steps, then ends it as Ctrl-C does. */
async function watched(args: readonly string[], scene: ChangingScene, steps: readonly Step[]): Promise<Transcript> {
  const stop = new AbortController();
  scene.signal = stop.signal;
  const running = invoke(["status", "--watch", ...args], scene);
  await scene.clock.advance(100);
  for (const [ms, change] of steps) {
    change(scene);
    await scene.clock.advance(ms);
  }
  stop.abort("SIGINT");
  const transcript = await running;
  expect(scene.clock.sleeping()).toBe(0);
  return transcript;
}

const move: Step = [
  2000,
  (scene) => {
    scene.observation = reconciled();
    scene.lease = afterRun(1000, "0 done");
  },
];

/** What is printed behind the tables. */
function changesIn({ stdout }: Transcript): string {
  const [, changes = ""] = stdout.split(/lock: .*\n/);
  return changes;
}

function withPools(world: Observation, change: (pools: Observation["pools"]) => Observation["pools"]): Observation {
  return { ...world, pools: change(world.pools) };
}

describe("status --watch", () => {
  test("prints the tables once, then each row that changes with its time, and ends with 130", async () => {
    const transcript = await watched([], changing(), [[4000, () => undefined], move, [10_000, () => undefined]]);
    expect(transcript).toMatchObject({ stderr: "", exitCode: 130 });
    const once = await invoke(["status"], { observation: afterFailure(), lease: aLease() });
    expect(transcript.stdout.startsWith(once.stdout)).toBe(true);
    expect(transcript.stdout.slice(once.stdout.length)).toMatchInlineSnapshot(`
      "12:00:06 UTC  pool        ingress/web      False     2/2              1               1d    WaitingForAssignment
      12:00:06 UTC  address     203.0.113.10   ingress/web   active   worker-3   -
      12:00:06 UTC  reconciler  last run: 5s ago, exit code 0 (done)
      "
    `);
  });

  test("tells of objects that come and go, of what waits for a person, and of the last run", async () => {
    const shop = aPool("shop", ["203.0.113.40"], { namespace: "shop" });
    const stalled = {
      type: "Stalled",
      status: "True",
      observedGeneration: 1,
      lastTransitionTime: "2026-08-01T12:00:03Z",
      reason: "QuotaExceeded",
      message: "1 of 1 addresses is missing: the account's limit of 4 is reached.",
    } as const;
    const transcript = await watched([], changing(), [
      [2000, (scene) => (scene.observation = withPools(afterFailure(), (pools) => [...pools, shop]))],
      [
        2000,
        (scene) => {
          const waiting = { ...shop, status: { ...shop.status, conditions: [stalled] } };
          scene.observation = withPools(afterFailure(), (pools) => [...pools, waiting]);
        },
      ],
      [2000, (scene) => (scene.observation = afterFailure())],
      [2000, (scene) => (scene.lease = afterRun(7000, "75 temporary failure"))],
      [330_000, () => undefined],
      [2000, (scene) => (scene.lease = afterRun(338_000, "75 temporary failure"))],
    ]);
    expect(changesIn(transcript)).toMatchInlineSnapshot(`
      "12:00:02 UTC  pool        shop/shop        Unknown   0/1              0               1d    -
      12:00:02 UTC  ! pool/shop/shop: no run has looked at it yet; run flipop reconcile
      12:00:04 UTC  pool        shop/shop        Unknown   QuotaExceeded   0/1              0               1d    -
      12:00:04 UTC  ! pool/shop/shop: 1 of 1 addresses is missing: the account's limit of 4 is reached.
      12:00:06 UTC  pool        shop/shop   gone
      12:00:08 UTC  reconciler  last run: 1s ago, exit code 75 (temporary failure)
      12:05:08 UTC  reconciler  the last successful run was 5m1s ago, more than 5m
      "
    `);
  });

  test("says nothing of ages that grow, of retries, and of runs that change nothing", async () => {
    const steps = [1, 2, 3, 4, 5, 6].map(
      (minute): Step => [60_000, (scene) => (scene.lease = afterRun(minute * 60_000))],
    );
    const transcript = await watched([], changing(), steps);
    expect(changesIn(transcript)).toBe("");
  });

  test("cuts rows at the width of the terminal, and wraps what waits for a person", async () => {
    const scene = changing({ terminal: 60, env: { NO_COLOR: "1" } });
    const world = withPools(afterFailure(), (pools) =>
      pools.map((pool) =>
        pool.meta.name !== "web"
          ? pool
          : {
              ...pool,
              status: {
                ...pool.status,
                assignableNodes: [],
                retries: [
                  {
                    subject: "ip/203.0.113.11",
                    attempts: 1,
                    nextAttemptTime: "2026-08-01T12:01:00Z",
                    error: "DigitalOcean refused it: the token lacks the scope reserved_ip:update.",
                  },
                ],
              },
            },
      ),
    );
    const transcript = await watched([], scene, [[2000, (it) => (it.observation = world)]]);
    const lines = changesIn(transcript).trimEnd().split("\n");
    expect(lines).toMatchInlineSnapshot(`
      [
        "12:00:02 UTC  pool        ingress/web   False     1/2",
        "    REASON: WaitingForAssignment",
        "12:00:02 UTC  ! pool/ingress/web: 203.0.113.11: DigitalOcean",
        "              refused it: the token lacks the scope",
        "              reserved_ip:update. (1 failed, next in 58s)",
        "12:00:02 UTC  ! pool/ingress/web: 203.0.113.10: HolderLost:",
        "              The holder no longer matches and a matching",
        "              node waits.",
      ]
    `);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
  });

  test.for(["json", "jsonl"])("with -o %s prints one Status document per change and line", async (format) => {
    const runs: readonly Step[] = [[4000, (scene) => (scene.lease = afterRun(3000))], move, [6000, () => undefined]];
    const { stdout } = await watched(["-o", format], changing(), runs);
    const documents = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(documents.map((document) => schemaErrors(document, "Status"))).toEqual([[], []]);
    expect(documents.map(({ observedAt, pools }) => [observedAt, pools[2].addresses[0].nodeName])).toEqual([
      ["2026-08-01T12:00:00Z", "worker-1"],
      ["2026-08-01T12:00:06Z", "worker-3"],
    ]);
  });

  test("with -o yaml separates the documents, with -o name it names what changed", async () => {
    const yaml = await watched(["-o", "yaml"], changing(), [move]);
    const documents = parseAllDocuments(yaml.stdout).map((document) => document.toJS());
    expect(documents.map(({ kind, observedAt }) => [kind, observedAt])).toEqual([
      ["Status", "2026-08-01T12:00:00Z"],
      ["Status", "2026-08-01T12:00:02Z"],
    ]);
    const names = await watched(["-o", "name"], changing(), [move]);
    expect(names.stdout).toBe("pool/ingress/broken\npool/ingress/mail\npool/ingress/web\npool/ingress/web\n");
  });

  test("looks only at what was selected at its start, also once that is gone", async () => {
    const world = (): Observation =>
      withPools(afterFailure(), (pools) => pools.filter(({ meta }) => meta.name !== "web"));
    const transcript = await watched(["web"], changing(), [
      [2000, (scene) => (scene.observation = world())],
      [2000, (scene) => (scene.observation = afterFailure())],
    ]);
    expect(changesIn(transcript)).toMatchInlineSnapshot(`
      "12:00:02 UTC  pool        ingress/web   gone
      12:00:02 UTC  address     203.0.113.10   gone
      12:00:02 UTC  address     203.0.113.11   gone
      12:00:04 UTC  pool        ingress/web   False   1/2              1               1d    WaitingForAssignment
      12:00:04 UTC  address     203.0.113.10   ingress/web   no-match   worker-1 (not ready 1m4s)   HolderLost
      12:00:04 UTC  address     203.0.113.11   ingress/web   active     worker-2                    -
      12:00:04 UTC  ! pool/ingress/web: WaitingForAssignment: 1 address and 1 node wait for each other
      12:00:04 UTC  ! pool/ingress/web: 203.0.113.10: refused (2 failed, next now)
      "
    `);
  });

  test.for<[KubeFailure, number]>([
    ["unavailable", 0],
    ["forbidden", 403],
    ["missing-resource", 404],
    ["malformed", 200],
  ])(
    "goes on when a list fails in between (%s), says so ever more rarely, and shows what changed meanwhile",
    async ([failure, status]) => {
      const transcript = await watched([], changing(), [
        [10_000, (scene) => (scene.error = refusal(failure, status))],
        [
          4000,
          (scene) => {
            delete scene.error;
            scene.observation = reconciled();
          },
        ],
      ]);
      expect(transcript.exitCode).toBe(130);
      expect(transcript.stderr.split("\n")).toEqual([
        `flipop: The cluster cannot be read. Could not list floatingippools: ${failure}.`,
        `flipop: The cluster cannot be read (2 times in a row). Could not list floatingippools: ${failure}.`,
        `flipop: The cluster cannot be read (4 times in a row). Could not list floatingippools: ${failure}.`,
        "flipop: the cluster can be read again after 0s",
        "",
      ]);
      expect(changesIn(transcript)).toContain("203.0.113.10   ingress/web   active   worker-3");
    },
  );

  test("says when the cluster does not answer, and goes on when it does", async () => {
    let answer: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const transcript = await watched([], changing(), [
      [40_000, (scene) => (scene.delay = () => hanging)],
      [
        4000,
        (scene) => {
          delete scene.delay;
          scene.observation = reconciled();
          answer();
        },
      ],
    ]);
    expect(transcript.stderr.split("\n")).toEqual([
      ...[2, 12, 22, 32].map((seconds) => `flipop: at work for ${seconds} s`),
      "",
    ]);
    expect(changesIn(transcript)).toContain("worker-3");
  });

  test("ends at once while the cluster does not answer", async () => {
    const transcript = await watched([], changing(), [
      [3500, (scene) => (scene.delay = () => new Promise(() => undefined))],
    ]);
    expect(transcript).toMatchObject({ exitCode: 130, stderr: "" });
  });

  test("ends with 0 when nobody reads any more", async () => {
    const scene = changing();
    let isClosed = false;
    const running = invoke(["status", "--watch"], { ...scene, isClosed: () => isClosed });
    await scene.clock.advance(10_000);
    isClosed = true;
    expect(await scene.clock.settle(running)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test.for<[KubeFailure, number, number]>([
    ["unavailable", 0, 75],
    ["forbidden", 403, 77],
    ["missing-resource", 404, 78],
  ])("ends as status does when the first look fails: %s", async ([failure, status, code]) => {
    const { exitCode, stdout } = await invoke(["status", "--watch"], changing({ error: refusal(failure, status) }));
    expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: "" });
  });

  test.for<[readonly string[], string]>([
    [["--watch", "--check"], "--check tells how it is at the end, and --watch has none."],
    [["--watch", "--check", "--wait", "1m"], "--watch goes on and --wait ends: leave out one of them."],
    [["--watch", "--wait", "1m"], "--watch goes on and --wait ends: leave out one of them."],
    [["--watch", "-o", "markdown"], "-o markdown is one comment, and --watch goes on: leave out one of them."],
    [["--live", "-o", "markdown"], "-o markdown shows what is stored: leave out --live, or print it with -o table."],
    [["--wait", "1m"], "--wait waits until --check finds nothing wrong. Add --check."],
    [["--watch", "--from", "world.yaml"], "A snapshot never changes: leave out --from or --watch."],
    [["--check", "--wait", "1m", "--from", "world.yaml"], "A snapshot never changes: leave out --from or --wait."],
    [["--check", "--wait", "soon"], "Write it like 500ms, 30s, 5m or 1h: more than 0s, at most 24h."],
    [["--check", "--wait", "0s"], "Write it like 500ms, 30s, 5m or 1h: more than 0s, at most 24h."],
    [["--check", "--wait"], "argument missing"],
  ])("flags that contradict each other are refused: %j", async ([flags, why]) => {
    const { exitCode, stderr, stdout } = await invoke(["status", ...flags], changing());
    expect(exitCode).toBe(64);
    expect(flags.includes("markdown") ? stdout.includes(why) : stdout === "").toBe(true);
    expect(stderr).toContain(why);
  });
});

/** A world in which `status --check` finds nothing wrong. */
function fine(atMs: number): Pick<Scene, "observation" | "lease"> {
  const ready = {
    type: "Ready",
    status: "True",
    observedGeneration: 1,
    lastTransitionTime: "2026-08-01T12:00:00Z",
    reason: "Ready",
    message: "1 address is active",
  } as const;
  const pool = aPool("web", ["203.0.113.10"], { status: { conditions: [ready] } });
  return { observation: { ...afterFailure(), pools: [pool] }, lease: afterRun(atMs, "0 done") };
}

/** Runs a command line while the clock moves, and changes the scene at its times since the start. */
async function waited(
  args: readonly string[],
  scene: ChangingScene,
  steps: readonly Step[] = [],
): Promise<Transcript & { readonly tookMs: number }> {
  const running = invoke(["status", "--check", ...args], scene);
  for (const [ms, change] of steps) {
    await scene.clock.advance(ms);
    change(scene);
  }
  const transcript = await scene.clock.settle(running);
  return { ...transcript, tookMs: scene.clock.monotonicMs() };
}

describe("status --check --wait", () => {
  test("ends with 0 as soon as nothing is wrong, and prints what is stored then", async () => {
    const answer = await waited(["--wait", "2m"], changing(), [
      [25_000, (scene) => Object.assign(scene, fine(25_000))],
    ]);
    expect(answer).toMatchObject({ exitCode: 0, tookMs: 26_000 });
    expect(answer.stdout.match(/^POOL/gm)).toHaveLength(1);
    expect(answer.stdout).toContain("read 2026-08-01 12:00:26 UTC");
    expect(answer.stderr).toMatchInlineSnapshot(`
      "flipop: waiting for at most 2m more: pool/ingress/broken is not ready: no run has looked at it yet; run flipop reconcile (and 2 more)
      flipop: waiting for at most 1m50s more: pool/ingress/broken is not ready: no run has looked at it yet; run flipop reconcile (and 2 more)
      flipop: waiting for at most 1m40s more: pool/ingress/broken is not ready: no run has looked at it yet; run flipop reconcile (and 2 more)
      "
    `);
  });

  test("does not wait where nothing is wrong", async () => {
    expect(await waited(["--wait", "2m"], changing(fine(0)))).toMatchObject({ exitCode: 0, tookMs: 0, stderr: "" });
  });

  test("ends with 6 after its time, and says what is wrong", async () => {
    const answer = await waited(["--wait", "5s", "-q"], changing());
    expect(answer).toMatchObject({ exitCode: 6, tookMs: 5000 });
    expect(answer.stderr).toContain("flipop: pool/ingress/web is not ready: WaitingForAssignment");
    expect(answer.stderr).not.toContain("waiting");
  });

  test("prints one document with -o json", async () => {
    const { stdout, exitCode } = await waited(["--wait", "5s", "-o", "json"], changing());
    expect(exitCode).toBe(6);
    expect(schemaErrors(JSON.parse(stdout), "Status")).toEqual([]);
  });

  test("waits for a cluster that cannot be read, at its start and in between", async () => {
    const scene = changing({ error: refusal("unavailable") });
    const answer = await waited(["--wait", "2m"], scene, [
      [3000, (it) => delete it.error],
      [4000, (it) => (it.error = refusal("forbidden", 403))],
      [4500, (it) => delete Object.assign(it, fine(12_000)).error],
    ]);
    expect(answer).toMatchObject({ exitCode: 0, tookMs: 12_000 });
    expect(answer.stderr).toContain("flipop: The cluster cannot be read. Could not list floatingippools: unavailable.");
    expect(answer.stderr).toContain("flipop: The cluster cannot be read. Could not list floatingippools: forbidden.");
  });

  test("ends with 6 where the cluster was read once, and with its failure where it never was", async () => {
    const once = await waited(["--wait", "10s"], changing(), [[3000, (it) => (it.error = refusal("unavailable"))]]);
    expect(once).toMatchObject({ exitCode: 6, tookMs: 10_000 });
    const never = await waited(["--wait", "10s"], changing({ error: refusal("unavailable") }));
    expect(never).toMatchObject({ exitCode: 75, stdout: "", tookMs: 10_000 });
    expect(never.stderr).toContain("flipop: Could not list floatingippools: unavailable.\n");
  });

  test("ends after its time also while the cluster does not answer, and lets the call be", async () => {
    let isCallLeft = false;
    const scene = changing({
      delay: () => new Promise(() => undefined),
      abandon: () => {
        isCallLeft = true;
      },
    });
    const answer = await waited(["--wait", "30s"], scene);
    expect(answer).toMatchObject({ exitCode: 75, tookMs: 30_000 });
    expect(answer.stderr).toMatch(
      /^(flipop: at work for \d+ s\n){3}flipop: The cluster did not answer within 30s\.\n$/,
    );
    expect(isCallLeft).toBe(true);
  });

  test("does not wait for a right that was never there, nor for an object that does not exist", async () => {
    expect(await waited(["--wait", "1m"], changing({ error: refusal("forbidden", 403) }))).toMatchObject({
      exitCode: 77,
      tookMs: 0,
    });
    expect(await waited(["--wait", "1m", "pool/none"], changing())).toMatchObject({ exitCode: 78, tookMs: 0 });
  });

  test("ends with 130 at Ctrl-C", async () => {
    const stop = new AbortController();
    const scene = changing({ signal: stop.signal });
    const running = invoke(["status", "--check", "--wait", "1m"], scene);
    await scene.clock.advance(3000);
    stop.abort("SIGINT");
    expect(await running).toMatchObject({ exitCode: 130, stdout: "" });
  });
});
