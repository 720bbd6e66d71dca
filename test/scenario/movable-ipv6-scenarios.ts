import { expect } from "vitest";
import { NODE_ANNOTATIONS } from "../../src/model/node-annotations.ts";
import { WWW, www } from "./dns-scene.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import { checkInvariants, type Register } from "./scenario.ts";
import { ip, ipv6, short } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const IPV6 = { ipFamily: "IPv6" } as const;
const AAAA = `${WWW} AAAA`;
const SECOND = 1000;

/** IPv6 addresses that move between nodes, alone and beside those of IPv4. */
export function movableIPv6Scenarios(scenario: Register): void {
  fills(scenario);
  forms(scenario);
  neighbours(scenario);
  hosts(scenario);
  drifts(scenario);
  purchases(scenario);
  routed(scenario);
  crashes(scenario);
}

/** Pool `web` of IPv4 and pool `web6` of IPv6 on the same nodes, one address each a node, which publish `www` together; before the first pass. */
async function dualPools(world: World, names: readonly string[], spec6: Spec = {}): Promise<void> {
  await world.machines(...names);
  world.dns.zone("digitalocean");
  const dnsRecordSet = www("digitalocean");
  const numbers = names.map((_, index) => index + 1);
  for (const number of numbers) {
    world.cloud.address(ip(number));
    world.cloud.address(ipv6(number));
  }
  await world.pools.create("web", { ips: numbers.map(ip), dnsRecordSet });
  await world.pools.create("web6", { ...IPV6, ips: numbers.map(ipv6), dnsRecordSet, ...spec6 });
}

/** Where both families are, and what they show. */
async function both(world: World): Promise<Readonly<Record<string, unknown>>> {
  return {
    annotated: [await world.nodes.annotations(), await world.nodes.annotations("IPv6")],
    names: [world.dns.set("digitalocean", WWW), world.dns.set("digitalocean", AAAA)],
  };
}

async function readyText(world: World, pool: string): Promise<string> {
  const { conditions } = await world.pools.status(pool);
  const found = conditions.find(({ type }) => type === "Ready");
  return `${found?.status} ${found?.reason} ${found?.message}`;
}

function fills(scenario: Register): void {
  scenario("a pool of IPv6 puts its addresses on nodes, annotates them, and publishes AAAA records", async (world) => {
    await world.machines("n1", "n2");
    world.dns.zone("digitalocean");
    world.cloud.address(ipv6(1));
    world.cloud.address(ipv6(2));
    const dnsRecordSet = www("digitalocean");
    await world.pools.create("web", { ...IPV6, ips: [ipv6(1), ipv6(2)], dnsRecordSet });
    world.before("writeRecords", async () => {
      expect(await world.nodes.annotations("IPv6")).toEqual({ n1: "ip6-1", n2: "ip6-2" });
    });
    await world.pass();
    expect(world.cloudWrites().toSorted()).toEqual(["assign ip6-1 to n1", "assign ip6-2 to n2"]);
    expect(await world.show()).toEqual(["ip6-1 active n1", "ip6-2 active n2"]);
    expect(await both(world)).toEqual({
      annotated: [{}, { n1: "ip6-1", n2: "ip6-2" }],
      names: [[], ["ip6-1", "ip6-2"]],
    });
    const { publishedDNS } = await world.pools.status("web");
    expect(publishedDNS?.name).toBe(AAAA);
    expect(await readyText(world, "web")).toMatch(/^True Ready .*not seen.*Managed would let flipop host/);
  });

  scenario("a failover of IPv6 sends the address to another node, and the AAAA records stay", async (world) => {
    await world.machines("n1", "n2");
    world.dns.zone("digitalocean");
    world.cloud.address(ipv6(1));
    await world.pools.create("web", { ...IPV6, ips: [ipv6(1)], dnsRecordSet: www("digitalocean") });
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip6-1 to n2"]);
    expect(world.dnsWrites()).toEqual([]);
    expect(await both(world)).toEqual({ annotated: [{}, { n2: "ip6-1" }], names: [[], ["ip6-1"]] });
  });

  scenario("nodes carry an address of each family, and one name shows both", async (world) => {
    await dualPools(world, ["n1", "n2"]);
    await world.pass();
    expect(await both(world)).toEqual({
      annotated: [
        { n1: "ip1", n2: "ip2" },
        { n1: "ip6-1 of shop/web6", n2: "ip6-2 of shop/web6" },
      ],
      names: [
        ["ip1", "ip2"],
        ["ip6-1", "ip6-2"],
      ],
    });
    await world.machines("n3");
    await world.nodes.setReady("n1", false);
    await world.pass();
    // The machine takes one change at a time: what comes second is refused while it is busy, and asked for again.
    expect(new Set(world.cloudWrites())).toEqual(new Set(["assign ip1 to n3", "assign ip6-1 to n3"]));
    expect(world.dnsWrites()).toEqual([]);
    expect((await both(world))["annotated"]).toEqual([
      { n2: "ip2", n3: "ip1" },
      { n2: "ip6-2 of shop/web6", n3: "ip6-1 of shop/web6" },
    ]);
  });

  scenario("a record set publishes what the IPv6 annotations show, and nothing of IPv4", async (world) => {
    await dualPools(world, ["n1", "n2"]);
    await world.pools.edit("web", { dnsRecordSet: null });
    await world.pools.edit("web6", { dnsRecordSet: null });
    const addressType = "flipop.digitalocean.com/ipv6-reserved-ip";
    await world.recordSets.create("nodes", { addressType, dnsRecordSet: www("digitalocean") });
    await world.pass();
    expect((await both(world))["names"]).toEqual([[], ["ip6-1", "ip6-2"]]);
    const { state } = await world.recordSets.status("nodes");
    expect(state).toBe("active");
  });
}

