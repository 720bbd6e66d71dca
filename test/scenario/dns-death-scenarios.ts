import { expect } from "vitest";
import type { DNSName } from "../fake/dns-account.ts";
import { DNS_PROVIDERS, publishedPool, WWW, www } from "./dns-scene.ts";
import type { DNSOperation, OperationFault } from "./operation-fault.ts";
import { checkInvariants, type Register } from "./scenario.ts";
import { dropletOf, externalIP, externalIPv6, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

const API = "api.example.com";
const AAAA = `${WWW} AAAA`;
const NODES = ["n1", "n2", "n3", "n4"];
/** A record that somebody else has at a shared name. */
const THEIRS = "192.0.2.99";
/** What stands in the zone and is nobody's business: each provider's own way to write it. */
const OTHERS = [
  [WWW, "v=spf1 -all", "TXT"],
  ["mail.example.com", "192.0.2.98", "A"],
] as const;

/** One way there and back, each a change of names. */
interface Tour {
  readonly title: string;
  /** What is there before: as after `back`. */
  readonly before: (world: World, provider: DNSName) => Promise<void>;
  readonly there: (world: World) => Promise<void>;
  readonly back: (world: World) => Promise<void>;
  /** What names show: after `there`, then after `back`. By their names. */
  readonly shown: readonly [Shown, Shown];
  /** The TTL of `www` after each, where it changes. */
  readonly ttls?: readonly [number, number];
  readonly mayEnd?: readonly string[];
}

/** There, or back. */
type Way = 0 | 1;
const WAYS: readonly Way[] = [0, 1];

type Shown = Readonly<Record<string, readonly string[]>>;

const TOURS: readonly Tour[] = [
  {
    title: "two nodes join, and leave",
    before: (world, provider) => published(world, provider),
    there: (world) => ready(world, "n1", "n2", "n3", "n4"),
    back: (world) => ready(world, "n1", "n2"),
    shown: [{ [WWW]: ["ext1", "ext2", "ext3", "ext4"] }, { [WWW]: ["ext1", "ext2"] }],
  },
  {
    title: "two nodes take the places of two others",
    before: (world, provider) => published(world, provider),
    there: (world) => ready(world, "n3", "n4"),
    back: (world) => ready(world, "n1", "n2"),
    shown: [{ [WWW]: ["ext3", "ext4"] }, { [WWW]: ["ext1", "ext2"] }],
  },
  {
    title: "the TTL is lowered, and raised",
    before: (world, provider) => published(world, provider, {}, { ttl: 300 }),
    there: (world) => world.recordSets.edit("nodes", { dnsRecordSet: { ttl: 120 } }),
    back: (world) => world.recordSets.edit("nodes", { dnsRecordSet: { ttl: 300 } }),
    shown: [{ [WWW]: ["ext1", "ext2"] }, { [WWW]: ["ext1", "ext2"] }],
    ttls: [120, 300],
  },
  {
    title: "the TTL changes with one of two nodes",
    before: (world, provider) => published(world, provider, {}, { ttl: 300 }),
    there: async (world) => {
      await world.recordSets.edit("nodes", { dnsRecordSet: { ttl: 120 } });
      await ready(world, "n2", "n3");
    },
    back: async (world) => {
      await world.recordSets.edit("nodes", { dnsRecordSet: { ttl: 300 } });
      await ready(world, "n1", "n2");
    },
    shown: [{ [WWW]: ["ext2", "ext3"] }, { [WWW]: ["ext1", "ext2"] }],
    ttls: [120, 300],
  },
  {
    title: "a name is given another one, and back",
    before: (world, provider) => published(world, provider, { reclaimPolicy: "Delete" }),
    there: (world) => world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "api" } }),
    back: (world) => world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "www" } }),
    shown: [
      { [API]: ["ext1", "ext2"], [WWW]: [] },
      { [API]: [], [WWW]: ["ext1", "ext2"] },
    ],
    mayEnd: [WWW, API],
  },
  {
    title: "AAAA records are asked for, and no more",
    before: (world, provider) => published(world, provider, { reclaimPolicy: "Delete" }),
    there: (world) => world.recordSets.edit("nodes", { ipFamilies: ["IPv4", "IPv6"] }),
    back: (world) => world.recordSets.edit("nodes", { ipFamilies: ["IPv4"] }),
    shown: [
      { [WWW]: ["ext1", "ext2"], [AAAA]: ["six1", "six2"] },
      { [WWW]: ["ext1", "ext2"], [AAAA]: [] },
    ],
    mayEnd: [AAAA],
  },
  {
    title: "AAAA records take the place of A records, and back",
    before: (world, provider) => published(world, provider, { reclaimPolicy: "Delete", ipFamilies: ["IPv4"] }),
    there: (world) => world.recordSets.edit("nodes", { ipFamilies: ["IPv6"] }),
    back: (world) => world.recordSets.edit("nodes", { ipFamilies: ["IPv4"] }),
    shown: [
      { [WWW]: [], [AAAA]: ["six1", "six2"] },
      { [WWW]: ["ext1", "ext2"], [AAAA]: [] },
    ],
    mayEnd: [WWW, AAAA],
  },
  {
    title: "a name is handed over to another object, and back",
    before: async (world, provider) => {
      await published(world, provider, { reclaimPolicy: "Delete", match: { nodeLabel: "role=old" } });
      for (const [at, node] of NODES.entries())
        await world.nodes.patch(node, { metadata: { labels: { role: at < 2 ? "old" : "new" } } });
      await ready(world, ...NODES);
      const own = www(provider, { recordName: "api" });
      await world.recordSets.create("heir", {
        reclaimPolicy: "Delete",
        match: { nodeLabel: "role=new" },
        dnsRecordSet: own,
      });
    },
    there: async (world) => {
      await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "left" } });
      await world.recordSets.edit("heir", { dnsRecordSet: { recordName: "www" } });
    },
    back: async (world) => {
      await world.recordSets.edit("heir", { dnsRecordSet: { recordName: "api" } });
      await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "www" } });
    },
    shown: [
      { [WWW]: ["ext3", "ext4"], [API]: [], "left.example.com": ["ext1", "ext2"] },
      { [WWW]: ["ext1", "ext2"], [API]: ["ext3", "ext4"], "left.example.com": [] },
    ],
    mayEnd: [API, "left.example.com"],
  },
  {
    title: "an object is deleted, and made anew",
    before: (world, provider) => published(world, provider, { reclaimPolicy: "Delete" }),
    there: (world) => world.recordSets.delete("nodes"),
    back: (world) => createNodes(world, { reclaimPolicy: "Delete" }),
    shown: [{ [WWW]: [] }, { [WWW]: ["ext1", "ext2"] }],
    mayEnd: [WWW],
  },
  {
    title: "nodes come and go in a name that somebody else shares",
    before: async (world, provider) => {
      await published(world, provider, {}, { foreignRecords: "Share" });
      world.dnsSafety.servesElsewhere(THEIRS);
      world.dns.add(provider, WWW, THEIRS);
    },
    there: (world) => ready(world, "n2", "n3", "n4"),
    back: (world) => ready(world, "n1", "n2"),
    shown: [{ [WWW]: ["ext2", "ext3", "ext4", "ip353"] }, { [WWW]: ["ext1", "ext2", "ip353"] }],
  },
  {
    title: "a pool is given two addresses more, and two less",
    before: async (world, provider) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      await world.machines("n3", "n4");
      for (const number of [3, 4]) world.cloud.address(ip(number));
    },
    there: (world) => world.pools.edit("web", { ips: [1, 2, 3, 4].map(ip) }),
    back: (world) => world.pools.edit("web", { ips: [1, 2].map(ip) }),
    shown: [{ [WWW]: ["ip1", "ip2", "ip3", "ip4"] }, { [WWW]: ["ip1", "ip2"] }],
  },
];

