import { DIGITALOCEAN_API, providerError } from "../../src/adapters/digitalocean/api.ts";
import { callCounter } from "../../src/adapters/http/api-client.ts";
import type { CallInfo } from "../../src/adapters/http/failures.ts";
import { CallBudget, rateLimitGate } from "../../src/adapters/http/limits.ts";
import { type NotSent, ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { CallCount, CallDuration, RateLimit } from "../../src/model/meter.ts";
import type { ProviderMeter } from "../../src/ports/providers.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { Caller } from "../../src/sandbox/digitalocean/calls.ts";
import type { Cloud } from "../../src/sandbox/digitalocean/cloud.ts";
import { Refusal } from "../../src/sandbox/provider.ts";
import { FakeClock } from "./fake-clock.ts";

/** A fault at one call: before its effect, or after it. */
export type MemoryFault = { readonly throw: ProviderError | NotSent } | { readonly throwAfter: ProviderError };

/** One call that reached the provider, in order. */
export interface MemoryCall {
  readonly operation: string;
  /** As in ProviderError: the address, machine, firewall or tag, `""` for a list. */
  readonly subject: string;
  /** What else the call says, for people: `assign 203.0.113.1 to droplet 42`. */
  readonly detail: string;
}

/** What a memory provider may be given. */
export interface MemoryCloudOptions {
  /** The account; several providers may share one. */
  readonly cloud: Cloud;
  /** Default: a {@link FakeClock}. The account's time is its wall clock. */
  readonly clock?: Clock;
  /** Default `token`, which an account without tokens accepts. */
  readonly token?: string;
  /** Called once per call that is about to reach the account; a fault it returns is thrown in place of the answer. */
  readonly beforeCall?: (operation: string, subject: string) => MemoryFault | undefined;
  /** A provider of the same token: the two have one meter, and a 429 of one stops the other. */
  readonly sharing?: MemoryCloudCalls;
}

/** Calls to an emulated account without HTTP: faults, the record of calls, and the adapter's meter, rate-limit gate and error texts. */
export class MemoryCloudCalls implements ProviderMeter {
  readonly cloud: Cloud;
  readonly clock: Clock;
  /** Every call that reached the provider, injected faults included. */
  readonly recorded: MemoryCall[] = [];
  /** May be exchanged at any time. */
  beforeCall: ((operation: string, subject: string) => MemoryFault | undefined) | undefined;
  private readonly token: string;
  private readonly counter: ReturnType<typeof callCounter>;
  private readonly gate: ReturnType<typeof rateLimitGate>;
  private readonly budget: CallBudget;

  constructor(options: MemoryCloudOptions) {
    this.cloud = options.cloud;
    this.clock = options.clock ?? new FakeClock();
    this.token = options.token ?? "token";
    this.beforeCall = options.beforeCall;
    this.counter = options.sharing?.counter ?? callCounter();
    this.gate = options.sharing?.gate ?? rateLimitGate(this.clock, DIGITALOCEAN_API.readRateLimit);
    const { allowance } = DIGITALOCEAN_API.limits;
    this.budget = options.sharing?.budget ?? new CallBudget(this.clock, allowance, this.gate.rateLimit);
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

  /** One counted call. @throws ProviderError */
  protected call<T>(facts: CallInfo, effect: (caller: Caller) => T): T {
    return this.counted(facts, () => this.attempt(facts, effect));
  }

  /** Like {@link call}; undefined when it fails in this one way, which is an answer too and counts as success. */
  protected callUnless<T>(failure: ProviderFailure, facts: CallInfo, effect: (caller: Caller) => T): T | undefined {
    return this.counted(facts, () => {
      try {
        return this.attempt(facts, effect);
      } catch (error) {
        if (error instanceof ProviderError && error.failure === failure) return undefined;
        throw error;
      }
    });
  }

  private counted<T>(facts: CallInfo, make: () => T): T {
    const notBeforeMs = this.gate.closedUntilMs();
    if (notBeforeMs !== undefined) {
      const reason = "an earlier answer said that it is used up, so nothing was sent";
      throw providerError(facts, { failure: "rate-limited", status: 0, reason, notBeforeMs });
    }
    this.budget.spend();
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

  private attempt<T>(facts: CallInfo, effect: (caller: Caller) => T): T {
    const fault = this.beforeCall?.(facts.operation, facts.subject);
    if (fault !== undefined && "throw" in fault) throw fault.throw;
    const result = this.exchange(facts, effect);
    if (fault !== undefined) throw fault.throwAfter;
    return result;
  }

  /** The call itself, with its refusal in the port's terms. */
  private exchange<T>(facts: CallInfo, effect: (caller: Caller) => T): T {
    const nowMs = this.clock.wallMs();
    try {
      const result = effect(this.cloud.admit(this.token, nowMs));
      this.observe(200, undefined);
      return result;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
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
    const headers = new Map(Object.entries(this.cloud.rateHeaders(this.token, this.clock.wallMs())));
    if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
    return this.gate.observe(status, headers, { budget: this.budget });
  }
}

function failureOf({ status, message }: Refusal): ProviderFailure {
  if (status === 422) return message.includes("pending event") ? "busy" : "refused";
  const failures: Readonly<Record<number, ProviderFailure>> = {
    401: "unauthorized",
    403: "forbidden",
    404: "not-found",
    429: "rate-limited",
  };
  return failures[status] ?? "refused";
}
