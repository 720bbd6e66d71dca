import { expect } from "vitest";
import { www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const SECOND = 1000;
const B = "b.example.com";
const CORDON = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** Pool `a` has ip5 on n5, pool `b` ip1 on n1, both under names of their own. No node is of both, and ip2 is free. */
async function full(world: World, { dns = true, b = {} }: { readonly dns?: boolean; readonly b?: Spec } = {}) {
  world.dns.zone("digitalocean");
  for (const [pool, node, address] of [
    ["a", "n5", ip(5)],
    ["b", "n1", ip(1)],
  ] as const) {
    await machine(world, node, pool);
    world.cloud.address(address);
    const name = dns ? { dnsRecordSet: www("digitalocean", { recordName: pool }) } : {};
    const match = { nodeLabel: `role=${pool}` };
    await world.pools.create(pool, { ips: [address], match, ...name, ...(pool === "b" ? b : {}) });
  }
  world.cloud.address(ip(2));
  await world.pass();
  expect(world.cloud.addresses()).toMatchObject({ ip1: "n1", ip5: "n5" });
}

async function machine(world: World, name: string, role: string): Promise<void> {
  world.cloud.droplet(name);
  await world.nodes.create(name, { labels: { role } });
}

/** A person gives ip1 to `a`, and ip2 to `b` in its place. */
async function handedOver(world: World): Promise<void> {
  await world.pools.edit("b", { ips: [ip(2)] });
  await world.pools.edit("a", { ips: [ip(5), ip(1)] });
}

async function minutes(world: World, count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    await world.pass();
    world.advance(61 * SECOND);
  }
}

/** ip1 is on no machine, and goes to the next node of its own pool. */
async function changedPlaces(world: World): Promise<void> {
  expect(await world.show("b")).toEqual(["ip2 active n1"]);
  expect(await world.show("a")).toEqual(["ip1 unassigned (NoCandidate)", "ip5 active n5"]);
  await machine(world, "n6", "a");
  await world.pass();
  expect(world.cloudWrites()).toEqual(["assign ip1 to n6"]);
  await minutes(world, 2);
  expect(await world.show("a")).toEqual(["ip1 active n6", "ip5 active n5"]);
}

/** An address on a node that its own object never wants makes room for what is to serve there, and for nothing else. */
export function strandedScenarios(scenario: Register): void {
  makesRoom(scenario);
  stays(scenario);
  disturbed(scenario);
  keptByNames(scenario);
}

