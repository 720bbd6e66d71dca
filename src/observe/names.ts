import { type DNSFacts, type RecordsFact, recordsKey, type UnreadDNS, type Zone, type ZoneFact } from "../model/dns.ts";
import { ProviderError } from "../model/errors.ts";
import { recordFQDN } from "../model/record-name.ts";
import type { Pool, PublishedName, RecordSet } from "../model/resource.ts";
import { type DNSWish, type NamedWish, poolWish, recordSetWish } from "../plan/dns/dns-wish.ts";
import type { DNSProviderReader, ZoneListing } from "../ports/dns-provider.ts";
import { type AskOptions, CircuitBreaker, refusalOf, SkewNotes, unusableWhy } from "./asking.ts";
import { factKey } from "./reusable-facts.ts";

/** What one DNS provider is asked for. */
export interface ReadNamesOptions extends AskOptions<DNSProviderReader> {
  readonly pools: readonly Pool[];
  readonly recordSets: readonly RecordSet[];
}

/**
 * Reads the zones and names that objects ask for, or why the provider cannot be used; undefined when no object names it. One call per zone; then the names the cheapest
 * way: a list of the zone's A records where that takes no more calls than asking name by name. A zone or name that cannot be read is a gap of its own. Never throws for
 * a provider's failure.
 */
export async function readNames(options: ReadNamesOptions): Promise<DNSFacts | undefined> {
  const { name, access, pools, recordSets, skewMs } = options;
  const wanted = wantedNames(name, pools, recordSets);
  if (wanted.zones.length === 0) return undefined;
  const why = unusableWhy(options);
  if (why !== undefined || access.kind === "no-token") return nothing(name, why);
  const refused = stillRefused(options);
  if (refused !== undefined) return refused;
  const { provider } = access;
  const reuse = reusing(options);
  const skews = new SkewNotes(skewMs);
  const breaker = new CircuitBreaker(skews);
  const zones = await breaker.all(wanted.zones, async (zone) => reuse.zone(zone) ?? readZone(provider, zone), away);
  const names = [...zones].flatMap(([text, fact]) =>
    fact.kind === "known" ? wanted.namesIn(text, fact.zone).map((fqdn) => ({ zone: fact.zone, fqdn })) : [],
  );
  const reading = { provider, breaker, reuse, remembered: wanted.remembered };
  const records = await readSets(reading, names);
  const facts = { name, ttlRules: provider.ttlRules, isBatched: provider.isBatched, zones, records };
  const { failure } = breaker;
  return failure === undefined ? facts : { ...facts, unusable: refusalOf(failure, skews.of(failure)) };
}

/** What was known of a provider that refused the token, until it may be asked again. The time of a rate limit is over by now. */
function stillRefused({ name, reusable }: ReadNamesOptions): DNSFacts | undefined {
  const known = reusable?.facts.dns.get(name);
  if (known?.unusable === undefined || known.unusable.reason === "RateLimited") return undefined;
  return reusable?.isDue(factKey("names", name)) === true ? undefined : known;
}

/** What need not be read again. */
interface Reuse {
  readonly zone: (text: string) => ZoneFact | undefined;
  readonly records: (key: string) => RecordsFact | undefined;
}

function reusing({ name, reusable }: ReadNamesOptions): Reuse {
  const known = reusable?.facts.dns.get(name);
  // What was read before a provider failed as a whole is no longer new.
  if (reusable === undefined || known === undefined || known.unusable !== undefined)
    return { zone: () => undefined, records: () => undefined };
  const unlessDue = <F>(key: string, fact: F | undefined): F | undefined => (reusable.isDue(key) ? undefined : fact);
  return {
    zone: (text) => unlessDue(factKey("zone", name, text), known.zones.get(text)),
    records: (key) => unlessDue(factKey("records", name, key), known.records.get(key)),
  };
}

/** A name whose records are wanted, in its zone. */
interface WantedName {
  readonly zone: Zone;
  readonly fqdn: string;
}

/** What the records of names are read with. */
interface SetReading {
  readonly provider: DNSProviderReader;
  readonly breaker: CircuitBreaker;
  readonly reuse: Reuse;
  /** The addresses that status has under a name. */
  readonly remembered: ReadonlyMap<string, readonly string[]>;
}

/** The records of each name, by {@link recordsKey}. */
async function readSets(reading: SetReading, names: readonly WantedName[]): Promise<DNSFacts["records"]> {
  const byKey = new Map(names.map((entry) => [recordsKey(entry.zone, entry.fqdn), entry]));
  const known = new Map<string, RecordsFact>();
  for (const key of byKey.keys()) {
    const fact = reading.reuse.records(key);
    if (fact !== undefined) known.set(key, fact);
  }
  const open = [...byKey.values()].filter(({ zone, fqdn }) => !known.has(recordsKey(zone, fqdn)));
  for (const [key, fact] of await readLists(reading, open)) known.set(key, fact);
  const left = [...byKey.keys()].filter((key) => !known.has(key));
  const { provider, breaker } = reading;
  for (const [key, fact] of await breaker.all(left, async (one) => readName(provider, byKey.get(one)), away))
    known.set(key, fact);
  return new Map([...byKey.keys()].map((key) => [key, known.get(key) ?? away("it was not read")]));
}

/**
 * What lists of whole zones tell of the names: the others are to be read by themselves. A list that gets no answer is a gap of all names of its zone: asking for each
 * would fail as often.
 */
