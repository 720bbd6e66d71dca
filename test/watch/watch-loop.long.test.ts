import { expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import type { WatchedPass } from "../../src/watch/watch-loop.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const SPEC = { desiredIPs: 0, ips: ["203.0.113.1"], match: { nodeLabel: "" } };

/** A pool with one address on n1, watched, at rest. */
async function aWatchedPool(): Promise<{ readonly world: WatchWorld; readonly watcher: Watcher }> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  world.cloud.address("203.0.113.1", { on: "n1" });
  await world.pools.create("web", SPEC);
  const watcher = world.watch();
  await world.clock.advance(5000);
  return { world, watcher };
}

const causes = (turns: readonly WatchedPass[]): readonly string[] => turns.map(({ cause }) => cause.kind);

test("a pass is made at once when a node stops being ready, without listing anything at the provider", async () => {
  const { world, watcher } = await aWatchedPool();
  expect(watcher.isLeading).toBe(true);
  const turns = watcher.turns.length;
  watcher.provider.recorded.length = 0;
  await world.nodes.setReady("n1", false);
  await world.clock.advance(0);
  expect(watcher.provider.recorded.map(({ operation }) => operation).slice(0, 2)).toEqual(["get", "assign"]);
  await world.clock.advance(2000);
  expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
  expect(causes(watcher.turns.slice(turns))[0]).toBe("change");
  expect(watcher.provider.recorded.map(({ operation }) => operation)).not.toContain("list");
});

test("a heartbeat causes no pass", async () => {
  const { world, watcher } = await aWatchedPool();
  const turns = watcher.turns.length;
  await world.nodes.patch("n1/status", { status: { nodeInfo: { kernelVersion: "7" } } });
  await world.clock.advance(3000);
  expect(watcher.turns).toHaveLength(turns);
});

test("the providers are looked at again once per interval, and drift is put right", async () => {
  const { world, watcher } = await aWatchedPool();
  world.cloud.put("203.0.113.1", undefined);
  await world.clock.advance(61_000);
  expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
  expect(causes(watcher.turns)).toContain("interval");
});

test.for([
  ["detached", undefined, "n2"],
  ["put on another node", 103, "n3"],
] as const)(
  "an address that somebody %s by hand is served within a second after its node failed, not after the interval",
  async ([, droplet, to]) => {
    const { world, watcher } = await aWatchedPool();
    world.cloud.droplet("n3");
    await world.nodes.create("n3");
    await world.clock.advance(1000);
    world.cloud.put("203.0.113.1", droplet);
    watcher.provider.recorded.length = 0;
    await world.nodes.setReady("n1", false);
    await world.clock.advance(1000);
    expect(world.cloud.addresses()).toEqual({ ip1: to });
    expect(await world.nodes.annotations()).toEqual({ [to]: "ip1" });
    expect((await world.pools.status("web")).ips["203.0.113.1"]).toMatchObject({ state: "active", nodeName: to });
    const calls = watcher.provider.recorded.length;
    await world.clock.advance(30_000);
    expect(watcher.provider.recorded).toHaveLength(calls);
  },
);

test("what a pass writes itself causes no further pass", async () => {
  const { world, watcher } = await aWatchedPool();
  await world.nodes.setReady("n1", false);
  await world.clock.advance(10_000);
  const turns = watcher.turns.length;
  await world.clock.advance(30_000);
  expect(watcher.turns).toHaveLength(turns);
  expect(await world.nodes.annotations()).toEqual({ n2: "ip1" });
});

test("a failover does not wait for the address that the provider is still at work on", async () => {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3", "n4");
  world.cloud.address("203.0.113.1", { on: "n1" });
  world.cloud.address("203.0.113.2", { on: "n2" });
  await world.pools.create("web", { ...SPEC, ips: ["203.0.113.1", "203.0.113.2"] });
  const watcher = world.watch();
  await world.clock.advance(5000);
  world.cloud.state.settings.action_delay_ms = 20_000;
  await world.nodes.setReady("n1", false);
  await world.clock.advance(1000);
  watcher.provider.recorded.length = 0;
  await world.nodes.setReady("n2", false);
  await world.clock.advance(100);
  expect(
    watcher.provider.recorded.filter(({ operation }) => operation === "assign").map(({ subject }) => subject),
  ).toEqual(["203.0.113.2"]);
  await world.clock.advance(60_000);
  expect(Object.values(world.cloud.addresses()).toSorted()).toEqual(["n3", "n4"]);
});

