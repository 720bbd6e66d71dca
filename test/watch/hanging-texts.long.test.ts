import { expect, test } from "vitest";
import type { PortCall } from "../fake/slowed.ts";
import { ip } from "../scenario/scenario-names.ts";
import { WatchWorld } from "./watch-world.ts";

const SECOND = 1000;
/** So long a call takes that nobody answers, milliseconds. */
const HANGS_MS = 25 * SECOND;
const WWW = "www.example.com";
const THEIRS = "198.51.100.9";

interface Seen {
  /** From the loss of ip1's node until ip1 is sent elsewhere, milliseconds. */
  readonly sentMs: number;
  /** From the loss until the node's address is out of the record set's name, milliseconds. */
  readonly outMs: number;
}

/**
 * A node is lost that has ip1 and whose own address stands in a name; at the same moment a foreign record comes into that name, so that somebody has to look whose it
 * is, with calls that take so long.
 */
async function recovery(
  hangs: (call: PortCall) => boolean,
  { flaps = false }: { readonly flaps?: boolean } = {},
): Promise<Seen> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  if (flaps) await flappingPool(world);
  world.cloud.address(ip(1), { on: "n1" });
  world.dns.world.zone("cloudflare");
  await world.recordSets.create("www", {
    dnsRecordSet: { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 },
    match: { nodeLabel: "" },
  });
  await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "" } });
  const watcher = world.watch();
  await world.clock.advance(90 * SECOND);
  const before = world.dns.world.addresses("cloudflare", WWW);
  expect(before).toHaveLength(2);
  let sentMs = Number.POSITIVE_INFINITY;
  world.takesMs = (call) => {
    if (call.method === "assign") sentMs = Math.min(sentMs, world.clock.monotonicMs());
    return hangs(call) ? HANGS_MS : 20;
  };
  world.dns.world.add("cloudflare", WWW, THEIRS);
  await world.nodes.setReady("n1", false);
  const lostMs = world.clock.monotonicMs();
  let outMs = Number.POSITIVE_INFINITY;
  for (let at = 0; at < 600; at += 1) {
    if (flaps && at % 2 === 0) await world.pods.setReady("flaps", at % 4 === 0);
    await world.clock.advance(100);
    const own = world.dns.world.addresses("cloudflare", WWW).filter((address) => address !== THEIRS);
    if (own.length === 1) outMs = Math.min(outMs, world.clock.monotonicMs() - lostMs);
  }
  watcher.stop();
  return { sentMs: sentMs - lostMs, outMs };
}

/** A pool that follows a pod, and has nothing to do with what the texts are read for. */
async function flappingPool(world: WatchWorld): Promise<void> {
  await world.pods.create("flaps", { node: "n2", labels: { app: "flaps" } });
  await world.pools.create("flaps", { ips: [ip(9)], match: { podNamespace: "shop", podLabel: "app=flaps" } });
}

const isTexts = ({ method }: PortCall): boolean => method === "listTexts" || method === "readTexts";

test("texts that hang delay neither an address that loses its node, nor its way out of a name", async () => {
  const undisturbed = await recovery(() => false);
  const beside = await recovery(isTexts);
  expect(beside.sentMs).toBeLessThanOrEqual(undisturbed.sentMs + 300);
  expect(beside.outMs).toBeLessThanOrEqual(undisturbed.outMs + 2 * SECOND);
});

/** From the start of a watcher until ip1, whose node is lost already, is sent elsewhere, milliseconds; a record set takes a name for the first time in the same pass. */
async function firstPassMs(hangs: (call: PortCall) => boolean): Promise<number> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  world.cloud.address(ip(1), { on: "n1" });
  world.dns.world.zone("cloudflare");
  await world.recordSets.create("www", {
    dnsRecordSet: { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 },
    match: { nodeLabel: "" },
  });
  await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "" } });
  await world.nodes.setReady("n1", false);
  let sentMs = Number.POSITIVE_INFINITY;
  world.takesMs = (call) => {
    if (call.method === "assign") sentMs = Math.min(sentMs, world.clock.monotonicMs());
    return hangs(call) ? HANGS_MS : 20;
  };
  const beginMs = world.clock.monotonicMs();
  const watcher = world.watch();
  await world.clock.advance(60 * SECOND);
  watcher.stop();
  return sentMs - beginMs;
}

test("texts that hang in a first pass delay an address that has lost its node by a quarter of a second at most", async () => {
  const undisturbed = await firstPassMs(() => false);
  expect(undisturbed).toBeLessThan(SECOND);
  expect(await firstPassMs(isTexts)).toBeLessThanOrEqual(undisturbed + 250);
});

test.for(["digitalocean", "cloudflare"] as const)(
  "a watcher reads texts at %s once for a name it takes, and none while nothing changes",
  async (provider) => {
    const world = new WatchWorld();
    await world.setUp("n1", "n2");
    world.dns.world.zone(provider);
    const dnsRecordSet = { provider, zone: "example.com", recordName: "www", ttl: 60 };
    await world.recordSets.create("www", { dnsRecordSet, match: { nodeLabel: "" } });
    let calls = 0;
    world.takesMs = (call) => {
      if (isTexts(call)) calls += 1;
      return 20;
    };
    const watcher = world.watch();
    await world.clock.advance(30 * SECOND);
    expect(world.dns.world.addresses(provider, WWW)).toHaveLength(2);
    expect(calls).toBe(1);
    await world.clock.advance(1800 * SECOND);
    expect(calls).toBe(1);
    watcher.stop();
  },
);

/** So long a call to a provider lasts at most, milliseconds. */
const CALL_MS = 15 * SECOND;

test.for(["digitalocean", "cloudflare"] as const)(
  "texts at %s that hang are asked for once at a time, however often pods change meanwhile",
  async (provider) => {
    const world = new WatchWorld();
    await world.setUp("n1", "n2");
    world.dns.world.zone(provider);
    for (const [number, app] of ["web", "api"].entries())
      await world.pods.create(`p${number + 1}`, { node: `n${number + 1}`, labels: { app } });
    for (const app of ["web", "api"])
      await world.recordSets.create(app, {
        dnsRecordSet: { provider, zone: "example.com", recordName: app, ttl: 60 },
        match: { podNamespace: "shop", podLabel: `app=${app}` },
      });
    const begunMs: number[] = [];
    let takesMs = CALL_MS;
    world.takesMs = (call) => {
      if (!isTexts(call)) return 20;
      begunMs.push(world.clock.monotonicMs());
      return takesMs;
    };
    const watcher = world.watch();
    for (let at = 0; at < 240; at += 1) {
      await world.pods.setReady("p1", at % 2 === 0);
      await world.clock.advance(250);
    }
    expect(begunMs.length).toBeGreaterThan(0);
    expect(begunMs.slice(1).filter((ms, at) => ms - (begunMs[at] ?? 0) < CALL_MS)).toEqual([]);
    takesMs = 20;
    await world.pods.setReady("p1", true);
    await world.clock.advance(90 * SECOND);
    watcher.stop();
    for (const app of ["web", "api"]) expect(world.dns.world.addresses(provider, `${app}.example.com`)).toHaveLength(1);
  },
);

test("texts that hang while pods change all the time delay what serves no more by two seconds at most", async () => {
  const beside = await recovery(isTexts, { flaps: true });
  expect(beside.outMs).toBeLessThanOrEqual(2 * SECOND + (await recovery(() => false, { flaps: true })).outMs);
});
