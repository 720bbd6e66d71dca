import type { DNSProvider } from "../../src/ports/providers.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { DNSName } from "../fake/dns-account.ts";
import type { Backend, Ports } from "../scenario/backend.ts";
import { isServedBy } from "../scenario/dns-safety.ts";
import { DNS_PROVIDERS, WWW, www } from "../scenario/dns-scene.ts";
import { memoryWorld } from "../scenario/memory-world.ts";
import { externalIP, ip } from "../scenario/scenario-names.ts";
import { World } from "../scenario/world.ts";
import type { Spec } from "../scenario/world-objects.ts";
import { LeavingTogether } from "./leaving-together.ts";
import { Random } from "./random.ts";

/*
 * Histories of two clusters that publish their addresses under one name, and of somebody who adds records by hand. Nodes come and go, runs die at any write, answers
 * get lost, lists of records are old, statuses get lost, and both clusters pass at the same time. What must hold at every change:
 *
 *   no cluster removes, or adds, an address that is not its own
 *   a name with an address that serves never loses the last such address, and is never emptied: but for the moment in which both leave it
 *   in the end both publish exactly what serves, beside what others put there; then passes write nothing
 */

const SECOND = 1000;
const STEPS = 8;
/** The numbers of the nodes of each cluster. */
const HERE = [1, 2, 3];
const THERE = [11, 12, 13];
const STRANGERS = ["192.0.2.201", "192.0.2.202"];
/** Long enough for every wait between attempts. */
const LONG_MS = 700 * SECOND;

/** A cluster whose lists of records may be old. */
class SharedWorld extends World {
  readonly #old = new Map<string, unknown>();
  /** Says whether a reading is an old one; absent = never. */
  isStale: (() => boolean) | undefined;
  /** The status of its object as it was once. */
  backup: Spec | undefined;

  constructor(backend: Backend, first?: World) {
    super(backend, first);
  }