function forms(scenario: Register): void {
  scenario("an address may be written in any form: it is one address, and stored in one form", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ipv6(1));
    await world.pools.create("web", { ...IPV6, ips: ["2001:DB8:0066:1:0::0001", ipv6(1)] });
    await world.pass();
    expect(await world.show()).toEqual(["ip6-1 active n1"]);
    expect(Object.keys((await world.pools.status("web")).ips)).toEqual([ipv6(1)]);
    await world.pools.edit("web", { ips: [ipv6(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
  });

  scenario(
    "an entry of the other family is an error of that entry, and names the field that would allow it",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ipv6(1));
      await world.pools.create("web", { ...IPV6, ips: [ipv6(1), ip(9)] });
      await world.pass();
      expect(await world.show()).toEqual(["ip6-1 active n1", "ip9 error (InvalidIP)"]);
      const { ips } = await world.pools.status("web");
      expect(ips[ip(9)]?.error).toBe(`"${ip(9)}" is an IPv4 address: spec.ipFamily would have to be IPv4`);
    },
    { worlds: ["memory", "sandbox"] },
  );
}

function neighbours(scenario: Register): void {
  const MEMORY = { worlds: ["memory"] } as const;
  scenario(
    "while the provider refuses to list IPv6 addresses, IPv4 fails over as ever, and AAAA records stay",
    async (world) => {
      await dualPools(world, ["n1"]);
      await world.pass();
      await world.machines("n2");
      await world.nodes.setReady("n1", false);
      world.fail({ side: "cloud", operation: "list", subject: "IPv6", kind: "403", times: 0 });
      world.fail({ side: "cloud", operation: "get", subject: ipv6(1), kind: "403", times: 0 });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
      expect(await world.show()).toEqual(["ip1 active n2"]);
      expect((await both(world))["names"]).toEqual([["ip1"], ["ip6-1"]]);
      expect(await readyText(world, "web")).toMatch(/^True Ready /);
      expect(await readyText(world, "web6")).toMatch(/^False /);
      world.clearFaults();
      // A process that keeps running reads once a minute what was refused.
      world.advance(60_000);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip6-1 to n2"]);
    },
    MEMORY,
  );

  scenario(
    "while the provider refuses to list IPv4 addresses, IPv6 fails over as ever, and A records stay",
    async (world) => {
      await dualPools(world, ["n1"]);
      await world.pass();
      await world.machines("n2");
      await world.nodes.setReady("n1", false);
      world.fail({ side: "cloud", operation: "list", subject: "", kind: "403", times: 0 });
      world.fail({ side: "cloud", operation: "get", subject: ip(1), kind: "403", times: 0 });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip6-1 to n2"]);
      expect((await both(world))["names"]).toEqual([["ip1"], ["ip6-1"]]);
      world.clearFaults();
      // A process that keeps running reads once a minute what was refused.
      world.advance(60_000);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
    },
    MEMORY,
  );

  scenario(
    "an IPv6 assignment that is refused for ever does not keep IPv4 from its node, nor its name",
    async (world) => {
      await dualPools(world, ["n1", "n2"]);
      world.fail({ side: "cloud", operation: "assign", subject: ipv6(1), kind: "422", times: 0, message: "no" });
      await world.pass();
      expect((await both(world))["names"]).toEqual([["ip1", "ip2"], ["ip6-2"]]);
      expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
      world.clearFaults();
      world.advance(60 * SECOND);
      await world.pass();
      expect((await both(world))["names"]).toEqual([
        ["ip1", "ip2"],
        ["ip6-1", "ip6-2"],
      ]);
    },
    MEMORY,
  );

  scenario(
    "reading IPv6 addresses takes a minute: IPv4 is on its new node long before",
    async (world) => {
      await dualPools(world, ["n1"]);
      await world.pass();
      await world.machines("n2");
      await world.nodes.setReady("n1", false);
      let assignedAtMs = Number.POSITIVE_INFINITY;
      const beganAtMs = world.nowMs();
      world.takesMs = ({ port, method, args }) => {
        if (method === "assign" && args[0] === ip(1)) assignedAtMs = Math.min(assignedAtMs, world.nowMs());
        return port === "IPv6 addresses" && method !== "assign" ? 14 * SECOND : 0;
      };
      await world.pass({ settle: true });
      world.takesMs = undefined;
      expect(assignedAtMs - beganAtMs).toBeLessThan(2 * SECOND);
      await world.pass();
      expect((await both(world))["annotated"]).toEqual([{ n2: "ip1" }, { n2: "ip6-1 of shop/web6" }]);
    },
    MEMORY,
  );

  scenario("the pool of one family is deleted: its records go by its own policy, the others stay", async (world) => {
    await dualPools(world, ["n1"], { reclaimPolicy: "Delete" });
    await world.pass();
    world.dnsSafety.allowEnd(AAAA);
    await world.pools.delete("web6");
    await world.pass();
    await world.pass();
    expect((await both(world))["names"]).toEqual([["ip1"], []]);
    expect((await both(world))["annotated"]).toEqual([{ n1: "ip1" }, {}]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });

  scenario("a second pool of the same family and name is told whose it is", async (world) => {
    await dualPools(world, ["n1"]);
    await world.pass();
    world.advance(SECOND);
    world.cloud.address(ipv6(7));
    await world.pools.create("late", { ...IPV6, ips: [ipv6(7)], dnsRecordSet: www("digitalocean") });
    await world.pass();
    expect((await both(world))["names"]).toEqual([["ip1"], ["ip6-1"]]);
    expect(await readyText(world, "late")).toContain("False");
  });
}

function hosts(scenario: Register): void {
  const MANAGED = { hostAddress: "Managed" } as const;
  scenario("a host is told its IPv6 address where flipop host manages it, apart from IPv4", async (world) => {
    await dualPools(world, ["n1", "n2"], MANAGED);
    await world.pass();
    expect(await world.nodes.hosts("IPv6")).toEqual({ n1: "ip6-1", n2: "ip6-2" });
    expect(await world.nodes.hosts()).toEqual({});
    expect(await readyText(world, "web6")).toContain("flipop host puts the addresses on the hosts");
    await world.pools.edit("web6", { hostAddress: "External" });
    await world.pass();
    expect(await world.nodes.hosts("IPv6")).toEqual({});
    expect((await both(world))["annotated"]).toEqual([
      { n1: "ip1", n2: "ip2" },
      { n1: "ip6-1 of shop/web6", n2: "ip6-2 of shop/web6" },
    ]);
  });
}

function drifts(scenario: Register): void {
  scenario("what a person wrote in another form is the same address", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ipv6(1));
    await world.pools.create("web", { ...IPV6, ips: [ipv6(1)], hostAddress: "Managed" });
    await world.pass();
    const names = NODE_ANNOTATIONS.IPv6;
    const written = ipv6(1).toUpperCase();
    await world.nodes.patch("n1", { metadata: { annotations: { [names.host]: written, [names.address]: written } } });
    await world.nodes.patch("n2", { metadata: { annotations: { [names.host]: written, [names.address]: written } } });
    await world.pass();
    expect(await world.nodes.annotations("IPv6")).toEqual({ n1: "ip6-1" });
    expect(await world.nodes.hosts("IPv6")).toEqual({ n1: "ip6-1" });
    await world.nodes.patch("n1", { metadata: { annotations: { [names.host]: written } } });
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(await world.nodes.annotations("IPv6")).toEqual({ n2: "ip6-1" });
    expect(await world.nodes.hosts("IPv6")).toEqual({ n2: "ip6-1" });
  });

  scenario("what somebody moved, wrote into the annotations or into the records is put right", async (world) => {
    await dualPools(world, ["n1", "n2"]);
    await world.pass();
    await world.nodes.patch("n1", {
      metadata: { annotations: { "flipop.digitalocean.com/ipv6-reserved-ip": null } },
    });
    await world.nodes.patch("n2", {
      metadata: { annotations: { "flipop.digitalocean.com/ipv6-reserved-ip": ip(1) } },
    });
    await world.pass();
    expect(
      world
        .kubeWrites()
        .filter((line) => line !== "event")
        .toSorted(),
    ).toEqual(["annotate n1", "annotate n2"]);
    expect((await both(world))["annotated"]).toEqual([
      { n1: "ip1", n2: "ip2" },
      { n1: "ip6-1 of shop/web6", n2: "ip6-2 of shop/web6" },
    ]);
    world.cloud.put(ipv6(1), undefined);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip6-1 to n1"]);
    expect(world.dnsWrites()).toEqual([]);
  });

  scenario("an address leaves the spec: out of the AAAA records first, and IPv4 is not touched", async (world) => {
    await dualPools(world, ["n1", "n2"]);
    await world.pass();
    await world.pools.edit("web6", { ips: [ipv6(1)] });
    await world.pass();
    expect((await both(world))["names"]).toEqual([["ip1", "ip2"], ["ip6-1"]]);
    expect((await both(world))["annotated"]).toEqual([{ n1: "ip1", n2: "ip2" }, { n1: "ip6-1 of shop/web6" }]);
    expect(world.cloudWrites()).toEqual([]);
    expect((await world.pools.status("web6")).released.map((one) => one.ip)).toEqual([ipv6(2)]);
  });
}

