import {
  ANY_TTL,
  type DNSFacts,
  lookKey,
  type RecordsFact,
  recordAddresses,
  recordFQDN,
  recordsKey,
  type UnreadDNS,
  type Zone,
  type ZoneFact,
} from "../model/dns.ts";
import { ProviderError } from "../model/errors.ts";
import { nearest } from "../model/nearest.ts";
import { publishedNames, recordTypesOf, rememberedNames, setNamed, setText } from "../model/record-types.ts";
import { compareText, type Pool, type PublishedName, type RecordSet } from "../model/resource.ts";
import { type DNSWish, type NamedWish, poolWish, recordSetWish } from "../plan/names/name-target.ts";
import type { DNSProviderReader, ZoneListing } from "../ports/providers.ts";
import { type AskOptions, CircuitBreaker, refusalOf, SkewNotes, unusableWhy } from "./asking.ts";
import { factKey } from "./reusable-facts.ts";

/** What one DNS provider is asked for. */
export interface ReadNamesOptions extends AskOptions<DNSProviderReader> {
  readonly pools: readonly Pool[];
  readonly recordSets: readonly RecordSet[];
  /** True where a name that is not granted lets the one before it go on being served. */
  readonly servesLast?: boolean;
  /** Where the last look ended, as {@link DNSFacts.lookFrom}: this one begins there. */
  readonly lookFrom?: string | undefined;
}

type WantedOptions = Pick<ReadNamesOptions, "name" | "pools" | "recordSets" | "registry" | "servesLast">;

/** Returns the DNS providers that objects name, or named before, each once. Pure. */
export function providersOfNames({
  pools,
  recordSets,
  registry,
}: Pick<ReadNamesOptions, "pools" | "recordSets" | "registry">): readonly string[] {
  const wishes = wishesOf({ pools, recordSets, registry }).flatMap((wish) =>
    wish.kind === "named" ? [wish.provider] : [],
  );
  const former = [...pools, ...recordSets].flatMap(cleanable).map(({ provider }) => provider);
  return [...new Set([...wishes, ...former])];
}

/** Returns by DNS provider the zones that objects name by their names, not by an id. Pure. */
export function namedZones(
  options: Pick<ReadNamesOptions, "pools" | "recordSets" | "registry">,
): ReadonlyMap<string, readonly string[]> {
  const named = wishesOf(options).flatMap((wish) => (wish.kind === "named" ? [wish] : []));
  return new Map(
    [...Map.groupBy(named, ({ provider }) => provider)].map(([provider, own]) => [
      provider,
      own.flatMap(({ zone, isZoneID }) => (isZoneID ? [] : [zone])),
    ]),
  );
}

/** What objects ask a DNS provider, as a text; undefined when none names it. Pure. */
export function askedOfNames({
  name,
  pools,
  recordSets,
  registry,
  servesLast = false,
}: WantedOptions): string | undefined {
  const { zones, asked } = wantedNames({ name, pools, recordSets, registry, servesLast });
  return zones.length === 0 ? undefined : JSON.stringify(asked);
}

/**
 * Reads the zones and names that objects ask for, or why the provider cannot be used; undefined when no object names it. One call per zone; then the names the cheapest
 * way: a list of the zone's A records where that takes no more calls than asking name by name. A zone or name that cannot be read is a gap of its own. Where calls are kept for what is more
 * urgent, names that no ready object has come first, then the others from where the last look ended; what is put off is taken as status has it. Never throws for a provider's failure.
 */
