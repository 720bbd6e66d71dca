// Hetzner Cloud's API as such: its limits, its errors, its lists. What is asked of it: addresses.ts, firewalls.ts, records.ts, write-records.ts.
//
// There is no client for JavaScript that is well kept (2026-11), so requests are written by hand.
// Source: Hetzner's own description of the API (July 2026) and its client hcloud-go v2.47.0, read 2026-11-22. What they leave open is said where it matters.

import type { ProviderError, ProviderFailure } from "../../model/errors.ts";
import { oneLine } from "../../model/text.ts";
import { type ListPage, readList } from "../../ports/listing.ts";
import {
  ANY,
  type Answer,
  COUNT,
  check,
  fieldsOf,
  list,
  map,
  maybe,
  object,
  read,
  readable,
  type Schema,
  TEXT,
} from "../http/answer.ts";
import {
  type APIClient,
  type Call,
  createAPIClient,
  exchangeOf,
  type PlainRequest,
  type ProviderAPI,
  type ProviderOptions,
  plainRequests,
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
import { type RateLimitReport, toldRateLimit } from "../http/limits.ts";
import type { AnswerHeaders } from "../http/request.ts";
import { ALLOWANCE } from "./traits.ts";

/** Makes the calls of one token, which is that of one project. */
export type Client = APIClient<PlainRequest>;

/** One call to Hetzner: what to send and how to understand a 2xx answer. */
export type HetznerCall<T> = Call<T, PlainRequest>;

/** How to reach Hetzner. `baseURL` has the version: by default it is `https://api.hetzner.cloud/v1`. */
export type HetznerOptions = ProviderOptions;

/**
 * Returns a client of one token.
 * @throws ConfigError when the base URL is not usable
 */
export function createClient(options: HetznerOptions): Client {
  return createAPIClient(HETZNER_API, options);
}

/** How errors speak about Hetzner. */
const TEXTS: ProviderTexts = {
  provider: "hetzner",
  label: "Hetzner",
  scopeAdvice: (scope) => `Give flipop a token with the permission ${scope}.`,
};

/** What is particular to Hetzner's API. */
export const HETZNER_API: ProviderAPI<PlainRequest> = {
  ...TEXTS,
  baseURL: "https://api.hetzner.cloud/v1",
  limits: { mostInFlight: 4, allowance: { ...ALLOWANCE, toldLimit: ALLOWANCE.calls }, timeoutMs: 15_000 },
  open: async (baseURL) => exchangeOf(TEXTS, plainRequests(baseURL)),
  errorBodyOf,
  requestIDOf: ({ headers }) => oneLine(headers.get("x-correlation-id") ?? "").slice(0, 100) || undefined,
  failureOf,
  readRateLimit,
};

/** What a code means that says more than the status of the answer. */
const FAILURES: ReadonlyMap<number | string, ProviderFailure> = new Map([
  ["token_readonly", "forbidden"],
  ["maintenance", "unavailable"],
  // The project has as many as it may have. There is no call that tells how many those are.
  ["resource_limit_exceeded", "over-quota"],
  // "There is already an action running", "changed during the request", and what cannot be had now: nothing was changed, and soon it may work.
  ["locked", "busy"],
  ["conflict", "busy"],
  ["resource_unavailable", "busy"],
]);

function failureOf(status: number, { codes: [code = ""] }: ErrorBody): ProviderFailure {
  const known = FAILURES.get(code);
  if (known !== undefined) return known;
  if (status === 401) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 404) return "not-found";
  if (status === 429) return "rate-limited";
  return status >= 500 || status === 408 ? "unavailable" : "refused";
}

const FIELD_FAULT = object({ name: TEXT, messages: maybe(list(TEXT)) });

/**
 * What an error answer says: its message, and for bad fields which they are. One line, at most 300 characters. The router answers 404 with the same code where there is
 * no such path: that is a wrong URL, and nothing is gone because of it (seen by others, 2026-09).
 */
