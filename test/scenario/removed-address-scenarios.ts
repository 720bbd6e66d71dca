import { expect } from "vitest";
import { WWW, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { bought, ip } from "./scenario-names.ts";

/** Addresses that a pool no longer wants, or that a deleted pool leaves. */
export function removedAddressScenarios(scenario: Register): void {
  scenario("what left the spec before there was a name never enters it", async (world) => {
    await world.machines("n1", "n2");
    for (const address of [ip(1), ip(2), ip(3)]) world.cloud.address(address);
    world.dns.zone("digitalocean");
    await world.pools.create("web", { ips: [ip(1), ip(2)] });
    await world.pass();
    await world.pools.edit("web", { ips: [ip(3)], dnsRecordSet: www("digitalocean") });
    await world.pass();
    await world.pass();
    expect(world.writes()).toEqual([]);
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ip3"]);
    expect(world.dns.history("digitalocean", WWW)).toEqual(["ip3"]);
  });

  scenario(
    "an address removed from the spec: its annotation goes, it stays attached until its droplet is needed",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      await world.pools.create("web", { ips: [ip(1), ip(2)] });
      await world.pass();
      await world.pools.edit("web", { ips: [ip(1)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
      expect((await world.pools.status("web")).released.map((entry) => entry.ip)).toEqual([ip(2)]);
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip2", "assign ip1 to n2"]);
      expect((await world.pools.status("web")).released).toEqual([]);
    },
  );

  scenario("a swap on one droplet is one pass", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    world.cloud.address(ip(2));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    await world.pools.edit("web", { ips: [ip(2)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip2 to n1"]);
    expect(await world.show()).toEqual(["ip2 active n1"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip2" });
    expect(world.cloud.addresses()).toEqual({ ip1: "-", ip2: "n1" });
  });

  scenario(
    "a swap whose unassignment fails: the new address is not sent, and the next due pass does it",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      await world.pools.edit("web", { ips: [ip(2)] });
      world.fail({ side: "cloud", operation: "unassign", subject: ip(1), kind: "500", times: 2 });
      await world.pass();
      expect(world.cloudWrites().filter((line) => line.startsWith("assign"))).toEqual([]);
      world.clearFaults();
      world.advance(600_000);
      await world.pass();
      expect(await world.show()).toEqual(["ip2 active n1"]);
    },
  );

  scenario(
    "a swap whose assignment fails: the annotation of the address that left goes all the same",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      await world.pools.edit("web", { ips: [ip(2)] });
      world.cloud.state.settings.fail_actions_of = [ip(2)];
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip2 to n1"]);
      expect(await world.nodes.annotations()).toEqual({});
      world.cloud.state.settings.fail_actions_of = [];
      world.advance(600_000);
      await world.pass();
      expect(await world.show()).toEqual(["ip2 active n1"]);
    },
  );

  scenario("an address moved from one pool to another keeps its droplet", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pools.create("other", { ips: [ip(9)] });
    await world.pass();
    await world.pools.edit("web", { ips: [ip(8)] });
    await world.pools.edit("other", { ips: [ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    expect(await world.show("other")).toEqual(["ip1 active n1"]);
    expect(await world.nodes.annotations()).toEqual({ n1: "ip1 of shop/other" });
  });

  scenario(
    "76 pool deleted: annotations go in the next pass, addresses stay, another pool can use them",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      await world.pass();
      await world.pools.delete("web");
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.nodes.annotations()).toEqual({});
      expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
      await world.pools.create("other", { ips: [ip(1)] });
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1 of shop/other" });
    },
  );

  scenario(
    "76b pool with bought addresses deleted with Retain: nothing is deleted, its annotations go",
    async (world) => {
      await world.machines("n1");
      await world.pools.create("web", { desiredIPs: 1 });
      await world.pass();
      await world.pools.delete("web");
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(world.cloud.boughtNow()).toEqual([bought(1)]);
      expect(await world.nodes.annotations()).toEqual({});
    },
  );
}
