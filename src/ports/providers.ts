import type { Address } from "../model/address.ts";
import type { DesiredRecordSet, OtherRecords, RecordSetState, TTLRules, Zone } from "../model/dns.ts";
import type { TextRecord, ZoneTexts } from "../model/external-dns.ts";
import type { Firewall, FirewallLimits, PortRange } from "../model/firewall.ts";
import type { CallCount, CallDuration, RateLimit } from "../model/meter.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import type { RecordType } from "../model/record-types.ts";

/** One page of the account's reserved addresses. */
export interface AddressPage {
  readonly addresses: readonly Address[];
  /** What else the page has, by their ids: what is of the other IP family. Absent = nothing. */
  readonly others?: readonly string[];
  /** Entries that cannot be understood, each by a text of its own: any address that is looked for may be one of them, so that no list with one of them is complete. Absent = none. */
  readonly unclear?: readonly string[];
  /** True when there is a page after this one. */
  readonly hasMore: boolean;
  /** How many entries the account's list has over all pages; absent where the API does not say. */
  readonly total?: number;
}

/**
 * What flipop reads from one source of movable addresses: a provider, and an IP family of it. All addresses here are of that family. Every method is one HTTP call (plus at most one repeat of an
 * idempotent read after a 5xx or a broken connection), has its own deadline, and throws ProviderError on failure; after a
 * 429 all calls fail without a request until the provider's reset. Values are canonical.
 */
export interface IPProviderReader {
  /** The text of the source, as `sourceText` makes it: `digitalocean`, `digitalocean IPv6`. */
  readonly name: string;
  /** How many addresses {@link listPage} returns at most. */
  readonly pageSize: number;
  /** Page `page` (from 1) of the account's reserved addresses; BYOIP addresses may be missing from the list. */
  listPage(page: number): Promise<AddressPage>;
  /** One address, BYOIP too; undefined when the provider does not know it (404). */
  getAddress(ip: string): Promise<Address | undefined>;
  /**
   * Reads one address whose last change may not have ended. Returns it as {@link getAddress} does, and locked while the provider works on it. Takes one call more. Where nobody can
   * say whether the provider works on it, it is not locked for that. Absent = each answer about an address shows by itself whether the provider works on it.
   */
  readonly getUnconfirmed?: (ip: string) => Promise<Address | undefined>;
  /** The addresses a machine carries, reserved ones included; undefined when there is no such machine (404). */
  machineAddresses(machineID: string): Promise<readonly string[] | undefined>;
  /** How many reserved addresses the account may have; undefined when the token may not read it or it is not set. */
  addressLimit(): Promise<number | undefined>;
}

/** How an accepted action stands. `unknown` = the provider does not know the action (for ever so with BYOIP addresses). */
export type ActionState = "pending" | "done" | "errored" | "unknown";

/** Handle of an accepted asynchronous action; pass it to {@link IPProvider.actionState}. Without an `actionID` (`""`) it is the one that this process began last for the address, such as a purchase. */
export interface AcceptedAction {
  readonly ip: string;
  readonly actionID: string;
}

/** For whom an address is bought. */
export interface Buyer {
  /** The uid of the object. */
  readonly uid: string;
  /** Addresses that were there before: none of them is the answer to this purchase. */
  readonly knownIPs: readonly string[];
}

/**
 * A provider that may also be changed. No method here is ever repeated by the adapter. Accepted is not done: the address
 * itself, read back, is the truth. A 422 is answered as ProviderError `busy` when the text speaks of a pending event, else `refused`;
 * 404 is `not-found`; texts are hints only, so callers re-read before they believe a failure.
 */