function makesRoom(scenario: Register): void {
  for (const dns of [true, false])
    scenario(
      `an address that is handed to a pool without a free node leaves its machine to the next one, ${dns ? "with" : "without"} names`,
      async (world) => {
        await full(world, { dns });
        await handedOver(world);
        await world.pass();
        expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip2 to n1"]);
        expect(world.dns.set("digitalocean", B)).toEqual(dns ? ["ip2"] : []);
        expect(world.dns.history("digitalocean", B)).not.toContain("");
        await world.pass();
        expect(world.writes()).toEqual([]);
        await changedPlaces(world);
      },
    );

  scenario(
    "one of two addresses is handed to a pool without a free node: it leaves its name, and drains",
    async (world) => {
      await full(world);
      await machine(world, "n2", "b");
      world.cloud.address(ip(3));
      await world.pools.edit("b", { ips: [ip(1), ip(3)] });
      await world.pass();
      expect(world.dns.set("digitalocean", B)).toEqual(["ip1", "ip3"]);
      await world.pools.edit("b", { ips: [ip(2), ip(3)] });
      await world.pools.edit("a", { ips: [ip(5), ip(1)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", B)).toEqual(["ip3"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip2 to n1"]);
      expect(world.dns.set("digitalocean", B)).toEqual(["ip2", "ip3"]);
    },
  );

  scenario(
    "two addresses are handed to a pool without a node: each leaves its machine to the next one",
    async (world) => {
      await full(world);
      await machine(world, "n2", "b");
      world.cloud.address(ip(3));
      world.cloud.address(ip(4));
      await world.pools.edit("b", { ips: [ip(1), ip(3)] });
      await world.pass();
      await world.pools.edit("b", { ips: [ip(2), ip(4)] });
      await world.pools.edit("a", { ips: [ip(5), ip(1), ip(3)] });
      await minutes(world, 4);
      expect((await world.show("b")).map((line) => line.slice(0, 10))).toEqual(["ip2 active", "ip4 active"]);
      expect(world.dns.set("digitalocean", B)).toEqual(["ip2", "ip4"]);
      expect(world.dns.history("digitalocean", B)).not.toContain("");
    },
  );

  scenario(
    "an address parked on a node that lost the label of its pool makes room for the pool that has it now",
    async (world) => {
      await full(world, { dns: false });
      await world.nodes.setReady("n5", false);
      await world.pass();
      await world.nodes.patch("n5", { metadata: { labels: { role: "b" } } });
      await world.nodes.setReady("n5", true);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      await world.pools.edit("b", { ips: [ip(1), ip(2)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip5", "assign ip2 to n5"]);
    },
  );

  scenario("a pool buys an address for its node on which another pool's address is stranded", async (world) => {
    await full(world, { b: { desiredIPs: 1 } });
    await world.pools.edit("b", { ips: [] });
    await world.pools.edit("a", { ips: [ip(5), ip(1)] });
    await minutes(world, 3);
    expect(await world.show("b")).toEqual([expect.stringContaining("active n1")]);
    expect(await world.show("a")).toEqual(["ip1 unassigned (NoCandidate)", "ip5 active n5"]);
  });
}

function stays(scenario: Register): void {
  scenario(
    "what still serves goes to the machine of a stranded address once it has drained, and enters no name before",
    async (world) => {
      await full(world);
      await machine(world, "n2", "b");
      await machine(world, "n3", "b");
      world.cloud.address(ip(3));
      await world.pools.edit("b", { ips: [ip(3), ip(2)] });
      await world.pools.edit("a", { ips: [ip(5), ip(1)] });
      await minutes(world, 2);
      expect(await world.show("b")).toEqual(["ip2 active n3", "ip3 active n2"]);
      expect(world.cloud.addresses()).toMatchObject({ ip1: "n1" });
      world.dns.clearHistory();
      await world.nodes.patch("n2", { spec: { unschedulable: true, taints: [CORDON] } });
      world.cloud.state.settings.action_delay_ms = 20 * SECOND;
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass({ deadlineMs: 5 * SECOND });
      expect(world.cloudWrites()).toEqual(["unassign ip1"]);
      world.advance(5 * SECOND);
      await world.pass({ deadlineMs: 10 * SECOND });
      expect(world.writes()).toEqual([]);
      world.advance(25 * SECOND);
      world.cloud.state.settings.action_delay_ms = 0;
      await minutes(world, 2);
      expect(await world.show("b")).toEqual(["ip2 active n3", "ip3 active n1"]);
      expect(world.dns.history("digitalocean", B)).toEqual(["ip2", "ip2 ip3"]);
    },
  );

  scenario("an address goes from a node that its pool never wants to its own free node", async (world) => {
    await full(world);
    await machine(world, "n6", "a");
    await handedOver(world);
    await minutes(world, 3);
    expect(await world.show("b")).toEqual(["ip2 active n1"]);
    expect(await world.show("a")).toEqual(["ip1 active n6", "ip5 active n5"]);
  });

  scenario("an address parked on a node that its pool wants stays there while that is cordoned", async (world) => {
    await full(world, { dns: false, b: { match: { tolerations: [{ operator: "Exists" }], nodeLabel: "role" } } });
    await world.nodes.setReady("n5", false);
    await world.pass();
    await world.nodes.patch("n5", { spec: { unschedulable: true, taints: [CORDON] } });
    await world.nodes.setReady("n5", true);
    await world.pools.edit("b", { ips: [ip(1), ip(2)] });
    await minutes(world, 3);
    expect(world.cloudWrites()).toEqual([]);
    await world.nodes.patch("n5", { spec: { unschedulable: null, taints: null } });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show("a")).toEqual(["ip5 active n5"]);
  });

  scenario("an address that serves on a node that lost the label of its pool goes on serving there", async (world) => {
    await full(world);
    await world.nodes.patch("n5", { metadata: { labels: { role: "b" } } });
    await world.pools.edit("b", { ips: [ip(1), ip(2)] });
    await minutes(world, 3);
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", "a.example.com")).toEqual(["ip5"]);
  });

  scenario("a stranded address stays where it is while nobody waits for its machine", async (world) => {
    await full(world);
    await machine(world, "n2", "b");
    await handedOver(world);
    await minutes(world, 3);
    expect(world.cloud.addresses()).toMatchObject({ ip1: "n1", ip2: "n2" });
  });

  scenario(
    "a stranded address of a suspended pool stays, and the pool that waits says who keeps its machine",
    async (world) => {
      await full(world);
      await world.pools.edit("a", { suspend: true });
      await handedOver(world);
      await minutes(world, 3);
      expect(world.cloudWrites()).toEqual([]);
      const { conditions } = await world.pools.status("b");
      const why = `${ip(1)} of pool shop/a on n1. Resume pool shop/a, or detach ${ip(1)}.`;
      expect(conditions.map(({ type, status }) => `${type}=${status}`)).toContain("Stalled=True");
      for (const { type, message } of conditions) if (type !== "Reconciling") expect(message).toContain(why);
      await world.pools.edit("a", { suspend: false });
      await minutes(world, 2);
      await changedPlaces(world);
    },
  );
}

function disturbed(scenario: Register): void {
  for (const [kind, operation] of [
    ["500", "unassign"],
    ["422", "unassign"],
    ["timeout", "unassign"],
    ["500", "assign"],
    ["422", "assign"],
  ] as const)
    scenario(`a stranded address makes room although ${operation} is answered ${kind} at first`, async (world) => {
      await full(world);
      await handedOver(world);
      world.fail({ side: "cloud", operation, kind, times: 2 });
      await minutes(world, 3);
      world.clearFaults();
      world.advance(600 * SECOND);
      await minutes(world, 2);
      expect(world.dns.history("digitalocean", B)).not.toContain("");
      await changedPlaces(world);
    });

  scenario("a stranded address makes room although runs die before each write", async (world) => {
    await full(world);
    await handedOver(world);
    for (let write = 1; write < 40 && (await world.crash(write)); write += 1) world.advance(5 * SECOND);
    await minutes(world, 3);
    expect(world.dns.history("digitalocean", B)).not.toContain("");
    await changedPlaces(world);
  });

  scenario("a stranded address whose node is given to its pool at the last moment stays there", async (world) => {
    await full(world);
    await handedOver(world);
    world.before("getAddress", async () => {
      world.advance(5 * SECOND);
      await world.nodes.patch("n1", { metadata: { labels: { role: "a" } } });
    });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await minutes(world, 2);
    expect(await world.show("a")).toEqual(["ip1 active n1", "ip5 active n5"]);
  });
}

/** A name goes on showing an address that is to leave: nothing drains for its sake, and statuses come to rest. */
function keptByNames(scenario: Register): void {
  scenario("an address that two pools gave up, and that the name of one keeps, drains once", async (world) => {
    await full(world);
    await machine(world, "n2", "b");
    world.cloud.address(ip(6));
    world.cloud.address(ip(3));
    await world.pools.edit("b", { ips: [ip(1), ip(6)] });
    await world.pass();
    for (const node of ["n1", "n2"]) await world.nodes.patch(node, { metadata: { labels: { role: "a" } } });
    await world.pass();
    await world.pools.edit("b", { ips: [ip(2)] });
    await world.pools.edit("a", { ips: [ip(5), ip(1)] });
    await world.pass();
    expect(world.dns.set("digitalocean", "a.example.com")).toEqual(["ip1", "ip5"]);
    await world.pools.edit("a", { ips: [ip(5)] });
    await minutes(world, 3);
    expect(world.dns.set("digitalocean", "a.example.com")).toEqual(["ip5"]);
    expect(world.dns.set("digitalocean", B)).toEqual(["ip1", "ip6"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    await world.pools.edit("a", { ips: [ip(5), ip(3)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", B)).toHaveLength(1);
    await minutes(world, 3);
    expect(await world.show("a")).toEqual([expect.stringContaining("ip3 active"), "ip5 active n5"]);
    expect(world.dns.history("digitalocean", B)).not.toContain("");
  });

  scenario("a name drains to no address that its suspended pool was handed and never used", async (world) => {
    await full(world);
    await machine(world, "n2", "b");
    await machine(world, "n3", "c");
    world.cloud.address(ip(3));
    world.cloud.address(ip(6));
    await world.pools.edit("b", { ips: [ip(1), ip(2)] });
    const dnsRecordSet = www("digitalocean", { recordName: "c" });
    await world.pools.create("c", { ips: [ip(3)], match: { nodeLabel: "role=c" }, dnsRecordSet });
    await world.pass();
    await world.pools.edit("c", { suspend: true, ips: [ip(2)] });
    await world.pools.edit("b", { ips: [ip(1)] });
    await minutes(world, 3);
    expect(await world.show("c")).toEqual([expect.stringContaining("ip2 no-match n2")]);
    await world.nodes.patch("n3", { metadata: { labels: { role: "a" } } });
    await world.pass();
    await world.pools.edit("c", { suspend: false });
    await world.pools.edit("a", { ips: [ip(5), ip(6)] });
    await minutes(world, 3);
    expect(await world.show("a")).toEqual(["ip5 active n5", "ip6 active n3"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });

  scenario(
    "pools hand addresses on while a record set shows them all: each leaves it before it moves",
    async (world) => {
      await full(world);
      await nodesOf(world, "a,b");
      await world.pools.edit("a", { ips: [ip(2)] });
      await world.pools.edit("b", { ips: [ip(5)] });
      await minutes(world, 5);
      expect(await world.show("a")).toEqual(["ip2 active n5"]);
      expect(await world.show("b")).toEqual(["ip5 active n1"]);
      expect(world.dns.set("digitalocean", "nodes.example.com")).toEqual(["ip2", "ip5"]);
      expect(world.dns.history("digitalocean", "nodes.example.com")).not.toContain("");
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
  );

  scenario(
    "a suspended pool's name keeps an address that a record set shows, too, and nothing drains",
    async (world) => {
      await full(world);
      await nodesOf(world, "a,b");
      await machine(world, "n6", "a");
      await world.pools.edit("a", { ips: [ip(5), ip(2)] });
      await world.pass();
      await world.pools.edit("b", { suspend: true, ips: [ip(2)] });
      await world.pools.edit("a", { ips: [ip(1)] });
      await minutes(world, 3);
      expect(await world.show("a")).toEqual(["ip1 no-match n1 (StillPublished)"]);
      expect(world.cloudWrites()).toEqual([]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      await world.pools.edit("b", { suspend: false });
      await minutes(world, 5);
      expect(await world.show("a")).toEqual([expect.stringContaining("ip1 active")]);
      expect(await world.show("b")).toEqual(["ip2 active n1"]);
    },
  );
}

/** A record set shows what pools have on the nodes of some roles. */
async function nodesOf(world: World, roles: string): Promise<void> {
  await world.recordSets.create("nodes", {
    match: { nodeLabel: `role in (${roles})` },
    addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
    dnsRecordSet: www("digitalocean", { recordName: "nodes" }),
  });
  await world.pass();
}
