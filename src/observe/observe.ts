import { restoreMemory } from "../model/acquisition-memory.ts";
import { sourceNamed } from "../model/address-source.ts";
import { claimsReady } from "../model/deletion.ts";
import { KubeError, type Refusal } from "../model/errors.ts";
import type { GrantFacts, GrantMode } from "../model/grants.ts";
import { formerLimits, leaseFacts, notedGrants, shardNotes } from "../model/lease-notes.ts";
import type { KnownFacts, LeaseFacts, Observation } from "../model/observation.ts";
import type { WantedOwner } from "../model/plan.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import type { Pool, RecordSet } from "../model/resource.ts";
import { type Shard, shardName } from "../model/shard.ts";
import type { ClusterReader, LeaseRecord } from "../ports/cluster.ts";
import {
  accessTo,
  type DNSProviderReader,
  type FirewallProviderReader,
  type IPProviderReader,
  type ProviderAccess,
} from "../ports/providers.ts";
import type { Clock } from "../ports/system.ts";
import { askedOfAddresses, type EnterLimit, readAddresses, readAddressLimit, standingAddresses } from "./addresses.ts";
import { type AskOptions, unusableWhy } from "./asking.ts";
import { askedOfFirewalls, readFirewalls } from "./firewalls.ts";
import { type Enter, followedBy, Looking, type Piece, Readings } from "./looking.ts";
import { besideKnown, unanswered, unasked } from "./meanwhile.ts";
import { askedOfNames, namedZones, providersOfNames, readNames } from "./names.ts";
import { ownerPieces } from "./owners.ts";
import { type ClusterLists, type ListedObjects, readCluster, readGrants, readSpecs } from "./read-cluster.ts";
import { NOTHING_KNOWN, type ReusableFacts } from "./reusable-facts.ts";

/** So long a pass that knows something of a provider already waits for the first answer, milliseconds: a provider that hangs holds up no recovery. */
const STANDING_PATIENCE_MS = 500;

/**
 * So long names let the addresses of the same provider go first, milliseconds, where the run before was refused for the limit. The list of a name may be refused each time. It would shut the
 * addresses out, too, and in a process that makes one pass none would ever move. A process that was refused itself lets them go first at each call.
 */
const HEAD_START_MS = 5_000;

/** What an observation reads from. */
export interface ObserveDeps {
  readonly cluster: ClusterReader;
  readonly providers: ReadonlyMap<string, ProviderAccess<IPProviderReader>>;
  readonly dnsProviders: ReadonlyMap<string, ProviderAccess<DNSProviderReader>>;
  readonly firewallProviders: ReadonlyMap<string, ProviderAccess<FirewallProviderReader>>;
  /** What each of them can do, without being asked. */
  readonly registry: ProviderRegistry;
  readonly clock: Clock;
  readonly leaseName: { readonly namespace: string; readonly name: string };
  /** The shard whose own Lease is read beside that one. Absent = there is none. */
  readonly shard?: Shard | undefined;
  /** What earlier passes of this process left; it is told what this one read. Absent = every provider is asked. */
  readonly reusable?: ReusableFacts | undefined;
  /** How grants count; absent = as the Lease notes of the last mutating run, which is not at all where it notes nothing. */
  readonly grants?: GrantMode | "off" | undefined;
  /** What an earlier pass of this run read of grants. Absent = namespaces are listed. */
  readonly knownGrants?: GrantFacts | undefined;
  /** Returns listed objects as they count. Absent = as they are listed. */
  readonly objects?: ListedObjects | undefined;
  /** Until when providers asked this process for no calls, milliseconds of the API server's clock. Absent for who only reads: no address is about to move, and names let nobody go first. */
  readonly limits?: ReadonlyMap<string, number> | undefined;
  /** The Lease's annotations, where this process keeps it and knows them. Absent = it is read. */
  readonly notes?: LeaseRecord["annotations"] | undefined;
}

