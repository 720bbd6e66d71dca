import { type Address, type AddressFact, CANONICAL, UNREAD } from "../../model/address.ts";
import type { Observation, ProviderFacts } from "../../model/observation.ts";
import {
  bySeniority,
  compareText,
  type IPState,
  ipFamilyOf,
  listedIPs,
  managedIPs,
  ownerKey,
  type Pool,
  rightText,
} from "../../model/resource.ts";
import type { GrantJudgement } from "../grants.ts";
import { isNotOwn, type ManagedIP, type Released, rememberedIPs, statusOf } from "../pool-view.ts";
import type { LeftToHeirs } from "./heirs.ts";

/** Who owns which address, over all objects of the cluster. */
export interface Claims {
  /** Owner of an address that some object manages: as {@link ownerKey} names it; undefined when no object manages it. */
  ownerOf(ip: string): string | undefined;
  /** Says by which rule the owner of an address has it, and not another object that asks for it: `which has it already`. */
  rightOf(ip: string, other: Pool): string;
  /** The owned address that has the network of this one, which the provider moves as one; undefined where this one has it, or nobody's has. */
  rivalOf(ip: string): NetworkRival | undefined;
  /** True when some object manages the address, or its status remembers it. */
  isNamed(ip: string): boolean;
  /** True when the status of an object, other than the one of this key, has the address as its own, or as one that was its own. */
  isRemembered(ip: string, key: string): boolean;
  /** True for an address that the object of this key leaves to another one: it does not manage it any more. */
  isLeft(ip: string, key: string): boolean;
}

/** An address that has the network of another one. */
export interface NetworkRival {
  readonly ip: string;
  readonly network: string;
  /** As {@link ownerKey} names it. */
  readonly owner: string;
}

/**
 * Settles claims. An object claims the addresses of its spec and those it acquired; suspended, invalid and deleted objects too, as long as
 * they exist. Who by status already holds an address keeps it, and of two of them the one where it is active, best on the machine that the provider names: a status from a backup takes nothing from
 * who serves. Among others the senior object wins. Nobody claims an address that he leaves to an heir.
 */
export function settleClaims(
  { pools, providers, registry }: Pick<Observation, "pools" | "providers" | "registry">,
  { heldOf }: Pick<GrantJudgement, "heldOf">,
  left: LeftToHeirs,
): Claims {
  const holderOf = (ip: string, { spec: { provider } }: Pool): string | undefined => {
    const fact = providers.get(provider)?.addresses.get(ip);
    const machine = fact?.kind === "known" ? fact.address.holderID : undefined;
    return machine === undefined ? undefined : registry.providerID(provider, machine);
  };
  const isLeft = (ip: string, key: string): boolean => left.get(key)?.has(ip) === true;
  const owners = new Map<string, OwnerClaim>();
  const named = new Set<string>();
  for (const pool of pools.toSorted(bySeniority)) {
    const key = ownerKey({ kind: pool.kind, ...pool.meta });
    const held = heldOf({ kind: pool.kind, ...pool.meta }).ips;
    // What its namespace is not granted it cannot keep from others, nor what it leaves to them.
    const isOpen = (ip: string): boolean => !held.has(ip) && !isLeft(ip, key);
    for (const ip of managedIPs(pool).filter(isOpen)) {
      named.add(ip);
      const rival = owners.get(ip);
      const hold = holdByStatus(pool, ip, holderOf(ip, pool));
      if (rival === undefined || hold > rival.hold) owners.set(ip, { key, pool, hold });
    }
    for (const ip of Object.keys(pool.status.ips).filter(isOpen)) named.add(ip);
    for (const { ip } of pool.status.released) named.add(ip);
  }
  const memory = rememberers(pools);
  const rivals = networkRivals(owners, providers);
  return {
    rivalOf: (ip) => rivals.get(ip),
    ownerOf: (ip) => owners.get(ip)?.key,
    rightOf: (ip, other) => {
      const right = owners.get(ip);
      return right === undefined ? "" : rightText(right.pool, other, "which has it already");
    },
    isNamed: (ip) => named.has(ip),
    isRemembered: (ip, key) => memory.get(ip)?.some((other) => other !== key) === true,
    isLeft,
  };
}

