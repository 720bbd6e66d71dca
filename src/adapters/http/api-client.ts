// Calls to the API of one provider. Each call goes through the same steps:
//
//   its turn      at most so many requests at a time, the most urgent first        limits.ts
//   token         asked for again, since it may have been rotated
//   permission    no write is sent once the Lease is lost
//   admission     nothing is sent while the rate limit is used up, or kept          limits.ts
//   request       made by the provider's SDK, sent here: one deadline, no redirect
//   answer        read by the call; secrets leave its texts                         answer.ts, failures.ts
//   repeat        once, for a read that failed in passing                           model/waits.ts
//                 an urgent call that the limit refused for a moment                limits.ts

import { InternalError, NotSent, ProviderError } from "../../model/errors.ts";
import {
  addHistograms,
  CALL_BOUNDS,
  type CallCount,
  type CallDuration,
  type Histogram,
  histogramOf,
} from "../../model/meter.ts";
import { type Progress, waitingFor } from "../../model/progress.ts";
import { isTokenText, UNUSABLE_TOKEN } from "../../model/text.ts";
import { nextTryMs, TRIES } from "../../model/waits.ts";
import type { ProviderMeter } from "../../ports/providers.ts";
import type { Clock, Secrets } from "../../ports/system.ts";
import { type Answer, AnswerFault, jsonOf } from "./answer.ts";
import { checkedSettings } from "./client-settings.ts";
import {
  brokenConnection,
  type CallInfo,
  type ErrorReading,
  failedCall,
  type ProviderTexts,
  type Refusal,
  redirectedCall,
  refusalOf,
} from "./failures.ts";
import {
  CallBudget,
  type CallLimits,
  inFlightLimit,
  isUrgent,
  letMomentPass,
  momentAfterRefusal,
  type Purpose,
  type RateLimitGate,
  type RateLimitReading,
  rateLimitGate,
} from "./limits.ts";
import { type ChooseProxy, NO_PROXY } from "./proxy-choice.ts";
import { headersOf, readBody, type Send, sender } from "./request.ts";

/** Makes the calls of one token and counts them: every request sent is one count. `SDK` is what builds the requests. */
export interface APIClient<SDK> {
  /** Counts the calls of the token, for whatever purpose. */
  readonly meter: ProviderMeter;
  /**
   * Makes one call and returns what it means. A read is repeated once after a 5xx or a broken connection.
   * @throws ProviderError; NotSent for a write that {@link ProviderOptions.mayWrite} does not allow
   */
  call<T>(call: Call<T, SDK>): Promise<T>;
  /**
   * Returns a client of the same token for calls with this purpose. Its calls let more urgent ones go first. A part of the limit is kept for more urgent calls: once only
   * that part is left, its calls are put off.
   */
  readonly for: (purpose: Purpose) => APIClient<SDK>;
}

/** One call: what to send and how to understand the answer. */
export interface Call<T, SDK> extends CallInfo {
  /** Makes exactly one request with the SDK. What it resolves with is not used. */
  readonly send: (sdk: SDK) => Promise<unknown>;
  /** True for a POST that only asks. */
  readonly isQuestion?: boolean;
  /** Reads the JSON body of a success. @throws AnswerFault when it is not what the API promises */
  readonly read: (body: unknown) => T;
  /** What a success means whose body is missing or cannot be read. Absent if that is a failure. */
  readonly otherwise?: { readonly value: T };
  /** Returns what a refusal means that is an answer, too; undefined when it is none. */
  readonly expected?: (refusal: Refusal) => { readonly value: T } | undefined;
}

/** What is particular to one provider's API. */
export interface ProviderAPI<SDK> extends ErrorReading {
  /** Where the API is unless the options say otherwise. */
  readonly baseURL: string;
  readonly limits: CallLimits;
  /** Loads the SDK. */
  readonly open: (baseURL: string) => Promise<Exchange<SDK>>;
  /**
   * True if the body of a 2xx says itself that it is no success. Absent if the API has no such answers.
   * @throws AnswerFault when it is not what the API promises
   */
  readonly isRefusal?: (body: unknown) => boolean;
  readonly readRateLimit: RateLimitReading;
}

/** How to reach a provider. */
export interface ProviderOptions {
  /** The API token, or where to get it; asked again for every request, so that a rotated token is used at once. Undefined = the API wants none. */
  readonly token: string | (() => Promise<string> | string) | undefined;
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
  /**
   * Asked right before each write is sent. If the answer is false, nothing is sent and the call fails with NotSent. A call may wait long for its turn, or for the rate
   * limit. Meanwhile another process may have taken the Lease. Absent = writes are always allowed.
   */
  readonly mayWrite?: () => boolean;
  /** For waits. Deadlines of connections always run by the machine's own clock. */
  readonly clock: Clock;
  /** Is told while a call is under way, or waits for its turn. */
  readonly progress?: Progress;
  /** Ends calls in flight and refuses later ones when it is aborted. */
  readonly signal?: AbortSignal;
  /** Is told of each read that failed for good: its request id is in no text that is stored. */
  readonly onFailedRead?: (error: ProviderError) => void;
}

