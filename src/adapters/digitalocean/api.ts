// DigitalOcean's API as such: its limits, its errors, its lists. What is asked of it: addresses.ts, records.ts, firewalls.ts.

import type { ProviderError, ProviderFailure } from "../../model/errors.ts";
import { oneLine } from "../../model/text.ts";
import { type ListPage, readList } from "../../ports/listing.ts";
import { type Answer, AnswerFault, COUNT, fieldsOf, jsonOf, list, object, read, type Schema } from "../http/answer.ts";
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
  type Refusal,
  readErrorBody,
  refusedCall,
} from "../http/failures.ts";
import { MOMENT_MS, type RateLimitReport, toldRateLimit } from "../http/limits.ts";
import type { AnswerHeaders } from "../http/request.ts";
import { ALLOWANCE } from "./allowance.ts";
import { loadSDK, type SDK } from "./sdk.ts";

/** Makes the calls of one DigitalOcean token. */
export type Client = APIClient<SDK>;

/** One call to DigitalOcean: what to send and how to understand a 2xx answer. */
export type DigitalOceanCall<T> = Call<T, SDK>;

/** How to reach DigitalOcean. `baseURL` is without `/v2`; by default `https://api.digitalocean.com`. */
export type DigitalOceanOptions = ProviderOptions;

/**
 * Returns a client; the SDK is loaded by its first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createClient(options: DigitalOceanOptions): Client {
  return createAPIClient(DIGITALOCEAN_API, options);
}

/** How errors speak about DigitalOcean. */
const TEXTS: ProviderTexts = {
  provider: "digitalocean",
  label: "DigitalOcean",
  scopeAdvice: (scope) => `Give the token the ${scope.includes(" and ") ? "scopes" : "scope"} ${scope}.`,
};

/** What is particular to DigitalOcean's API. */
export const DIGITALOCEAN_API: ProviderAPI<SDK> = {
  ...TEXTS,
  baseURL: "https://api.digitalocean.com",
  limits: { mostInFlight: 4, allowance: { ...ALLOWANCE, toldLimit: 5000 }, timeoutMs: 15_000 },
  open: async (baseURL) => exchangeOf(TEXTS, await loadSDK(baseURL)),
  errorBodyOf,
  requestIDOf,
  failureOf,
  readRateLimit,
};

function failureOf(status: number, { text }: ErrorBody): ProviderFailure {
  if (status === 401) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 404) return "not-found";
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 408) return "unavailable";
  // The API has no code for it, so the text is the only hint: "already has a pending event", "is locked".
  const isBusy = (status === 409 || status === 422) && /pending|in progress|\blocked\b/i.test(text);
  return isBusy ? "busy" : "refused";
}

/**
 * What an error answer says: the message of either error model of the API, else what came instead of JSON.
 * Shape: one line, at most 200 characters.
 * @see https://docs.digitalocean.com/reference/api/reference/ (verified 2026-08-07)
 */
function errorBodyOf(answer: Answer): ErrorBody {
  return readErrorBody(answer, ({ id, message, error, messages }) => {
    const texts = [message ?? error, ...(Array.isArray(messages) ? messages : [])];
    const text = oneLine(texts.filter((part) => typeof part === "string").join("; "));
    return text !== "" || typeof id === "string" ? { text: (text || String(id)).slice(0, 200), codes: [] } : undefined;
  });
}

