import { ProviderError } from "../../model/errors.ts";
import type { ProviderMeter } from "../../ports/providers.ts";
import { NO_PROXY } from "../http/proxy-choice.ts";
import { proxiedFetch } from "../http/request.ts";
import { answerMeaning } from "./answer-meaning.ts";
import { checkedBaseURL } from "./base-url.ts";
import { CallBudget, type Purpose } from "./call-budget.ts";
import { callCounter } from "./call-counter.ts";
import type { CallFacts } from "./call-facts.ts";
import type { Complaint } from "./complaint.ts";
import { type Deadline, newDeadline, outOfTime, tooLate } from "./deadline.ts";
import { failedCall } from "./failed-call.ts";
import { inFlightLimit } from "./in-flight-limit.ts";
import type { Exchange, ProviderAPI } from "./provider-api.ts";
import type { ProviderCall } from "./provider-call.ts";
import type { ProviderOptions } from "./provider-options.ts";
import type { ProviderVoice } from "./provider-voice.ts";
import { type RateLimitGate, rateLimitGate } from "./rate-limit-gate.ts";
import { readToken } from "./read-token.ts";

/** Makes the calls of one token and counts them: every request sent is one count. */
export interface ProviderCaller<Send, Body, C extends Complaint> {
  /** Counts the calls of the token, for whatever purpose. */
  readonly meter: ProviderMeter;
  /**
   * Makes one call and returns what it means. A read is repeated once after a 5xx or a broken connection.
   * @throws ProviderError
   */
  call<T>(call: ProviderCall<T, Send, Body, C>): Promise<T>;
  /** The same token's calls for another purpose: they let more urgent ones go first, and are put off where the rest of a limit is kept for those. */
  readonly for: (purpose: Purpose) => ProviderCaller<Send, Body, C>;
}

/**
 * Returns a caller for the most urgent calls. Its first call loads the SDK. No more requests are in flight than the API's limits allow, and none is
 * sent while the rate limit is used up.
 * @throws ConfigError when the base URL or the proxy for it is not usable
 */
export function createProviderCaller<Send, Body, C extends Complaint>(
  api: ProviderAPI<Send, Body, C>,
  options: ProviderOptions,
): ProviderCaller<Send, Body, C> {
  const {
    token,
    secrets,
    userAgent,
    timeoutMs = api.limits.timeoutMs,
    untilMs = Number.POSITIVE_INFINITY,
    clock,
  } = options;
  const baseURL = checkedBaseURL(options.baseURL ?? api.baseURL, api.label, api.baseURL);
  const chooseProxy = options.chooseProxy ?? NO_PROXY;
  // A wrong proxy setting is refused here, once, and not by each call.
  chooseProxy(new URL(baseURL));
  const fetch = proxiedFetch(chooseProxy);
  const gate = rateLimitGate(clock, api.readRateLimit);
  const counter = callCounter();
  const budget = new CallBudget(clock, api.limits.allowance, gate.rateLimit);
  const admit = admission(api, gate, budget);
  let opened: Promise<Exchange<Send>> | undefined;

  async function attempt<T>(
    call: ProviderCall<T, Send, Body, C>,
    exchange: Exchange<Send>,
    { deadline, purpose }: { readonly deadline: Deadline; readonly purpose: Purpose },
  ): Promise<T> {
    const own = await readToken(api, call, token);
    const redact = (text: string): string => secrets?.redactQuoted(text) ?? text.replaceAll(own, "[redacted]");
    const terms = { token: own, userAgent, deadline, fetch, redact };
    admit(call, purpose);
    if (deadline.signal.aborted) throw outOfTime(api, call, deadline, false);
    const startMs = clock.monotonicMs();
    budget.spend();
    try {
      const answer = await exchange(call, terms);
      const notBeforeMs = gate.observe(answer.status, answer.headers);
      const value = answerMeaning(api, call, answer, { redact, notBeforeMs });
      counter.add(call.operation, "success", clock.monotonicMs() - startMs);
      return value;
    } catch (error) {
      counter.add(call.operation, "error", clock.monotonicMs() - startMs);
      throw error;
    }
  }

  function isWorthRepeating(call: CallFacts, error: unknown): boolean {
    const isPassing = error instanceof ProviderError && error.failure === "unavailable";
    return isPassing && !call.isWrite && error.notBeforeMs === undefined && gate.closedUntilMs() === undefined;
  }

  async function callInTime<T>(call: ProviderCall<T, Send, Body, C>, purpose: Purpose): Promise<T> {
    opened ??= api.open(baseURL);
    // Loading takes longer than some deadlines; it happens once and is not the provider's time.
    const exchange = await opened;
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0) throw tooLate(api, call);
    const deadline = newDeadline(Math.min(timeoutMs, Math.ceil(leftMs)), options.signal);
    try {
      return await attempt(call, exchange, { deadline, purpose });
    } catch (error) {
      if (!isWorthRepeating(call, error)) throw error;
      await clock.sleep(api.limits.repeatDelayMs, deadline.signal);
      if (deadline.signal.aborted) throw error;
      return await attempt(call, exchange, { deadline, purpose });
    }
  }

  const withinLimit = inFlightLimit(api.limits.mostInFlight);
  const forPurpose = (purpose: Purpose): ProviderCaller<Send, Body, C> => ({
    meter: { calls: counter.calls, durations: counter.durations, rateLimit: gate.rateLimit },
    call: (call) => withinLimit(() => callInTime(call, purpose), purpose),
    for: forPurpose,
  });
  return forPurpose("address");
}

/** Throws where a call must not be sent now: the limit is used up, or the rest of it is kept for more urgent calls. */
function admission(
  voice: ProviderVoice,
  gate: RateLimitGate,
  budget: CallBudget,
): (call: CallFacts, purpose: Purpose) => void {
  return (call, purpose) => {
    const closedUntilMs = gate.closedUntilMs();
    if (closedUntilMs !== undefined) {
      const reason = "an earlier answer said that it is used up, so nothing was sent";
      throw failedCall(voice, call, { failure: "rate-limited", status: 0, reason, notBeforeMs: closedUntilMs });
    }
    const putOffUntilMs = budget.putOffUntilMs(purpose);
    if (putOffUntilMs === undefined) return;
    const reason = "the calls that are left are kept for what is more urgent";
    throw failedCall(voice, call, { failure: "put-off", status: 0, reason, notBeforeMs: putOffUntilMs });
  };
}
