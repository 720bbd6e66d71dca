import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** So many addresses the account may still get. */
function free(world: World, count: number): void {
  world.cloud.state.account.reserved_ip_limit = world.cloud.state.reserved_ips.length + count;
}

async function acquired(world: World, ...pools: readonly string[]): Promise<readonly number[]> {
  return await Promise.all(pools.map(async (pool) => (await world.pools.status(pool)).acquired.length));
}

async function stalled(world: World, pool: string): Promise<string> {
  const found = (await world.pools.status(pool)).conditions.find(({ type }) => type === "Stalled");
  return found?.status === "True" ? `${found.reason}: ${found.message}` : String(found?.status);
}

/** Pool `web` that has one address and lacks another one, then pool `mail`, which has none. */
async function oneAndNone(world: World): Promise<void> {
  await world.machines("n1", "n2", "n3");
  await world.pools.create("web", { desiredIPs: 1 });
  await world.pass();
  world.advance(SECOND);
  await world.pools.edit("web", { desiredIPs: 2 });
  await world.pools.create("mail", { desiredIPs: 1 });
}

/** The last free addresses of the account: each object gets one before any gets another. */
export function fairPurchaseScenarios(scenario: Register): void {
  scenario("fair purchases: the junior pool without any gets the last address of the account", async (world) => {
    await oneAndNone(world);
    free(world, 1);
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([1, 1]);
    expect(await stalled(world, "web")).toContain("QuotaExceeded: 1 of 2 addresses is missing");
    free(world, 1);
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([2, 1]);
  });

  scenario("fair purchases: a senior pool without any takes all but one for each that follows", async (world) => {
    await world.machines("n1");
    free(world, 4);
    // The senior one also by name: an API server tells ages apart by whole seconds.
    await world.pools.create("edge", { desiredIPs: 9 });
    world.advance(SECOND);
    await world.pools.create("mail", { desiredIPs: 2 });
    await world.pools.create("vpn", { desiredIPs: 1 });
    await world.pass();
    expect(await acquired(world, "edge", "mail", "vpn")).toEqual([2, 1, 1]);
  });

  scenario("fair purchases: the last one is kept while the pool without any waits for its next try", async (world) => {
    await oneAndNone(world);
    free(world, 1);
    await world.pools.edit("mail", { suspend: true });
    await world.pools.edit("web", { suspend: true });
    await world.pass();
    await world.pools.edit("mail", { suspend: false });
    world.fail({ side: "cloud", operation: "create", kind: "422" });
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([1, 0]);
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([1, 0]);
    const why = await stalled(world, "web");
    expect(why).toMatch(
      /^QuotaExceeded: 1 of 2 addresses is missing: the last free address of the account is kept for pool .*mail, which has none\. Ask/,
    );
    world.advance(600 * SECOND);
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([1, 1]);
  });

  scenario("fair purchases: who could not be given one keeps nothing from others", async (world) => {
    await oneAndNone(world);
    free(world, 1);
    await world.pools.edit("mail", { region: "", match: { nodeLabel: "role=mail" } });
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([2, 0]);
  });

  scenario("fair purchases: a suspended pool keeps nothing from others", async (world) => {
    await oneAndNone(world);
    free(world, 1);
    await world.pools.edit("mail", { suspend: true });
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([2, 0]);
  });

  scenario("fair purchases: an answer that got lost may have brought none: one more is kept", async (world) => {
    await oneAndNone(world);
    free(world, 1);
    await world.pools.edit("web", { suspend: true });
    world.fail({ side: "cloud", operation: "create", kind: "cut" });
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([1, 0]);
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([1, 0]);
    for (let round = 0; round < 20; round += 1) {
      world.advance(5 * SECOND);
      await world.pass();
    }
    expect(await acquired(world, "web", "mail")).toEqual([1, 1]);
  });

  scenario("fair purchases: a pool with nothing but an address of somebody else has none", async (world) => {
    await oneAndNone(world);
    world.cloud.droplet(900);
    world.cloud.address(ip(9), { on: 900 });
    free(world, 1);
    await world.pools.edit("mail", { desiredIPs: 2, ips: [ip(9)] });
    await world.pass();
    expect(await acquired(world, "web", "mail")).toEqual([1, 1]);
  });

  for (const comes of [false, true])
    scenario(
      `a node that ${comes ? "comes" : "is ready"} later stays for the address that a senior pool is about to get`,
      async (world) => {
        if (!comes) await world.machines("n1");
        if (!comes) await world.nodes.setReady("n1", false);
        await world.pools.create("edge", { desiredIPs: 1, region: "nyc3" });
        world.fail({ side: "cloud", operation: "create", kind: "timeout" });
        await world.pass();
        expect((await world.pools.status("edge")).pendingAcquisitions.length).toBe(1);
        if (comes) await world.machines("n1");
        await world.nodes.setReady("n1", true);
        world.advance(SECOND);
        world.cloud.address(ip(1));
        await world.pools.create("web", { ips: [ip(1)] });
        await world.pass();
        expect(await world.show()).toEqual(["ip1 unassigned (NoCandidate)"]);
        world.advance(31 * SECOND);
        await world.pass();
        await world.pass();
        expect(await world.show("edge")).toEqual(["new1 active n1"]);
        expect(await world.show()).toEqual(["ip1 unassigned (NoCandidate)"]);
      },
    );

  scenario("nodes stay for all the addresses that a senior pool buys one after another", async (world) => {
    await world.machines("n1", "n2", "n3", "n4");
    for (const number of [1, 2]) world.cloud.address(ip(number));
    await world.pools.create("edge", { desiredIPs: 3 });
    world.advance(SECOND);
    await world.pools.create("mail", { ips: [ip(2)] });
    world.advance(SECOND);
    await world.pools.create("web", { ips: [ip(1)] });
    world.takesMs = ({ method }) => (method === "create" ? 5 * SECOND : undefined);
    await world.pass();
    world.takesMs = undefined;
    expect(await world.show("edge")).toEqual(["new1 active n1", "new2 active n2", "new3 active n3"]);
    expect(await world.show("mail")).toEqual(["ip2 active n4"]);
    expect(await world.show()).toEqual(["ip1 unassigned (NoCandidate)"]);
  });

  scenario("nodes stay for what a senior pool buys once its purchase has an answer", async (world) => {
    await world.machines("n1", "n2", "n3");
    for (const number of [1, 2]) world.cloud.address(ip(number));
    await world.pools.create("edge", { desiredIPs: 2 });
    world.advance(SECOND);
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    world.fail({ side: "cloud", operation: "create", kind: "timeout" });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n3", "ip2 unassigned (NoCandidate)"]);
    world.advance(31 * SECOND);
    await world.pass();
    expect(await world.show("edge")).toEqual(["new1 active n1", "new2 active n2"]);
    expect(await world.show()).toEqual(["ip1 active n3", "ip2 unassigned (NoCandidate)"]);
  });
}
