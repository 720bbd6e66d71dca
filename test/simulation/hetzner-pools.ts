import type { IPFamily } from "../../src/model/address-source.ts";
import { KubeError } from "../../src/model/errors.ts";
import { ipv6NetworkOf } from "../../src/model/ipv6-network.ts";
import { setText } from "../../src/model/record-types.ts";
import type { PoolStatus } from "../../src/model/resource.ts";
import { familyOf } from "../../src/sandbox/digitalocean/actions.ts";
import { WWW, www } from "../scenario/dns-scene.ts";
import type { HetznerCloud } from "../scenario/hetzner-cloud.ts";
import { hetznerWorld } from "../scenario/memory-world.ts";
import type { OperationFault } from "../scenario/operation-fault.ts";
import { dropletOf, ip, ipv6, short } from "../scenario/scenario-names.ts";
import type { RunEnd, RunOptions } from "../scenario/scenario-run.ts";
import { World } from "../scenario/world.ts";
import { Random } from "./random.ts";

/*
 * Histories of pools whose addresses are at Hetzner: a server takes several addresses, which nodes get up to `maxPerNode` of; servers stand in two network zones; an
 * address shows no lock, and can be blocked; purchases whose answer is lost are found by name. Nodes fail, are cordoned and go, specs are edited, people move addresses
 * by hand, somebody else buys, statuses get lost, runs die at any write. What must hold, after every run:
 *
 *   an address is bought only as long as the specs ask for more than there are, whatever got lost (P4)
 *   a node gets no address beyond its limit (P5), and none from another network zone
 *   an address that no object names stays where it is (P6)
 *   an address that serves stays while nothing but the world around it changes (P7)
 *   the name shows nothing that does not serve, and is never emptied (P3)
 *   a run that cannot read the cluster writes nothing (P1)
 *   once all is quiet, everything that can serve does, nodes say so to people and to their hosts, and passes write nothing (P8, P12)
 *
 * With both families each pool has a twin of IPv6 with the same name in DNS. Its addresses are networks, of which people list one address, or another, or two. All of
 * this must hold of each family as if the other one were not there.
 */

const SECOND = 1000;
const STEPS = 25;
const NODES = ["n1", "n2", "n3", "n4", "n5"] as const;
const NAMES = ["web", "mail"] as const;
const TWINS = { web: "web6", mail: "mail6" } as const;
const LISTED = [1, 2, 3, 4, 5, 6].map(ip);
const LISTED_IPV6 = [1, 2, 3, 4, 5, 6].map(ipv6);
/** Addresses of somebody else's. */
const FOREIGN: Readonly<Record<IPFamily, string>> = { IPv4: ip(99), IPv6: ipv6(99) };
const CORDON = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

type PoolName = (typeof NAMES)[number] | (typeof TWINS)[(typeof NAMES)[number]];

type PoolSpec = {
  readonly ips?: readonly string[];
  readonly desiredIPs?: number;
  readonly maxPerNode?: number;
  readonly hostAddress?: "External" | "Managed";
};

/** A cluster and its project, and what was asked of them so far. */
interface Scene {
  readonly world: World;
  readonly cloud: HetznerCloud;
  readonly random: Random;
  readonly families: readonly IPFamily[];
  readonly specs: Map<PoolName, PoolSpec>;
  readonly cordoned: Set<string>;
  /** In the other network zone. */
  readonly far: ReadonlySet<string>;
  /** The most that specs asked to be bought at one time, by pool. */
  readonly mostBought: Map<PoolName, number>;
  /** The highest `maxPerNode` that was ever asked for, by family. */
  readonly mostPerNode: Map<IPFamily, number>;
  /** True from a change of a spec, or by hand, until a pass has ended well: what serves may move meanwhile, for that reason. */
  isEdited: boolean;
  foreignOn: string | undefined;
  /** True where the list of addresses may not have been read. */
  isListHidden: boolean;
  readonly broken: string[];
}