/**
 * Returns a client for the most urgent calls. Its first call loads the SDK. No more requests are in flight than the API's limits allow, and none is
 * sent while the rate limit is used up.
 * @throws ConfigError when the base URL, the proxy for it or the user agent is not usable
 */
export function createAPIClient<SDK>(api: ProviderAPI<SDK>, options: ProviderOptions): APIClient<SDK> {
  const { secrets, timeoutMs = api.limits.timeoutMs, untilMs = Number.POSITIVE_INFINITY, clock } = options;
  const { baseURL, userAgent } = checkedSettings(api, options);
  const chooseProxy = options.chooseProxy ?? NO_PROXY;
  // A wrong proxy setting is refused here, once, and not by each call.
  chooseProxy(new URL(baseURL));
  const send = sender(chooseProxy);
  const gate = rateLimitGate(clock, api.readRateLimit);
  const budget = new CallBudget(clock, api.limits.allowance, gate.rateLimit);
  const counter = callCounter();
  const inTurn = inFlightLimit(api.limits.mostInFlight);
  let opened: Promise<Exchange<SDK>> | undefined;

  async function attempt<T>(
    call: Call<T, SDK>,
    exchange: Exchange<SDK>,
    { deadline, purpose }: { readonly deadline: Deadline; readonly purpose: Purpose },
  ): Promise<T> {
    const token = await readToken(api, call, options.token);
    const redact = (text: string): string =>
      secrets?.redactQuoted(text) ?? (token === "" ? text : text.replaceAll(token, "[redacted]"));
    if (isUrgent(purpose)) await letMomentPass(clock, gate, budget, deadline.signal);
    if (call.isWrite && options.mayWrite?.() === false) throw notSent(call);
    admit(api, call, gate.closedUntilMs(), gate.leftToOthersUntilMs(purpose) ?? budget.putOffUntilMs(purpose));
    if (deadline.signal.aborted) throw outOfTime(api, call, deadline, false);
    const startMs = clock.monotonicMs();
    let outcome: CallCount["outcome"] = "error";
    budget.spend();
    try {
      const answer = await exchange(call, { token, userAgent, deadline, send, redact });
      const notBeforeMs = gate.observe(answer.status, answer.headers, {
        sentAtMs: startMs,
        budget,
        kind: call.isWrite ? "write" : "read",
      });
      const value = interpretResponse(api, call, answer, { redact, notBeforeMs });
      outcome = "success";
      return value;
    } finally {
      counter.add(call.operation, outcome, clock.monotonicMs() - startMs);
    }
  }

  async function callInTime<T>(call: Call<T, SDK>, purpose: Purpose): Promise<T> {
    opened ??= api.open(baseURL);
    // Loading takes longer than some deadlines; it happens once and is not the provider's time.
    const exchange = await opened;
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0) throw tooLate(api, call);
    const deadline = newDeadline(Math.min(timeoutMs, Math.ceil(leftMs)), options.signal);
    const terms = { clock, gate, purpose, signal: deadline.signal, told };
    return await repeated(call, () => attempt(call, exchange, { deadline, purpose }), terms);
  }

  function told(call: CallInfo, error: unknown): unknown {
    if (!call.isWrite && error instanceof ProviderError) options.onFailedRead?.(error);
    return error;
  }

  const forPurpose = (purpose: Purpose): APIClient<SDK> => ({
    meter: { calls: counter.calls, durations: counter.durations, rateLimit: gate.rateLimit },
    call: (call) =>
      waitingFor(options.progress, { kind: "provider", name: api.provider }, () =>
        inTurn(() => callInTime(call, purpose), { purpose, isWrite: call.isWrite }),
      ),
    for: forPurpose,
  });
  return forPurpose("address");
}

/** What decides whether a call that failed is made again. */
interface Repeats {
  readonly clock: Clock;
  readonly gate: Pick<RateLimitGate, "closedUntilMs">;
  readonly purpose: Purpose;
  readonly signal: AbortSignal;
  /** Is told of what a call failed with for good. Returns it. */
  readonly told: (call: CallInfo, error: unknown) => unknown;
}

/** Makes a call, and makes it again after what is over soon. @throws what it fails with in the end */
async function repeated<T>(call: CallInfo, once: () => Promise<T>, terms: Repeats, tries = 0): Promise<T> {
  try {
    return await once();
  } catch (error) {
    const waitMs = againInMs(call, error, terms, tries);
    if (waitMs === undefined) throw terms.told(call, error);
    await terms.clock.sleep(waitMs, terms.signal);
    if (terms.signal.aborted) throw error;
    return await repeated(call, once, terms, tries + 1);
  }
}