/** The provider of the scenario that is played, for the objects that are made anew in it. */
const PROVIDER = new WeakMap<World, DNSName>();

function providerOf(world: World): DNSName {
  return PROVIDER.get(world) ?? "digitalocean";
}

/** Record set `nodes` publishes n1 and n2 as `www`; n3 and n4 are not ready. Each node has an address of each family. */
async function published(world: World, provider: DNSName, spec: Spec = {}, name: Spec = {}): Promise<void> {
  for (const node of NODES) {
    const number = dropletOf(node) - 100;
    world.cloud.droplet(node);
    const addresses = [externalIP(number), externalIPv6(number)].map((address) => ({ type: "ExternalIP", address }));
    await world.nodes.create(node, { addresses: addresses as { type: "ExternalIP"; address: string }[] });
  }
  await ready(world, "n1", "n2");
  world.dns.zone(provider);
  await createNodes(world, spec, name);
}

async function createNodes(world: World, spec: Spec, name: Spec = {}): Promise<void> {
  await world.recordSets.create("nodes", { dnsRecordSet: www(providerOf(world), name), ...spec });
}

/** Makes these nodes ready, and the others not. */
async function ready(world: World, ...names: readonly string[]): Promise<void> {
  for (const node of NODES) await world.nodes.setReady(node, names.includes(node));
}

