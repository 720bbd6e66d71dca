import {
  acceptedTTL,
  canonicalDNSName,
  canonicalZone,
  type DNSFacts,
  type OwnerFact,
  type RecordName,
  type RecordSetState,
  recordFQDN,
  recordsKey,
  type TTLRules,
  type UnreadDNS,
  type Zone,
  type ZoneFact,
} from "../../model/dns.ts";
import type { Refusal } from "../../model/errors.ts";
import { nearest } from "../../model/nearest.ts";
import type { ProviderRegistry } from "../../model/provider.ts";
import { asksFor, type RecordType, recordTypeOf, setText } from "../../model/record-types.ts";
import {
  DEFAULT_FOREIGN_RECORDS,
  type DNSRecordSetSpec,
  FOREIGN_RECORDS,
  type ForeignRecordsPolicy,
  ipFamilyOf,
  type Pool,
  type RecordSet,
  shownText,
} from "../../model/resource.ts";

/** The name an object publishes under, found at its provider; or why nothing can be published. */
export type NameTarget = { readonly kind: "none" } | BlockedTarget | ReadyTarget;

/** Nothing can be written in this pass. */
export interface BlockedTarget {
  readonly kind: "blocked";
  /** `invalid`: no name can be made of the wish. `taken`: another object owns it. `ungranted`: its namespace is not granted it. `no-zone`: the account has no such zone. Else the records are not known. */
  readonly cause: "invalid" | "taken" | "ungranted" | "no-zone" | Refusal["kind"];
  readonly detail: string;
  readonly needsPerson: boolean;
  readonly notBeforeMs?: number;
  /** Set where the name is known all the same: claims are made with it. */
  readonly name?: TargetName;
}

/** A name at a provider. */
export interface TargetName {
  readonly provider: string;
  readonly zone: string;
  /** As of {@link setText}: the set of records that is meant. */
  readonly fqdn: string;
}

/** The records are known and may be written. */
export interface ReadyTarget {
  readonly kind: "ready";
  readonly name: TargetName;
  readonly zone: Zone;
  readonly ttlSeconds: number;
  readonly ttlRules: TTLRules;
  /** The TTL as written, where the provider accepts no such low or high one. */
  readonly writtenTTL?: number;
  readonly records: RecordSetState;
  /** Addresses that this pass took out of the name. Absent = none. */
  readonly removed?: readonly string[];
  /** True where the records are those of the status: the name was not looked at. */
  readonly isPutOff?: true;
  /** Whose the name is; absent where nobody has looked. */
  readonly owner?: OwnerFact;
  /** Set where somebody has been looking for long. */
  readonly isOwnerLate?: true;
  /** Why nothing may be written all the same. */
  readonly unusable?: BlockedTarget;
}

/** Finds the name of a wish among what was read of its provider. Pure. */
export function nameTarget(wish: DNSWish, dns: ReadonlyMap<string, DNSFacts>): NameTarget {
  if (wish.kind === "none") return wish;
  if (wish.kind === "invalid") return { kind: "blocked", cause: "invalid", detail: wish.error, needsPerson: true };
  const facts = dns.get(wish.provider);
  const zone = facts?.zones.get(wish.zone);
  const resolved = recordFQDN(wish.recordName, zoneName(wish, zone));
  if (zone?.kind === "known" && resolved.kind === "invalid")
    return { kind: "blocked", cause: "invalid", detail: resolved.error, needsPerson: true };
  const name = resolvedName(wish, resolved);
  return facts === undefined || zone === undefined || zone.kind !== "known" || name === undefined
    ? { ...obstacle(wish, facts, zone), ...(name === undefined ? {} : { name }) }
    : withRecords(wish, facts, zone.zone, name);
}

/** The name that a wish means, as far as the spec and what was read of its zone tell; undefined where that is none. As {@link nameTarget} has it. Pure. */
export function targetName(wish: DNSWish, dns: ReadonlyMap<string, DNSFacts>): TargetName | undefined {
  if (wish.kind !== "named") return undefined;
  const zone = dns.get(wish.provider)?.zones.get(wish.zone);
  return resolvedName(wish, recordFQDN(wish.recordName, zoneName(wish, zone)));
}

function resolvedName(wish: NamedWish, resolved: RecordName): TargetName | undefined {
  if (resolved.kind !== "name") return undefined;
  return { provider: wish.provider, zone: wish.zone, fqdn: setText({ fqdn: resolved.fqdn, type: wish.recordType }) };
}

/** True where another object owns the name. Pure. */
export function isTaken(target: NameTarget): boolean {
  return target.kind === "blocked" && target.cause === "taken";
}

/** True where the records could not be read, or not be asked for, in this pass. Pure. */
export function isUnread(target: NameTarget): target is BlockedTarget {
  return (target.kind === "blocked" && target.cause === "no-access") || isPassing(target);
}

