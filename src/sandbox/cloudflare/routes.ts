import type { SandboxReply, SandboxRequest } from "../http-exchange.ts";
import type { Account } from "./account.ts";
import { type APIObject, recordJSON, zoneJSON } from "./api-json.ts";
import { APIRefusal, noRoute } from "./api-refusal.ts";
import type { BatchResult } from "./batch.ts";
import { type Caller, callerOf } from "./caller.ts";
import { filterRecords, orderRecords } from "./list-filter.ts";
import { pageOf } from "./paging.ts";
import type { RateMeter } from "./rate-meter.ts";

/** What a route is given. */
interface Call {
  readonly account: Account;
  readonly caller: Caller;
  /** The variable parts of the path, in order: zone, record. */
  readonly parts: readonly [zone: string, record: string];
  readonly body: unknown;
  readonly query: URLSearchParams;
}

/** `result` of the envelope, and what else belongs into it. */
interface Answer {
  readonly result: unknown;
  readonly result_info?: APIObject;
  readonly messages?: readonly unknown[];
}

type Route = readonly [method: string, path: RegExp, answer: (call: Call) => Answer];

const prefix = "/client/v4";
const records = /^\/zones\/([^/]+)\/dns_records$/;
const record = /^\/zones\/([^/]+)\/dns_records\/([^/]+)$/;

const routes: readonly Route[] = [
  ["GET", /^\/user\/tokens\/verify$/, verifyToken],
  ["GET", /^\/zones$/, listZones],
  ["GET", /^\/zones\/([^/]+)$/, ({ account, caller, parts }) => ({ result: zoneJSON(account.zone(caller, parts[0])) })],
  ["GET", records, listRecords],
  ["POST", records, ({ account, caller, parts, body }) => one(account.create(caller, parts[0], body))],
  ["POST", /^\/zones\/([^/]+)\/dns_records\/batch$/, runBatch],
  ["GET", record, ({ account, caller, parts }) => one(account.record(caller, ...parts))],
  ["PATCH", record, ({ account, caller, parts, body }) => one(account.patch(caller, ...parts, body))],
  ["PUT", record, ({ account, caller, parts, body }) => one(account.put(caller, ...parts, body))],
  ["DELETE", record, ({ account, caller, parts }) => ({ result: { id: account.remove(caller, ...parts).id } })],
];

/**
 * Answers one request to the emulated API below `/client/v4`: token, rate limit, route, permission, then the operation, in
 * that order. Every answer is an envelope with rate-limit headers and `cf-ray`; what is not in the table is 404 (7003).
 */
export function answerRequest(
  account: Account,
  meter: RateMeter,
  request: SandboxRequest,
  context: { readonly nowMs: number; readonly ray: string },
): SandboxReply {
  const { tokens, settings } = account.state;
  const limit = settings.requests_per_5_minutes;
  const headers = (): Record<string, string> => {
    const { remaining, resetSeconds } = meter.facts(limit, context.nowMs);
    return {
      "cf-ray": context.ray,
      ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
      "ratelimit-policy": `"default";q=${limit};w=300`,
    };
  };
  try {
    const caller = callerOf(request.headers["authorization"], tokens, context.nowMs);
    meter.count(limit, context.nowMs);
    const body = { success: true, errors: [], messages: [], ...route(account, caller, request) };
    return { status: 200, headers: headers(), body };
  } catch (error) {
    if (!(error instanceof APIRefusal)) throw error;
    const wait = error.retryAfterSeconds;
    return {
      status: error.status,
      headers: { ...headers(), ...(wait === undefined ? {} : { "retry-after": String(wait) }) },
      body: { success: false, errors: error.errors, messages: [], result: null },
    };
  }
}

function route(account: Account, caller: Caller, { method, path, query, body }: SandboxRequest): Answer {
  const inside = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : "";
  for (const [routeMethod, pattern, answer] of routes) {
    const found = routeMethod === method ? pattern.exec(inside) : null;
    if (found === null) continue;
    return answer({ account, caller, parts: [found[1] ?? "", found[2] ?? ""], body, query });
  }
  throw noRoute(path);
}

function verifyToken(): Answer {
  const message = "This API Token is valid and active";
  return {
    result: { id: "00000000000000000000000000000002", status: "active" },
    messages: [{ code: 10_000, message, type: null }],
  };
}

/** `name` is an exact match; a zone that the token may not read is left out without a word. */
function listZones({ account, caller, query }: Call): Answer {
  const [name, status] = [query.get("name")?.toLowerCase(), query.get("status")];
  const zones = account
    .zones(caller)
    .filter((zone) => (name === undefined || zone.name === name) && (status === null || zone.status === status));
  const page = pageOf(zones, query, { usual: 20, most: 50 });
  return { result: page.items.map(zoneJSON), result_info: page.info };
}

function listRecords({ account, caller, parts, query }: Call): Answer {
  const found = filterRecords(account.records(caller, parts[0]), query);
  const page = pageOf(orderRecords(found, query), query, { usual: 100, most: 5_000_000 });
  return { result: page.items.map(recordJSON), result_info: page.info };
}

function runBatch({ account, caller, parts, body }: Call): Answer {
  const { deletes, patches, puts, posts }: BatchResult = account.batch(caller, parts[0], body);
  const shown = (list: BatchResult["posts"]): readonly APIObject[] => list.map(recordJSON);
  return { result: { deletes: shown(deletes), patches: shown(patches), puts: shown(puts), posts: shown(posts) } };
}

function one(state: Parameters<typeof recordJSON>[0]): Answer {
  return { result: recordJSON(state) };
}
