import { providerError as cloudflareError } from "../../src/adapters/cloudflare/api.ts";
import { providerError as digitalOceanError } from "../../src/adapters/digitalocean/api.ts";
import type { FailureDetails } from "../../src/adapters/provider-http/failures.ts";
import { type CallFacts, callCounter } from "../../src/adapters/provider-http/provider-caller.ts";
import { changeRecordSet } from "../../src/adapters/provider-http/record-sets.ts";
import { canonicalIPv4 } from "../../src/model/address.ts";
import {
  acceptedTTL,
  canonicalDNSName,
  type RecordSetState,
  relativeName,
  type TTLRules,
  type Zone,
} from "../../src/model/dns.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { CallCount, CallDuration, RateLimit } from "../../src/model/meter.ts";
import type {
  DNSProvider,
  ProviderMeter,
  RecordSetChange,
  RecordSetResult,
  ZoneListing,
} from "../../src/ports/providers.ts";
import type { Clock } from "../../src/ports/system.ts";
import { FakeClock } from "./fake-clock.ts";
import type { MemoryCall, MemoryFault } from "./memory-cloud-calls.ts";
import { MemoryDNSAccount } from "./memory-dns-account.ts";
import { writeInBatch, writeSingly } from "./memory-dns-provider-write.ts";
import type { HeldRecord, MemoryZone } from "./memory-zone.ts";

/** What a call is about, as ProviderError has it: `zone`, `records`, and `write` or, one by one, `add-record`, `set-ttl`, `remove-record`. */
export type MemoryDNSCall = Pick<CallFacts, "operation" | "subject" | "isWrite"> & {
  /** True for `records` of all names of a zone; then the subject is the zone. */
  readonly isWholeZone?: true;
};

/** Carries a call out: as it is, late, never, or with another end than its own. */
export type AroundDNSCall = <T>(call: MemoryDNSCall, effect: () => Promise<T>) => Promise<T>;

/** What a memory DNS provider may be given. */
export interface MemoryDNSProviderOptions {
  /** Several providers may share one. Default: an empty one of DigitalOcean's. */
  readonly account?: MemoryDNSAccount;
  /** Default: a {@link FakeClock}. Says when a 429 is over. */
  readonly clock?: Clock;
  /** Called once per call that is about to reach the account; a fault it returns is thrown in place of the answer. */
  readonly beforeCall?: (operation: string, subject: string) => MemoryFault | undefined;
  /** Carries every call out; default: at once. */
  readonly around?: AroundDNSCall;
}

/**
 * The DNSProvider port straight on zones in memory, without HTTP: the same calls in the same order under the same names as the
 * adapter of that flavour makes. After a 429 no call reaches the account until its time. Every method settles within promise
 * reactions alone, unless `around` takes longer.
 */
export class MemoryDNSProvider implements DNSProvider, ProviderMeter {
  readonly name: string;
  readonly ttlRules: TTLRules;
  readonly isBatched: boolean;
  readonly account: MemoryDNSAccount;
  /** Every call that reached the provider, injected faults included. */
  readonly recorded: MemoryCall[] = [];
  /** May be exchanged at any time. */
  beforeCall: ((operation: string, subject: string) => MemoryFault | undefined) | undefined;
  private readonly around: AroundDNSCall;
  private readonly clock: Clock;
  private readonly counter = callCounter();
  private closedUntilMs = 0;

  constructor(options: MemoryDNSProviderOptions = {}) {
    this.account = options.account ?? new MemoryDNSAccount();
    const { name, ttlRules, isBatched } = this.account.flavour;
    this.name = name;
    this.ttlRules = ttlRules;
    this.isBatched = isBatched;
    this.clock = options.clock ?? new FakeClock();
    this.beforeCall = options.beforeCall;
    this.around = options.around ?? ((_, effect) => effect());
  }

  calls(): readonly CallCount[] {
    return this.counter.calls();
  }

  durations(): readonly CallDuration[] {
    return this.counter.durations();
  }

  /** Nothing: no answer has headers here. */
  rateLimit(): RateLimit {
    return {};
  }

  async findZone(zone: string): Promise<Zone | undefined> {
    const facts = factsOf("zone", zone, `find the zone ${zone}`);
    if (canonicalDNSName(zone) === undefined) {
      throw this.error(facts, { failure: "refused", status: 0, reason: `${JSON.stringify(zone)} is no zone` });
    }
    return this.call(facts, () => this.account.findZone(zone));
  }

  async readRecords(zone: Zone, fqdn: string): Promise<RecordSetState> {
    this.check(zone, fqdn);
    const records = await this.list(zone, fqdn);
    return this.held(factsOf("records", fqdn, `read ${fqdn}`), zone).stateOf(fqdn, records);
  }

