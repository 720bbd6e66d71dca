import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const BUSY = "Droplet already has a pending event.";

/** ip1 on n1 whose only pod is ready; n2 waits with a ready pod of its own. */
async function aServedPool(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.machines("n1", "n2");
  await world.pods.create("p1", { node: "n1", labels: { app: "web" } });
  await world.pods.create("p2", { node: "n2", labels: { app: "web" } });
  world.cloud.address(ip(1));
  const match = { podNamespace: world.namespaceName("shop"), podLabel: "app=web" };
  await world.pools.create("web", { ips: [ip(1)], match, ...spec });
  await world.pass();
  expect(await world.show()).toEqual(["ip1 active n1"]);
}

/** Lets so much time pass just before the n-th call of a method, and then something happens. */
function during(world: World, method: string, nth: number, seconds: number, event: () => Promise<void>): void {
  const wait = (left: number): void =>
    world.before(method, async () => {
      if (left > 1) return wait(left - 1);
      world.advance(seconds * SECOND);
      await event();
    });
  wait(nth);
}

async function label(world: World, node: string, role: string | null): Promise<void> {
  await world.nodes.patch(node, { metadata: { labels: { role } } });
}

async function expectUntouched(world: World): Promise<void> {
  expect((await world.pools.status("web")).assignments ?? 0, "no other assignment was accepted").toBe(1);
  expect(await world.show()).toEqual(["ip1 active n1"]);
  expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
}

/** A holder that is healthy again by the time of a call keeps its address (P7), however long the run has been at it. */
export function recoveredHolderScenarios(scenario: Register): void {
  scenario(
    "the target is busy, and the holder's pod is ready again before the next attempt: nothing moves",
    async (world) => {
      await aServedPool(world);
      await world.pods.setReady("p1", false);
      world.fail({ side: "cloud", operation: "assign", kind: "422", message: BUSY, times: 1 });
      during(world, "assign", 1, 0, () => world.pods.setReady("p1", true));
      await world.pass();
      world.clearFaults();
      await world.pass();
      await expectUntouched(world);
    },
  );

  scenario(
    "the target is busy, and the holder is ready again before the next attempt: nothing moves",
    async (world) => {
      await aServedPool(world);
      await world.nodes.setReady("n1", false);
      world.fail({ side: "cloud", operation: "assign", kind: "422", message: BUSY, times: 2 });
      during(world, "assign", 2, 0, () => world.nodes.setReady("n1", true));
      await world.pass();
      world.clearFaults();
      await world.pass();
      await expectUntouched(world);
    },
  );

  scenario(
    "the provider answers slowly, and the holder's pod is ready again meanwhile: nothing moves",
    async (world) => {
      await aServedPool(world);
      await world.pods.setReady("p1", false);
      during(world, "getAddress", 1, 18, () => world.pods.setReady("p1", true));
      await world.pass();
      await world.pass();
      await expectUntouched(world);
    },
  );

  scenario("a status write takes long, and the holder's pod is ready again meanwhile: nothing moves", async (world) => {
    await aServedPool(world, { assignmentCoolOffSeconds: 1 });
    world.advance(60 * SECOND);
    await world.pods.setReady("p1", false);
    during(world, "patchPoolStatus", 1, 5, () => world.pods.setReady("p1", true));
    during(world, "patchPoolStatus", 2, 5, () => world.pods.setReady("p1", true));
    await world.pass();
    await world.pass();
    await expectUntouched(world);
  });

  scenario("the holder's pod came back on another pod of the same node: nothing moves", async (world) => {
    await aServedPool(world);
    await world.pods.setReady("p1", false);
    during(world, "getAddress", 1, 10, () => world.pods.create("p3", { node: "n1", labels: { app: "web" } }));
    await world.pass();
    await world.pass();
    await expectUntouched(world);
  });

  scenario("a pod of another node becomes ready meanwhile: the move is made all the same", async (world) => {
    await aServedPool(world);
    await world.machines("n3");
    await world.pods.setReady("p1", false);
    during(world, "getAddress", 1, 10, () => world.pods.create("p3", { node: "n3", labels: { app: "web" } }));
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2"]);
    await world.pass();
  });

  scenario("the holder is another not-ready one meanwhile: the move is made all the same", async (world) => {
    await aServedPool(world);
    await world.pods.setReady("p1", false);
    during(world, "getAddress", 1, 10, () => world.nodes.setReady("n1", false));
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n2"]);
    await world.pass();
  });

  scenario("the node's object was gone and is there again, ready, before the call: nothing moves", async (world) => {
    await aServedPool(world);
    await world.nodes.delete("n1");
    during(world, "getAddress", 1, 10, async () => world.nodes.create("n1"));
    await world.pass();
    await world.pass();
    await expectUntouched(world);
  });

  scenario("an address that another one needs the place of stays where its node matches again", async (world) => {
    await world.machines("n1", "n2");
    await label(world, "n1", "web");
    world.cloud.address(ip(1), { on: "n1" });
    world.cloud.address(ip(2));
    await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "role=web" } });
    await world.pass();
    await label(world, "n1", null);
    await world.pools.create("other", { ips: [ip(2)], match: { nodeLabel: "role!=web" } });
    await world.nodes.setReady("n2", false);
    during(world, "getAddress", 1, 10, () => label(world, "n1", "web"));
    await world.pass();
    await world.pass();
    expect(world.cloud.addresses()).toMatchObject({ ip1: "n1" });
  });

  scenario("a holder whose grace begins meanwhile keeps its address until that is over", async (world) => {
    await aServedPool(world, { gracePeriodSeconds: 60 });
    await world.nodes.patch("n1", { spec: { taints: [{ key: "maintenance", effect: "NoSchedule" }] } });
    during(world, "getAddress", 1, 10, async () => {
      await world.nodes.patch("n1", { spec: { taints: null } });
      await world.pods.setReady("p1", false);
    });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1 (Grace)"]);
  });
}
