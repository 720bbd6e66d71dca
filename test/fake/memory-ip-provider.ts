import { providerError } from "../../src/adapters/digitalocean/provider-failure.ts";
import { readRateLimit } from "../../src/adapters/digitalocean/rate-limit.ts";
import { addressSubject, machineSubject } from "../../src/adapters/digitalocean/subject.ts";
import { callCounter } from "../../src/adapters/provider-http/call-counter.ts";
import type { CallFacts } from "../../src/adapters/provider-http/call-facts.ts";
import { rateLimitGate } from "../../src/adapters/provider-http/rate-limit-gate.ts";
import type { Address } from "../../src/model/address.ts";
import { ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { CallCount, CallDuration, RateLimit } from "../../src/model/meter.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type {
  AcceptedAction,
  ActionState,
  AddressPage,
  IPProvider,
  ProviderMeter,
} from "../../src/ports/ip-provider.ts";
import type { AddressView } from "../../src/sandbox/digitalocean/address-view.ts";
import type { Caller } from "../../src/sandbox/digitalocean/caller.ts";
import type { Cloud } from "../../src/sandbox/digitalocean/cloud.ts";
import { CloudRefusal } from "../../src/sandbox/digitalocean/cloud-refusal.ts";
import { dropletAddresses } from "../../src/sandbox/digitalocean/droplet-addresses.ts";
import { FakeClock } from "./fake-clock.ts";

/** A fault at one call: before its effect, or after it. */
export type MemoryFault = { readonly throw: ProviderError } | { readonly throwAfter: ProviderError };

/** One call that reached the provider, in order. */
export interface MemoryCall {
  readonly operation: string;
  /** As in ProviderError: the address or machine, `""` for a list. */
  readonly subject: string;
  /** What else the call says, for people: `assign 203.0.113.1 to droplet 42`. */
  readonly detail: string;
}

/** What a memory provider may be given. */
export interface MemoryIPProviderOptions {
  /** The account; several providers may share one. */
  readonly cloud: Cloud;
  /** Default: a {@link FakeClock}. The account's time is its wall clock. */
  readonly clock?: Clock;
  /** Default `token`, which an account without tokens accepts. */
  readonly token?: string;
  /** Called once per call that is about to reach the account; a fault it returns is thrown in place of the answer. */
  readonly beforeCall?: (operation: string, subject: string) => MemoryFault | undefined;
}

const pageSize = 200;

/**
 * The IPProvider port straight on an emulated account, without HTTP: same errors, same texts, same rate-limit gate as the
 * DigitalOcean adapter, in microseconds. Every method settles within promise reactions alone.
 */
export class MemoryIPProvider implements IPProvider, ProviderMeter {
  readonly name = "digitalocean";
  readonly pageSize: number = pageSize;
  readonly cloud: Cloud;
  readonly clock: Clock;
  /** Every call that reached the provider, injected faults included. */
  readonly recorded: MemoryCall[] = [];
  /** May be exchanged at any time. */
  beforeCall: ((operation: string, subject: string) => MemoryFault | undefined) | undefined;
  private readonly token: string;
  private readonly counter = callCounter();
  private readonly gate: ReturnType<typeof rateLimitGate>;

  constructor(options: MemoryIPProviderOptions) {
    this.cloud = options.cloud;
    this.clock = options.clock ?? new FakeClock();
    this.token = options.token ?? "token";
    this.beforeCall = options.beforeCall;
    this.gate = rateLimitGate(this.clock, readRateLimit);
  }

  calls(): readonly CallCount[] {
    return this.counter.calls();
  }

  durations(): readonly CallDuration[] {
    return this.counter.durations();
  }

  rateLimit(): RateLimit {
    return this.gate.rateLimit();
  }

  async listPage(page: number): Promise<AddressPage> {
    const facts = factsOf("list", "", `list the reserved IPs (page ${page})`, "reserved_ip:read");
    const all = this.call(facts, (caller) => this.cloud.listAddresses(caller));
    return { addresses: all.slice((page - 1) * pageSize, page * pageSize).map(toAddress), total: all.length };
  }

  async getAddress(ip: string): Promise<Address | undefined> {
    const facts = factsOf("get", ip, `read ${ip}`, "reserved_ip:read");
    addressSubject(facts, ip);
    const view = this.callUnless("not-found", facts, (caller) => this.cloud.address(caller, ip));
    return view === undefined ? undefined : toAddress(view);
  }

  async machineAddresses(machineID: string): Promise<readonly string[] | undefined> {
    const facts = factsOf("machine", machineID, `read droplet ${machineID}`, "droplet:read");
    const id = machineSubject(facts, machineID);
    const view = this.callUnless("not-found", facts, (caller) => this.cloud.droplet(caller, id));
    return view === undefined ? undefined : dropletAddresses(view).map((address) => address.ip);
  }

  async addressLimit(): Promise<number | undefined> {
    const facts = factsOf("limit", "", "read the account's limit of reserved IPs", "account:read");
    const account = this.callUnless("forbidden", facts, (caller) => this.cloud.account(caller));
    return account?.reserved_ip_limit === 0 ? undefined : account?.reserved_ip_limit;
  }

  async assign(ip: string, machineID: string): Promise<AcceptedAction> {
    const facts = factsOf("assign", ip, `assign ${ip} to droplet ${machineID}`, "reserved_ip:update");
    addressSubject(facts, ip);
    const id = machineSubject(facts, machineID);
    return accepted(this.call(facts, (caller) => this.cloud.assign(caller, ip, id)));
  }

