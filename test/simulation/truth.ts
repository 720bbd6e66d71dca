import { PROVIDERS } from "../../src/adapters/registry.ts";
import { CANONICAL } from "../../src/model/address.ts";
import { sourceNamed } from "../../src/model/address-source.ts";
import { marksOf } from "../../src/model/annotated.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import { type IPStatus, ipFamilyOf, objectKey, type Pool, type RecordSet } from "../../src/model/resource.ts";
import type { World } from "./world.ts";

/** Whether the spec of a pool is one the program can work on, by the manual's words and not by the program's code. */
export function isValid(pool: Pool): boolean {
  return isOfCloud(pool.spec.provider) && isValidElsewhere(pool);
}

/** Whether a spec is one to work on at some provider. */
function isValidElsewhere({ spec, decodeError }: Pool): boolean {
  return (
    decodeError === undefined && (spec.ips.length > 0 || spec.desiredIPs > 0) && spec.match.nodeLabel !== "role in ("
  );
}

/** True for a source of addresses of the one provider that there is, of either family. */
export function isOfCloud(source: string): boolean {
  return sourceNamed(source).provider === "digitalocean";
}

/** True when nothing may be changed for the pool. */
export function isBlocked(pool: Pool): boolean {
  return pool.spec.suspend || !(isValid(pool) || isGivenBack(pool));
}

/** True for a pool that is being deleted: what it acquired, or may have, is given back where that was, whatever provider its spec names by now. */
function isGivenBack(pool: Pool): boolean {
  const { meta, status } = pool;
  const bought = [...status.acquired, ...status.pendingAcquisitions];
  return meta.isDeleting && isValidElsewhere(pool) && bought.some(({ provider = "" }) => isOfCloud(provider));
}

/** The addresses a pool manages: listed ones in canonical form, and those it acquired. */
export function managedBy(pool: Pool): ReadonlySet<string> {
  const canonical = CANONICAL[ipFamilyOf(pool.spec)];
  const listed = pool.spec.ips.filter((ip) => canonical(ip) !== undefined);
  return new Set([...listed, ...pool.status.acquired.map(({ ip }) => ip)]);
}

/** How the annotations of nodes name a pool. */
export function annotationOf({ kind, meta }: Pool): string {
  return kind === "routedip" ? `routedip/${objectKey(meta)}` : objectKey(meta);
}

/** True when the pool manages or remembers the address. */
export function isNamedBy(pool: Pool, ip: string): boolean {
  return (
    managedBy(pool).has(ip) ||
    Object.hasOwn(pool.status.ips, ip) ||
    pool.status.released.some((entry) => entry.ip === ip)
  );
}

/** True when an address may be what a creation without an answer made for the pool. */
export function mayBeAnswer({ status }: Pool, ip: string): boolean {
  return status.pendingAcquisitions.some(({ knownIPs }) => !knownIPs.includes(ip));
}

/** The droplet of a node, when its providerID names one. */
export function dropletOf(node: NodeFacts): number | undefined {
  const id = PROVIDERS.machineID("digitalocean", node.providerID);
  return id === undefined ? undefined : Number(id);
}

/** Whether a node may hold an address of the pool: it matches, or it is merely unready and the pool's grace still runs. */
export function serves(world: World, pool: Pool, node: NodeFacts): "match" | "grace" | "no" {
  return isValid(pool) ? matches(world, pool, node) : "no";
}

/** Whether a node is one that a valid object wants. */
export function matches(world: World, pool: Pool | RecordSet, node: NodeFacts): "match" | "grace" | "no" {
  if (pool.meta.isDeleting || isExcluded(pool, node)) return "no";
  if ("endpoints" in pool && pool.endpoints !== undefined) return behind(world, pool, pool.endpoints.name, node);
  return pool.spec.match.podLabel === "app=none" ? "no" : withPods(world, pool, node);
}

/** Whether a node serves, by itself and by its pods where those count. */
function withPods(world: World, pool: Pool | RecordSet, node: NodeFacts): "match" | "grace" | "no" {
  const needsPods = pool.spec.match.podLabel !== "";
  const pods = world.pods().filter((pod) => needsPods && pod.nodeName === node.name);
  if (needsPods && pods.length === 0) return "no";
  const hasReadyPod = pods.some(
    ({ phase, ready, deletedAtMs }) => phase === "Running" && ready.isReady && deletedAtMs === undefined,
  );
  const arePodsReady = !needsPods || hasReadyPod;
  if (node.ready.isReady && arePodsReady) return "match";
  const since = [
    ...(node.ready.isReady ? [] : [node.ready.sinceMs ?? 0]),
    ...(arePodsReady ? [] : pods.map((pod) => pod.ready.sinceMs ?? 0)),
  ];
  return Math.min(...since) + pool.spec.gracePeriodSeconds * 1000 > world.nowMs() + 1000 ? "grace" : "no";
}

function slicesOf(world: World, service: string): ReturnType<World["endpointSlices"]> {
  return world.endpointSlices().filter(({ serviceName }) => serviceName === service);
}

/** Whether a node serves a Service without selector; nobody can tell since when it does not. */
function behind(world: World, { spec }: Pool, service: string, node: NodeFacts): "match" | "grace" | "no" {
  const own = slicesOf(world, service).flatMap(({ endpointsByNode }) => endpointsByNode.get(node.name) ?? []);
  if (own.length === 0) return "no";
  if (node.ready.isReady && own.some(({ ready }) => ready > 0)) return "match";
  const graceMs = spec.gracePeriodSeconds * 1000;
  const isOver = !node.ready.isReady && (node.ready.sinceMs ?? 0) + graceMs <= world.nowMs() + 1000;
  return graceMs > 0 && !isOver ? "grace" : "no";
}

