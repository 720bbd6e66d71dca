import { expect, test } from "vitest";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const NODES = ["n1", "n2", "n3"] as const;
const SPEC = { desiredIPs: 1, match: { nodeLabel: "" } };

/** Three nodes, and a pool that has acquired an address and is at rest. */
async function aPoolThatAcquired(): Promise<{ world: WatchWorld; watcher: Watcher; holder: string }> {
  const world = new WatchWorld();
  await world.setUp(...NODES);
  await world.pools.create("web", SPEC);
  const watcher = world.watch();
  await world.clock.advance(10_000);
  const [holder = "", ...others] = holders(world);
  expect(others).toEqual([]);
  watcher.provider.recorded.length = 0;
  return { world, watcher, holder };
}

function holders(world: WatchWorld): readonly string[] {
  return Object.values(world.cloud.addresses());
}

async function annotated(world: WatchWorld): Promise<readonly string[]> {
  return Object.keys(await world.nodes.annotations());
}

test.for([0, 300, 2000, 4000])(
  "a pool that is deleted and made again %d ms later has the address that it acquired, where it was",
  async (ms) => {
    const { world, watcher, holder } = await aPoolThatAcquired();
    await world.pools.delete("web");
    await world.clock.advance(ms);
    await world.pools.create("web", SPEC);
    await world.clock.advance(60_000);
    expect(holders(world)).toEqual([holder]);
    expect(watcher.provider.recorded.map(({ operation }) => operation)).not.toContain("create");
    expect(await annotated(world)).toEqual([holder]);
    expect(Object.keys((await world.pools.status("web")).ips)).toHaveLength(1);
  },
);

test("a pool that is deleted and made again while a neighbour hangs has the address that it acquired in the same pass", async () => {
  const world = new WatchWorld();
  await world.setUp(...NODES);
  world.dns.world.zone("cloudflare");
  const watcher = world.watch();
  await world.clock.advance(3000);
  world.takesMs = ({ port, method }) => (port === "cloudflare" && method === "writeRecords" ? 40_000 : undefined);
  const dnsRecordSet = { provider: "cloudflare", zone: "example.com", recordName: "www" };
  await world.recordSets.create("www", { dnsRecordSet, match: { nodeLabel: "" } });
  await world.clock.advance(1000);
  const passes = watcher.turns.length;
  await world.pools.create("web", SPEC);
  await world.clock.advance(2000);
  const [holder = "none"] = holders(world);
  await world.pools.delete("web");
  await world.clock.advance(300);
  await world.pools.create("web", SPEC);
  await world.clock.advance(2000);
  expect(watcher.turns.length).toBe(passes);
  await world.clock.advance(60_000);
  expect(holders(world)).toEqual([holder]);
  expect(await annotated(world)).toEqual([holder]);
});

test("what a deleted pool left on a node is cleared after five seconds, whatever happens meanwhile", async () => {
  const { world, holder } = await aPoolThatAcquired();
  await world.pools.delete("web");
  for (let at = 0; at < 18; at += 1) {
    await world.nodes.setReady("n3", at % 2 === 0);
    await world.clock.advance(250);
  }
  expect(await annotated(world)).toEqual([holder]);
  await world.clock.advance(1000);
  expect(await annotated(world)).toEqual([]);
});

test("another pool may take an address that a deleted pool left at once", async () => {
  const { world, holder } = await aPoolThatAcquired();
  const ips = world.cloud.allAddresses().map(({ ip }) => ip);
  const target = NODES.find((name) => name !== holder) ?? "";
  await world.nodes.patch(target, { metadata: { labels: { role: "other" } } });
  await world.pools.delete("web");
  await world.pools.create("other", { ips, match: { nodeLabel: "role=other" } });
  await world.clock.advance(2000);
  expect(holders(world)).toEqual([target]);
  await world.clock.advance(10_000);
  expect(await annotated(world)).toEqual([target]);
});