/** Passes until one writes nothing, and nothing is left to do. */
async function converge(world: World): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    world.advance(60_000);
    const { remaining } = await world.pass({ settle: true });
    const isOver = remaining.holds.every(({ notBeforeMs }) => notBeforeMs === undefined);
    if (isOver && world.writes().length === 0) return;
  }
}

async function begin(world: World, provider: DNSName, { before, mayEnd = [] }: Tour): Promise<void> {
  PROVIDER.set(world, provider);
  for (const name of mayEnd) world.dnsSafety.allowEnd(name);
  await before(world, provider);
  for (const [fqdn, content, type] of OTHERS) world.dns.add(provider, fqdn, content, { type });
  await converge(world);
}

/** Goes one way, there (0) or back (1). */
async function go(world: World, { there, back }: Tour, way: Way): Promise<void> {
  await (way === 0 ? there : back)(world);
}

/** Sees that all is as it should be after a way. */
async function expectArrived(world: World, { shown, ttls }: Tour, way: Way, what: string): Promise<void> {
  const provider = providerOf(world);
  const text = `${way === 0 ? "there" : "back"}: ${what}`;
  await converge(world);
  expect(world.writes(), `${text}: the last pass writes nothing`).toEqual([]);
  const sets = Object.keys(shown[way]).map((name) => [name, world.dns.set(provider, name)]);
  expect(Object.fromEntries(sets), text).toEqual(shown[way]);
  if (ttls !== undefined) expect(world.dns.ttls(provider, WWW), text).toEqual([ttls[way]]);
  expect(othersIn(world), text).toHaveLength(OTHERS.length);
  expect(world.dns.meddled, text).toEqual([]);
  await checkInvariants(world);
}

function othersIn(world: World): readonly string[] {
  const starts = OTHERS.map(([fqdn, , type]) => `${fqdn} ${type} `);
  return world.dns.show(providerOf(world)).filter((line) => starts.some((start) => line.startsWith(start)));
}

const WRITES: Readonly<Record<DNSName, readonly DNSOperation[]>> = {
  digitalocean: ["add-record", "set-ttl", "remove-record"],
  cloudflare: ["write"],
  hetzner: ["write"],
  webhook: ["write"],
};

/** How a single request ends badly: without effect, with an effect that is not told, or cut on the way there or back. */
const ENDS: readonly Pick<OperationFault, "kind" | "isDone">[] = [
  { kind: "500" },
  { kind: "500", isDone: true },
  { kind: "cut" },
  { kind: "lost-answer" },
  { kind: "429" },
];

/** Each kind of change of a name while each single request of it is the last one, or ends badly: no resolver is ever shown a wrong set, nothing of others is touched, and the next passes bring all of it about. */
export function dnsDeathScenarios(scenario: Register): void {
  for (const tour of TOURS)
    for (const provider of DNS_PROVIDERS) {
      scenario(
        `${tour.title} at ${provider}, and the process dies before each of its writes`,
        (world) => diesAnywhere(world, provider, tour),
        { worlds: ["memory"] },
      );
      scenario(
        `${tour.title} at ${provider}, and each request about records ends badly`,
        (world) => endsBadly(world, provider, tour),
        { worlds: ["memory"] },
      );
    }
}

async function diesAnywhere(world: World, provider: DNSName, tour: Tour): Promise<void> {
  await begin(world, provider, tour);
  let hasDied = true;
  for (let write = 1; hasDied; write += 1) {
    hasDied = false;
    for (const way of WAYS) {
      await go(world, tour, way);
      hasDied = (await world.crash(write)) || hasDied;
      await expectArrived(world, tour, way, `dead before write ${write}`);
    }
  }
}

async function endsBadly(world: World, provider: DNSName, tour: Tour): Promise<void> {
  await begin(world, provider, tour);
  const skips = Array.from({ length: await mostRequests(world, tour) }, (_, at) => at);
  for (const fault of ENDS.flatMap((end) => skips.map((skip) => ({ ...end, skip }))))
    for (const way of WAYS) {
      await go(world, tour, way);
      for (const operation of WRITES[provider]) world.fail({ side: "dns", provider, operation, ...fault, times: 1 });
      await world.pass();
      world.clearFaults();
      world.advance(600_000);
      await expectArrived(world, tour, way, JSON.stringify(fault));
    }
}

/** How many requests about records the longer way takes when nothing goes wrong. */
async function mostRequests(world: World, tour: Tour): Promise<number> {
  let most = 0;
  for (const way of WAYS) {
    await go(world, tour, way);
    await world.pass({ settle: true });
    most = Math.max(most, world.dnsWrites().length);
    await expectArrived(world, tour, way, "undisturbed");
  }
  return most;
}
