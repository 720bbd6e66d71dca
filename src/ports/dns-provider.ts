/** A DNS zone as a provider knows it. `name` is lower case without trailing dot; absent when the token may not read it (Cloudflare zone ids). */
export interface Zone {
  /** The provider's handle: the zone's name at DigitalOcean, its id at Cloudflare. */
  readonly id: string;
  readonly name?: string;
}

/** The A records of one name, canonical: FQDN in lower case without trailing dot, addresses sorted and unique, one TTL for the set. */
export interface RecordSetState {
  readonly fqdn: string;
  /** Sorted by text, unique; empty = the name has no A record. */
  readonly addresses: readonly string[];
  /** Seconds, when all records agree; absent without records, when they differ, or when the provider decides it (`isTTLAutomatic`). */
  readonly ttlSeconds?: number;
  /** True when the provider ignores a TTL for this set (a proxied set at Cloudflare): then TTLs are not compared. */
  readonly isTTLAutomatic: boolean;
  /** True when the same address stands in more than one record: a difference to repair. */
  readonly hasDuplicates: boolean;
}

/** What the A records of a name should be. */
export interface DesiredRecordSet {
  /** Sorted by text, unique; empty = remove all A records of the name. */
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
}

/** What flipop reads from a DNS provider. Throws ProviderError on failure (operations `zone`, `records`); own deadlines; after a 429 all calls fail without a request until the provider's reset. */
export interface DNSProviderReader {
  /** The name used in `dnsRecordSet.provider`. */
  readonly name: string;
  /** The least TTL the provider accepts, seconds; lower ones are raised to it. */
  readonly minimumTTLSeconds: number;
  /** The zone of this name (or, at Cloudflare, 32-hex id); undefined when the account has none. Never an empty answer taken for a missing zone. */
  findZone(zone: string): Promise<Zone | undefined>;
  /** The A records of one name, read by a filtered list (paged), never by a scan of the zone. */
  readRecords(zone: Zone, fqdn: string): Promise<RecordSetState>;
}

/** A DNS provider that may also be changed. */
export interface DNSProvider extends DNSProviderReader {
  /**
   * Makes the A records of one name exactly the desired ones: reads them first, changes only what differs, adds before it removes, in one request where the provider has a
   * batch call, and never leaves the name empty in between (unless empty is desired). Returns the set as it then is (re-read where the answers do not say). Nothing is repeated
   * blindly: "exists already" and "is gone already" are settled by reading again. A failure may leave part of the change done; calling again does the rest.
   */
  writeRecords(zone: Zone, fqdn: string, desired: DesiredRecordSet): Promise<RecordSetState>;
}
