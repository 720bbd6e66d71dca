import { InternalError, type ProviderError, type ProviderFailure } from "../../model/errors.ts";
import type { RateLimit } from "../../model/meter.ts";
import { oneLine } from "../../model/text.ts";
import { type Answer, type AnswerValue, jsonOf } from "../provider-http/answer.ts";
import { type Complaint, type FailureDetails, failedCall, type ProviderVoice } from "../provider-http/failures.ts";
import type { RateLimitReport } from "../provider-http/limits.ts";
import {
  type CallFacts,
  createProviderCaller,
  type ProviderAPI,
  type ProviderCall,
  type ProviderCaller,
  type ProviderOptions,
} from "../provider-http/provider-caller.ts";
import { type RequestTerms, readAnswer, sendRequest } from "../provider-http/send-request.ts";
import { loadSDK, type SDK, type SDKRequest, type Send } from "./sdk.ts";

/** Makes the calls of one Cloudflare token. */
export type Caller = ProviderCaller<Send, AnswerValue, CloudflareComplaint>;

/**
 * Returns a caller; the SDK is loaded by its first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createCaller(options: CloudflareOptions): Caller {
  return createProviderCaller(CLOUDFLARE_API, options);
}

/** How to reach Cloudflare. */
export interface CloudflareOptions extends ProviderOptions {
  /** With `/client/v4`; by default `https://api.cloudflare.com/client/v4`. */
  readonly baseURL?: string;
  /** Deadline of one call over headers, body and the repeat of a read; by default 15 s. */
  readonly timeoutMs?: number;
}

/** One call to Cloudflare: what to send and how to understand the envelope of a success. */
export type Call<T> = ProviderCall<T, Send, AnswerValue, CloudflareComplaint>;

/** How errors speak about Cloudflare. */
const CLOUDFLARE_VOICE: ProviderVoice = {
  provider: "cloudflare",
  label: "Cloudflare",
  scopeAdvice: (permission) => `Give the token the permission ${permission} for that zone.`,
};

/** What is particular to Cloudflare's API. The decoders get the envelope, `success` already checked. */
export const CLOUDFLARE_API: ProviderAPI<Send, AnswerValue, CloudflareComplaint> = {
  ...CLOUDFLARE_VOICE,
  baseURL: "https://api.cloudflare.com/client/v4",
  limits: {
    mostInFlight: 4,
    allowance: { calls: 1200, ms: 300_000, toldLimit: 1200 },
    timeoutMs: 15_000,
    repeatDelayMs: 250,
  },
  open: async (baseURL) => {
    const sdk = await loadSDK(baseURL);
    return (call, terms) => exchange(sdk, call, terms);
  },
  successOf,
  complaintOf,
  requestIDOf,
  failureOf: failureOfCodes,
  readRateLimit,
};

/** Only a 2xx whose envelope says `success: true` is a success. */
function successOf(answer: Answer): AnswerValue | undefined {
  const envelope = jsonOf(answer);
  const success = envelope.at("success");
  if (success.raw === true) return envelope;
  if (success.raw !== false) throw success.fault("true or false");
  return undefined;
}

/**
 * Sends the one request that the SDK makes of a call and returns the answer, whatever its status, with the body read before the
 * deadline.
 * @throws ProviderError `unavailable` or `timeout` when there was no answer
 */
async function exchange(sdk: SDK, call: CallFacts & { readonly send: Send }, terms: RequestTerms): Promise<Answer> {
  let outcome: { readonly answer: Answer } | { readonly error: unknown } | undefined;
  await sdk(call.send, async (request) => {
    if (outcome !== undefined) throw new InternalError(`The call ${call.operation} sends more than one request.`);
    // Kept here, because the SDK wraps what its fetch throws.
    outcome = await transport(call, terms, request).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    );
  });
  if (outcome === undefined) throw new InternalError(`The call ${call.operation} sends no request.`);
  if ("error" in outcome) throw outcome.error;
  return outcome.answer;
}

