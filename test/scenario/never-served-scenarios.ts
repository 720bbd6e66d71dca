import { expect } from "vitest";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** Two of `www` on n1 and n2, and ip3 of `old` on n3, which fails. `other` asks for ip3 in the place of `old`, and `www` lets go of ip1. */
async function leftOnLostNode(world: World, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await publishedPool(world, "digitalocean", ["n1", "n2"]);
  await world.machines("n3");
  world.cloud.address(ip(3));
  await world.pools.create("old", { ips: [ip(3)] });
  await world.pass();
  expect(await world.show("old")).toEqual(["ip3 active n3"]);
  await world.nodes.setReady("n3", false);
  await world.pass();
  expect(world.cloudWrites()).toEqual([]);
  await world.pools.delete("old");
  await world.pools.create("other", { ips: [ip(3)], ...more });
  await world.pools.edit("web", { ips: [ip(2)] });
}

/** ip1 makes room for ip3 once no resolver has it. */
async function waitsForDrain(world: World): Promise<void> {
  world.advance(30 * SECOND);
  await world.pass();
  expect(world.cloudWrites()).toEqual([]);
  world.advance(31 * SECOND);
  await world.pass();
  expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
  expect(await world.show("other")).toEqual(["ip3 active n1"]);
  expect((await world.pools.status("other")).ips[ip(3)]).not.toHaveProperty("inherited");
}

/** Two of `www` on n1 and n2, and ip3 on n3, which is up and where a pool that is gone left it. `other` is to have ip3, and does not ask for n3. */
async function leftOnOtherNode(world: World): Promise<void> {
  const match = { nodeLabel: "role!=far" };
  await publishedPool(world, "digitalocean", ["n1", "n2"], { match });
  world.cloud.droplet("n3");
  await world.nodes.create("n3", { labels: { role: "far" } });
  world.cloud.address(ip(3));
  await world.pools.create("old", { ips: [ip(3)], match: { nodeLabel: "role=far" } });
  await world.pass();
  expect(await world.show("old")).toEqual(["ip3 active n3"]);
  await world.pools.delete("old");
  await world.pass();
}

/** Addresses that never served their pool, and stand on a node that is lost, or not the pool's: nobody waits for them. */
export function neverServedScenarios(scenario: Register): void {
  onOtherNodes(scenario);
  onLostNodes(scenario);
}

