import { describe, expect, test } from "vitest";
import type { LeaseRecord } from "../../src/ports/cluster.ts";
import { withLease } from "../../src/watch/lease.ts";
import { aLeaseWorld, leaseOptions } from "./lease-run.ts";

const DAY = 86_400_000;
const ODD: readonly (readonly [string, Partial<LeaseRecord>])[] = [
  ["duration 0", { durationSeconds: 0 }],
  ["a negative duration", { durationSeconds: -5 }],
  ["a duration that is no number", { durationSeconds: Number.NaN }],
  ["no times at all", { acquireTimeMs: 0, renewTimeMs: 0 }],
  ["times that are no numbers", { acquireTimeMs: Number.NaN, renewTimeMs: Number.NaN }],
  ["a renewTime a year ahead", { renewTimeMs: Date.UTC(2027, 0, 2) }],
  ["transitions that are no number", { transitions: Number.NaN, renewTimeMs: 1 }],
  ["negative transitions", { transitions: -1, renewTimeMs: 1 }],
  ["the most transitions there can be", { transitions: 2_147_483_647, renewTimeMs: 1 }],
  ["a duration of a year and no renewTime", { durationSeconds: 31_536_000, renewTimeMs: 0 }],
  ["a duration of a year, last renewed yesterday", { durationSeconds: 31_536_000, renewTimeMs: Date.UTC(2026, 0, 1) }],
  [
    "a duration of a year and a renewTime a year ahead",
    { durationSeconds: 31_536_000, renewTimeMs: Date.UTC(2027, 0, 2) },
  ],
];

describe("a record nobody renews that was edited by hand", () => {
  test.for(ODD)("with %s is taken by one of three short runs in a row", async ([, odd]) => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "ghost", ...odd });
    const results: string[] = [];
    for (let i = 0; i < 3; i++) {
      const result = await world.clock.settle(withLease(leaseOptions(world), async () => "worked"));
      results.push(result.kind);
      await world.clock.advance(10_000);
    }
    expect(results).toContain("done");
    expect(world.memory.record?.transitions).toBeGreaterThanOrEqual(0);
  });

  test("with a duration of an hour that began five minutes ago keeps short runs out until the hour is over", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "long", durationSeconds: 3_600 });
    const kinds: string[] = [];
    for (let i = 0; i < 80; i++) {
      kinds.push((await world.clock.settle(withLease(leaseOptions(world), async () => "worked"))).kind);
      await world.clock.advance(60_000);
    }
    const firstDone = kinds.indexOf("done");
    expect(firstDone).toBeGreaterThanOrEqual(30);
    expect(world.memory.writes[0]?.atMs).toBeGreaterThan(3_600_000);
    expect(world.memory.writes[0]?.atMs).toBeLessThan(2 * 3_600_000);
  });

  test("with a duration of a year is taken by a patient run after an hour, whatever the server's clock says", async () => {
    const world = aLeaseWorld(3 * DAY);
    world.memory.edit({ holder: "ghost", durationSeconds: 31_536_000 });
    const options = leaseOptions(world, { onLocked: "wait", deadline: DAY });
    const running = withLease(options, async () => world.clock.monotonicMs());
    const result = await world.clock.settle(running, DAY);
    expect(result.kind).toBe("done");
    expect(world.memory.writes[0]?.atMs).toBeGreaterThanOrEqual(3_600_000);
    expect(world.memory.writes[0]?.atMs).toBeLessThan(3_610_000);
  });

  test("is expired although someone keeps touching its annotations", async () => {
    const world = aLeaseWorld();
    world.memory.edit({ holder: "killed", renewTimeMs: 1 });
    const running = withLease(leaseOptions(world), async () => "worked");
    for (let second = 0; second < 18; second++) {
      await world.clock.advance(1_000);
      if (world.memory.record?.holder === "killed") world.memory.edit({ annotations: { touched: String(second) } });
    }
    expect(await world.clock.settle(running)).toEqual({ kind: "done", value: "worked" });
  });
});
