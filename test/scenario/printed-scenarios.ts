import { expect } from "vitest";
import { publishedNodes, publishedPool, www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";

/** What `kubectl get` can print because status has it as text. */
export function printedScenarios(scenario: Register): void {
  scenario(
    "the summary of a pool counts active addresses of those it should hold, and names their nodes",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2", "n3"]);
      expect((await world.pools.status("web")).summary).toEqual({ addresses: "3/3", nodes: "n1 +2" });
      for (const node of ["n1", "n3"]) await world.nodes.setReady(node, false);
      await world.pass();
      expect((await world.pools.status("web")).summary).toEqual({ addresses: "1/3", nodes: "n2" });
    },
  );

  scenario("the summary of a pool counts by desiredIPs, and names no node where nothing is active", async (world) => {
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)], desiredIPs: 2 });
    await world.pass();
    expect((await world.pools.status("web")).summary).toEqual({ addresses: "0/2", nodes: "" });
    await world.machines("n1");
    await world.pass();
    expect((await world.pools.status("web")).summary).toEqual({ addresses: "1/2", nodes: "n1" });
    await world.pools.edit("web", { provider: "nowhere" });
    await world.pass();
    const { summary, error } = await world.pools.status("web");
    expect({ summary, error }).toEqual({
      summary: { addresses: "1/2", nodes: "n1" },
      error: 'unknown provider "nowhere"',
    });
  });

  scenario("the summary of a record set counts the addresses that have a record", async (world) => {
    await publishedNodes(world, "cloudflare", ["n1", "n2"]);
    expect((await world.recordSets.status("nodes")).summary).toEqual({ addresses: "2/2" });
    for (const node of ["n1", "n2"]) await world.nodes.setReady(node, false);
    await world.pass();
    expect((await world.recordSets.status("nodes")).summary).toEqual({ addresses: "0/0" });
  });

  scenario("a record set whose zone does not exist has no summary before one is known", async (world) => {
    await world.machines("n1");
    world.dns.zone("digitalocean");
    await world.recordSets.create("nodes", { dnsRecordSet: www("digitalocean", { zone: "example.net" }) });
    await world.pass();
    expect((await world.recordSets.status("nodes")).summary).toBeUndefined();
  });
}
