import { expect } from "vitest";
import { www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

/** A pool with a name of its own, and its nodes. */
async function poolOn(world: World, name: string, nodes: readonly string[], ips: readonly number[]): Promise<void> {
  for (const node of nodes) {
    world.cloud.droplet(node);
    await world.nodes.create(node, { labels: { role: name } });
  }
  const dnsRecordSet = www("digitalocean", { recordName: name });
  await world.pools.create(name, { ips: ips.map(ip), match: { nodeLabel: `role=${name}` }, dnsRecordSet });
}

function editIPs(world: World, name: string, ips: readonly number[]): Promise<void> {
  return world.pools.edit(name, { ips: ips.map(ip) });
}

/** What pools have makes room for other addresses, while something else is on its way: no name loses the last address that serves for that. */
export function swapScenarios(scenario: Register): void {
  scenario("the last address of a name stays while another node of its pool is just being left", async (world) => {
    world.dns.zone("digitalocean");
    for (const number of [1, 2, 3, 4, 5, 6]) world.cloud.address(ip(number));
    await poolOn(world, "a", ["n1", "n2"], [3, 1]);
    await poolOn(world, "b", ["n3", "n4"], [4, 6]);
    await world.pass();
    await editIPs(world, "a", [1, 6]);
    await editIPs(world, "b", [5, 2]);
    await world.pass();
    expect(world.cloudWrites()).toEqual([]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip3", "assign ip6 to n1", "assign ip5 to n4"]);
    expect(world.dns.set("digitalocean", "b.example.com")).toEqual(["ip5"]);
    world.advance(61 * SECOND);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["unassign ip4", "assign ip2 to n3"]);
  });

  scenario(
    "the last address of a record set stays while another one is on its way to a node of it",
    async (world) => {
      world.dns.zone("digitalocean");
      for (const number of [1, 2, 3, 4]) world.cloud.address(ip(number));
      await poolOn(world, "a", ["n1"], [2]);
      await poolOn(world, "b", ["n2"], [1]);
      await world.pass();
      await world.recordSets.create("s", {
        dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "s" },
        addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
      });
      await world.pass();
      expect(world.dns.set("digitalocean", "s.example.com")).toEqual(["ip1", "ip2"]);
      await editIPs(world, "b", [3]);
      await editIPs(world, "a", [4]);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip1", "assign ip3 to n2"]);
      expect(world.dns.set("digitalocean", "s.example.com")).toEqual(["ip3"]);
      world.advance(61 * SECOND);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["unassign ip2", "assign ip4 to n1"]);
      expect(world.dns.set("digitalocean", "s.example.com")).toEqual(["ip3", "ip4"]);
    },
    { onlySingleRuns: "one that watches lets the record set rest a moment before anything makes room" },
  );
}
