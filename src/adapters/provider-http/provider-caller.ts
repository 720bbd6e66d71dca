import { ConfigError, ProviderError, type ProviderFailure } from "../../model/errors.ts";
import {
  addHistograms,
  CALL_BOUNDS,
  type CallCount,
  type CallDuration,
  type Histogram,
  histogramOf,
} from "../../model/meter.ts";
import { isTokenText, UNUSABLE_TOKEN } from "../../model/text.ts";
import type { ProviderMeter } from "../../ports/providers.ts";
import type { Clock, Secrets } from "../../ports/system.ts";
import { type ChooseProxy, NO_PROXY } from "../http/proxy-choice.ts";
import { proxiedFetch } from "../http/request.ts";
import { type Answer, AnswerFault } from "./answer.ts";
import {
  type Complaint,
  failedCall,
  type ProviderVoice,
  type ReadingTerms,
  type Refusal,
  refusalOf,
} from "./failures.ts";
import {
  CallBudget,
  type CallLimits,
  type Purpose,
  type RateLimitGate,
  type RateLimitReading,
  rateLimitGate,
} from "./limits.ts";
import { type Deadline, inFlightLimit, newDeadline, outOfTime, type RequestTerms, tooLate } from "./send-request.ts";

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

/** How to reach a provider. */
export interface ProviderOptions {
  /** The API token, or where to get it; asked again for every request, so that a rotated token is used at once. */
  readonly token: string | (() => Promise<string> | string);
  /** By default where the API says that it is. */
  readonly baseURL?: string;
  readonly userAgent: string;
  /** Deadline of one call over headers, body and the repeat of a read; by default that of the API's limits. */
  readonly timeoutMs?: number;
  /** When the run must be over, in {@link Clock.monotonicMs}: no call lasts longer, and later ones are not made. */
  readonly untilMs?: number;
  /** Takes secrets out of the provider's texts, which may repeat any of them. By default it knows only the token of the call. */
  readonly secrets?: Pick<Secrets, "redactQuoted">;
  /** The proxy for the API; by default none. */
  readonly chooseProxy?: ChooseProxy;
  /** For waits. Deadlines of connections always run by the machine's own clock. */
  readonly clock: Clock;
  /** Ends calls in flight and refuses later ones when it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Sends the one request of a call and returns the answer, whatever its status, with the body read before the deadline.
 * @throws ProviderError when there was no answer
 */
type Exchange<Send> = (call: CallFacts & { readonly send: Send }, terms: RequestTerms) => Promise<Answer>;

/** How the answers that are no success are understood. */
export interface RefusalReading<C extends Complaint> extends ProviderVoice {
  /** Never throws: what is no error of the API has a text all the same. */
  readonly complaintOf: (answer: Answer) => C;
  /** The id under which the provider knows the request; at most 100 characters. */
  readonly requestIDOf: (answer: Answer) => string | undefined;
  /** What such an answer means when it is an error of the API, or has a status that needs no explanation. */
  readonly failureOf: (status: number, complaint: C) => ProviderFailure;
}

/**
 * What is particular to one provider's API. `Send` is how a call uses its SDK, `Body` what the decoders of calls are given,
 * `C` what is known about an answer that is no success.
 */
export interface ProviderAPI<Send, Body, C extends Complaint> extends RefusalReading<C> {
  /** Where the API is unless the options say otherwise. */
  readonly baseURL: string;
  readonly limits: CallLimits;
  /** Loads the SDK. */
  readonly open: (baseURL: string) => Promise<Exchange<Send>>;
  /**
   * What a 2xx hands to the decoder; undefined when it says itself that it is no success.
   * @throws AnswerFault when it is not what the API promises
   */
  readonly successOf: (answer: Answer) => Body | undefined;
  readonly readRateLimit: RateLimitReading;
}

/** One call: what to send and how to understand the answer. */
export interface ProviderCall<T, Send, Body, C extends Complaint> extends CallFacts {
  readonly send: Send;
  /** Gets what a success holds. @throws AnswerFault when it is not what the API promises */
  readonly decode: (body: Body) => T;
  /** A refusal that is an answer too, and what it means; undefined when it is none. */
  readonly expected?: (refusal: Refusal<C>) => { readonly value: T } | undefined;
}

/** What texts, errors and counters need to know about one call. */
export interface CallFacts {
  /**
   * The port's operation: `list`, `get`, `machine`, `limit`, `assign`, `unassign`, `action`, `create`, `delete`; for DNS `zone`,
   * `records`, `write`, or what an adapter writes in steps of: `add-record`, `set-ttl`, `remove-record`; for firewalls `firewalls`,
   * `firewall`, `tagged-machines`, `open-ports`, `close-ports`, `add-machines`, `remove-machines`.
   */
  readonly operation: string;
  /** The address, machine, zone, FQDN, firewall or tag the call is about; `""` for a whole list. */
  readonly subject: string;
  /** Infinitive with its object, for people: `assign 203.0.113.1 to droplet 42`. */
  readonly doing: string;
  /** What the token must be allowed for the call, as the provider's control panel names it: `reserved_ip:update`. */
  readonly scope: string;
  /** True for everything but a read: never repeated, and ambiguous when the answer is missing. */
  readonly isWrite: boolean;
  /** What a 404 means and what to do about it, when the provider's own words leave that open: one sentence. */
  readonly notFoundAdvice?: string;
}

/**
 * What an answer means to the call that asked for it: the value of a success, or of a refusal that the call expected.
 * @throws ProviderError for every other refusal, and `malformed` for an answer that is not what the API promises
 */
export function answerMeaning<T, Send, Body, C extends Complaint>(
  api: ProviderAPI<Send, Body, C>,
  call: ProviderCall<T, Send, Body, C>,
  answer: Answer,
  terms: ReadingTerms,
): T {
  const { status } = answer;
  const success = readSuccess(api, call, answer);
  if (success.kind === "value") return success.value;
  // First of all: in a text that was cut, or written in small letters, a secret is not found any more.
  const headers = new Headers([...answer.headers].map(([name, value]) => [name, terms.redact(value)]));
  const redacted = { ...answer, headers, text: terms.redact(answer.text) };
  if (success.kind === "unusable") {
    const again = readSuccess(api, call, redacted);
    const reason = terms.redact(again.kind === "unusable" ? again.reason : success.reason);
    throw failedCall(api, call, { failure: "malformed", status, reason, isAmbiguous: call.isWrite });
  }
  const refusal = refusalOf(api, call, redacted, terms);
  const expected = call.expected?.(refusal);
  if (expected === undefined) throw refusal.error;
  return expected.value;
}

type Success<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "refusal" }
  | { readonly kind: "unusable"; readonly reason: string };