async function transport(call: CallFacts, terms: RequestTerms, { method, url, body }: SDKRequest): Promise<Answer> {
  const { token, userAgent } = terms;
  const headers = {
    Accept: "application/json",
    Authorization: `Bearer ${token}`,
    "User-Agent": userAgent,
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  };
  const request = { url, method, headers, ...(body === undefined ? {} : { body }) };
  const response = await sendRequest(CLOUDFLARE_VOICE, call, terms, request);
  return await readAnswer(CLOUDFLARE_VOICE, call, terms, response);
}

/** Cloudflare blocks a user for this long after too many requests. */
const blockSeconds = 300;

/**
 * What Cloudflare's headers say. A 429 lasts for the five minutes of Cloudflare's block; `ratelimit: …;r=0;t=…` lasts for `t`
 * seconds, and for five minutes at most. Pure.
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ (verified 2026-11-21)
 */
function readRateLimit(_status: number, headers: Headers, nowMs: number): RateLimitReport {
  const items = rateLimitItems(headers.get("ratelimit"));
  const waits = items
    .filter(({ remaining }) => remaining === 0)
    .map(({ resetSeconds = blockSeconds }) => Math.min(resetSeconds, blockSeconds));
  return {
    rateLimit: rateLimitOf(items, quotaOf(headers.get("ratelimit-policy")), nowMs),
    refusedUntilMs: nowMs + blockSeconds * 1000,
    ...(waits.length === 0 ? {} : { usedUpUntilMs: nowMs + Math.max(...waits) * 1000 }),
  };
}

/** What the item with the fewest requests left says. */
function rateLimitOf(items: readonly RateLimitItem[], limit: number | undefined, nowMs: number): RateLimit {
  const tightest = items.toSorted((a, b) => a.remaining - b.remaining)[0];
  const resetSeconds = tightest?.resetSeconds;
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(tightest === undefined ? {} : { remaining: tightest.remaining }),
    ...(resetSeconds === undefined ? {} : { resetMs: nowMs + resetSeconds * 1000 }),
  };
}

/** One item of the `ratelimit` header. */
interface RateLimitItem {
  /** Requests left. */
  readonly remaining: number;
  /** Seconds until there are more; absent when the header does not say. */
  readonly resetSeconds?: number;
}

/**
 * The items of a header like `"default";r=50;t=30`, in order; what makes no sense is left out.
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ (verified 2026-11-21)
 */
function rateLimitItems(header: string | null): readonly RateLimitItem[] {
  return (header ?? "").split(",").flatMap((item) => {
    const remaining = parameter(item, "r");
    const resetSeconds = parameter(item, "t");
    return remaining === undefined ? [] : [{ remaining, ...(resetSeconds === undefined ? {} : { resetSeconds }) }];
  });
}

/** The quota of the first item of a header like `"default";q=1200;w=300`; undefined when there is none. */
function quotaOf(header: string | null): number | undefined {
  return parameter((header ?? "").split(",")[0] ?? "", "q");
}

function parameter(item: string, name: string): number | undefined {
  const value = new RegExp(`;\\s*${name}\\s*=\\s*(\\d{1,15})\\s*(?:;|$)`).exec(item)?.[1];
  return value === undefined ? undefined : Number(value);
}

const mostCharacters = 300;
const deepestChain = 4;

/** What an answer of Cloudflare's that is no success says. */
interface CloudflareComplaint extends Complaint {
  /** One line, at most 300 characters: `1004 DNS Validation Error (9021 Invalid TTL.)`. */
  readonly text: string;
  /** The codes of the errors and of their chains, in that order. */
  readonly codes: readonly number[];
}

interface Entry {
  readonly code?: number;
  readonly message: string;
  readonly chain: readonly Entry[];
}

/**
 * What an error answer says. `error_chain` belongs to it: for a validation error only the chain names the field.
 * @see https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/ (verified 2026-11-21)
 */