  async listRecords(zone: Zone, mostCalls: number): Promise<ZoneListing | undefined> {
    const names = new Map<string, HeldRecord[]>();
    let pages = 1;
    for (let page = 1; page <= pages; page += 1) {
      const facts = factsOf("records", zone.name ?? zone.id, `list the A records of ${zone.name ?? zone.id}`);
      const all = await this.call(facts, () => this.held(facts, zone).allAddressRecords(), { isWholeZone: true });
      pages = Math.max(1, Math.ceil(all.length / this.account.flavour.pageSize));
      if (pages > mostCalls) return undefined;
      const shown = all.slice((page - 1) * this.account.flavour.pageSize, page * this.account.flavour.pageSize);
      for (const record of shown) names.set(record.fqdn, [...(names.get(record.fqdn) ?? []), record]);
    }
    const facts = factsOf("records", zone.id, `list ${zone.id}`);
    const held = this.held(facts, zone);
    return {
      names: new Map([...names].map(([fqdn, records]) => [fqdn, held.stateOf(fqdn, records)])),
      isOneAnswer: pages === 1,
      unclear: new Set(),
    };
  }

  async writeRecords(zone: Zone, fqdn: string, change: RecordSetChange): Promise<RecordSetResult> {
    this.check(zone, fqdn);
    const facts = factsOf("write", fqdn, `change the A records of ${fqdn}`);
    const wrong = change.after.addresses.find((ip) => canonicalIPv4(ip) === undefined);
    if (wrong !== undefined) {
      const reason = `${JSON.stringify(wrong)} is not an IPv4 address`;
      throw this.error(facts, { failure: "refused", status: 0, reason });
    }
    const { addresses, ttlSeconds } = change.after;
    const ttl = acceptedTTL(ttlSeconds, this.ttlRules);
    const write = {
      fqdn,
      addresses,
      ttl,
      mayWrite: change.mayWrite ?? ((): boolean => true),
      list: () => this.list(zone, fqdn),
      stateOf: (records: readonly HeldRecord[]) => this.held(facts, zone).stateOf(fqdn, records),
      call: <T>(operation: string, doing: string, effect: (held: MemoryZone, refuse: Refuse) => T) => {
        const own = factsOf(operation, fqdn, doing);
        const refuse: Refuse = (reason) => this.error(own, { failure: "refused", status: 422, reason });
        return this.call(own, () => effect(this.held(own, zone), refuse));
      },
      change: <T>(held: MemoryZone, effect: () => T) => this.account.change(held, fqdn, effect),
    };
    return changeRecordSet(change, {
      ttlRules: this.ttlRules,
      read: write.list,
      stateOf: write.stateOf,
      attempt: (records) => (this.isBatched ? writeInBatch(write, records) : writeSingly(write, records)),
    });
  }

  private list(zone: Zone, fqdn: string): Promise<readonly HeldRecord[]> {
    const facts = factsOf("records", fqdn, `read the A records of ${fqdn} in the zone ${zone.name ?? zone.id}`);
    return this.call(facts, () => this.held(facts, zone).addressRecords(fqdn));
  }

  /** One counted call. @throws ProviderError */
  private async call<T>(facts: CallFacts, effect: () => T, more: Pick<MemoryDNSCall, "isWholeZone"> = {}): Promise<T> {
    const notBeforeMs = this.closedUntilMs;
    if (this.clock.wallMs() < notBeforeMs) {
      const reason = "an earlier answer said that it is used up, so nothing was sent";
      throw this.error(facts, { failure: "rate-limited", status: 0, reason, notBeforeMs });
    }
    const { operation, subject, isWrite, doing } = facts;
    this.recorded.push({ operation, subject, detail: doing });
    try {
      const result = await this.around({ operation, subject, isWrite, ...more }, async () =>
        this.attempt(facts, effect),
      );
      this.counter.add(operation, "success", 0);
      return result;
    } catch (error) {
      this.counter.add(operation, "error", 0);
      const isLimited = error instanceof ProviderError && error.failure === "rate-limited";
      if (isLimited) this.closedUntilMs = error.notBeforeMs ?? 0;
      throw error;
    }
  }

  private attempt<T>(facts: CallFacts, effect: () => T): T {
    const fault = this.beforeCall?.(facts.operation, facts.subject);
    if (fault !== undefined && "throw" in fault) throw fault.throw;
    const result = effect();
    if (fault !== undefined) throw fault.throwAfter;
    return result;
  }

  private check(zone: Zone, fqdn: string): void {
    const isInside = zone.name === undefined || relativeName(zone.name, fqdn) !== undefined;
    if (canonicalDNSName(fqdn) === fqdn && isInside) return;
    const reason = `${JSON.stringify(fqdn)} is not a name in the zone ${zone.name ?? zone.id}`;
    throw this.error(factsOf("records", fqdn, `find ${fqdn}`), { failure: "refused", status: 0, reason });
  }

  private held(facts: CallFacts, zone: Zone): MemoryZone {
    const held = this.account.held(zone);
    if (held !== undefined) return held;
    const reason = `the account has no zone ${zone.name ?? zone.id}`;
    throw this.error(facts, { failure: "not-found", status: 404, reason });
  }

  private error(facts: CallFacts, details: FailureDetails): ProviderError {
    return this.name === "cloudflare" ? cloudflareError(facts, details) : digitalOceanError(facts, details);
  }
}

type Refuse = (reason: string) => ProviderError;

function factsOf(operation: string, subject: string, doing: string): CallFacts {
  const isWrite = operation !== "zone" && operation !== "records";
  return { operation, subject, doing, scope: isWrite ? "domain:update" : "domain:read", isWrite };
}