function onOtherNodes(scenario: Register): void {
  const match = { nodeLabel: "role!=far" };

  scenario("an address on a node of no pool's waits until what makes room for it has drained", async (world) => {
    await leftOnOtherNode(world);
    await world.pools.create("other", { ips: [ip(3)], match });
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    await waitsForDrain(world);
  });

  scenario("an address that was parked on such a node for long waits for the drain, too", async (world) => {
    await leftOnOtherNode(world);
    await world.pools.create("other", { ips: [ip(3)], match });
    await world.pass();
    expect(await world.show("other")).toEqual(["ip3 no-match n3 (NoCandidate)"]);
    world.advance(600 * SECOND);
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    await waitsForDrain(world);
  });

  scenario(
    "a spare on another node takes the place of an address that leaves the spec once it has drained",
    async (world) => {
      await leftOnOtherNode(world);
      await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      await world.pools.edit("web", { ips: [ip(2), ip(3)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2", "ip3"]);
    },
  );

  scenario("a name that nobody can read yet keeps no such address from a node that is free", async (world) => {
    await leftOnOtherNode(world);
    await world.pools.create("other", { ips: [ip(3)], match });
    await world.pass();
    world.dns.zone("cloudflare");
    world.fail({ side: "dns", provider: "cloudflare", operation: "records", kind: "500", times: 50 });
    await world.pools.create("third", {
      ips: [ip(4)],
      dnsRecordSet: www("cloudflare", { recordName: "third" }),
      match,
    });
    await world.machines("n4");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip3 to n4"]);
    world.clearFaults();
    world.advance(61 * SECOND);
    await world.pass();
  });
}

function onLostNodes(scenario: Register): void {
  scenario(
    "an address that another pool left on a lost node waits until what makes room has drained",
    async (world) => {
      await leftOnLostNode(world);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      expect(await world.show("other")).toEqual(["ip3 no-match n3 (Draining)"]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      await waitsForDrain(world);
    },
  );

  scenario("the lost node of such an address is deleted while it waits", async (world) => {
    await leftOnLostNode(world);
    await world.pass();
    await world.nodes.delete("n3");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    await waitsForDrain(world);
  });

  scenario("the machine of such an address is destroyed while it waits", async (world) => {
    await leftOnLostNode(world);
    await world.pass();
    world.cloud.removeDroplet("n3");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    await world.nodes.delete("n3");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await waitsForDrain(world);
  });

  scenario("runs that die anywhere while such an address waits leave the next one to wait", async (world) => {
    await leftOnLostNode(world);
    for (let write = 1; await world.crash(write); write += 1) expect(world.cloudWrites()).toEqual([]);
    world.advance(20 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(61 * SECOND);
    for (let write = 1; await world.crash(write); write += 1) world.advance(5 * SECOND);
    await world.pass();
    expect(await world.show("other")).toEqual(["ip3 active n1"]);
  });

  scenario("an address that could not be sent anywhere has served its pool no more than before", async (world) => {
    await leftOnLostNode(world);
    await world.pass();
    world.advance(61 * SECOND);
    world.fail({ side: "cloud", operation: "assign", kind: "500", times: 50 });
    await world.pass();
    expect((await world.pools.status("other")).ips[ip(3)]).toMatchObject({ nodeName: "n3", inherited: true });
    world.clearFaults();
    world.advance(61 * SECOND);
    await world.pass();
    expect(await world.show("other")).toEqual(["ip3 active n1"]);
  });

  scenario(
    "such an address waits although the provider is working on it for a while",
    async (world) => {
      await leftOnLostNode(world);
      await world.pass();
      world.cloud.lock(ip(3));
      await world.pass();
      expect(await world.show("other")).toEqual(["ip3 in-progress n3 (InProgress)"]);
      world.cloud.lock(ip(3), false);
      world.cloud.removeDroplet("n3");
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      await waitsForDrain(world);
    },
    { onlySingleRuns: "one that watches looks again until the provider is done, and the drain is over by then" },
  );

  scenario("pools pass addresses on in a ring while the node of one fails: what is left on it waits", async (world) => {
    await world.machines("n1", "n2", "n3", "n4");
    for (const number of [1, 2, 4, 5]) world.cloud.address(ip(number));
    world.dns.zone("digitalocean");
    const named = (recordName: string): object => ({ dnsRecordSet: www("digitalocean", { recordName }) });
    await world.pools.create("a", { ips: [ip(5), ip(4)], ...named("a") });
    await world.pools.create("b", { ips: [ip(1), ip(2)], ...named("b") });
    await world.pass();
    const node = world.cloud.addresses()["ip4"] ?? "";
    await world.nodes.setReady(node, false);
    await world.pools.create("c", { ips: [ip(4)] });
    await world.pools.edit("b", { ips: [ip(2)] });
    await world.pools.edit("a", { ips: [ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    for (let round = 0; round < 4; round += 1) {
      world.advance(61 * SECOND);
      await world.pass();
    }
    expect(await world.show("c")).toEqual([expect.stringContaining("ip4 active")]);
  });

  scenario("an address on a lost node that is the last one of its new pool's name moves at once", async (world) => {
    await leftOnLostNode(world, { dnsRecordSet: www("digitalocean", { recordName: "old" }) });
    world.dns.add("digitalocean", "old.example.com", ip(3));
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
  });

  scenario("an address that served its pool moves at once when its node is lost", async (world) => {
    await leftOnLostNode(world);
    await world.nodes.setReady("n3", true);
    await world.pass();
    expect(await world.show("other")).toEqual(["ip3 active n3"]);
    await world.nodes.setReady("n3", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
  });
}