export async function readNames(options: ReadNamesOptions): Promise<DNSFacts | undefined> {
  const { name, access, skewMs } = options;
  const wanted = wantedNames(options);
  if (wanted.zones.length === 0) return undefined;
  const why = unusableWhy(options);
  if (why !== undefined || access.kind === "no-token") return nothing(name, why);
  const refused = stillRefused(options);
  if (refused !== undefined) return refused;
  const { provider } = access;
  const reuse = reusing(options);
  const skews = new SkewNotes(skewMs);
  const breaker = new CircuitBreaker(skews);
  const isAwaited = (fqdn: string): boolean => !wanted.settled.has(fqdn);
  const order = inTurn(options.lookFrom ?? "");
  const zoneOrder = wanted.zones
    .map((text) => ({ text, key: lookKey(text, ""), isAwaited: wanted.writtenIn(text).some(isAwaited) }))
    .toSorted(order);
  const zones = await breaker.all(
    zoneOrder.map(({ text }) => text),
    async (text) => reuse.zone(text) ?? guarded(() => readZone(provider, text), skewMs),
    away,
  );
  const namesIn = (text: string, zone: Zone): readonly WantedName[] =>
    wanted.namesIn(text, zone).map((fqdn) => ({ zone, fqdn, key: lookKey(text, fqdn), isAwaited: isAwaited(fqdn) }));
  const names = [...zones]
    .flatMap(([text, fact]) => (fact.kind === "known" ? namesIn(text, fact.zone) : []))
    .toSorted(order);
  const reading = { provider, breaker, reuse, skewMs, remembered: wanted.remembered, settled: wanted.settled };
  const records = await readSets(reading, names);
  const lookFrom = firstPutOff([
    ...zoneOrder.map((turn) => ({ ...turn, fact: zones.get(turn.text) })),
    ...names.map((turn) => ({ ...turn, fact: records.get(recordsKey(turn.zone, turn.fqdn)) })),
  ]);
  const known = { zones, records, ...reuse.owners, ...lookFrom };
  const facts = { name, ttlRules: provider.ttlRules, isBatched: provider.isBatched, ...known };
  const { failure } = breaker;
  return failure === undefined ? facts : { ...facts, unusable: refusalOf(failure, skews.of(failure)) };
}

/** What was known of a provider that refused the token, until it may be asked again. The time of a rate limit is over by now. */
function stillRefused({ name, reusable }: ReadNamesOptions): DNSFacts | undefined {
  const known = reusable?.facts.dns.get(name);
  if (known?.unusable === undefined || known.unusable.kind === "rate-limited") return undefined;
  return reusable?.isDue(factKey("names", name)) === true ? undefined : known;
}

/** What need not be read again. */
interface Reuse {
  readonly zone: (text: string) => ZoneFact | undefined;
  readonly records: (key: string) => RecordsFact | undefined;
  /** Whose names are, and whether somebody has been looking for long for that. */
  readonly owners: Pick<DNSFacts, "owners" | "isOwnerLate">;
  /** What this process knew before, however long ago: better than nothing where a name is not looked at. */
  readonly recordsBefore: (key: string) => RecordsFact | undefined;
}

function reusing({ name, reusable }: ReadNamesOptions): Reuse {
  const recordsBefore = (key: string): RecordsFact | undefined => reusable?.recordsBefore(name, key);
  const known = reusable?.facts.dns.get(name);
  // What was read before a provider failed as a whole is no longer new.
  if (reusable === undefined || known === undefined || known.unusable !== undefined)
    return { zone: () => undefined, records: () => undefined, owners: {}, recordsBefore };
  const unlessDue = <F>(key: string, fact: F | undefined): F | undefined => (reusable.isDue(key) ? undefined : fact);
  return {
    zone: (text) => unlessDue(factKey("zone", name, text), known.zones.get(text)),
    records: (key) => unlessDue(factKey("records", name, key), known.records.get(key)),
    owners: knownOwners(known, (key) => reusable.isDue(factKey("owner", name, key))),
    recordsBefore,
  };
}

function knownOwners({ owners, isOwnerLate }: DNSFacts, isDue: (key: string) => boolean): Reuse["owners"] {
  const late = isOwnerLate === undefined ? {} : { isOwnerLate };
  return owners === undefined ? late : { ...late, owners: new Map([...owners].filter(([key]) => !isDue(key))) };
}

/** Where something has its turn. */
interface Turn {
  /** {@link lookKey}. */
  readonly key: string;
  /** True for a name that no ready object has, or a zone with such a name: something is to be done about it, and it has to be read for that. */
  readonly isAwaited: boolean;
}

/** A name whose records are wanted, in its zone. */
interface WantedName extends Turn {
  readonly zone: Zone;
  readonly fqdn: string;
}

/** Compares by whose turn it is: what is awaited before all others; of both what comes at or after `from`, then what comes before it; each by key. Pure. */
function inTurn(from: string): (a: Turn, b: Turn) => number {
  const [zone = ""] = from.split(" ");
  const isBefore = ({ key }: Turn): boolean => compareText(key, key.endsWith(" ") ? lookKey(zone, "") : from) < 0;
  const part = (turn: Turn): number => (turn.isAwaited ? 0 : 2) + Number(isBefore(turn));
  return (a, b) => part(a) - part(b) || compareText(a.key, b.key);
}

