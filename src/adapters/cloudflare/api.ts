// Cloudflare's API as such: its envelope, its limits, its errors. What is asked of it: zones.ts, records.ts.

import type { ProviderError, ProviderFailure } from "../../model/errors.ts";
import type { RateLimit } from "../../model/meter.ts";
import { oneLine } from "../../model/text.ts";
import {
  type Answer,
  COUNT,
  FLAG,
  fieldsOf,
  list,
  maybe,
  object,
  read,
  type Schema,
  textLike,
} from "../http/answer.ts";
import {
  type APIClient,
  type Call,
  createAPIClient,
  exchangeOf,
  type ProviderAPI,
  type ProviderOptions,
} from "../http/api-client.ts";
import {
  type CallInfo,
  type ErrorBody,
  type FailureDetails,
  failedCall,
  type ProviderTexts,
  readErrorBody,
  refusedCall,
} from "../http/failures.ts";
import type { RateLimitReport } from "../http/limits.ts";
import type { AnswerHeaders } from "../http/request.ts";
import { ALLOWANCE } from "./allowance.ts";
import { loadSDK, type SDK } from "./sdk.ts";

/** Makes the calls of one Cloudflare token. */
export type Client = APIClient<SDK>;

/** One call to Cloudflare: what to send and how to understand the envelope of a success. */
export type CloudflareCall<T> = Call<T, SDK>;

/** How to reach Cloudflare. `baseURL` is with `/client/v4`; by default `https://api.cloudflare.com/client/v4`. */
export type CloudflareOptions = ProviderOptions;

/**
 * Returns a client; the SDK is loaded by its first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createClient(options: CloudflareOptions): Client {
  return createAPIClient(CLOUDFLARE_API, options);
}

/** How errors speak about Cloudflare. */
const TEXTS: ProviderTexts = {
  provider: "cloudflare",
  label: "Cloudflare",
  scopeAdvice: (permission) => `Give the token the permission ${permission} for that zone.`,
};

/** What is particular to Cloudflare's API. Only a 2xx whose envelope says `success: true` is a success. */
export const CLOUDFLARE_API: ProviderAPI<SDK> = {
  ...TEXTS,
  baseURL: "https://api.cloudflare.com/client/v4",
  limits: { mostInFlight: 4, allowance: { ...ALLOWANCE, toldLimit: 1200 }, timeoutMs: 15_000 },
  open: async (baseURL) => exchangeOf(TEXTS, await loadSDK(baseURL)),
  isRefusal: (body) => !read(object({ success: FLAG }), body).success,
  errorBodyOf,
  requestIDOf: ({ headers }) => oneLine(headers.get("cf-ray") ?? "").slice(0, 100) || undefined,
  failureOf,
  readRateLimit,
};

/** Cloudflare blocks a user for this long after too many requests. */
const BLOCK_SECONDS = 300;

/**
 * What Cloudflare's headers say. A 429 lasts for the five minutes of Cloudflare's block; `ratelimit: …;r=0;t=…` lasts for `t`
 * seconds, and for five minutes at most.
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ (verified 2026-11-21)
 */