/** A look at the world: what is known of it by now, and the pieces of it that are still to arrive. A provider that has not answered yet is a gap. */
export interface Sight {
  /** With what only the annotations of objects still show. */
  readonly observation: Observation;
  /** The objects as they are stored. */
  readonly stored: Pick<Observation, "pools" | "recordSets" | "registry">;
  readonly looking: Looking;
  /** What the objects of a world ask of each provider. */
  readonly pieces: (world: Observation) => readonly Piece[];
  /** What has to be read to tell whose names are. */
  readonly ownerPieces: (wanted: readonly WantedOwner[]) => readonly Piece[];
}

/**
 * Reads the world once: objects, nodes, the pods that some selector asks for, and what the providers show of every address that some object names.
 * Reads only. A failed provider read becomes a gap.
 *
 * @throws KubeError when a list of the cluster fails: then nothing is known well enough to act on.
 */
export async function observe(deps: ObserveDeps): Promise<Observation> {
  const { observation, looking } = await look(deps);
  await looking.whole();
  return enterAll(observation, looking.take());
}

/**
 * Reads objects alone, as of a world without nodes in which every provider can be used and nobody has looked at one. For who asks what is wrong with their specs: no provider is asked.
 *
 * @throws KubeError when a list of the cluster fails.
 */
export async function observeSpecs({
  cluster,
  registry,
}: Pick<ObserveDeps, "cluster" | "registry">): Promise<Observation> {
  const lists = await readSpecs(cluster);
  const sources = [...new Set(lists.pools.map(({ spec }) => spec.provider))];
  return {
    observedAtMs: cluster.now(),
    cluster: cluster.server,
    registry,
    ...lists,
    ...unasked(
      sources.filter((source) => registry.get(source) !== undefined),
      namedZones({ ...lists, registry }),
    ),
    lease: leaseFacts({}, cluster.now()),
  };
}

/**
 * As {@link observe}, for who goes to work on what is known: the cluster is read whole, and of the providers what answers about as fast as the first of them.
 *
 * @throws KubeError when a list of the cluster fails.
 */
export async function look(deps: ObserveDeps): Promise<Sight> {
  const { cluster, clock, reusable } = deps;
  const [lists, annotations] = await Promise.all([readCluster(deps), readNotes(deps)]);
  const mode = deps.grants ?? notedGrants(annotations);
  const grants =
    mode === undefined || mode === "off" ? undefined : (deps.knownGrants ?? (await readGrants(cluster, mode, lists)));
  const facts = leaseFacts(annotations, cluster.now());
  const pools = lists.pools.map((pool) => restoreMemory(pool, cluster.now()));
  const pieces = addressesFirst(deps, piecesOf(deps, { ...lists, pools }, facts, grants), annotations);
  const known = withStanding(unanswered(pieces), standingFacts(deps, { ...lists, pools }));
  const stands = isKnown(known);
  const observation: Observation = {
    observedAtMs: cluster.now(),
    cluster: cluster.server,
    registry: deps.registry,
    ...lists,
    pools,
    ...(grants === undefined ? {} : { grants }),
    ...known,
    lease: facts,
  };
  const asked = stands ? pieces.map((piece) => besideKnown(piece, observation)) : pieces;
  const looking = new Looking(asked, reusable?.readings ?? new Readings(), clock);
  // An object that is being deleted says so before its provider has answered.
  const isGoing = [...pools, ...lists.recordSets].some(claimsReady);
  await looking.firstPieces(stands || isGoing ? STANDING_PATIENCE_MS : undefined);
  return {
    observation: enterAll({ ...observation, observedAtMs: cluster.now() }, looking.take()),
    stored: { ...lists, registry: deps.registry },
    looking,
    pieces: (world) => piecesOf(deps, world, world.lease, world.grants),
    ownerPieces: (wanted) => ownerPieces(deps, wanted),
  };
}

/** The observation with whose these names are. */
export async function observeOwners(
  deps: ObserveDeps,
  observation: Observation,
  wanted: readonly WantedOwner[],
): Promise<Observation> {
  return enterAll(observation, await Promise.all(ownerPieces(deps, wanted).map(({ read }) => read())));
}

/** Enters what has arrived. Pure. */
export function enterAll(observation: Observation, arrived: readonly Enter[]): Observation {
  return arrived.reduce((known, enter) => enter(known), observation);
}