/** Where the next look begins: the first that was put off. Pure. */
function firstPutOff(
  turns: readonly (Turn & { readonly fact: ZoneFact | RecordsFact | undefined })[],
): Pick<DNSFacts, "lookFrom"> {
  const first = turns.find(({ fact }) => fact !== undefined && "putOffUntilMs" in fact);
  return first === undefined ? {} : { lookFrom: first.key };
}

/** What the records of names are read with. */
interface SetReading {
  readonly provider: DNSProviderReader;
  readonly breaker: CircuitBreaker;
  readonly reuse: Reuse;
  readonly skewMs: () => number;
  /** The addresses that status has under a name. */
  readonly remembered: ReadonlyMap<string, readonly string[]>;
  /** The same of names that are as their objects want them. */
  readonly settled: ReadonlyMap<string, readonly string[]>;
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
  const { breaker, settled } = reading;
  for (const [key, fact] of await breaker.all(left, async (one) => readName(reading, byKey.get(one)), away))
    known.set(key, fact);
  return new Map(
    [...byKey].map(([key, { fqdn }]) => [
      key,
      believed(fqdn, known.get(key) ?? away("it was not read"), reading.reuse.recordsBefore(key), settled.get(fqdn)),
    ]),
  );
}

/**
 * What lists of whole zones tell of the names: the others are to be read by themselves. A list that gets no answer is a gap of all names of its zone: asking for each
 * would fail as often.
 */
async function readLists(
  { provider, breaker, skewMs, remembered }: SetReading,
  names: readonly WantedName[],
): Promise<ReadonlyMap<string, RecordsFact>> {
  const byZone = Map.groupBy(names, ({ zone, fqdn }) => setText({ fqdn: zone.id, type: setNamed(fqdn).type }));
  const worthwhile = [...byZone].filter(([, own]) => own.length > 1).map(([id]) => id);
  const zoneOf = (id: string): readonly WantedName[] => byZone.get(id) ?? [];
  const lists = await breaker.all(
    worthwhile,
    async (id) => guarded(() => readList(provider, zoneOf(id)), skewMs),
    away,
  );
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
  try {
    return {
      kind: "listed",
      listing: await provider.listRecords(
        first.zone,
        names.length,
        names.some(({ isAwaited }) => isAwaited),
        setNamed(first.fqdn).type,
      ),
    };
  } catch (error) {
    if (error instanceof ProviderError && (error.failure === "refused" || error.failure === "malformed"))
      return { kind: "listed", listing: undefined };
    throw error;
  }
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
  const facts = { name, ttlRules: ANY_TTL, isBatched: false, zones: new Map(), records: new Map() };
  return unusable === undefined ? facts : { ...facts, unusable };
}

async function readZone(provider: DNSProviderReader, text: string): Promise<ZoneFact> {
  const zone = await provider.findZone(text);
  if (zone !== undefined) return { kind: "known", zone };
  const near = await zoneMeant(provider, text);
  return near === undefined ? { kind: "missing" } : { kind: "missing", near };
}

/** So many letters may differ where somebody mistyped a zone. */
const MOST_MISTYPED = 2;

/** The zone that was meant by a name that is none; undefined where none is near, or none can be listed. */
async function zoneMeant({ zoneNames }: DNSProviderReader, text: string): Promise<string | undefined> {
  try {
    return nearest(text.toLowerCase(), ((await zoneNames?.()) ?? []).toSorted(), MOST_MISTYPED);
  } catch (error) {
    if (error instanceof ProviderError) return undefined;
    throw error;
  }
}

async function readName(
  { provider, skewMs }: Pick<SetReading, "provider" | "skewMs">,
  entry: WantedName | undefined,
): Promise<RecordsFact> {
  if (entry === undefined) return away("it was not read");
  const read = async (): Promise<RecordsFact> => ({
    kind: "known",
    records: await provider.readRecords(entry.zone, entry.fqdn, entry.isAwaited),
  });
  return guarded(read, skewMs);
}

/** What is known of a name: where the look at it was put off, what this process knew of it, or what the status of a ready object has. Whoever changes it reads it right before. */
function believed(
  fqdn: string,
  fact: RecordsFact,
  before: RecordsFact | undefined,
  settled: readonly string[] | undefined,
): RecordsFact {
  if (fact.kind === "known" || fact.putOffUntilMs === undefined) return fact;
  if (before?.kind === "known") return { ...before, putOffUntilMs: fact.putOffUntilMs };
  if (settled === undefined) return fact;
  const records = { fqdn, addresses: recordAddresses(settled), isTTLAutomatic: true, hasDuplicates: false };
  return { kind: "known", records, putOffUntilMs: fact.putOffUntilMs };
}

