import { expect } from "vitest";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const OTHERS = { match: { nodeLabel: "role=other" } };
const ALL = "all.example.com";

/** Two of `web` on n1 and n2, shown by record set `nodes` as `all`, converged. Node n5 matches only pools that ask for `role=other`. */
async function shownByNodes(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.machines("n1", "n2");
  await otherMachine(world, "n5");
  for (const address of [ip(1), ip(2)]) world.cloud.address(address);
  world.dns.zone("digitalocean");
  await world.pools.create("web", { ips: [ip(1), ip(2)], match: { nodeLabel: "role!=other" } });
  await world.recordSets.create("nodes", {
    dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "all" },
    addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
    ...spec,
  });
  await world.pass();
  expect(world.dns.set("digitalocean", ALL)).toEqual(["ip1", "ip2"]);
}

async function otherMachine(world: World, name: string): Promise<void> {
  world.cloud.droplet(name);
  await world.nodes.create(name, { labels: { role: "other" } });
}

/** `web` goes, with `Retain`; `rest` takes ip2, whose node matches it, and `other` ip1, whose node does not. */
async function inherited(world: World, other: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.pools.delete("web");
  await world.pools.create("rest", { ips: [ip(2)], match: { nodeLabel: "role!=other" } });
  await world.pools.create("other", { ips: [ip(1)], ...OTHERS, ...other });
}

async function drainsAndMoves(world: World, name: string = ALL): Promise<void> {
  world.advance(50 * SECOND);
  await world.pass();
  expect(world.cloudWrites()).toEqual([]);
  world.advance(11 * SECOND);
  await world.pass();
  expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
  await world.pass();
  expect(world.writes()).toEqual([]);
  expect(await world.show("other")).toEqual(["ip1 active n5"]);
  expect((await world.pools.status("other")).ips[ip(1)]).not.toHaveProperty("inherited");
  expect(world.dns.set("digitalocean", name)).toContain("ip2");
}

/** Addresses whose pool is gone, and whose names are not. */
export function inheritedScenarios(scenario: Register): void {
  byRecordSet(scenario);
  byPool(scenario);
  disturbed(scenario);
  afterwards(scenario);
}

