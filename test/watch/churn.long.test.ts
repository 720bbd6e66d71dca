import { describe, expect, test } from "vitest";
import { lastOfEach } from "../fake/memory-warm-cluster.ts";
import { ip, short } from "../scenario/scenario-names.ts";
import { ChurnTruth } from "./churn-truth.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const MINUTE = 60_000;
const ALL = { match: { nodeLabel: "" } };
const WWW = "www.example.com";
const CALLS = ["list", "get", "assign", "records"];

/** Nodes n1 to nN, addresses 1 to `addresses`, and a name for all nodes; watched, at rest. */
async function aWatchedWorld(
  count: number,
  addresses: number,
): Promise<{ readonly world: WatchWorld; readonly watcher: Watcher; readonly truth: ChurnTruth }> {
  const world = new WatchWorld();
  await world.setUp(...nodes(count));
  world.dns.world.zone("cloudflare");
  for (let number = 1; number <= addresses; number += 1) world.cloud.address(ip(number));
  await world.pools.create("web", { ips: addressesTo(addresses), ...ALL });
  const dnsRecordSet = { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 };
  await world.recordSets.create("www", { dnsRecordSet, ...ALL });
  const watcher = world.watch();
  await world.clock.advance(10_000);
  return { world, watcher, truth: new ChurnTruth(world, watcher) };
}

function nodes(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `n${at + 1}`);
}

function addressesTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => ip(at + 1));
}

/** A linear congruential generator: the same changes every time. */
function chance(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % limit;
  };
}

/** The world stands still for a while in which nothing is written, and everything is as it should be. */
async function expectRest(world: WatchWorld, truth: ChurnTruth, addresses: number): Promise<void> {
  await world.clock.advance(10 * MINUTE);
  const writes = truth.writes();
  await world.clock.advance(5 * MINUTE);
  expect(truth.writes() - writes, "nothing is written at rest").toBe(0);
  expect(truth.wrongs).toEqual([]);
  expect(truth.dnsSafety.violations).toEqual([]);
  const { ips } = await world.pools.status("web");
  const active = Object.entries(ips).flatMap(([address, { state, nodeName = "" }]) =>
    state === "active" ? [[nodeName, short(address)] as const] : [],
  );
  expect(active).toHaveLength(addresses);
  expect(await world.nodes.annotations()).toEqual(Object.fromEntries(active));
  const places = active.map(([node, address]) => [address, node] as const);
  expect(world.cloud.addresses()).toMatchObject(Object.fromEntries(places));
}

describe("churn", () => {
  test("fifty nodes that flap for three minutes: no node that is ready loses its address, and the providers are not run down", async () => {
    const { world, truth } = await aWatchedWorld(50, 10);
    const pick = chance(7);
    const ready = new Set(nodes(50));
    const before = CALLS.map((name) => truth.count(name));
    let flips = 0;
    for (const untilMs = world.clock.monotonicMs() + 3 * MINUTE; world.clock.monotonicMs() < untilMs; flips += 1) {
      const name = `n${pick(50) + 1}`;
      const isReady = !ready.has(name);
      if (isReady) ready.add(name);
      else ready.delete(name);
      await truth.step(() => world.nodes.setReady(name, isReady), 50 + pick(400));
    }
    expect(flips).toBeGreaterThan(600);
    const [lists = 0, reads = 0, assigns = 0, names = 0] = CALLS.map(
      (name, at) => truth.count(name) - (before[at] ?? 0),
    );
    // Beside one list per interval, each failover costs two reads and the assignment, and another look where the next change came before the provider was done.
    expect(assigns).toBeLessThan(flips / 4);
    expect(reads).toBeLessThanOrEqual(4 * assigns);
    expect(lists).toBeLessThanOrEqual(1.6 * assigns + 6);
    // Once in 5.5 s, and per interval.
    expect(names).toBeLessThanOrEqual(50);
    for (const name of nodes(50)) await truth.step(() => world.nodes.setReady(name, true), 10);
    await expectRest(world, truth, 10);
    expect(world.dns.world.set("cloudflare", WWW)).toHaveLength(50);
  });

  test("specs that are edited and objects that go and come back for minutes: the last word counts, at once", async () => {
    const { world, truth } = await aWatchedWorld(8, 4);
    truth.dnsSafety.allowEnd(WWW);
    truth.dnsSafety.allowEnd("api.example.com");
    await world.pools.edit("web", { reclaimPolicy: "Delete" });
    const pick = chance(11);
    const edits: readonly ((world: WatchWorld) => Promise<unknown>)[] = [
      () => world.pools.edit("web", { ips: addressesTo(1 + pick(4)) }),
      () => world.pools.edit("web", { desiredIPs: 1 + pick(4) }),
      () => world.pools.edit("web", { suspend: pick(2) === 0 }),
      () => world.pools.edit("web", { match: { nodeLabel: pick(2) === 0 ? "" : "!none" } }),
      () => world.recordSets.edit("www", { dnsRecordSet: { recordName: pick(2) === 0 ? "www" : "api" } }),
      () => world.recordSets.edit("www", { reclaimPolicy: pick(2) === 0 ? "Delete" : "Retain" }),
      goAndComeBack,
    ];
    for (let at = 0; at < 300; at += 1)
      await truth.step(() => (edits[pick(edits.length)] ?? goAndComeBack)(world), 20 + pick(1500));
    await world.pools.edit("web", { ips: addressesTo(4), desiredIPs: 4, suspend: false, ...ALL });
    await world.recordSets.edit("www", { reclaimPolicy: "Retain", dnsRecordSet: { recordName: "www" } });
    await expectRest(world, truth, 4);
    expect(world.dns.world.set("cloudflare", WWW)).toHaveLength(8);
  });

  test("events that come late, twice and in any order end as if they had come in theirs", async () => {
    const { world, watcher, truth } = await aWatchedWorld(10, 4);
    const pick = chance(23);
    for (let round = 0; round < 40; round += 1) {
      watcher.cluster.delay();
      for (let at = 0; at < 6; at += 1) {
        await world.nodes.setReady(`n${pick(10) + 1}`, pick(2) === 0);
        await world.nodes.patch(`n${pick(10) + 1}`, { metadata: { labels: { round: String(round) } } });
      }
      await world.clock.advance(200);
      const shuffled = (changes: readonly Parameters<typeof lastOfEach>[0][number][]): typeof changes =>
        [...changes, ...changes]
          .map((change) => ({ change, key: pick(1000) }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ change }) => change);
      await truth.step(async () => watcher.cluster.reconnect(shuffled), 1000);
    }
    for (const name of nodes(10)) await truth.step(() => world.nodes.setReady(name, true), 10);
    await expectRest(world, truth, 4);
    expect(world.dns.world.set("cloudflare", WWW)).toHaveLength(10);
  });
});

