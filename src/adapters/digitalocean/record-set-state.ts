import type { RecordSetState } from "../../model/dns.ts";
import type { AddressRecord } from "./decode-record.ts";

/** The records of a name in the port's form. Pure. */
export function recordSetState(fqdn: string, records: readonly AddressRecord[]): RecordSetState {
  const addresses = [...new Set(records.map((record) => record.ip))].sort();
  const [ttlSeconds, ...otherTTLs] = new Set(records.map((record) => record.ttlSeconds));
  return {
    fqdn,
    addresses,
    ...(ttlSeconds === undefined || otherTTLs.length > 0 ? {} : { ttlSeconds }),
    isTTLAutomatic: false,
    hasDuplicates: addresses.length < records.length,
  };
}
