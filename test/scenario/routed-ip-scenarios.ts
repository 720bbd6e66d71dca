import { expect } from "vitest";
import { ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import { FINALIZER } from "../../src/model/resource.ts";
import { WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought, ip, ipv6, short } from "./scenario-names.ts";
import type { World } from "./world.ts";

/** Nodes with a ready pod `app=web` each, the Service `web` on port 30080, the issuer `cloud` and the closed firewall `web`. */
export async function routedScene(
  world: World,
  nodes: readonly string[],
  issuer: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await world.machines(...nodes);
  for (const node of nodes) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
  await world.routedIPs.service();
  await world.routedIPs.issuer(issuer);
  world.cloud.firewall();
}

async function ready(world: World, name = "vip"): Promise<string> {
  const { conditions } = await world.routedIPs.status(name);
  const found = conditions.find(({ type }) => type === "Ready");
  return `${found?.status} ${found?.reason}`;
}

/** RoutedIP `vip` of the Service `web` on n1, and the Service `mail` on port 30443 with a pod on each of `nodes`. */
async function mailScene(world: World, nodes: readonly string[]): Promise<void> {
  await routedScene(world, ["n1", "n2"]);
  await world.routedIPs.service([30443], "mail", { app: "mail" });
  for (const node of nodes) await world.pods.create(`mail-${node}`, { node, labels: { app: "mail" } });
  await world.routedIPs.create("vip", {});
  await world.pass();
  expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
}

/** Another Service takes an address to another node: the former one is let in where it is until it has left. */
function otherService(scenario: Register): void {
  scenario("the port of the former Service is closed after the address has left its node", async (world) => {
    await mailScene(world, ["n2"]);
    await world.routedIPs.edit("vip", { serviceName: "mail" });
    await world.pass();
    const [opened, added, moved, ...closed] = world.cloudWrites();
    expect([opened, added, moved]).toEqual(["open tcp/30443 on web", "add n2 to web", "assign new1 to n2"]);
    expect(closed.toSorted()).toEqual(["close tcp/30080 on web", "remove n1 from web"]);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });

  for (let write = 1; write <= 7; write += 1)
    scenario(
      `killed before write ${write} on the way to another Service, no address is at a closed port`,
      async (world) => {
        await mailScene(world, ["n2"]);
        await world.routedIPs.edit("vip", { serviceName: "mail" });
        await world.crash(write);
        const port = world.cloud.addresses()["new1"] === "n1" ? "tcp/30080" : "tcp/30443";
        expect(world.cloud.showFirewall()).toContain(port);
        await world.pass({ settle: true });
        expect(world.cloud.showFirewall()).toBe("tcp/30443 | n2");
      },
    );

  scenario("while the assignment fails, the port of the former Service stays open", async (world) => {
    await mailScene(world, ["n2"]);
    world.fail({ side: "cloud", operation: "assign", kind: "500", times: 2 });
    await world.routedIPs.edit("vip", { serviceName: "mail" });
    for (let time = 0; time < 2; time += 1) {
      await world.pass();
      expect(world.cloud.showFirewall()).toBe("tcp/30080 tcp/30443 | n1 n2");
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      world.advance(10 * 60_000);
    }
    await world.pass();
    expect(world.cloud.showFirewall()).toBe("tcp/30443 | n2");
  });

  scenario("while no node can take the address, the port of the former Service stays open", async (world) => {
    await mailScene(world, ["n2"]);
    await world.pods.setReady("mail-n2", false);
    await world.routedIPs.edit("vip", { serviceName: "mail" });
    await world.pass();
    await world.pass();
    expect(world.cloud.showFirewall()).toContain("tcp/30080");
    expect(world.writes()).toEqual([]);
    await world.pods.setReady("mail-n2", true);
    await world.pass();
    expect(world.cloud.showFirewall()).toBe("tcp/30443 | n2");
  });

  scenario("a port that two RoutedIPs leave is closed after both addresses have left", async (world) => {
    await mailScene(world, []);
    await world.routedIPs.create("other", {});
    await world.pass();
    await world.machines("n3", "n4");
    for (const node of ["n3", "n4"]) await world.pods.create(`mail-${node}`, { node, labels: { app: "mail" } });
    await world.pass();
    expect(world.cloud.addresses()).toEqual({ new1: "n1", new2: "n2" });
    world.fail({ side: "cloud", operation: "assign", kind: "500", subject: bought(2), times: 1 });
    for (const name of ["vip", "other"]) await world.routedIPs.edit(name, { serviceName: "mail" });
    await world.pass();
    expect(world.cloud.showFirewall()).toContain("tcp/30080 tcp/30443");
    world.advance(10 * 60_000);
    await world.pass();
    expect(world.cloud.showFirewall()).toBe("tcp/30443 | n3 n4");
    await world.pass();
    expect(world.writes()).toEqual([]);
  });
}

/** One address that follows a Service, with its firewall. */
export function routedIPScenarios(scenario: Register): void {
  scenario(
    "a RoutedIP opens its port, puts the node behind the firewall, then buys its address for it",
    async (world) => {
      await routedScene(world, ["n1", "n2"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web", "create for n1"]);
      expect(await world.showRouted()).toEqual(["new1 active n1"]);
      expect(await world.nodes.annotations()).toEqual({ n1: "new1 of routedip/shop/vip" });
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
      expect(await ready(world)).toBe("True Ready");
    },
  );

  scenario(
    "a RoutedIP with an address adopts it and never buys one, also while that is not in the account",
    async (world) => {
      await routedScene(world, ["n1"]);
      await world.routedIPs.create("vip", { address: ip(1) });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.showRouted()).toEqual(["ip1 error (IPNotFound)"]);
      world.cloud.address(ip(1));
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web", "assign ip1 to n1"]);
    },
  );

  scenario("a failover opens the new node first and takes the old one from the firewall last", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2", "remove n1 from web"]);
    expect(await world.nodes.annotations()).toEqual({ n2: "new1 of routedip/shop/vip" });
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
  });

  scenario("a node that fails without another to go to stays behind the firewall with the address", async (world) => {
    await routedScene(world, ["n1"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    await world.nodes.setReady("n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.showRouted()).toEqual(["new1 no-match n1 (NoCandidate)"]);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
  });

  scenario("another port of the Service is opened before the old one is closed", async (world) => {
    await routedScene(world, ["n1"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    await world.routedIPs.setPorts([30443]);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30443 on web", "close tcp/30080 on web"]);
    expect(world.cloud.showFirewall()).toBe("tcp/30443 | n1");
  });

  otherService(scenario);

  scenario("another firewall of the issuer is in step before the old one loses what flipop added", async (world) => {
    await routedScene(world, ["n1"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    world.cloud.firewall("edge", { open: ["tcp/22"] });
    await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: "edge" });
    await world.pass();
    expect(world.cloudWrites()).toEqual([
      "open tcp/30080 on edge",
      "add n1 to edge",
      "close tcp/30080 on web",
      "remove n1 from web",
    ]);
    expect([world.cloud.showFirewall("edge"), world.cloud.showFirewall()]).toEqual(["tcp/22 tcp/30080 | n1", "|"]);
  });

  scenario(
    "Delete: records, ports, node, address, in that order; nothing else of the firewall changes",
    async (world) => {
      await routedScene(world, ["n1"], { routedIPReclaimPolicy: "Delete" });
      world.cloud.firewall("web", { open: ["tcp/22"], nodes: [] });
      await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: "web" });
      world.cloud.state.firewalls = world.cloud.state.firewalls.slice(-1);
      await world.routedIPs.create("vip", {});
      await world.pass();
      expect(await world.routedIPs.finalizers("vip")).toEqual([FINALIZER]);
      await world.routedIPs.delete("vip");
      await world.pass();
      expect(world.cloudWrites()).toEqual([
        "close tcp/30080 on web",
        "remove n1 from web",
        "unassign new1",
        "delete new1",
      ]);
      expect(await world.routedIPs.existing()).toEqual([]);
      expect(await world.nodes.annotations()).toEqual({});
      expect(world.cloud.showFirewall()).toBe("tcp/22 |");
    },
  );

  scenario(
    "Delete: what a record set shows beside others stays behind open ports until no resolver has it",
    async (world) => {
      await routedScene(world, ["n1", "n2"], { routedIPReclaimPolicy: "Delete" });
      world.dns.zone("cloudflare");
      await world.routedIPs.create("vip", {});
      await world.pass();
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.recordSets.create("nodes", {
        addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
        dnsRecordSet: { provider: "cloudflare", zone: "example.com", recordName: "all" },
      });
      await world.pass();
      expect(world.dns.set("cloudflare", "all.example.com")).toHaveLength(2);
      await world.routedIPs.delete("vip");
      await world.pass();
      expect(world.dns.set("cloudflare", "all.example.com")).toEqual(["ip1"]);
      expect(world.cloudWrites()).toEqual([]);
      world.advance(61_000);
      await world.pass();
      expect(world.cloudWrites()).toEqual([
        "close tcp/30080 on web",
        "remove n1 from web",
        "unassign new1",
        "delete new1",
      ]);
      expect(await world.routedIPs.existing()).toEqual([]);
    },
  );

  scenario("Retain: a deleted RoutedIP leaves address, port and node as they are", async (world) => {
    await routedScene(world, ["n1"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    await world.routedIPs.delete("vip");
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.nodes.annotations()).toEqual({});
    expect(world.cloud.addresses()).toEqual({ new1: "n1" });
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
  });

  scenario(
    "a deleted RoutedIP stays while all else that a name has is behind a firewall that is missing",
    async (world) => {
      await routedScene(world, ["n1", "n2"], { routedIPReclaimPolicy: "Delete" });
      world.dns.zone("digitalocean");
      await world.routedIPs.create("vip", {});
      await world.routedIPs.create("second", {});
      await world.pass();
      await world.recordSets.create("all", { dnsRecordSet: www("digitalocean"), addressType: ADDRESS_ANNOTATION });
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new1", "new2"]);
      await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: "none" });
      await world.pass();
      await world.routedIPs.delete("vip");
      for (let pass = 0; pass < 5; pass++) {
        await world.pass();
        world.advance(61_000);
      }
      expect(await world.routedIPs.existing()).toEqual(["vip", "second"]);
      const { plan } = await world.pass();
      expect(world.writes()).toEqual([]);
      expect(plan.holds).toContainEqual(expect.objectContaining({ kind: "delete-ip", reason: "StillPublished" }));
      await world.routedIPs.issuers.edit("cloud", { routedIPFirewallName: "web" });
      for (let pass = 0; pass < 3; pass++) {
        await world.pass();
        world.advance(61_000);
      }
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
      expect(await world.routedIPs.existing()).toEqual(["second"]);
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
  );

  scenario("a given address is never deleted, with Delete neither", async (world) => {
    await routedScene(world, ["n1"], { routedIPReclaimPolicy: "Delete" });
    world.cloud.address(ip(1));
    await world.routedIPs.create("vip", { address: ip(1) });
    await world.pass();
    await world.routedIPs.delete("vip");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["close tcp/30080 on web", "remove n1 from web"]);
    expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
  });

  scenario("a port that two RoutedIPs need stays until the last one needs it no more", async (world) => {
    await routedScene(world, ["n1", "n2"], { routedIPReclaimPolicy: "Delete" });
    await world.routedIPs.create("vip", {});
    await world.pass();
    world.advance(1000);
    await world.routedIPs.create("second", {});
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "create for n2"]);
    await world.routedIPs.delete("vip");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["remove n1 from web", "unassign new1", "delete new1"]);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
    await world.routedIPs.delete("second");
    await world.pass();
    expect(world.cloudWrites()).toEqual([
      "close tcp/30080 on web",
      "remove n2 from web",
      "unassign new2",
      "delete new2",
    ]);
    expect(world.cloud.showFirewall()).toBe("|");
  });

  scenario(
    "a deleted RoutedIP leaves its node behind the firewall for the one that names the same address",
    async (world) => {
      await deletedBesideHeir(world);
      const writes: string[] = [];
      for (let passes = 0; passes < 3; passes += 1) {
        await world.pass();
        writes.push(...world.cloudWrites());
      }
      expect(writes).toEqual([]);
      expect(await world.showRouted("heir")).toEqual(["ip1 active n1"]);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
      expect(await world.routedIPs.existing()).toEqual(["heir"]);
    },
  );

  scenario(
    "statuses are stored slowly: what waits for the heir's record is done in the next pass",
    async (world) => {
      await deletedBesideHeir(world);
      world.takesMs = ({ method }) => (method === "patchRoutedIPStatus" ? 400 : 0);
      await world.pass();
      expect(await world.routedIPs.existing()).toEqual(["vip", "heir"]);
      await world.pass();
      world.takesMs = undefined;
      expect(await world.routedIPs.existing()).toEqual(["heir"]);
      expect(await world.showRouted("heir")).toEqual(["ip1 active n1"]);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
    },
    { worlds: ["memory"], onlySingleRuns: "a process that watches makes the next pass by itself" },
  );

  scenario("what a person opened and attached stays, whatever flipop needs of it", async (world) => {
    await world.machines("n1");
    await world.pods.create("web-n1", { node: "n1", labels: { app: "web" } });
    await world.routedIPs.service();
    await world.routedIPs.issuer({ routedIPReclaimPolicy: "Delete" });
    world.cloud.firewall("web", { open: ["tcp/30080"], nodes: ["n1"] });
    await world.routedIPs.create("vip", {});
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n1"]);
    await world.routedIPs.delete("vip");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign new1", "delete new1"]);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
  });

  scenario("a node that a tag of the firewall covers is not attached once more", async (world) => {
    await world.machines("n1");
    await world.pods.create("web-n1", { node: "n1", labels: { app: "web" } });
    await world.routedIPs.service();
    await world.routedIPs.issuer();
    world.cloud.firewall("web", { tags: ["edge"] });
    for (const droplet of world.cloud.state.droplets) droplet.tags = ["edge"];
    await world.routedIPs.create("vip", {});
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "create for n1"]);
  });

  scenario("a Service without selector is followed by its EndpointSlices", async (world) => {
    await world.machines("n1", "n2");
    await world.routedIPs.service([30080], "web", null);
    await world.routedIPs.issuer({ routedIPFirewallName: "" });
    await world.routedIPs.endpoints({ n1: false, n2: true });
    await world.routedIPs.create("vip", {});
    await world.pass();
    expect(world.cloudWrites()).toEqual(["create for n2"]);
    await world.routedIPs.endpoints({ n1: true, n2: false });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign new1 to n1"]);
  });

  scenario("the port closed, or the node detached, by hand is put right", async (world) => {
    await routedScene(world, ["n1"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    const [firewall] = world.cloud.state.firewalls;
    if (firewall === undefined) throw new Error("the firewall is gone");
    firewall.inbound_rules = [];
    firewall.droplet_ids = [];
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web"]);
    expect(await ready(world)).toBe("True Ready");
  });

  scenario("its name shows the address once the firewall is open, and keeps it over a failover", async (world) => {
    await routedScene(world, ["n1", "n2"], { routedIPReclaimPolicy: "Delete" });
    world.dns.zone("digitalocean", "example.com");
    await world.routedIPs.create("vip", { dnsRecordSet: { zone: "example.com", recordName: "www" } });
    await world.pass();
    expect(world.writes().filter((line) => !line.startsWith("status") && !line.startsWith("event"))).toEqual([
      "finalizer vip",
      "open tcp/30080 on web",
      "add n1 to web",
      "note vip",
      "create for n1",
      "note vip",
      "annotate n1",
      "do add new1 to www.example.com",
    ]);
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.dnsWrites()).toEqual([]);
    await world.routedIPs.delete("vip");
    world.dnsSafety.allowEnd("www.example.com");
    await world.pass();
    expect([...world.dnsWrites(), ...world.cloudWrites()]).toHaveLength(5);
    expect(world.dns.addresses("digitalocean", "www.example.com")).toEqual([]);
  });

  scenario("gracePeriodSeconds keeps address, firewall and name for a while", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", { gracePeriodSeconds: 60 });
    await world.pass();
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(61_000);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2", "remove n1 from web"]);
  });

  scenario(
    "of a pool and a RoutedIP that want one address the older object has it, and one node serves one of them",
    async (world) => {
      await routedScene(world, ["n1", "n2"]);
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      world.advance(1000);
      await world.routedIPs.create("vip", { address: ip(1) });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.showRouted()).toEqual(["ip1 error (Conflict)"]);
      await world.routedIPs.create("second", {});
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n2 to web", "create for n2"]);
      await world.pools.delete("web");
      await world.pass();
      expect(await world.nodes.annotations()).toEqual({
        n1: "ip1 of routedip/shop/vip",
        n2: "new1 of routedip/shop/second",
      });
    },
  );

  scenario("an object of the same name of the other kind is another object", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    world.cloud.address(ip(1));
    await world.pools.create("vip", { ips: [ip(1)] });
    await world.routedIPs.create("vip", {});
    await world.pass();
    expect(Object.values(await world.nodes.annotations()).toSorted()).toEqual([
      "ip1 of shop/vip",
      "new1 of routedip/shop/vip",
    ]);
    await world.pools.delete("vip");
    await world.pass();
    expect(Object.values(await world.nodes.annotations())).toEqual(["new1 of routedip/shop/vip"]);
  });

  familyScenarios(scenario);

  scenario("suspend changes nothing, and says what it would", async (world) => {
    await routedScene(world, ["n1"]);
    await world.routedIPs.create("vip", { suspend: true });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.routedIPs.edit("vip", { suspend: false });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web", "create for n1"]);
  });
}