/** True where the records may be read in a later pass without anybody's help. Pure. */
export function isPassing(target: NameTarget): target is BlockedTarget {
  return target.kind === "blocked" && (target.cause === "unanswered" || target.cause === "rate-limited");
}

/** The zone's name, as it was read or is written; undefined while only its id is known. */
function zoneName({ zone: text, isZoneID }: NamedWish, zone: ZoneFact | undefined): string | undefined {
  if (zone?.kind === "known") return zone.zone.name;
  return isZoneID ? undefined : text;
}

function obstacle(wish: NamedWish, facts: DNSFacts | undefined, zone: ZoneFact | undefined): BlockedTarget {
  const blocked = { kind: "blocked" as const, needsPerson: false };
  if (facts?.unusable !== undefined) {
    const { kind: cause, message, notBeforeMs } = facts.unusable;
    const until = notBeforeMs === undefined ? {} : { notBeforeMs };
    return { ...blocked, cause, detail: message, needsPerson: cause === "no-access", ...until };
  }
  if (zone?.kind === "missing")
    return {
      ...blocked,
      cause: "no-zone",
      detail: `${wish.provider} shows no zone ${wish.zone} to this token${shownInstead(wish.zone, zone.near, facts)}`,
      needsPerson: true,
    };
  return zone?.kind === "gap" ? unread(zone) : { ...blocked, cause: "unanswered", detail: "it was not read" };
}

/** Returns `; it shows example.net` where a zone is there that is written nearly so, by the account or by another object; else nothing. */
function shownInstead(zone: string, near: string | undefined, facts: DNSFacts | undefined): string {
  const known = [...(facts?.zones.values() ?? [])].flatMap((fact) =>
    fact.kind === "known" ? (fact.zone.name ?? []) : [],
  );
  const meant = near ?? nearest(zone, known.toSorted(), MOST_MISTYPED);
  return meant === undefined ? "" : `; it shows ${meant}`;
}

/** So many letters may differ where somebody mistyped a zone. */
const MOST_MISTYPED = 2;

function unread({ error, isRefused, putOffUntilMs }: UnreadDNS): BlockedTarget {
  if (putOffUntilMs !== undefined)
    return { kind: "blocked", cause: "rate-limited", detail: error, needsPerson: false, notBeforeMs: putOffUntilMs };
  const cause = isRefused ? "no-access" : "unanswered";
  return { kind: "blocked", cause, detail: error, needsPerson: isRefused };
}

function withRecords(wish: NamedWish, facts: DNSFacts, zone: Zone, name: TargetName): NameTarget {
  const fact = facts.records.get(recordsKey(zone, name.fqdn));
  if (fact?.kind !== "known") {
    const why = facts.unusable === undefined && fact !== undefined ? unread(fact) : obstacle(wish, facts, undefined);
    return { ...why, name };
  }
  const unusable = facts.unusable === undefined ? {} : { unusable: obstacle(wish, facts, undefined) };
  const ttlSeconds = acceptedTTL(wish.ttlSeconds, facts.ttlRules);
  const written = ttlSeconds === wish.ttlSeconds ? {} : { writtenTTL: wish.ttlSeconds };
  const { records, removed, putOffUntilMs } = fact;
  const reading = {
    ...(removed === undefined ? {} : { removed }),
    ...(putOffUntilMs === undefined ? {} : { isPutOff: true as const }),
  };
  const { ttlRules } = facts;
  const owner = ownerFact(facts, recordsKey(zone, name.fqdn));
  return { kind: "ready", name, zone, ttlSeconds, ttlRules, records, ...reading, ...owner, ...written, ...unusable };
}

function ownerFact(
  { owners, isRehearsed, isOwnerLate }: DNSFacts,
  key: string,
): Pick<ReadyTarget, "owner" | "isOwnerLate"> {
  const owner: OwnerFact | undefined = owners?.get(key) ?? (isRehearsed === true ? { kind: "known" } : undefined);
  if (owner !== undefined) return { owner };
  return isOwnerLate === true ? { isOwnerLate } : {};
}

/** Where an object asks to be published, as far as the spec alone tells. */
export type DNSWish = { readonly kind: "none" } | InvalidWish | NamedWish;

/** A wish that no name can be made of. */
export interface InvalidWish {
  readonly kind: "invalid";
  readonly error: string;
  readonly part: WishPart;
  /** Where the part stands: `spec.dnsRecordSet.zone`. */
  readonly path: string;
}

/** The parts of a wish: its provider, whether it is complete, its zone, and what happens to foreign records. */
export type WishPart = "provider" | "completeness" | "zone" | "foreignRecords";