function errorBodyOf(answer: Answer): ErrorBody {
  const body = readErrorBody(answer, ({ error }) => {
    const { code, message, details } = fieldsOf(error);
    if (typeof code !== "string" || typeof message !== "string") return undefined;
    const faults = (readable(object({ fields: maybe(list(FIELD_FAULT)) }), details)?.fields ?? []).map(
      ({ name, messages = [] }) => [name, ...messages].join(": "),
    );
    const named = readable(object({ limits: list(object({ name: TEXT })) }), details)?.limits.map(({ name }) => name);
    const more = [...faults, ...(named ?? [])].filter((text) => !message.includes(text));
    const text = oneLine([message || code, ...(more.length === 0 ? [] : [`(${more.join(", ")})`])].join(" "));
    return { text: text.slice(0, 300), codes: [code] };
  });
  const isRouter = answer.status === 404 && /\broute\b/i.test(body.text);
  return isRouter ? { ...body, isFromAPI: false } : body;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

/**
 * What Hetzner's headers say. `RateLimit-Reset` is when all calls are there again, which can be an hour away: calls come back one each second. So a 429 is waited for by
 * growing spans, as Hetzner's own clients do.
 */
function readRateLimit(_status: number, headers: AnswerHeaders, nowMs: number, refusals: number): RateLimitReport {
  const rateLimit = toldRateLimit(headers);
  return {
    rateLimit,
    refusedUntilMs: nowMs + Math.min(FIRST_WAIT_MS * 2 ** (refusals - 1), LONGEST_WAIT_MS),
    ...(rateLimit.remaining === 0 ? { usedUpUntilMs: nowMs + FIRST_WAIT_MS } : {}),
  };
}

/** Returns what texts, errors and counters need to know about a call that reads. */
export function reading(operation: string, subject: string, doing: string): CallInfo {
  return { operation, subject, doing, scope: "Read", isWrite: false };
}

/** The same of a call that changes something. */
export function writing(operation: string, subject: string, doing: string): CallInfo {
  return { operation, subject, doing, scope: "Read & Write", isWrite: true };
}

/** Returns the error of a call to Hetzner with the given details. */
export function providerError(call: CallInfo, details: FailureDetails): ProviderError {
  return failedCall(TEXTS, call, details);
}

/** Returns the error of a call that is refused before anything is sent. */
export function refused(call: CallInfo, reason: string): ProviderError {
  return refusedCall(TEXTS, call, reason);
}

/** Says of a call that a refusal with this failure, or with this code, is an answer, too, and what it means. */
export function expectedAs<T>(
  what: ProviderFailure | { readonly code: string },
  value: T,
): (refusal: Refusal) => { readonly value: T } | undefined {
  return ({ error, codes }) =>
    (typeof what === "string" ? error.failure === what : codes.includes(what.code)) ? { value } : undefined;
}

const PAGINATION = object({
  meta: object({
    pagination: object({ next_page: maybe(COUNT), total_entries: maybe(COUNT), last_page: maybe(COUNT) }),
  }),
});

const LAST_PAGE = object({
  meta: object({ pagination: object({ next_page: check(ANY, (next) => next === null, "a page or null") }) }),
});

/**
 * Returns the page of a list that an answer holds, its items under `key`. Where its next page is `null` it is the last one. It need not tell a total.
 * @throws AnswerFault also where it tells neither a next page nor a total: nobody knows then whether the list is whole
 */
export function readPage<T>(body: unknown, key: string, item: Schema<T>): ListPage<T> {
  const { [key]: items = [] } = read(object({ [key]: list(item) }), body);
  const { next_page: next, total_entries: total, last_page: pages } = read(PAGINATION, body).meta.pagination;
  if (next === undefined && total === undefined) read(LAST_PAGE, body);
  return {
    items,
    hasMore: next !== undefined,
    ...(total === undefined ? {} : { total }),
    ...(pages === undefined ? {} : { pages }),
  };
}

/**
 * Returns all items of a list, in the order they came.
 * @throws ProviderError `malformed` when the pages are not the whole list, see {@link readList}, so that nothing is ever taken for missing because an answer was incomplete
 */
export async function listAll<T>(
  client: Client,
  { noun, keyOf }: { readonly noun: string; readonly keyOf: (item: T) => string },
  pageCall: (page: number) => HetznerCall<ListPage<T>>,
): Promise<readonly T[]> {
  const words = { keyOf, noun, totalField: "meta.pagination.total_entries" };
  const { items, problem } = await readList((page) => client.call(pageCall(page)), words);
  if (problem !== undefined) throw providerError(pageCall(1), { failure: "malformed", status: 200, reason: problem });
  return items;
}

/** Returns a path with a query; a list of values repeats its key. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    [value ?? []].flat().map((one) => [key, String(one)] as [string, string]),
  );
  return `${path}?${new URLSearchParams(pairs)}`;
}

/** Reads a numeric id > 0 as decimal text. */
export const ID: Schema<string> = map(
  check(ANY, (value) => Number.isSafeInteger(value) && Number(value) > 0, "a numeric id"),
  String,
);

/** Returns the id of a server as the number that the API takes. @throws ProviderError `refused` when JavaScript does not hold it exactly */
export function serverNumber(call: CallInfo, machineID: string): number {
  const number = wholeNumber(machineID);
  if (number !== undefined) return number;
  throw refused({ ...call, subject: machineID }, `${JSON.stringify(machineID)} is not the id of a server`);
}

/** Returns the number > 0 that a decimal text is; undefined if JavaScript does not hold it exactly. */
export function wholeNumber(text: string): number | undefined {
  const number = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