export interface IPProvider extends IPProviderReader {
  /** Attaches a free address to a machine, or moves it from the machine that has it. Asynchronous. */
  assign(ip: string, machineID: string): Promise<AcceptedAction>;
  /** Detaches an address. Asynchronous. */
  unassign(ip: string): Promise<AcceptedAction>;
  /** State of an accepted action. */
  actionState(action: AcceptedAction): Promise<ActionState>;
  /**
   * Buys one address: for a machine, or unattached in a region. Returns the new address as answered. For a machine it is refused where addresses are bought unattached only.
   *
   * Where the provider keeps whom an address was bought for ({@link Address.boughtFor}), a purchase for an owner whose last one got no answer returns what that one
   * brought. Elsewhere it is not idempotent.
   */
  create(place: { readonly machineID: string } | { readonly region: string }, buyer: Buyer): Promise<Address>;
  /** Gives an unattached address back; resolves also when it is already gone (404). */
  delete(ip: string): Promise<void>;
}

/** What an adapter tells about its own calls. No effects. */
export interface ProviderMeter {
  /** Sorted by operation, then outcome; nothing with count 0. */
  calls(): readonly CallCount[];
  /** Sorted by operation. */
  durations(): readonly CallDuration[];
  rateLimit(): RateLimit;
}

/** A change of one set of records. */
export interface RecordSetChange {
  /** The addresses the change was planned on; when the records are others meanwhile, nothing is changed. */
  readonly before: readonly string[];
  readonly after: DesiredRecordSet;
  /**
   * Set where the name has, or may have, records that the change leaves as they are: those of all addresses that are neither in `before` nor in `after`. Only records of these two are compared,
   * added and removed. The TTL is the lower one of `after` and of the others, as read right before. Absent = all records of the name are compared, and none but `after` is left.
   */
  readonly others?: OtherRecords["expected"];
}

/** What became of a change; `records` is the set as it now is. `stale` = it was not what the change was planned on. */
export interface RecordSetResult {
  readonly kind: "written" | "stale";
  readonly records: RecordSetState;
}

/** The records of one type of a whole zone, as its list shows them. */
export interface ZoneListing {
  /** By `setText`. A name without such records is absent. */
  readonly names: ReadonlyMap<string, RecordSetState>;
  /** True where one answer held the whole list, as its total says. Pages shift while others change the zone: then a name may lack an address that it has. */
  readonly isOneAnswer: boolean;
  /** Names with a record that cannot be understood: what {@link names} has of them is not all. */
  readonly unclear: ReadonlySet<string>;
}

/**
 * What flipop reads from a DNS provider. Every call has a deadline of its own, and throws ProviderError on failure (operations `zone`, `records`). After a 429 all calls
 * fail without a request until the time that the provider names. A call fails with `put-off` if the calls that are left are kept for more urgent ones.
 */
export interface DNSProviderReader {
  /** The name used in `dnsRecordSet.provider`. */
  readonly name: string;
  readonly ttlRules: TTLRules;
  /** True when {@link DNSProvider.writeRecords} changes a set with one call beside the read; else with one per record. */
  readonly isBatched: boolean;
  /** The zone of this name (or, at Cloudflare, 32-hex id); undefined when the account has none. Never an empty answer taken for a missing zone. */
  findZone(zone: string): Promise<Zone | undefined>;
  /** The names of zones that the token sees, of one page of them, in no order: to tell which one was meant by a name that is none. Absent = they cannot be listed. */
  readonly zoneNames?: () => Promise<readonly string[]>;
  /** One set of records, named as `setText` does it, read by a filtered list (paged). `isAwaited` = a change waits for it: it is not put off as early as a mere look. */
  readRecords(zone: Zone, fqdn: string, isAwaited?: boolean): Promise<RecordSetState>;
  /**
   * The records of a type of all names of a zone, A records where none is given; undefined where that takes more than `mostCalls` (at least 1): the first page tells, so one call was made then. Records of other
   * people that cannot be understood are left out; they stop nobody. `isAwaited` as for {@link readRecords}.
   */
  listRecords(zone: Zone, mostCalls: number, isAwaited?: boolean, type?: RecordType): Promise<ZoneListing | undefined>;
  /** The TXT records of a whole zone, and which names have records of other types; undefined where that takes more than `mostCalls`. A change waits for it. */
  listTexts(zone: Zone, mostCalls: number): Promise<ZoneTexts | undefined>;
  /** The TXT records of one name. A change waits for it. */
  readTexts(zone: Zone, fqdn: string): Promise<readonly TextRecord[]>;
  /** When the token ends, milliseconds; undefined if it does not, or if the provider does not tell it to this token. Absent = the provider tells nobody. Operation `token`. */
  readonly tokenEndMs?: () => Promise<number | undefined>;
}

