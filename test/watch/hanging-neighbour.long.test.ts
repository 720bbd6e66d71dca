import { expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import type { PortCall } from "../fake/slowed.ts";
import { ip } from "../scenario/scenario-names.ts";
import { WatchWorld } from "./watch-world.ts";

const SECOND = 1000;
/** So long a call takes that nobody answers, milliseconds. */
const HANGS_MS = 25 * SECOND;

/** How long it takes from the moment a pod of ip1's node is unready until the address is sent elsewhere, milliseconds. */
async function failoverMs(hangs: (call: PortCall) => boolean, beforeMs: number): Promise<number> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  world.cloud.address(ip(1), { on: "n1" });
  for (const number of [1, 2]) await world.pods.create(`p${number}`, { node: `n${number}`, labels: { app: "web" } });
  world.dns.world.zone("cloudflare");
  await world.recordSets.create("www", {
    dnsRecordSet: { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 },
    match: { nodeLabel: "" },
  });
  await world.pools.create("web", { ips: [ip(1)], match: { podNamespace: "shop", podLabel: "app=web" } });
  const watcher = world.watch();
  await world.clock.advance(90 * SECOND);
  let sentMs: number | undefined;
  world.takesMs = (call) => {
    if (call.method === "assign") sentMs ??= world.clock.monotonicMs();
    return hangs(call) ? HANGS_MS : 20;
  };
  await world.clock.advance(beforeMs);
  const lostMs = world.clock.monotonicMs();
  await world.pods.setReady("p1", false);
  await world.clock.advance(60 * SECOND);
  watcher.stop();
  return (sentMs ?? Number.POSITIVE_INFINITY) - lostMs;
}

/** Four nodes: n1 and n2 are for `web`, n3 and n4 for `api`. */
async function twoRoles(): Promise<WatchWorld> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3", "n4");
  for (const [number, role] of ["web", "web", "api", "api"].entries())
    await world.nodes.patch(`n${number + 1}`, { metadata: { labels: { role } } });
  return world;
}

/** A pool of one address for each role: ip1 is on n1, ip2 on n3. */
async function createPools(world: WatchWorld): Promise<void> {
  for (const [number, role] of ["web", "api"].entries()) {
    world.cloud.address(ip(number + 1), { on: `n${2 * number + 1}` });
    await world.pools.create(role, { ips: [ip(number + 1)], match: { nodeLabel: `role=${role}` } });
  }
}

/** Publishes the nodes of `api` at Cloudflare. */
async function publishAPI(world: WatchWorld): Promise<void> {
  world.dns.world.zone("cloudflare");
  const dnsRecordSet = { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 };
  await world.recordSets.create("www", { dnsRecordSet, match: { nodeLabel: "role=api" } });
}

/** How long after the loss of its node ip1 is sent elsewhere, milliseconds, while a change of another thing has been under way for three seconds. */
async function failoverBesideMs(slow: (call: PortCall) => boolean): Promise<number> {
  const world = await twoRoles();
  await createPools(world);
  await publishAPI(world);
  const watcher = world.watch();
  await world.clock.advance(70 * SECOND);
  let sentMs: number | undefined;
  world.takesMs = (call) => {
    if (call.method === "assign" && call.args[0] === ip(1)) sentMs ??= world.clock.monotonicMs();
    return slow(call) ? HANGS_MS : 20;
  };
  await world.nodes.setReady("n3", false);
  await world.clock.advance(3 * SECOND);
  await world.nodes.setReady("n1", false);
  const lostMs = world.clock.monotonicMs();
  await world.clock.advance(120 * SECOND);
  const before = watcher.cluster.writes.length;
  expect([await world.pools.status("web"), await world.pools.status("api")]).toMatchObject([
    { ips: { [ip(1)]: { state: "active", nodeName: "n2" } } },
    { ips: { [ip(2)]: { state: "active", nodeName: "n4" } } },
  ]);
  expect(world.dns.world.addresses("cloudflare", "www.example.com")).toHaveLength(1);
  await world.clock.advance(120 * SECOND);
  expect(watcher.cluster.writes.slice(before).filter(({ operation }) => !operation.includes("leases"))).toEqual([]);
  watcher.stop();
  return (sentMs ?? Number.POSITIVE_INFINITY) - lostMs;
}

