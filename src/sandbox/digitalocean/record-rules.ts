import { canonicalIPv4 } from "../../model/address.ts";
import { unprocessable } from "./cloud-refusal.ts";
import { type DomainState, type RecordState, type RecordType, recordFQDN, recordTypes } from "./domain-state.ts";

/** What a request says about a record. */
export type RecordRequest = Partial<Omit<RecordState, "id" | "type">> & { readonly type?: string };

const leastTTLSeconds = 30;
const pointsAtName: readonly string[] = ["CNAME", "MX", "NS", "SRV"];

/**
 * The record as it would be kept. `self` is the record that is being changed.
 * @throws CloudRefusal 422 when it cannot be; duplicates can. Of the texts only those of the TTL and of CNAME are known to be
 *   DigitalOcean's own.
 * @see https://github.com/kubernetes-sigs/external-dns/issues/4802 verified 2026-08-07
 */
export function refuseRecord(domain: DomainState, request: RecordRequest, self?: RecordState): Omit<RecordState, "id"> {
  const { name, data, ttl } = request;
  const type = recordTypes.find((item) => item === request.type);
  if (type === undefined) throw unprocessable("Type is not included in the list");
  if (name === undefined || name === "") throw unprocessable("Name can't be blank");
  if (data === undefined || data === "") throw unprocessable("Data can't be blank");
  if (ttl === undefined || ttl < leastTTLSeconds) throw unprocessable("record ttl must be greater than 30");
  refuseName(name);
  refuseData(type, data);
  const record = { ...request, type, name, data, ttl };
  refuseCNAME(domain, record, self);
  return record;
}

function refuseName(name: string): void {
  if (name.endsWith(".")) throw unprocessable("Name must not end with a dot (.)");
  if (name !== "@" && !/^(?:\*|[\w-]+)(?:\.[\w-]+)*$/.test(name)) {
    throw unprocessable("Only valid hostname characters are allowed. (a-z, A-Z, 0-9, - and _)");
  }
}

function refuseData(type: RecordType, data: string): void {
  if (type === "A" && canonicalIPv4(data) === undefined) {
    throw unprocessable("IP address did not match IPv4 format (e.g. 127.0.0.1).");
  }
  if (pointsAtName.includes(type) && !data.endsWith(".")) throw unprocessable("Data needs to end with a dot (.)");
}

function refuseCNAME(domain: DomainState, record: Omit<RecordState, "id">, self: RecordState | undefined): void {
  const fqdn = recordFQDN(domain, record);
  const others = domain.records.filter((item) => item !== self && recordFQDN(domain, item) === fqdn);
  const isApex = record.type === "CNAME" && record.name === "@";
  const clashes = record.type === "CNAME" ? others.length > 0 : others.some((item) => item.type === "CNAME");
  if (isApex || clashes) throw unprocessable("CNAME records cannot share a name with other records");
}
