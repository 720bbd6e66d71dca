import type { ProviderError, ProviderFailure } from "../../model/errors.ts";
import type { RateLimit } from "../../model/meter.ts";
import { oneLine } from "../../model/text.ts";
import { type ListPage, readList } from "../../ports/listing.ts";
import { type Answer, AnswerFault, type AnswerValue, jsonOf } from "../provider-http/answer.ts";
import {
  type Complaint,
  type FailureDetails,
  failedCall,
  type ProviderVoice,
  type Refusal,
} from "../provider-http/failures.ts";
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
import { loadSDK, type SDK, type Send } from "./sdk.ts";

/** Makes the calls of one DigitalOcean token. */
export type Caller = ProviderCaller<Send, Answer, Complaint>;

/**
 * Returns a caller; the SDK is loaded by its first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createCaller(options: DigitalOceanOptions): Caller {
  return createProviderCaller(DIGITALOCEAN_API, options);
}

/** How to reach DigitalOcean. */
export interface DigitalOceanOptions extends ProviderOptions {
  /** Without `/v2`; by default `https://api.digitalocean.com`. */
  readonly baseURL?: string;
  /** Deadline of one call over headers, body and the repeat of a read; by default 15 s. */
  readonly timeoutMs?: number;
}

/** One call to DigitalOcean: what to send and how to understand a 2xx answer. */
export type Call<T> = ProviderCall<T, Send, Answer, Complaint>;

/** How errors speak about DigitalOcean. */
const DIGITALOCEAN_VOICE: ProviderVoice = {
  provider: "digitalocean",
  label: "DigitalOcean",
  scopeAdvice: (scope) => `Give the token the ${scope.includes(" and ") ? "scopes" : "scope"} ${scope}.`,
};

/** What is particular to DigitalOcean's API. The decoders get the answer itself: a write is accepted even without a body. */
export const DIGITALOCEAN_API: ProviderAPI<Send, Answer, Complaint> = {
  ...DIGITALOCEAN_VOICE,
  baseURL: "https://api.digitalocean.com",
  limits: {
    mostInFlight: 4,
    allowance: { calls: 250, ms: 60_000, toldLimit: 5000 },
    timeoutMs: 15_000,
    repeatDelayMs: 250,
  },
  open: async (baseURL) => {
    const sdk = await loadSDK(baseURL);
    return (call, terms) => exchange(sdk, call, terms);
  },
  successOf: (answer) => answer,
  complaintOf,
  requestIDOf,
  failureOf,
  readRateLimit,
};