/** True when an object asks for something of a piece. Pure. */
export function needs(
  object: Pool | RecordSet,
  { kind, provider }: Pick<Piece, "kind" | "provider">,
  registry: ProviderRegistry,
): boolean {
  // The plan tells who waits for an owner, or for the limit of an account.
  if (kind === "owners" || kind === "owners-late" || kind === "limit") return false;
  const pools = "kind" in object ? [object] : [];
  const recordSets = "kind" in object ? [] : [object];
  const asked = { name: provider, pools, recordSets, nodes: [], registry };
  const askedOf = { addresses: askedOfAddresses, names: askedOfNames, firewalls: askedOfFirewalls }[kind];
  return askedOf(asked) !== undefined;
}

/** What an earlier pass left of providers. It stands until the provider has answered: addresses where they still answer all that is asked, names and firewalls each by itself. */
function standingFacts({ registry, reusable }: ObserveDeps, { pools, nodes }: ClusterLists): KnownFacts {
  if (reusable === undefined) return NOTHING_KNOWN;
  const { providers, dns, firewalls } = reusable.before;
  return {
    providers: new Map(
      [...providers.keys()].flatMap((name) => {
        const facts = standingAddresses({ name, pools, nodes, registry, reusable });
        return facts === undefined ? [] : [[name, facts] as const];
      }),
    ),
    dns: usable(dns),
    firewalls: usable(firewalls),
  };
}

function usable<F extends { readonly unusable?: Refusal }>(all: ReadonlyMap<string, F>): ReadonlyMap<string, F> {
  return new Map([...all].filter(([, { unusable }]) => unusable === undefined));
}

/** What has not answered yet, where nothing stands. */
function withStanding(known: KnownFacts, standing: KnownFacts): KnownFacts {
  const each = <F>(waiting: ReadonlyMap<string, F>, before: ReadonlyMap<string, F>): ReadonlyMap<string, F> =>
    new Map([...waiting].map(([name, facts]) => [name, before.get(name) ?? facts]));
  return {
    providers: each(known.providers, standing.providers),
    dns: each(known.dns, standing.dns),
    firewalls: each(known.firewalls, standing.firewalls),
  };
}

/** True where something that is asked for is known before anybody has answered. */
function isKnown({ providers, dns, firewalls }: KnownFacts): boolean {
  return [...providers.values(), ...dns.values(), ...firewalls.values()].some(({ unusable }) => unusable === undefined);
}

/** What objects ask of each provider. */
function piecesOf(
  { cluster, providers, dnsProviders, firewallProviders, registry, clock, reusable }: ObserveDeps,
  { pools, recordSets, nodes }: ClusterLists,
  lease: LeaseFacts,
  grants: GrantFacts | undefined,
): readonly Piece[] {
  const asking = <P>([name, access]: readonly [string, ProviderAccess<P>]): AskOptions<P> => ({
    name,
    access,
    registry,
    notBeforeMs: lease.providerNotBeforeMs.get(sourceNamed(name).provider),
    nowMs: cluster.now(),
    skewMs: () => cluster.now() - clock.wallMs(),
    reusable,
  });
  const addresses = [...providers].map((one) => ({ ...asking(one), pools, nodes }));
  // A webhook that nobody has set up is named by objects all the same.
  const named = [...dnsProviders.keys(), ...providersOfNames({ pools, recordSets, registry })];
  const known = [...new Set(named)].flatMap((name) => {
    const access = accessTo(dnsProviders, name, registry);
    return access === undefined ? [] : [[name, access] as const];
  });
  const names = known.map((one) => ({
    ...asking(one),
    pools,
    recordSets,
    servesLast: grants?.mode === "require",
    lookFrom: lease.lookFrom.get(one[0]),
  }));
  const firewalls = [...firewallProviders].map((one) => {
    const machines = accessTo(providers, one[0], registry);
    return { ...asking(one), pools, ...(machines?.kind === "usable" ? { machines: machines.provider } : {}) };
  });
  const piece = (
    kind: Piece["kind"],
    options: Parameters<typeof unusableWhy>[0],
    asked: string | undefined,
    read: Piece["read"],
  ): readonly Piece[] => {
    const { name: provider } = options;
    if (asked === undefined) return [];
    const begin = (): Promise<Enter> => {
      reusable?.look({ kind, provider });
      return read();
    };
    return [{ kind, provider, asked, unusable: unusableWhy(options), read: begin }];
  };
  return [
    ...addresses.flatMap((options) =>
      piece("addresses", options, askedOfAddresses(options), async () => {
        const readLimit = once(() => readAddressLimit(options));
        const facts = await readAddresses({ ...options, readLimit, clock });
        const next = facts?.isLimitAwaited === true ? limitPiece(options.name, readLimit) : undefined;
        return followedBy(entering("providers", facts), next);
      }),
    ),
    ...names.flatMap((options) =>
      piece("names", options, askedOfNames(options), async () => entering("dns", await readNames(options))),
    ),
    ...firewalls.flatMap((options) =>
      piece("firewalls", options, askedOfFirewalls(options), async () =>
        entering("firewalls", await readFirewalls(options)),
      ),
    ),
  ];
}