/** Firewalls where a rule of a person lets one family in. */
function familyScenarios(scenario: Register): void {
  for (const [ipFamily, address, theirs] of [
    ["IPv6", ipv6(1), "tcp/30080 from 0.0.0.0/0"],
    ["IPv4", ip(1), "tcp/30080 from ::/0"],
  ] as const)
    scenario(
      `an ${ipFamily} RoutedIP opens its port beside ${theirs} of a person, and takes its own rule alone`,
      async (world) => {
        await routedScene(world, ["n1"], { ipFamily, routedIPReclaimPolicy: "Delete" });
        world.cloud.removeFirewall();
        world.cloud.firewall("web", { open: [theirs] });
        world.cloud.address(address);
        await world.routedIPs.create("vip", { address });
        await world.pass();
        expect(world.cloudWrites()).toEqual([
          "open tcp/30080 on web",
          "add n1 to web",
          `assign ${short(address)} to n1`,
        ]);
        expect(world.cloud.showFirewall()).toBe(`tcp/30080 ${theirs} | n1`);
        expect(await ready(world)).toBe("True Ready");
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        await world.routedIPs.delete("vip");
        await world.pass();
        expect(world.cloud.showFirewall()).toBe(`${theirs} |`);
        expect(await world.routedIPs.existing()).toEqual([]);
      },
    );

  for (const [ipFamily, address, theirs] of [
    ["IPv6", ipv6(1), "tcp/30080 from ::/0"],
    ["IPv4", ip(1), "tcp/30080 from 0.0.0.0/0"],
  ] as const)
    scenario(`an ${ipFamily} RoutedIP is served by ${theirs} of a person, and opens nothing`, async (world) => {
      await routedScene(world, ["n1"], { ipFamily });
      world.cloud.removeFirewall();
      world.cloud.firewall("web", { open: [theirs] });
      world.cloud.address(address);
      await world.routedIPs.create("vip", { address });
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n1 to web", `assign ${short(address)} to n1`]);
      expect(await ready(world)).toBe("True Ready");
    });

  scenario("RoutedIPs of both families share one rule, and the last of them takes it away", async (world) => {
    await routedScene(world, ["n1"], { ipFamily: "IPv6", routedIPReclaimPolicy: "Delete" });
    await world.routedIPs.issuer({ routedIPReclaimPolicy: "Delete" }, "cloud4");
    const theirs = "tcp/30080 from 0.0.0.0/0";
    world.cloud.removeFirewall();
    world.cloud.firewall("web", { open: [theirs] });
    for (const address of [ip(1), ipv6(1)]) world.cloud.address(address);
    await world.routedIPs.create("vip", { address: ipv6(1) });
    await world.routedIPs.create("vip4", { issuer: "cloud4", address: ip(1) });
    await world.pass();
    expect(world.cloud.showFirewall()).toBe(`tcp/30080 ${theirs} | n1`);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    await world.routedIPs.delete("vip");
    await world.pass();
    expect(world.cloud.showFirewall()).toBe(`tcp/30080 ${theirs} | n1`);
    await world.routedIPs.delete("vip4");
    await world.pass();
    expect(world.cloud.showFirewall()).toBe(`${theirs} |`);
    expect(await world.routedIPs.existing()).toEqual([]);
  });
}

/** A deleted RoutedIP `vip`, and `heir`, which names the same address and waits for it. */
async function deletedBesideHeir(world: World): Promise<void> {
  await routedScene(world, ["n1"], { routedIPReclaimPolicy: "Delete" });
  world.cloud.address(ip(1));
  await world.routedIPs.create("vip", { address: ip(1) });
  await world.pass();
  await world.routedIPs.create("heir", { address: ip(1) });
  await world.pass();
  expect(await world.showRouted("heir")).toEqual(["ip1 error (Conflict)"]);
  await world.routedIPs.delete("vip");
}
