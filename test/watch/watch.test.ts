import { expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import type { ClusterFault } from "../fake/memory-calls.ts";
import { WatchWorld } from "./watch-world.ts";

const SPEC = { desiredIPs: 0, ips: ["203.0.113.1"], match: { nodeLabel: "" } };

async function aWorld(): Promise<WatchWorld> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  world.cloud.address("203.0.113.1", { on: "n1" });
  await world.pools.create("web", SPEC);
  return world;
}

test("a standby has everything in memory, and takes over within two seconds once the leader is asked to end", async () => {
  const world = await aWorld();
  const leader = world.watch();
  await world.clock.advance(3000);
  const standby = world.watch();
  await world.clock.advance(20_000);
  expect([leader.isLeading, standby.isLeading]).toEqual([true, false]);
  expect(standby.provider.recorded).toEqual([]);
  standby.cluster.beforeCall = (operation) => {
    if (operation.startsWith("list")) throw new Error("a standby that takes over lists nothing");
    return undefined;
  };
  await world.nodes.setReady("n1", false);
  leader.stop();
  await world.clock.advance(2000);
  await expect(leader.end).resolves.toEqual({ kind: "stopped", isLeaseFree: true });
  expect(standby.isLeading).toBe(true);
  await world.clock.advance(2000);
  expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
});

test("a standby takes over one lease duration and at most a second after the leader's last renewal", async () => {
  const world = await aWorld();
  const leader = world.watch();
  await world.clock.advance(3000);
  const standby = world.watch();
  await world.clock.advance(20_000);
  leader.cluster.beforeCall = () => ({ throw: away });
  await world.clock.advance(13_000);
  expect(standby.isLeading).toBe(false);
  await world.clock.advance(5500);
  expect(standby.isLeading).toBe(true);
  await expect(leader.end).rejects.toThrow("Lost Lease");
});

test("with another holder and no wish to wait, nothing begins", async () => {
  const world = await aWorld();
  const leader = world.watch();
  await world.clock.advance(3000);
  const other = world.watch({ onLocked: "fail" });
  await expect(world.clock.settle(other.end)).resolves.toEqual({ kind: "locked", holder: "watcher-1" });
  leader.stop();
  await world.clock.advance(100);
});

test("a watcher without a right that it needs ends with that error, also while it waits for the Lease", async () => {
  const world = await aWorld();
  const leader = world.watch();
  await world.clock.advance(3000);
  const beforeCall = (operation: string): ClusterFault | undefined =>
    operation.includes("nodes") ? { throw: forbidden } : undefined;
  const standby = world.watch({ beforeCall });
  await expect(world.clock.settle(standby.end)).rejects.toThrow("forbidden");
  leader.stop();
  await world.clock.advance(100);
  await expect(leader.end).resolves.toEqual({ kind: "stopped", isLeaseFree: true });
  expect(world.clock.sleeping()).toBe(0);
});

test("a watcher that is asked to end gives the Lease back and leaves nothing behind", async () => {
  const world = await aWorld();
  const watcher = world.watch();
  await world.clock.advance(3000);
  watcher.stop();
  await world.clock.advance(100);
  await expect(watcher.end).resolves.toEqual({ kind: "stopped", isLeaseFree: true });
  expect((await watcher.cluster.readLease("shop", "flipop"))?.holder).toBe("");
  expect(world.clock.sleeping()).toBe(0);
});

const away = new KubeError({ failure: "unavailable", operation: "", subject: "", status: 0, message: "away" });
const forbidden = new KubeError({
  failure: "forbidden",
  operation: "",
  subject: "",
  status: 403,
  message: "forbidden",
});