/** Lets names wait a moment for the addresses of a provider that refused the run before. */
function addressesFirst(
  { cluster, clock, limits }: ObserveDeps,
  pieces: readonly Piece[],
  annotations: LeaseRecord["annotations"],
): readonly Piece[] {
  if (limits === undefined) return pieces;
  const former = formerLimits(annotations, cluster.now());
  const providerOf = (piece: Piece): string => sourceNamed(piece.provider).provider;
  const late = new Set(
    pieces
      .filter(({ kind }) => kind === "addresses")
      .map(providerOf)
      .filter((name) => former.has(name) && !limits.has(name)),
  );
  return pieces.map((piece) => {
    if (piece.kind !== "names" || !late.has(providerOf(piece))) return piece;
    const read = async (): Promise<Enter> => {
      await clock.sleep(HEAD_START_MS);
      return await piece.read();
    };
    return { ...piece, read };
  });
}

/** A limit of an account that takes long is a piece of its own: it delays only purchases. */
function limitPiece(name: string, readLimit: () => Promise<EnterLimit>): Piece {
  const read = async (): Promise<Enter> => {
    const limited = await readLimit();
    return (observation) => {
      const known = observation.providers.get(name);
      return known === undefined ? observation : entering("providers", limited(known))(observation);
    };
  };
  return { kind: "limit", provider: name, asked: "", read };
}

/** Returns what makes a call when it is first asked, and has the same answer from then on. */
function once<T>(call: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => {
    begun ??= call();
    return begun;
  };
}

function entering<K extends keyof KnownFacts>(
  kind: K,
  facts: (KnownFacts[K] extends ReadonlyMap<string, infer F> ? F & { readonly name: string } : never) | undefined,
): Enter {
  return (observation) => {
    const known = new Map<string, unknown>(observation[kind]);
    if (facts === undefined) return observation;
    known.set(facts.name, facts);
    return { ...observation, [kind]: known };
  };
}

/** Returns what earlier runs noted; of a shard what is its own, and what all share. */
async function readNotes({ cluster, leaseName, shard, notes }: ObserveDeps): Promise<LeaseRecord["annotations"]> {
  const read = async (name: string): Promise<LeaseRecord["annotations"]> =>
    (await readLease(cluster, { ...leaseName, name }))?.annotations ?? {};
  if (shard === undefined) return notes ?? (await read(leaseName.name));
  const [own, shared] = await Promise.all([notes ?? read(shardName(leaseName.name, shard)), read(leaseName.name)]);
  return shardNotes(own, shared);
}

/** A reader who may not see the Lease, or a cluster without its namespace, only lacks what earlier runs noted there. */
async function readLease(
  cluster: ClusterReader,
  { namespace, name }: ObserveDeps["leaseName"],
): Promise<LeaseRecord | undefined> {
  try {
    return await cluster.readLease(namespace, name);
  } catch (error) {
    if (error instanceof KubeError && (error.failure === "forbidden" || error.failure === "not-found"))
      return undefined;
    throw error;
  }
}
