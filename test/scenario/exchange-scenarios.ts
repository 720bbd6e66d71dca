import { expect } from "vitest";
import { www } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const SECOND = 1000;

/** Pools with a name and as many nodes of their own as addresses. Each was just given all addresses of the next one. Returns the pools. */
export async function exchanging(
  world: World,
  pools: readonly string[],
  each: number,
  { provider = "digitalocean", perNode = 1, spec = {} }: ExchangeOptions = {},
): Promise<readonly string[]> {
  world.dns.zone(provider);
  for (const [at, recordName] of pools.entries()) {
    for (const count of Array.from({ length: each / perNode }).keys()) {
      const node = `n${(at * each) / perNode + count + 1}`;
      world.cloud.droplet(node);
      await world.nodes.create(node, { labels: { role: recordName } });
    }
    const ips = addressesAt(at, each);
    for (const address of ips) world.cloud.address(address);
    const dnsRecordSet = www(provider, { recordName });
    await world.pools.create(recordName, { ips, match: { nodeLabel: `role=${recordName}` }, dnsRecordSet, ...spec });
  }
  await world.pass();
  for (const [at, name] of pools.entries())
    await world.pools.edit(name, { ips: addressesAt((at + 1) % pools.length, each) });
  return pools;
}

interface ExchangeOptions {
  readonly provider?: "digitalocean" | "cloudflare" | "hetzner";
  readonly perNode?: number;
  readonly spec?: Spec;
}

function addressesAt(at: number, each: number): readonly string[] {
  return Array.from({ length: each }, (_one, count) => ip(at * each + count + 1));
}

/** Plays until all pools have the addresses that they were given. No name is ever empty. */
export async function exchanged(
  world: World,
  pools: readonly string[],
  each: number,
  {
    provider = "digitalocean",
    settle = false,
    isChain = false,
  }: ExchangeOptions & { readonly settle?: boolean; readonly isChain?: boolean } = {},
): Promise<void> {
  for (let round = 0; round < 16; round += 1) {
    await world.pass(settle ? { settle } : {});
    world.advance(61 * SECOND);
  }
  await world.pass();
  expect(world.writes()).toEqual([]);
  for (const [at, name] of pools.entries()) {
    const fqdn = `${name}.example.com`;
    const place = isChain ? at + 1 : (at + 1) % pools.length;
    const given = Array.from({ length: each }, (_one, count) => `ip${place * each + count + 1}`);
    expect(world.dns.set(provider, fqdn)).toEqual(given);
    expect(world.dns.history(provider, fqdn)).not.toContain("");
    expect(await world.show(name)).toHaveLength(each);
    for (const line of await world.show(name)) expect(line).toContain("active");
  }
}

const RINGS = [
  { pools: ["a", "b"], each: 1 },
  { pools: ["a", "b"], each: 2 },
  { pools: ["a", "b", "c"], each: 2 },
] as const;

/** Pools of different nodes exchange all their addresses, no node is free, and something else goes wrong. */
export function exchangeScenarios(scenario: Register): void {
  whileNamesFail(scenario);
  whileSuspended(scenario);
  whileKilled(scenario);
  inChains(scenario);
  bothAtOnce(scenario);
}

function whileNamesFail(scenario: Register): void {
  for (const [kind, operation] of [
    ["500", "records"],
    ["429", "records"],
    ["403", "records"],
    ["timeout", "remove-record"],
    ["403", "add-record"],
  ] as const)
    scenario(
      `two pools exchange all addresses while ${operation} is answered ${kind}: then they change places`,
      async (world) => {
        await exchanging(world, ["a", "b"], 2);
        await world.pass();
        world.fail({ side: "dns", provider: "digitalocean", operation, kind, times: 0 });
        for (let round = 0; round < 6; round += 1) {
          await world.pass();
          world.advance(61 * SECOND);
        }
        world.clearFaults();
        world.advance(600 * SECOND);
        await exchanged(world, ["a", "b"], 2);
      },
    );

  scenario("three pools exchange all addresses while a name cannot be read, each run to its end", async (world) => {
    await exchanging(world, ["a", "b", "c"], 2, { provider: "cloudflare" });
    world.fail({ side: "dns", provider: "cloudflare", operation: "records", kind: "403", times: 0 });
    for (let round = 0; round < 3; round += 1) {
      await world.pass({ settle: true });
      world.advance(61 * SECOND);
    }
    world.clearFaults();
    world.advance(600 * SECOND);
    await exchanged(world, ["a", "b", "c"], 2, { provider: "cloudflare", settle: true });
  });
}

