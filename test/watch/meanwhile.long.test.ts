import { expect, test } from "vitest";
import { ProviderError } from "../../src/model/errors.ts";
import { SUSPEND_ANNOTATION } from "../../src/model/suspension.ts";
import type { PortCall } from "../fake/slowed.ts";
import { ip } from "../scenario/scenario-names.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const SECOND = 1000;
/** So long a call takes that nobody answers, milliseconds. */
const HANGS_MS = 25 * SECOND;
/** So often it is looked whether something has come about, milliseconds. */
const STEP_MS = 50;

/**
 * Pool `web` has ip1 on n1, and may have it on n2; it publishes it at DigitalOcean. Record set `api` publishes n3 or n4 at Cloudflare, which does not answer from now on.
 * `a change`: n3 has just failed, and its record is being removed.
 */
async function besideCloudflare(
  hangs: "a change" | "a change to come" | "a look",
): Promise<{ world: WatchWorld; watcher: Watcher }> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3", "n4");
  for (const [number, role] of ["web", "web", "api", "api"].entries())
    await world.nodes.patch(`n${number + 1}`, { metadata: { labels: { role } } });
  world.cloud.address(ip(1), { on: "n1" });
  world.dns.world.zone("digitalocean");
  world.dns.world.zone("cloudflare", "example.net");
  const name = { provider: "digitalocean", zone: "example.com", recordName: "www", ttl: 60 };
  await world.pools.create("web", { ips: [ip(1)], match: { nodeLabel: "role=web" }, dnsRecordSet: name });
  const other = { provider: "cloudflare", zone: "example.net", recordName: "api", ttl: 60 };
  await world.recordSets.create("api", { dnsRecordSet: other, match: { nodeLabel: "role=api" } });
  const watcher = world.watch();
  await world.clock.advance(70 * SECOND);
  world.takesMs = ({ port, method }: PortCall) =>
    port === "cloudflare" && (hangs === "a look" || method === "writeRecords") ? HANGS_MS : 20;
  if (hangs === "a change") {
    await world.nodes.setReady("n3", false);
    await world.clock.advance(2 * SECOND);
  }
  return { world, watcher };
}

/** How long it takes until something is so, milliseconds; no longer than a minute is waited. */
async function untilSo(world: WatchWorld, isSo: () => Promise<boolean>): Promise<number> {
  const startMs = world.clock.monotonicMs();
  while (world.clock.monotonicMs() - startMs < 60 * SECOND && !(await isSo())) await world.clock.advance(STEP_MS);
  return world.clock.monotonicMs() - startMs;
}

/** True when ip1 is on n2 for whoever looks: at the provider and in the status. */
async function isOnN2(world: WatchWorld): Promise<boolean> {
  const entry = (await world.pools.status("web")).ips[ip(1)];
  return world.cloud.addresses()["ip1"] === "n2" && entry?.state === "active" && entry.nodeName === "n2";
}

/** Lets calls to addresses, or to names at DigitalOcean, fail with 500 as long as `isBroken` says. */
function breakWhile(
  { provider, dns }: Pick<Watcher, "provider" | "dns">,
  where: "addresses" | "names",
  isBroken: (operation: string) => boolean,
): void {
  (where === "addresses" ? provider : dns.digitalocean).beforeCall = (operation, subject) => {
    if (!isBroken(operation)) return undefined;
    const facts = { provider: "digitalocean", failure: "unavailable", operation, subject, status: 500 } as const;
    return { throw: new ProviderError({ ...facts, message: `${operation} ${subject}: 500` }) };
  };
}

/** Stops the watcher after it has come to rest, and sees that a minute and more brings no write. */
async function expectRest(world: WatchWorld, watcher: Watcher): Promise<void> {
  world.takesMs = undefined;
  await world.clock.advance(150 * SECOND);
  const before = watcher.cluster.writes.length;
  await world.clock.advance(150 * SECOND);
  expect(watcher.cluster.writes.slice(before).filter(({ operation }) => !operation.includes("leases"))).toEqual([]);
  watcher.stop();
  await world.clock.advance(SECOND);
}

