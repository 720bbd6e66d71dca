import { describe, expect, test } from "vitest";
import { ConfigError, KubeError } from "../../src/model/errors.ts";
import type { LeaseOptions } from "../../src/watch/lease.ts";
import { withLease } from "../../src/watch/lease.ts";
import { LeaseConnection } from "./lease-memory.ts";
import { aLeaseWorld, holdLease, type LeaseWorld, leaseOptions } from "./lease-run.ts";

const MINUTE = 60_000;
const work = (): Promise<string> => Promise.resolve("worked");

/** The result of one run and how long it took, milliseconds. */
async function run(
  world: LeaseWorld,
  changes: Partial<LeaseOptions> = {},
): Promise<{ result: unknown; tookMs: number }> {
  const startedMs = world.clock.monotonicMs();
  const result = await world.clock.settle(withLease(leaseOptions(world, changes), work));
  return { result, tookMs: world.clock.monotonicMs() - startedMs };
}

describe("taking a free Lease", () => {
  test("creates it when there is none and leaves it free afterwards", async () => {
    const world = aLeaseWorld();
    expect((await run(world)).result).toEqual({ kind: "done", value: "worked" });
    expect(world.memory.writes.map((write) => `${write.verb} ${write.holder}`)).toEqual([
      "createLease me",
      "replaceLease ",
    ]);
    expect(world.memory.record).toMatchObject({ holder: "", durationSeconds: 1, transitions: 0 });
  });

  test("takes one whose holder is empty at once, however fresh, keeping its annotations and counting a transition", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "", transitions: 4, annotations: { a: "1" } });
    const { result, tookMs } = await run(world);
    expect(result).toEqual({ kind: "done", value: "worked" });
    expect(tookMs).toBeLessThan(100);
    expect(world.memory.record).toMatchObject({ transitions: 5, annotations: { a: "1" } });
  });

  test("writes the server's time and whole seconds, rounded up", async () => {
    const world = aLeaseWorld(7 * MINUTE);
    let seen: unknown;
    const options = leaseOptions(world, { durationMs: 15_300 });
    await world.clock.settle(
      withLease(options, async () => {
        seen = world.memory.record;
      }),
    );
    const nowMs = world.memory.nowMs();
    expect(seen).toMatchObject({ holder: "me", durationSeconds: 16 });
    expect((seen as { renewTimeMs: number }).renewTimeMs).toBeGreaterThan(nowMs - 1000);
  });

  test("says how to create the namespace when it is missing", async () => {
    const world = aLeaseWorld();
    world.memory.hasNamespace = false;
    const failed = run(world);
    await expect(failed).rejects.toThrow(
      new ConfigError(
        "invalid",
        'Could not create Lease flipop/flipop: namespace "flipop" does not exist. ' +
          'Run "kubectl create namespace flipop", or name another one with --lease-namespace.',
      ),
    );
    await expect(failed).rejects.toMatchObject({ kind: "invalid" });
  });

  test("gives way to a run that created it in between", async () => {
    const world = aLeaseWorld();
    const options = leaseOptions(world);
    const running = withLease(options, work);
    await world.clock.advance(7); // The read has been answered "none", the create is under way.
    world.memory.edit({ holder: "other" });
    expect(await world.clock.settle(running)).toEqual({ kind: "locked", holder: "other" });
  });

  test("gives way to a run that took it in between", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "" });
    const running = withLease(leaseOptions(world), work);
    await world.clock.advance(7);
    world.memory.edit({ holder: "other", acquireTimeMs: 1 });
    expect(await world.clock.settle(running)).toEqual({ kind: "locked", holder: "other" });
  });
});

