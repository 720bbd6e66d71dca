import { expect, test } from "vitest";
import { ip } from "../scenario/scenario-names.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const NAMES = Array.from({ length: 20 }, (_, at) => `n${at + 1}`);

/** A record set over twenty nodes, watched, at rest. */
async function aWatchedName(provider: "digitalocean" | "cloudflare"): Promise<{ world: WatchWorld; watcher: Watcher }> {
  const world = new WatchWorld();
  await world.setUp(...NAMES);
  world.dns.world.zone(provider);
  const dnsRecordSet = { provider, zone: "example.com", recordName: "www", ttl: 60 };
  await world.recordSets.create("www", { dnsRecordSet, match: { nodeLabel: "" } });
  const watcher = world.watch();
  await world.clock.advance(5000);
  expect(world.dns.world.set(provider, "www.example.com")).toHaveLength(20);
  watcher.dns[provider].recorded.length = 0;
  watcher.cluster.writes.length = 0;
  return { world, watcher };
}

test.for(["digitalocean", "cloudflare"] as const)(
  "ten of twenty nodes that leave a name within five seconds cost one list of it at %s",
  async (provider) => {
    const { world, watcher } = await aWatchedName(provider);
    for (const name of NAMES.slice(0, 10)) {
      await world.nodes.setReady(name, false);
      await world.clock.advance(450);
    }
    await world.clock.advance(3000);
    expect(world.dns.world.set(provider, "www.example.com")).toHaveLength(10);
    const operations = watcher.dns[provider].recorded.map(({ operation }) => operation);
    expect(operations.filter((operation) => operation === "records")).toHaveLength(1);
    expect(operations.length).toBeLessThanOrEqual(provider === "digitalocean" ? 11 : 2);
  },
);

test("one node that leaves is out of the name after half a second", async () => {
  const { world } = await aWatchedName("digitalocean");
  await world.nodes.setReady("n1", false);
  await world.clock.advance(450);
  expect(world.dns.world.set("digitalocean", "www.example.com")).toHaveLength(20);
  await world.clock.advance(200);
  expect(world.dns.world.set("digitalocean", "www.example.com")).toHaveLength(19);
});

test("one node that leaves is out of the name after half a second, although the addresses of a pool get no answer", async () => {
  const { world } = await aWatchedName("cloudflare");
  world.cloud.address(ip(1), { on: "n20" });
  world.takesMs = ({ port }) => (port === "addresses" ? 25_000 : undefined);
  await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "role=web" } });
  await world.clock.advance(3000);
  for (const [at, name] of ["n1", "n2", "n3"].entries()) {
    await world.nodes.setReady(name, false);
    await world.clock.advance(700);
    expect(world.dns.world.set("cloudflare", "www.example.com")).toHaveLength(19 - at);
    await world.clock.advance(9000);
  }
});

test("nodes that never stand still are followed after five and a half seconds all the same", async () => {
  const { world } = await aWatchedName("cloudflare");
  for (let at = 0; at < 20; at += 1) {
    await world.nodes.setReady(NAMES[at % 5] ?? "", at % 2 === 0);
    await world.clock.advance(300);
  }
  expect(world.dns.world.set("cloudflare", "www.example.com").length).toBeLessThan(20);
});

test("a wait of half a second is written nowhere: one status for the change", async () => {
  const { world, watcher } = await aWatchedName("digitalocean");
  await world.nodes.setReady("n1", false);
  await world.clock.advance(3000);
  expect(
    watcher.cluster.writes.map(({ operation }) => operation).filter((text) => text.includes("status")),
  ).toHaveLength(1);
});

test("an address that a name shows stays on its machine while the name waits for its nodes to stand still", async () => {
  const { world, www } = await aSharedName();
  await world.recordSets.create("www", {
    addressType: "flipop.digitalocean.com/ipv4-reserved-ip",
    dnsRecordSet: www,
    match: { nodeLabel: "" },
  });
  await world.clock.advance(5000);
  expect(world.dns.world.set("cloudflare", "www.example.com")).toEqual(["ip1", "ip2"]);
  world.cloud.address(ip(3));
  await world.pools.edit("web", { ips: [ip(1), ip(3)] });
  await world.clock.advance(450);
  expect(world.dns.world.set("cloudflare", "www.example.com")).toEqual(["ip1", "ip2"]);
  expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "n2", ip3: "-" });
  await world.clock.advance(5000);
  expect(world.dns.world.set("cloudflare", "www.example.com")).toEqual(["ip1"]);
  expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "n2", ip3: "-" });
  await world.clock.advance(61_000);
  expect(world.dns.world.set("cloudflare", "www.example.com")).toEqual(["ip1", "ip3"]);
  expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "-", ip3: "n2" });
});

test("a name that goes from a deleted pool to a record set is not emptied while it waits", async () => {
  const { world, www } = await aSharedName();
  await world.pools.edit("web", { dnsRecordSet: www, reclaimPolicy: "Delete" });
  await world.clock.advance(3000);
  await world.recordSets.create("www", { dnsRecordSet: www, match: { nodeLabel: "" } });
  await world.clock.advance(3000);
  await world.pools.delete("web");
  await world.clock.advance(450);
  expect(world.dns.world.set("cloudflare", "www.example.com")).toEqual(["ip1", "ip2"]);
  await world.clock.advance(3000);
  expect(world.dns.world.set("cloudflare", "www.example.com")).toEqual(["ext1", "ext2"]);
  expect(await world.pools.existing()).toEqual([]);
});

/** Two addresses on two nodes, watched, and a zone; nothing is published yet. */
async function aSharedName(): Promise<{
  readonly world: WatchWorld;
  readonly www: Readonly<Record<string, unknown>>;
}> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  world.dns.world.zone("cloudflare");
  for (const number of [1, 2]) world.cloud.address(ip(number), { on: `n${number}` });
  await world.pools.create("web", { ips: [ip(1), ip(2)] });
  world.watch();
  await world.clock.advance(5000);
  return { world, www: { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 } };
}
