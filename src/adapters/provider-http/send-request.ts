import { InternalError, type ProviderError } from "../../model/errors.ts";
import { ProxyFailure } from "../http/agents.ts";
import type { Fetch } from "../http/request.ts";
import type { Answer } from "./answer.ts";
import { failedCall, type ProviderVoice } from "./failures.ts";
import { PURPOSES, type Purpose } from "./limits.ts";
import type { CallFacts } from "./provider-caller.ts";

/** What one request goes out with. */
export interface RequestTerms {
  readonly token: string;
  readonly userAgent: string;
  readonly deadline: Deadline;
  /** Sends the request, through the proxy if there is one. */
  readonly fetch: Fetch;
  /** Takes secrets out of a text of the provider. */
  readonly redact: (text: string) => string;
}

/**
 * Sends one request and returns the answer with its body unread. Redirects are not followed.
 * @throws ProviderError `unavailable`, `timeout` or, for a redirect, `malformed` when there was no answer
 * @throws InternalError, before anything is sent, when a read is no GET
 */
export async function sendRequest(
  voice: ProviderVoice,
  call: CallFacts,
  terms: RequestTerms,
  { url, ...init }: RequestInit & { readonly url: string },
): Promise<Response> {
  const { deadline, fetch } = terms;
  if (!call.isWrite && init.method !== "GET") throw new InternalError(`The read ${call.operation} is no GET.`);
  try {
    return await fetch(url, { ...init, redirect: "error", signal: deadline.signal });
  } catch (error) {
    throw noAnswer(voice, call, terms, error);
  }
}

/**
 * The answer with its body read before the deadline. A body that broke off is part of the answer: for a write the status alone
 * may already say whether it was accepted.
 */
export async function readAnswer(
  voice: ProviderVoice,
  call: CallFacts,
  terms: RequestTerms,
  response: Response,
): Promise<Answer> {
  const { status, headers } = response;
  try {
    return { status, headers, text: await response.text() };
  } catch (error) {
    return { status, headers, text: "", bodyError: noAnswer(voice, call, terms, error) };
  }
}

function noAnswer(voice: ProviderVoice, call: CallFacts, terms: RequestTerms, error: unknown): ProviderError {
  const { deadline, redact } = terms;
  return deadline.signal.aborted
    ? outOfTime(voice, call, deadline, call.isWrite)
    : brokenConnection(voice, call, error, redact);
}

/** Errors before a byte of the request was on the way: nothing can have taken effect. */
const unsentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** The error of a call whose connection failed or broke before the whole answer was there. */
function brokenConnection(
  voice: ProviderVoice,
  call: CallFacts,
  error: unknown,
  redact: (text: string) => string,
): ProviderError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
  const message = (cause instanceof Error ? cause.message : "") || code || "the connection failed";
  if (message === "unexpected redirect") {
    const reason = "a redirect, which is not followed; check the API's URL";
    // Whoever redirects may have passed the request on before.
    return failedCall(voice, call, { failure: "malformed", status: 0, reason, isAmbiguous: call.isWrite }, error);
  }
  const reason = redact(message).slice(0, 200);
  const isUnsent = (cause instanceof ProxyFailure && cause.isUnsent) || unsentCodes.has(code);
  const isAmbiguous = call.isWrite && !isUnsent;
  return failedCall(voice, call, { failure: "unavailable", status: 0, reason, isAmbiguous }, error);
}

/** When a call must be over. */
export interface Deadline {
  /** Aborted at the deadline, and when the caller gives up. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Returns a deadline that many milliseconds from now, or earlier when `stop` is aborted. Starts a timer. */
export function newDeadline(timeoutMs: number, stop: AbortSignal | undefined): Deadline {
  const timer = AbortSignal.timeout(timeoutMs);
  return { signal: stop === undefined ? timer : AbortSignal.any([stop, timer]), timeoutMs };
}

/** The error of a call whose time is over, by its deadline or because the run ends. */
export function outOfTime(
  voice: ProviderVoice,
  call: CallFacts,
  { signal, timeoutMs }: Deadline,
  isAmbiguous: boolean,
): ProviderError {
  const isDeadline = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  const reason = isDeadline
    ? `nothing complete within ${(timeoutMs / 1000).toFixed(1).replace(".0", "")} s`
    : "the run was told to stop";
  return failedCall(voice, call, { failure: "timeout", status: 0, reason, isAmbiguous });
}

/** The error of a call that the run has no time left for; nothing was sent. */
export function tooLate(voice: ProviderVoice, call: CallFacts): ProviderError {
  const reason = "the time of the run is over, so nothing was sent; allow more with --timeout";
  return failedCall(voice, call, { failure: "timeout", status: 0, reason });
}

/** Runs one task when there is room for it; resolves or rejects as the task does. */
type InFlightLimit = <T>(task: () => Promise<T>, purpose: Purpose) => Promise<T>;

/** Returns a runner that lets at most `most` tasks run at a time; of the others the most urgent goes next, and of those the first that came. */
export function inFlightLimit(most: number): InFlightLimit {
  let running = 0;
  /** Those that wait, by their purpose's turn. */
  const waiting = Object.values(PURPOSES).map((): (() => void)[] => []);
  return async (task, purpose) => {
    // The one that ends hands its place over, so that nobody slips in between.
    if (running >= most) await new Promise<void>((begin) => waiting[PURPOSES[purpose].turn]?.push(begin));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.find((queue) => queue.length > 0)?.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
