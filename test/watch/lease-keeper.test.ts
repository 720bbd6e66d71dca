import { describe, expect, test } from "vitest";
import { aLeaseWorld, holdLease } from "./lease-run.ts";

describe("renewing", () => {
  test("happens every retry period, at most a fifth later, and keeps annotations", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "", annotations: { a: "1" } });
    const run = await holdLease(world);
    await world.clock.advance(60_000);
    const renewals = world.memory.writes.slice(1);
    expect(renewals.length).toBeGreaterThanOrEqual(24);
    expect(renewals.length).toBeLessThanOrEqual(30);
    expect(world.memory.record).toMatchObject({ holder: "me", annotations: { a: "1" } });
    expect(world.connection.calls.filter((call) => call === "readLease")).toHaveLength(1);
    run.end();
    await world.clock.settle(run.result);
    expect(world.clock.sleeping()).toBe(0);
  });

  test("goes on when an earlier write arrived without an answer", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.connection.faults.push({ on: "replaceLease", how: "lose-answer" });
    await world.clock.advance(30_000);
    expect(run.lock.isHeld()).toBe(true);
    run.end();
    await world.clock.settle(run.result);
    expect(world.memory.record?.holder).toBe("");
  });

  test("goes on when a write arrives seconds after it was given up", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.connection.faults.push({ on: "replaceLease", how: "late", lateMs: 6_000 });
    await world.clock.advance(30_000);
    expect(run.lock.isHeld()).toBe(true);
    expect(world.memory.record?.holder).toBe("me");
    run.end();
    await world.clock.settle(run.result);
  });

  test("counts writes whose answers never come, once a look shows that they are stored", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    // For half a minute each write is stored, and its answer lost.
    for (let turn = 0; turn < 15; turn += 1) {
      world.connection.faults.push({ on: "replaceLease", how: "lose-answer" });
      await world.clock.advance(2_000);
    }
    expect(run.lock.isHeld()).toBe(true);
    world.connection.faults.length = 0;
    await world.clock.advance(5_000);
    expect(run.lock.isHeld()).toBe(true);
    run.end();
    await world.clock.settle(run.result);
    expect(world.memory.record?.holder).toBe("");
  });

  test("goes on when a person edits the record in between", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.memory.edit({ annotations: { note: "by hand" } });
    await world.clock.advance(5_000);
    expect(run.lock.isHeld()).toBe(true);
    expect(world.memory.record?.annotations).toEqual({ note: "by hand" });
    expect(run.lock.annotations()).toEqual({ note: "by hand" });
    run.end();
    await world.clock.settle(run.result);
  });

  test("survives an API that is away for less than the renew deadline", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.connection.away = { how: "refuse" };
    await world.clock.advance(7_000);
    world.connection.away = undefined;
    await world.clock.advance(30_000);
    expect(run.lock.isHeld()).toBe(true);
    run.end();
    await world.clock.settle(run.result);
  });

  test("survives one call that never answers", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.connection.faults.push({ how: "hang" });
    await world.clock.advance(30_000);
    expect(run.lock.isHeld()).toBe(true);
    run.end();
    await world.clock.settle(run.result);
  });

  test("survives a permission that is missing for a moment", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.connection.faults.push({ how: "refuse", failure: "forbidden" }, { how: "refuse", failure: "forbidden" });
    await world.clock.advance(30_000);
    expect(run.lock.isHeld()).toBe(true);
    run.end();
    await world.clock.settle(run.result);
  });
});

describe("losing", () => {
  test.for(["hang", "refuse"] as const)(
    "happens 10 s after the last renewal when every call ends with: %s",
    async (how) => {
      const world = aLeaseWorld();
      const run = await holdLease(world);
      world.connection.away = { how };
      const fromMs = world.clock.monotonicMs();
      await world.clock.advance(9_900);
      expect(run.lock.isHeld()).toBe(true);
      await world.clock.advance(200);
      expect(run.lock.lost.aborted).toBe(true);
      expect(run.lock.isHeld()).toBe(false);
      expect(run.lock.lost.reason).toMatchObject({
        message: expect.stringMatching(
          /^Lost Lease flipop\/flipop: it could not be renewed for 10 s: .+[^.]\. This run changes nothing more; the next one carries on\.$/,
        ),
      });
      world.connection.away = undefined;
      run.end();
      expect(await world.clock.settle(run.result)).toEqual({ kind: "done", value: "worked" });
      expect(world.memory.writes.filter((write) => write.atMs > fromMs)).toEqual([]);
      expect(world.clock.sleeping()).toBe(0);
    },
  );

  test.for([
    [{ holder: "other" }, "it is held by other now"],
    [{ holder: "" }, "its holder was cleared"],
    [{ holder: "me", acquireTimeMs: 1 }, "another process of the same name holds it now"],
  ] as const)("happens with the next renewal when the record says %o", async ([change, why]) => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.memory.edit(change);
    await world.clock.advance(2_500);
    expect(run.lock.isHeld()).toBe(false);
    expect(String(run.lock.lost.reason)).toContain(`Lost Lease flipop/flipop: ${why}.`);
    run.end();
    await world.clock.settle(run.result);
    expect(world.memory.record).toMatchObject(change);
  });

  test("happens with the next renewal when the Lease is deleted", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.memory.record = undefined;
    await world.clock.advance(2_500);
    expect(String(run.lock.lost.reason)).toContain("it was deleted");
    run.end();
    await world.clock.settle(run.result);
    expect(world.memory.record).toBeUndefined();
  });

  test("is seen at once after a suspension longer than the duration, before any timer has run", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.clock.suspend(15_000);
    expect(run.lock.isHeld()).toBe(false);
    expect(run.lock.lost.aborted).toBe(true);
    await world.clock.advance(10_000);
    expect(run.lock.isHeld()).toBe(false);
    expect(world.memory.writes).toHaveLength(1);
    run.end();
    await world.clock.settle(run.result);
    expect(world.memory.writes).toHaveLength(1);
  });

  test("is final after a suspension longer than the renew deadline, even if nobody else took the Lease", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.clock.suspend(11_000);
    await world.clock.advance(5_000);
    expect(run.lock.lost.aborted).toBe(true);
    expect(world.memory.writes).toHaveLength(1);
    run.end();
    await world.clock.settle(run.result);
  });

  test("does not follow a suspension shorter than the renew deadline", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.clock.suspend(9_000);
    await world.clock.advance(5_000);
    expect(run.lock.isHeld()).toBe(true);
    run.end();
    await world.clock.settle(run.result);
  });

  test("by a jump of the wall clock does not happen", async () => {
    const world = aLeaseWorld();
    const run = await holdLease(world);
    world.clock.shiftWall(-3_600_000);
    await world.clock.advance(20_000);
    world.clock.shiftWall(7_200_000);
    await world.clock.advance(20_000);
    expect(run.lock.isHeld()).toBe(true);
    run.end();
    await world.clock.settle(run.result);
  });
});
