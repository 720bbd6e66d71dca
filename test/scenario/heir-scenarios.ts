import { expect } from "vitest";
import { SHARD_LABEL } from "../../src/model/shard.ts";
import { publishedNodes, WWW, www } from "./dns-scene.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const CLEANS = { reclaimPolicy: "Delete" };
const NAMED = { dnsRecordSet: www("digitalocean") };
const OTHERS = { match: { nodeLabel: "role=other" } };

/** What `web` has bought, with `Delete`, on n1 and so on as `www`, converged; n9 waits. Node n5 matches only pools that ask for `role=other`. */
async function boughtBy(world: World, desiredIPs: number, spec: Spec = {}): Promise<void> {
  const nodes = Array.from({ length: desiredIPs }, (_, index) => `n${index + 1}`);
  await world.machines(...nodes);
  world.dns.zone("digitalocean");
  await world.pools.create("web", {
    desiredIPs,
    ...CLEANS,
    ...NAMED,
    match: { nodeLabel: "role!=other" },
    ...spec,
  });
  await world.pass();
  await world.machines("n9");
  world.cloud.droplet("n5");
  await world.nodes.create("n5", { labels: { role: "other" } });
}

/** Passes until all waits are over; then a pass writes nothing. */
async function atRest(world: World): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await world.pass();
    world.advance(61 * SECOND);
  }
  await world.pass();
  expect(world.writes()).toEqual([]);
}

/** new1 is `heir`'s now, and serves as `www` on this node; `web` is gone. */
async function inherited(world: World, node = "n1"): Promise<void> {
  expect(await world.show("heir")).toEqual([`new1 active ${node}`]);
  expect(await world.pools.existing()).toEqual(["heir"]);
  expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
  expect(world.cloud.boughtNow()).toContain(bought(1));
  expect((await world.nodes.annotations())[node]).toBe("new1 of shop/heir");
}

/** How a pool leaves its name to another one, and an address to nobody. */
const LEAVING: readonly (readonly [string, (world: World) => Promise<void>])[] = [
  ["the pool is deleted", async (world) => world.pools.delete("web")],
  [
    "the pool has another name, and needs one address less",
    async (world) =>
      world.pools.edit("web", { desiredIPs: 1, dnsRecordSet: www("digitalocean", { recordName: "other" }) }),
  ],
];

/** Addresses that their object no longer needs, and that the spec of another one names. */
export function heirScenarios(scenario: Register): void {
  ofDeleted(scenario);
  ofDeletedStopped(scenario);
  ofSurplus(scenario);
  withoutProvider(scenario);
  withoutHeir(scenario);
  withoutFirewall(scenario);
  ofHindered(scenario);
  ofGone(scenario);
}

/** A pool with `Retain` is gone at once, and another one has its name before anybody has read that. */
function ofGone(scenario: Register): void {
  for (const [what, spec] of [
    ["that buys", { desiredIPs: 2, reclaimPolicy: "Delete" }],
    ["that buys and selects no node", { desiredIPs: 1, match: { nodeLabel: "role=none" } }],
  ] as const)
    scenario(
      `the nodes of a pool that is gone are annotated until its name has been read for an heir ${what}`,
      async (world) => {
        await boughtBy(world, 2, { reclaimPolicy: "Retain" });
        await world.machines("n8");
        await world.pools.delete("web");
        await world.pools.create("heir", { ...NAMED, ...spec });
        world.takesMs = ({ method }) => (method === "listRecords" || method === "records" ? 3 * SECOND : undefined);
        await world.pass();
        world.takesMs = undefined;
        const left = world.writes().findIndex((line) => /^annotate n[12]$/.test(line));
        const changed = world.writes().findIndex((line) => line.startsWith("do "));
        if (left >= 0) expect(changed).toBeLessThan(left);
        await atRest(world);
        const stays = "match" in spec;
        expect(world.dns.set("digitalocean", WWW)).toEqual(stays ? ["new1", "new2"] : ["new3", "new4"]);
        expect(await world.nodes.annotations()).toMatchObject(stays ? { n1: "new1", n2: "new2" } : {});
      },
      { checksAnnotations: false },
    );
}

