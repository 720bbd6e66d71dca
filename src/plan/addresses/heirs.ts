import { canonicalIPv6 } from "../../model/address.ts";
import { ipv6NetworkOf, networkBits } from "../../model/ipv6-network.ts";
import type { Observation } from "../../model/observation.ts";
import { listedIPs, managedIPs, ownerKey, type Pool } from "../../model/resource.ts";
import { suspensionOf } from "../../model/suspension.ts";
import type { GrantJudgement } from "../grants.ts";
import { isWritable, type ManagedIP, type PoolView } from "../pool-view.ts";
import { addressProviderViolations, validatePool } from "../validate.ts";
import { isSurplus } from "./reclaim.ts";

/*
 * An address that its object no longer needs, and that the spec of another one names, becomes that one's. It is not given back to the provider, and nobody waits for the end of the
 * first object. Where the provider moves a whole network as one, it is enough that another one names some address of it:
 *
 *   the object is being deleted     leaves all that others name, listed or bought, as if it were gone
 *   an address is surplus           with `Delete`: leaves what it acquired; its own names let it drain, as with every address that is handed over
 *
 * An object that is suspended or invalid keeps what it has, until a person has acted. One that names an address may be suspended or invalid itself: it has a claim all the same,
 * and what was given back could never come back. One whose namespace is not granted the address, and one that is being deleted, have none.
 *
 * An object may have no provider that gives addresses: its issuer is not there yet, or its provider is mistyped. Nobody can say where its addresses are. So it names them at every
 * provider. Such an object gets nothing done: the address only stays where it is.
 */

/** By the key of an object, as {@link ownerKey} names it: the addresses that it leaves to others. */
export type LeftToHeirs = ReadonlyMap<string, ReadonlySet<string>>;

/** Says whether some object asks for an address of a provider, or for another one of its network, by its spec. */
type Heirs = (provider: string, ip: string) => boolean;

/** Finds which addresses the specs of objects name that may have them, and stay. Pure. */
export function heirsOf(
  { pools, providers, registry }: Pick<Observation, "pools" | "providers" | "registry">,
  { heldOf }: Pick<GrantJudgement, "heldOf">,
): Heirs {
  const named = new Map<string, Set<string>>();
  for (const pool of pools.filter(({ meta }) => !meta.isDeleting)) {
    const held = heldOf({ kind: pool.kind, ...pool.meta }).ips;
    const isUsable = addressProviderViolations(pool.spec.provider, registry).length === 0;
    const provider = isUsable ? pool.spec.provider : ANY_PROVIDER;
    const ips = named.get(provider) ?? new Set();
    for (const ip of listedIPs(pool)) if (!held.has(ip)) ips.add(ip);
    named.set(provider, ips);
  }
  const isNamed = (provider: string, ip: string): boolean =>
    [provider, ANY_PROVIDER].some((one) => named.get(one)?.has(ip) === true);
  const isInNetwork = (provider: string, network: string): boolean =>
    [provider, ANY_PROVIDER].some((one) => [...(named.get(one) ?? [])].some((ip) => isOf(network, ip)));
  return (provider, ip) => {
    const fact = providers.get(provider)?.addresses.get(ip);
    const network = fact?.kind === "known" ? fact.address.network : undefined;
    return isNamed(provider, ip) || (network !== undefined && isInNetwork(provider, network));
  };
}

function isOf(network: string, ip: string): boolean {
  return canonicalIPv6(ip) === ip && ipv6NetworkOf(ip, networkBits(network)) === network;
}

/** Stands for the provider of an object whose provider gives no addresses. No provider has this name. */
const ANY_PROVIDER = "";

/** Returns what objects that are being deleted leave to others. Pure. */
export function leftByDeleted(world: Observation, heirs: Heirs): LeftToHeirs {
  const leaving = world.pools.filter((pool) => pool.meta.isDeleting && isFree(pool, world));
  return byObject(
    leaving.map((pool) => {
      const ips = managedIPs(pool).filter((ip) => heirs(pool.spec.provider, ip));
      return [ownerKey({ kind: pool.kind, ...pool.meta }), ips];
    }),
  );
}

/** True for an object that nothing but its own work keeps. */
function isFree(pool: Pool, world: Observation): boolean {
  const suspended = suspensionOf(pool, world.lease.suspension, world.observedAtMs);
  return suspended === undefined && validatePool(pool, world).kind === "valid";
}

/** Returns what objects that stay leave to others instead of giving it back. Those of other shards are decided here as there. Pure. */
export function leftAsSurplus(views: readonly PoolView[], heirs: Heirs): LeftToHeirs {
  const own = views.filter((view) => isWritable(view) && cleansUp(view));
  return byObject(
    own.map((view) => {
      const left = view.managed.filter(
        (address) => isSpare(view, address) && heirs(view.pool.spec.provider, address.ip),
      );
      return [view.key, left.map(({ ip }) => ip)];
    }),
  );
}

function cleansUp({ pool: { meta, spec } }: PoolView): boolean {
  return !meta.isDeleting && spec.reclaimPolicy === "Delete";
}

/** True for an acquired surplus address. One that was found again counts, too: a run may have died after the status had left it, and before the annotation had. */
function isSpare(view: PoolView, address: ManagedIP): boolean {
  return address.acquired !== undefined && isSurplus(view, address) && !isUnsure(address.standing);
}

/** True for an address that the object does not have for certain: it would not be given back either. */
function isUnsure({ kind }: ManagedIP["standing"]): boolean {
  return kind === "gap" || kind === "gone" || kind === "conflict" || kind === "ungranted";
}

/** Joins what objects leave. Pure. */
export function joinedLeft(some: LeftToHeirs, more: LeftToHeirs): LeftToHeirs {
  const keys = new Set([...some.keys(), ...more.keys()]);
  return new Map([...keys].map((key) => [key, new Set([...(some.get(key) ?? []), ...(more.get(key) ?? [])])]));
}

function byObject(left: readonly (readonly [string, readonly string[]])[]): LeftToHeirs {
  return new Map(left.flatMap(([key, ips]) => (ips.length === 0 ? [] : [[key, new Set(ips)] as const])));
}
