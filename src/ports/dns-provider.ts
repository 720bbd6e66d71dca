import type { DesiredRecordSet, RecordSetState, TTLRules, Zone } from "../model/dns.ts";

/** A change of the A records of one name. */
export interface RecordSetChange {
  /** The addresses the change was planned on; when the records are others meanwhile, nothing is changed. */
  readonly before: readonly string[];
  readonly after: DesiredRecordSet;
  /** Asked right before every single request that changes something, since each may come long after the last; false ends the change there. Absent = always. */
  readonly mayWrite?: () => boolean;
}

/** What became of a change; `records` is the set as it now is. `stale` = it was not what the change was planned on; `stopped` = {@link RecordSetChange.mayWrite} ended it. */
export interface RecordSetResult {
  readonly kind: "written" | "stale" | "stopped";
  readonly records: RecordSetState;
}

/** The A records of a whole zone, as its list shows them. */
export interface ZoneListing {
  /** FQDN, lower case without trailing dot → its A records. A name without any is absent. */
  readonly names: ReadonlyMap<string, RecordSetState>;
  /** True where one answer held the whole list, as its total says. Pages shift while others change the zone: then a name may lack an address that it has. */
  readonly isOneAnswer: boolean;
  /** Names with a record that cannot be understood: what {@link names} has of them is not all. */
  readonly unclear: ReadonlySet<string>;
}

/** What flipop reads from a DNS provider. Throws ProviderError on failure (operations `zone`, `records`); own deadlines; after a 429 all calls fail without a request until the provider's reset; with `put-off` where the calls that are left are kept for what is more urgent. */
export interface DNSProviderReader {
  /** The name used in `dnsRecordSet.provider`. */
  readonly name: string;
  readonly ttlRules: TTLRules;
  /** True when {@link DNSProvider.writeRecords} changes a set with one call beside the read; else with one per record. */
  readonly isBatched: boolean;
  /** The zone of this name (or, at Cloudflare, 32-hex id); undefined when the account has none. Never an empty answer taken for a missing zone. */
  findZone(zone: string): Promise<Zone | undefined>;
  /** The A records of one name, read by a filtered list (paged). `isAwaited` = a change waits for it: it is not put off as early as a mere look. */
  readRecords(zone: Zone, fqdn: string, isAwaited?: boolean): Promise<RecordSetState>;
  /**
   * The A records of all names of a zone; undefined where that takes more than `mostCalls` (at least 1): the first page tells, so one call was made then. Records of other
   * people that cannot be understood are left out; they stop nobody. `isAwaited` as for {@link readRecords}.
   */
  listRecords(zone: Zone, mostCalls: number, isAwaited?: boolean): Promise<ZoneListing | undefined>;
}

/** A DNS provider that may also be changed. */
export interface DNSProvider extends DNSProviderReader {
  /**
   * Makes the A records of one name exactly the desired ones: reads them first, leaves them when they are not those of `before`, changes only what differs, adds before it removes, in one request where the provider has a
   * batch call, and never leaves the name empty in between (unless empty is desired). Returns the set as it then is (re-read where the answers do not say). Nothing is repeated
   * blindly: "exists already" and "is gone already" are settled by reading again. A failure may leave part of the change done; calling again does the rest.
   */
  writeRecords(zone: Zone, fqdn: string, change: RecordSetChange): Promise<RecordSetResult>;
}