test("an address that the provider is still at work on lets nobody look at names anew", async () => {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3", "n4");
  for (const number of [1, 2]) world.cloud.address(`203.0.113.${number}`, { on: `n${number}` });
  world.dns.world.zone("cloudflare");
  const dnsRecordSet = { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 };
  await world.recordSets.create("www", { dnsRecordSet, match: { nodeLabel: "" } });
  await world.pools.create("web", { ...SPEC, ips: ["203.0.113.1", "203.0.113.2"] });
  const watcher = world.watch();
  await world.clock.advance(5000);
  world.cloud.state.settings.action_delay_ms = 20_000;
  watcher.dns.cloudflare.recorded.length = 0;
  await world.nodes.setReady("n1", false);
  await world.clock.advance(1000);
  await world.nodes.setReady("n2", false);
  await world.clock.advance(40_000);
  expect(Object.values(world.cloud.addresses()).toSorted()).toEqual(["n3", "n4"]);
  expect(world.dns.world.set("cloudflare", "www.example.com")).toEqual(["ext3", "ext4"]);
  // Each change of a name looks at it first, and nobody else does.
  const operations = watcher.dns.cloudflare.recorded.map(({ operation }) => operation);
  const writes = operations.filter((operation) => operation === "write");
  expect(operations.filter((operation) => operation === "records")).toHaveLength(writes.length);
  expect(operations).not.toContain("zone");
});

test.for([
  ["30 minutes", 30, 25],
  ["2 hours", 120, 100],
] as const)(
  "with %s between readings, a pod that fails in a quiet time is a reason to pass at once",
  async ([, interval, quiet]) => {
    const world = new WatchWorld();
    await world.setUp("n1", "n2");
    for (const name of ["n1", "n2"]) await world.pods.create(`p-${name}`, { node: name, labels: { app: "web" } });
    world.cloud.address("203.0.113.1", { on: "n1" });
    await world.pools.create("web", { ...SPEC, match: { podNamespace: "shop", podLabel: "app=web" } });
    const watcher = world.watch({ intervalMs: interval * 60_000, hasRealLists: true });
    await world.clock.advance(5000);
    expect(watcher.isLeading).toBe(true);
    for (const [from, to] of [
      ["n1", "n2"],
      ["n2", "n1"],
    ] as const) {
      await world.clock.advance(quiet * 60_000);
      expect(world.cloud.addresses()).toEqual({ ip1: from });
      const turns = watcher.turns.length;
      await world.pods.setReady(`p-${from}`, false);
      await world.pods.setReady(`p-${to}`, true);
      await world.clock.advance(5_000);
      expect(causes(watcher.turns.slice(turns))[0]).toBe("change");
      expect(world.cloud.addresses()).toEqual({ ip1: to });
    }
    watcher.stop();
    await world.clock.advance(60_000);
    expect(await watcher.end).toEqual({ kind: "stopped", isLeaseFree: true });
  },
);

test("what is held until a time is done at that time", async () => {
  const { world, watcher } = await aWatchedPool();
  await world.pools.edit("web", { gracePeriodSeconds: 20 });
  await world.clock.advance(1000);
  await world.nodes.setReady("n1", false);
  await world.clock.advance(18_000);
  expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
  await world.clock.advance(4000);
  expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
  expect(causes(watcher.turns)).toContain("due");
});