function complaintOf(answer: Answer): CloudflareComplaint {
  if (answer.bodyError !== undefined) return { text: "the answer broke off", codes: [], hasModel: false };
  let body: unknown;
  try {
    body = jsonOf(answer).raw;
  } catch (fault) {
    return { text: fault instanceof Error ? fault.message : "no usable answer", codes: [], hasModel: false };
  }
  const entries = entriesOf(fieldsOf(body)["errors"], 0);
  if (entries.length === 0) return { text: "no error message", codes: [], hasModel: false };
  const text = oneLine(entries.map(textOf).join("; "));
  const shown = text.length > mostCharacters ? `${text.slice(0, mostCharacters - 1)}…` : text;
  return { text: shown, codes: entries.flatMap(codesOf), hasModel: true };
}

/** The id under which Cloudflare knows the request: the header `cf-ray`, at most 100 characters. */
function requestIDOf(answer: Answer): string | undefined {
  const header = answer.headers.get("cf-ray");
  return header ? oneLine(header).slice(0, 100) : undefined;
}

function entriesOf(raw: unknown, depth: number): readonly Entry[] {
  if (!Array.isArray(raw) || depth > deepestChain) return [];
  return raw.flatMap((item) => {
    const { code, message, error_chain: chain } = fieldsOf(item);
    const known = typeof code === "number" ? { code } : {};
    const text = typeof message === "string" ? message : "";
    if (text === "" && known.code === undefined) return [];
    return [{ ...known, message: text, chain: entriesOf(chain, depth + 1) }];
  });
}

function textOf({ code, message, chain }: Entry): string {
  const own = [code, message].filter((part) => part !== undefined && part !== "").join(" ");
  return chain.length === 0 ? own : `${own} (${chain.map(textOf).join("; ")})`;
}

function codesOf({ code, chain }: Entry): readonly number[] {
  return [...(code === undefined ? [] : [code]), ...chain.flatMap(codesOf)];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** What these codes mean whatever the status: the token is no token, or there is no such thing. */
const failureOfCode: ReadonlyMap<number, ProviderFailure> = new Map([
  [6003, "unauthorized"], // Invalid request headers; the chain says that it is the Authorization header.
  [9103, "unauthorized"],
  [9106, "unauthorized"],
  [7000, "not-found"], // No route for that URI.
  [7003, "not-found"], // Could not route: no such zone.
  [81_044, "not-found"],
]);

/** What an error answer means: of 429s and 5xxs the status says it, else the codes do, else the status. Pure. */
function failureOfCodes(status: number, complaint: CloudflareComplaint): ProviderFailure {
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 408) return "unavailable";
  const listed = complaint.codes.map((code) => failureOfCode.get(code)).find((failure) => failure !== undefined);
  return listed ?? tokenFailure(status, complaint) ?? (status === 404 ? "not-found" : "refused");
}

/**
 * 401 is a bad token; 403 is a lack of permission, although its text is often "Authentication error" (10000), except when
 * 9109 says that the token itself is invalid.
 * @see https://github.com/cloudflare/terraform-provider-cloudflare/issues/1533 (verified 2026-11-21)
 */
function tokenFailure(status: number, { codes, text }: CloudflareComplaint): ProviderFailure | undefined {
  if (codes.includes(9109)) return status === 401 || /invalid access token/i.test(text) ? "unauthorized" : "forbidden";
  if (status === 403) return "forbidden";
  return status === 401 || codes.includes(10_000) ? "unauthorized" : undefined;
}

/** The error of a call to Cloudflare with the given details. */
export function providerError(call: CallFacts, details: FailureDetails): ProviderError {
  return failedCall(CLOUDFLARE_VOICE, call, details);
}

/**
 * The id of Cloudflare's that a value is: 1 to 64 letters and digits.
 * @throws AnswerFault
 */
export function answeredID(value: AnswerValue): string {
  return value.textLike(/^[\w-]{1,64}$/, "an id");
}

/** A number of an envelope's `result_info`; undefined when it is not there. The SDK's types know only two of its fields. */
export function infoCount(envelope: AnswerValue, field: "total_count" | "total_pages"): number | undefined {
  const info = envelope.at("result_info");
  if (info.isAbsent || info.at(field).isAbsent) return undefined;
  return info.at(field).count();
}