test.for(["a change", "a look"] as const)(
  "beside %s that hangs, a move that takes three seconds is confirmed soon after, whatever else changes meanwhile",
  async (hangs) => {
    const { world, watcher } = await besideCloudflare(hangs);
    world.cloud.state.settings.action_delay_ms = 3 * SECOND;
    await world.nodes.setReady("n1", false);
    await world.clock.advance(500);
    await world.nodes.patch("n4", { metadata: { labels: { odd: "1" } } });
    expect(await untilSo(world, () => isOnN2(world))).toBeLessThan(6 * SECOND);
    await expectRest(world, watcher);
  },
);

test.for(["a change", "a look"] as const)(
  "beside %s that hangs, an assignment that fails once is tried again when it is due",
  async (hangs) => {
    const { world, watcher } = await besideCloudflare(hangs);
    let failures = 0;
    breakWhile(watcher, "addresses", (operation) => operation === "assign" && failures++ === 0);
    await world.nodes.setReady("n1", false);
    expect(await untilSo(world, () => isOnN2(world))).toBeLessThan(4 * SECOND);
    expect(failures).toBe(2);
    await expectRest(world, watcher);
  },
);

test("beside a look that hangs, addresses that could not be read for a moment are read again when they are due", async () => {
  const { world, watcher } = await besideCloudflare("a look");
  let isBroken = true;
  let calls = 0;
  breakWhile(watcher, "addresses", () => isBroken && ++calls > 0);
  await untilSo(world, async () => calls > 0);
  await world.clock.advance(200);
  isBroken = false;
  await world.nodes.setReady("n1", false);
  expect(await untilSo(world, () => isOnN2(world))).toBeLessThan(4 * SECOND);
  await expectRest(world, watcher);
});

test("beside a change that hangs, a name that could not be read for a moment is read again when it is due", async () => {
  const { world, watcher } = await besideCloudflare("a change to come");
  let failures = 0;
  breakWhile(watcher, "names", (operation) => operation === "records" && failures++ < 2);
  await world.nodes.setReady("n3", false);
  await world.pools.edit("web", { dnsRecordSet: { recordName: "www2" } });
  const isPublished = async (): Promise<boolean> =>
    world.dns.world.addresses("digitalocean", "www2.example.com").includes(ip(1));
  expect(await untilSo(world, isPublished)).toBeLessThan(5 * SECOND);
  await expectRest(world, watcher);
});

/** As {@link besideCloudflare}, without a watcher, and n1 has just failed: four seconds of grace begin. */
async function inGrace(hangs: Parameters<typeof besideCloudflare>[0]): Promise<WatchWorld> {
  const { world, watcher } = await besideCloudflare(hangs);
  watcher.stop();
  await world.clock.advance(30 * SECOND);
  await world.pools.edit("web", { gracePeriodSeconds: 4 });
  await world.nodes.setReady("n1", false);
  return world;
}

test("a run that settles does beside a look that hangs what has become due: the end of a grace, and an assignment that failed once", async () => {
  const world = await inGrace("a look");
  await world.clock.advance(SECOND);
  const run = world.settle(50 * SECOND);
  let failures = 0;
  breakWhile(run, "addresses", (operation) => operation === "assign" && failures++ === 0);
  const tookMs = await untilSo(world, () => isOnN2(world));
  expect(tookMs).toBeGreaterThan(3 * SECOND);
  expect(tookMs).toBeLessThan(6 * SECOND);
  await world.clock.advance(60 * SECOND);
  const moves = (await run.end).outcomes.filter(({ action }) => action.kind === "move-ip");
  expect(moves.map(({ outcome }) => outcome)).toEqual(["failed", "applied"]);
});

/** How long it takes until ip2 is on a node, milliseconds. */
async function untilServed(world: WatchWorld): Promise<number> {
  return await untilSo(world, async () => ["n1", "n2"].includes(world.cloud.addresses()["ip2"] ?? ""));
}