function purchases(scenario: Register): void {
  scenario(
    "an IPv6 purchase that hangs keeps no IPv4 address from being bought",
    async (world) => {
      await world.machines("n1");
      let boughtAtMs = Number.POSITIVE_INFINITY;
      const beganAtMs = world.nowMs();
      world.takesMs = ({ port, method }) => {
        if (method === "create" && port === "addresses") boughtAtMs = world.nowMs();
        return method === "create" && port === "IPv6 addresses" ? 14 * SECOND : 0;
      };
      await world.pools.create("a6", { ...IPV6, desiredIPs: 1 });
      await world.pools.create("web", { desiredIPs: 1 });
      await world.pass();
      world.takesMs = undefined;
      expect(boughtAtMs - beganAtMs).toBeLessThan(2 * SECOND);
      expect(await world.show()).toEqual(["new1 active n1"]);
      expect(await world.nodes.annotations("IPv6")).toEqual({ n1: "new6-1 of shop/a6" });
    },
    { worlds: ["memory"] },
  );

  scenario("an IPv6 address is bought for a region, and assigned in the same run", async (world) => {
    await world.machines("n1", "n2");
    await world.pools.create("web", { ...IPV6, desiredIPs: 2 });
    await world.pass();
    expect(world.cloudWrites()).toEqual([
      "create in nyc3",
      "create in nyc3",
      "assign new6-1 to n1",
      "assign new6-2 to n2",
    ]);
    expect(await world.show()).toEqual(["new6-1 active n1", "new6-2 active n2"]);
    expect((await world.pools.status("web")).acquired.map((one) => short(one.ip))).toEqual(["new6-1", "new6-2"]);
  });

  scenario(
    "it is bought in the region of the node where the spec has none, and for no node not at all",
    async (world) => {
      await world.pools.create("web", { ...IPV6, desiredIPs: 1, region: "" });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.cloud.droplet("n1", { region: "fra1" });
      await world.nodes.create("n1", { region: "fra1" });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["create in fra1", "assign new6-1 to n1"]);
    },
  );

  scenario("two pools of IPv6 and one node: one address is bought, not two", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { ...IPV6, desiredIPs: 1, region: "" });
    await world.pools.create("more", { ...IPV6, desiredIPs: 1, region: "" });
    await world.pass();
    expect(world.cloud.boughtNow()).toHaveLength(1);
    await world.pass();
    expect(world.cloud.boughtNow()).toHaveLength(1);
  });

  scenario(
    "with Delete a bought IPv6 address is detached, then given back, and a listed one is kept",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ipv6(1));
      await world.pools.create("web", { ...IPV6, ips: [ipv6(1)], desiredIPs: 2, reclaimPolicy: "Delete" });
      await world.pass();
      expect(await world.show()).toEqual(["ip6-1 active n1", "new6-1 active n2"]);
      await world.pools.delete("web");
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign new6-1", "delete new6-1"]);
      expect(world.cloud.addresses()).toEqual({ "ip6-1": "n1" });
      expect(await world.nodes.annotations("IPv6")).toEqual({});
    },
  );
}