test.for([
  ["records are written for 25 s", ({ port, method }: PortCall) => port === "cloudflare" && method === "writeRecords"],
  ["names hang altogether", ({ port }: PortCall) => port === "cloudflare"],
  ["Events are written for 25 s each", ({ method }: PortCall) => method === "createEvent"],
  ["another address is assigned for 25 s", ({ method, args }: PortCall) => method === "assign" && args[0] === ip(2)],
] as const)("%s: an address that loses its node meanwhile moves at once", async ([, slow]) => {
  expect(await failoverBesideMs(() => false)).toBeLessThan(300);
  expect(await failoverBesideMs(slow)).toBeLessThan(300);
});

test.for([1, 40, 60, 61, 70, 90, 130])(
  "Cloudflare hangs since %i s: a failover takes at most twice as long as without",
  async (seconds) => {
    const undisturbed = await failoverMs(() => false, seconds * SECOND);
    const beside = await failoverMs(({ port }) => port === "cloudflare", seconds * SECOND);
    expect(undisturbed).toBeLessThan(SECOND);
    expect(beside).toBeLessThanOrEqual(2 * undisturbed);
  },
);

test.for([1, 40, 60, 61, 70, 90, 130])(
  "the account's list of addresses hangs since %i s: an address moves all the same, and what the list shows later of its old place undoes nothing",
  async (seconds) => {
    const world = new WatchWorld();
    await world.setUp("n1", "n2", "n3", "n4");
    for (const number of [1, 2, 3]) world.cloud.address(ip(number), { on: `n${number}` });
    await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)], match: { nodeLabel: "" } });
    const { cluster, provider, stop } = world.watch();
    await world.clock.advance(90 * SECOND);
    const list = provider.listPage.bind(provider);
    let takesMs = HANGS_MS;
    provider.listPage = async (page) => {
      const shown = await list(page);
      await world.clock.sleep(takesMs);
      return shown;
    };
    await world.clock.advance(seconds * SECOND);
    await world.nodes.setReady("n1", false);
    await world.clock.advance(SECOND);
    expect(world.cloud.addresses()).toMatchObject({ ip1: "n4" });
    const assigned = (): number => provider.calls().filter(({ operation }) => operation === "assign").length;
    const before = assigned();
    await world.clock.advance(120 * SECOND);
    takesMs = 0;
    await world.clock.advance(120 * SECOND);
    expect(assigned()).toBe(before);
    expect(await world.pools.status("web")).toMatchObject({ ips: { [ip(1)]: { state: "active", nodeName: "n4" } } });
    const writes = cluster.writes.length;
    await world.clock.advance(120 * SECOND);
    expect(cluster.writes.slice(writes).filter(({ operation }) => !operation.includes("leases"))).toEqual([]);
    stop();
  },
);

test.for([100, 300, 1000, 3000])(
  "statuses that are written for 25 s delay no address that loses its node %i ms after another one did, and are right in the end",
  async (gapMs) => {
    const world = await twoRoles();
    await createPools(world);
    const { cluster, stop } = world.watch();
    const write = cluster.patchPoolStatus.bind(cluster);
    let underWay = 0;
    let most = 0;
    let takesMs = 0;
    cluster.patchPoolStatus = async (meta, status) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await world.clock.sleep(takesMs);
      underWay -= 1;
      return await write(meta, status);
    };
    await world.clock.advance(70 * SECOND);
    takesMs = HANGS_MS;
    await world.nodes.setReady("n3", false);
    await world.clock.advance(gapMs);
    await world.nodes.setReady("n1", false);
    const lostMs = world.clock.monotonicMs();
    while (world.cloud.addresses()["ip1"] !== "n2") await world.clock.advance(10);
    expect(world.clock.monotonicMs() - lostMs).toBeLessThan(SECOND);
    for (let count = 0; count < 40; count += 1) {
      await world.nodes.patch("n4", { metadata: { labels: { count: `${count}` } } });
      await world.clock.advance(SECOND);
    }
    // One for each pool that writes what it knows at the end of a pass, and one for each that is about to do something.
    expect(most).toBeLessThanOrEqual(4);
    takesMs = 0;
    await world.clock.advance(60 * SECOND);
    expect([await world.pools.status("web"), await world.pools.status("api")]).toMatchObject([
      { ips: { [ip(1)]: { state: "active", nodeName: "n2" } } },
      { ips: { [ip(2)]: { state: "active", nodeName: "n4" } } },
    ]);
    const writes = cluster.writes.length;
    await world.clock.advance(120 * SECOND);
    expect(cluster.writes.slice(writes).filter(({ operation }) => !operation.includes("leases"))).toEqual([]);
    stop();
  },
);