async function readLists(
  { provider, breaker, remembered }: SetReading,
  names: readonly WantedName[],
): Promise<ReadonlyMap<string, RecordsFact>> {
  const byZone = Map.groupBy(names, ({ zone }) => zone.id);
  const worthwhile = [...byZone].filter(([, own]) => own.length > 1).map(([id]) => id);
  const zoneOf = (id: string): readonly WantedName[] => byZone.get(id) ?? [];
  const lists = await breaker.all(worthwhile, async (id) => readList(provider, zoneOf(id)), away);
  return new Map(
    [...lists].flatMap(([id, list]) =>
      zoneOf(id).flatMap(({ zone, fqdn }): readonly (readonly [string, RecordsFact])[] => {
        const fact = list.kind === "gap" ? list : factIn(list.listing, fqdn, remembered.get(fqdn) ?? []);
        return fact === undefined ? [] : [[recordsKey(zone, fqdn), fact]];
      }),
    ),
  );
}

/** `listing` is undefined where names are to be read by themselves: the list is too long, or the provider refuses it or tells it wrong, which says nothing of one name. */
async function readList(
  provider: DNSProviderReader,
  names: readonly WantedName[],
): Promise<{ readonly kind: "listed"; readonly listing: ZoneListing | undefined } | UnreadDNS> {
  const [first] = names;
  if (first === undefined) return away("it was not read");
  return guarded(async () => {
    try {
      return { kind: "listed", listing: await provider.listRecords(first.zone, names.length) };
    } catch (error) {
      if (error instanceof ProviderError && (error.failure === "refused" || error.failure === "malformed"))
        return { kind: "listed", listing: undefined };
      throw error;
    }
  });
}

/**
 * What a list tells of a name; undefined where the name is to be read by itself: the list was too long, a record of the name cannot be understood, or pages that may
 * have shifted lack an address that flipop has under it.
 */
function factIn(
  listing: ZoneListing | undefined,
  fqdn: string,
  remembered: readonly string[],
): RecordsFact | undefined {
  if (listing === undefined || listing.unclear.has(fqdn)) return undefined;
  const records = listing.names.get(fqdn) ?? { fqdn, addresses: [], isTTLAutomatic: false, hasDuplicates: false };
  const isWhole = listing.isOneAnswer || remembered.every((ip) => records.addresses.includes(ip));
  return isWhole ? { kind: "known", records } : undefined;
}

function nothing(name: string, unusable: DNSFacts["unusable"]): DNSFacts {
  const facts = { name, ttlRules: { minimumSeconds: 0 }, isBatched: false, zones: new Map(), records: new Map() };
  return unusable === undefined ? facts : { ...facts, unusable };
}

async function readZone(provider: DNSProviderReader, text: string): Promise<ZoneFact> {
  return guarded(async () => {
    const zone = await provider.findZone(text);
    return zone === undefined ? { kind: "missing" } : { kind: "known", zone };
  });
}

async function readName(
  provider: DNSProviderReader,
  entry: { readonly zone: Zone; readonly fqdn: string } | undefined,
): Promise<RecordsFact> {
  if (entry === undefined) return away("it was not read");
  return guarded(async () => ({ kind: "known", records: await provider.readRecords(entry.zone, entry.fqdn) }));
}

/** A refused token or a rate limit is about the provider; a refusal may be about one zone, since tokens can be narrowed to zones. */
async function guarded<T>(read: () => Promise<T>): Promise<T | UnreadDNS> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure === "unauthorized" || error.failure === "rate-limited")
      throw error;
    const isRefused = error.failure === "forbidden" || error.failure === "refused";
    return { kind: "gap", error: error.message, isRefused, ...(error.status === 0 ? { isUnanswered: true } : {}) };
  }
}

function away(error: string): UnreadDNS {
  return { kind: "gap", error, isRefused: false };
}

/** Which zones and names of one DNS provider a pass must know about. */
interface WantedNames {
  /** Every zone, as objects write it, canonical and once. */
  readonly zones: readonly string[];
  /** The names within one zone once that is found, canonical and once. */
  readonly namesIn: (text: string, zone: Zone) => readonly string[];
  /** The addresses that status has under a name, by FQDN. */
  readonly remembered: ReadonlyMap<string, readonly string[]>;
}

/** Collects what objects ask for, and the names they had before where their records are to be cleaned. Pure. */
function wantedNames(provider: string, pools: readonly Pool[], recordSets: readonly RecordSet[]): WantedNames {
  const wishes = [...pools.map(poolWish), ...recordSets.map(recordSetWish)].filter(isNamedAt(provider));
  const former = [...pools, ...recordSets].flatMap(cleanable).filter((name) => name.provider === provider);
  const published = [...pools, ...recordSets].flatMap(publishedNames).filter((name) => name.provider === provider);
  return {
    remembered: new Map(
      [...Map.groupBy(published, ({ name }) => name)].map(([name, all]) => [
        name,
        [...new Set(all.flatMap(({ addresses }) => addresses))],
      ]),
    ),
    zones: [...new Set([...wishes, ...former].map(({ zone }) => zone))],
    namesIn: (text, zone) => {
      const present = wishes
        .filter((wish) => wish.zone === text)
        .map(({ recordName }) => recordFQDN(recordName, zone.name))
        .flatMap((resolved) => (resolved.kind === "name" ? [resolved.fqdn] : []));
      const past = former.filter((name) => name.zone === text).map(({ name }) => name);
      return [...new Set([...present, ...past])];
    },
  };
}

function isNamedAt(provider: string): (wish: DNSWish) => wish is NamedWish {
  return (wish): wish is NamedWish => wish.kind === "named" && wish.provider === provider;
}

function cleanable(object: Pool | RecordSet): readonly PublishedName[] {
  return object.spec.reclaimPolicy === "Delete" ? publishedNames(object) : [];
}

function publishedNames({ status }: Pool | RecordSet): readonly PublishedName[] {
  return [...status.formerDNS, ...(status.publishedDNS === undefined ? [] : [status.publishedDNS])];
}