/** Heirs that a provider refuses again and again: what they are, the call and its refusal, how they come to be, and what they show in the end. */
const HEIRS_REFUSED: readonly (readonly [
  string,
  { readonly operation: "create" | "assign"; readonly kind: "422" | "404" },
  (world: World) => Promise<void>,
  string,
])[] = [
  [
    "that buys for a machine that refuses",
    { operation: "create", kind: "422" },
    (world) => heirPool(world, { desiredIPs: 1 }),
    "new1",
  ],
  [
    "that buys for a machine that is not known",
    { operation: "create", kind: "404" },
    (world) => heirPool(world, { desiredIPs: 1 }),
    "new1",
  ],
  [
    "that names an address which its machine refuses",
    { operation: "assign", kind: "422" },
    (world) => heirPool(world, { ips: [ip(1)] }),
    "ip1",
  ],
  [
    "that shows what a pool buys for a machine that refuses",
    { operation: "create", kind: "422" },
    async (world) => {
      await world.pools.create("pool", { desiredIPs: 1 });
      await world.recordSets.create("heir", { ...NAMED, addressType: "flipop.digitalocean.com/ipv4-reserved-ip" });
    },
    "new1",
  ],
];

/** A pass at once, and one every five minutes and a second. */
async function passesFor(world: World, minutes: number): Promise<void> {
  for (let left = minutes; left > 0; left -= 5) {
    await world.pass();
    world.advance(5 * MINUTE + SECOND);
  }
  await world.pass();
}

async function heirPool(world: World, spec: Spec): Promise<void> {
  await world.pools.create("heir", { ...NAMED, ...spec });
}

const PODS = { match: { podNamespace: "shop", podLabel: "app=web" } };

