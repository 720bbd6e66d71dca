import { canonicalAddress } from "./address.ts";
import type { Refusal } from "./errors.ts";
import type { ExternalOwner } from "./external-dns.ts";
import { compareText } from "./resource.ts";

/** A DNS zone as a provider knows it. `name` is lower case without trailing dot; absent when the token may not read it (Cloudflare zone ids). */
export interface Zone {
  /** The provider's handle: the zone's name at DigitalOcean, its id at Cloudflare. */
  readonly id: string;
  readonly name?: string;
}

/** The address records of one set, canonical: addresses sorted and unique, one TTL for the set. */
export interface RecordSetState {
  /** `setText`. */
  readonly fqdn: string;
  /** Sorted by text, unique; empty = the name has no record of the type. */
  readonly addresses: readonly string[];
  /** Seconds, when all records agree; absent without records, when they differ, or when the provider decides it (`isTTLAutomatic`). */
  readonly ttlSeconds?: number;
  /** True when the provider ignores a TTL for this set (a proxied set at Cloudflare): then TTLs are not compared. */
  readonly isTTLAutomatic: boolean;
  /** True when the same address stands in more than one record: a difference to repair. */
  readonly hasDuplicates: boolean;
  /** Each record by itself, sorted; only where the above does not tell: an address stands twice, or TTLs differ. */
  readonly records?: readonly RecordContent[];
}

/** One A record. */
export interface RecordContent {
  readonly address: string;
  readonly ttlSeconds: number;
}

/** What becomes of the records of a name that a change is not about, and that it leaves as they are. */
export interface OtherRecords {
  /** Their addresses as they were seen; sorted. */
  readonly addresses: readonly string[];
  /** What there must be of them when the change is made: `none` where nothing is to be published beside others, `some` where a name would else be left empty. */
  readonly expected: "any" | "none" | "some";
}

/** For how long resolvers keep records whose TTL the provider decides, seconds: Cloudflare's `automatic`. @see https://developers.cloudflare.com/dns/manage-dns-records/reference/ttl/ (verified 2026-11-21) */
export const AUTOMATIC_TTL_SECONDS = 300;
/** The TTL by which a record says that the provider decides it. */
export const AUTOMATIC_TTL = 1;

/** Returns for how long resolvers keep what has this TTL, seconds. Pure. */
export function meantSeconds(ttlSeconds: number): number {
  return ttlSeconds === AUTOMATIC_TTL ? AUTOMATIC_TTL_SECONDS : ttlSeconds;
}

/** What the A records of a name should be. */
export interface DesiredRecordSet {
  /** Sorted by text, unique; empty = remove all A records of the name. */
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
}

/** What could be read of a zone that some object names. */
export type ZoneFact = { readonly kind: "known"; readonly zone: Zone } | MissingZone | UnreadDNS;

/** A zone that the token does not see. */
export interface MissingZone {
  readonly kind: "missing";
  /** The zone that it sees and that is written nearly so. Absent = none is known. */
  readonly near?: string;
}

/** What could be read of the A records of a name. */
export type RecordsFact =
  | {
      readonly kind: "known";
      readonly records: RecordSetState;
      /**
       * Set if the name was not looked at, because the calls that are left are kept for more urgent ones. Then the records are those that the status of its object has. The
       * name is looked at after this time, milliseconds of the API server's clock.
       */
      readonly putOffUntilMs?: number;
      /** Addresses that changes of this pass took out of the name. Absent = none. */
      readonly removed?: readonly string[];
    }
  | UnreadDNS;

/** Whose a name is by the marks of its zone, as far as was read. */
export type OwnerFact = { readonly kind: "known"; readonly owner?: ExternalOwner } | UnreadDNS;

/** Could not be read in this pass. `isRefused` = the token may not: only a person can mend it. */
export interface UnreadDNS {
  readonly kind: "gap";
  readonly error: string;
  readonly isRefused: boolean;
  /** True when nothing came back at all. */
  readonly isUnanswered?: boolean;
  /** Set where it was not asked for, because the calls that are left are kept for what is more urgent: when it may be asked for, milliseconds of the API server's clock. */
  readonly putOffUntilMs?: number;
}