/** Returns what a read brought, or why it brought nothing. A refused token or a rate limit is about the provider; a refusal may be about one zone, since tokens can be narrowed to zones. */
export async function guarded<T>(read: () => Promise<T>, skewMs: () => number): Promise<T | UnreadDNS> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure === "unauthorized" || error.failure === "rate-limited")
      throw error;
    if (error.failure === "put-off" && error.notBeforeMs !== undefined)
      return { ...away(error.message), putOffUntilMs: error.notBeforeMs + skewMs() };
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
  /** Each name as it is written with its zone, once. */
  readonly asked: readonly string[];
  /** The names within one zone, as far as the way it is written tells them. */
  readonly writtenIn: (text: string) => readonly string[];
  /** The names within one zone once that is found, canonical and once. */
  readonly namesIn: (text: string, zone: Zone) => readonly string[];
  /** The addresses that status has under a name, by FQDN. */
  readonly remembered: ReadonlyMap<string, readonly string[]>;
  /** The addresses under names that the status of a ready object has. What is on record of others may only be what was about to be written. */
  readonly settled: ReadonlyMap<string, readonly string[]>;
}

/** Collects what objects ask for, and the names they had before where their records are to be cleaned. Pure. */
function wantedNames({ name: provider, pools, recordSets, registry, servesLast = false }: WantedOptions): WantedNames {
  const wishes = wishesOf({ pools, recordSets, registry }).filter(isNamedAt(provider));
  const last = ({ status }: Pool | RecordSet): readonly PublishedName[] => (servesLast ? publishedNames(status) : []);
  const former = [...pools, ...recordSets]
    .flatMap((object) => [...cleanable(object), ...last(object)])
    .filter((name) => name.provider === provider);
  const published = [...pools, ...recordSets]
    .flatMap(({ status }) => rememberedNames(status))
    .filter((name) => name.provider === provider);
  const byZone = Map.groupBy(wishes, ({ zone }) => zone);
  const ready = [...pools, ...recordSets].filter(isReady).flatMap(({ status }) => publishedNames(status));
  return {
    remembered: addressesByName(published),
    settled: addressesByName(ready.filter((name) => name.provider === provider)),
    zones: [...new Set([...wishes, ...former].map(({ zone }) => zone))],
    asked: [
      ...new Set([
        ...wishes.map(({ zone, recordName, recordType: type }) => `${setText({ fqdn: recordName, type })} ${zone}`),
        ...former.map(({ zone, name }) => `${name}. ${zone}`),
      ]),
    ].toSorted(compareText),
    writtenIn: (text) => presentNames(byZone.get(text) ?? [], text),
    namesIn: (text, zone) => {
      const past = former.filter((name) => name.zone === text).map(({ name }) => name);
      return [...new Set([...presentNames(byZone.get(text) ?? [], zone.name), ...past])];
    },
  };
}

function presentNames(wishes: readonly NamedWish[], zoneName: string | undefined): readonly string[] {
  return wishes.flatMap(({ recordName, recordType: type }) => {
    const resolved = recordFQDN(recordName, zoneName);
    return resolved.kind === "name" ? [setText({ fqdn: resolved.fqdn, type })] : [];
  });
}

/** What all objects ask for, each type of records by itself. */
function wishesOf({
  pools,
  recordSets,
  registry,
}: Pick<ReadNamesOptions, "pools" | "recordSets" | "registry">): readonly DNSWish[] {
  return [
    ...pools.map((pool) => poolWish(pool, registry)),
    ...recordSets.flatMap((own) => recordTypesOf(own).map((type) => recordSetWish(own, registry, type))),
  ];
}

function addressesByName(names: readonly PublishedName[]): ReadonlyMap<string, readonly string[]> {
  const byName = Map.groupBy(names, ({ name }) => name);
  return new Map([...byName].map(([name, all]) => [name, [...new Set(all.flatMap(({ addresses }) => addresses))]]));
}

function isReady({ status, meta }: Pool | RecordSet): boolean {
  return (
    status.observedGeneration === meta.generation &&
    status.conditions.some(({ type, status: state }) => type === "Ready" && state === "True")
  );
}

function isNamedAt(provider: string): (wish: DNSWish) => wish is NamedWish {
  return (wish): wish is NamedWish => wish.kind === "named" && wish.provider === provider;
}

function cleanable({ spec, status }: Pool | RecordSet): readonly PublishedName[] {
  return spec.reclaimPolicy === "Delete" ? rememberedNames(status) : [];
}
