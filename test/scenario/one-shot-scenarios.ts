import { expect } from "vitest";
import type { DNSName } from "../fake/dns-account.ts";
import { www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

type Edit = (world: World) => Promise<void>;

/** Changes that take drains: of pool `web` with two bought addresses on n1 and n2, beside n3, that gives back what it needs no more. */
const CHANGES: readonly (readonly [string, Edit])[] = [
  ["a node that serves has lost its label", (world) => relabel(world, "n1", "old")],
  ["an address is surplus", (world) => world.pools.edit("web", { desiredIPs: 1 })],
  ["another address is listed", (world) => world.pools.edit("web", { ips: [ip(1)] })],
  ["the one address that stays is another one", (world) => world.pools.edit("web", { ips: [ip(1)], desiredIPs: 1 })],
  ["a node dies", (world) => world.nodes.delete("n1")],
];

/** What a process leaves for the next one suffices for waits that last longer than any of them: runs every minute, none of which comes to its end. */
export function oneShotScenarios(scenario: Register): void {
  for (const change of CHANGES) dyingEveryMinute(scenario, "digitalocean", change);
}

/** The same where a machine may have several addresses. */
export function severalOneShotScenarios(scenario: Register): void {
  const change: Edit = (world) => world.pools.edit("web", { maxPerNode: 1 });
  dyingEveryMinute(scenario, "hetzner", ["a node may have one address less", change], { maxPerNode: 2 });
}

function dyingEveryMinute(
  scenario: Register,
  provider: DNSName,
  [what, edit]: (typeof CHANGES)[number],
  spec: Spec = {},
): void {
  for (const write of [3, 4, 5, 6])
    scenario(
      `runs every minute, each of which dies before write ${write}, get done: ${what}`,
      async (world) => {
        await served(world, provider, spec);
        await edit(world);
        for (let minute = 0; minute < 40; minute += 1) {
          await world.crash(write);
          world.advance(61_000);
        }
        await world.pass();
        expect(world.writes()).toEqual([]);
      },
      { onlySingleRuns: "It is about processes that know nothing of each other." },
    );
}

async function served(world: World, provider: DNSName, spec: Spec): Promise<void> {
  world.cloud.address(ip(1));
  world.dns.zone(provider);
  const nodes = "maxPerNode" in spec ? ["n1"] : ["n1", "n2"];
  for (const node of nodes) await labelled(world, node);
  const dnsRecordSet = www(provider);
  const match = { nodeLabel: "role=web" };
  await world.pools.create("web", {
    desiredIPs: 2,
    reclaimPolicy: "Delete",
    drainSeconds: 90,
    dnsRecordSet,
    match,
    ...spec,
  });
  await world.pass({ settle: true });
  expect(world.dns.addresses(provider, "www.example.com")).toHaveLength(2);
  await labelled(world, "n3");
}

async function labelled(world: World, node: string): Promise<void> {
  await world.machines(node);
  await relabel(world, node, "web");
}

async function relabel(world: World, node: string, role: string): Promise<void> {
  await world.nodes.patch(node, { metadata: { labels: { role } } });
}
