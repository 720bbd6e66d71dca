import type { RecordSetState, Zone } from "../../src/model/dns.ts";

/** One record of a zone. */
export interface MemoryRecord {
  /** Canonical. */
  readonly fqdn: string;
  readonly type: string;
  readonly content: string;
  readonly ttlSeconds: number;
}

/** A record as the account holds it; a record that is made anew has another id. */
export interface HeldRecord extends MemoryRecord {
  readonly id: number;
}

/** A zone of a memory account: single records in the order they were made. */
export class MemoryZone {
  /** As the port shows it. */
  readonly zone: Zone;
  readonly name: string;
  records: readonly HeldRecord[] = [];
  private readonly automatic = new Set<string>();
  private lastID = 0;

  constructor(name: string, zone: Zone) {
    this.name = name;
    this.zone = zone;
  }

  /** Lets the provider decide the TTL of a name, as a proxied one has it at Cloudflare. */
  setTTLAutomatic(fqdn: string, isAutomatic: boolean): void {
    if (isAutomatic) this.automatic.add(fqdn);
    else this.automatic.delete(fqdn);
  }

  /** True when the provider decides the TTL of a name. */
  isTTLAutomatic(fqdn: string): boolean {
    return this.automatic.has(fqdn);
  }

  /** True when an A record of this name is not possible. */
  hasCNAME(fqdn: string): boolean {
    return this.records.some((record) => record.fqdn === fqdn && record.type === "CNAME");
  }

  /** The A records of a name, the oldest first. */
  addressRecords(fqdn: string): readonly HeldRecord[] {
    return this.records.filter((record) => record.fqdn === fqdn && record.type === "A");
  }

  /** The A records of all names, the oldest first. */
  allAddressRecords(): readonly HeldRecord[] {
    return this.records.filter(({ type }) => type === "A");
  }

  /** Records of a name as the port shows them. */
  stateOf(fqdn: string, records: readonly HeldRecord[]): RecordSetState {
    const addresses = [...new Set(records.map((record) => record.content))].sort();
    const ttls = new Set(records.map((record) => record.ttlSeconds));
    const [ttlSeconds] = ttls;
    const isTTLAutomatic = this.automatic.has(fqdn);
    return {
      fqdn,
      addresses,
      isTTLAutomatic,
      hasDuplicates: addresses.length < records.length,
      ...(ttlSeconds === undefined || ttls.size > 1 || isTTLAutomatic ? {} : { ttlSeconds }),
    };
  }

  /** Appends a record. */
  add(record: MemoryRecord): HeldRecord {
    this.lastID += 1;
    const held = { ...record, id: this.lastID };
    this.records = [...this.records, held];
    return held;
  }

  /** Takes records away. */
  remove(fits: (record: HeldRecord) => boolean): void {
    this.records = this.records.filter((record) => !fits(record));
  }

  /** Changes the TTL of the A records of a name, all or these. */
  setTTL(fqdn: string, ttlSeconds: number, these?: readonly HeldRecord[]): void {
    const own = this.addressRecords(fqdn).filter(({ id }) => these === undefined || these.some((one) => one.id === id));
    this.records = this.records.map((record) => (own.includes(record) ? { ...record, ttlSeconds } : record));
  }
}
