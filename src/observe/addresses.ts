import type { Address, AddressFact } from "../model/address.ts";
import { ProviderError } from "../model/errors.ts";
import type { NodeFacts } from "../model/node.ts";
import type { ProviderFacts } from "../model/observation.ts";
import { compareText, type Pool } from "../model/resource.ts";
import { type Listing, readAllPages } from "../ports/listing.ts";
import type { IPProviderReader } from "../ports/providers.ts";
import { type Clock, within } from "../ports/system.ts";
import { knownHolder, readGone, withTrueHolder } from "../ports/true-holder.ts";
import { type AskOptions, CircuitBreaker, PARALLEL_READS, refusalOf, SkewNotes, unusableWhy } from "./asking.ts";
import { factKey, type ReusableFacts } from "./reusable-facts.ts";
import { type WantedAddresses, wantedAddresses } from "./wanted-addresses.ts";

/** What one provider of addresses is asked for. */
export interface ReadAddressesOptions extends AskOptions<IPProviderReader> {
  readonly pools: readonly Pool[];
  readonly nodes: readonly NodeFacts[];
  /** Reads how many addresses the account may have. See {@link readAddressLimit}. */
  readonly readLimit: () => Promise<EnterLimit>;
  readonly clock: Clock;
}

/** Enters into the facts of a provider how many addresses the account may have, or that it is unknown, or why the provider cannot be used. Pure. */
export type EnterLimit = (facts: ProviderFacts) => ProviderFacts;

/** So long the account's limit is waited for with the addresses, milliseconds: then its purchases are part of the first plan. */
const LIMIT_PATIENCE_MS = 250;

/**
 * What objects ask a provider of addresses, and what the cluster says of these, as a text; undefined when no object names it. So a reading that began before the
 * cluster said otherwise serves no later pass: another process may have moved the address after it was read. Pure.
 */
export function askedOfAddresses({
  name,
  pools,
  nodes,
  registry,
}: Pick<ReadAddressesOptions, "name" | "pools" | "nodes" | "registry">): string | undefined {
  if (!pools.some(({ spec }) => spec.provider === name)) return undefined;
  const { ips, told, mayAcquire } = wantedAddresses(name, pools, nodes, registry);
  return JSON.stringify([[...ips].toSorted(compareText).map((ip) => [ip, told.get(ip)]), mayAcquire]);
}

/**
 * Reads what a pass must know of a provider's addresses, or why the provider cannot be used; undefined when no object names it. Never throws for a provider's failure.
 *
 *   nothing known, or a full look     the account's list, one call per 200 addresses; single calls for what is not in it
 *   something moving or unreadable    single calls for that, once its wait is over
 *   else                              no call
 *
 * A limit of the account that takes longer than {@link LIMIT_PATIENCE_MS} is left out: {@link ProviderFacts.isLimitAwaited}.
 */
export async function readAddresses(options: ReadAddressesOptions): Promise<ProviderFacts | undefined> {
  const { name, access, pools, nodes, registry } = options;
  if (!pools.some(({ spec }) => spec.provider === name)) return undefined;
  const why = unusableWhy(options);
  if (why !== undefined) return unusable(name, why);
  if (access.kind === "no-token") return undefined;
  const skews = new SkewNotes(options.skewMs);
  try {
    return await readWhatIsOpen(access.provider, options, wantedAddresses(name, pools, nodes, registry), skews);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const isPassing = !error.concernsProvider;
    const refusal = refusalOf(error, skews.of(error));
    return unusable(name, isPassing ? { kind: "unanswered", message: error.message } : refusal);
  }
}

async function readWhatIsOpen(
  provider: IPProviderReader,
  options: ReadAddressesOptions,
  wanted: WantedAddresses,
  skews: SkewNotes,
): Promise<ProviderFacts> {
  const { name, reusable } = options;
  const known = reusable?.facts.providers.get(name);
  if (known === undefined || reusable === undefined) return await readAll(provider, options, wanted, skews);
  const open = openWork(known, wanted, reusable);
  if (open === "all") return await readAll(provider, options, wanted, skews);
  return open.length === 0 ? known : await readAgain(provider, options, { known, wanted, open }, skews);
}

/**
 * Returns what an earlier pass left of a provider's addresses, where that still answers what is asked: each address was read, and the cluster says of none that it is elsewhere
 * since. What is due to be read again stands, too. Undefined where something is missing.
 */