test("a status that is refused after 25 s, while the cluster never rests, is told of", async () => {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)] });
  const { cluster, turns, stop } = world.watch();
  await world.clock.advance(20 * SECOND);
  cluster.patchPoolStatus = async () => {
    await world.clock.sleep(HANGS_MS);
    throw new KubeError({ failure: "timeout", operation: "", subject: "", status: 0, message: "no answer in time" });
  };
  const before = turns.length;
  for (let count = 0; count < 60; count += 1) {
    await world.nodes.setReady("n2", count % 2 === 0);
    await world.clock.advance(SECOND);
  }
  const passes = turns.slice(before).flatMap((turn) => (turn.kind === "passed" ? [turn.pass.result] : []));
  expect(passes.length).toBeGreaterThan(40);
  const failures = passes.flatMap(({ reportFailures }) => reportFailures);
  expect(failures.map(({ what, error }) => `${what}: ${error.message}`)).toEqual([
    "status: no answer in time",
    "status: no answer in time",
  ]);
  stop();
});

test.for([
  ["grace", { gracePeriodSeconds: 4 }, async (world: WatchWorld) => await world.nodes.setReady("n1", false)],
  [
    "tolerationSeconds",
    {
      match: {
        nodeLabel: "role=web",
        tolerations: [{ key: "down", operator: "Exists", effect: "NoExecute", tolerationSeconds: 4 }],
      },
    },
    async (world: WatchWorld) => {
      const timeAdded = new Date(world.clock.wallMs()).toISOString();
      await world.nodes.patch("n1", { spec: { taints: [{ key: "down", effect: "NoExecute", timeAdded }] } });
    },
  ],
] as const)("%s that ends while names hang ends in time", async ([, spec, lose]) => {
  const world = await twoRoles();
  world.cloud.address(ip(1), { on: "n1" });
  await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "role=web" }, ...spec });
  await publishAPI(world);
  const watcher = world.watch();
  await world.clock.advance(70 * SECOND);
  let sentMs: number | undefined;
  world.takesMs = (call) => {
    if (call.method === "assign") sentMs ??= world.clock.monotonicMs();
    return call.port === "cloudflare" ? HANGS_MS : 20;
  };
  await world.nodes.setReady("n3", false);
  await world.clock.advance(SECOND);
  const lostMs = world.clock.monotonicMs();
  await lose(world);
  await world.clock.advance(60 * SECOND);
  watcher.stop();
  const tookMs = (sentMs ?? Number.POSITIVE_INFINITY) - lostMs;
  expect(tookMs).toBeGreaterThanOrEqual(3000);
  expect(tookMs).toBeLessThan(5500);
});

test.for(["patchPoolStatus", "annotateNode", "readNode"] as const)(
  "a leader that is asked to end while %s hangs frees the Lease, and the standby moves what has lost its node",
  async (hanging) => {
    const world = await twoRoles();
    await createPools(world);
    const leader = world.watch();
    await world.clock.advance(20 * SECOND);
    const standby = world.watch();
    await world.clock.advance(5 * SECOND);
    leader.cluster[hanging] = async () => await new Promise<never>(() => undefined);
    await world.nodes.setReady("n3", false);
    await world.clock.advance(500);
    leader.stop();
    await world.clock.advance(SECOND);
    await world.nodes.setReady("n1", false);
    await world.clock.advance(4 * SECOND);
    const ended = await Promise.race([leader.end, world.clock.sleep(0).then(() => "goes on")]);
    expect(ended).toEqual({ kind: "stopped", isLeaseFree: true });
    await world.clock.advance(2 * SECOND);
    expect(world.cloud.addresses()["ip1"]).toBe("n2");
    await world.clock.advance(60 * SECOND);
    expect(world.cloud.addresses()).toEqual({ ip1: "n2", ip2: "n4" });
    standby.stop();
    await world.clock.advance(SECOND);
  },
);