/** Heirs that cannot take the name now. */
function ofHindered(scenario: Register): void {
  for (const [what, spec] of [
    ["names its address", { ips: [bought(1)] }],
    ["buys one of its own", { desiredIPs: 1 }],
  ] as const)
    scenario(
      `a deleted pool's name stays for an heir that ${what} while the list of its pods is refused`,
      async (world) => {
        await boughtBy(world, 1);
        for (const node of ["n1", "n9"]) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
        world.advance(SECOND);
        await world.pools.create("heir", { ...spec, ...NAMED, ...PODS });
        world.fail({ side: "cluster", operation: "listPods", kind: "400", times: 0 });
        await world.pools.delete("web");
        await staysNamed(world);
        world.clearFaults();
        await atRest(world);
        expect(await world.pools.existing()).toEqual(["heir"]);
        expect(world.dns.set("digitalocean", WWW)).toEqual("ips" in spec ? ["new1"] : ["new2"]);
      },
    );

  scenario(
    "a deleted pool's name stays for an heir whose purchases are refused (403), until they are not",
    async (world) => {
      await boughtBy(world, 1);
      world.advance(SECOND);
      world.fail({ side: "cloud", operation: "create", kind: "403", times: 0 });
      await world.pools.create("heir", { desiredIPs: 1, ...NAMED });
      await world.pools.delete("web");
      await staysNamed(world);
      const { conditions } = await world.pools.status("heir");
      expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({ status: "True" });
      world.clearFaults();
      world.advance(600 * SECOND);
      await atRest(world);
      expect(await world.pools.existing()).toEqual(["heir"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
      expect(world.cloud.boughtNow()).toEqual([bought(2)]);
    },
  );

  for (const operation of ["firewalls", "firewall", "open-ports", "add-machines", "create"] as const)
    scenario(
      `a deleted pool's name stays for a RoutedIP that buys behind a firewall while ${operation} is refused (403)`,
      async (world) => {
        await routedScene(world, ["n1", "n2"]);
        world.dns.zone("digitalocean");
        await world.pools.create("web", { desiredIPs: 1, ...CLEANS, ...NAMED });
        await world.pass();
        world.advance(SECOND);
        world.fail({ side: "cloud", operation, kind: "403", times: 0 });
        await world.routedIPs.create("vip", NAMED);
        await world.pools.delete("web");
        await staysNamed(world);
        world.clearFaults();
        world.advance(600 * SECOND);
        await atRest(world);
        expect(await world.pools.existing()).toEqual([]);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
        expect(await world.showRouted()).toEqual([expect.stringContaining("new2 active")]);
      },
    );

  for (const [what, refused, heir, own] of HEIRS_REFUSED)
    for (const minutes of [0, 30])
      scenario(
        `a record set, deleted after ${minutes} minutes, waits for no heir ${what}: its records stay for it`,
        async (world) => {
          await publishedNodes(world, "digitalocean", ["n1"], CLEANS);
          const shown = world.dns.set("digitalocean", WWW);
          world.cloud.address(ip(1));
          world.fail({ side: "cloud", ...refused, times: 0 });
          await heir(world);
          await passesFor(world, minutes);
          await world.recordSets.delete("nodes");
          await passesFor(world, 20);
          expect(await world.recordSets.existing()).not.toContain("nodes");
          expect(world.dns.set("digitalocean", WWW)).toEqual(shown);
          world.clearFaults();
          world.advance(10 * MINUTE);
          await world.pass({ settle: true });
          expect(world.dns.set("digitalocean", WWW)).toEqual([own]);
        },
      );

  for (const [what, operation, heir] of [
    ["purchase", "create", { desiredIPs: 1 }],
    ["assignment", "assign", { ips: [ip(1)] }],
  ] as const)
    scenario(
      `a deleted record set waits for no heir whose ${what} was refused once, and that has no node any more`,
      async (world) => {
        await publishedNodes(world, "digitalocean", ["n1"], CLEANS);
        world.cloud.address(ip(1));
        world.cloud.droplet("n5");
        await world.nodes.create("n5", { labels: { role: "other" } });
        world.fail({ side: "cloud", operation, kind: "422", times: 0 });
        await heirPool(world, { ...heir, ...OTHERS });
        await world.pass();
        await world.nodes.delete("n5");
        world.clearFaults();
        await passesFor(world, 5);
        await world.recordSets.delete("nodes");
        await passesFor(world, 20);
        expect(await world.recordSets.existing()).toEqual([]);
      },
    );

  scenario("a deleted record set waits for an heir whose first purchase is refused", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1"], CLEANS);
    world.fail({ side: "cloud", operation: "create", kind: "422", times: 1 });
    await heirPool(world, { desiredIPs: 1 });
    await world.recordSets.delete("nodes");
    await world.pass();
    expect(await world.recordSets.existing()).toEqual(["nodes"]);
    await passesFor(world, 5);
    expect(await world.recordSets.existing()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
  });

  scenario("a deleted pool waits for an heir whose purchases are refused (422), but not for ever", async (world) => {
    await boughtBy(world, 1);
    world.fail({ side: "cloud", operation: "create", kind: "422", times: 0 });
    await world.pools.create("heir", { desiredIPs: 1, ...NAMED });
    await world.pools.delete("web");
    await staysNamed(world);
    world.dnsSafety.allowEnd(WWW);
    for (const waitMs of [301 * SECOND, 601 * SECOND]) {
      world.advance(waitMs);
      await world.pass();
    }
    await atRest(world);
    expect(await world.pools.existing()).toEqual(["heir"]);
    expect(world.cloud.boughtNow()).toEqual([]);
  });

  scenario("a deleted pool's name stays for a RoutedIP whose firewall may not be read", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    world.dns.zone("digitalocean");
    await world.pools.create("web", { desiredIPs: 1, ...CLEANS, ...NAMED });
    await world.pass();
    world.advance(SECOND);
    world.fail({ side: "cloud", operation: "firewalls", kind: "403", times: 0 });
    await world.routedIPs.create("vip", { address: bought(1), ...NAMED });
    await world.pools.delete("web");
    await staysNamed(world);
    world.clearFaults();
    await atRest(world);
    expect(await world.pools.existing()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
  });
}

/** RoutedIP `vip` with a bought address on n1 as `www`, deleted with `Delete`, and a pool that names address and name. A pool keeps no firewall in step. */
async function leftByRouted(world: World, firewall: Parameters<World["cloud"]["firewall"]>[1] = {}): Promise<void> {
  await world.machines("n1");
  await world.pods.create("web-n1", { node: "n1", labels: { app: "web" } });
  await world.routedIPs.service();
  await world.routedIPs.issuer({ routedIPReclaimPolicy: "Delete" });
  world.cloud.firewall("web", firewall);
  world.dns.zone("digitalocean");
  await world.routedIPs.create("vip", NAMED);
  await world.pass();
  await world.pools.create("heir", { ips: [bought(1)], ...NAMED });
  await world.routedIPs.delete("vip");
}

/** The ports of a RoutedIP serve its address in the hands of a pool, too. */
function withoutFirewall(scenario: Register): void {
  for (let write = 1; write <= 8; write += 1)
    scenario(
      `killed before write ${write} of the deletion of a RoutedIP, the address of its heir is at no closed port`,
      async (world) => {
        await leftByRouted(world);
        await world.crash(write);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
        expect(world.cloud.showFirewall()).not.toBe("| n1");
        world.advance(MINUTE);
        await world.pass({ settle: true });
        expect(await world.routedIPs.existing()).toEqual([]);
        expect(world.cloud.showFirewall()).toBe("|");
        await inherited(world);
        await world.pass();
        expect(world.writes()).toEqual([]);
      },
    );

  scenario("a deleted RoutedIP keeps its port where a person's firewall covers the heir's node", async (world) => {
    await leftByRouted(world, { open: ["tcp/22"], nodes: ["n1"] });
    await world.pass();
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    expect(world.cloud.showFirewall()).toBe("tcp/22 tcp/30080 | n1");
    const { conditions } = await world.routedIPs.status("vip");
    expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({
      reason: "PortsInUse",
      message: expect.stringContaining(`a name that shows an address there: ${bought(1)} on n1.`),
    });
    await world.pass();
    expect(world.writes()).toEqual([]);
    for (const state of world.cloud.state.firewalls) state.droplet_ids = [];
    await world.pass();
    expect(world.cloud.showFirewall()).toBe("tcp/22 |");
    expect(await world.routedIPs.existing()).toEqual([]);
    await inherited(world);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });

  scenario("a port that a deleted RoutedIP keeps is closed once its heir's address is elsewhere", async (world) => {
    await leftByRouted(world, { open: ["tcp/22"], nodes: ["n1"] });
    await world.pass();
    await world.pass();
    await world.machines("n2");
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(await world.show("heir")).toEqual(["new1 active n2"]);
    await world.pass();
    expect(world.cloud.showFirewall()).toBe("tcp/22 | n1");
    expect(await world.routedIPs.existing()).toEqual([]);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });
}

function ofDeleted(scenario: Register): void {
  scenario("a pool is deleted with Delete: another one that names its address and name serves on", async (world) => {
    await boughtBy(world, 1);
    await world.pools.create("heir", { ips: [bought(1)], ...NAMED });
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dnsWrites()).toEqual([]);
    await world.pass();
    await inherited(world);
    await atRest(world);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
  });

  scenario("a deleted pool's address that another one names moves at once when its node dies", async (world) => {
    await boughtBy(world, 1);
    await world.pools.create("heir", { ips: [bought(1)], ...NAMED });
    await world.pools.delete("web");
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual([expect.stringMatching(/^assign new1 to n(5|9)$/)]);
    await world.pass();
    expect(await world.pools.existing()).toEqual(["heir"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    await atRest(world);
  });

  scenario("a RoutedIP that names address and name of a pool deleted with Delete serves on", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    world.dns.zone("digitalocean");
    await world.pools.create("web", { desiredIPs: 1, ...CLEANS, ...NAMED });
    await world.pass();
    await world.routedIPs.create("vip", { address: bought(1), ...NAMED });
    await world.pools.delete("web");
    await world.pass();
    await world.pass();
    expect(await world.pools.existing()).toEqual([]);
    expect(await world.showRouted()).toEqual(["new1 active n1"]);
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(await world.showRouted()).toEqual(["new1 active n2"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
  });

  scenario("a deleted pool's addresses that nobody names are given back, beside one that is left", async (world) => {
    await boughtBy(world, 2);
    await world.pools.create("heir", { ips: [bought(1)], ...NAMED });
    await world.pools.delete("web");
    await atRest(world);
    await inherited(world);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
  });

  for (const [how, leave] of LEAVING)
    scenario(
      `nothing is given back while a name cannot be read that another pool takes over: ${how}`,
      async (world) => {
        await boughtBy(world, 2);
        world.cloud.address(ip(9));
        await world.pools.create("heir", { ips: [ip(9)], ...NAMED });
        await world.pass();
        world.fail({ side: "dns", provider: "digitalocean", operation: "records", kind: "500", times: 0 });
        await leave(world);
        for (let pass = 0; pass < 3; pass += 1) {
          await world.pass();
          expect(world.cloudWrites()).toEqual([]);
          world.advance(61 * SECOND);
        }
        expect(world.dns.set("digitalocean", WWW)).toEqual(["new1", "new2"]);
        world.clearFaults();
        await atRest(world);
        expect(world.dns.set("digitalocean", WWW)).toEqual(["ip9"]);
        expect(world.cloud.boughtNow()).not.toContain(bought(2));
      },
    );

  scenario("a listed address of a pool deleted with Delete goes to the one that names it, too", async (world) => {
    world.cloud.address(ip(1));
    await boughtBy(world, 1, { ips: [ip(1)] });
    await world.pools.create("heir", { ips: [ip(1)], ...NAMED });
    await world.pools.delete("web");
    await world.nodes.setReady("n1", false);
    await world.pass();
    await world.pass();
    expect(await world.pools.existing()).toEqual(["heir"]);
    expect(await world.show("heir")).toEqual([expect.stringMatching(/^ip1 active n(5|9)$/)]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1"]);
  });

  scenario("a deleted pool's address goes to nodes of its heir once no resolver has it", async (world) => {
    await boughtBy(world, 2);
    await world.recordSets.create("nodes", {
      dnsRecordSet: www("digitalocean", { recordName: "all" }),
      addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
    });
    await world.pass();
    await world.pools.create("rest", { ips: [bought(2)], ...NAMED, match: { nodeLabel: "role!=other" } });
    await world.pools.create("heir", { ips: [bought(1)], ...OTHERS });
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", "all.example.com")).toEqual(["new2"]);
    world.advance(50 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(11 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign new1 to n5"]);
    await atRest(world);
    expect(await world.pools.existing()).toEqual(["rest", "heir"]);
    expect(world.dns.set("digitalocean", "all.example.com")).toEqual(["new1", "new2"]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new2"]);
  });
}

/** What else keeps the deleted pool, or the run. */
function ofDeletedStopped(scenario: Register): void {
  scenario("a suspended pool that is being deleted keeps its address from its heir until resumed", async (world) => {
    await boughtBy(world, 1);
    await world.pools.edit("web", { suspend: true });
    await world.pools.delete("web");
    await world.pools.create("heir", { ips: [bought(1)], ...NAMED });
    const { remaining } = await world.pass();
    expect(await world.show("heir")).toEqual(["new1 error (Conflict)"]);
    expect(remaining.holds.find(({ kind }) => kind === "remove-finalizer")?.reason).toBe("Suspended");
    await world.pools.edit("web", { suspend: false });
    await world.pass();
    await world.pass();
    await inherited(world);
    await atRest(world);
  });

  scenario("a suspended heir loses nothing: the deletion ends, and its address stays in the account", async (world) => {
    await boughtBy(world, 1);
    await world.pools.create("heir", { ips: [bought(1)], ...NAMED, suspend: true });
    world.dnsSafety.allowEnd(WWW);
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.pass();
    expect(await world.pools.existing()).toEqual(["heir"]);
    await world.pools.edit("heir", { suspend: false });
    await atRest(world);
    await inherited(world);
  });

  scenario("runs that die anywhere while a deleted pool leaves its address never give it back", async (world) => {
    await boughtBy(world, 1);
    await world.pools.create("heir", { ips: [bought(1)], ...NAMED });
    await world.pools.delete("web");
    await world.nodes.setReady("n1", false);
    for (let write = 1; await world.crash(write); write += 1)
      expect(world.cloudWrites().filter((call) => call.startsWith("delete"))).toEqual([]);
    await atRest(world);
    expect(await world.pools.existing()).toEqual(["heir"]);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
  });

  for (const objects of [["shop/heir"], ["shop/web"]])
    scenario(
      `a run for ${objects.join()} alone does its part of a succession, and the next one the rest`,
      async (world) => {
        await boughtBy(world, 1);
        await world.pools.create("heir", { ips: [bought(1)], ...NAMED });
        await world.pools.delete("web");
        await world.pass({ selection: { objects } });
        await world.pass({ selection: { objects } });
        expect(world.cloudWrites()).toEqual([]);
        expect(await world.pools.existing()).toContain("web");
        await world.pass();
        await world.pass();
        await inherited(world);
        await atRest(world);
      },
    );
}

function ofSurplus(scenario: Register): void {
  scenario("a bought surplus address that another pool names goes to that one, and not back", async (world) => {
    await boughtBy(world, 2);
    await world.pools.create("heir", { ips: [bought(2)], match: { nodeLabel: "role!=other" } });
    await world.pass();
    expect(await world.show("heir")).toEqual(["new2 error (Conflict)"]);
    await world.pools.edit("web", { desiredIPs: 1 });
    await world.pass();
    expect(await world.show("heir")).toEqual(["new2 active n2"]);
    expect((await world.pools.status("web")).acquired.map((one) => one.ip)).toEqual([bought(1)]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    await atRest(world);
    expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
    world.dnsSafety.allowEnd(WWW);
    await world.pools.delete("web");
    await atRest(world);
    expect(world.cloud.boughtNow()).toEqual([bought(2)]);
    expect(await world.show("heir")).toEqual(["new2 active n2"]);
  });

  scenario("a bought surplus address drains before it goes to nodes of the pool that names it", async (world) => {
    await boughtBy(world, 2);
    await world.pools.create("heir", { ips: [bought(2)], ...OTHERS });
    await world.pools.edit("web", { desiredIPs: 1 });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    expect(await world.show("heir")).toEqual(["new2 no-match n2 (Draining)"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign new2 to n5"]);
    await atRest(world);
    expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
  });

  scenario("runs that die anywhere while a surplus address goes to another pool never give it back", async (world) => {
    await boughtBy(world, 2);
    await world.pools.create("heir", { ips: [bought(2)], ...OTHERS });
    await world.pools.edit("web", { desiredIPs: 1 });
    for (let write = 1; await world.crash(write); write += 1) expect(world.cloudWrites()).toEqual([]);
    world.advance(61 * SECOND);
    for (let write = 1; await world.crash(write); write += 1) world.advance(5 * SECOND);
    await atRest(world);
    expect(await world.show("heir")).toEqual(["new2 active n5"]);
    expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
  });

  scenario("two pools name a surplus address: the older one has it", async (world) => {
    await boughtBy(world, 2);
    world.advance(2000);
    // Where both are made within one second, the name decides.
    await world.pools.create("elder", { ips: [bought(2)] });
    world.advance(2000);
    await world.pools.create("heir", { ips: [bought(2)] });
    await world.pools.edit("web", { desiredIPs: 1 });
    await world.pass();
    expect(await world.show("elder")).toEqual(["new2 active n2"]);
    expect(await world.show("heir")).toEqual(["new2 error (Conflict)"]);
    await atRest(world);
    expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
  });

  scenario(
    "a surplus address goes to a suspended pool that names it: it is there when that is resumed",
    async (world) => {
      await boughtBy(world, 2);
      await world.pools.create("heir", { ips: [bought(2)], suspend: true });
      await world.pools.edit("web", { desiredIPs: 1 });
      await atRest(world);
      expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
      await world.pools.edit("heir", { suspend: false });
      await atRest(world);
      expect(await world.show("heir")).toEqual(["new2 active n2"]);
    },
  );

  scenario(
    "a surplus address goes to a pool of another shard that names it",
    async (world) => {
      await boughtBy(world, 2);
      await world.pools.create("heir", { ips: [bought(2)], match: { nodeLabel: "role!=other" } });
      await world.pools.label("heir", SHARD_LABEL, "b");
      await world.pools.edit("web", { desiredIPs: 1 });
      for (let round = 0; round < 4; round += 1) {
        await world.pass({ selection: { shard: "b" } });
        await world.pass();
        world.advance(61 * SECOND);
      }
      await world.pass();
      expect(world.writes()).toEqual([]);
      expect(await world.show("heir")).toEqual(["new2 active n2"]);
      expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
    },
    { worlds: ["memory"] },
  );
}

/** An heir that no provider gives addresses to does nothing yet. What it names stays for it, at whichever provider. */
function withoutProvider(scenario: Register): void {
  scenario("a deleted pool's address stays for a RoutedIP whose issuer is not there yet", async (world) => {
    await boughtBy(world, 1);
    await world.routedIPs.service();
    await world.routedIPs.create("vip", { address: bought(1) });
    world.dnsSafety.allowEnd(WWW);
    await world.pools.delete("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await atRest(world);
    expect(await world.pools.existing()).toEqual([]);
    expect(world.cloud.addresses()).toEqual({ new1: "n1" });
    await world.pods.create("web-n1", { node: "n1", labels: { app: "web" } });
    await world.routedIPs.issuer({ routedIPFirewallName: null });
    await world.pass();
    expect(await world.showRouted()).toEqual(["new1 active n1"]);
    await atRest(world);
    expect(world.cloud.boughtNow()).toEqual([bought(1)]);
  });

  scenario("a surplus address stays for a RoutedIP whose issuer is not there yet", async (world) => {
    await boughtBy(world, 2);
    await world.routedIPs.service();
    await world.routedIPs.create("vip", { address: bought(2) });
    await world.pools.edit("web", { desiredIPs: 1 });
    await atRest(world);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    expect(world.cloud.addresses()).toEqual({ new1: "n1", new2: "n2" });
    expect(await world.pools.status("web")).toMatchObject({ acquired: [{ ip: bought(1) }] });
    await world.pods.create("web-n2", { node: "n2", labels: { app: "web" } });
    await world.routedIPs.issuer({ routedIPFirewallName: null });
    await atRest(world);
    expect(await world.showRouted()).toEqual(["new2 active n2"]);
  });

  for (const [fault, provider] of [
    ["is mistyped", "digitalocaen"],
    ["gives no addresses", "cloudflare"],
  ] as const)
    scenario(
      `a deleted pool's address stays for a pool whose provider ${fault}, until that is right`,
      async (world) => {
        await boughtBy(world, 1);
        await world.pools.create("heir", { ips: [bought(1)], ...NAMED, provider });
        world.dnsSafety.allowEnd(WWW);
        await world.pools.delete("web");
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        await atRest(world);
        expect(await world.pools.existing()).toEqual(["heir"]);
        await world.pools.edit("heir", { provider: "digitalocean" });
        await atRest(world);
        await inherited(world);
      },
    );

  scenario("a deleted pool's address is given back although a pool of another provider names it", async (world) => {
    await boughtBy(world, 1);
    await world.pools.create("heir", { ips: [bought(1)], provider: "hetzner" });
    world.dnsSafety.allowEnd(WWW);
    await world.pools.delete("web");
    await atRest(world);
    expect(world.cloud.boughtNow()).toEqual([]);
  });
}

/** Who names an address and may not have it, or goes itself, inherits nothing. */
function withoutHeir(scenario: Register): void {
  scenario(
    "an address that a pool names without a grant is given back with its own pool",
    async (world) => {
      await boughtBy(world, 2);
      world.grants = "require";
      await world.grant({ addresses: ip(9) });
      await world.pools.create("heir", { ips: [bought(1), bought(2)] });
      await world.pools.edit("web", { desiredIPs: 1 });
      await atRest(world);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      world.dnsSafety.allowEnd(WWW);
      await world.pools.delete("web");
      await atRest(world);
      expect(world.cloud.boughtNow()).toEqual([]);
      expect(await world.pools.existing()).toEqual(["heir"]);
    },
    { onlySingleRuns: "a process that watches keeps its flags" },
  );

  scenario("an address that another pool names is given back when both are deleted", async (world) => {
    await boughtBy(world, 1);
    await world.pools.create("heir", {
      ips: [bought(1)],
      desiredIPs: 2,
      ...CLEANS,
      dnsRecordSet: www("digitalocean", { recordName: "heir" }),
    });
    await world.pass();
    for (const name of [WWW, "heir.example.com"]) world.dnsSafety.allowEnd(name);
    await world.pools.delete("web");
    await world.pools.delete("heir");
    await world.pass();
    world.advance(MINUTE);
    await world.pass();
    expect(world.cloud.boughtNow()).toEqual([]);
    expect(await world.pools.existing()).toEqual([]);
  });
}

/** Three passes, a minute apart, after which the name shows what the deleted pool had. */
async function staysNamed(world: World): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
    world.advance(61 * SECOND);
  }
}
