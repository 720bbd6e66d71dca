import { expect, test } from "vitest";
import { aroundCalls, type PortCall } from "../fake/slowed.ts";
import { ip } from "../scenario/scenario-names.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const SECOND = 1000;
/** So long a read takes that nobody answers, milliseconds. */
const HANGS_MS = 25 * SECOND;
const WWW = "www.example.com";

/** How long it takes until something is so, milliseconds; no longer than a minute is waited. */
async function untilSo(world: WatchWorld, isSo: () => boolean): Promise<number> {
  const startMs = world.clock.monotonicMs();
  while (world.clock.monotonicMs() - startMs < 60 * SECOND && !isSo()) await world.clock.advance(50);
  return world.clock.monotonicMs() - startMs;
}

/** Lets what these methods of a port return come so much later than it was read. */
function lateAnswers<T extends object>(world: WatchWorld, port: T, methods: readonly (keyof T & string)[]): void {
  const late = aroundCalls(port, async (call) => {
    const answer = await call();
    await world.clock.sleep(world.takesMs?.({ port: "late", method: "", args: [] }) ?? 0);
    return answer;
  });
  const own = Object.fromEntries(methods.map((method) => [method, late[method]]));
  Object.assign(port, own);
}

function hang(world: WatchWorld, ms: number): void {
  world.takesMs = ({ port }: PortCall) => (port === "late" ? ms : 20);
}

/** Lets everything answer again, and sees that after two minutes nothing is written any more. */
async function expectRest(world: WatchWorld, { cluster, dns, provider, firewalls, stop }: Watcher): Promise<void> {
  hang(world, 0);
  await world.clock.advance(120 * SECOND);
  const writes = (): number =>
    cluster.writes.filter(({ operation }) => !operation.includes("leases")).length +
    Object.values(dns).flatMap(({ account, recorded }) => (account === undefined ? [] : recorded.filter(isWrite)))
      .length +
    [...provider.calls(), ...firewalls.calls()].filter(isWrite).length;
  const before = writes();
  await world.clock.advance(120 * SECOND);
  expect(writes()).toBe(before);
  stop();
}

function isWrite({ operation }: { readonly operation: string }): boolean {
  return /write|add|remove|assign|open|close|set-ttl/.test(operation);
}

/** Record set `www` publishes n1 and n2, `api` n3 and n4 in the same zone; the answers of this provider's reads come late. */
async function twoNames(provider: "digitalocean" | "cloudflare"): Promise<{ world: WatchWorld; watcher: Watcher }> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3", "n4");
  world.dns.world.zone(provider);
  for (const [number, role] of ["www", "www", "api", "api"].entries())
    await world.nodes.patch(`n${number + 1}`, { metadata: { labels: { role } } });
  for (const recordName of ["www", "api"]) {
    const dnsRecordSet = { provider, zone: "example.com", recordName, ttl: 60 };
    await world.recordSets.create(recordName, { dnsRecordSet, match: { nodeLabel: `role=${recordName}` } });
  }
  const watcher = world.watch();
  lateAnswers(world, watcher.dns[provider], ["findZone", "listRecords", "readRecords"]);
  await world.clock.advance(90 * SECOND);
  expect(world.dns.world.addresses(provider, WWW)).toHaveLength(2);
  return { world, watcher };
}

test.for(
  (["digitalocean", "cloudflare"] as const).flatMap((provider) =>
    [1, 40, 61, 70, 90].map((seconds) => [provider, seconds] as const),
  ),
)(
  "names of %s are read in 25 s since %i s: a dead node leaves its name all the same, and what was read before brings it back into none",
  async ([provider, seconds]) => {
    const { world, watcher } = await twoNames(provider);
    hang(world, HANGS_MS);
    await world.clock.advance(seconds * SECOND);
    await world.nodes.setReady("n1", false);
    expect(await untilSo(world, () => world.dns.world.addresses(provider, WWW).length === 1)).toBeLessThan(3 * SECOND);
    for (let step = 0; step < 60; step += 1) {
      await world.clock.advance(SECOND);
      expect(world.dns.world.addresses(provider, WWW)).toHaveLength(1);
    }
    await expectRest(world, watcher);
    expect(world.dns.world.addresses(provider, WWW)).toHaveLength(1);
  },
);

/** RoutedIP `vip` of ip1 is on n1; the answers of reads of firewalls come late. */
async function routed(): Promise<{ world: WatchWorld; watcher: Watcher }> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  for (const node of ["n1", "n2"]) await world.pods.create(`web-${node}`, { node, labels: { app: "web" } });
  world.cloud.address(ip(1));
  world.cloud.firewall();
  await world.routedIPs.service();
  await world.routedIPs.issuer();
  await world.routedIPs.create("vip", { address: ip(1) });
  const watcher = world.watch();
  lateAnswers(world, watcher.firewalls, ["listFirewalls"]);
  await world.clock.advance(90 * SECOND);
  expect(world.cloud.addresses()).toEqual({ ip1: "n1" });
  return { world, watcher };
}

test.for([1, 40, 61, 70, 90])(
  "firewalls are listed in 25 s since %i s: an address that needs one moves all the same, behind its firewall",
  async (seconds) => {
    const { world, watcher } = await routed();
    hang(world, HANGS_MS);
    await world.clock.advance(seconds * SECOND);
    await world.pods.setReady("web-n1", false);
    expect(await untilSo(world, () => world.cloud.addresses()["ip1"] === "n2")).toBeLessThan(3 * SECOND);
    expect(world.cloud.showFirewall()).toContain("n2");
    await expectRest(world, watcher);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
  },
);