function routed(scenario: Register): void {
  scenario("a RoutedIP whose issuer has ipFamily IPv6 gets its address, and publishes AAAA records", async (world) => {
    await routedScene(world, ["n1", "n2"], IPV6);
    world.dns.zone("digitalocean");
    await world.routedIPs.create("vip", { dnsRecordSet: www("digitalocean") });
    await world.pass();
    expect(world.cloudWrites()).toEqual([
      "create in nyc3",
      "open tcp/30080 on web",
      "add n1 to web",
      "assign new6-1 to n1",
    ]);
    expect(await world.showRouted()).toEqual(["new6-1 active n1"]);
    expect((await both(world))["names"]).toEqual([[], ["new6-1"]]);
    expect(await world.nodes.annotations("IPv6")).toEqual({ n1: "new6-1 of routedip/shop/vip" });
  });

  scenario(
    "a RoutedIP with an address of the other family is refused, with the field that would allow it",
    async (world) => {
      await routedScene(world, ["n1"]);
      world.cloud.address(ipv6(1));
      await world.routedIPs.create("vip", { address: ipv6(1) });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      const { error } = await world.routedIPs.status("vip");
      expect(error).toBe(`address "${ipv6(1)}" is an IPv6 address: spec.ipFamily of the issuer would have to be IPv6`);
    },
  );
}