  protected override deps(clock: Clock, ports: Ports, ...rest: readonly unknown[]): ReturnType<World["deps"]> {
    const dns = Object.fromEntries(
      Object.entries(ports.dns).map(([name, provider]) => [name, this.#withOldReadings(name, provider)]),
    ) as Record<DNSName, DNSProvider>;
    return super.deps(clock, { ...ports, dns }, ...(rest as [Parameters<World["deps"]>[2]]));
  }

  /** Right before a change the provider itself is asked: only what a pass is planned on is old. */
  #withOldReadings(name: string, provider: DNSProvider): DNSProvider {
    return {
      ...provider,
      readRecords: async (zone, fqdn, isAwaited) => {
        const records = await provider.readRecords(zone, fqdn, isAwaited);
        const key = `${name} ${fqdn}`;
        const old = this.#old.get(key) as typeof records | undefined;
        if (old !== undefined && this.isStale?.() === true) return old;
        this.#old.set(key, records);
        return records;
      },
    };
  }
}

/** Both clusters, and where they publish. */
interface Scene {
  readonly here: SharedWorld;
  readonly there: SharedWorld;
  readonly provider: DNSName;
  readonly random: Random;
  /** True where statuses get lost; else nodes go for good. */
  readonly isForgetful: boolean;
  readonly leaving: LeavingTogether;
}

/** Plays the history of a seed. Returns the promises that were broken, in words; none when all held. */
export async function playSharedName(seed: number): Promise<readonly string[]> {
  const random = new Random(seed);
  const backend = memoryWorld();
  const here = new SharedWorld(backend);
  const there = await here.beside((other, first) => new SharedWorld(other, first));
  const provider = random.pick(DNS_PROVIDERS);
  const ready = (): ReturnType<World["nodes"]["ready"]> => [here, there].flatMap(({ nodes }) => nodes.ready());
  const leaving = new LeavingTogether(here.dns, isServedBy(here.cloud, ready));
  const scene: Scene = { here, there, provider, random, isForgetful: random.chance(0.5), leaving };
  try {
    await here.namespace();
    await build(scene);
    for (let step = 0; step < STEPS; step += 1) {
      for (let count = random.between(1, 3); count > 0; count -= 1) await happen(scene);
      await somePass(scene);
    }
    await comeToRest(scene);
    return [
      ...here.dnsSafety.violations,
      ...leaving.violations,
      ...strangeChanges(scene),
      ...(await wrongAtRest(scene)),
      ...(await restless(scene)),
    ];
  } catch (error) {
    return [`failed: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    await there.close();
    await here.close();
  }
}

/** A pool here, a record set there, under one name. */
async function build({ here, there, provider, random }: Scene): Promise<void> {
  await here.machines(...HERE.map((number) => `n${number}`));
  await there.machines(...THERE.map((number) => `n${number}`));
  for (const number of HERE) here.cloud.address(ip(number));
  here.dns.zone(provider);
  const dnsRecordSet = (): ReturnType<typeof www> =>
    www(provider, { foreignRecords: "Share", ttl: random.pick([60, 120, 300]) });
  const more = (): { readonly gracePeriodSeconds: number; readonly reclaimPolicy: string } => ({
    gracePeriodSeconds: random.pick([0, 0, 15]),
    reclaimPolicy: random.pick(["Retain", "Delete"]),
  });
  await here.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: dnsRecordSet(), ...more() });
  await there.recordSets.create("nodes", { dnsRecordSet: dnsRecordSet(), ...more() });
}

/** One thing that happens between two passes, in one of the clusters. */
type Happening = (scene: Scene, world: SharedWorld) => Promise<void> | void;

const HAPPENINGS: readonly Happening[] = [
  (scene, world) => setReady(world, someNode(scene, world), scene.random.chance(0.5)),
  (scene, world) => setReady(world, someNode(scene, world), scene.random.chance(0.5)),
  (scene, world) => cordon(world, someNode(scene, world), scene.random.chance(0.5)),
  strike,
  strike,
  strike,
  lose,
  lose,
  ({ here, there, random }, world) => {
    const dnsRecordSet = { ttl: random.pick([60, 120, 300]) };
    return world === here ? here.pools.edit("web", { dnsRecordSet }) : there.recordSets.edit("nodes", { dnsRecordSet });
  },
  ({ here, there, random }, world) => {
    const suspend = random.chance(0.3);
    return world === here ? here.pools.edit("web", { suspend }) : there.recordSets.edit("nodes", { suspend });
  },
  turn,
  ({ here, random }) => here.advance(random.pick([1, 5, 20, 60]) * SECOND),
  editByHand,
  readOld,
  fail,
];

async function happen(scene: Scene): Promise<void> {
  const { here, there, random } = scene;
  await random.pick(HAPPENINGS)(scene, random.pick([here, there]));
}

function someNode({ here, random }: Scene, world: World): string {
  return `n${random.pick(world === here ? HERE : THERE)}`;
}

/** A stranger's record comes or goes; or somebody lays hands on a record of any of the clusters. */
function editByHand({ here, provider, random }: Scene): void {
  const shown = here.dns.addresses(provider, WWW);
  const content = random.pick([...STRANGERS, ...STRANGERS, ...shown]);
  const isThere = shown.includes(content);
  const ttlSeconds = random.pick([60, 300]);
  // Cloudflare takes no record twice.
  const mayAdd = !isThere || (provider === "digitalocean" && random.chance(0.3));
  if (mayAdd) here.dns.add(provider, WWW, content, { ttlSeconds });
  else if (random.chance(0.3)) here.dns.edit(provider, { fqdn: WWW, content }, { ttlSeconds });
  else if (random.chance(0.7)) here.dns.remove(provider, { fqdn: WWW, content });
}

/** What is to become of the others' records is thought over. */
async function turn({ here, there, random }: Scene, world: World): Promise<void> {
  const dnsRecordSet = { foreignRecords: random.pick(["Share", "Share", "Hold"]) };
  if (world === here) await here.pools.edit("web", { dnsRecordSet });
  else await there.recordSets.edit("nodes", { dnsRecordSet });
}

/** From now on some readings are old. */
function readOld({ here, there, random }: Scene, world: World): void {
  const isStale = random.chance(0.5) ? () => random.chance(0.5) : undefined;
  if (world === here) here.isStale = isStale;
  else there.isStale = isStale;
}

function fail({ here, provider, random }: Scene): void {
  here.fail({
    side: "dns",
    provider,
    operation: random.pick(["records", "add-record", "set-ttl", "remove-record", "write"] as const),
    kind: random.pick(["500", "lost-answer", "cut", "422"] as const),
    times: random.between(1, 2),
    skip: random.between(0, 2),
  });
}

/**
 * A status gets lost or is that of an earlier backup, or a node goes and comes back. Never both in one history: an address of a node that is gone, and that no status has any more, is nobody's and
 * stays for a person to remove.
 */
async function lose(scene: Scene, world: SharedWorld): Promise<void> {
  const { here, there, random, isForgetful } = scene;
  if (isForgetful) return await restore(world === here ? here.pools : there.recordSets, scene, world);
  const name = `n${random.pick(THERE)}`;
  if (there.nodes.has(name)) await there.nodes.delete(name);
  else await there.nodes.create(name);
}

/** The status becomes what it was when this happened last, or is lost. */
async function restore(
  objects: World["pools"] | World["recordSets"],
  { here, random }: Scene,
  world: SharedWorld,
): Promise<void> {
  const name = world === here ? "web" : "nodes";
  const { status } = (await objects.read(name)) ?? {};
  const { backup } = world;
  world.backup = status as Spec;
  await objects.writeStatus(name, null);
  if (backup !== undefined && random.chance(0.5)) await objects.writeStatus(name, backup);
}

/** All nodes of a cluster fail, recover, or are cordoned. */
async function strike({ here, random }: Scene, world: World): Promise<void> {
  const [isReady, isCordoned] = random.pick([
    [false, false],
    [true, true],
    [true, false],
  ] as const);
  for (const number of world === here ? HERE : THERE) {
    await setReady(world, `n${number}`, isReady);
    await cordon(world, `n${number}`, isCordoned);
  }
}

async function setReady({ nodes }: World, name: string, isReady: boolean): Promise<void> {
  if (nodes.has(name)) await nodes.setReady(name, isReady);
}

/** A cordoned node serves on. */
async function cordon({ nodes }: World, name: string, isCordoned: boolean): Promise<void> {
  const taints = isCordoned ? [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] : null;
  if (nodes.has(name)) await nodes.patch(name, { spec: { taints } });
}

/** A pass that ends, or dies; perhaps with one of the other cluster at the same time, and calls that take some time. */
async function somePass({ here, there, provider, random, leaving }: Scene): Promise<void> {
  const worlds = random.pick([[here], [there], [here, there]]);
  leaving.begin(worlds.length > 1);
  for (const world of worlds) world.takesMs = random.chance(0.5) ? () => random.pick([0, 20, 300]) : undefined;
  await Promise.all(
    worlds.map((world) => world.runBeside(random.chance(0.35) ? { dieBeforeWrite: random.between(1, 8) } : {})),
  );
  for (const world of worlds) world.takesMs = undefined;
  leaving.end(here.dns.addresses(provider, WWW));
}

async function comeToRest({ here, there }: Scene): Promise<void> {
  here.clearFaults();
  for (const world of [here, there]) {
    world.isStale = undefined;
    for (const number of world === here ? HERE : THERE) await cordon(world, `n${number}`, false);
  }
  const dnsRecordSet = { foreignRecords: "Share" };
  await here.pools.edit("web", { suspend: false, dnsRecordSet });
  await there.recordSets.edit("nodes", { suspend: false, dnsRecordSet });
  for (let round = 0; round < 4; round += 1) {
    here.advance(LONG_MS);
    await here.runBeside();
    await there.runBeside();
  }
}

/** Addresses that a cluster changed and that are not its own. */
function strangeChanges({ here }: Scene): readonly string[] {
  return here.dns.views.flatMap(({ by, cluster, before, after }) => {
    const own = cluster === 0 ? HERE.map(ip) : THERE.map(externalIP);
    const changed = [...before.filter((one) => !after.includes(one)), ...after.filter((one) => !before.includes(one))];
    const strange = by === "hand" ? [] : changed.filter((address) => !own.includes(address));
    const whose = cluster === 0 ? "the pool" : "the record set";
    return strange.length === 0
      ? []
      : [`foreign: ${whose} changed ${strange.join(" ")}: ${before.join(" ")} → ${after.join(" ")}`];
  });
}

/** What the name shows, where that is not what serves and what strangers put there. */
async function wrongAtRest({ here, there, provider }: Scene): Promise<readonly string[]> {
  const { ips } = await here.pools.status("web");
  const active = Object.entries(ips).flatMap(([address, { state }]) => (state === "active" ? [address] : []));
  const ready = there.nodes.ready().flatMap(({ addresses }) => addresses.map(({ address }) => address));
  const wanted = [...active, ...THERE.map(externalIP).filter((address) => ready.includes(address))].toSorted();
  const shown = here.dns.addresses(provider, WWW).filter((address) => !STRANGERS.includes(address));
  if (wanted.length === 0 || wanted.join() === shown.join()) return [];
  return [`at rest: ${WWW} shows ${shown.join(" ")}, not ${wanted.join(" ")}`];
}

/** What passes over a world at rest write. */
async function restless({ here, there }: Scene): Promise<readonly string[]> {
  const written: string[] = [];
  for (const world of [here, there]) {
    await world.pass();
    written.push(...world.writes());
  }
  return written.length === 0 ? [] : [`restless: ${written.join(", ")}`];
}