/** Plays the history of a seed with pools of these families. Returns the promises that were broken, in words; none when all held. */
export async function playHetznerPools(
  seed: number,
  families: readonly IPFamily[] = ["IPv4"],
): Promise<readonly string[]> {
  const random = new Random(seed);
  const world = new World(hetznerWorld());
  const scene: Scene = {
    world,
    cloud: world.cloud as HetznerCloud,
    random,
    families,
    specs: new Map(),
    cordoned: new Set(),
    far: new Set(NODES.filter(() => random.chance(0.15))),
    mostBought: new Map(),
    mostPerNode: new Map(),
    isEdited: true,
    foreignOn: undefined,
    isListHidden: false,
    broken: [],
  };
  try {
    await build(scene);
    for (let step = 0; step < STEPS; step += 1) {
      if (random.chance(0.6)) await random.pick(HAPPENINGS)(scene);
      await somePass(scene);
      world.advance(random.pick([1, 5, 20, 60, 90]) * SECOND);
    }
    await comeToRest(scene);
    return [...world.dnsSafety.violations, ...scene.broken];
  } catch (error) {
    return [...scene.broken, `failed: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    await world.close();
  }
}

async function build(scene: Scene): Promise<void> {
  const { world, cloud, random } = scene;
  await world.namespace();
  for (const name of NODES.slice(0, random.between(2, NODES.length))) await addNode(scene, name);
  for (const address of listedOf(scene)) cloud.address(address, { region: "fsn1" });
  scene.foreignOn = random.chance(0.5) ? "n1" : undefined;
  const foreign = { region: "fsn1", ...(scene.foreignOn === undefined ? {} : { on: scene.foreignOn }) };
  for (const family of scene.families) cloud.address(FOREIGN[family], foreign);
  world.dns.zone("hetzner");
  for (const name of NAMES.slice(0, random.between(1, 2))) await addPools(scene, name);
}

/** A pool, and where both families are played its twin. */
async function addPools(scene: Scene, name: (typeof NAMES)[number]): Promise<void> {
  const { world, random } = scene;
  const spec = { ...someAddresses(name, random), ...some(random) };
  note(scene, name, spec);
  const common = { region: "fsn1", reclaimPolicy: random.pick(["Retain", "Delete"]) };
  const paced = random.chance(0.3) ? { gracePeriodSeconds: random.pick([5, 60]) } : {};
  const named = name === "web" ? { dnsRecordSet: www("hetzner") } : {};
  await world.pools.create(name, { ...common, ...paced, ...named, ...spec });
  if (!scene.families.includes("IPv6")) return;
  const twin = TWINS[name];
  const own = { ...someAddresses(twin, random), ...some(random) };
  note(scene, twin, own);
  await world.pools.create(twin, { ipFamily: "IPv6", ...common, ...paced, ...named, ...own });
}

/** The addresses that specs may list, of the families that are played. */
function listedOf({ families }: Scene): readonly string[] {
  return families.includes("IPv6") ? [...LISTED, ...LISTED_IPV6] : LISTED;
}

function familyOfPool(name: PoolName): IPFamily {
  return name.endsWith("6") ? "IPv6" : "IPv4";
}

async function addNode({ world, cloud, far }: Scene, name: string): Promise<void> {
  const region = far.has(name) ? "ash" : name === "n2" ? "nbg1" : "fsn1";
  cloud.droplet(name, { region });
  await world.nodes.create(name, { region });
}

/** Each pool lists addresses of its own. */
function someAddresses(name: PoolName, random: Random): Pick<PoolSpec, "ips" | "desiredIPs"> {
  const listed = familyOfPool(name) === "IPv6" ? LISTED_IPV6 : LISTED;
  const own = name.startsWith("web") ? listed.slice(0, 3) : listed.slice(3);
  const ips = own.filter(() => random.chance(0.6)).flatMap((address) => inNetwork(address, random));
  return ips.length === 0 || random.chance(0.4) ? { ips, desiredIPs: random.between(1, 5) } : { ips, desiredIPs: 0 };
}

/** An IPv4 address; of an IPv6 network an address, or two of which one can be used. */
function inNetwork(address: string, random: Random): readonly string[] {
  if (familyOf(address) === "IPv4") return [address];
  const other = address.replace(/1$/, "beef");
  return random.pick([[address], [address], [address], [other], [address, other]]);
}

function some(random: Random): Pick<PoolSpec, "maxPerNode" | "hostAddress"> {
  return { maxPerNode: random.pick([1, 2, 2, 2, 3]), hostAddress: random.pick(["External", "Managed"]) };
}

function note(scene: Scene, name: PoolName, change: PoolSpec): void {
  const spec = { ...scene.specs.get(name), ...change };
  scene.specs.set(name, spec);
  scene.isEdited = true;
  const family = familyOfPool(name);
  scene.mostPerNode.set(family, Math.max(scene.mostPerNode.get(family) ?? 1, spec.maxPerNode ?? 1));
  const wanted = Math.max((spec.desiredIPs ?? 0) - (spec.ips ?? []).length, 0);
  scene.mostBought.set(name, Math.max(scene.mostBought.get(name) ?? 0, wanted));
}

/** What happens. What cannot happen does nothing. */
const HAPPENINGS: readonly ((scene: Scene) => Promise<void> | void)[] = [
  (scene) => onNode(scene, (name) => scene.world.nodes.setReady(name, false)),
  (scene) => onNode(scene, (name) => scene.world.nodes.setReady(name, false)),
  (scene) => onNode(scene, (name) => scene.world.nodes.setReady(name, true)),
  (scene) => onNode(scene, (name) => scene.world.nodes.setReady(name, true)),
  (scene) => onNode(scene, (name) => setCordon(scene, name, !scene.cordoned.has(name))),
  (scene) =>
    onNode(scene, async (name) => {
      await scene.world.nodes.delete(name);
      scene.cordoned.delete(name);
      scene.cloud.removeDroplet(name);
      if (scene.foreignOn === name) scene.foreignOn = undefined;
    }),
  async (scene) => {
    const gone = NODES.find((name) => !scene.world.nodes.has(name));
    if (gone !== undefined) await addNode(scene, gone);
  },
  (scene) => edit(scene, some(scene.random)),
  (scene) => edit(scene, { desiredIPs: scene.random.between(1, 5) }),
  async (scene) => {
    const name = scene.random.pick([...scene.specs.keys()]);
    await edit(scene, someAddresses(name, scene.random), name);
  },
  (scene) => scene.cloud.block(scene.random.pick(listedOf(scene)), scene.random.chance(0.5)),
  (scene) => scene.cloud.lock(scene.random.pick(listedOf(scene)), scene.random.chance(0.5)),
  ({ cloud, random, families }) => {
    cloud.state.account.reserved_ip_limit = random.pick(families.includes("IPv6") ? [14, 18, 100] : [7, 9, 100]);
  },
  (scene) => {
    const { cloud, random } = scene;
    const nodes = NODES.filter((name) => scene.world.nodes.has(name));
    cloud.put(random.pick(listedOf(scene)), nodes.length === 0 || random.chance(0.3) ? undefined : random.pick(nodes));
    scene.isEdited = true;
  },
  async (scene) => {
    await scene.world.pools.writeStatus(scene.random.pick([...scene.specs.keys()]), null);
    scene.isEdited = true;
  },
  fail,
  fail,
  fail,
];

function fail(scene: Scene): void {
  const fault = someFault(scene.random);
  scene.isListHidden ||= fault.operation === "list";
  scene.world.fail(fault);
}

function someFault(random: Random): OperationFault {
  const how = { kind: random.pick(["500", "lost-answer", "cut"] as const), times: random.between(1, 2) };
  const common = { ...how, skip: random.between(0, 2) };
  const roll = random.between(1, 10);
  if (roll <= 6) {
    const operation = random.pick([
      "list",
      "get",
      "assign",
      "assign",
      "unassign",
      "create",
      "create",
      "delete",
    ] as const);
    return { side: "cloud", operation, ...common };
  }
  if (roll <= 8) return { side: "dns", provider: "hetzner", operation: random.pick(["records", "write"]), ...common };
  const operation = random.pick(["patchPoolStatus", "setPoolFinalizer", "annotateNode", "listNodes"] as const);
  return { side: "cluster", operation, ...common };
}

async function onNode({ world, random }: Scene, change: (name: string) => Promise<void>): Promise<void> {
  const there = NODES.filter((name) => world.nodes.has(name));
  if (there.length > 0) await change(random.pick(there));
}

async function setCordon({ world, cordoned }: Scene, name: string, isCordoned: boolean): Promise<void> {
  await world.nodes.patch(name, { spec: { unschedulable: isCordoned || null, taints: isCordoned ? [CORDON] : null } });
  if (isCordoned) cordoned.add(name);
  else cordoned.delete(name);
}

async function edit(scene: Scene, change: PoolSpec, name = scene.random.pick([...scene.specs.keys()])): Promise<void> {
  note(scene, name, change);
  await scene.world.pools.edit(name, change);
}

/** A run that ends, or dies; what it did is held against the promises. */
async function somePass(scene: Scene): Promise<void> {
  const { world, random, cloud } = scene;
  cloud.settle();
  const before = holders(scene);
  const healthy = scene.isEdited ? [] : await healthyAddresses(scene);
  const end = await runOf(scene, random.chance(0.2) ? { dieBeforeWrite: random.between(1, 8) } : {});
  cloud.settle();
  checkPlaces(scene, before);
  for (const { address, node } of healthy)
    if (nodeOf(scene, address) !== node)
      scene.broken.push(`P7: ${short(address)} serves on ${node}, and is on ${nodeOf(scene, address) ?? "none"}`);
  if (end?.kind !== "done") return;
  const isWhole = end.result.outcomes.every(({ outcome }) => outcome === "applied");
  if (isWhole && end.result.plan.gaps.length === 0) scene.isEdited = false;
  world.clearFaults();
  scene.isListHidden = false;
}

/** A run; undefined where the cluster could not be read. Then it has written nothing (P1). */
async function runOf(scene: Scene, options: RunOptions): Promise<RunEnd | undefined> {
  const { world, broken } = scene;
  try {
    return await world.run(options);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (world.writes().length > 0) broken.push(`P1: ${error.message} and then ${world.writes().join(", ")}`);
    world.clearFaults();
    scene.isListHidden = false;
    return undefined;
  }
}

/** The node of each address that is on one. */
function holders({ cloud }: Scene): ReadonlyMap<string, string | undefined> {
  const nodeOf = new Map(NODES.map((name) => [dropletOf(name), name]));
  return new Map(cloud.state.reserved_ips.map(({ ip: address, droplet_id: id }) => [address, nodeOf.get(id ?? 0)]));
}

/** The node that an address is on: that of its network, where it is in one. */
function nodeOf({ cloud }: Scene, address: string): string | undefined {
  const server = cloud.holderOf(address);
  return NODES.find((name) => dropletOf(name) === server);
}

/** How many addresses of a family each node has. */
function loadOf(scene: Scene, node: string, family: IPFamily): number {
  return [...holders(scene)].filter(([address, one]) => one === node && familyOf(address) === family).length;
}

/** Addresses that are active by status, and whose node is as ready as can be, with no more than it may have. */
async function healthyAddresses(scene: Scene): Promise<readonly { readonly address: string; readonly node: string }[]> {
  const { world, cordoned } = scene;
  const ready = new Set(world.nodes.ready().map(({ droplet }) => droplet));
  const found = await Promise.all(
    [...scene.specs].map(async ([name, { maxPerNode = 1 }]) =>
      Object.entries((await world.pools.status(name)).ips).flatMap(([address, { state, nodeName }]) => {
        const node = nodeOf(scene, address);
        const isServing = state === "active" && node !== undefined && node === nodeName && ready.has(dropletOf(node));
        const count = isServing ? loadOf(scene, node, familyOfPool(name)) : 0;
        return isServing && !cordoned.has(node) && count <= maxPerNode ? [{ address, node }] : [];
      }),
    ),
  );
  return found.flat();
}

function checkPlaces(scene: Scene, before: ReadonlyMap<string, string | undefined>): void {
  const { broken, far } = scene;
  const after = holders(scene);
  for (const family of scene.families) checkFamily(scene, after, family);
  const came = [...after].filter(([address, node]) => node !== undefined && before.get(address) !== node);
  for (const [address, node = ""] of came) {
    if (far.has(node)) broken.push(`zone: ${short(address)} came to ${node}, which is in another network zone`);
    const family = familyOf(address);
    const own = [...after]
      .filter(([other, one]) => one === node && familyOf(other) === family)
      .map(([one]) => short(one));
    // What no object names is seen in the list alone.
    if (!scene.isListHidden && own.length > (scene.mostPerNode.get(family) ?? 1))
      broken.push(`P5: ${node} was given ${short(address)}, and has ${own.join(" ")}`);
  }
}

/** What is nobody's stays, and no more is bought than specs ask for. */
function checkFamily(scene: Scene, after: ReadonlyMap<string, string | undefined>, family: IPFamily): void {
  const { broken, cloud } = scene;
  const foreign = after.get(FOREIGN[family]);
  if (foreign !== scene.foreignOn) broken.push(`P6: ${FOREIGN[family]} is on ${foreign ?? "no node"}`);
  const wanted = [...scene.mostBought].filter(([name]) => familyOfPool(name) === family);
  const most = wanted.reduce((sum, [, count]) => sum + count, 0);
  const bought = cloud.boughtNow().filter((address) => familyOf(address) === family).length;
  if (bought > most) broken.push(`P4: ${bought} of ${family} were bought, and ${most} asked for`);
}

/** Everything that went wrong is put right, and time passes. */
async function comeToRest(scene: Scene): Promise<void> {
  const { world, cloud } = scene;
  world.clearFaults();
  scene.isListHidden = false;
  cloud.state.account.reserved_ip_limit = 100;
  for (const address of cloud.state.reserved_ips.map((one) => one.ip)) {
    cloud.block(address, false);
    cloud.lock(address, false);
  }
  for (const name of NODES.filter((one) => world.nodes.has(one))) {
    await world.nodes.setReady(name, true);
    await setCordon(scene, name, false);
  }
  for (let pass = 0; pass < 20; pass += 1) {
    world.advance(61 * SECOND);
    const before = holders(scene);
    await world.pass();
    cloud.settle();
    checkPlaces(scene, before);
  }
  world.advance(10 * 60 * SECOND);
  await world.pass();
  await world.pass();
  if (world.writes().length > 0) scene.broken.push(`P8: at rest a pass writes ${world.writes().join(", ")}`);
  await checkRest(scene);
}

/** An active address, by status. */
interface Active {
  readonly name: PoolName;
  readonly address: string;
  readonly node: string;
}

async function checkRest(scene: Scene): Promise<void> {
  const { world, broken, specs } = scene;
  const active: Active[] = [];
  for (const name of specs.keys()) {
    const status = await world.pools.status(name);
    for (const [address, { state, nodeName = "" }] of Object.entries(status.ips))
      if (state === "active") active.push({ name, address, node: nodeName });
    checkWaiting(scene, name, status);
  }
  for (const { address, node } of active)
    if (nodeOf(scene, address) !== node)
      broken.push(`P12: ${short(address)} is active on ${node}, and on ${nodeOf(scene, address)}`);
  const networks = active.flatMap(({ address }) => (familyOf(address) === "IPv6" ? [ipv6NetworkOf(address, 64)] : []));
  if (new Set(networks).size < networks.length) broken.push(`P5: of a network two addresses are active: ${networks}`);
  checkName(scene, active, "web", WWW);
  checkName(scene, active, "web6", setText({ fqdn: WWW, type: "AAAA" }));
  for (const family of scene.families) await checkNodes(scene, active, family);
}

/** A name shows what is active of its pool. */
function checkName({ world, broken }: Scene, active: readonly Active[], pool: PoolName, text: string): void {
  const own = active.flatMap(({ name, address }) => (name === pool ? [short(address)] : []));
  const shown = world.dns.addresses("hetzner", text).map(short);
  if (own.length > 0 && sorted(own) !== sorted(shown))
    broken.push(`P12: ${text} shows ${sorted(shown)}, and ${sorted(own)} are active`);
}

/** Nodes say what they have: to people, and to their hosts. */
async function checkNodes({ world, specs, broken }: Scene, active: readonly Active[], family: IPFamily): Promise<void> {
  const hosts = await world.nodes.hosts(family);
  const annotations = await world.nodes.annotations(family);
  for (const node of NODES.filter((one) => world.nodes.has(one))) {
    const own = active.filter((one) => one.node === node && familyOfPool(one.name) === family);
    const managed = own.filter(({ name }) => specs.get(name)?.hostAddress === "Managed");
    const shortOf = (some: readonly Active[]): string => sorted(some.map(({ address }) => short(address)));
    const host = sorted(wordsOf(hosts[node]));
    const told = sorted(wordsOf(annotations[node]?.replace(/ of .*/, "")));
    if (host !== shortOf(managed)) broken.push(`P12: the host of ${node} is told ${host}, not ${shortOf(managed)}`);
    if (told !== shortOf(own)) broken.push(`P12: ${node} is annotated ${told}, and has ${shortOf(own)}`);
  }
}

function checkWaiting(scene: Scene, name: PoolName, { ips, pendingAcquisitions }: PoolStatus): void {
  const { world, far, specs, broken } = scene;
  // A node has no more addresses than the strictest of the objects that have some there says.
  const family = familyOfPool(name);
  const own = [...specs].filter(([other]) => familyOfPool(other) === family);
  const least = Math.min(...own.map(([, { maxPerNode = 1 }]) => maxPerNode));
  const room = NODES.filter((node) => world.nodes.has(node) && !far.has(node) && loadOf(scene, node, family) < least);
  // Two addresses of one network cannot both be used.
  const hasRival = (address: string): boolean =>
    family === "IPv6" &&
    Object.keys(ips).some((other) => other !== address && ipv6NetworkOf(other, 64) === ipv6NetworkOf(address, 64));
  for (const [address, { state, reason }] of Object.entries(ips))
    if (room.length > 0 && state !== "active" && state !== "disabled" && !hasRival(address))
      broken.push(`P12: ${short(address)} is ${state} (${reason}), and ${room.join(" ")} have room`);
  if (pendingAcquisitions.length > 0) broken.push(`P12: ${name} still waits for a purchase`);
}

function sorted(texts: readonly string[]): string {
  return texts.toSorted().join();
}

function wordsOf(text = ""): readonly string[] {
  return text.split(",").filter((word) => word !== "");
}
