import { canonicalIPv4, canonicalIPv6 } from "./address.ts";
import type { IPFamily } from "./address-source.ts";
import { IP_FAMILIES, NODE_ANNOTATIONS } from "./node-annotations.ts";
import type { DNSMemory, PublishedName, RecordSet } from "./resource.ts";

/** The types of address records: A records hold IPv4 addresses, AAAA records IPv6 addresses. */
export type RecordType = "A" | "AAAA";

/** What a record of each type holds. */
export const RECORD_TYPES: Readonly<Record<RecordType, RecordTypeFacts>> = {
  A: { family: "IPv4", canonical: canonicalIPv4 },
  AAAA: { family: "IPv6", canonical: canonicalIPv6 },
};

interface RecordTypeFacts {
  readonly family: IPFamily;
  /** Returns the address in the one form that flipop writes; undefined where a record of the type cannot hold it. */
  readonly canonical: (text: string) => string | undefined;
}

/** Returns the type of the records that hold addresses of a family. Pure. */
export function recordTypeOf(family: IPFamily): RecordType {
  return family === "IPv4" ? "A" : "AAAA";
}

/** One set of address records: a name and a type. */
export interface RecordSetName {
  /** FQDN in lower case without trailing dot. */
  readonly fqdn: string;
  readonly type: RecordType;
}

/** A status with what is remembered of each type of records. */
export type Remembering = DNSMemory & { readonly ipv6?: DNSMemory };

/** Returns what a status remembers of the records of a type. Pure. */
export function memoryOf(status: Remembering, type: RecordType): DNSMemory {
  return type === "A" || isOfOneType(status) ? status : (status.ipv6 ?? { formerDNS: [] });
}

/** Returns a status that remembers something else of the records of a type. Pure. */
export function withMemory<S extends Remembering>(status: S, type: RecordType, changes: Partial<DNSMemory>): S {
  if (Object.keys(changes).length === 0) return status;
  if (type === "A" || isOfOneType(status)) return { ...status, ...changes };
  return { ...status, ipv6: { ...memoryOf(status, type), ...changes } };
}

/** True for the status of a pool or a RoutedIP: its records are of the one type that its addresses have, and its names say which. */
function isOfOneType(status: Remembering): boolean {
  return "ips" in status;
}

const AAAA_SUFFIX = " AAAA";

/**
 * Returns a set of records as one text, as people are shown it: the FQDN alone is the set of A records, `www.example.com AAAA` that of AAAA records. Wherever flipop
 * says `fqdn` of records it means this text: the sets of one name have nothing to do with each other. Pure.
 */
export function setText({ fqdn, type }: RecordSetName): string {
  return type === "A" ? fqdn : `${fqdn}${AAAA_SUFFIX}`;
}

/** Returns the set of records that a text of {@link setText} names. Pure. */
export function setNamed(text: string): RecordSetName {
  return text.endsWith(AAAA_SUFFIX)
    ? { fqdn: text.slice(0, -AAAA_SUFFIX.length), type: "AAAA" }
    : { fqdn: text, type: "A" };
}

/**
 * True where a record set publishes addresses of the family that records of this type hold. Without a list, or with an empty one, that is the family of the annotation
 * that `addressType` names, else IPv4. Pure.
 */
export function asksFor({ ipFamilies = [], addressType }: RecordSet["spec"], type: RecordType): boolean {
  const { family } = RECORD_TYPES[type];
  return (ipFamilies.length === 0 ? [annotatedFamily(addressType) ?? "IPv4"] : ipFamilies).includes(family);
}

/** Returns the family of the addresses that a node annotation shows; undefined for any other address type. Pure. */
export function annotatedFamily(addressType: string): IPFamily | undefined {
  return IP_FAMILIES.find((family) => NODE_ANNOTATIONS[family].address === addressType);
}

/** Returns the types of records that a record set has, or had: A first. Pure. */
export function recordTypesOf({ spec, status }: Pick<RecordSet, "spec" | "status">): readonly RecordType[] {
  return asksFor(spec, "AAAA") || status.ipv6 !== undefined ? ["A", "AAAA"] : ["A"];
}

/** Returns every name that a status remembers: of A records, then of AAAA records; each time in the order of {@link namesOf}. Pure. */
export function rememberedNames(status: Remembering): readonly PublishedName[] {
  return status.ipv6 === undefined ? namesOf(status) : [...namesOf(status), ...namesOf(status.ipv6)];
}

/** Returns every name that is remembered of the records of one type: the published one, then former ones. Pure. */
export function namesOf({ formerDNS, publishedDNS }: DNSMemory): readonly PublishedName[] {
  return publishedDNS === undefined ? formerDNS : [publishedDNS, ...formerDNS];
}

/** Returns the names that a status has as published now: with A records, then with AAAA records. Pure. */
export function publishedNames({
  publishedDNS,
  ipv6,
}: Pick<DNSMemory, "publishedDNS"> & { readonly ipv6?: DNSMemory }): readonly PublishedName[] {
  return [publishedDNS ?? [], ipv6?.publishedDNS ?? []].flat();
}