export function standingAddresses({
  name,
  pools,
  nodes,
  registry,
  reusable,
}: Pick<ReadAddressesOptions, "name" | "pools" | "nodes" | "registry" | "reusable">): ProviderFacts | undefined {
  const known = reusable?.before.providers.get(name);
  if (known === undefined || reusable === undefined || known.unusable !== undefined) return undefined;
  const wanted = wantedAddresses(name, pools, nodes, registry);
  const isOpen = (ip: string): boolean =>
    known.addresses.get(ip) === undefined || isToldOtherwise(ip, known, wanted, reusable);
  return (wanted.mayAcquire && !known.isComplete) || [...wanted.ips].some(isOpen) ? undefined : known;
}

/** True where the cluster says since the last pass that an address is elsewhere: another process may have moved it, before its object became this one's, or was deleted and made anew. */
function isToldOtherwise(
  ip: string,
  { name, addresses }: ProviderFacts,
  { holders, told }: WantedAddresses,
  reusable: ReusableFacts,
): boolean {
  const fact = addresses.get(ip);
  const held = fact?.kind === "known" ? fact.address.holderID : undefined;
  return holders.get(ip) !== held && told.get(ip) !== reusable.toldBefore(factKey("address", name, ip));
}

/** The addresses to read again; `all` where the whole list is to be read. */
function openWork(known: ProviderFacts, wanted: WantedAddresses, reusable: ReusableFacts): readonly string[] | "all" {
  const { name, unusable: refusal, isComplete } = known;
  // The time of a rate limit is over: else the caller had not come this far.
  if (refusal !== undefined)
    return refusal.kind === "rate-limited" || reusable.isDue(factKey("addresses", name)) ? "all" : [];
  if (wanted.mayAcquire && reusable.isDue(factKey("list", name))) return "all";
  const isOpen = (ip: string): boolean =>
    known.addresses.get(ip) === undefined ||
    isToldOtherwise(ip, known, wanted, reusable) ||
    reusable.isDue(factKey("address", name, ip));
  const open = [...wanted.ips].filter(isOpen);
  // What was read by itself does not make a list complete, and a list costs one call per page.
  const isListCheaper = isComplete && open.length > Math.max(PARALLEL_READS, (known.addressCount ?? 0) / 100);
  return isListCheaper ? "all" : open;
}

async function readAgain(
  provider: IPProviderReader,
  options: ReadAddressesOptions,
  { known, wanted, open }: { known: ProviderFacts; wanted: WantedAddresses; open: readonly string[] },
  skews: SkewNotes,
): Promise<ProviderFacts> {
  const proven = {
    getAddress: async (ip: string): Promise<Address | undefined> => {
      const fact = known.addresses.get(ip);
      const expected = fact?.kind === "known" ? knownHolder(fact) : wanted.holders.get(ip);
      return await withTrueHolder(provider, await provider.getAddress(ip), expected);
    },
  };
  const single = await readSingly(proven, open, false, skews);
  const read = new Map([...single, ...(await readUnconfirmed(provider, single, wanted, skews))]);
  const hasVanished = [...read].some(([ip, fact]) => fact.kind === "gone" && known.addresses.get(ip)?.kind !== "gone");
  // An address is gone when a list and a single read say so, and a list that is known is older than the reading.
  if (hasVanished) return await readAll(provider, options, { ...wanted, isSteady: false }, skews);
  return { ...known, addresses: new Map([...known.addresses, ...read]) };
}

async function readAll(
  provider: IPProviderReader,
  { name, nodes, nowMs, registry, readLimit, clock }: ReadAddressesOptions,
  wanted: WantedAddresses,
  skews: SkewNotes,
): Promise<ProviderFacts> {
  const { listing, addresses } = await readListedAndSingle(provider, wanted, skews);
  const known = [...addresses.values()].flatMap((fact) => (fact.kind === "known" ? [fact.address] : []));
  if (known.length > 0 || (listing.isComplete && wanted.mayAcquire)) {
    const machines = nodes.flatMap((node) => registry.machineID(name, node.providerID) ?? []);
    await proveMachinesAreReadable(provider, known, [...machines, ...wanted.holders.values()]);
  }
  const gone = new Set([...addresses].flatMap(([ip, { kind }]) => (kind === "gone" ? [ip] : [])));
  const needsLimit = wanted.mayAcquire || wanted.lacksWithout(gone);
  const facts: ProviderFacts = {
    name,
    addresses,
    isComplete: listing.isComplete,
    readAtMs: nowMs,
    ...(listing.total === undefined ? {} : { addressCount: listing.total }),
  };
  if (!needsLimit) return facts;
  const limited = await within(clock, LIMIT_PATIENCE_MS, readLimit());
  return limited === "late" ? { ...facts, isLimitAwaited: true } : limited(facts);
}

