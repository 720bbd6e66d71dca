import { ProviderError } from "../../model/errors.ts";
import type { ProviderMeter } from "../../ports/ip-provider.ts";
import { type Answer, jsonOf } from "./answer.ts";
import { AnswerFault } from "./answer-value.ts";
import { checkedBaseURL } from "./base-url.ts";
import type { Call, CallFacts } from "./call.ts";
import { callCounter } from "./call-counter.ts";
import type { CloudflareOptions } from "./cloudflare-options.ts";
import { type Deadline, exchange, outOfTime } from "./exchange.ts";
import { inFlightLimit } from "./in-flight-limit.ts";
import { providerError, refusalOf } from "./provider-failure.ts";
import { rateLimitGate } from "./rate-limit-gate.ts";
import { readToken } from "./read-token.ts";
import { loadSDK, type SDK } from "./sdk.ts";
import { systemClock } from "./system-clock.ts";

const mostInFlight = 4;
const repeatDelayMs = 250;

/** Makes the calls of one token and counts them: every request sent is one count. */
export interface Caller extends ProviderMeter {
  /**
   * Makes one call and returns what it means. A read is repeated once after a 5xx or a broken connection.
   * @throws ProviderError
   */
  call<T>(call: Call<T>): Promise<T>;
}

/**
 * Returns a caller; the SDK is loaded by its first call. At most four requests are in flight, and none is sent while the
 * rate limit is used up.
 * @throws ConfigError when the base URL is not usable
 */
export function createCaller(options: CloudflareOptions): Caller {
  const { token, userAgent, timeoutMs = 15_000, clock = systemClock() } = options;
  const baseURL = checkedBaseURL(options.baseURL ?? "https://api.cloudflare.com/client/v4");
  const gate = rateLimitGate(clock);
  const counter = callCounter();
  const withinLimit = inFlightLimit(mostInFlight);
  let sdk: Promise<SDK> | undefined;

  function checkGate(call: CallFacts): void {
    const notBeforeMs = gate.closedUntilMs();
    if (notBeforeMs === undefined) return;
    throw providerError(call, {
      failure: "rate-limited",
      status: 0,
      reason: "an earlier answer said that it is used up, so nothing was sent",
      notBeforeMs,
    });
  }

  async function attempt<T>(call: Call<T>, loaded: SDK, deadline: Deadline): Promise<T> {
    const terms = { sdk: loaded, token: await readToken(call, token), userAgent, deadline };
    checkGate(call);
    if (deadline.signal.aborted) throw outOfTime(call, deadline, false);
    try {
      const answer = await exchange(call, terms);
      const notBeforeMs = gate.observe(answer.status, answer.headers);
      const value = meaningOf(call, answer, (text) => text.replaceAll(terms.token, "[token]"), notBeforeMs);
      counter.add(call.operation, "success");
      return value;
    } catch (error) {
      counter.add(call.operation, "error");
      throw error;
    }
  }

  function isWorthRepeating(call: CallFacts, error: unknown): boolean {
    const isPassing = error instanceof ProviderError && error.failure === "unavailable";
    return isPassing && !call.isWrite && error.notBeforeMs === undefined && gate.closedUntilMs() === undefined;
  }

  async function callInTime<T>(call: Call<T>): Promise<T> {
    sdk ??= loadSDK(baseURL);
    // Loading takes longer than some deadlines; it happens once and is not the provider's time.
    const loaded = await sdk;
    const deadline = newDeadline(timeoutMs, options.signal);
    try {
      return await attempt(call, loaded, deadline);
    } catch (error) {
      if (!isWorthRepeating(call, error)) throw error;
      await clock.sleep(repeatDelayMs, deadline.signal);
      if (deadline.signal.aborted) throw error;
      return await attempt(call, loaded, deadline);
    }
  }

  return {
    calls: counter.calls,
    rateLimit: gate.rateLimit,
    call: (call) => withinLimit(() => callInTime(call)),
  };
}

function newDeadline(timeoutMs: number, stop: AbortSignal | undefined): Deadline {
  const timer = AbortSignal.timeout(timeoutMs);
  return { signal: stop === undefined ? timer : AbortSignal.any([stop, timer]), timeoutMs };
}

/** Only a 2xx whose envelope says `success: true` is a success. */
function meaningOf<T>(call: Call<T>, answer: Answer, redact: (text: string) => string, notBeforeMs?: number): T {
  try {
    if (answer.status >= 200 && answer.status <= 299) {
      const envelope = jsonOf(answer);
      const success = envelope.at("success");
      if (success.raw === true) return call.decode(envelope);
      if (success.raw !== false) throw success.fault("true or false");
    }
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error;
    const reason = redact(error.message);
    throw providerError(call, { failure: "malformed", status: answer.status, reason, isAmbiguous: call.isWrite });
  }
  const refusal = refusalOf(call, answer, redact, notBeforeMs);
  const expected = call.expected?.(refusal);
  if (expected === undefined) throw refusal.error;
  return expected.value;
}