/** The request id of an answer: the header, else the error model's field. At most 100 characters. */
function requestIDOf(answer: Answer): string | undefined {
  let id: unknown = answer.headers.get("x-request-id");
  try {
    id ||= fieldsOf(jsonOf(answer))["request_id"];
  } catch {
    return undefined;
  }
  return typeof id === "string" && id !== "" ? oneLine(id).slice(0, 100) : undefined;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * What DigitalOcean's headers say. A 429 lasts until `ratelimit-reset`, and for an hour at most. A 429 that tells no time lasts for a moment: so
 * an urgent call is made again soon. If that is refused, too, it lasts for a minute.
 * `ratelimit-remaining: 0` lasts until the reset, and for a minute at most, because it may speak of the burst limit while the
 * reset speaks of the hourly one.
 * @see https://docs.digitalocean.com/reference/api/reference/#rate-limit (verified 2026-08-07)
 */
function readRateLimit(status: number, headers: AnswerHeaders, nowMs: number, refusals: number): RateLimitReport {
  const rateLimit = toldRateLimit(headers);
  const { remaining, resetMs } = rateLimit;
  const isUsedUp = status !== 429 && remaining === 0;
  const untoldMs = refusals > 1 ? MINUTE_MS : MOMENT_MS;
  return {
    rateLimit,
    refusedUntilMs: resetMs === undefined || resetMs <= nowMs ? nowMs + untoldMs : Math.min(resetMs, nowMs + HOUR_MS),
    ...(isUsedUp ? { usedUpUntilMs: Math.min(resetMs ?? nowMs + MINUTE_MS, nowMs + MINUTE_MS) } : {}),
  };
}

/** Returns what texts, errors and counters need to know about a call. A call that needs no more than scopes that read is a read. */
export function callTo(operation: string, subject: string, doing: string, scope: string): CallInfo {
  return { operation, subject, doing, scope, isWrite: !scope.endsWith(":read") };
}

/** Returns the error of a call to DigitalOcean with the given details. */
export function providerError(call: CallInfo, details: FailureDetails): ProviderError {
  return failedCall(TEXTS, call, details);
}

/** Returns the error of a call that is refused before anything is sent. */
export function refused(call: CallInfo, reason: string): ProviderError {
  return refusedCall(TEXTS, call, reason);
}

/** Says of a call that this failure is an answer, too, and what it means. */
export function expectedFailure<T>(
  failure: ProviderFailure,
  value: T,
): (refusal: Refusal) => { readonly value: T } | undefined {
  return ({ error }) => (error.failure === failure ? { value } : undefined);
}

/** How many items one call asks for: the most that the API gives. */
export const PAGE_SIZE = 200;

/** One item of a list; without a value when the list holds more than was asked for. */
interface ListItem<T> {
  readonly id: string;
  readonly value: T | undefined;
}

/** One page of a list: all items of it, whatever they are. */
export type ItemPage<T> = ListPage<ListItem<T>>;

/**
 * Returns the values of a whole list, in the order they came; one call per 200 items. `noun` names them for people.
 * @throws ProviderError `malformed` when the pages are not the whole list, see {@link readList}, so that nothing is ever taken for
 * missing because an answer was incomplete
 */
export async function listAll<T>(
  client: Client,
  noun: string,
  pageCall: (page: number) => DigitalOceanCall<ItemPage<T>>,
): Promise<readonly T[]> {
  let call = pageCall(1);
  const readPage = (page: number): Promise<ItemPage<T>> => {
    call = pageCall(page);
    return client.call(call);
  };
  const { items, problem } = await readList(readPage, { keyOf: ({ id }) => id, noun, totalField: "meta.total" });
  if (problem !== undefined) throw providerError(call, { failure: "malformed", status: 200, reason: problem });
  return items.flatMap(({ value }) => value ?? []);
}

/**
 * Returns page `page` of a list in the body of an answer, its items under `key`.
 * @throws AnswerFault; an empty page of a list that has more is a fault, too: an empty answer never means "there are none". With
 * `mayShrink` that holds for the first page only.
 */
export function readPage<T>(
  body: unknown,
  { key, page, mayShrink = false }: { readonly key: string; readonly page: number; readonly mayShrink?: boolean },
  item: Schema<T>,
): ListPage<T> & { readonly total: number } {
  const { [key]: items = [] } = read(object({ [key]: list(item) }), body);
  const { total } = read(object({ meta: object({ total: COUNT }) }), body).meta;
  if (items.length === 0 && total > (page - 1) * PAGE_SIZE && (page === 1 || !mayShrink)) {
    throw new AnswerFault(`${key} is empty although meta.total is ${total}`);
  }
  return { items, hasMore: page * PAGE_SIZE < total || namesNextPage(body), total };
}

/** True where a page says that another one follows. It holds whatever the total says: a list that names a next page is not whole without it. */
function namesNextPage(body: unknown): boolean {
  const { next } = fieldsOf(fieldsOf(fieldsOf(body)["links"])["pages"]);
  return next !== undefined && next !== null && next !== "";
}