  async unassign(ip: string): Promise<AcceptedAction> {
    const facts = factsOf("unassign", ip, `unassign ${ip}`, "reserved_ip:update");
    addressSubject(facts, ip);
    return accepted(this.call(facts, (caller) => this.cloud.unassign(caller, ip)));
  }

  async actionState({ ip, actionID }: AcceptedAction): Promise<ActionState> {
    const id = /^[1-9]\d*$/.test(actionID) ? Number(actionID) : Number.NaN;
    if (!Number.isSafeInteger(id)) return "unknown";
    const facts = factsOf("action", ip, `read action ${id} of ${ip}`, "reserved_ip:read");
    addressSubject(facts, ip);
    const action = this.callUnless("not-found", facts, (caller) => this.cloud.addressAction(caller, ip, id));
    if (action === undefined) return "unknown";
    return ({ "in-progress": "pending", completed: "done", errored: "errored" } as const)[action.status];
  }

  async create(place: { readonly machineID: string } | { readonly region: string }): Promise<Address> {
    if (!("machineID" in place)) {
      const doing = `create a reserved IP in region ${JSON.stringify(place.region)}`;
      const inRegion = factsOf("create", "", doing, "reserved_ip:create");
      return toAddress(this.call(inRegion, (caller) => this.cloud.create(caller, { region: place.region }).address));
    }
    const doing = `create a reserved IP for droplet ${place.machineID}`;
    const facts = factsOf("create", place.machineID, doing, "reserved_ip:create");
    const id = machineSubject(facts, place.machineID);
    return toAddress(this.call(facts, (caller) => this.cloud.create(caller, { droplet_id: id }).address));
  }

  async delete(ip: string): Promise<void> {
    const facts = factsOf("delete", ip, `delete ${ip}`, "reserved_ip:delete");
    addressSubject(facts, ip);
    this.callUnless("not-found", facts, (caller) => this.cloud.delete(caller, ip));
  }

  /** One counted call. @throws ProviderError */
  private call<T>(facts: CallFacts, effect: (caller: Caller) => T): T {
    return this.counted(facts, () => this.attempt(facts, effect));
  }

  /** Like {@link call}; undefined when it fails in this one way, which is an answer too and counts as success. */
  private callUnless<T>(failure: ProviderFailure, facts: CallFacts, effect: (caller: Caller) => T): T | undefined {
    return this.counted(facts, () => {
      try {
        return this.attempt(facts, effect);
      } catch (error) {
        if (error instanceof ProviderError && error.failure === failure) return undefined;
        throw error;
      }
    });
  }

  private counted<T>(facts: CallFacts, make: () => T): T {
    const notBeforeMs = this.gate.closedUntilMs();
    if (notBeforeMs !== undefined) {
      const reason = "an earlier answer said that it is used up, so nothing was sent";
      throw providerError(facts, { failure: "rate-limited", status: 0, reason, notBeforeMs });
    }
    this.recorded.push({ operation: facts.operation, subject: facts.subject, detail: facts.doing });
    try {
      const result = make();
      this.counter.add(facts.operation, "success", 0);
      return result;
    } catch (error) {
      this.counter.add(facts.operation, "error", 0);
      throw error;
    }
  }

  private attempt<T>(facts: CallFacts, effect: (caller: Caller) => T): T {
    const fault = this.beforeCall?.(facts.operation, facts.subject);
    if (fault !== undefined && "throw" in fault) throw fault.throw;
    const result = this.exchange(facts, effect);
    if (fault !== undefined) throw fault.throwAfter;
    return result;
  }

  /** The call itself, with its refusal in the port's terms. */
  private exchange<T>(facts: CallFacts, effect: (caller: Caller) => T): T {
    const nowMs = this.clock.wallMs();
    try {
      const result = effect(this.cloud.admit(this.token, nowMs));
      this.observe(200, undefined);
      return result;
    } catch (error) {
      if (!(error instanceof CloudRefusal)) throw error;
      const notBeforeMs = this.observe(error.status, error.retryAfterSeconds);
      throw providerError(facts, {
        failure: failureOf(error),
        status: error.status,
        reason: error.message,
        ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
      });
    }
  }

  private observe(status: number, retryAfterSeconds: number | undefined): number | undefined {
    const facts = this.cloud.rateFacts(this.token, this.clock.wallMs());
    const headers = new Headers({
      "ratelimit-limit": String(facts.limit),
      "ratelimit-remaining": String(facts.remaining),
      "ratelimit-reset": String(facts.resetSeconds),
    });
    if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
    return this.gate.observe(status, headers);
  }
}

function failureOf({ status, message }: CloudRefusal): ProviderFailure {
  if (status === 422) return message.includes("pending event") ? "busy" : "refused";
  const failures: Readonly<Record<number, ProviderFailure>> = {
    401: "unauthorized",
    403: "forbidden",
    404: "not-found",
    429: "rate-limited",
  };
  return failures[status] ?? "refused";
}

function toAddress(view: AddressView): Address {
  return {
    ip: view.ip,
    region: view.region,
    isLocked: view.locked,
    ...(view.droplet === null ? {} : { holderID: String(view.droplet.id) }),
  };
}

function accepted(action: { readonly ip: string; readonly id: number }): AcceptedAction {
  return { ip: action.ip, actionID: String(action.id) };
}

function factsOf(operation: string, subject: string, doing: string, scope: string): CallFacts {
  return { operation, subject, doing, scope, isWrite: !scope.endsWith(":read") };
}
