import { CANONICAL } from "../../src/model/address.ts";
import type { IPFamily } from "../../src/model/address-source.ts";
import { marksOf } from "../../src/model/annotated.ts";
import type { NodeFacts, NodeMarks } from "../../src/model/node.ts";
import { annotatedFamily } from "../../src/model/record-types.ts";
import { ipFamilyOf, objectKey, type Pool, type RecordSet } from "../../src/model/resource.ts";
import { isOpen, targetOf, viewFirewalls } from "./firewall-truth.ts";
import { isOfFamily, isRecordSet, isValidSet, type Publisher, publishers } from "./publishers.ts";
import { dropletOf, isNamedBy, isOfCloud, isValid, managedBy, matches, stillServes } from "./truth.ts";
import type { World } from "./world.ts";

/** Whether an object is to show an address: it serves, it does not, or nobody can blame either. */
export type Verdict = "yes" | "maybe" | "no";

type Verdicts = ReadonlyMap<string, Verdict>;

/** What an object is to publish now, by the manual's words; addresses that are not in it it is not to. */
export function offersOf(world: World, object: Publisher): Verdicts {
  return isRecordSet(object) ? ofRecordSet(world, object) : ofPool(world, object);
}

function ofPool(world: World, pool: Pool): Verdicts {
  if (pool.meta.isDeleting) return new Map();
  const managed = managedBy(pool);
  const hasRoom = managed.size <= (pool.spec.desiredIPs > 0 ? pool.spec.desiredIPs : new Set(pool.spec.ips).size);
  const family = ipFamilyOf(pool.spec);
  const found = world.nodes().flatMap((node) => marksOf(node, family).addressAnnotation ?? []);
  const isOpen = pool.status.pendingAcquisitions.length > 0;
  const known = isOpen ? world.addressesOf(family).map(({ ip }) => ip) : [];
  return collect(
    [...managed, ...found, ...known].map((ip): readonly [string, Verdict] => {
      const verdict = standing(world, pool, ip);
      return [ip, verdict === "yes" && !(hasRoom && managed.has(ip)) ? "maybe" : verdict];
    }),
  );
}

/** Whether an address serves a pool. */
function standing(world: World, pool: Pool, ip: string): Verdict {
  // Of a provider that does not exist nobody can learn whether an address does.
  if (!isOfCloud(pool.spec.provider)) return "maybe";
  const address = world.address(ip);
  if (address === undefined) return "no";
  const isUnsure = !isValid(pool) || rivals(world, pool).some((other) => isNamedBy(other, ip));
  const isBusy =
    address.locked === true ||
    world.cloud.state.actions.some((action) => action.ip === ip && action.status === "in-progress");
  if (isUnsure || isBusy) return "maybe";
  const nodes = world.nodes().filter((node) => dropletOf(node) === address.droplet_id);
  const isShut = isKeptOut(world, pool, `${address.droplet_id}`);
  const fits = nodes.map((node) => matches(world, pool, node));
  if (fits.every((fit) => fit === "no")) return nodes.some((node) => stillServes(world, pool, node)) ? "maybe" : "no";
  return !isShut && fits.every((fit) => fit === "match") ? "yes" : "maybe";
}

/** True where the firewall of a RoutedIP may not let everything in on a machine. */
function isKeptOut(world: World, pool: Pool, machine: string): boolean {
  if (pool.firewall === undefined) return false;
  const target = targetOf(pool, viewFirewalls(world));
  if (typeof target !== "object") return true;
  return !target.firewall.covered.has(machine) || !target.ports.every((one) => isOpen(target.firewall, one));
}

function rivals(world: World, { meta }: Pool): readonly Pool[] {
  return world.pools().filter((other) => other.meta.uid !== meta.uid);
}

function ofRecordSet(world: World, recordSet: RecordSet): Verdicts {
  if (recordSet.meta.isDeleting || !isValidSet(world, recordSet)) return new Map();
  const { addressType } = recordSet.spec;
  const family = annotatedFamily(addressType);
  return collect(
    world.nodes().flatMap((node) => {
      const fit = matches(world, recordSet, node);
      if (fit === "no") return [];
      const own: readonly (readonly [string, Verdict])[] =
        family !== undefined
          ? annotated(world, node, family)
          : node.addresses
              .filter(({ type, address }) => type === addressType && isOfFamily(recordSet, address))
              .map(({ address }) => [address, "yes"] as const);
      return own.map(([ip, verdict]) => [ip, fit === "grace" && verdict === "yes" ? "maybe" : verdict] as const);
    }),
  );
}

/**
 * True when a node that shows the address is merely unready, and nobody knows of an earlier time when it was.
 * @param addressType - absent = it may show the address as one of any type
 */
