import { canonicalDNSName, relativeName } from "../../src/adapters/digitalocean/dns-name.ts";
import { callCounter } from "../../src/adapters/provider-http/call-counter.ts";
import { canonicalIPv4 } from "../../src/model/address.ts";
import { ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { DesiredRecordSet, DNSProvider, RecordSetState, Zone } from "../../src/ports/dns-provider.ts";
import type { CallCount, ProviderMeter, RateLimit } from "../../src/ports/ip-provider.ts";
import { type MemoryRecord, MemoryZone } from "./memory-zone.ts";

/** The port's methods as the record and the hook name them. */
export type MemoryDNSOperation = "zone" | "records" | "write";

/** A fault at one call: before its effect, after it, or once a number of its record changes are made (never, when it makes fewer). */
export type MemoryDNSFault =
  | { readonly throw: ProviderError }
  | { readonly throwAfter: ProviderError }
  | { readonly throwAfter: ProviderError; readonly changes: number };

/** One call that reached the provider, in order. */
export interface MemoryDNSCall {
  readonly operation: MemoryDNSOperation;
  /** The zone as it was asked for, or the FQDN. */
  readonly subject: string;
  /** What else the call says, for people: `write www.example.com: 203.0.113.1 ttl 60`. */
  readonly detail: string;
}

/** The A records of a name after one single change: what a resolver would see now. */
export interface MemoryDNSView {
  readonly fqdn: string;
  /** Sorted by text, unique. */
  readonly addresses: readonly string[];
}

/** `nth` counts the calls of this operation about this subject, from 1. */
export type BeforeDNSCall = (operation: MemoryDNSOperation, subject: string, nth: number) => MemoryDNSFault | undefined;

/** What a memory DNS provider may be given. */
export interface MemoryDNSProviderOptions {
  /** Default `digitalocean`. */
  readonly name?: string;
  /** Default 30. */
  readonly minimumTTLSeconds?: number;
  /** Called once per call that reached the provider; a fault it returns is thrown. */
  readonly beforeCall?: BeforeDNSCall;
  /** Called after every single record change that the port made. */
  readonly onChange?: (view: MemoryDNSView) => void;
}

/**
 * The DNSProvider port as a model of any provider: zones and single records in memory, changed one by one, adds before removals.
 * Every method settles within promise reactions alone.
 */
export class MemoryDNSProvider implements DNSProvider, ProviderMeter {
  readonly name: string;
  readonly minimumTTLSeconds: number;
  /** Every call that reached the provider, those with faults included. */
  readonly recorded: MemoryDNSCall[] = [];
  /** May be exchanged at any time. */
  beforeCall: BeforeDNSCall | undefined;
  /** May be exchanged at any time. */
  onChange: ((view: MemoryDNSView) => void) | undefined;
  private readonly zones: MemoryZone[] = [];
  private readonly counter = callCounter();

  constructor(options: MemoryDNSProviderOptions = {}) {
    this.name = options.name ?? "digitalocean";
    this.minimumTTLSeconds = options.minimumTTLSeconds ?? 30;
    this.beforeCall = options.beforeCall;
    this.onChange = options.onChange;
  }

  /** Adds a zone; its id is its name unless one is given. `isNameHidden`: the token may not read the name, so it is found by id only. */
  addZone(name: string, more: { readonly id?: string; readonly isNameHidden?: boolean } = {}): void {
    const id = more.id ?? name;
    this.zones.push(new MemoryZone(name, more.isNameHidden === true ? { id } : { id, name }));
  }

  /** Takes a zone away with its records. */
  removeZone(name: string): void {
    const at = this.zones.findIndex((item) => item.name === name);
    if (at >= 0) this.zones.splice(at, 1);
  }

  /** Adds a record behind everybody's back; duplicates are allowed. @throws Error without the zone */
  addRecord(zone: string, record: MemoryRecord): void {
    this.known(zone).records.push({ ...record, fqdn: canonicalDNSName(record.fqdn) ?? record.fqdn });
  }

  /** Takes the records that fit away, behind everybody's back. @throws Error without the zone */
  removeRecords(zone: string, fits: (record: MemoryRecord) => boolean): void {
    const known = this.known(zone);
    known.records = known.records.filter((record) => !fits(record));
  }

  /** All records of a zone in the order they were made. @throws Error without the zone */
  records(zone: string): readonly MemoryRecord[] {
    return [...this.known(zone).records];
  }

  /** Lets the provider decide the TTL of a name, as a proxied one has it at Cloudflare. @throws Error without the zone */
  setTTLAutomatic(zone: string, fqdn: string, isAutomatic = true): void {
    this.known(zone).setTTLAutomatic(fqdn, isAutomatic);
  }

  calls(): readonly CallCount[] {
    return this.counter.calls();
  }

  /** Nothing: no answer has headers here. */
  rateLimit(): RateLimit {
    return {};
  }

  async findZone(zone: string): Promise<Zone | undefined> {
    const name = canonicalDNSName(zone);
    if (name === undefined) throw this.error("zone", zone, "refused", `${JSON.stringify(zone)} is not a zone`);
    return this.call("zone", zone, `find ${zone}`, () => {
      return this.zones.find((item) => item.zone.name === name || item.zone.id === zone)?.zone;
    });
  }

  async readRecords(zone: Zone, fqdn: string): Promise<RecordSetState> {
    this.check("records", zone, fqdn);
    return this.call("records", fqdn, `read ${fqdn}`, () => this.held("records", zone, fqdn).stateOf(fqdn));
  }

  async writeRecords(zone: Zone, fqdn: string, desired: DesiredRecordSet): Promise<RecordSetState> {
    this.check("write", zone, fqdn);
    const wrong = desired.addresses.find((ip) => canonicalIPv4(ip) === undefined);
    if (wrong !== undefined) {
      throw this.error("write", fqdn, "refused", `${JSON.stringify(wrong)} is not an IPv4 address`);
    }
    const detail = `write ${fqdn}: ${desired.addresses.join(" ") || "nothing"} ttl ${desired.ttlSeconds}`;
    return this.call("write", fqdn, detail, (faultAfter) => {
      const held = this.held("write", zone, fqdn);
      const isBlocked = held.hasCNAME(fqdn) && desired.addresses.length > 0;
      if (isBlocked) throw this.error("write", fqdn, "refused", "a CNAME record has the name");
      const ttlSeconds = Math.max(desired.ttlSeconds, this.minimumTTLSeconds);
      const changes = held.changes(fqdn, { ...desired, ttlSeconds });
      for (const [made, change] of changes.entries()) {
        faultAfter(made);
        change();
        this.onChange?.({ fqdn, addresses: held.stateOf(fqdn).addresses });
      }
      faultAfter(changes.length);
      return held.stateOf(fqdn);
    });
  }

  /** One counted call; `faultAfter` is to be told how many changes are made, and throws when it is time to. */
  private call<T>(
    operation: MemoryDNSOperation,
    subject: string,
    detail: string,
    effect: (faultAfter: (changes: number) => void) => T,
  ): T {
    const nth = 1 + this.recorded.filter((item) => item.operation === operation && item.subject === subject).length;
    this.recorded.push({ operation, subject, detail });
    const fault = this.beforeCall?.(operation, subject, nth);
    try {
      if (fault !== undefined && "throw" in fault) throw fault.throw;
      const result = effect((changes) => {
        if (fault !== undefined && "changes" in fault && fault.changes === changes) throw fault.throwAfter;
      });
      if (fault !== undefined && !("changes" in fault)) throw fault.throwAfter;
      this.counter.add(operation, "success");
      return result;
    } catch (error) {
      this.counter.add(operation, "error");
      throw error;
    }
  }

  private check(operation: MemoryDNSOperation, zone: Zone, fqdn: string): void {
    const isInside = zone.name === undefined || relativeName(zone.name, fqdn) !== undefined;
    if (canonicalDNSName(fqdn) === fqdn && isInside) return;
    const reason = `${JSON.stringify(fqdn)} is not a name in the zone ${zone.name ?? zone.id}`;
    throw this.error(operation, fqdn, "refused", reason);
  }

  private held(operation: MemoryDNSOperation, zone: Zone, fqdn: string): MemoryZone {
    const held = this.zones.find((item) => item.zone.id === zone.id);
    if (held !== undefined) return held;
    throw this.error(operation, fqdn, "not-found", `the account has no zone ${zone.name ?? zone.id}`);
  }

  private known(name: string): MemoryZone {
    const zone = this.zones.find((item) => item.name === name);
    if (zone === undefined) throw new Error(`the memory provider has no zone ${name}`);
    return zone;
  }

  private error(
    operation: MemoryDNSOperation,
    subject: string,
    failure: ProviderFailure,
    reason: string,
  ): ProviderError {
    const status = failure === "not-found" ? 404 : 0;
    const message = `The DNS provider ${this.name} refused the ${operation} of ${subject}: ${reason}`;
    return new ProviderError({ provider: this.name, failure, operation, subject, status, message });
  }
}