test.for([
  [
    "a new pool with a name of its own",
    async (world: WatchWorld) => {
      const dnsRecordSet = { provider: "digitalocean", zone: "example.com", recordName: "more", ttl: 60 };
      await world.pools.create("more", { ips: [ip(2)], match: { nodeLabel: "role=web" }, dnsRecordSet });
    },
    "more.example.com",
  ],
  [
    "an address more in a pool",
    async (world: WatchWorld) => await world.pools.edit("web", { ips: [ip(1), ip(2)] }),
    "www.example.com",
  ],
] as const)("beside a change that hangs, %s is served and published at once", async ([, change, name]) => {
  const { world, watcher } = await besideCloudflare("a change");
  world.cloud.address(ip(2));
  await change(world);
  expect(await untilServed(world)).toBeLessThan(SECOND);
  const isPublished = async (): Promise<boolean> => world.dns.world.addresses("digitalocean", name).includes(ip(2));
  expect(await untilSo(world, isPublished)).toBeLessThan(SECOND);
  await expectRest(world, watcher);
});

test("beside a change that hangs, a pool is deleted whole, and made anew under its name", async () => {
  const { world, watcher } = await besideCloudflare("a change");
  await world.pools.edit("web", { reclaimPolicy: "Delete" });
  await world.clock.advance(SECOND);
  expect(await world.pools.finalizers("web")).toHaveLength(1);
  await world.pools.delete("web");
  expect(await untilSo(world, async () => (await world.pools.read("web")) === undefined)).toBeLessThan(3 * SECOND);
  expect(world.dns.world.addresses("digitalocean", "www.example.com")).toEqual([]);
  world.cloud.address(ip(2));
  await world.pools.create("web", { ips: [ip(2)], match: { nodeLabel: "role=web" } });
  expect(await untilServed(world)).toBeLessThan(SECOND);
  await expectRest(world, watcher);
});

test("beside a change that hangs, a pool whose match is edited leaves its node, and does not come back", async () => {
  const { world, watcher } = await besideCloudflare("a change");
  await world.pools.edit("web", { match: { nodeLabel: "role=api" } });
  expect(await untilSo(world, async () => world.cloud.addresses()["ip1"] === "n4")).toBeLessThan(SECOND);
  await expectRest(world, watcher);
  expect(world.cloud.addresses()).toEqual({ ip1: "n4" });
});

test("beside a change that hangs, a pool that is to stand still does so from then on", async () => {
  const { world, watcher } = await besideCloudflare("a change");
  await world.pools.annotate("web", SUSPEND_ANNOTATION, "maintenance");
  await world.clock.advance(100);
  await world.nodes.setReady("n1", false);
  await world.clock.advance(60 * SECOND);
  expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
  await expectRest(world, watcher);
});

test("a run that settles ends with every status written, however long the API server takes and whatever becomes due", async () => {
  const world = await inGrace("a change to come");
  const run = world.settle(50 * SECOND);
  const write = run.cluster.patchPoolStatus.bind(run.cluster);
  let underWay = 0;
  run.cluster.patchPoolStatus = async (meta, status) => {
    underWay += 1;
    await world.clock.sleep(6 * SECOND);
    underWay -= 1;
    return await write(meta, status);
  };
  const ended = run.end.then(() => underWay);
  await world.clock.advance(60 * SECOND);
  expect(await ended).toBe(0);
  expect(await isOnN2(world)).toBe(true);
});

/** Pool `web` has ip1 on n1 and ip2 on n2, may have one on n3, and publishes both at Cloudflare. From now on each write of that node's annotation hangs. */
async function besideNode(hangs: string): Promise<{ world: WatchWorld; watcher: Watcher }> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3");
  for (const number of [1, 2]) world.cloud.address(ip(number), { on: `n${number}` });
  world.dns.world.zone("cloudflare");
  const name = { provider: "cloudflare", zone: "example.com", recordName: "www", ttl: 60 };
  await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: name });
  const watcher = world.watch();
  await world.clock.advance(70 * SECOND);
  world.takesMs = () => 20;
  const { cluster } = watcher;
  const annotate = cluster.annotateNode.bind(cluster);
  cluster.annotateNode = async (node, annotations) => {
    if (node === hangs) await world.clock.sleep(HANGS_MS);
    await annotate(node, annotations);
  };
  return { world, watcher };
}