/** After how long a call that failed is made again, milliseconds; undefined where it is given up. */
function againInMs(
  call: CallInfo,
  error: unknown,
  { clock, gate, purpose }: Repeats,
  tries: number,
): number | undefined {
  if (!(error instanceof ProviderError)) return undefined;
  if (error.failure === "rate-limited" && error.status === 429) return momentAfterRefusal(clock, gate, purpose, tries);
  const isPassing = error.failure === "unavailable" && error.notBeforeMs === undefined;
  const mayRepeat = isPassing && !call.isWrite && gate.closedUntilMs() === undefined;
  return mayRepeat ? nextTryMs(TRIES.providerRead, tries) : undefined;
}

/** @throws ProviderError where the call must not be sent now: the limit is used up, or the rest of it is kept for more urgent calls. */
function admit(
  texts: ProviderTexts,
  call: CallInfo,
  closedUntilMs: number | undefined,
  putOffUntilMs: number | undefined,
): void {
  if (closedUntilMs !== undefined) {
    const reason = "an earlier answer said that it is used up, so nothing was sent";
    throw failedCall(texts, call, { failure: "rate-limited", status: 0, reason, notBeforeMs: closedUntilMs });
  }
  if (putOffUntilMs === undefined) return;
  const reason = "the calls that are left are kept for what is more urgent";
  throw failedCall(texts, call, { failure: "put-off", status: 0, reason, notBeforeMs: putOffUntilMs });
}

/**
 * Returns the token for one request, without the line end that files bring along; `""` if the API wants none.
 * @throws ProviderError `unauthorized` when it cannot be had or no header could carry it; never shows the token
 */