describe("a node that was replaced under its name, its end unseen", () => {
  /** n1, which has the address, is another machine when the watch is back. */
  async function replaced(isOldMachineThere: boolean): Promise<{ world: WatchWorld; truth: ChurnTruth }> {
    const { world, watcher, truth } = await aWatchedWorld(1, 1);
    expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
    watcher.cluster.delay();
    await world.nodes.delete("n1");
    if (!isOldMachineThere) world.cloud.removeDroplet("n1");
    world.cloud.droplet(201);
    await world.nodes.create("n1", { droplet: 201 });
    await truth.step(async () => watcher.cluster.reconnect(lastOfEach), 5000);
    return { world, truth };
  }

  test.for([true, false])(
    "gets the address on its new machine; the old one is still there: %s",
    async (isOldMachineThere) => {
      const { world, truth } = await replaced(isOldMachineThere);
      // Droplet 201 is n101 by its number.
      expect(world.cloud.addresses()).toEqual({ ip1: "n101" });
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
      expect((await world.pools.status("web")).ips[ip(1)]).toMatchObject({ state: "active", nodeName: "n1" });
      expect(truth.count("assign")).toBe(2);
    },
  );
});

describe("a watch that stalls without a word", () => {
  test("a node that has become ready unseen is not robbed of an address that somebody gave it", async () => {
    const { world, watcher, truth } = await aWatchedWorld(3, 1);
    await truth.step(() => world.nodes.setReady("n3", false), 5000);
    watcher.cluster.delay();
    await world.nodes.setReady("n3", true);
    world.cloud.put(ip(1), "n3");
    await truth.step(async () => undefined, 3 * MINUTE);
    expect(world.cloud.addresses()).toEqual({ ip1: "n3" });
    await truth.step(async () => watcher.cluster.reconnect(), 5000);
    await expectRest(world, truth, 1);
    expect(world.cloud.addresses()).toEqual({ ip1: "n3" });
  });

  test("an address does not go to a node that has been replaced unseen, and goes on as soon as it is seen", async () => {
    const { world, watcher, truth } = await aWatchedWorld(2, 1);
    watcher.cluster.delay();
    await world.nodes.setReady("n1", false);
    await world.nodes.delete("n2");
    world.cloud.removeDroplet("n2");
    await truth.step(async () => undefined, 3 * MINUTE);
    expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
    await truth.step(async () => watcher.cluster.reconnect(), 5000);
    expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
    world.cloud.droplet("n3");
    await truth.step(() => world.nodes.create("n3"), 5000);
    expect(world.cloud.addresses()).toEqual({ ip1: "n3" });
  });
});

async function goAndComeBack(world: WatchWorld): Promise<void> {
  await world.recordSets.delete("www");
  await world.clock.advance(3000);
  for (const name of await world.recordSets.existing()) throw new Error(`${name} stays`);
  const dnsRecordSet = { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 };
  await world.recordSets.create("www", { dnsRecordSet, ...ALL });
}