/** A DNS provider that may also be changed. */
export interface DNSProvider extends DNSProviderReader {
  /**
   * Makes one set of records, named as `setText` does it, exactly the desired ones, apart from records that the change leaves to others. It reads them first, and changes nothing if they are not those of `before`. It changes only what differs, and
   * adds before it removes: in one request if the provider has a batch call. The name is never empty in between, unless empty is desired. Returns the set as it then is; it
   * is read again if the answers do not say. Nothing is repeated blindly: "exists already" and "is gone already" are settled by another read. A failure may leave a part of
   * the change done; another call does the rest.
   */
  writeRecords(zone: Zone, fqdn: string, change: RecordSetChange): Promise<RecordSetResult>;
}

/**
 * What flipop reads of a provider's cloud firewalls. Throws ProviderError on failure; own deadlines; an idempotent read is repeated at most once after a 5xx or a
 * broken connection; after a 429 all calls fail without a request until the provider's reset. Values are canonical.
 */
export interface FirewallProviderReader {
  /** The name used in `spec.provider` of an issuer: `digitalocean`. */
  readonly name: string;
  readonly firewallLimits: FirewallLimits;
  /** Every firewall of the account, sorted by id; one call per page. */
  listFirewalls(): Promise<readonly Firewall[]>;
  /** One firewall; undefined when the provider does not know it (404). */
  getFirewall(id: string): Promise<Firewall | undefined>;
  /** Ids of the machines that have a tag, as `tags` of a firewall writes it; one call per page; empty when there is no such tag. */
  machinesWithTag(tag: string): Promise<ReadonlySet<string>>;
}

/**
 * A provider whose firewalls may also be changed. Each method adds or removes what it names: what others put there stays. Where the provider knows no such call, the
 * adapter reads the firewall, and writes it as a whole; it refuses that for a firewall that is `isUnlabelled`. No write is repeated by the adapter. Each method makes
 * one at most, accepted when it resolves: `progressAt` of a later reading tells when a machine has it. ProviderError `not-found` when the firewall (or a machine) is gone.
 */
export interface FirewallProvider extends FirewallProviderReader {
  /** Lets everybody in (0.0.0.0/0 and ::/0) on these ports. */
  openPorts(id: string, ports: readonly PortRange[]): Promise<void>;
  /** Removes the rules that {@link openPorts} made for exactly these ports; rules that are not there are no error. */
  closePorts(id: string, ports: readonly PortRange[]): Promise<void>;
  /** Where firewalls show `othersAt`, a machine that no other firewall is in force at is refused: its first firewall would close what is open there. */
  addMachines(id: string, machineIDs: readonly string[]): Promise<void>;
  /** Machines that are not attached are no error. Where firewalls show `othersAt`, the last firewall of a machine is refused. */
  removeMachines(id: string, machineIDs: readonly string[]): Promise<void>;
}

/**
 * A provider as the program may use it: ready, or without what it needs. `variables` are those that would supply it: a token, or where it is. `emptyFile` says that one of
 * them names a token file in which nothing is.
 */
export type ProviderAccess<P> =
  | { readonly kind: "usable"; readonly provider: P }
  | {
      readonly kind: "no-token";
      readonly name: string;
      readonly variables: readonly string[];
      readonly emptyFile?: string;
    };

/** Returns the access to a provider. One of a family that nobody has set up is without what says where it is. Undefined if there is no such provider. */
export function accessTo<P>(
  all: ReadonlyMap<string, ProviderAccess<P>>,
  name: string,
  registry: ProviderRegistry,
): ProviderAccess<P> | undefined {
  const variables = registry.get(name)?.family?.settings;
  return all.get(name) ?? (variables === undefined ? undefined : { kind: "no-token", name, variables });
}