function failureOf(status: number, { text }: Complaint): ProviderFailure {
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
 * Sends one request through the SDK and returns the answer, whatever its status, with the body read before the deadline.
 * @throws ProviderError `unavailable` or `timeout` when there was no answer
 */
async function exchange(sdk: SDK, call: CallFacts & { readonly send: Send }, terms: RequestTerms): Promise<Answer> {
  const { token, userAgent } = terms;
  let isSent = false;
  const response = await sdk(call.send, {
    headers: { Authorization: `Bearer ${token}`, "User-Agent": userAgent },
    fetch: async (url, init) => {
      // The SDK answers a 401 with a claims challenge by sending the request again.
      if (isSent) throw providerError(call, { failure: "unauthorized", status: 401, reason: "it was challenged" });
      isSent = true;
      return await sendRequest(DIGITALOCEAN_VOICE, call, terms, { ...init, url });
    },
  });
  return await readAnswer(DIGITALOCEAN_VOICE, call, terms, response);
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

/**
 * What DigitalOcean's headers say. A 429 lasts until `ratelimit-reset`, else for a minute, and for an hour at most;
 * `ratelimit-remaining: 0` lasts until the reset, and for a minute at most, because it may speak of the burst limit while the
 * reset speaks of the hourly one. Pure.
 * @see https://docs.digitalocean.com/reference/api/reference/#rate-limit (verified 2026-08-07)
 */
export function readRateLimit(status: number, headers: Headers, nowMs: number): RateLimitReport {
  const rateLimit = rateLimitOf(headers);
  const { remaining, resetMs } = rateLimit;
  const isUsedUp = status !== 429 && remaining === 0;
  return {
    rateLimit,
    refusedUntilMs: resetMs === undefined || resetMs <= nowMs ? nowMs + minuteMs : Math.min(resetMs, nowMs + hourMs),
    ...(isUsedUp ? { usedUpUntilMs: Math.min(resetMs ?? nowMs + minuteMs, nowMs + minuteMs) } : {}),
  };
}

function rateLimitOf(headers: Headers): RateLimit {
  const limit = wholeNumber(headers.get("ratelimit-limit"));
  const remaining = wholeNumber(headers.get("ratelimit-remaining"));
  const resetSeconds = wholeNumber(headers.get("ratelimit-reset"));
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(resetSeconds === undefined ? {} : { resetMs: resetSeconds * 1000 }),
  };
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
}

/** How many items {@link listAll} asks for in one call: the most that the API gives. */
export const pageSize = 200;

/** One item of a list; without a value when the list holds more than was asked for. */
interface ListItem<T> {
  readonly id: string;
  readonly value: T | undefined;
}

/** One page of a list: all items of it, whatever they are. */
export type ItemPage<T> = ListPage<ListItem<T>>;

/**
 * The values of a whole list, by id, in the order they came; one call per 200 items. `noun` names them for people.
 * @throws ProviderError `malformed` when the pages are not the whole list, see {@link readList}, so that nothing is ever taken for
 * missing because an answer was incomplete
 */
export async function listAll<T>(
  caller: Caller,
  noun: string,
  pageCall: (page: number) => Call<ItemPage<T>>,
): Promise<readonly T[]> {
  let call = pageCall(1);
  const readPage = (page: number): Promise<ItemPage<T>> => {
    call = pageCall(page);
    return caller.call(call);
  };
  const { items, problem } = await readList(readPage, { keyOf: ({ id }) => id, noun, totalField: "meta.total" });
  if (problem !== undefined) throw providerError(call, { failure: "malformed", status: 200, reason: problem });
  return items.flatMap(({ value }) => (value === undefined ? [] : [value]));
}

/**
 * A page in an answer, its items under `key`.
 * @throws AnswerFault
 */
export function decodePage<T>(
  answer: Answer,
  { key, page }: { readonly key: string; readonly page: number },
  decode: (item: AnswerValue) => ListItem<T>,
): ItemPage<T> {
  const body = jsonOf(answer);
  const items = body.at(key).items();
  const total = body.at("meta").at("total").count();
  if (items.length === 0 && total > (page - 1) * pageSize) {
    throw new AnswerFault(`${key} is empty although meta.total is ${total}`);
  }
  return { items: items.map(decode), hasMore: page * pageSize < total, total };
}

/**
 * What an error answer says: the message of either error model of the API, else what came instead of JSON.
 * Shape: one line, at most 200 characters.
 * @see https://docs.digitalocean.com/reference/api/reference/ (verified 2026-08-07)
 */
function complaintOf(answer: Answer): Complaint {
  if (answer.bodyError !== undefined) return { text: "the answer broke off", hasModel: false };
  let body: unknown;
  try {
    body = jsonOf(answer).raw;
  } catch (fault) {
    return { text: fault instanceof Error ? fault.message : "no usable answer", hasModel: false };
  }
  const fields = typeof body === "object" && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const messages = Array.isArray(fields["messages"]) ? fields["messages"] : [];
  const texts = [fields["message"] ?? fields["error"], ...messages].filter((part) => typeof part === "string");
  const id = fields["id"];
  const text = oneLine(texts.join("; ")).slice(0, 200);
  if (text === "" && typeof id !== "string") return { text: "no error message", hasModel: false };
  return { text: text === "" ? String(id).slice(0, 200) : text, hasModel: true };
}

/** The request id of an answer: the header, else the error model's field. At most 100 characters. */
function requestIDOf(answer: Answer): string | undefined {
  const header = answer.headers.get("x-request-id");
  if (header) return oneLine(header).slice(0, 100);
  try {
    const id = jsonOf(answer).at("request_id").raw;
    return typeof id === "string" && id !== "" ? oneLine(id).slice(0, 100) : undefined;
  } catch {
    return undefined;
  }
}

/** The error of a call to DigitalOcean with the given details. */
export function providerError(call: CallFacts, details: FailureDetails, cause?: unknown): ProviderError {
  return failedCall(DIGITALOCEAN_VOICE, call, details, cause);
}

/** Says of a call that this failure is an answer too, and what it means. */
export function expectedFailure<T>(
  failure: ProviderFailure,
  value: T,
): (refusal: Refusal<Complaint>) => { readonly value: T } | undefined {
  return ({ error }) => (error.failure === failure ? { value } : undefined);
}
