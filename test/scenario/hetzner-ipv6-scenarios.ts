import { expect } from "vitest";
import { WWW, www } from "./dns-scene.ts";
import type { HetznerCloud } from "./hetzner-cloud.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import { checkInvariants, type Register } from "./scenario.ts";
import { ip, ipv6, short } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const IPV6 = { ipFamily: "IPv6" } as const;
const AAAA = `${WWW} AAAA`;
const SECOND = 1000;
/** Another address of the network that ip6-1 is in. */
const NEIGHBOUR = ipv6(1).replace(/1$/, "beef:7");

/** IPv6 floating IPs, as they are at Hetzner alone: each is a network that moves as one. */
export function hetznerIPv6Scenarios(scenario: Register): void {
  networks(scenario);
  heirs(scenario);
  purchases(scenario);
  refusals(scenario);
  families(scenario);
  crashes(scenario);
}

function project(world: World): HetznerCloud {
  return world.cloud as HetznerCloud;
}

async function conditionOf(world: World, pool: string, wanted: string): Promise<string> {
  const { conditions } = await world.pools.status(pool);
  const found = conditions.find(({ type }) => type === wanted);
  return `${found?.status} ${found?.reason} ${found?.message}`;
}

/** Passes, a TTL apart, until what goes of its own accord has gone. */
async function settled(world: World, passes = 6): Promise<void> {
  for (let pass = 0; pass < passes; pass += 1) {
    await world.pass();
    world.advance(61 * SECOND);
  }
}