describe("a Lease that someone holds", () => {
  test.for(["fail", "skip"] as const)("%s gives up at once when renewTime is fresh", async (onLocked) => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "other", renewTimeMs: world.memory.nowMs() - 14_000 });
    const { result, tookMs } = await run(world, { onLocked });
    expect(result).toEqual({ kind: "locked", holder: "other" });
    expect(tookMs).toBeLessThan(100);
    expect(world.memory.writes).toEqual([]);
  });

  test.for(["fail", "skip", "wait"] as const)(
    "%s takes it from a killed run after its 15 s, and not before",
    async (onLocked) => {
      const world = aLeaseWorld();
      world.memory.edit({ holder: "killed", renewTimeMs: world.memory.nowMs() - 16_000 });
      const { result, tookMs } = await run(world, { onLocked });
      expect(result).toEqual({ kind: "done", value: "worked" });
      expect(world.memory.writes[0]?.atMs).toBeGreaterThanOrEqual(15_000);
      expect(tookMs).toBeLessThan(16_000);
    },
  );

  test("its own duration counts, not the contender's", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "killed", durationSeconds: 40, renewTimeMs: world.memory.nowMs() - 41_000 });
    await run(world);
    expect(world.memory.writes[0]?.atMs).toBeGreaterThanOrEqual(40_000);
    expect(world.memory.writes[0]?.atMs).toBeLessThan(41_000);
  });

  test.for([
    ["stays locked out by one that is only late", 20_000, "other", { kind: "locked", holder: "other" }],
    ["takes it from one that is late by its duration and ours", 30_000, "", { kind: "done", value: "worked" }],
  ] as const)(
    "a run of 50 s that cannot watch a holder for its 60 s %s, so that no two work at once",
    async ([, agoMs, holder, expected]) => {
      const world = aLeaseWorld();
      world.memory.edit({ holder: "other", durationSeconds: 60, renewTimeMs: world.memory.nowMs() - agoMs });
      expect((await run(world, { onLocked: "wait" })).result).toEqual(expected);
      expect(world.memory.record?.holder).toBe(holder);
    },
  );

  test.for([3, 10, 20])(
    "a run of %i s takes it from a killed one of the same length, and can still work",
    async (seconds) => {
      const world = aLeaseWorld();
      const begun = (): Partial<LeaseOptions> => ({ deadline: world.clock.monotonicMs() + seconds * 1000 });
      const killed = await holdLease(world, begun());
      const { durationSeconds = 0 } = world.memory.record ?? {};
      killed.end();
      await world.clock.settle(killed.result);
      world.memory.edit({ holder: "killed", durationSeconds, renewTimeMs: world.memory.nowMs() - 60 * MINUTE });
      const { result, tookMs } = await run(world, begun());
      expect([result, durationSeconds]).toEqual([{ kind: "done", value: "worked" }, Math.ceil(seconds / 2)]);
      expect(tookMs).toBeLessThan(seconds * 800);
    },
  );

  test.for([-10, 10])(
    "fail watches one that is renewed by a clock %i min off, and gives up with the first renewal",
    async (minutes) => {
      const world = aLeaseWorld();
      const skewed = (): number => world.memory.nowMs() + minutes * MINUTE;
      world.memory.edit({ holder: "skewed", renewTimeMs: skewed() });
      const running = withLease(leaseOptions(world), work);
      await world.clock.advance(9_000);
      world.memory.edit({ renewTimeMs: skewed() });
      expect(await world.clock.settle(running)).toEqual({ kind: "locked", holder: "skewed" });
      expect(world.clock.monotonicMs()).toBeLessThan(12_000);
    },
  );

  test("a local clock that is minutes off changes nothing", async () => {
    const world = aLeaseWorld(-20 * MINUTE);
    world.memory.edit({ holder: "other", renewTimeMs: world.memory.nowMs() - 1_000 });
    expect((await run(world)).result).toEqual({ kind: "locked", holder: "other" });
  });

  test("wait takes it soon after it is given back", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "other" });
    const running = withLease(leaseOptions(world, { onLocked: "wait" }), work);
    for (let second = 0; second < 30; second += 2) {
      await world.clock.advance(2_000);
      world.memory.edit({ renewTimeMs: world.memory.nowMs() });
    }
    world.memory.edit({ holder: "", durationSeconds: 1 });
    expect(await world.clock.settle(running)).toEqual({ kind: "done", value: "worked" });
    expect(world.clock.monotonicMs()).toBeLessThan(33_000);
  });

  test("wait ends at the deadline with the holder's name", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "other", durationSeconds: 60 });
    const { result, tookMs } = await run(world, { onLocked: "wait" });
    expect(result).toEqual({ kind: "locked", holder: "other" });
    expect(tookMs).toBe(50_000);
  });

  test("wait ends with the signal, without sleeping on", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "other" });
    const stop = new AbortController();
    const running = withLease(leaseOptions(world, { onLocked: "wait", signal: stop.signal }), work);
    await world.clock.advance(3_000);
    stop.abort();
    expect(await world.clock.settle(running)).toEqual({ kind: "locked", holder: "other" });
    expect(world.clock.monotonicMs()).toBe(3_000);
    expect(world.clock.sleeping()).toBe(0);
  });

  test("a signal that comes while it is being taken gives it back and starts no work", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "" });
    const stop = new AbortController();
    const running = withLease(leaseOptions(world, { signal: stop.signal }), work);
    await world.clock.advance(12);
    stop.abort();
    expect(await world.clock.settle(running)).toEqual({ kind: "locked", holder: "" });
    expect(world.memory.writes.map((write) => write.holder)).toEqual(["me", ""]);
  });
});

test("a Lease that comes after the deadline is given back, and no work begins", async () => {
  const world = aLeaseWorld();
  world.memory.edit({ holder: "" });
  const connection = new LeaseConnection(world.memory, world.clock, "me", 100);
  const { result } = await run({ ...world, connection }, { deadline: world.clock.monotonicMs() + 250 });
  expect(result).toEqual({ kind: "locked", holder: "" });
  expect(world.memory.writes.map((write) => write.holder)).toEqual(["me", ""]);
});

test("a run too short to read the Lease is told to take more time", async () => {
  const world = aLeaseWorld();
  world.connection.away = { how: "hang" };
  await expect(run(world, { onLocked: "wait", deadline: world.clock.monotonicMs() + 1 })).rejects.toThrow(
    "Could not get Lease flipop/flipop: the run had no time left for it. Give it more with --timeout",
  );
});