/** What could be read of one DNS provider in this pass. */
export interface DNSFacts {
  /** `digitalocean` or `cloudflare`. */
  readonly name: string;
  /** Absent = usable. Else nothing more could be read, and nothing may be changed. */
  readonly unusable?: Refusal;
  readonly ttlRules: TTLRules;
  /** True when a changed set costs one call beside the read; else one per record. */
  readonly isBatched: boolean;
  /** {@link canonicalZone} of the zone as objects write it → what was found. */
  readonly zones: ReadonlyMap<string, ZoneFact>;
  /** {@link recordsKey} → what was read. */
  readonly records: ReadonlyMap<string, RecordsFact>;
  /** {@link recordsKey} → whose the name is. Absent = nobody has looked: only at a name that is about to be taken somebody does. */
  readonly owners?: ReadonlyMap<string, OwnerFact>;
  /** Set where somebody has been looking for long whose names are: what cannot wait goes first. */
  readonly isOwnerLate?: true;
  /** Set in a rehearsal, where nobody can look: a name that nobody has looked at belongs to nobody there. */
  readonly isRehearsed?: true;
  /** The first name that was put off, as {@link lookKey}: the next look begins there. Absent = none was. */
  readonly lookFrom?: string;
}

/** Which TTLs a DNS provider accepts, seconds. */
export interface TTLRules {
  /** Lower ones are raised to it. */
  readonly minimumSeconds: number;
  /** Higher ones are lowered to it. */
  readonly maximumSeconds: number;
  /** The value below the minimum that means "the provider decides"; absent where there is none. */
  readonly automaticSeconds?: number;
  /** True where all records of a name have one TTL, whatever their type. */
  readonly isOfName?: true;
}

/** The map key of a name's records within one provider. */
export function recordsKey(zone: Zone, fqdn: string): string {
  return `${zone.id} ${fqdn}`;
}

/** Where a name has its place in the order of looks: the zone as objects write it, and the FQDN; `""` for the zone itself. */
export function lookKey(zoneText: string, fqdn: string): string {
  return `${zoneText} ${fqdn}`;
}

/** A zone as an object writes it, lower case without trailing dot. */
export function canonicalZone(text: string): string {
  return text.toLowerCase().replace(/\.$/, "");
}

/** Returns the part of a set that these addresses have. Pure. */
export function partOf(set: RecordSetState, isPart: (address: string) => boolean): RecordSetState {
  const { fqdn, isTTLAutomatic } = set;
  const addresses = set.addresses.filter(isPart);
  const records = contentsOf(set).filter(({ address }) => isPart(address));
  return recordSetOf({ fqdn, addresses, isTTLAutomatic }, records);
}

/** Returns each record of a set; none where the TTL of several is not known. Pure. */
function contentsOf({ records, addresses, ttlSeconds }: RecordSetState): readonly RecordContent[] {
  return records ?? (ttlSeconds === undefined ? [] : addresses.map((address) => ({ address, ttlSeconds })));
}

/** Returns a set with what its records say of TTLs and duplicates. `records` may be empty where nothing is known of them. Pure. */
export function recordSetOf(
  set: Pick<RecordSetState, "fqdn" | "addresses" | "isTTLAutomatic">,
  records: readonly RecordContent[],
): RecordSetState {
  const { fqdn, addresses, isTTLAutomatic } = set;
  const [ttlSeconds, ...otherTTLs] = new Set(records.map((record) => record.ttlSeconds));
  const isOneTTL = !isTTLAutomatic && ttlSeconds !== undefined && otherTTLs.length === 0;
  const hasDuplicates = records.length > addresses.length;
  const isMixed = hasDuplicates || (!isTTLAutomatic && otherTTLs.length > 0);
  return {
    fqdn,
    addresses,
    ...(isOneTTL ? { ttlSeconds } : {}),
    isTTLAutomatic,
    hasDuplicates,
    ...(isMixed ? { records: records.map(contentOf).toSorted(byContent) } : {}),
  };
}

function contentOf({ address, ttlSeconds }: RecordContent): RecordContent {
  return { address, ttlSeconds };
}

function byContent(a: RecordContent, b: RecordContent): number {
  return compareText(a.address, b.address) || a.ttlSeconds - b.ttlSeconds;
}

/**
 * Returns the TTL that records get beside those of others, as far as the provider accepts it. The lowest one wins: a TTL that others lowered is never raised. A TTL
 * that means the same as the own one counts as it. Pure.
 */