/** A wish whose provider is known and whose zone could be one. */
export interface NamedWish {
  readonly kind: "named";
  readonly provider: string;
  /** Lower case without trailing dot: a zone's name, or its id. */
  readonly zone: string;
  /** True for an id, which says nothing of the zone's name. */
  readonly isZoneID: boolean;
  /** As written. */
  readonly recordName: string;
  readonly recordType: RecordType;
  readonly ttlSeconds: number;
  readonly foreignRecords: ForeignRecordsPolicy;
}

/** Where a pool asks to be published; nowhere once it is being deleted. The texts are the Go operator's. Pure. */
export function poolWish(
  { meta, spec }: { readonly meta: Pool["meta"]; readonly spec: Pick<Pool["spec"], "provider" | "dnsRecordSet"> },
  registry: ProviderRegistry,
): DNSWish {
  if (spec.dnsRecordSet === undefined || meta.isDeleting) return { kind: "none" };
  const recordType = recordTypeOf(ipFamilyOf(spec));
  return checkedWish(dnsProvider(spec.dnsRecordSet, registry), spec.dnsRecordSet, registry, { recordType });
}

/** Where a record set asks for records of a type; nowhere where it asks for none, and once it is being deleted. Pure. */
export function recordSetWish(
  { meta, spec }: Pick<RecordSet, "meta" | "spec">,
  registry: ProviderRegistry,
  recordType: RecordType = "A",
): DNSWish {
  if (meta.isDeleting || !asksFor(spec, recordType)) return { kind: "none" };
  const { provider: inner } = spec.dnsRecordSet;
  if (spec.provider !== "" && inner !== "" && spec.provider !== inner)
    return invalidWish(
      "provider",
      "provider",
      `provider "${spec.provider}" and dnsRecordSet.provider "${inner}" differ`,
    );
  const isOuter = inner === "" && spec.provider !== "";
  return checkedWish(dnsProvider(spec.dnsRecordSet, registry, spec.provider), spec.dnsRecordSet, registry, {
    providerAt: isOuter ? "provider" : undefined,
    recordType,
  });
}

/** Where a record set asks to be published, whatever the type of its records. Pure. */
export function statedWish(recordSet: Pick<RecordSet, "meta" | "spec">, registry: ProviderRegistry): DNSWish {
  return recordSetWish(recordSet, registry, asksFor(recordSet.spec, "A") ? "A" : "AAAA");
}

/** Returns the DNS provider that a spec means. `beside` is the provider that a record set may name beside `dnsRecordSet`; what a pool names there is of its addresses. Pure. */
export function dnsProvider(
  { provider }: Pick<DNSRecordSetSpec, "provider">,
  { defaultDNS }: Pick<ProviderRegistry, "defaultDNS">,
  beside = "",
): string {
  return beside || provider || defaultDNS;
}

/** `Adopt, Hold or Share`. */
const POLICIES = FOREIGN_RECORDS.join(", ").replace(/, (?=[^,]*$)/, " or ");

/** How a wish is read. */
interface WishOptions {
  /** Where below `spec` the provider stands. Absent = in `dnsRecordSet`. */
  readonly providerAt?: string | undefined;
  readonly recordType?: RecordType;
}

function checkedWish(
  provider: string,
  { zone, recordName, ttlSeconds, foreignRecords: asked = DEFAULT_FOREIGN_RECORDS }: DNSRecordSetSpec,
  registry: ProviderRegistry,
  { providerAt = "dnsRecordSet.provider", recordType = "A" }: WishOptions = {},
): DNSWish {
  const traits = registry.get(provider);
  if (traits === undefined) return invalidWish("provider", providerAt, `unknown provider "${provider}"`);
  if (traits.dns === undefined)
    return invalidWish("provider", providerAt, `provider "${provider}" does not provide DNS`);
  if (zone === "" || recordName === "")
    return invalidWish("completeness", "dnsRecordSet", "invalid dnsRecordSet specification");
  if (canonicalDNSName(zone) === undefined) {
    const error = `invalid dnsRecordSet specification: zone "${zone}" is not a DNS name`;
    return invalidWish("zone", "dnsRecordSet.zone", error);
  }
  const foreignRecords = FOREIGN_RECORDS.find((policy) => policy === asked);
  if (foreignRecords === undefined) {
    const error = `foreignRecords "${shownText(asked)}" must be ${POLICIES}`;
    return invalidWish("foreignRecords", "dnsRecordSet.foreignRecords", error);
  }
  const canonical = canonicalZone(zone);
  const isZoneID = registry.isZoneID(provider, canonical);
  return { kind: "named", provider, zone: canonical, isZoneID, recordName, recordType, ttlSeconds, foreignRecords };
}

function invalidWish(part: WishPart, field: string, error: string): InvalidWish {
  return { kind: "invalid", error, part, path: `spec.${field}` };
}
