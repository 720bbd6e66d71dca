import type { Zone } from "../../src/model/dns.ts";
import type { DNSProvider, DNSProviderReader } from "../../src/ports/providers.ts";

/** One record of a zone as the provider holds it. */
export interface SeenRecord {
  /** Lower case, without trailing dot. */
  readonly fqdn: string;
  readonly type: string;
  readonly content: string;
  readonly ttl: number;
}

/** Whether the process may write. */
export interface Permit {
  mayWrite: () => boolean;
}

/** An account without zones to test a DNS provider against. */
export interface DNSProviderWorld {
  readonly provider: DNSProvider;
  /** Is asked by the provider right before each write goes out; may be exchanged. */
  readonly permit: Permit;
  /**
   * Set for a provider that knows no single records: all of a name have one TTL, none stands twice, and a change replaces the whole set, whatever others have done since it
   * was read. `account` = it knows no zones either: a name within a zone may be written as a zone, and one call lists everything.
   */
  readonly isWhole?: "name" | "account";
  readonly seed: {
    zone(name: string): void | Promise<void>;
    /** Adds a record behind everybody's back; `fqdn` may be in any case. The TTLs of one name may differ. */
    record(zone: string, fqdn: string, type: string, content: string, ttl: number): void;
    /** Takes all records of this name, type and content away, behind everybody's back. */
    removal(zone: string, fqdn: string, type: string, content: string): void;
  };
  /**
   * Makes one writing request fail as a server error: the first after `skip` others. With `hasEffect` it takes effect although
   * its answer is lost; without, it does not.
   */
  failWrite(fault: { readonly skip: number; readonly hasEffect: boolean }): void;
  /** Lets somebody else act once: after the provider under test has read the records, before it sends its next writing request. */
  beforeNextWrite(meddle: () => void): void;
  /** How many writing requests the provider has received, whatever came of them. */
  writes(): number;
  /** All records of a zone, in any order. */
  records(zone: string): readonly SeenRecord[] | Promise<readonly SeenRecord[]>;
  /** What a resolver would have seen as the A records of a name: the set after every single change by the provider under test, in order. */
  resolverViews(fqdn: string): readonly (readonly string[])[];
  dispose(): void | Promise<void>;
}

/** Declares a test that gets a new world and disposes of it. */
export type InDNSWorld = (title: string, body: (world: DNSProviderWorld) => Promise<void>) => void;

/** The zone of the tests. @throws Error when the provider does not find it */
export async function knownZone(provider: DNSProviderReader, name: string = "example.com"): Promise<Zone> {
  const zone = await provider.findZone(name);
  if (zone === undefined) throw new Error(`the provider does not find the zone ${name}`);
  return zone;
}