export function sharedTTL(ttlSeconds: number, others: RecordSetState, rules: TTLRules): number {
  const meant = (ttl: number): number => (ttl === rules.automaticSeconds ? meantSeconds(ttl) : ttl);
  const own = acceptedTTL(ttlSeconds, rules);
  const ttls = others.isTTLAutomatic ? [] : contentsOf(others).map((record) => acceptedTTL(record.ttlSeconds, rules));
  return ttls.reduce((lowest, ttl) => (meant(ttl) < meant(lowest) ? ttl : lowest), own);
}

/** Returns the addresses of the first list that the second one lacks, in their order. A name may have a thousand, and is asked of in every plan. Pure. */
export function addressesWithout(addresses: readonly string[], others: readonly string[]): readonly string[] {
  if (addresses === others || addresses.length === 0) return [];
  if (others.length === 0) return addresses;
  const known = new Set(others);
  return addresses.filter((ip) => !known.has(ip));
}

/** The TTLs that DNS itself knows: 31 bits of seconds. @see https://www.rfc-editor.org/rfc/rfc2181#section-8 */
export const ANY_TTL: TTLRules = { minimumSeconds: 0, maximumSeconds: 2_147_483_647 };

/** The TTL a set gets at a provider, seconds: as written, or the least or the most it accepts. */
export function acceptedTTL(ttlSeconds: number, rules: TTLRules): number {
  if (ttlSeconds === rules.automaticSeconds) return ttlSeconds;
  return Math.min(Math.max(ttlSeconds, rules.minimumSeconds), rules.maximumSeconds);
}

/** Addresses in the one order of record sets: canonical ones only, sorted by text, unique. */
export function recordAddresses(addresses: Iterable<string>): readonly string[] {
  return [...new Set([...addresses].filter((address) => canonicalAddress(address) === address))].toSorted();
}

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const DNS_NAME = new RegExp(String.raw`^(?:\*|${LABEL})(?:\.${LABEL})*$`);

/**
 * A DNS name in lower case without its last dot; undefined when it is none: an empty label, one of more than 63 characters or
 * with others than letters, digits, `-` and `_`, more than 253 characters in all. `*` may be the first label. Pure.
 */
export function canonicalDNSName(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, "");
  return name.length <= 253 && DNS_NAME.test(name) ? name : undefined;
}

/** The name that a record of this FQDN has inside the zone, `@` for the zone itself; undefined outside the zone. Both canonical. Pure. */
export function relativeName(zone: string, fqdn: string): string | undefined {
  if (fqdn === zone) return "@";
  return fqdn.endsWith(`.${zone}`) ? fqdn.slice(0, -zone.length - 1) : undefined;
}

/** The name a record set has, or why there is none. */
export type RecordName =
  | { readonly kind: "name"; readonly fqdn: string }
  | { readonly kind: "invalid"; readonly error: string };

/**
 * The FQDN that `recordName` means in a zone, the same at every provider: `@` is the zone itself, a name under the zone is taken as it is, any other is relative
 * to the zone. Without the zone's name (a Cloudflare id whose zone the token may not read) a dotted name is taken as full. Pure.
 */
export function recordFQDN(recordName: string, zoneName: string | undefined): RecordName {
  const isAbsolute = recordName.endsWith(".");
  const name = recordName === "@" ? "@" : canonicalDNSName(recordName);
  if (name === undefined) return { kind: "invalid", error: `recordName "${recordName}" is not a DNS name` };
  if (zoneName === undefined) {
    if (name.includes(".")) return { kind: "name", fqdn: name };
    return {
      kind: "invalid",
      error: `recordName "${recordName}" must be written in full, because the token may not read the zone's name`,
    };
  }
  if (name === "@" || name === zoneName) return { kind: "name", fqdn: zoneName };
  if (name.endsWith(`.${zoneName}`)) return { kind: "name", fqdn: name };
  if (isAbsolute) return { kind: "invalid", error: `recordName "${recordName}" is outside the zone ${zoneName}` };
  const fqdn = canonicalDNSName(`${name}.${zoneName}`);
  return fqdn === undefined
    ? { kind: "invalid", error: `recordName "${recordName}" is too long for the zone ${zoneName}` }
    : { kind: "name", fqdn };
}
