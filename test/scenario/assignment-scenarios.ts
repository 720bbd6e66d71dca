import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

/** ip1 on n1, and the nodes named beside it, converged. */
async function ip1OnN1(world: World, ...others: readonly string[]): Promise<void> {
  await world.machines("n1", ...others);
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)] });
  await world.pass();
  expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
}

/** Who gets which address: scenarios 1–85. */
export function assignmentScenarios(scenario: Register): void {
  scenario("1 steady state: a pass over three served nodes writes nothing and reads the list once", async (world) => {
    await world.machines("n1", "n2", "n3");
    for (const number of [1, 2, 3]) world.cloud.address(ip(number));
    await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)] });
    await world.pass();
    const before = await world.pools.read("web");
    world.advance(60_000);
    const { plan } = await world.pass();
    expect(plan.actions).toEqual([]);
    expect(world.cloudCalls()).toEqual(["list"]);
    expect(world.kubeWrites()).toEqual([]);
    expect(await world.pools.read("web")).toEqual(before);
  });

  scenario("2 first fill: two addresses go to the first two nodes by name, the third node waits", async (world) => {
    await world.machines("n3", "n1", "n2");
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    await world.pass();
    expect(world.cloudWrites().toSorted()).toEqual(["assign ip1 to n1", "assign ip2 to n2"]);
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2" });
    expect((await world.pools.status("web")).assignableNodes).toEqual(["n3"]);
  });

  scenario("3 fresh process: addresses already on matches are kept and their annotations repaired", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1), { on: "n2" });
    world.cloud.address(ip(2), { on: "n1" });
    await world.nodes.annotate("n1", ip(1), "shop/web");
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip2", n2: "ip1" });
  });

  scenario("5 node lost, spare waits: the address moves, and so does the annotation", async (world) => {
    await ip1OnN1(world, "n2");
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    expect(await world.nodes.annotations()).toEqual({ n2: "ip1" });
    expect(await world.show()).toEqual(["ip1 active n2"]);
  });

  scenario("6 node lost, nobody waits: the address stays parked without annotation", async (world) => {
    await ip1OnN1(world);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 no-match n1 (NoCandidate)"]);
    expect(await world.nodes.annotations()).toEqual({});
    await world.nodes.setReady("n1", true);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });

  scenario("8 no failback: a node that returns waits", async (world) => {
    await ip1OnN1(world, "n2");
    await world.nodes.setReady("n1", false);
    await world.pass();
    await world.nodes.setReady("n1", true);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n2"]);
    expect((await world.pools.status("web")).assignableNodes).toEqual(["n1"]);
  });

  scenario("18 attached by hand: a free address found on the waiting node is accepted there", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("web", { ips: [ip(1), ip(2)], match: { nodeLabel: "web" } });
    await world.nodes.patch("n1", { metadata: { labels: { web: "" } } });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 unassigned (NoCandidate)"]);
    await world.nodes.patch("n2", { metadata: { labels: { web: "" } } });
    world.cloud.put(ip(2), "n2");
    // What a process saw free a moment ago counts as free.
    world.advance(3000);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
    expect((await world.pools.status("web")).assignableNodes).toEqual([]);
  });

  scenario("42 region edited: running pairs are not touched", async (world) => {
    await ip1OnN1(world, "n2");
    await world.pools.edit("web", { region: "ams3" });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });

  scenario("42b region edited: new acquisitions use it", async (world) => {
    await world.pools.create("web", { desiredIPs: 1 });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create in nyc3"]);
    await world.pools.edit("web", { region: "ams3", desiredIPs: 2 });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create in ams3"]);
  });

  scenario("75 match changed: the address follows the selector", async (world) => {
    await world.machines("n1", "n2");
    await world.nodes.patch("n1", { metadata: { labels: { app: "a" } } });
    await world.nodes.patch("n2", { metadata: { labels: { app: "b" } } });
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "app=a" } });
    await world.pass();
    await world.pools.edit("web", { match: { nodeLabel: "app=b" } });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    expect(await world.nodes.annotations()).toEqual({ n2: "ip1" });
  });

  scenario(
    "five nodes replaced under the same names at once: every address moves to the new droplet of its turn",
    async (world) => {
      const numbers = [1, 2, 3, 4, 5];
      await world.machines(...numbers.map((number) => `n${number}`));
      for (const number of numbers) world.cloud.address(ip(number));
      await world.pools.create("web", { ips: numbers.map(ip) });
      await world.pass();
      for (const number of numbers) {
        await world.nodes.delete(`n${number}`);
        world.cloud.droplet(200 + number);
        await world.nodes.create(`n${number}`, { droplet: 200 + number });
      }
      await world.pass();
      expect(world.cloudWrites()).toHaveLength(5);
      expect(Object.values(world.cloud.addresses()).toSorted()).toEqual(["n101", "n102", "n103", "n104", "n105"]);
      const { ips } = await world.pools.status("web");
      expect(Object.values(ips).every(({ state }) => state === "active")).toBe(true);
    },
    { checksAnnotations: false },
  );

  scenario(
    "250 addresses over two pages of the list: the steady pass reads both pages and nothing else",
    async (world) => {
      const numbers = Array.from({ length: 250 }, (_, index) => index + 1);
      for (const number of numbers) world.cloud.address(ip(number));
      await world.machines("n1", "n2");
      await world.pools.create("web", { ips: numbers.map(ip) });
      await world.pass();
      expect(world.cloudWrites().toSorted()).toEqual(["assign ip1 to n1", "assign ip2 to n2"]);
      await world.pass();
      expect(world.cloudCalls()).toEqual(["list", "list"]);
      expect((await world.show()).filter((line) => line.includes("active"))).toEqual([
        "ip1 active n1",
        "ip2 active n2",
      ]);
    },
    { worlds: ["memory", "sandbox"] },
  );

  scenario("nobody is preempted: a free address does not displace the one a node holds", async (world) => {
    await ip1OnN1(world);
    world.cloud.address(ip(2));
    await world.pools.edit("web", { ips: [ip(2), ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip1 active n1", "ip2 unassigned (NoCandidate)"]);
  });

  scenario(
    "free addresses are taken in order: unassigned, then of nodes gone, then of nodes that do not match",
    async (world) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2, 3]) world.cloud.address(ip(number));
      await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)] });
      await world.pass();
      await world.nodes.setReady("n1", false);
      await world.nodes.delete("n2");
      await world.machines("n3");
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip3 to n3"]);
      await world.machines("n4");
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip2 to n4"]);
      await world.machines("n5");
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
    },
  );
}