/** Reads how many addresses the account may have. Never throws for a provider's failure. */
export async function readAddressLimit({
  name,
  access,
  skewMs,
}: Pick<ReadAddressesOptions, "name" | "access" | "skewMs">): Promise<EnterLimit> {
  const limited = ({ isLimitAwaited: _before, ...facts }: ProviderFacts, limit?: number): ProviderFacts =>
    limit === undefined ? facts : { ...facts, addressLimit: limit };
  if (access.kind === "no-token") return (facts) => limited(facts);
  try {
    const limit = await access.provider.addressLimit();
    return (facts) => limited(facts, limit);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // The limit only spares a refusal: without it the provider is asked.
    if (!error.concernsProvider) return (facts) => limited(facts);
    const refused = unusable(name, refusalOf(error, skewMs()));
    return (facts) => (facts.unusable === undefined ? refused : facts);
  }
}

/** What was read of the list; `hasFailed` when that is less than was asked for. */
interface PartialListing extends Listing {
  readonly hasFailed: boolean;
}

const NOT_ASKED: PartialListing = { addresses: [], isComplete: false, hasFailed: false };

/**
 * Reads the account's list, or nothing where single reads are cheaper and nothing seems to have changed. Of a list that fails, the pages that were read are
 * kept; the other addresses are then read one by one.
 *
 * @throws ProviderError when the token is refused or calls are limited.
 */
async function readListing(provider: IPProviderReader, wanted: WantedAddresses): Promise<PartialListing> {
  const isCheapLook = wanted.isSteady && !wanted.mayAcquire;
  if (wanted.ips.size <= 1 && isCheapLook) return NOT_ASKED;
  let read: Listing = NOT_ASKED;
  try {
    const firstPage = await provider.listPage(1);
    const { addresses, hasMore, total } = firstPage;
    // Without a total one more page is all that is known of.
    const pages = total === undefined ? 1 + Number(hasMore) : Math.ceil(total / provider.pageSize);
    read = { addresses, ...(total === undefined ? {} : { total }), isComplete: false };
    const found = new Set(addresses.map(({ ip }) => ip));
    const missing = [...wanted.ips].filter((ip) => !found.has(ip)).length;
    const isOnFirst = isCheapLook && missing < pages - 1;
    if (!isOnFirst) read = await readAllPages(provider, { firstPage, isVerified: wanted.mayAcquire });
    return { ...read, hasFailed: false };
  } catch (error) {
    if (error instanceof ProviderError && !error.concernsProvider)
      return { ...read, isComplete: false, hasFailed: true };
    throw error;
  }
}

/**
 * Reads addresses one by one, a few at a time. Where the list has failed and a single read gets no answer either, the provider is taken to be away: what is
 * left is not asked for, since every call would only wait for its deadline.
 */
async function readSingly(
  provider: Pick<IPProviderReader, "getAddress">,
  ips: readonly string[],
  hasListFailed: boolean,
  skews: SkewNotes,
): Promise<ReadonlyMap<string, AddressFact>> {
  return await readEach(
    ips,
    (ip) => provider.getAddress(ip),
    new CircuitBreaker(skews, hasListFailed ? 1 : Number.POSITIVE_INFINITY),
  );
}

/** Reads once more each address that another process may have sent on its way. Reads nothing at a provider whose answers always show whether it works on an address. */
async function readUnconfirmed(
  provider: IPProviderReader,
  facts: ReadonlyMap<string, AddressFact>,
  { unconfirmedAmong }: WantedAddresses,
  skews: SkewNotes,
): Promise<ReadonlyMap<string, AddressFact>> {
  const { getUnconfirmed } = provider;
  if (getUnconfirmed === undefined) return new Map();
  const known = [...facts.values()].flatMap((fact) => (fact.kind === "known" ? [fact.address] : []));
  return await readEach(unconfirmedAmong(known), getUnconfirmed, new CircuitBreaker(skews, Number.POSITIVE_INFINITY));
}

/** Asks the machines of addresses that the provider does not show. One that is still on its machine is not gone: it is read once more, for a provider may know it now. */
async function readMissing(
  provider: IPProviderReader,
  facts: ReadonlyMap<string, AddressFact>,
  { holders }: WantedAddresses,
  skews: SkewNotes,
): Promise<ReadonlyMap<string, AddressFact>> {
  const missing = [...facts].flatMap(([ip, { kind }]) => (kind === "gone" && holders.has(ip) ? [ip] : []));
  const ask = (ip: string): Promise<Address | undefined> => readGone(provider, ip, holders.get(ip) ?? "");
  return await readEach(missing, ask, new CircuitBreaker(skews, Number.POSITIVE_INFINITY));
}

