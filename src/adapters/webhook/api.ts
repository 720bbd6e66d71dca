// The protocol by which external-dns speaks to DNS providers, as its client: media type, errors, sets of records. What is asked by it: webhook.ts.
//
//   GET  /                  which names the provider looks after
//   GET  /records           every set of records it sees, of all zones
//   POST /adjustendpoints   how it would store these sets; changes nothing
//   POST /records           changes sets; 204
//
// Source: kubernetes-sigs/external-dns v0.22.0, provider/webhook (read 2026-08-22, its server run 2026-11-22).

import { canonicalAddress } from "../../model/address.ts";
import type { ProviderError, ProviderFailure } from "../../model/errors.ts";
import { oneLine } from "../../model/text.ts";
import { comparableName } from "../dns/names.ts";
import type { ARecord } from "../dns/record-sets.ts";
import {
  type Answer,
  anyList,
  COUNT,
  choose,
  type Fields,
  map,
  maybe,
  object,
  read,
  readable,
  type Schema,
  TEXT,
} from "../http/answer.ts";
import type { ProviderAPI, ProviderOptions } from "../http/api-client.ts";
import {
  type APIClient,
  createAPIClient,
  type Exchange,
  exchangeOf,
  type PlainRequest,
  plainRequests,
} from "../http/api-client.ts";
import {
  type CallInfo,
  type ErrorBody,
  type FailureDetails,
  failedCall,
  type ProviderTexts,
} from "../http/failures.ts";
import { ALLOWANCE, webhookLabel } from "./traits.ts";

/** What bodies are, in both directions. */
export const MEDIA_TYPE = "application/external.dns.webhook+json;version=1";

/** Makes the calls to one webhook. */
export type Client = APIClient<PlainRequest>;

/** How to reach a webhook; `name` is what objects call it. */
export type WebhookOptions = ProviderOptions & { readonly name: string; readonly baseURL: string };

/**
 * Returns a client of a webhook.
 * @throws ConfigError when the base URL is not usable
 */
export function createClient(options: WebhookOptions): Client {
  return createAPIClient(webhookAPI(options.name), options);
}

/** Returns what is particular to the API of the webhook with this name. */
export function webhookAPI(name: string): ProviderAPI<PlainRequest> {
  const texts = textsOf(name);
  return {
    ...texts,
    baseURL: "http://127.0.0.1:8888",
    // Providers are written for one caller, who waits for each answer.
    limits: { mostInFlight: 1, allowance: { ...ALLOWANCE, toldLimit: ALLOWANCE.calls }, timeoutMs: 20_000 },
    open: async (baseURL) => negotiated(texts, exchangeOf(texts, plainRequests(baseURL), MEDIA_TYPE)),
    errorBodyOf,
    requestIDOf: () => undefined,
    failureOf,
    readRateLimit: (_status, _headers, nowMs) => ({ rateLimit: {}, refusedUntilMs: nowMs + REFUSED_MS }),
  };
}

/** How long a webhook is left alone after a 429 that does not say it, milliseconds. */
const REFUSED_MS = 60_000;

/** How errors speak about the webhook with this name. */
function textsOf(name: string): ProviderTexts {
  return {
    provider: name,
    // It begins the sentences of errors.
    label: webhookLabel(name).replace("the", "The"),
    scopeAdvice: () => "The token belongs to whoever runs the webhook: ask there.",
  };
}

/**
 * Checks what the protocol promises of an answer. The first question is answered in this version of the protocol; external-dns refuses any other, too. A change that
 * succeeded is answered with 204.
 */
function negotiated(texts: ProviderTexts, exchange: Exchange<PlainRequest>): Exchange<PlainRequest> {
  return async (call, terms) => {
    const answer = await exchange(call, terms);
    const { status, headers } = answer;
    const wrong = (reason: string): ProviderError =>
      failedCall(texts, call, { failure: "malformed", status, reason, isAmbiguous: call.isWrite });
    const type = headers.get("content-type") ?? "none";
    if (call.operation === "zone" && status === 200 && type.replaceAll(/\s/g, "").toLowerCase() !== MEDIA_TYPE)
      throw wrong(`it speaks ${oneLine(terms.redact(type)).slice(0, 80)}, not ${MEDIA_TYPE}`);
    if (call.isWrite && status >= 200 && status < 300 && status !== 204)
      throw wrong("a change is answered with 204, and with nothing else");
    return answer;
  };
}