/** Who owns an address, and how firmly by status. */
interface OwnerClaim {
  readonly key: string;
  readonly pool: Pool;
  readonly hold: number;
}

/**
 * Of several owned addresses of one network one can be used: they are always on the same machine. That is the one that is held most firmly by status, else the one whose
 * object comes first. What nobody owns of the network has it as its rival, too. Addresses of networks that are not known have no rivals.
 */
function networkRivals(
  owners: ReadonlyMap<string, OwnerClaim>,
  providers: Observation["providers"],
): ReadonlyMap<string, NetworkRival> {
  const facts = [...providers.values()].flatMap(({ addresses }) => [...addresses.values()]);
  const networks = new Map(
    facts.flatMap((fact) =>
      fact.kind === "known" && fact.address.network !== undefined ? [[fact.address.ip, fact.address.network]] : [],
    ),
  );
  if (networks.size === 0) return new Map();
  const owned = [...owners].flatMap(([ip, { key, hold }]) => {
    const network = networks.get(ip);
    return network === undefined ? [] : [{ ip, network, owner: key, hold }];
  });
  const all = [...Map.groupBy(owned, ({ network }) => network)];
  const winners = new Map(all.map(([network, together]) => [network, together.toSorted((a, b) => b.hold - a.hold)[0]]));
  return new Map(
    [...networks].flatMap(([ip, network]) => {
      const winner = winners.get(network);
      return winner === undefined || winner.ip === ip ? [] : [[ip, winner] as const];
    }),
  );
}

/**
 * Returns what says of an address whether no object's status has it, so that the name which it leaves has to remember it. `isReserved` = the name shows addresses of
 * pools alone; else only what some object manages now is meant. Of `own` the statuses are the run's to write. Pure.
 */
export function forgottenBy(
  pools: readonly Pool[],
  own: readonly Pool[] = pools,
): (ip: string, isReserved: boolean) => boolean {
  let known: { readonly keys: ReturnType<typeof rememberers>; readonly managed: ReadonlySet<string> } | undefined;
  return (ip, isReserved) => {
    known ??= { keys: rememberers(own, pools), managed: new Set(pools.flatMap(managedIPs)) };
    return !known.keys.has(ip) && (isReserved || known.managed.has(ip));
  };
}

/**
 * Returns by address the keys of the objects whose status has it as their own, or as one that was. The status of an object that is being deleted says nothing for long: what another
 * object names by then is not looked for there. Pure.
 */
function rememberers(pools: readonly Pool[], all: readonly Pool[] = pools): ReadonlyMap<string, readonly string[]> {
  const staying = all.filter(({ meta }) => !meta.isDeleting);
  const named = new Set(staying.length === all.length ? [] : staying.flatMap(listedIPs));
  const keys = new Map<string, string[]>();
  for (const pool of pools) {
    const { kind, meta } = pool;
    const key = ownerKey({ kind, ...meta });
    for (const ip of rememberedIPs(pool))
      if (!meta.isDeleting || !named.has(ip)) keys.set(ip, [...(keys.get(ip) ?? []), key]);
  }
  return keys;
}

/**
 * How firmly a pool holds an address by its status: 3 = acquired, or active on the machine that the provider names as its holder, 2 = active on another one, 1 = shown, as one
 * that may have stopped being its own while it could not be looked at, 0 = not.
 */
function holdByStatus(pool: Pool, ip: string, holder: string | undefined): 0 | 1 | 2 | 3 {
  if (pool.status.acquired.some((acquired) => acquired.ip === ip)) return 3;
  const entry = statusOf(pool, ip);
  if (entry === undefined || isNotOwn(entry)) return 0;
  if (entry.state !== "active") return 1;
  return holder !== undefined && entry.providerID === holder ? 3 : 2;
}

/**
 * The addresses that are in use, where no succession is open: at most `desired` of the managed ones. Those active by status whose holder still matches come first, then others
 * on matches (or on the way to one), then those that still serve elsewhere, then list order. Conflicts, addresses that are not granted, that are gone and foreign-held ones
 * fill no place; one that could not be read keeps the rank its status gives it.
 */