/** Whether clients reach an address of the pool on a node, whatever labels and taints say; where no pod that it asks for exists, nobody could serve instead. */
export function stillServes(world: World, pool: Pool, node: NodeFacts): boolean {
  if (!isValid(pool) || pool.meta.isDeleting || node.isDeleting || !node.ready.isReady) return false;
  if (pool.endpoints !== undefined) {
    const slices = slicesOf(world, pool.endpoints.name);
    const isEmpty = slices.every(({ endpointsByNode }) => endpointsByNode.size === 0);
    return isEmpty || behind(world, pool, pool.endpoints.name, node) !== "no";
  }
  const { podLabel } = pool.spec.match;
  if (podLabel === "" || podLabel === "app=none") return true;
  const pods = world.pods();
  return pods.length === 0 || withPods(world, pool, node) === "match";
}

function isExcluded({ spec }: Pool | RecordSet, node: NodeFacts): boolean {
  if (node.isDeleting || node.providerID === "" || node.taints.length > 0) return true;
  const { nodeLabel } = spec.match;
  return nodeLabel.startsWith("role=") && nodeLabel !== `role=${node.labels["role"]}`;
}

/** An address that serves as it should, and since when without a break. */
export interface Healthy {
  readonly key: string;
  readonly generation: number;
  readonly machine: number;
  readonly nodeName: string;
  readonly uid: string;
  readonly sinceMs: number;
}

/** Follows which addresses are on a healthy, matching holder and known to be so by their pool's status. */
export class Health {
  readonly #world: World;
  #records: ReadonlyMap<string, Healthy> = new Map();

  constructor(world: World) {
    this.#world = world;
  }

  of(ip: string): Healthy | undefined {
    return this.#records.get(ip);
  }

  /** Looks at the world as it is now; to be called before and after everything that changes it. */
  refresh(): void {
    const holders = new Map(this.#world.addresses().map(({ ip, droplet_id }) => [ip, droplet_id]));
    const pools = this.#world.pools().filter((pool) => this.#hasRoom(pool, managedBy(pool)));
    this.#records = new Map(
      pools.flatMap((pool) =>
        [...Object.entries(pool.status.ips), ...this.#unrecorded(pool, holders)].flatMap(([ip, entry]) => {
          const healthy = this.#judge(pool, ip, entry, holders.get(ip));
          return healthy === undefined ? [] : [[ip, healthy] as const];
        }),
      ),
    );
  }

  /** Addresses that only the pool's spec knows, because its status was lost or never written: where such a one is on a node that matches it stays, too. */
  #unrecorded(
    pool: Pool,
    holders: ReadonlyMap<string, number | null>,
  ): readonly (readonly [ip: string, entry: IPStatus])[] {
    const listed = [...new Set(pool.spec.ips)].filter((ip) => !Object.hasOwn(pool.status.ips, ip));
    if (listed.length === 0 || managedBy(pool).size > (pool.spec.desiredIPs || managedBy(pool).size)) return [];
    const others = this.#world.pools().filter(({ meta }) => meta.uid !== pool.meta.uid);
    return listed
      .filter((ip) => !others.some((other) => isNamedBy(other, ip)))
      .map((ip) => [ip, this.#asFound(ip, pool, holders.get(ip))] as const);
  }

  /** Grace is for what was seen to serve: of an address that status does not know only the annotation of its node says so. */
  #asFound(ip: string, pool: Pool, machine: number | null | undefined): IPStatus {
    const isAnnotated = this.#world
      .nodes()
      .map((node) => marksOf(node, ipFamilyOf(pool.spec)))
      .some((marks) => marks.addressAnnotation === ip && marks.poolAnnotation === annotationOf(pool));
    const entry = { state: "active", providerID: `digitalocean://${machine}` } as const;
    return isAnnotated ? entry : { ...entry, notMatchingSince: "before it was listed" };
  }

  /** While a spec leaves room for every address that serves, none of them may be taken away; else the program chooses. */
  #hasRoom({ spec, status }: Pool, managed: ReadonlySet<string>): boolean {
    const active = Object.entries(status.ips).filter(([ip, { state }]) => state === "active" && managed.has(ip));
    return active.length <= (spec.desiredIPs > 0 ? spec.desiredIPs : new Set(spec.ips).size);
  }

  #judge(pool: Pool, ip: string, entry: IPStatus, machine: number | null | undefined): Healthy | undefined {
    if (entry.state !== "active" || machine === null || machine === undefined || !managedBy(pool).has(ip))
      return undefined;
    if (entry.providerID !== `digitalocean://${machine}`) return undefined;
    const own = this.#world.nodes().filter((candidate) => dropletOf(candidate) === machine);
    const node = own.find((candidate) => this.#isServing(pool, candidate, entry.notMatchingSince));
    if (node === undefined) return undefined;
    const { uid, generation } = pool.meta;
    const before = this.#records.get(ip);
    const isSame = before?.uid === uid && before.generation === generation && before.machine === machine;
    if (isSame && before.nodeName === node.name) return before;
    return { key: annotationOf(pool), generation, machine, nodeName: node.name, uid, sinceMs: this.#world.nowMs() };
  }

  #isServing(pool: Pool, node: NodeFacts, notMatchingSince: string | undefined): boolean {
    const verdict = serves(this.#world, pool, node);
    // A first sight that status remembers may be of an earlier absence.
    return verdict === "match" || (verdict === "grace" && notMatchingSince === undefined);
  }
}