async function readEach(
  ips: readonly string[],
  ask: (ip: string) => Promise<Address | undefined>,
  breaker: CircuitBreaker,
): Promise<ReadonlyMap<string, AddressFact>> {
  const readings = await breaker.all(
    ips,
    (ip) => readOne(ip, ask),
    (error): Reading => ({ kind: "gap", error }),
  );
  if (breaker.failure !== undefined) throw breaker.failure;
  return new Map([...readings].map(([ip, reading]) => [ip, factOf(reading)]));
}

/** What is known of an address. That nothing at all came back is the breaker's business alone. */
function factOf(reading: Reading): AddressFact {
  return reading.kind === "gap" ? { kind: "gap", error: reading.error } : reading;
}

/** Reads the list, then by itself each wanted address that it lacks or shows elsewhere than status has it. A list can lag behind. */
async function readListedAndSingle(
  provider: IPProviderReader,
  wanted: WantedAddresses,
  skews: SkewNotes,
): Promise<{ readonly listing: PartialListing; readonly addresses: Map<string, AddressFact> }> {
  const listing = await readListing(provider, wanted);
  const addresses = new Map<string, AddressFact>(
    listing.addresses.map((address) => [address.ip, { kind: "known", address }]),
  );
  const isDoubtful = (ip: string): boolean => {
    const fact = addresses.get(ip);
    const expected = wanted.holders.get(ip);
    return fact?.kind !== "known" || (expected !== undefined && fact.address.holderID !== expected);
  };
  const proven = {
    getAddress: async (ip: string): Promise<Address | undefined> =>
      await withTrueHolder(provider, await provider.getAddress(ip), wanted.holders.get(ip)),
  };
  const single = await readSingly(proven, [...wanted.ips].filter(isDoubtful), listing.hasFailed, skews);
  const hasVanished = [...single.values()].some(({ kind }) => kind === "gone");
  if (hasVanished && wanted.isSteady && !listing.isComplete && !listing.hasFailed)
    return await readListedAndSingle(provider, { ...wanted, isSteady: false }, skews);
  const doubted = await readMissing(provider, single, wanted, skews);
  const unconfirmed = await readUnconfirmed(provider, new Map([...addresses, ...single]), wanted, skews);
  for (const [ip, fact] of new Map([...single, ...unconfirmed, ...doubted])) {
    const isProven = fact.kind !== "gone" || (listing.isComplete && !addresses.has(ip));
    addresses.set(ip, isProven ? fact : notFoundAlone(ip));
  }
  const isWhole = listing.isComplete && [...doubted.values()].every(({ kind }) => kind === "gone");
  return { listing: { ...listing, isComplete: isWhole }, addresses };
}

/** An address is gone when a list and a single read say so. This one the list shows, or it could not be read. */
function notFoundAlone(ip: string): AddressFact {
  return {
    kind: "gap",
    error: `${ip} was not found when it was read by itself, and the account's list does not say so`,
  };
}

type Reading = AddressFact & { readonly isUnanswered?: boolean };

async function readOne(ip: string, ask: (ip: string) => Promise<Address | undefined>): Promise<Reading> {
  try {
    const address = await ask(ip);
    return address === undefined ? { kind: "gone" } : { kind: "known", address };
  } catch (error) {
    if (!(error instanceof ProviderError) || error.concernsProvider) throw error;
    const gap: Reading = { kind: "gap", error: error.message };
    return error.status === 0 ? { ...gap, isUnanswered: true } : gap;
  }
}

/**
 * A token without the right to read droplets makes every address look unattached (DigitalOcean, verified 2026-08). Any address with a holder proves the
 * right; else one machine is asked for: that of a node, or one that has an address by status.
 */
async function proveMachinesAreReadable(
  provider: IPProviderReader,
  known: readonly Address[],
  [machine]: readonly string[],
): Promise<void> {
  if (known.some(({ holderID }) => holderID !== undefined)) return;
  if (machine !== undefined) await provider.machineAddresses(machine);
}

function unusable(name: string, why: NonNullable<ProviderFacts["unusable"]>): ProviderFacts {
  return { name, unusable: why, addresses: new Map(), isComplete: false, readAtMs: 0 };
}
