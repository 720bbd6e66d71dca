import type { IPFamily } from "../../model/address-source.ts";
import { canonicalZone, recordFQDN } from "../../model/dns.ts";
import {
  memoryOf,
  type RecordType,
  type Remembering,
  recordTypeOf,
  setNamed,
  setText,
} from "../../model/record-types.ts";
import type { DNSMemory, DNSRecordSetSpec, ObjectMeta, PublishedName } from "../../model/resource.ts";

/** The name an object asks for, as far as its spec and its status tell. */
export interface WrittenName {
  readonly provider: string;
  readonly zone: string;
  readonly recordName: string;
  readonly type: RecordType;
  /** In full, as `setText` has it; absent while it is not known: an invalid one, or one in a zone given by its id. */
  readonly fqdn?: string;
  /** True once its records were written or seen to be right. */
  readonly isPublished: boolean;
}

/** Providers of DNS are `digitalocean` unless the object says otherwise. */
const DEFAULT_PROVIDER = "digitalocean";

/** Returns the name of `dnsRecordSet` with its records of a type; of a record set the provider may stand beside it. `memory` is that of the type. */
export function writtenName(
  spec: DNSRecordSetSpec,
  { publishedDNS }: DNSMemory,
  provider = "",
  type: RecordType = "A",
): WrittenName {
  const { zone, recordName } = spec;
  const written = { provider: provider || spec.provider || DEFAULT_PROVIDER, zone, recordName, type };
  const zoneName = canonicalZone(zone);
  const isID = /^[0-9a-f]{32}$/.test(zoneName);
  const resolved = zone === "" || recordName === "" ? undefined : recordFQDN(recordName, isID ? undefined : zoneName);
  const fqdn = resolved?.kind === "name" ? setText({ fqdn: resolved.fqdn, type }) : undefined;
  const isHere = publishedDNS?.provider === written.provider && canonicalZone(publishedDNS.zone) === zoneName;
  const known = fqdn ?? (isHere && isID ? publishedDNS?.name : undefined);
  const isPublished = isHere && known !== undefined && publishedDNS?.name === known;
  return { ...written, ...(known === undefined ? {} : { fqdn: known }), isPublished };
}

/** Returns the name that an object asks for as it stands in DNS, whatever the type of its records; undefined while it is not known. */
export function wantedFQDN(spec: DNSRecordSetSpec, status: Remembering, provider = ""): string | undefined {
  const names = (["A", "AAAA"] as const).map((type) => writtenName(spec, memoryOf(status, type), provider, type).fqdn);
  const name = names.find((text) => text !== undefined);
  return name === undefined ? undefined : setNamed(name).fqdn;
}

/** Returns the name of an object whose addresses are of one family, as part of its row; nothing where it asks for none, or is being deleted and has left it. */
export function nameOf(
  { dnsRecordSet }: { readonly dnsRecordSet?: DNSRecordSetSpec },
  memory: DNSMemory,
  family: IPFamily,
  { isDeleting }: Pick<ObjectMeta, "isDeleting">,
): { readonly name?: WrittenName } {
  if (dnsRecordSet === undefined || (isDeleting && memory.publishedDNS === undefined)) return {};
  return { name: writtenName(dnsRecordSet, memory, "", recordTypeOf(family)) };
}

/** Returns the names an object published before: those that status lists, and the last one while it is not the one asked for. */
export function formerNames(
  { isPublished }: WrittenName | { readonly isPublished: false },
  memory: DNSMemory,
): readonly PublishedName[] {
  const { publishedDNS, formerDNS } = memory;
  return publishedDNS === undefined || isPublished ? formerDNS : [...formerDNS, publishedDNS];
}

/** Returns `www.example.com`, or as much of it as is known. */
export function nameText({ type, ...name }: WrittenName): string {
  return name.fqdn ?? setText({ fqdn: unresolvedText(name), type });
}

/** Returns a name as it is written, where the full one is not known: `www in zone 0123…`, or which part is missing. */
export function unresolvedText({ zone, recordName }: Pick<WrittenName, "zone" | "recordName">): string {
  if (zone === "") return recordName === "" ? "no zone and no recordName" : `${recordName}, and no zone`;
  return `${recordName || "no recordName"} in zone ${zone}`;
}

/** Returns {@link nameText} on one line, with a note while its records are not known to be written; `-` for none. */
export function wantedName(name: WrittenName | undefined): string {
  if (name === undefined) return "-";
  const isWhole = name.zone !== "" && name.recordName !== "";
  return nameText(name) + (name.isPublished || !isWhole ? "" : " (not yet)");
}