export function selectInUse(managed: readonly ManagedIP[], desired: number, pool: Pool): ReadonlySet<string> {
  const ranked = managed
    .filter(({ standing }) => !UNUSABLE.has(standing.kind))
    .map((address, order) => ({ ip: address.ip, order, rank: isNamed(address, pool) ? -1 : rankOf(address, pool) }))
    .toSorted((a, b) => a.rank - b.rank || a.order - b.order);
  return new Set(ranked.slice(0, desired).map(({ ip }) => ip));
}

/** An address that fills no place, and counts when it is decided whether to buy. */
const UNUSABLE: ReadonlySet<ManagedIP["standing"]["kind"]> = new Set([
  "conflict",
  "ungranted",
  "blocked",
  "gone",
  "foreign",
]);

/** Adds to the addresses in use, for each that is on its way, one that still serves where it is: it stays until the other one is there. Pure. */
export function withServing(inUse: ReadonlySet<string>, managed: readonly ManagedIP[]): ReadonlySet<string> {
  const coming = managed.filter(({ ip, standing }) => inUse.has(ip) && standing.kind === "busy").length;
  const serving = managed.filter(
    ({ ip, standing }) => !inUse.has(ip) && standing.kind === "free" && standing.isServing === true,
  );
  return new Set([...inUse, ...serving.slice(0, coming).map(({ ip }) => ip)]);
}

/** True for the address that the spec of a RoutedIP names: once it can be used, none that was bought is. */
function isNamed({ acquired }: ManagedIP, { kind }: Pool): boolean {
  return kind === "routedip" && acquired === undefined;
}

function rankOf({ ip, standing }: ManagedIP, pool: Pool): number {
  if (standing.kind === "placed") return standing.wasActive ? 0 : 1;
  // What serves keeps its place before what serves nowhere, and yields it to what a match has.
  if (standing.kind === "free" && standing.isServing) return 1.5;
  if (standing.kind !== "gap" && standing.kind !== "busy") return 2;
  const ranks: Readonly<Partial<Record<IPState, number>>> = { active: 0, "in-progress": 1 };
  return ranks[statusOf(pool, ip)?.state ?? "unassigned"] ?? 2;
}

/** What is known of the addresses that an object released. */
interface ReleaseFacts {
  readonly provider: ProviderFacts | undefined;
  readonly claims: Claims;
  /** Whether clients reach an address where it is. */
  readonly isServing: (address: Address) => boolean;
}

/**
 * What an object released and must remember: earlier entries, and addresses its status shows though neither spec nor status manages them any more.
 * Forgotten once unattached, gone, managed again, or managed by another object. Sorted by address text.
 */
export function releasedOf(
  pool: Pool,
  managed: ReadonlySet<string>,
  { provider, claims, isServing }: ReleaseFacts,
): readonly Released[] {
  const canonical = CANONICAL[ipFamilyOf(pool.spec)];
  const acquired = new Set(pool.status.acquired.map(({ ip }) => ip));
  return [...rememberedIPs(pool)].toSorted(compareText).flatMap((ip): readonly Released[] => {
    // What was only listed, before the object had another family, is nothing to it any more.
    if (canonical(ip) === undefined) return [];
    // Where its network is in use under another address, it stays for the sake of that one.
    const isUsed = claims.ownerOf(ip) !== undefined || claims.rivalOf(ip) !== undefined;
    if (managed.has(ip) || acquired.has(ip) || isUsed) return [];
    return stillAttached(ip, provider?.addresses.get(ip), isServing);
  });
}

/** What is to be remembered of an address that was released: nothing once it is unattached, or gone. */
function stillAttached(
  ip: string,
  fact: AddressFact = UNREAD,
  isServing: ReleaseFacts["isServing"],
): readonly Released[] {
  if (fact.kind === "gap") return [{ ip, fact, isServing: false }];
  const isThere = fact.kind === "known" && (fact.address.holderID !== undefined || fact.address.isLocked);
  return isThere ? [{ ip, fact, isServing: isServing(fact.address) }] : [];
}
