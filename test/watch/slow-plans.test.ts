import { expect, test } from "vitest";
import { WatchWorld } from "./watch-world.ts";

const NODES = 32;

/** Pools of one address each that is free, and enough nodes for all of them. */
async function aWorld(pools: number): Promise<WatchWorld> {
  const world = new WatchWorld();
  await world.setUp(...Array.from({ length: NODES }, (_, at) => `n${at + 1}`));
  for (let at = 1; at <= pools; at += 1) {
    const ip = `203.0.113.${at}`;
    world.cloud.address(ip);
    await world.pools.create(`web${at}`, { desiredIPs: 0, ips: [ip], match: { nodeLabel: "" } });
  }
  return world;
}

test("a process whose every plan takes longer than the Lease lasts keeps the Lease, and ends what is to be done", async () => {
  const world = await aWorld(8);
  world.machineIDMs = 60;
  const first = world.watch();
  await world.clock.advance(1000);
  const standby = world.watch();
  await world.clock.advance(300_000);
  expect([first.isLeading, standby.isLeading]).toEqual([true, false]);
  expect(first.failures).toEqual([]);
  const [turn] = first.turns;
  // Two plans: each longer than the 15 seconds that a Lease lasts which is not renewed.
  expect(turn?.kind === "passed" ? turn.pass.result.timing.planMs : 0).toBeGreaterThan(2 * 15_000);
  const holders = Object.values(world.cloud.addresses());
  expect(new Set(holders).size).toBe(8);
  expect(holders).not.toContain("-");
  first.stop();
  await world.clock.advance(60_000);
  await expect(first.end).resolves.toEqual({ kind: "stopped", isLeaseFree: true });
});

test("what ends one after the other while a plan is dear is planned on together: most of the time is left for work", async () => {
  const pools = 24;
  const world = await aWorld(pools);
  world.machineIDMs = 1;
  // One address after the other is there, two a second.
  world.takesMs = ({ method, args }) => (method === "assign" ? 500 * Number(String(args[0]).split(".")[3]) : undefined);
  const watcher = world.watch();
  await world.clock.advance(60_000);
  const [turn] = watcher.turns;
  if (turn?.kind !== "passed") throw new Error("no pass was made");
  const { planMs, applyMs } = turn.pass.result.timing;
  expect(Object.values(world.cloud.addresses())).not.toContain("-");
  expect(planMs).toBeLessThan((planMs + applyMs) / 3);
  watcher.stop();
  await world.clock.advance(1000);
});
