import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { type Beginnings, beginnings, repair } from "./play.ts";
import type { Strike, WireCall } from "./wire.ts";
import { WIRE_STORIES, type WireStory, wireStory } from "./wire-story.ts";
import { wrongs } from "./wire-truth.ts";
import { WireWorld } from "./wire-world.ts";

/** A quarter of a second less than what one call may take. */
const SLOW: Strike = { before: () => sleep(900) };
const SILENT: Strike = { answer: "silence" };
const TIMEOUT_MS = 4000;
/** For the statuses and the Lease at the end, on a busy machine; less than one call may take. */
const ENDING_MS = 12_000;
/** Longer than a run that keeps its time, so that one which waits for a call is too late. */
const CALL_MS = 30_000;

const WAYS: readonly {
  readonly what: string;
  readonly strike: (call: WireCall, sinceMs: number) => Strike | undefined;
}[] = [
  { what: "the providers are slow", strike: ({ server }) => (server === "kubernetes" ? undefined : SLOW) },
  { what: "the API server is slow", strike: ({ server }) => (server === "kubernetes" ? SLOW : undefined) },
  { what: "everything is slow", strike: () => SLOW },
  { what: "the providers say nothing", strike: ({ server }) => (server === "kubernetes" ? undefined : SILENT) },
  {
    what: "the API server says nothing after a while",
    strike: ({ server }, sinceMs) => (server === "kubernetes" && sinceMs > 150 ? SILENT : undefined),
  },
];

let begin: Beginnings;
beforeAll(async () => {
  begin = await beginnings();
});

async function withStory<T>(story: WireStory, work: (world: WireWorld) => Promise<T>): Promise<T> {
  const world = await WireWorld.open(story.isFilled ? begin.filled : begin.empty);
  try {
    await story.change(world);
    return await work(world);
  } finally {
    await world.close();
  }
}

describe("a run keeps its --timeout", () => {
  const cases = WIRE_STORIES.flatMap((story) => WAYS.map((way) => ({ ...way, story, title: story.name })));
  test.concurrent.for(cases)(
    "in $title when $what, does not pass for done, and leaves nothing amiss",
    async ({ story, strike }, { expect: check }) => {
      await withStory(story, async (world) => {
        const startMs = performance.now();
        world.wire.begin((call) => strike(call, performance.now() - startMs));
        const run = await world.reconcile(["--timeout", `${TIMEOUT_MS}ms`], CALL_MS);
        check(run.ms).toBeLessThan(TIMEOUT_MS + ENDING_MS);
        if (run.code === 0) check(await wrongs(world, story)).toEqual([]);
        else check([3, 75]).toContain(run.code);
        if (run.code !== 0) check(run.text).not.toMatch(/Nothing to do: \d+ pool/);
        check(await repair(world, story)).toEqual([]);
      });
    },
  );
});

describe("a run that is told to stop", () => {
  const silent = ["digitalocean", "cloudflare", "kubernetes"] as const;
  test.concurrent.for(silent)(
    "while %s does not answer a read ends at once and changes nothing",
    async (server, { expect: check }) => {
      const story = wireStory("a failover");
      await withStory(story, async (world) => {
        const stop = new AbortController();
        world.wire.begin((call) => {
          if (call.server !== server || call.path.includes("/leases")) return undefined;
          stop.abort("SIGTERM");
          return SILENT;
        });
        const run = await world.reconcile([], CALL_MS, stop.signal);
        check(run.ms).toBeLessThan(ENDING_MS);
        check(run.code).toBe(130);
        const changed = world.wire.calls().filter(({ method, path }) => method !== "GET" && !path.includes("/leases"));
        check(changed).toEqual([]);
        const lease = await world.rest("GET", "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop");
        check((lease as { spec: object }).spec).not.toHaveProperty("holderIdentity", "run-1");
        check(await repair(world, story)).toEqual([]);
      });
    },
  );
});

test("a later pass of --settle that cannot read the cluster takes nothing away from what was done before it", async () => {
  const story = wireStory("the first fill");
  await withStory(story, async (world) => {
    world.wire.begin(({ key }) => {
      if (key.includes("POST /v2/reserved_ips/203.0.113.1/actions #1"))
        return { isLost: true, answer: { status: 500 } };
      return /GET .*(floatingippools|nodes) #[23]$/.test(key) ? { answer: "a page of HTML" } : undefined;
    });
    const run = await world.reconcile(["--settle"]);
    expect(run.text).toContain("2 acquired, 1 assigned");
    expect(run.code).toBe(0);
    expect(await wrongs(world, story)).toEqual([]);
  });
});
