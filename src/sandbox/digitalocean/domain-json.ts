import type { APIObject } from "./api-json.ts";
import { type DomainState, type RecordState, recordFQDN } from "./domain-state.ts";

/** `domain`; the zone file shows the records in the usual notation. */
export function domainJSON(domain: DomainState): APIObject {
  const lines = domain.records.map(
    (record) => `${recordFQDN(domain, record)}. ${record.ttl} IN ${record.type} ${record.data}\n`,
  );
  const soa = `IN SOA ns1.digitalocean.com. hostmaster.${domain.name}. 1415982609 10800 3600 604800 1800\n`;
  const zoneFile = `$ORIGIN ${domain.name}.\n$TTL ${domain.ttl}\n${domain.name}. ${soa}${lines.join("")}`;
  return { name: domain.name, ttl: domain.ttl, zone_file: zoneFile };
}

/** `domain_record`, with null for what its type has no use for. */
export function recordJSON(record: RecordState): APIObject {
  const { id, type, name, data, priority = null, port = null, ttl, weight = null, flags = null, tag = null } = record;
  return { id, type, name, data, priority, port, ttl, weight, flags, tag };
}