function readSuccess<T, Send, Body, C extends Complaint>(
  api: ProviderAPI<Send, Body, C>,
  call: ProviderCall<T, Send, Body, C>,
  answer: Answer,
): Success<T> {
  try {
    const body = answer.status >= 200 && answer.status <= 299 ? api.successOf(answer) : undefined;
    return body === undefined ? { kind: "refusal" } : { kind: "value", value: call.decode(body) };
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error;
    return { kind: "unusable", reason: error.message };
  }
}

/** Counts requests by operation and outcome, and how long they took. */
interface CallCounter {
  add(operation: string, outcome: CallCount["outcome"], ms: number): void;
  /** Sorted by operation, then outcome; nothing with count 0. */
  calls(): readonly CallCount[];
  /** Sorted by operation. */
  durations(): readonly CallDuration[];
}

/** Returns a counter at zero. */
export function callCounter(): CallCounter {
  const counts = new Map<string, CallCount>();
  const durations = new Map<string, Histogram>();
  return {
    add(operation, outcome, ms) {
      const key = `${operation} ${outcome}`;
      counts.set(key, { operation, outcome, count: (counts.get(key)?.count ?? 0) + 1 });
      durations.set(operation, addHistograms(durations.get(operation), histogramOf([ms / 1000], CALL_BOUNDS)));
    },
    calls: () => [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count),
    durations: () =>
      [...durations].sort(([a], [b]) => (a < b ? -1 : 1)).map(([operation, seconds]) => ({ operation, seconds })),
  };
}

/**
 * The token for one request, without the line end that files bring along.
 * @throws ProviderError `unauthorized` when it cannot be had or no header could carry it; never shows the token
 */
export async function readToken(
  voice: ProviderVoice,
  call: CallFacts,
  source: ProviderOptions["token"],
): Promise<string> {
  const refused = (reason: string, cause?: unknown): ProviderError =>
    failedCall(voice, call, { failure: "unauthorized", status: 0, reason }, cause);
  let token: string;
  try {
    token = (typeof source === "string" ? source : await source()).trim();
  } catch (error) {
    throw refused(error instanceof Error ? error.message : "it could not be read", error);
  }
  if (token === "") throw refused("it is empty");
  if (!isTokenText(token)) throw refused(`it ${UNUSABLE_TOKEN}`);
  return token;
}

/**
 * An API's base URL without trailing slashes; a path prefix stays. `label` is the provider's name for people, `example` a URL
 * that would do.
 * @throws ConfigError when it is no http(s) URL, or has credentials (they would end up in error texts), a query or a hash
 */
export function checkedBaseURL(text: string, label: string, example: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new ConfigError("invalid", `The ${label} API URL is not an http or https URL; expected one like ${example}.`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new ConfigError(
      "invalid",
      `The ${label} API URL for ${url.host} must have no user, password, query or fragment; expected one like ${example}.`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}