describe("options that do not fit", () => {
  test.for([
    [{ durationMs: 500 }, "--lease-duration is 500ms: it must be at least 1s."],
    [{ renewDeadlineMs: 20_000 }, "--renew-deadline is 20s: it must be shorter than --lease-duration (15s)."],
    [{ renewDeadlineMs: 120_000 }, "--renew-deadline is 2m: it must be shorter than --lease-duration (15s)."],
    [{ durationMs: 1500 }, "--renew-deadline is 10s: it must be shorter than --lease-duration (1500ms)."],
    [{ retryMs: 9_000 }, "--retry-period is 9s: it must be above 0 and 1.2 times it below --renew-deadline (10s)."],
    [{ identity: "" }, "The Lease needs a holder with a name: the identity is empty."],
  ] as const)("%o is refused before any call", async ([changes, message]) => {
    const world = aLeaseWorld();
    await expect(run(world, changes)).rejects.toThrow(new ConfigError("usage", message));
    expect(world.connection.calls).toEqual([]);
  });
});

describe("an API that fails while the Lease is taken", () => {
  test("a refusal is passed on at once", async () => {
    const world = aLeaseWorld();
    world.connection.faults.push({ how: "refuse", failure: "forbidden" });
    await expect(run(world, { onLocked: "wait" })).rejects.toThrow(KubeError);
    expect(world.connection.calls).toEqual(["readLease"]);
  });

  test.for(["forbidden", "unauthorized", "denied"] as const)(
    "one who waits for a holder outlasts a refusal (%s) of a moment, and an API that was away before it",
    async (failure) => {
      const world = aLeaseWorld();
      world.memory.edit({ holder: "other", renewTimeMs: world.memory.nowMs() });
      const running = withLease(leaseOptions(world, { onLocked: "wait" }), work);
      await world.clock.advance(5_000);
      world.connection.away = { how: "refuse", failure: "unavailable" };
      await world.clock.advance(20_000);
      world.connection.away = { how: "refuse", failure };
      await world.clock.advance(8_000);
      world.connection.away = undefined;
      expect(await world.clock.settle(running)).toEqual({ kind: "done", value: "worked" });
    },
  );

  test("one who waits for a holder passes on a refusal that lasts longer than the renew deadline", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "other", renewTimeMs: world.memory.nowMs() });
    const running = withLease(leaseOptions(world, { onLocked: "wait" }), work);
    await world.clock.advance(5_000);
    world.connection.away = { how: "refuse", failure: "forbidden" };
    await expect(world.clock.settle(running)).rejects.toMatchObject({ failure: "forbidden" });
    expect(world.clock.monotonicMs()).toBeLessThanOrEqual(20_000);
  });

  test("fail passes on a read that failed", async () => {
    const world = aLeaseWorld();
    world.connection.faults.push({ how: "refuse", failure: "unavailable" });
    await expect(run(world)).rejects.toMatchObject({ failure: "unavailable" });
  });

  test("wait outlasts an API that is away for 30 s", async () => {
    const world = aLeaseWorld();
    world.connection.away = { how: "hang" };
    const running = withLease(leaseOptions(world, { onLocked: "wait" }), work);
    await world.clock.advance(30_000);
    world.connection.away = undefined;
    expect(await world.clock.settle(running)).toEqual({ kind: "done", value: "worked" });
  });

  test("wait passes on the failure when the API stays away until the deadline", async () => {
    const world = aLeaseWorld();
    world.connection.away = { how: "hang" };
    await expect(run(world, { onLocked: "wait" })).rejects.toMatchObject({ failure: "timeout" });
    expect(world.clock.monotonicMs()).toBeLessThanOrEqual(50_001);
  });

  test.for(["createLease", "replaceLease"] as const)(
    "a %s that arrived although its answer was lost is recognised",
    async (on) => {
      const world = aLeaseWorld();
      if (on === "replaceLease") world.memory.edit({ holder: "" });
      world.connection.faults.push({ on, how: "lose-answer" });
      const { result, tookMs } = await run(world);
      expect(result).toEqual({ kind: "done", value: "worked" });
      expect(tookMs).toBeLessThan(3_000);
    },
  );

  test("a record of another process with the same name is not taken for our own", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "me" });
    expect((await run(world)).result).toEqual({ kind: "locked", holder: "me" });
  });

  test("fail gives up on writes that fail for longer than the renew deadline", async () => {
    const world = aLeaseWorld();
    for (let i = 0; i < 50; i++) world.connection.faults.push({ on: "createLease", how: "refuse" });
    await expect(run(world)).rejects.toMatchObject({ failure: "unavailable" });
    expect(world.clock.monotonicMs()).toBeGreaterThanOrEqual(10_000);
    expect(world.clock.monotonicMs()).toBeLessThan(13_000);
  });

  test("a storm of conflicts is neither a hot loop nor the end", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "" });
    for (let i = 0; i < 5; i++)
      world.connection.faults.push({ on: "replaceLease", how: "refuse", failure: "conflict" });
    expect((await run(world)).result).toEqual({ kind: "done", value: "worked" });
    expect(world.clock.monotonicMs()).toBeGreaterThanOrEqual(8_000);
  });
});