function readRateLimit(_status: number, headers: AnswerHeaders, nowMs: number): RateLimitReport {
  const items = rateLimitItems(headers.get("ratelimit"));
  const waits = items
    .filter(({ remaining }) => remaining === 0)
    .map(({ resetSeconds = BLOCK_SECONDS }) => Math.min(resetSeconds, BLOCK_SECONDS));
  return {
    rateLimit: rateLimitOf(items, quotaOf(headers.get("ratelimit-policy")), nowMs),
    refusedUntilMs: nowMs + BLOCK_SECONDS * 1000,
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
function rateLimitItems(header: string | undefined): readonly RateLimitItem[] {
  return (header ?? "").split(",").flatMap((item) => {
    const remaining = parameter(item, "r");
    const resetSeconds = parameter(item, "t");
    return remaining === undefined ? [] : [{ remaining, ...(resetSeconds === undefined ? {} : { resetSeconds }) }];
  });
}

/** The quota of the first item of a header like `"default";q=1200;w=300`; undefined when there is none. */
function quotaOf(header: string | undefined): number | undefined {
  return parameter((header ?? "").split(",")[0] ?? "", "q");
}

function parameter(item: string, name: string): number | undefined {
  const value = new RegExp(`;\\s*${name}\\s*=\\s*(\\d{1,15})\\s*(?:;|$)`).exec(item)?.[1];
  return value === undefined ? undefined : Number(value);
}

const MOST_CHARACTERS = 300;
const DEEPEST_CHAIN = 4;

/** One of the errors of an answer, with those that it names as its cause. */
interface Entry {
  readonly code?: number;
  readonly message: string;
  readonly chain: readonly Entry[];
}

/**
 * What an error answer says, at most 300 characters: `1004 DNS Validation Error (9021 Invalid TTL.)`. `error_chain` belongs to it: for a validation
 * error only the chain names the field. The codes are those of the errors and of their chains, in that order.
 * @see https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/ (verified 2026-11-21)
 */
function errorBodyOf(answer: Answer): ErrorBody {
  return readErrorBody(answer, ({ errors }) => {
    const entries = entriesOf(errors, 0);
    if (entries.length === 0) return undefined;
    const text = oneLine(entries.map(textOf).join("; "));
    const shown = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
    return { text: shown, codes: entries.flatMap(codesOf) };
  });
}

function entriesOf(raw: unknown, depth: number): readonly Entry[] {
  if (!Array.isArray(raw) || depth > DEEPEST_CHAIN) return [];
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

/** What these codes mean whatever the status: the token is no token, or there is no such thing. */
const FAILURES: ReadonlyMap<number | string, ProviderFailure> = new Map([
  [6003, "unauthorized"], // Invalid request headers; the chain says that it is the Authorization header.
  [9103, "unauthorized"],
  [9106, "unauthorized"],
  [7000, "not-found"], // No route for that URI.
  [7003, "not-found"], // Could not route: no such zone.
  [81_044, "not-found"],
]);

/** What an error answer means: of 429s and 5xxs the status says it, else the codes do, else the status. */
function failureOf(status: number, body: ErrorBody): ProviderFailure {
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 408) return "unavailable";
  const listed = body.codes.map((code) => FAILURES.get(code)).find((failure) => failure !== undefined);
  return listed ?? tokenFailure(status, body) ?? (status === 404 ? "not-found" : "refused");
}

/**
 * 401 is a bad token; 403 is a lack of permission, although its text is often "Authentication error" (10000), except when
 * 9109 says that the token itself is invalid.
 * @see https://github.com/cloudflare/terraform-provider-cloudflare/issues/1533 (verified 2026-11-21)
 */
function tokenFailure(status: number, { codes, text }: ErrorBody): ProviderFailure | undefined {
  if (codes.includes(9109)) return status === 401 || /invalid access token/i.test(text) ? "unauthorized" : "forbidden";
  if (status === 403) return "forbidden";
  return status === 401 || codes.includes(10_000) ? "unauthorized" : undefined;
}

/** Returns the error of a call to Cloudflare with the given details. */
export function providerError(call: CallInfo, details: FailureDetails): ProviderError {
  return failedCall(TEXTS, call, details);
}

/** Returns the error of a call that is refused before anything is sent. */
export function refused(call: CallInfo, reason: string): ProviderError {
  return refusedCall(TEXTS, call, reason);
}

/** Reads an id of Cloudflare's: 1 to 64 letters and digits. */
export const ID: Schema<string> = textLike((text) => /^[\w-]{1,64}$/.test(text), "an id");

/** The items of an answer, with its counts; a count is undefined when it is not there. */
interface Listed<T> {
  readonly items: readonly T[];
  readonly total: number | undefined;
  readonly pages: number | undefined;
}

/** Returns the list in an envelope. @throws AnswerFault */
export function readItems<T>(envelope: unknown, item: Schema<T>): Listed<T> {
  // The SDK's types know only two fields of `result_info`.
  const info = maybe(object({ total_pages: maybe(COUNT), total_count: maybe(COUNT) }));
  const { result, result_info: counts } = read(object({ result: list(item), result_info: info }), envelope);
  return { items: result, total: counts?.total_count, pages: counts?.total_pages };
}