export async function readToken(
  texts: ProviderTexts,
  call: CallInfo,
  source: ProviderOptions["token"],
): Promise<string> {
  const refused = (reason: string, cause?: unknown): ProviderError =>
    failedCall(texts, call, { failure: "unauthorized", status: 0, reason }, cause);
  if (source === undefined) return "";
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

/** When a call must be over. */
interface Deadline {
  /** Aborted at the deadline, and when the run is told to stop. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Returns a deadline that many milliseconds from now, or earlier when `stop` is aborted. Starts a timer. */
function newDeadline(timeoutMs: number, stop: AbortSignal | undefined): Deadline {
  const timer = AbortSignal.timeout(timeoutMs);
  return { signal: stop === undefined ? timer : AbortSignal.any([stop, timer]), timeoutMs };
}

/** Returns the error of a call whose time is over, by its deadline or because the run ends. */
function outOfTime(texts: ProviderTexts, call: CallInfo, deadline: Deadline, isAmbiguous: boolean): ProviderError {
  const { reason: why } = deadline.signal;
  const isDeadline = why instanceof DOMException && why.name === "TimeoutError";
  const reason = isDeadline
    ? `nothing complete within ${(deadline.timeoutMs / 1000).toFixed(1).replace(".0", "")} s`
    : "the run was told to stop";
  return failedCall(texts, call, { failure: "timeout", status: 0, reason, isAmbiguous });
}

/** Returns the error of a call that the run has no time left for; nothing was sent. */
function tooLate(texts: ProviderTexts, call: CallInfo): ProviderError {
  const reason = "the time of the run is over, so nothing was sent; allow more with --timeout";
  return failedCall(texts, call, { failure: "timeout", status: 0, reason });
}

/** Returns the error of a write that this process may not make any more. */
export function notSent({ doing }: CallInfo): NotSent {
  return new NotSent(`Did not ${doing}: the Lease was lost.`);
}

/** What one request goes out with. */
interface RequestTerms {
  /** `""` = none is sent. */
  readonly token: string;
  readonly userAgent: string;
  readonly deadline: Deadline;
  /** Sends the request, through the proxy if there is one. */
  readonly send: Send;
  /** Takes secrets out of a text of the provider. */
  readonly redact: (text: string) => string;
}

/**
 * Sends the one request of a call and returns the answer, whatever its status, with the body read before the deadline.
 * @throws ProviderError when there was no answer
 */
export type Exchange<SDK> = (
  call: CallInfo & Pick<Call<unknown, SDK>, "send" | "isQuestion">,
  terms: RequestTerms,
) => Promise<Answer>;

/** A request as an SDK made it, without headers. */
interface SDKRequest {
  /** Upper-case. */
  readonly method: string;
  readonly url: string;
  /** JSON; absent when the request has none. */
  readonly body?: string;
}

/** Sends one request to a path of an API that needs no SDK; a body is sent as JSON. */
export type PlainRequest = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Returns what stands in for an SDK where requests are written by hand: see {@link exchangeOf}. */
export function plainRequests(
  baseURL: string,
): (send: (request: PlainRequest) => Promise<unknown>, fetch: SDKFetch) => Promise<unknown> {
  return (send, fetch) =>
    send((method, path, body) =>
      fetch(`${baseURL}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    );
}

/** What an SDK sends its requests with. */
export type SDKFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Returns an exchange over HTTP. The SDK builds method, URL and body, and never sees an answer: `withSDK` runs a call with an SDK whose requests go
 * to the given fetch, which takes down the request and fails. `mediaType` is that of bodies in both directions.
 */
export function exchangeOf<SDK>(
  texts: ProviderTexts,
  withSDK: (send: (sdk: SDK) => Promise<unknown>, fetch: SDKFetch) => Promise<unknown>,
  mediaType: string = "application/json",
): Exchange<SDK> {
  return async (call, terms) => {
    const requests: SDKRequest[] = [];
    await withSDK(call.send, async (url, { method = "GET", body } = {}) => {
      const text = body == null ? {} : { body: textOf(body) };
      requests.push({ method: method.toUpperCase(), url: String(url), ...text });
      throw new Error("the request is taken down");
    }).catch((error: unknown) => {
      if (requests.length === 0) throw error;
    });
    const [request, another] = requests;
    if (request === undefined) throw new InternalError(`The call ${call.operation} sends no request.`);
    if (another !== undefined) throw new InternalError(`The call ${call.operation} sends more than one request.`);
    if (!call.isWrite && call.isQuestion !== true && request.method !== "GET")
      throw new InternalError(`The read ${call.operation} is no GET.`);
    return await sendRequest(texts, call, terms, { ...request, mediaType });
  };
}

/** Returns a body as the SDKs make it: text, or bytes of text. */
function textOf(body: NonNullable<RequestInit["body"]>): string {
  if (typeof body === "string") return body;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  throw new InternalError("The body of a request is neither text nor bytes.");
}

/** The statuses of redirects. */
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** A body that broke off is part of the answer: for a write the status alone may already say whether it was accepted. Redirects are not followed. */
async function sendRequest(
  texts: ProviderTexts,
  call: CallInfo,
  { token, userAgent, deadline, send, redact }: RequestTerms,
  { method, url, body, mediaType }: SDKRequest & { readonly mediaType: string },
): Promise<Answer> {
  const { signal } = deadline;
  const noAnswer = (error: unknown): ProviderError =>
    signal.aborted ? outOfTime(texts, call, deadline, call.isWrite) : brokenConnection(texts, call, error, redact);
  const login = token === "" ? {} : { Authorization: `Bearer ${token}` };
  const common = { Accept: mediaType, ...login, "User-Agent": userAgent };
  const content = body === undefined ? {} : { headers: { ...common, "Content-Type": mediaType }, body };
  const response = await send(url, { method, headers: common, ...content, signal }).catch((error: unknown) => {
    throw noAnswer(error);
  });
  const { statusCode: status = 0 } = response;
  if (REDIRECTS.includes(status)) {
    response.destroy();
    throw redirectedCall(texts, call);
  }
  const headers = headersOf(response);
  try {
    return { status, headers, text: new TextDecoder().decode(await readBody(response)) };
  } catch (error) {
    return { status, headers, text: "", bodyError: noAnswer(error) };
  }
}

/**
 * Returns what an answer means to the call that asked for it: the value of a success, or of a refusal that the call expected.
 * @throws ProviderError for every other refusal, and `malformed` for an answer that is not what the API promises
 */
export function interpretResponse<T, SDK>(
  api: ProviderAPI<SDK>,
  call: Call<T, SDK>,
  answer: Answer,
  terms: { readonly redact: (text: string) => string; readonly notBeforeMs: number | undefined },
): T {
  const success = readSuccess(api, call, answer);
  if (success.kind === "value") return success.value;
  const { redact } = terms;
  // First of all: in a text that was cut, or written in small letters, a secret is not found any more.
  const headers = new Map([...answer.headers].map(([name, value]) => [name, redact(value)]));
  const redacted = { ...answer, headers, text: redact(answer.text) };
  if (success.kind === "unusable") {
    const again = readSuccess(api, call, redacted);
    const reason = redact(again.kind === "unusable" ? again.reason : success.reason);
    const { status } = answer;
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

function readSuccess<T, SDK>(api: ProviderAPI<SDK>, call: Call<T, SDK>, answer: Answer): Success<T> {
  if (answer.status < 200 || answer.status > 299) return { kind: "refusal" };
  try {
    const body = jsonOf(answer);
    if (api.isRefusal?.(body) === true) return { kind: "refusal" };
    return { kind: "value", value: call.read(body) };
  } catch (error) {
    if (call.otherwise !== undefined) return { kind: "value", value: call.otherwise.value };
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