function networks(scenario: Register): void {
  scenario(
    "an address is found by the network that it is in, whichever address of it the spec names",
    async (world) => {
      await world.machines("n1", "n2");
      world.dns.zone("hetzner");
      world.cloud.address(NEIGHBOUR);
      await world.pools.create("web", { ...IPV6, ips: [NEIGHBOUR.toUpperCase()], dnsRecordSet: www("hetzner") });
      await world.pass();
      expect(world.cloudWrites()).toEqual([`assign ${NEIGHBOUR} to n1`]);
      expect(await world.show()).toEqual([`${NEIGHBOUR} active n1`]);
      expect(world.dns.addresses("hetzner", AAAA)).toEqual([NEIGHBOUR]);
      expect(await world.nodes.annotations("IPv6")).toEqual({ n1: NEIGHBOUR });
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual([`assign ${NEIGHBOUR} to n2`]);
      expect(world.dnsWrites()).toEqual([]);
    },
  );

  scenario(
    "an address of a network that the project does not have is not there, and nothing is done",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ipv6(1));
      await world.pools.create("web", { ...IPV6, ips: [ipv6(2)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip6-2 error (IPNotFound)"]);
    },
  );

  scenario("of two addresses of one network in a pool the first is used, and the other says why not", async (world) => {
    await world.machines("n1", "n2");
    world.cloud.address(ipv6(1));
    await world.pools.create("web", { ...IPV6, ips: [ipv6(1), NEIGHBOUR] });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip6-1 to n1"]);
    expect(await world.show()).toEqual([`${NEIGHBOUR} error (Conflict)`, "ip6-1 active n1"].toSorted());
    const { ips } = await world.pools.status("web");
    expect(ips[NEIGHBOUR]?.error).toContain("2001:db8:66:1::/64");
  });

  scenario("of two pools with addresses of one network the older one has it, and keeps it", async (world) => {
    await world.machines("n1", "n2");
    world.dns.zone("hetzner");
    world.cloud.address(ipv6(1));
    await world.pools.create("web", { ...IPV6, ips: [ipv6(1)], dnsRecordSet: www("hetzner") });
    await world.pass();
    world.advance(SECOND);
    await world.pools.create("late", { ...IPV6, ips: [NEIGHBOUR] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show()).toEqual(["ip6-1 active n1"]);
    expect(await world.show("late")).toEqual([`${NEIGHBOUR} error (Conflict)`]);
    world.cloud.address(ipv6(2));
    await world.pools.edit("web", { ips: [ipv6(2)] });
    await settled(world, 3);
    expect(await world.show("late")).toEqual([expect.stringContaining(`${NEIGHBOUR} active n`)]);
    project(world).called(NEIGHBOUR);
  });

  for (const reclaimPolicy of ["Retain", "Delete"] as const)
    scenario(
      `an address is changed for another one of its network: nothing is asked of Hetzner, ${reclaimPolicy}`,
      async (world) => {
        await world.machines("n1", "n2");
        world.dns.zone("hetzner");
        world.cloud.address(ipv6(1));
        await world.pools.create("web", { ...IPV6, ips: [ipv6(1)], reclaimPolicy, dnsRecordSet: www("hetzner") });
        await world.pass();
        await world.pools.edit("web", { ips: [NEIGHBOUR] });
        project(world).called(NEIGHBOUR);
        for (let pass = 0; pass < 4; pass += 1) {
          await world.pass();
          expect(world.cloudWrites()).toEqual([]);
          world.advance(61 * SECOND);
        }
        expect(await world.show()).toEqual([`${NEIGHBOUR} active n1`]);
        expect(world.dns.addresses("hetzner", AAAA)).toEqual([NEIGHBOUR]);
        expect(await world.nodes.annotations("IPv6")).toEqual({ n1: NEIGHBOUR });
        expect((await world.pools.status("web")).released).toEqual([]);
      },
    );

  scenario("two addresses of one network take one place on a node", async (world) => {
    await world.machines("n1");
    for (const number of [1, 2, 3]) world.cloud.address(ipv6(number));
    await world.pools.create("web", { ...IPV6, ips: [ipv6(1), NEIGHBOUR], maxPerNode: 2 });
    await settled(world, 2);
    await world.pools.edit("web", { ips: [ipv6(1), NEIGHBOUR, ipv6(2), ipv6(3)] });
    await settled(world, 2);
    expect(world.cloud.addresses()).toEqual({ "ip6-1": "n1", "ip6-2": "n1", "ip6-3": "-" });
    expect(await world.nodes.annotations("IPv6")).toEqual({ n1: "ip6-1,ip6-2" });
  });

  scenario(
    "an address that was left for another one of its network does not leave its node for a third",
    async (world) => {
      await world.machines("n1");
      for (const number of [1, 2]) world.cloud.address(ipv6(number));
      await world.pools.create("web", { ...IPV6, ips: [ipv6(1)], maxPerNode: 2 });
      await settled(world, 2);
      await world.pools.edit("web", { ips: [NEIGHBOUR, ipv6(2)] });
      project(world).called(NEIGHBOUR);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip6-2 to n1"]);
      await settled(world, 2);
      expect(await world.nodes.annotations("IPv6")).toEqual({ n1: `${NEIGHBOUR},ip6-2` });
    },
  );
}

/** The objects that may name an address, as `heir`. */
const HEIRS = {
  FloatingIPPool: {
    create: (world: World, address: string) => world.pools.create("heir", { ...IPV6, ips: [address] }),
    show: (world: World) => world.show("heir"),
  },
  RoutedIP: {
    create: (world: World, address: string) => world.routedIPs.create("heir", { address }),
    show: (world: World) => world.showRouted("heir"),
  },
};

function heirs(scenario: Register): void {
  for (const [how, leave, left] of [
    ["a deleted pool", (world: World) => world.pools.delete("web"), 1],
    ["a pool that wants less", (world: World) => world.pools.edit("web", { desiredIPs: 1 }), 2],
  ] as const)
    for (const kind of ["FloatingIPPool", "RoutedIP"] as const)
      scenario(
        `an IPv6 address of ${how} goes to a ${kind} that names another one of its network, and is not given back`,
        async (world) => {
          await world.machines("n1", "n2");
          for (const node of ["n1", "n2"]) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
          await world.pools.create("web", { ...IPV6, desiredIPs: 2, reclaimPolicy: "Delete" });
          await world.pass();
          const neighbour = (world.cloud.boughtNow()[1] ?? "").replace(/1$/, "beef:7");
          const holder = world.cloud.addresses()["new6-2"];
          await world.routedIPs.service();
          await world.routedIPs.issuer({ ...IPV6, routedIPFirewallName: null });
          await HEIRS[kind].create(world, neighbour);
          await world.pass();
          await leave(world);
          await settled(world);
          project(world).called(neighbour);
          expect(await HEIRS[kind].show(world)).toEqual([`${short(neighbour)} active ${holder}`]);
          expect(world.cloud.boughtNow()).toHaveLength(left);
          await world.pass();
          expect(world.writes()).toEqual([]);
        },
      );
}

function purchases(scenario: Register): void {
  scenario("an IPv6 address is bought for a server, and is the first one of its network", async (world) => {
    await world.machines("n1", "n2");
    world.dns.zone("hetzner");
    await world.pools.create("web", { ...IPV6, desiredIPs: 2, dnsRecordSet: www("hetzner") });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n1", "create for n2"]);
    expect(await world.show()).toEqual(["new6-1 active n1", "new6-2 active n2"]);
    expect((await world.pools.status("web")).acquired.map((one) => one.ip)).toEqual([
      "2001:db8:d0:1::1",
      "2001:db8:d0:2::1",
    ]);
    expect(world.dns.set("hetzner", AAAA)).toEqual(["new6-1", "new6-2"]);
  });

  for (const kind of ["lost-answer", "500"] as const)
    scenario(
      `a purchase of IPv6 that ends with ${kind} brings one network, whoever else buys meanwhile`,
      async (world) => {
        await world.machines("n1");
        await world.pools.create("web", { ...IPV6, desiredIPs: 1 });
        world.fail({ side: "cloud", operation: "create", kind });
        await world.pass();
        world.cloud.address(ipv6(7));
        for (let passes = 0; passes < 4; passes += 1) {
          world.advance(20 * SECOND);
          await world.pass();
        }
        expect(world.cloud.boughtNow().map(short)).toEqual(["new6-1"]);
        expect(await world.show()).toEqual(["new6-1 active n1"]);
      },
    );

  scenario("pools of both families buy at the same time: each has its own, under names that differ", async (world) => {
    await world.machines("n1", "n2");
    await world.pools.create("web", { desiredIPs: 2 });
    await world.pools.create("web6", { ...IPV6, desiredIPs: 2 });
    await settled(world, 2);
    expect(world.cloud.boughtNow().map(short).toSorted()).toEqual(["new1", "new2", "new6-1", "new6-2"]);
    expect(await world.show()).toEqual(["new1 active n1", "new2 active n2"]);
    expect(await world.show("web6")).toEqual(["new6-1 active n1", "new6-2 active n2"]);
  });

  scenario("a RoutedIP whose issuer has ipFamily IPv6 buys a network for its server", async (world) => {
    await routedScene(world, ["n1", "n2"], IPV6);
    world.dns.zone("hetzner");
    await world.routedIPs.create("vip", { dnsRecordSet: www("hetzner") });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web", "create for n1"]);
    expect(await world.showRouted()).toEqual(["new6-1 active n1"]);
    expect(world.dns.set("hetzner", AAAA)).toEqual(["new6-1"]);
    expect(await world.nodes.annotations("IPv6")).toEqual({ n1: "new6-1 of routedip/shop/vip" });
  });
}

function refusals(scenario: Register): void {
  scenario("a deleted pool's IPv6 address stays for a RoutedIP whose issuer is not there yet", async (world) => {
    await world.machines("n1");
    await world.pods.create("web-n1", { node: "n1", labels: { app: "web" } });
    await world.pools.create("web", { ...IPV6, desiredIPs: 1, reclaimPolicy: "Delete" });
    await world.pass();
    const [address = ""] = world.cloud.boughtNow();
    await world.routedIPs.service();
    await world.routedIPs.create("vip", { address });
    await world.pools.delete("web");
    await settled(world);
    expect(await world.pools.existing()).toEqual([]);
    await world.routedIPs.issuer({ ...IPV6, routedIPFirewallName: null });
    await settled(world);
    expect(await world.showRouted()).toEqual([`${short(address)} active n1`]);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });

  scenario("a network that a person protected is not given back: who asks is told, and can wait", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { ...IPV6, desiredIPs: 1, reclaimPolicy: "Delete" });
    await world.pass();
    const [bought = ""] = world.cloud.boughtNow();
    project(world).protect(bought);
    await world.pools.delete("web");
    await settled(world, 2);
    expect(world.cloud.boughtNow()).toEqual([bought]);
    expect(world.cloudWrites()).toEqual([]);
    const { conditions } = await world.pools.status("web");
    expect(conditions.find(({ type }) => type === "Stalled")?.reason).toBe("IPProtected");
    project(world).protect(bought, false);
    await settled(world, 2);
    expect(world.cloud.boughtNow()).toEqual([]);
    expect(await world.pools.existing()).toEqual([]);
  });

  scenario("a network on which something runs is waited for, and IPv4 is on its node meanwhile", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.cloud.address(ipv6(1));
    world.cloud.lock(ipv6(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pools.create("web6", { ...IPV6, ips: [ipv6(1)] });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect((await world.show("web6")).join()).toMatch(/^ip6-1 (in-progress|unassigned|error)/);
    world.advance(30 * SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    world.cloud.lock(ipv6(1), false);
    await settled(world, 2);
    expect(await world.show("web6")).toEqual(["ip6-1 active n1"]);
  });

  scenario(
    "an assignment that takes 20 s is asked for once, then watched, and published when it is there",
    async (world) => {
      await world.machines("n1");
      world.dns.zone("hetzner");
      project(world).settings.action_delay_ms = 20 * SECOND;
      world.cloud.address(ipv6(1));
      await world.pools.create("web", { ...IPV6, ips: [ipv6(1)], dnsRecordSet: www("hetzner") });
      await world.pass({ deadlineMs: 5 * SECOND });
      expect(world.cloudWrites()).toEqual(["assign ip6-1 to n1"]);
      expect(await world.show()).toEqual(["ip6-1 in-progress n1 (InProgress)"]);
      expect([world.dns.set("hetzner", AAAA), await world.nodes.annotations("IPv6")]).toEqual([[], {}]);
      // Hetzner shows no lock: another process asks what runs, and waits for it.
      await world.pass({ deadlineMs: 5 * SECOND });
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip6-1 in-progress n1 (InProgress)"]);
      expect([world.dns.set("hetzner", AAAA), await world.nodes.annotations("IPv6")]).toEqual([[], {}]);
      world.advance(20 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip6-1 active n1"]);
      expect(world.dns.set("hetzner", AAAA)).toEqual(["ip6-1"]);
    },
  );

  scenario("an assignment that ends in an error is told, and asked for again", async (world) => {
    await world.machines("n1");
    project(world).settings.fail_next_actions = 1;
    world.cloud.address(ipv6(1));
    await world.pools.create("web", { ...IPV6, ips: [ipv6(1)] });
    await world.pass();
    await settled(world, 2);
    expect(await world.show()).toEqual(["ip6-1 active n1"]);
    expect((await world.pools.status("web")).error).toBeUndefined();
  });

  scenario("a network that Hetzner blocks leaves the AAAA records, and the A records stay", async (world) => {
    await world.machines("n1", "n2");
    world.dns.zone("hetzner");
    for (const number of [1, 2]) {
      world.cloud.address(ip(number));
      world.cloud.address(ipv6(number));
    }
    await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www("hetzner") });
    await world.pools.create("web6", { ...IPV6, ips: [ipv6(1), ipv6(2)], dnsRecordSet: www("hetzner") });
    await settled(world, 2);
    world.cloud.block(ipv6(1));
    await world.pass();
    expect(world.dns.set("hetzner", AAAA)).toEqual(["ip6-2"]);
    expect(world.dns.set("hetzner", WWW)).toEqual(["ip1", "ip2"]);
    expect(await conditionOf(world, "web", "Ready")).toMatch(/^True/);
    expect(await conditionOf(world, "web6", "Stalled")).toMatch(/^True IPBlocked/);
  });

  scenario("an IPv6 address does not go to another network zone, and IPv4 of that zone is served", async (world) => {
    world.cloud.droplet("n1", { region: "ash" });
    await world.nodes.create("n1", { region: "ash" });
    world.cloud.address(ip(1), { region: "ash" });
    world.cloud.address(ipv6(1), { region: "fsn1" });
    await world.pools.create("web", { ips: [ip(1)], region: "ash" });
    await world.pools.create("web6", { ...IPV6, ips: [ipv6(1)], region: "fsn1" });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect(await world.show("web6")).toEqual(["ip6-1 unassigned (RegionMismatch)"]);
  });
}

/** Pools of both families with two addresses for each of these nodes. */
async function doubled(world: World, names: readonly string[], spec: Spec = {}): Promise<void> {
  await world.machines(...names);
  world.dns.zone("hetzner");
  const numbers = names.flatMap((_, index) => [2 * index + 1, 2 * index + 2]);
  for (const number of numbers) {
    world.cloud.address(ip(number));
    world.cloud.address(ipv6(number));
  }
  const common = { maxPerNode: 2, dnsRecordSet: www("hetzner"), ...spec };
  await world.pools.create("web", { ips: numbers.map(ip), ...common });
  await world.pools.create("web6", { ...IPV6, ips: numbers.map(ipv6), ...common });
}

function families(scenario: Register): void {
  scenario("each family counts its own addresses of a node: two of each, and the name shows all", async (world) => {
    await doubled(world, ["n1", "n2"]);
    await settled(world, 2);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip3", n2: "ip2,ip4" });
    expect(await world.nodes.annotations("IPv6")).toEqual({
      n1: "ip6-1,ip6-3 of shop/web6",
      n2: "ip6-2,ip6-4 of shop/web6",
    });
    expect(world.dns.set("hetzner", WWW)).toEqual(["ip1", "ip2", "ip3", "ip4"]);
    expect(world.dns.set("hetzner", AAAA)).toEqual(["ip6-1", "ip6-2", "ip6-3", "ip6-4"]);
    await world.machines("n3");
    await world.nodes.setReady("n1", false);
    await settled(world, 2);
    expect(await world.nodes.annotations()).toEqual({ n2: "ip2,ip4", n3: "ip1,ip3" });
    expect(await world.nodes.annotations("IPv6")).toEqual({
      n2: "ip6-2,ip6-4 of shop/web6",
      n3: "ip6-1,ip6-3 of shop/web6",
    });
  });

  scenario(
    "the limit of one family is lowered: its second addresses go, and the other family keeps its own",
    async (world) => {
      await doubled(world, ["n1"]);
      await settled(world, 2);
      await world.machines("n2");
      await world.pools.edit("web6", { maxPerNode: 1 });
      await settled(world, 3);
      expect(await world.show("web6")).toEqual(["ip6-1 active n1", "ip6-2 active n2"]);
      expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n1"]);
      expect(world.dns.set("hetzner", WWW)).toEqual(["ip1", "ip2"]);
      expect(world.dns.set("hetzner", AAAA)).toEqual(["ip6-1", "ip6-2"]);
    },
  );

  scenario("a host is told the addresses of each family in an annotation of its own", async (world) => {
    await doubled(world, ["n1"], { hostAddress: "Managed" });
    await settled(world, 2);
    expect(await world.nodes.hosts()).toEqual({ n1: "ip1,ip2" });
    expect(await world.nodes.hosts("IPv6")).toEqual({ n1: "ip6-1,ip6-2" });
    await world.pools.edit("web", { hostAddress: "External" });
    await world.pass();
    expect(await world.nodes.hosts()).toEqual({});
    expect(await world.nodes.hosts("IPv6")).toEqual({ n1: "ip6-1,ip6-2" });
    await world.pools.delete("web6");
    await settled(world, 2);
    expect(await world.nodes.hosts("IPv6")).toEqual({});
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1,ip2" });
  });
}

/** A process dies before each write in turn; the next ones do the rest, and neither family is left behind. */
function crashes(scenario: Register): void {
  for (let write = 1; write <= 24; write += 1)
    scenario(
      `a purchase of two of each family for a node that dies before write ${write} ends as any other`,
      async (world) => {
        await world.machines("n1");
        world.dns.zone("hetzner");
        const common = { desiredIPs: 2, maxPerNode: 2, hostAddress: "Managed", dnsRecordSet: www("hetzner") };
        await world.pools.create("web", common);
        await world.pools.create("web6", { ...IPV6, ...common });
        await world.crash(write);
        for (let round = 0; round < 8; round += 1) {
          world.advance(15 * SECOND);
          await world.pass({ settle: true });
        }
        await checkInvariants(world, { mostPerMachine: 2 });
        expect(world.cloud.boughtNow().map(short).toSorted()).toEqual(["new1", "new2", "new6-1", "new6-2"]);
        expect(await world.nodes.hosts()).toEqual({ n1: "new1,new2" });
        expect(await world.nodes.hosts("IPv6")).toEqual({ n1: "new6-1,new6-2" });
        expect([world.dns.set("hetzner", WWW), world.dns.set("hetzner", AAAA)]).toEqual([
          ["new1", "new2"],
          ["new6-1", "new6-2"],
        ]);
      },
    );
}
