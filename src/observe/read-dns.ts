import { type DNSFacts, type RecordsFact, recordsKey, type UnreadDNS, type Zone, type ZoneFact } from "../model/dns.ts";
import { ProviderError } from "../model/errors.ts";
import type { Pool, RecordSet } from "../model/resource.ts";
import type { DNSProviderReader } from "../ports/dns-provider.ts";
import type { ProviderAccess } from "../ports/provider-access.ts";
import { Attentive } from "./attentive.ts";
import { refusalOf } from "./refusal-of.ts";
import { SkewNotes } from "./skew-notes.ts";
import { unusableWhy } from "./unusable-why.ts";
import { wantedNames } from "./wanted-names.ts";

/** What one DNS provider is asked for. */
export interface ReadDNSOptions {
  readonly name: string;
  readonly access: ProviderAccess<DNSProviderReader>;
  readonly pools: readonly Pool[];
  readonly recordSets: readonly RecordSet[];
  /** No call before this time, as an earlier run was told; milliseconds of the API server's clock. */
  readonly notBeforeMs: number | undefined;
  /** The API server's clock, milliseconds. */
  readonly nowMs: number;
  /** How far it is ahead of the local one at this moment, milliseconds: providers' times are local, an observation's are the server's. */
  readonly skewMs: () => number;
  /** What the last pass left: zones and names in it are not read again. */
  readonly known?: DNSFacts | undefined;
}

/**
 * Reads the zones and names that objects ask for, or why the provider cannot be used; undefined when no object names it. One call per zone, then one filtered list per
 * name, never a scan of a zone. A zone or name that cannot be read is a gap of its own. Never throws for a provider's failure.
 */
export async function readDNS(options: ReadDNSOptions): Promise<DNSFacts | undefined> {
  const { name, access, pools, recordSets, skewMs } = options;
  const wanted = wantedNames(name, pools, recordSets);
  if (wanted.zones.length === 0) return undefined;
  const why = unusableWhy(options);
  if (why !== undefined || access.kind === "no-token") return nothing(name, why);
  const { provider } = access;
  const known = options.known?.unusable === undefined ? options.known : undefined;
  const skews = new SkewNotes(skewMs);
  const attentive = new Attentive(skews);
  const zones = await attentive.all(
    wanted.zones,
    async (zone) => ifKnown(known?.zones.get(zone)) ?? readZone(provider, zone),
    away,
  );
  const names = [...zones].flatMap(([text, fact]) =>
    fact.kind === "known" ? wanted.namesIn(text, fact.zone).map((fqdn) => ({ zone: fact.zone, fqdn })) : [],
  );
  const byKey = new Map(names.map((entry) => [recordsKey(entry.zone, entry.fqdn), entry]));
  const records = await attentive.all(
    [...byKey.keys()],
    async (key) => ifKnown(known?.records.get(key)) ?? readName(provider, byKey.get(key)),
    away,
  );
  const facts = { name, ttlRules: provider.ttlRules, isBatched: provider.isBatched, zones, records };
  const { failure } = attentive;
  return failure === undefined ? facts : { ...facts, unusable: refusalOf(failure, skews.of(failure)) };
}

/** What was not found or not readable before is asked for again. */
function ifKnown<F extends { readonly kind: string }>(fact: F | undefined): F | undefined {
  return fact?.kind === "known" ? fact : undefined;
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