/** A process dies before each write in turn; the next ones do the rest, and neither family is left behind. */
function crashes(scenario: Register): void {
  const converge = async (world: World): Promise<void> => {
    for (let round = 0; round < 8; round += 1) {
      world.advance(15 * SECOND);
      const { outcomes } = await world.pass({ settle: true });
      if (outcomes.length === 0) return;
    }
  };
  for (let write = 1; write <= 16; write += 1)
    scenario(`a first fill of both families that dies before write ${write} ends as any other`, async (world) => {
      await dualPools(world, ["n1"], { ips: undefined, desiredIPs: 1, hostAddress: "Managed" });
      await world.crash(write);
      await converge(world);
      await checkInvariants(world);
      expect(await both(world)).toEqual({
        annotated: [{ n1: "ip1" }, { n1: "new6-1 of shop/web6" }],
        names: [["ip1"], ["new6-1"]],
      });
      expect(world.cloud.boughtNow().map(short)).toEqual(["new6-1"]);
      expect(await world.nodes.hosts("IPv6")).toEqual({ n1: "new6-1" });
    });
  for (let write = 1; write <= 10; write += 1)
    scenario(`a failover of both families that dies before write ${write} ends as any other`, async (world) => {
      await dualPools(world, ["n1"]);
      await world.pass();
      await world.machines("n2");
      await world.nodes.setReady("n1", false);
      await world.crash(write);
      await converge(world);
      await checkInvariants(world);
      expect(await both(world)).toEqual({
        annotated: [{ n2: "ip1" }, { n2: "ip6-1 of shop/web6" }],
        names: [["ip1"], ["ip6-1"]],
      });
    });
}
