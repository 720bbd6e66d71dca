import { expect } from "vitest";
import { TRIES } from "../../src/model/waits.ts";
import { publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { CloudOperation } from "./operation-fault.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { bought, externalIP, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const BUSY = "Droplet already has a pending event.";

/** Only the provider in memory is waited for at no cost. */
const MEMORY = { worlds: ["memory"] } as const;

/** Passes with time between them, in which an attempt fails again and again. */
async function passSlowly(world: World, ...seconds: readonly number[]): Promise<void> {
  for (const one of seconds) {
    world.advance(one * SECOND);
    await world.pass();
  }
}

/** The provider refuses so many calls because it is busy with the machine; 0 = all. */
function keepBusy(world: World, operation: CloudOperation, times: number): void {
  world.fail({ side: "cloud", operation, kind: "422", message: BUSY, times });
}

/** Pool `web` has its address on n1; n2 and n3 wait. */
async function servedBesideTwo(world: World): Promise<void> {
  await world.machines("n1", "n2");
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)] });
  await world.pass();
  await world.machines("n3");
}

/** What serves nobody comes first: it waits for no other node, no other change, and no other failure than its own. */
export function recoveryFirstScenarios(scenario: Register): void {
  scenario(
    "an address whose new node is busy for long goes to the next one in the same pass",
    async (world) => {
      await servedBesideTwo(world);
      keepBusy(world, "assign", TRIES.busyChange.ms.length + 1);
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(new Set(world.cloudWrites())).toEqual(new Set(["assign ip1 to n2", "assign ip1 to n3"]));
      expect(world.cloudWrites().at(-1)).toBe("assign ip1 to n3");
      expect(await world.show()).toEqual(["ip1 active n3"]);
      expect(await world.nodes.annotations()).toEqual({ n3: "ip1" });
      await passSlowly(world, 600);
      expect(world.writes()).toEqual([]);
    },
    MEMORY,
  );

  scenario(
    "an address whose new node is busy for longer than runs last goes to the next one in the next run",
    async (world) => {
      await servedBesideTwo(world);
      keepBusy(world, "assign", 4);
      await world.nodes.setReady("n1", false);
      await world.pass({ deadlineMs: 5 * SECOND });
      expect((await world.pools.status("web")).retries).toMatchObject([
        { subject: `ip/${ip(1)}`, error: expect.stringContaining(BUSY) },
        { subject: expect.stringMatching(/^node\/n2\/./) },
      ]);
      world.advance(5 * SECOND);
      await world.pass({ deadlineMs: 5 * SECOND });
      expect(await world.show()).toEqual(["ip1 active n3"]);
      await passSlowly(world, 600);
      expect(world.writes()).toEqual([]);
    },
    MEMORY,
  );

  scenario(
    "an address whose only node is busy for long is in error, and another that serves keeps the name",
    async (world) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      world.dns.zone("digitalocean");
      await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www("digitalocean") });
      await world.pass();
      await world.machines("n3");
      keepBusy(world, "assign", 0);
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 error n1 (Failed)", "ip2 active n2"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
      world.clearFaults();
      await world.nodes.setReady("n1", true);
      await passSlowly(world, 600, 1);
      expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2"]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    },
    MEMORY,
  );

  scenario(
    "an address that cannot be bought for a node since that is busy is bought for the next one in the next run",
    async (world) => {
      await world.machines("n1", "n2");
      keepBusy(world, "create", 1);
      await world.pools.create("web", { desiredIPs: 1 });
      await world.pass();
      await passSlowly(world, 60);
      expect(await world.show()).toEqual(["new1 active n2"]);
      await passSlowly(world, 600);
      expect(world.writes()).toEqual([]);
    },
    MEMORY,
  );

  scenario("a node that is busy when it is put behind the firewall is passed over in the same pass", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    keepBusy(world, "add-machines", 1);
    await world.routedIPs.create("vip", {});
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web", "add n2 to web", "create for n2"]);
    await passSlowly(world, 600);
    expect(world.writes()).toEqual([]);
  });

  const takenAway: readonly [what: string, CloudOperation, (world: World) => Promise<void>][] = [
    ["the node before", "remove-machines", async () => undefined],
    ["a port before", "close-ports", (world) => world.routedIPs.setPorts([30443])],
  ];
  for (const [what, operation, before] of takenAway)
    scenario(`an address moves while its firewall does not let go of ${what}`, async (world) => {
      await routedScene(world, ["n1", "n2", "n3"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      world.fail({ side: "cloud", operation, kind: "422", times: 0 });
      await before(world);
      await world.pods.setReady("web-n1", false);
      await world.pass();
      expect(await world.showRouted()).toEqual(["new1 active n2"]);
      await passSlowly(world, 70, 330);
      await world.pods.setReady("web-n2", false);
      await world.pass();
      expect(await world.showRouted()).toEqual(["new1 active n3"]);
      world.clearFaults();
      await passSlowly(world, 600);
      expect(world.cloud.showFirewall()).toBe(operation === "close-ports" ? "tcp/30443 | n3" : "tcp/30080 | n3");
      expect((await world.routedIPs.status("vip")).retries).toEqual([]);
      await passSlowly(world, 600);
      expect(world.writes()).toEqual([]);
    });

  const notOpened: readonly [what: string, ports: readonly number[], (world: World) => void][] = [
    [
      "is refused",
      [30080, 30443],
      (world) => world.fail({ side: "cloud", operation: "open-ports", kind: "422", times: 0 }),
    ],
    ["has no room in its firewall", Array.from({ length: 51 }, (_, at) => 30080 + at), () => undefined],
  ];
  for (const [what, ports, refuse] of notOpened)
    scenario(`an address moves behind its firewall while a port that was added ${what}`, async (world) => {
      await routedScene(world, ["n1", "n2", "n3"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      refuse(world);
      await world.routedIPs.setPorts(ports);
      await world.pods.setReady("web-n1", false);
      await world.pass();
      expect(await world.showRouted()).toEqual(["new1 active n2"]);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
      await passSlowly(world, 70);
      await world.pods.setReady("web-n2", false);
      await world.pass();
      expect(await world.showRouted()).toEqual(["new1 active n3"]);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n3");
      world.clearFaults();
      await world.routedIPs.setPorts([30080, 30443]);
      await passSlowly(world, 600);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 tcp/30443 | n3");
      expect((await world.routedIPs.status("vip")).retries).toEqual([]);
      await passSlowly(world, 600);
      expect(world.writes()).toEqual([]);
    });

  scenario(
    "an address that could not leave a node where it serves moves at once when that node dies",
    async (world) => {
      await world.machines("n1", "n2");
      const label = (node: string, pool: string): Promise<void> =>
        world.nodes.patch(node, { metadata: { labels: { pool } } });
      for (const name of ["n1", "n2"]) await label(name, "a");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "pool=a" } });
      await world.pass();
      world.fail({ side: "cloud", operation: "assign", kind: "422", times: 0 });
      await label("n1", "b");
      await world.pass();
      await passSlowly(world, 61, 301, 601);
      const { retries } = await world.pools.status("web");
      expect(retries).toMatchObject([
        { subject: `ip-relocation/${ip(1)}` },
        { subject: expect.stringMatching(/^node\/n2\/./) },
      ]);
      world.clearFaults();
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n2"]);
      expect((await world.pools.status("web")).retries).toEqual([]);
      await passSlowly(world, 600);
      expect(world.writes()).toEqual([]);
    },
  );

  scenario("an address that is locked on a dead node leaves its name, as long as another one serves", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    await world.machines("n3");
    world.cloud.lock(ip(1));
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
    await world.nodes.setReady("n1", false);
    const { plan } = await world.pass();
    expect(plan.holds).toMatchObject([{ subject: ip(1), reason: "InProgress", detail: "" }]);
    expect(await world.show()).toEqual(["ip1 in-progress n1 (InProgress)", "ip2 active n2"]);
    expect((await world.pools.status("web")).ips[ip(1)]?.error).toBe("the provider is working on it");
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    await passSlowly(world, 600);
    expect(world.writes()).toEqual([]);
    await world.nodes.setReady("n2", false);
    await world.pass();
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    world.cloud.lock(ip(1), false);
    await passSlowly(world, 60, 60);
    expect(world.dns.set("digitalocean", WWW)).toContain("ip2");
    await passSlowly(world, 600);
    expect(world.writes()).toEqual([]);
  });

  scenario("an address whose firewall was deleted still moves off a dead node, and a person is told", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    await world.routedIPs.create("vip", {});
    await world.pass();
    world.cloud.removeFirewall("web");
    await world.pods.setReady("web-n1", false);
    const { remaining } = await world.pass();
    expect(await world.showRouted()).toEqual(["new1 active n2"]);
    expect(remaining.holds).toContainEqual(
      expect.objectContaining({ kind: "open-ports", reason: "FirewallNotFound", needsPerson: true }),
    );
    await passSlowly(world, 600);
    expect(world.writes()).toEqual([]);
    world.cloud.firewall();
    await passSlowly(world, 600);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
    await passSlowly(world, 600);
    expect(world.writes()).toEqual([]);
  });

  scenario("an address that could not be deleted and is needed again goes to a node at once", async (world) => {
    await world.machines("n1", "n2");
    await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" });
    await world.pass();
    world.fail({ side: "cloud", operation: "delete", kind: "403", times: 0 });
    await world.pools.edit("web", { desiredIPs: 1 });
    await world.pass();
    await passSlowly(world, 61, 301);
    expect((await world.pools.status("web")).retries).toMatchObject([{ subject: `ip-removal/${bought(2)}` }]);
    world.cloud.removeAddress(bought(1));
    await world.pass();
    expect(await world.show()).toContain("new2 active n1");
    expect((await world.pools.status("web")).retries).toEqual([]);
  });

  scenario(
    "a name whose TTL cannot be changed shows the next node at once",
    async (world) => {
      await publishedNodes(world, "digitalocean", ["n1"]);
      world.fail({ side: "dns", provider: "digitalocean", operation: "set-ttl", kind: "422", times: 0 });
      await world.recordSets.edit("nodes", { dnsRecordSet: www("digitalocean", { ttl: 120 }) });
      await world.pass();
      await passSlowly(world, 61, 301);
      expect((await world.recordSets.status("nodes")).retries).toMatchObject([
        { subject: `dns-ttl/digitalocean/${WWW}` },
      ]);
      await world.machines("n2");
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([externalIP(2)]);
      world.clearFaults();
      await passSlowly(world, 600, 600);
      expect((await world.recordSets.status("nodes")).retries).toEqual([]);
    },
    { worlds: ["memory", "sandbox"] },
  );
}