test.for([
  ["unavailable", 503],
  ["forbidden", 403],
  ["conflict", 409],
] as const)(
  "a status that could not be written (%s) is written again after waits that grow, though nothing changes, and soon once it may be",
  async ([failure, status]) => {
    const { world, watcher } = await aWatchedPool();
    const resource = "patch floatingippools.flipop.digitalocean.com/status";
    let tries = 0;
    watcher.cluster.beforeCall = (operation, subject) => {
      if (operation !== resource) return undefined;
      tries += 1;
      return { throw: new KubeError({ failure, operation, subject, status, message: failure }) };
    };
    await world.nodes.setReady("n1", false);
    await world.clock.advance(40_000);
    expect(tries).toBeLessThan(20);
    watcher.cluster.beforeCall = undefined;
    await world.clock.advance(10_000);
    expect((await world.pools.status("web")).ips["203.0.113.1"]).toMatchObject({ state: "active", nodeName: "n2" });
    const turns = watcher.turns.length;
    await world.clock.advance(5000);
    expect(watcher.turns).toHaveLength(turns);
  },
);

test("a status that can never be written leads to no hot loop while a provider hangs, nor does that of an object that is gone", async () => {
  const { world, watcher } = await aWatchedPool();
  watcher.cluster.beforeCall = (operation, subject) =>
    operation.endsWith("/status")
      ? { throw: new KubeError({ failure: "forbidden", operation, subject, status: 403, message: "no" }) }
      : undefined;
  await world.nodes.setReady("n1", false);
  await world.clock.advance(5000);
  world.takesMs = () => 60_000;
  const turns = watcher.turns.length;
  await world.clock.advance(120_000);
  expect(watcher.turns.length - turns).toBeLessThan(20);
  await world.pools.delete("web");
  await world.clock.advance(5000);
  const later = watcher.turns.length;
  await world.clock.advance(50_000);
  expect(watcher.turns.length - later).toBeLessThanOrEqual(1);
});

test("a node whose toleration runs out loses its address and its record at that time, though nothing changes", async () => {
  const { world, watcher } = await aWatchedPool();
  world.dns.world.zone("digitalocean");
  const key = "node.kubernetes.io/unreachable";
  const match = { tolerations: [{ key, operator: "Exists", tolerationSeconds: 20 }] };
  const dnsRecordSet = { zone: "example.com", recordName: "nodes" };
  await world.recordSets.create("nodes", { provider: "digitalocean", dnsRecordSet, match });
  await world.pools.edit("web", { match });
  await world.clock.advance(5000);
  const timeAdded = new Date(world.clock.wallMs()).toISOString();
  await world.nodes.patch("n1", { spec: { taints: [{ key, effect: "NoExecute", timeAdded }] } });
  await world.clock.advance(19_000);
  expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
  expect(world.dns.world.set("digitalocean", "nodes.example.com")).toEqual(["ext1", "ext2"]);
  await world.clock.advance(3000);
  expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
  expect(world.dns.world.set("digitalocean", "nodes.example.com")).toEqual(["ext2"]);
  expect(causes(watcher.turns)).toContain("due");
});

test("while the cluster is away nothing is changed, each failure is told, and the first pass after it puts things right", async () => {
  const { world, watcher } = await aWatchedPool();
  const error = new KubeError({
    failure: "unavailable",
    operation: "watch nodes",
    subject: "",
    status: 0,
    message: "away",
  });
  watcher.cluster.disconnect(error, world.clock.monotonicMs());
  await world.nodes.setReady("n1", false);
  watcher.provider.recorded.length = 0;
  await world.clock.advance(3_600_000);
  expect(watcher.provider.recorded).toEqual([]);
  const failed = watcher.turns.filter(({ kind }) => kind === "failed").length;
  expect(failed).toBeGreaterThan(500);
  expect(failed).toBeLessThan(800);
  watcher.cluster.reconnect();
  await world.clock.advance(2000);
  expect(world.cloud.addresses()).toEqual({ ip1: "n2" });
});

test("a flapping pod of another node leads to passes, but not to more than half of the time", async () => {
  const { world, watcher } = await aWatchedPool();
  const turns = watcher.turns.length;
  for (let at = 0; at < 200; at += 1) {
    await world.nodes.patch("n2", { metadata: { labels: { flap: String(at) } } });
    await world.clock.advance(5);
  }
  expect(watcher.turns.length - turns).toBeLessThanOrEqual(21);
});