function whileSuspended(scenario: Register): void {
  for (const after of [0, 1, 2, 3])
    scenario(
      `three pools exchange all addresses, and one is suspended after ${after} passes: nothing is lost`,
      async (world) => {
        await exchanging(world, ["a", "b", "c"], 2);
        for (let pass = 0; pass < after; pass += 1) {
          await world.pass();
          world.advance(61 * SECOND);
        }
        await world.pools.edit("b", { suspend: true });
        for (let round = 0; round < 4; round += 1) {
          await world.pass();
          world.advance(61 * SECOND);
        }
        await world.pass();
        await world.pass();
        expect(world.writes()).toEqual([]);
        await world.pools.edit("b", { suspend: false });
        await exchanged(world, ["a", "b", "c"], 2);
      },
    );
}

function whileKilled(scenario: Register): void {
  for (const { pools, each } of RINGS)
    scenario(`${pools.length} pools exchange ${each} addresses each, and runs die before each write`, async (world) => {
      await exchanging(world, pools, each);
      for (let round = 0; round < 3; round += 1) {
        for (let write = 1; write < 40 && (await world.crash(write)); write += 1) world.advance(5 * SECOND);
        world.advance(61 * SECOND);
      }
      await exchanged(world, pools, each);
    });
}

/** Pools that are each given the addresses of the one before or after: the last of them gets new ones, and those of the first are nobody's. */
function inChains(scenario: Register): void {
  for (const pools of CHAINS) {
    for (const each of [1, 2]) {
      const title = `pools ${pools.join(", ")} pass ${each === 1 ? "an address" : "two addresses"} each on in a chain`;
      scenario(title, async (world) => {
        await chained(world, pools, each);
        await exchanged(world, pools, each, { isChain: true });
      });
      scenario(`${title}, and runs die before each write`, async (world) => {
        await chained(world, pools, each);
        for (let write = 1; write < 60 && (await world.crash(write)); write += 1) world.advance(5 * SECOND);
        await exchanged(world, pools, each, { isChain: true });
      });
    }
  }
}

const CHAINS = [
  ["a", "b"],
  ["b", "a"],
  ["a", "b", "c"],
  ["c", "b", "a"],
] as const;

async function chained(world: World, pools: readonly string[], each: number): Promise<void> {
  await exchanging(world, pools, each);
  const ips = addressesAt(pools.length, each);
  for (const address of ips) world.cloud.address(address);
  await world.pools.edit(pools.at(-1) ?? "", { ips });
}

function bothAtOnce(scenario: Register): void {
  for (const [own, whose] of [
    [3, "keeps its own"],
    [5, "gets a new one, too"],
  ] as const)
    scenario(
      `both addresses leave a name, one with its node and one to a pool that ${whose}: one goes after the other`,
      async (world) => {
        await exchanging(world, ["a"], 2);
        world.cloud.droplet("n4");
        await world.nodes.create("n4", { labels: { role: "b" } });
        const dnsRecordSet = www("digitalocean", { recordName: "b" });
        for (const number of [3, 4, 5, 6]) world.cloud.address(ip(number));
        await world.pools.create("b", { ips: [ip(3)], match: { nodeLabel: "role=b" }, dnsRecordSet });
        await world.pass();
        await world.nodes.patch("n1", { metadata: { labels: { role: "b" } } });
        await world.pass();
        await world.pools.edit("a", { ips: [ip(4)] });
        await world.pools.edit("b", { ips: [ip(own), ip(2)] });
        await world.pass();
        expect(world.cloudWrites()).toEqual([]);
        expect(world.dns.set("digitalocean", "a.example.com")).toHaveLength(1);
        for (let round = 0; round < 4; round += 1) {
          world.advance(61 * SECOND);
          await world.pass();
        }
        expect(await world.show("a")).toEqual(["ip4 active n2"]);
        for (const line of await world.show("b")) expect(line).toContain("active");
        expect(world.dns.history("digitalocean", "a.example.com")).not.toContain("");
      },
    );
}