const MOST_CHARACTERS = 300;

/** The server of external-dns gives no reason for a 500, and writes it into its log. */
function errorBodyOf({ status, text, bodyError }: Answer): ErrorBody {
  const said = oneLine(text).slice(0, MOST_CHARACTERS);
  const silent = status >= 500 ? "it gives no reason here, its log does" : "it gives no reason";
  const isPage = /^\s*</.test(text);
  return { text: isPage || said === "" || bodyError ? silent : said, isFromAPI: status !== 404, codes: [] };
}

function failureOf(status: number): ProviderFailure {
  if (status === 401) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 408) return "unavailable";
  return status === 405 || status === 406 || status === 415 ? "malformed" : "refused";
}

/** Returns the error of a call to the webhook with this name. */
export function webhookError(name: string, call: CallInfo, details: FailureDetails): ProviderError {
  return failedCall(textsOf(name), call, details);
}

/** A set of records, as the protocol has it: all records of one name and type. */
export interface Endpoint {
  /** Lower case without trailing dot. */
  readonly fqdn: string;
  /** Upper case; `?` where it cannot be understood. */
  readonly type: string;
  readonly targets: readonly string[];
  /** Seconds; 0 = the provider decides, or does not tell. */
  readonly ttlSeconds: number;
  /** Tells apart several sets of one name and type that a policy of the provider chooses from; `""` = there is only one. */
  readonly setIdentifier: string;
  /** Set where all but name and type cannot be understood; then the fields between are empty. */
  readonly isUnclear?: true;
  /** All of it as it came: what is read here and not understood is sent back with a change. */
  readonly raw: Fields;
}

const FIELDS: Schema<Omit<Endpoint, "raw" | "isUnclear">> = map(
  object({
    dnsName: TEXT,
    recordType: TEXT,
    targets: anyList(TEXT),
    recordTTL: maybe(COUNT),
    setIdentifier: maybe(TEXT),
  }),
  ({ dnsName, recordType, targets, recordTTL = 0, setIdentifier = "" }) => ({
    fqdn: comparableName(dnsName),
    type: recordType.toUpperCase(),
    targets,
    ttlSeconds: recordTTL,
    setIdentifier,
  }),
);

/**
 * Reads a list of sets. An empty list may come as `null`. A set that cannot be understood is unclear, and keeps its type if that is a text.
 * @throws AnswerFault for an item without a name: whose set it is nobody knows, and a name that lacks it may look empty
 */
export function readEndpoints(body: unknown): readonly Endpoint[] {
  return read(anyList(NAMED), body).map(({ dnsName, raw }): Endpoint => {
    const endpoint = readable(FIELDS, raw);
    if (endpoint !== undefined) return { ...endpoint, raw };
    const { recordType } = raw;
    const type = typeof recordType === "string" && recordType !== "" ? recordType.toUpperCase() : "?";
    const fqdn = comparableName(dnsName);
    return { fqdn, type, targets: [], ttlSeconds: 0, setIdentifier: "", isUnclear: true, raw };
  });
}

const NAMED: Schema<{ readonly dnsName: string; readonly raw: Fields }> = choose((raw) =>
  map(object({ dnsName: TEXT }), ({ dnsName }) => ({ dnsName, raw })),
);

/** True where the provider decides the TTL, or does not tell it: 0, or 1, which is Cloudflare's `automatic`. */
export function isAutomatic({ ttlSeconds }: Endpoint): boolean {
  return ttlSeconds <= 1;
}

/** Returns the address records of a set, one for each target. */
export function recordsOf(set: Endpoint): readonly ARecord[] {
  const isProxied = isAutomatic(set);
  return addressesOf(set).map((address) => ({ address, ttlSeconds: set.ttlSeconds, isProxied }));
}

/** Returns the targets of a set of address records, each in the one form that flipop writes where it is an address. */
export function addressesOf({ targets }: Pick<Endpoint, "targets">): readonly string[] {
  return targets.map((target) => canonicalAddress(target) ?? target);
}