export function isInGrace(world: World, owner: Publisher, ip: string, addressType?: string): boolean {
  if (!isRecordSet(owner) || owner.status.unreadyNodes.length > 0) return false;
  return world.nodes().some((node) => {
    const own = node.addresses.some(({ type, address }) => type === (addressType ?? type) && address === ip);
    return own && matches(world, owner, node) === "grace";
  });
}

/** The value of a node's annotation, and whatever pools have on its machine. */
function annotated(world: World, node: NodeFacts, family: IPFamily): readonly (readonly [string, Verdict])[] {
  const pools = world.pools();
  const marks = marksOf(node, family);
  const there = world
    .addressesOf(family)
    .filter(({ droplet_id }) => droplet_id !== null && droplet_id === dropletOf(node));
  const isShared = world.nodes().filter((other) => other.providerID === node.providerID).length > 1;
  // Where a provider that does not exist is to have it only status says, and nobody can tell that it is wrong.
  const remembered = pools
    .filter(({ spec }) => !isOfCloud(spec.provider))
    .flatMap(({ status }) => Object.entries(status.ips))
    .flatMap(([ip, { nodeName, providerID }]) =>
      nodeName === node.name && providerID === node.providerID ? [ip] : [],
    );
  const isOwn = (ip: string | undefined): ip is string => ip !== undefined && CANONICAL[family](ip) === ip;
  const values = [marks.addressAnnotation, ...there.map(({ ip }) => ip), ...remembered].filter(isOwn);
  return [...new Set(values)].map((ip) => {
    const namers = pools.filter((pool) => isNamedBy(pool, ip));
    const [namer, ...others] = namers;
    const isWritten = ip === marks.addressAnnotation;
    if (namer === undefined) return [ip, stranger(marks, isWritten)] as const;
    const isHere = there.some((address) => address.ip === ip);
    const isUnsure = others.length > 0 || namer.meta.isDeleting || isShared;
    const verdict = isUnsure ? "maybe" : (ofPool(world, namer).get(ip) ?? "no");
    if (verdict !== "yes" || isHere) return [ip, verdict] as const;
    return [ip, "no"] as const;
  });
}

function stranger({ poolAnnotation }: NodeMarks, isWritten: boolean): Verdict {
  if (isWritten && poolAnnotation === undefined) return "yes";
  return "maybe";
}

function collect(entries: readonly (readonly [string, Verdict])[]): Verdicts {
  const best = new Map<string, Verdict>();
  for (const [ip, verdict] of entries) {
    const known = best.get(ip);
    if (verdict !== "no" && known !== "yes") best.set(ip, verdict);
  }
  return best;
}

/** Follows what every object is to publish, and since when without a break. */
export class Offers {
  readonly #world: World;
  #verdicts: ReadonlyMap<string, { readonly verdict: Verdict; readonly sinceMs: number }> = new Map();
  /** Since when an object publishes, by its uid. */
  readonly #publishesSinceMs = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** What an object is to do about an address, and since when, milliseconds; of a node by its name, whether it is wanted. */
  of({ meta }: Publisher, ip: string): { readonly verdict: Verdict; readonly sinceMs: number } {
    return (
      this.#verdicts.get(`${meta.uid} ${ip}`) ?? { verdict: "no", sinceMs: this.#publishesSinceMs.get(meta.uid) ?? 0 }
    );
  }

  /** Looks at the world as it is now; to be called before and after everything that changes it. */
  refresh(): void {
    const now = new Map<string, Verdict>();
    for (const object of publishers(this.#world).filter(({ spec }) => spec.dnsRecordSet !== undefined)) {
      if (!this.#publishesSinceMs.has(object.meta.uid))
        this.#publishesSinceMs.set(object.meta.uid, this.#world.nowMs());
      for (const [ip, verdict] of offersOf(this.#world, object)) now.set(`${object.meta.uid} ${ip}`, verdict);
      for (const node of this.#world.nodes())
        if (matches(this.#world, object, node) !== "no") now.set(`${object.meta.uid} ${node.name}`, "yes");
    }
    const nowMs = this.#world.nowMs();
    this.#verdicts = new Map(
      [...new Set([...this.#verdicts.keys(), ...now.keys()])].map((key) => {
        const verdict = now.get(key) ?? "no";
        const before = this.#verdicts.get(key) ?? { verdict: "no", sinceMs: 0 };
        return [key, before.verdict === verdict ? before : { verdict, sinceMs: nowMs }];
      }),
    );
  }
}

/** The name of an object in texts. */
export function publisherName(object: Publisher): string {
  return `${isRecordSet(object) ? "record set" : "pool"} ${objectKey(object.meta)}`;
}