test("while the annotation of a dead node cannot be cleared, its pool's name follows what happens to other addresses, and status tells of the move", async () => {
  const { world, watcher } = await besideNode("n1");
  const shown = (): readonly string[] => world.dns.world.addresses("cloudflare", "www.example.com");
  const stateOf = async (number: number): Promise<string | undefined> =>
    (await world.pools.status("web")).ips[ip(number)]?.state;
  await world.nodes.setReady("n1", false);
  expect(await untilSo(world, async () => (await stateOf(1)) === "active")).toBeLessThan(2 * SECOND);
  await world.nodes.setReady("n2", false);
  expect(await untilSo(world, async () => !shown().includes(ip(2)))).toBeLessThan(2 * SECOND);
  expect(shown()).toEqual([ip(1)]);
  await world.nodes.setReady("n2", true);
  expect(await untilSo(world, async () => shown().includes(ip(2)))).toBeLessThan(2 * SECOND);
  await expectRest(world, watcher);
});

test("while the annotation of a new holder cannot be written, the other address still leaves the name when its node dies", async () => {
  const { world, watcher } = await besideNode("n3");
  const shown = (): readonly string[] => world.dns.world.addresses("cloudflare", "www.example.com");
  await world.nodes.setReady("n1", false);
  await world.clock.advance(2 * SECOND);
  expect(world.cloud.addresses()["ip1"]).toBe("n3");
  await world.nodes.setReady("n2", false);
  expect(await untilSo(world, async () => !shown().includes(ip(2)))).toBeLessThan(2 * SECOND);
  expect(shown()).toEqual([ip(1)]);
  await expectRest(world, watcher);
});

test("beside a change that hangs, an address that fails over to and fro is moved each time at once", async () => {
  const { world, watcher } = await besideCloudflare("a change");
  for (const [from, to] of [
    [1, 2],
    [2, 1],
    [1, 2],
    [2, 1],
  ] as const) {
    await world.nodes.setReady(`n${to}`, true);
    await world.clock.advance(SECOND);
    await world.nodes.setReady(`n${from}`, false);
    const isMoved = async (): Promise<boolean> =>
      world.cloud.addresses()["ip1"] === `n${to}` && (await world.pools.status("web")).ips[ip(1)]?.state === "active";
    expect(await untilSo(world, isMoved), `to n${to}`).toBeLessThan(2 * SECOND);
  }
  await expectRest(world, watcher);
});

test("beside a change that hangs, a pool that is replaced at once goes on as the new one, and its status says so", async () => {
  const { world, watcher } = await besideCloudflare("a change");
  const name = { provider: "digitalocean", zone: "example.com", recordName: "www", ttl: 60 };
  const spec = { ips: [ip(1)], match: { nodeLabel: "role=web" }, dnsRecordSet: name };
  const { cluster } = watcher;
  const patch = cluster.patchPoolStatus.bind(cluster);
  cluster.patchPoolStatus = async (meta, status) => {
    await world.clock.sleep(200);
    return await patch(meta, status);
  };
  for (const cycle of [1, 2, 3]) {
    await world.nodes.setReady("n1", cycle % 2 === 0);
    await world.clock.advance(100);
    await world.pools.delete("web");
    await world.pools.create("web", spec);
    const isActive = async (): Promise<boolean> => (await world.pools.status("web")).ips[ip(1)]?.state === "active";
    expect(await untilSo(world, isActive), `cycle ${cycle}`).toBeLessThan(3 * SECOND);
    await world.clock.advance(SECOND);
  }
  await expectRest(world, watcher);
});
