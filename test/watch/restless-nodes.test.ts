import { expect, test } from "vitest";
import { ip } from "../scenario/scenario-names.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const SECOND = 1000;
const WWW = "www.example.com";
/** So often a node changes, milliseconds. */
const FLAP_MS = 250;
/** So often it is looked whether something has come about, milliseconds. */
const STEP_MS = 50;
/** A move takes so long until the address is seen there, milliseconds, also where nothing else changes. */
const MOVE_MS = 300;
const FLAPPING = ["n3", "n4"];

interface Flapping {
  readonly world: WatchWorld;
  readonly watcher: Watcher;
  /** The nodes that never rest go on for a while. */
  readonly flap: (ms: number) => Promise<void>;
}

/** Nodes n1 to n4, the last two of which are ready every other quarter of a second; one address for all, or for some of them, and a name of all. */
async function aFlappingWorld(match: { readonly nodeLabel: string }): Promise<Flapping> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", ...FLAPPING);
  for (const name of FLAPPING) await world.nodes.patch(name, { metadata: { labels: { role: "restless" } } });
  world.dns.world.zone("cloudflare");
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)], match });
  const dnsRecordSet = { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 };
  await world.recordSets.create("www", { dnsRecordSet, match: { nodeLabel: "" } });
  const watcher = world.watch();
  await world.clock.advance(10 * SECOND);
  let flips = 0;
  const flap = async (ms: number): Promise<void> => {
    for (const untilMs = world.clock.monotonicMs() + ms; world.clock.monotonicMs() < untilMs; flips += 1) {
      await world.nodes.setReady(FLAPPING[flips % 2] ?? "", flips % 4 >= 2);
      await world.clock.advance(FLAP_MS);
    }
  };
  await flap(15 * SECOND);
  return { world, watcher, flap };
}

/** Returns after how long something is so, milliseconds. */
async function tookMs({ clock }: WatchWorld, isSo: () => boolean): Promise<number> {
  const fromMs = clock.monotonicMs();
  while (!isSo() && clock.monotonicMs() - fromMs < 30 * SECOND) await clock.advance(STEP_MS);
  return clock.monotonicMs() - fromMs;
}

test("an address goes from a node that fails to another one at once, while others are ready and not ready again and again", async () => {
  const { world, flap } = await aFlappingWorld({ nodeLabel: "" });
  expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
  await world.nodes.setReady("n1", false);
  expect(await tookMs(world, () => world.cloud.addresses()["ip1"] === "n2")).toBeLessThanOrEqual(MOVE_MS);
  await flap(5 * SECOND);
  // Nobody is there to take it.
  await world.nodes.setReady("n2", false);
  await flap(5 * SECOND);
  expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
  await world.nodes.setReady("n1", true);
  expect(await tookMs(world, () => world.cloud.addresses()["ip1"] === "n1")).toBeLessThanOrEqual(MOVE_MS);
});

test("a node that fails leaves a name as soon as if no other one of it were ready and not ready again and again", async () => {
  const { world, flap } = await aFlappingWorld({ nodeLabel: "" });
  expect(world.dns.world.set("cloudflare", WWW)).toEqual(["ext1", "ext2"]);
  await world.nodes.setReady("n1", false);
  await flap(0.75 * SECOND);
  expect(world.dns.world.set("cloudflare", WWW)).toEqual(["ext2"]);
});

test("a node that joins is in a name as soon as if no other one of it were ready and not ready again and again", async () => {
  const { world, watcher, flap } = await aFlappingWorld({ nodeLabel: "" });
  await world.nodes.setReady("n1", false);
  await flap(SECOND);
  const before = watcher.dns.cloudflare.recorded.length;
  world.cloud.droplet("n5");
  await world.nodes.create("n5");
  await flap(0.75 * SECOND);
  expect(world.dns.world.set("cloudflare", WWW)).toEqual(["ext2", "ext5"]);
  await world.nodes.setReady("n1", true);
  await flap(0.75 * SECOND);
  expect(world.dns.world.set("cloudflare", WWW)).toEqual(["ext1", "ext2", "ext5"]);
  expect(watcher.dns.cloudflare.recorded.length - before).toBeLessThanOrEqual(4);
});

test("a node that has just rested joins a name no sooner after its last change than others that have to rest", async () => {
  const { world } = await aFlappingWorld({ nodeLabel: "" });
  const goOn = async (ms: number): Promise<void> => {
    for (const untilMs = world.clock.monotonicMs() + ms; world.clock.monotonicMs() < untilMs; ) {
      await world.nodes.setReady("n4", false);
      await world.clock.advance(FLAP_MS / 2);
      await world.nodes.setReady("n4", true);
      await world.clock.advance(FLAP_MS / 2);
    }
  };
  await world.nodes.setReady("n3", false);
  await goOn(FLAP_MS);
  await world.nodes.setReady("n3", true);
  await goOn(SECOND);
  await world.nodes.setReady("n1", false);
  await goOn(4 * SECOND);
  expect(world.dns.world.set("cloudflare", WWW)).toEqual(["ext2"]);
  await goOn(3 * SECOND);
  expect(world.dns.world.set("cloudflare", WWW)).toEqual(["ext2", "ext3"]);
});

test("where all nodes are ready and not ready again and again, the first one that stays ready serves after two seconds", async () => {
  const { world, flap } = await aFlappingWorld({ nodeLabel: "role=restless" });
  const holder = world.cloud.addresses()["ip1"] ?? "";
  await flap(FLAP_MS);
  for (const name of FLAPPING) await world.nodes.setReady(name, false);
  await world.clock.advance(SECOND);
  const other = FLAPPING.find((name) => name !== holder) ?? "";
  await world.nodes.setReady(other, true);
  expect(await tookMs(world, () => world.cloud.addresses()["ip1"] === other)).toBeLessThanOrEqual(
    2 * SECOND + STEP_MS + MOVE_MS,
  );
});

test("nodes that are ready and not ready again and again cost no call for each time", async () => {
  const { world, watcher, flap } = await aFlappingWorld({ nodeLabel: "role=restless" });
  const calls = (): number => [watcher.provider, watcher.dns.cloudflare].flatMap(({ recorded }) => recorded).length;
  const before = calls();
  await flap(60 * SECOND);
  expect(calls() - before).toBeLessThanOrEqual(20);
  // All is as it should be once they rest.
  for (const name of FLAPPING) await world.nodes.setReady(name, true);
  await world.clock.advance(10 * SECOND);
  expect(world.dns.world.set("cloudflare", WWW)).toHaveLength(4);
  const { ips } = await world.pools.status("web");
  expect(ips[ip(1)]).toMatchObject({ state: "active" });
});
