import { describe, expect, test } from "vitest";
import { withLease } from "../../src/watch/lease.ts";
import { aLeaseWorld, holdLease, leaseOptions } from "./lease-run.ts";

describe("the annotations of work that throws", () => {
  const annotateFailure = (error: unknown): Readonly<Record<string, string>> => ({ why: String(error) });

  test("are written with the call that gives the Lease back", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "", annotations: { keep: "1", why: "before" } });
    const work = async (): Promise<never> => {
      throw new Error("no nodes");
    };
    const run = withLease({ ...leaseOptions(world), annotateFailure }, work);
    await expect(world.clock.settle(run)).rejects.toThrow("no nodes");
    expect(world.memory.record).toMatchObject({ holder: "", annotations: { keep: "1", why: "Error: no nodes" } });
    expect(world.memory.writes).toHaveLength(2);
  });

  test("are not written over the Lease of who holds it then", async () => {
    const world = aLeaseWorld();
    const work = async (): Promise<never> => {
      world.memory.edit({ holder: "other", annotations: { why: "other" } });
      throw new Error("no nodes");
    };
    const run = withLease({ ...leaseOptions(world), annotateFailure }, work);
    await expect(world.clock.settle(run)).rejects.toThrow("no nodes");
    expect(world.memory.record).toMatchObject({ holder: "other", annotations: { why: "other" } });
  });
});

describe("annotate", () => {
  test("sets and removes annotations, keeps the others, and is stored when it resolves", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "", annotations: { keep: "1", drop: "2" } });
    const run = await holdLease(world);
    await world.clock.settle(run.lock.annotate({ drop: null, add: "3" }));
    expect(world.memory.record?.annotations).toEqual({ keep: "1", add: "3" });
    expect(run.lock.annotations()).toEqual({ keep: "1", add: "3" });
    run.end();
    await world.clock.settle(run.result);
    expect(world.memory.record).toMatchObject({ holder: "", annotations: { keep: "1", add: "3" } });
  });

  test("renews with the same write", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    const beforeMs = world.memory.record?.renewTimeMs ?? 0;
    await world.clock.advance(1_000);
    await world.clock.settle(run.lock.annotate({ a: "1" }));
    expect(world.memory.record?.renewTimeMs).toBeGreaterThan(beforeMs);
    expect(world.memory.writes).toHaveLength(2);
    run.end();
    await world.clock.settle(run.result);
  });

  test("many at once, beside renewals, lose none and meet no conflict", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    await world.clock.advance(1_995);
    const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
    await world.clock.settle(Promise.all(keys.map((key) => run.lock.annotate({ [key]: "x" }))));
    expect(Object.keys(world.memory.record?.annotations ?? {}).sort()).toEqual([...keys].sort());
    expect(world.connection.calls.filter((call) => call === "readLease")).toHaveLength(1);
    run.end();
    await world.clock.settle(run.result);
  });

  test.for(["refuse", "lose-answer", "hang"] as const)(
    "is repeated until it is stored when a call ends with: %s",
    async (how) => {
      const world = aLeaseWorld();
      const run = await holdLease(world);
      world.connection.faults.push({ on: "replaceLease", how });
      await world.clock.settle(run.lock.annotate({ a: "1" }));
      expect(world.memory.record?.annotations).toEqual({ a: "1" });
      expect(run.lock.isHeld()).toBe(true);
      run.end();
      await world.clock.settle(run.result);
    },
  );

  test("throws when the Lease is lost before it is stored", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.connection.away = { how: "refuse" };
    const writing = run.lock.annotate({ a: "1" });
    await expect(world.clock.settle(writing)).rejects.toThrow(
      "Lost Lease flipop/flipop: it could not be renewed for 10 s",
    );
    await expect(world.clock.settle(run.lock.annotate({ b: "1" }))).rejects.toThrow("Lost Lease flipop/flipop");
    expect(world.memory.record?.annotations).toEqual({});
    run.end();
    await world.clock.settle(run.result);
  });

  test("throws when someone else holds the Lease, and writes nothing", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.memory.edit({ holder: "other" });
    await expect(world.clock.settle(run.lock.annotate({ a: "1" }))).rejects.toThrow("it is held by other now");
    expect(world.memory.record?.annotations).toEqual({});
    run.end();
    await world.clock.settle(run.result);
  });

  test("passes on a refusal for good and keeps the Lease", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.connection.faults.push({ on: "replaceLease", how: "refuse", failure: "invalid" });
    await expect(world.clock.settle(run.lock.annotate({ "not/a/key": "1" }))).rejects.toMatchObject({
      failure: "invalid",
    });
    await world.clock.advance(20_000);
    expect(run.lock.isHeld()).toBe(true);
    run.end();
    await world.clock.settle(run.result);
  });

  test("throws after the Lease was given back", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    run.end();
    await world.clock.settle(run.result);
    expect(run.lock.isHeld()).toBe(false);
    expect(run.lock.lost.aborted).toBe(false);
    await expect(run.lock.annotate({ a: "1" })).rejects.toThrow("it was given back already");
  });
});

describe("giving back", () => {
  test("happens when the work throws, whose error is passed on", async () => {
    const world = aLeaseWorld();
    const running = withLease(leaseOptions(world), () => Promise.reject(new Error("work failed")));
    await expect(world.clock.settle(running)).rejects.toThrow("work failed");
    expect(world.memory.record).toMatchObject({ holder: "", durationSeconds: 1 });
    expect(world.clock.sleeping()).toBe(0);
  });

  test.for(["refuse", "lose-answer"] as const)("is repeated when the first call ends with: %s", async (how) => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.connection.faults.push({ on: "replaceLease", how });
    run.end();
    expect(await world.clock.settle(run.result)).toEqual({ kind: "done", value: "worked" });
    expect(world.memory.record?.holder).toBe("");
    expect(run.lock.lost.aborted).toBe(false);
  });

  test("is given up after one call's time when the API hangs; the result stands", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.connection.away = { how: "hang" };
    const fromMs = world.clock.monotonicMs();
    run.end();
    expect(await world.clock.settle(run.result)).toEqual({ kind: "done", value: "worked" });
    expect(world.clock.monotonicMs() - fromMs).toBeLessThanOrEqual(5_100);
    expect(world.clock.sleeping()).toBe(0);
  });

  test("says what keeps the Lease taken", async () => {
    const world = aLeaseWorld();
    const kept: unknown[] = [];
    const run = await holdLease(world, { onKept: (error) => kept.push(error) });
    world.connection.away = { how: "refuse", failure: "forbidden" };
    run.end();
    await world.clock.settle(run.result);
    expect(kept).toMatchObject([{ failure: "forbidden" }]);
    expect(world.memory.record?.holder).toBe("me");
  });

  test("leaves a Lease alone that someone else took unnoticed", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.memory.edit({ holder: "other", annotations: { theirs: "1" } });
    run.end();
    await world.clock.settle(run.result);
    expect(world.memory.record).toMatchObject({ holder: "other", annotations: { theirs: "1" } });
  });
});