function byRecordSet(scenario: Register): void {
  scenario(
    "an address of a deleted pool that a record set shows leaves it, and goes to its new pool's node once no resolver has it",
    async (world) => {
      await shownByNodes(world);
      await inherited(world);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", ALL)).toEqual(["ip2"]);
      const { plan } = await world.pass();
      expect(world.writes()).toEqual([]);
      expect(plan.holds).toMatchObject([
        {
          kind: "assign-ip",
          subject: ip(1),
          reason: "Draining",
          detail: "resolvers may still hand it out for another object, whose it was",
        },
      ]);
      expect(await world.show("other")).toEqual(["ip1 no-match n1 (Draining)"]);
      expect((await world.pools.status("other")).ips[ip(1)]).toMatchObject({
        inherited: true,
        drainingUntil: expect.any(String),
      });
      await drainsAndMoves(world);
      expect(world.dns.set("digitalocean", ALL)).toEqual(["ip1", "ip2"]);
    },
  );

  scenario("the new pool's drainSeconds count, too", async (world) => {
    await shownByNodes(world);
    await inherited(world, { drainSeconds: 60 });
    await world.pass();
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await drainsAndMoves(world);
  });

  scenario("the new pool asked for it before the old one went", async (world) => {
    await shownByNodes(world);
    await world.pools.create("rest", { ips: [ip(2)], match: { nodeLabel: "role!=other" } });
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    await world.pass();
    expect(await world.show("other")).toEqual(["ip1 error (Conflict)"]);
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", ALL)).toEqual(["ip2"]);
    await drainsAndMoves(world);
  });

  scenario("an address whose new pool has matching nodes only stays where it is, and in the name", async (world) => {
    await shownByNodes(world);
    await world.pools.delete("web");
    await world.pools.create("rest", { ips: [ip(1), ip(2)], match: { nodeLabel: "role!=other" } });
    await world.pass();
    expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
    expect(await world.show("rest")).toEqual(["ip1 active n1", "ip2 active n2"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });

  scenario(
    "both addresses of a deleted pool go to another one: one after another, so that the name always answers",
    async (world) => {
      await shownByNodes(world);
      await otherMachine(world, "n6");
      await world.pools.delete("web");
      await world.pools.create("other", { ips: [ip(1), ip(2)], ...OTHERS });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", ALL)).toEqual(["ip2"]);
      await world.pools.edit("other", { ips: [ip(2), ip(1)] });
      await world.pass();
      await world.pass();
      expect(world.writes()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
      expect(world.dns.set("digitalocean", ALL)).toEqual(["ip1"]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip2 to n6"]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      expect(world.dns.set("digitalocean", ALL)).toEqual(["ip1", "ip2"]);
    },
  );

  scenario(
    "the only address of a name goes to its new pool's node at once: there is nothing to drain to",
    async (world) => {
      await shownByNodes(world);
      await world.pools.edit("web", { ips: [ip(1)] });
      await world.pass();
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.dns.set("digitalocean", ALL)).toEqual(["ip1"]);
      await world.pools.delete("web");
      await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
      expect(world.dns.set("digitalocean", ALL)).toEqual(["ip1"]);
    },
  );
}

function byPool(scenario: Register): void {
  scenario(
    "a new pool that takes the name of a deleted one lets the addresses drain that it does not take",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"], { match: { nodeLabel: "role!=other" } });
      await otherMachine(world, "n5");
      await world.pools.delete("web");
      await world.pools.create("edge", {
        ips: [ip(2)],
        match: { nodeLabel: "role!=other" },
        dnsRecordSet: www("digitalocean"),
      });
      await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      await drainsAndMoves(world, WWW);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    },
  );

  scenario("a new pool that takes name and addresses of a deleted one moves one after another", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"], { match: { nodeLabel: "role!=other" } });
    await otherMachine(world, "n5");
    await otherMachine(world, "n6");
    await world.pools.delete("web");
    await world.pools.create("edge", { ips: [ip(1), ip(2)], ...OTHERS, dnsRecordSet: www("digitalocean") });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    for (let round = 0; round < 2; round += 1) {
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toHaveLength(1);
      await world.pass();
    }
    expect(await world.show("edge")).toEqual(["ip1 active n5", "ip2 active n6"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });
}

/** What else happens while an inherited address drains. */
function disturbed(scenario: Register): void {
  scenario(
    "a run that dies anywhere while an inherited address leaves its name leaves the next one to wait",
    async (world) => {
      await shownByNodes(world);
      await inherited(world);
      for (let write = 1; await world.crash(write); write += 1) expect(world.cloudWrites()).toEqual([]);
      world.advance(40 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(30 * SECOND);
      for (let write = 1; await world.crash(write); write += 1) world.advance(5 * SECOND);
      await world.pass();
      expect(await world.show("other")).toEqual(["ip1 active n5"]);
    },
  );

  scenario(
    "a run that dies anywhere while an address leaves the name of a new pool leaves the next one to wait",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"], { match: { nodeLabel: "role!=other" } });
      await otherMachine(world, "n5");
      await world.pools.delete("web");
      await world.pools.create("edge", {
        ips: [ip(2)],
        match: { nodeLabel: "role!=other" },
        dnsRecordSet: www("digitalocean"),
      });
      await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
      for (let write = 1; await world.crash(write); write += 1) expect(world.cloudWrites()).toEqual([]);
      world.advance(40 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
    },
  );

  scenario("a node that fails while the inherited address on it drains: the address moves at once", async (world) => {
    await shownByNodes(world);
    await inherited(world);
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
  });

  scenario("a name that cannot be written keeps an inherited address where it is", async (world) => {
    await shownByNodes(world);
    await inherited(world);
    world.fail({ side: "dns", provider: "digitalocean", operation: "remove-record", kind: "500", times: 50 });
    await world.pass();
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.clearFaults();
    world.advance(600 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", ALL)).toEqual(["ip2"]);
    await drainsAndMoves(world);
  });

  scenario("a suspended new pool leaves an inherited address where it is, and in the name", async (world) => {
    await shownByNodes(world);
    await inherited(world, { suspend: true });
    await world.pass();
    await world.pass();
    expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
    expect(world.dns.set("digitalocean", ALL)).toEqual(["ip1", "ip2"]);
    await world.pools.edit("other", { suspend: false });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", ALL)).toEqual(["ip2"]);
    await drainsAndMoves(world);
  });

  scenario("a new pool that is suspended within a drain has not forgotten it", async (world) => {
    await shownByNodes(world);
    await inherited(world);
    await world.pass();
    await world.pools.edit("other", { suspend: true });
    await world.pass();
    await world.pools.edit("other", { suspend: false });
    world.advance(40 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(21 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
  });

  scenario(
    "an inherited address that nobody uses makes room for another one only once no resolver has it",
    async (world) => {
      await shownByNodes(world);
      world.cloud.address(ip(3));
      world.cloud.address(ip(4));
      await inherited(world, { ips: [ip(4), ip(1)], desiredIPs: 1 });
      await world.pools.create("third", { ips: [ip(3)], match: { nodeLabel: "kubernetes.io/hostname=n1" } });
      await world.nodes.patch("n1", { metadata: { labels: { "kubernetes.io/hostname": "n1" } } });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip4 to n5"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n1"]);
    },
  );
}

/** The new pool comes after the name has let the address go. */
function afterwards(scenario: Register): void {
  scenario(
    "a pool that takes an address soon after it has left a name waits until no resolver has it",
    async (world) => {
      await shownByNodes(world);
      await world.pools.delete("web");
      await world.pools.create("rest", { ips: [ip(2)], match: { nodeLabel: "role!=other" } });
      await world.pass();
      await world.pass();
      expect(world.dns.set("digitalocean", ALL)).toEqual(["ip2"]);
      expect((await world.recordSets.status("nodes")).leftDNS).toMatchObject([{ address: ip(1) }]);
      await world.pass();
      expect(world.writes()).toEqual([]);
      world.advance(20 * SECOND);
      await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(30 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(11 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
      world.advance(600 * SECOND);
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
  );

  scenario(
    "an address that serves nobody, and that a name of nodes shows as its last one, does not enter the name of its new pool",
    async (world) => {
      await shownByNodes(world);
      world.dns.add("digitalocean", WWW, ip(9));
      await world.pools.delete("web");
      await world.pools.create("other", {
        ips: [ip(1), ip(2)],
        match: { nodeLabel: "role=late" },
        dnsRecordSet: www("digitalocean"),
      });
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip9"]);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip9"]);
      expect(world.cloudWrites()).toEqual([]);
      world.cloud.droplet("n7");
      await world.nodes.create("n7", { labels: { role: "late" } });
      world.advance(61 * SECOND);
      await world.pass();
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toHaveLength(1);
      expect(world.dns.set("digitalocean", WWW)).not.toContain("ip9");
    },
  );

  scenario("a pool that takes an address long after it has left a name does not wait", async (world) => {
    await shownByNodes(world);
    await world.pools.delete("web");
    await world.pools.create("rest", { ips: [ip(2)], match: { nodeLabel: "role!=other" } });
    await world.pass();
    await world.pass();
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.writes()).toEqual([]);
    await world.pools.create("other", { ips: [ip(1)], ...OTHERS });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n5"]);
  });

  scenario(
    "the node of a new pool comes after the address has left the name: it still drains",
    async (world) => {
      await shownByNodes(world);
      await inherited(world, { match: { nodeLabel: "role=late" } });
      await world.pass();
      await world.pass();
      expect(world.writes()).toEqual([]);
      expect(world.dns.set("digitalocean", ALL)).toEqual(["ip2"]);
      world.advance(20 * SECOND);
      world.cloud.droplet("n7");
      await world.nodes.create("n7", { labels: { role: "late" } });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(41 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n7"]);
    },
    { onlySingleRuns: "a watcher whose names are just settling takes out what nobody waits for at its interval" },
  );
}
