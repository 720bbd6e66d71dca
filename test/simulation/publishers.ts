import {
  annotatedFamily,
  memoryOf,
  publishedNames,
  RECORD_TYPES,
  type RecordType,
  recordTypeOf,
  rememberedNames,
  setText,
} from "../../src/model/record-types.ts";
import {
  type DNSMemory,
  ipFamilyOf,
  objectKey,
  type Pool,
  type PublishedName,
  type RecordSet,
} from "../../src/model/resource.ts";
import { DNS_NAMES } from "../fake/dns-account.ts";
import type { DNSProviderName } from "./history.ts";
import type { Process } from "./process.ts";
import { isBlocked, isValid } from "./truth.ts";
import type { World } from "./world.ts";

/** An object that publishes addresses, or may. */
export type Publisher = Pool | RecordSet;

/** A name at a provider, as the spec of an object means it. */
export interface WishedName {
  readonly provider: DNSProviderName;
  /** The zone's name. */
  readonly zone: string;
  /** As `setText` has it: a record set of IPv6 addresses is to have AAAA records. */
  readonly fqdn: string;
  /** Seconds, as written. */
  readonly ttl: number;
}

/** Every object that can publish, pools first. */
export function publishers(world: World): readonly Publisher[] {
  return [...world.pools(), ...world.recordSets()];
}

export function isRecordSet(object: Publisher): object is RecordSet {
  return "addressType" in object.spec;
}

/** A name at a provider as a key. */
export function nameKey(provider: string, fqdn: string): string {
  return `${provider} ${fqdn}`;
}

/**
 * Where an object is to be published, by the manual's words and not by the program's code; undefined when nowhere, or when the spec says nothing that could be
 * done.
 */
export function wishOf(world: World, { meta, spec }: Publisher): WishedName | undefined {
  const wanted = spec.dnsRecordSet;
  if (wanted === undefined || meta.isDeleting || wanted.zone === "" || wanted.recordName === "") return undefined;
  const provider = providerOf("addressType" in spec ? spec.provider : "", wanted.provider);
  const isID = /^[0-9a-f]{32}$/.test(wanted.zone);
  const zone = isID && provider !== undefined ? world.dns[provider].zoneName(wanted.zone) : wanted.zone;
  if (provider === undefined || zone === undefined) return undefined;
  const type = typeOf(spec);
  return { provider, zone, fqdn: setText({ fqdn: fqdnOf(wanted.recordName, zone), type }), ttl: wanted.ttlSeconds };
}

/** The records that an object asks for; in these worlds it asks for one type. */
function typeOf(spec: Publisher["spec"]): RecordType {
  if (!("addressType" in spec)) return recordTypeOf(ipFamilyOf(spec));
  const isIPv6 = annotatedFamily(spec.addressType) === "IPv6" || spec.ipFamilies?.includes("IPv6") === true;
  return isIPv6 ? "AAAA" : "A";
}

/** The provider that a spec names outside or inside; undefined when it is none of DNS, or both differ. */
function providerOf(outer: string, inner: string): DNSProviderName | undefined {
  if (outer !== "" && inner !== "" && outer !== inner) return undefined;
  const provider = outer || inner || "digitalocean";
  return DNS_NAMES.find((name) => name === provider);
}

function fqdnOf(recordName: string, zone: string): string {
  if (recordName === "@") return zone;
  return recordName === zone || recordName.endsWith(`.${zone}`) ? recordName : `${recordName}.${zone}`;
}

/** The name an object claims: the one it asks for, or the one it had last where that cannot be told. */
function claimOf(world: World, object: Publisher): string | undefined {
  const { spec, meta, status } = object;
  if (spec.dnsRecordSet === undefined || meta.isDeleting) return undefined;
  const wish = wishOf(world, object);
  if (wish !== undefined) return nameKey(wish.provider, wish.fqdn);
  const { publishedDNS } = memoryOf(status, typeOf(spec));
  return publishedDNS && publishedKey(publishedDNS);
}

/** The claim key of a name that a status remembers. */
export function publishedKey({ provider, name }: PublishedName): string {
  return nameKey(provider, name);
}

/** Every name an object has on record, the last one first. */
export function namesOnRecord({ status }: Publisher): readonly PublishedName[] {
  const last = publishedNames(status);
  return [...last, ...rememberedNames(status).filter((name) => !last.includes(name))];
}

/** What an object has on record of the records that it asks for. */
export function ownMemory({ spec, status }: Publisher): DNSMemory {
  return memoryOf(status, typeOf(spec));
}

/** Who a name can belong to: the object that by status has it, or else all that ask for it. */
export function claimants(world: World, key: string): readonly Publisher[] {
  const all = publishers(world).filter((object) => claimOf(world, object) === key);
  const holders = all.filter(({ status }) => publishedNames(status).some((name) => publishedKey(name) === key));
  return holders.length > 0 ? holders : all;
}

/** True when nothing may be written for the object. */
export function isSilent(world: World, object: Publisher): boolean {
  if (!isRecordSet(object)) return isBlocked(object);
  return object.spec.suspend || !isValidSet(world, object);
}

/** Whether the spec of a record set is one the program can work on. */
export function isValidSet(world: World, object: RecordSet): boolean {
  const { spec, meta } = object;
  const isNameless = wishOf(world, { ...object, meta: { ...meta, isDeleting: false } }) === undefined;
  const isByID = /^[0-9a-f]{32}$/.test(spec.dnsRecordSet.zone);
  const annotated = annotatedFamily(spec.addressType);
  const asked = spec.ipFamilies ?? [];
  const isOfFamily = annotated === undefined || asked.length === 0 || asked.includes(annotated);
  const isNamed = (!isNameless || isByID) && isOfFamily;
  return isNamed && spec.addressType !== "Nothing" && spec.match.nodeLabel !== "role in (";
}

/** True when a run of this process may not write for the object. */
export function isBeyond({ settings }: Process, object: Publisher): boolean {
  return settings.target !== undefined && (isRecordSet(object) || objectKey(object.meta) !== settings.target);
}

/** True when a pool can be worked on, or a record set. */
export function isWorkable(world: World, object: Publisher): boolean {
  return isRecordSet(object) ? isValidSet(world, object) : isValid(object);
}

/** True for an address that an object can publish: of the family that it asks for. */
export function isOfFamily({ spec }: Publisher, address: string): boolean {
  return RECORD_TYPES[typeOf(spec)].canonical(address) === address;
}
