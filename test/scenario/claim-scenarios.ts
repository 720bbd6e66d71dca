import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";

/** Who owns what, and what a run may write: scenarios 23 and 77. */
export function claimScenarios(scenario: Register): void {
  scenario(
    "23 one address in two pools: the older owns it, the other shows the conflict, nothing goes back and forth",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      world.advance(2000);
      await world.pools.create("a-younger", { ips: [ip(1)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
      for (let round = 0; round < 3; round += 1) {
        world.advance(10_000);
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
      }
      expect(await world.show()).toEqual(["ip1 active n1"]);
      expect(await world.show("a-younger")).toEqual(["ip1 error (Conflict)"]);
      const { conditions } = await world.pools.status("a-younger");
      expect(conditions.find(({ type }) => type === "Stalled")?.reason).toBe("Conflict");
    },
    { worlds: ["memory", "sandbox"] },
  );

  scenario(
    "23b the pool that by status holds the address keeps it from an older newcomer; removal frees it",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      await world.pools.create("older", { ips: [ip(2)] });
      world.advance(2000);
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      await world.pools.edit("older", { ips: [ip(2), ip(1)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show("older")).toEqual(["ip1 error (Conflict)", "ip2 active n1"]);
      expect(await world.show()).toEqual(["ip1 active n2"]);
      await world.pools.edit("web", { ips: [ip(9)] });
      await world.pass();
      expect(await world.show("older")).toEqual(["ip1 active n2", "ip2 active n1"]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip2 of shop/older", n2: "ip1 of shop/older" });
    },
  );

  scenario(
    "an older pool whose spec and status come from a backup takes no address from the one that serves it now",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      await world.pools.create("older", { ips: [ip(2), ip(1)] });
      await world.pass();
      const { ips } = await world.pools.status("older");
      await world.pools.edit("older", { ips: [ip(2)] });
      await world.pass();
      world.advance(2000);
      await world.nodes.setReady("n2", false);
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n3"]);
      await world.nodes.setReady("n2", true);
      await world.pools.edit("older", { ips: [ip(2), ip(1)] });
      await world.pools.writeStatus("older", { ips });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 active n3"]);
      expect(await world.show("older")).toEqual(["ip1 error (Conflict)", "ip2 active n1"]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip2 of shop/older", n3: "ip1" });
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
  );

  scenario("23c the owner is deleted: the other pool takes the address over where it is", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    await world.pools.create("other", { ips: [ip(1)] });
    await world.pass();
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show("other")).toEqual(["ip1 active n1"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1 of shop/other" });
  });

  scenario("23d an invalid pool keeps its claims", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    await world.pools.edit("web", { match: { podLabel: "a in (" } });
    await world.pools.create("other", { ips: [ip(1)] });
    await world.pass();
    expect(await world.show("other")).toEqual(["ip1 error (Conflict)"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
  });

  scenario("two pools over the same nodes: each node gets one address", async (world) => {
    await world.machines("n1", "n2", "n3");
    for (const number of [1, 2, 3, 4]) world.cloud.address(ip(number));
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    world.advance(2000);
    await world.pools.create("zoo", { ips: [ip(3), ip(4)] });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
    expect(await world.show("zoo")).toEqual(["ip3 active n3", "ip4 unassigned (NoCandidate)"]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 no-match n1 (NoCandidate)", "ip2 active n2"]);
  });

  scenario("two pools buy at the same time: each gets its own, no more", async (world) => {
    await world.machines("n1", "n2", "n3", "n4");
    await world.pools.create("web", { desiredIPs: 2 });
    await world.pools.create("other", { desiredIPs: 2 });
    await world.pass();
    expect(world.cloud.boughtNow()).toHaveLength(4);
    expect(new Set(Object.values(world.cloud.addresses())).size).toBe(4);
  });

  scenario("77 two runs at once: the Lease lets one work, and nothing is done twice", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], desiredIPs: 2 });
    const ends = await Promise.all([world.run({ lease: "fail" }), world.runBeside({ lease: "fail" })]);
    expect(ends.map(({ kind }) => kind).toSorted()).toEqual(["done", "locked"]);
    expect(world.cloudWrites().toSorted()).toEqual(["assign ip1 to n1", "create for n2"]);
  });

  scenario("77b the second run waits for the first, then finds nothing to do", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], desiredIPs: 2 });
    const ends = await Promise.all([world.run({ lease: "wait" }), world.runBeside({ lease: "wait" })]);
    expect(ends.map(({ kind }) => kind)).toEqual(["done", "done"]);
    expect(world.cloudWrites().toSorted()).toEqual(["assign ip1 to n1", "create for n2"]);
  });

  scenario(
    "77c a run that was killed holds the Lease: its successor takes it when it has not changed for its duration",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      expect(await world.crash(1, { lease: "fail" })).toBe(true);
      expect((await world.run({ lease: "wait" })).kind).toBe("done");
      expect(await world.show()).toEqual(["ip1 active n1"]);
    },
  );

  scenario("selection by namespace: only its pools are written, claims count over all", async (world) => {
    await world.namespace("else");
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("else/first", { ips: [ip(1)] });
    world.advance(2000);
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    await world.pass({ selection: { namespace: "shop" } });
    expect(world.cloudWrites()).toEqual(["assign ip2 to n1"]);
    expect(await world.show()).toEqual(["ip1 error (Conflict)", "ip2 active n1"]);
    expect(await world.show("else/first")).toEqual([]);
    await world.pass();
    expect(await world.show("else/first")).toEqual(["ip1 active n2"]);
  });

  scenario("selection by name: the other pool is neither written at the provider nor in the cluster", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pools.create("other", { ips: [ip(2)] });
    await world.pass({ selection: { objects: ["shop/other"] } });
    expect(world.cloudWrites()).toEqual(["assign ip2 to n1"]);
    expect(world.kubeWrites().some((line) => line.endsWith("web"))).toBe(false);
    expect(await world.show()).toEqual([]);
    await world.pass();
  });

  scenario("selection by label: as by name", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("web", { ips: [ip(1)] }, { labels: { team: "a" } });
    await world.pools.create("other", { ips: [ip(2)] }, { labels: { team: "b" } });
    await world.pass({ selection: { labelSelector: "team in (b)" } });
    expect(world.cloudWrites()).toEqual(["assign ip2 to n1"]);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2"]);
  });
}
