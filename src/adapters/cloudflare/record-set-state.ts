import type { RecordSetState } from "../../model/dns.ts";
import type { DNSRecord } from "./dns-record.ts";

/** The records of one name as the port shows them. Pure. One proxied record makes the set proxied, as Cloudflare serves it so. */
export function recordSetState(fqdn: string, records: readonly DNSRecord[]): RecordSetState {
  const addresses = [...new Set(records.map((record) => record.address))].sort();
  const isTTLAutomatic = records.some((record) => record.isProxied);
  const ttls = new Set(records.map((record) => record.ttlSeconds));
  const [ttlSeconds] = ttls;
  const isOneTTL = !isTTLAutomatic && ttls.size === 1 && ttlSeconds !== undefined;
  return {
    fqdn,
    addresses,
    ...(isOneTTL ? { ttlSeconds } : {}),
    isTTLAutomatic,
    hasDuplicates: records.length > addresses.length,
  };
}
