import type { DesiredRecordSet, RecordSetState, Zone } from "../../src/ports/dns-provider.ts";

/** One record of a zone. */
export interface MemoryRecord {
  /** Canonical. */
  readonly fqdn: string;
  readonly type: string;
  readonly content: string;
  readonly ttlSeconds: number;
}

/** A zone of the memory provider: single records in the order they were made. */
export class MemoryZone {
  /** As the port shows it. */
  readonly zone: Zone;
  readonly name: string;
  records: MemoryRecord[] = [];
  private readonly automatic = new Set<string>();

  constructor(name: string, zone: Zone) {
    this.name = name;
    this.zone = zone;
  }

  /** Lets the provider decide the TTL of a name, as a proxied one has it at Cloudflare. */
  setTTLAutomatic(fqdn: string, isAutomatic: boolean): void {
    if (isAutomatic) this.automatic.add(fqdn);
    else this.automatic.delete(fqdn);
  }

  /** True when an A record of this name is not possible. */
  hasCNAME(fqdn: string): boolean {
    return this.records.some((record) => record.fqdn === fqdn && record.type === "CNAME");
  }

  /** The A records of a name as the port shows them. */
  stateOf(fqdn: string): RecordSetState {
    const current = this.addressRecords(fqdn);
    const addresses = [...new Set(current.map((record) => record.content))].sort();
    const ttls = new Set(current.map((record) => record.ttlSeconds));
    const [ttlSeconds] = ttls;
    const isTTLAutomatic = this.automatic.has(fqdn);
    return {
      fqdn,
      addresses,
      isTTLAutomatic,
      hasDuplicates: addresses.length < current.length,
      ...(ttlSeconds === undefined || ttls.size > 1 || isTTLAutomatic ? {} : { ttlSeconds }),
    };
  }

  /** The single changes that make the set the desired one, in order: adds, the TTL of the set, removals. Nothing is changed yet. */
  changes(fqdn: string, { addresses, ttlSeconds }: DesiredRecordSet): readonly (() => void)[] {
    const current = this.addressRecords(fqdn);
    const kept = addresses.flatMap((ip) => current.find((record) => record.content === ip) ?? []);
    const missing = addresses.filter((ip) => !kept.some((record) => record.content === ip));
    const isTTLOff = !this.automatic.has(fqdn) && kept.some((record) => record.ttlSeconds !== ttlSeconds);
    return [
      ...missing.map((content) => () => void this.records.push({ fqdn, type: "A", content, ttlSeconds })),
      ...(isTTLOff ? [() => this.setTTL(fqdn, ttlSeconds)] : []),
      ...current
        .filter((record) => !kept.includes(record))
        .map(
          ({ content }) =>
            () =>
              this.removeLast(fqdn, content),
        ),
    ];
  }

  private addressRecords(fqdn: string): readonly MemoryRecord[] {
    return this.records.filter((record) => isAddressOf(record, fqdn));
  }

  private setTTL(fqdn: string, ttlSeconds: number): void {
    this.records = this.records.map((record) => (isAddressOf(record, fqdn) ? { ...record, ttlSeconds } : record));
  }

  /** The one that is kept of several comes first. */
  private removeLast(fqdn: string, content: string): void {
    const at = this.records.findLastIndex((record) => isAddressOf(record, fqdn) && record.content === content);
    if (at >= 0) this.records.splice(at, 1);
  }
}

function isAddressOf(record: MemoryRecord, fqdn: string): boolean {
  return record.fqdn === fqdn && record.type === "A";
}
