import type { SandboxReply, SandboxRequest } from "../http-server.ts";
import type { Account, BatchResult } from "./account.ts";
import type { AccountState, Permission, RecordState, ZoneState } from "./account-state.ts";
import type { RateMeter } from "./cloudflare-sandbox.ts";

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

/** What an answer's `result` holds. */
type APIObject = Readonly<Record<string, unknown>>;

/** A zone as the API shows it, as far as anybody here needs it. */
function zoneJSON(zone: ZoneState): APIObject {
  const { id, name, status } = zone;
  return {
    id,
    name,
    status,
    paused: false,
    type: "full",
    development_mode: 0,
    name_servers: ["ada.ns.cloudflare.example", "bob.ns.cloudflare.example"],
    account: { id: "00000000000000000000000000000001", name: "Sandbox" },
    created_on: "2026-01-01T00:00:00.000000Z",
    modified_on: "2026-01-01T00:00:00.000000Z",
    activated_on: status === "active" ? "2026-01-01T00:00:00.000000Z" : null,
  };
}

/** A record as the API shows it. */
function recordJSON(record: RecordState): APIObject {
  const { id, name, type, content, ttl, proxied, comment, tags, created_on, modified_on } = record;
  return {
    id,
    name,
    type,
    content,
    proxiable: type === "A" || type === "AAAA" || type === "CNAME",
    proxied,
    ttl,
    settings: {},
    meta: {},
    comment: comment === "" ? null : comment,
    tags,
    created_on,
    modified_on,
    ...(comment === "" ? {} : { comment_modified_on: modified_on }),
  };
}

/** One error of an envelope: code and message as Cloudflare words them, with what lies behind it. */
interface APIErrorEntry {
  readonly code: number;
  readonly message: string;
  readonly error_chain?: readonly APIErrorEntry[];
}

/** An answer of the emulated API that is not a success: status, the errors of its envelope, and perhaps when to come back. */
export class APIRefusal extends Error {
  override readonly name: string = "APIRefusal";
  readonly status: number;
  readonly errors: readonly APIErrorEntry[];
  /** Seconds, for the `retry-after` header. */
  readonly retryAfterSeconds?: number;

  constructor(status: number, errors: readonly APIErrorEntry[], retryAfterSeconds?: number) {
    super(errors.map((error) => error.message).join("; "));
    this.status = status;
    this.errors = errors;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** An answer with one error. */
export function refusal(status: number, code: number, message: string): APIRefusal {
  return new APIRefusal(status, [{ code, message }]);
}

/** 400 for a record that is not valid; only the chain says why. */
export function invalidRecord(code: number, message: string): APIRefusal {
  return new APIRefusal(400, [{ code: 1004, message: "DNS Validation Error", error_chain: [{ code, message }] }]);
}

/** 404 for a path that leads nowhere: a zone that does not exist, too. */
export function noRoute(path: string): APIRefusal {
  return new APIRefusal(404, [
    { code: 7003, message: `Could not route to ${path}, perhaps your object identifier is invalid?` },
    { code: 7000, message: "No route for that URI" },
  ]);
}

/** 404 for a record that does not exist. */
export function noRecord(): APIRefusal {
  return refusal(404, 81_044, "Record does not exist.");
}

type Test = (value: string, wanted: string) => boolean;

/** The operators of a dotted filter like `name.startswith=`; a filter without operator is `exact`. All ignore case. */
const operators: ReadonlyMap<string, Test> = new Map<string, Test>(
  Object.entries({
    exact: (value, wanted) => value === wanted,
    contains: (value, wanted) => value.includes(wanted),
    startswith: (value, wanted) => value.startsWith(wanted),
    endswith: (value, wanted) => value.endsWith(wanted),
  }),
);

/** The values of a record that a filter looks at; one of them has to fit. */
const fields: ReadonlyMap<string, (record: RecordState) => readonly string[]> = new Map<
  string,
  (record: RecordState) => readonly string[]
>(
  Object.entries({
    name: (record) => [record.name],
    content: (record) => [record.content],
    comment: (record) => (record.comment === "" ? [] : [record.comment]),
    tag: (record) => record.tags,
    type: (record) => [record.type],
    proxied: (record) => [String(record.proxied)],
  }),
);

/** The records that fit the query of a list: all its filters, or any with `match=any`. Parameters that are no filter are ignored. */
function filterRecords(records: readonly RecordState[], query: URLSearchParams): readonly RecordState[] {
  const tests = [...query].flatMap(([key, wanted]) => testOf(key, wanted.toLowerCase()) ?? []);
  if (tests.length === 0) return records;
  const isAny = query.get("match") === "any";
  return records.filter((record) => (isAny ? tests.some((test) => test(record)) : tests.every((test) => test(record))));
}

/** The records in the order a query asks for; without one as they are. */
function orderRecords(records: readonly RecordState[], query: URLSearchParams): readonly RecordState[] {
  const key = query.get("order");
  if (key !== "type" && key !== "name" && key !== "content" && key !== "ttl" && key !== "proxied") return records;
  const sign = query.get("direction") === "desc" ? -1 : 1;
  return records.toSorted((a, b) => sign * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0));
}

function testOf(key: string, wanted: string): ((record: RecordState) => boolean) | undefined {
  const [field = "", operator = "exact"] = key.split(".");
  const values = fields.get(field);
  if (values === undefined) return undefined;
  if (operator === "present" || operator === "absent") return presence(field, values, operator, wanted);
  const fits = operators.get(operator);
  return fits === undefined ? undefined : (record) => values(record).some((value) => fits(value.toLowerCase(), wanted));
}

/** `comment.present` asks for any comment, `tag.present` for the tag of that name. */
function presence(
  field: string,
  values: (record: RecordState) => readonly string[],
  operator: "present" | "absent",
  wanted: string,
): (record: RecordState) => boolean {
  const isThere = (value: string): boolean => field !== "tag" || value.toLowerCase().split(":")[0] === wanted;
  return (record) => values(record).some(isThere) === (operator === "present");
}

/**
 * One page of a list: `result` and `result_info`. `page` from 1, `per_page` from 1 to `most`; what lies outside is brought
 * inside. A page after the last is empty.
 */
function pageOf<T>(
  items: readonly T[],
  query: URLSearchParams,
  { usual, most }: { readonly usual: number; readonly most: number },
): { readonly items: readonly T[]; readonly info: APIObject } {
  const size = within(query.get("per_page"), usual, most);
  const page = within(query.get("page"), 1, Number.MAX_SAFE_INTEGER);
  const shown = items.slice((page - 1) * size, page * size);
  const info = {
    page,
    per_page: size,
    count: shown.length,
    total_count: items.length,
    total_pages: Math.ceil(items.length / size),
  };
  return { items: shown, info };
}

function within(text: string | null, fallback: number, most: number): number {
  const number = text === null || !/^\d+$/.test(text) ? fallback : Number(text);
  return Math.min(most, Math.max(1, number));
}

/** Who calls, and when. */
export interface Caller {
  readonly nowMs: number;
  /** True when the token may do this in that zone. */
  readonly may: (permission: Permission, zone: ZoneState) => boolean;
}

/**
 * The caller that an `Authorization` header makes.
 * @throws APIRefusal when there is none (9106), it is not `Bearer TOKEN` (6003), or the token is not known (9109)
 */
function callerOf(authorization: string | undefined, tokens: AccountState["tokens"], nowMs: number): Caller {
  const token = tokenOf(authorization);
  if (Object.keys(tokens).length === 0) return { nowMs, may: () => true };
  const grants = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
  if (grants === undefined) throw refusal(403, 9109, "Invalid access token");
  return {
    nowMs,
    may(permission, zone) {
      const granted = [zone.id, zone.name, "*"].flatMap((key) =>
        Object.hasOwn(grants, key) ? (grants[key] ?? []) : [],
      );
      return granted.includes(permission) || (permission === "dns:read" && granted.includes("dns:edit"));
    },
  };
}

function tokenOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw refusal(400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers");
  }
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1];
  if (token !== undefined) return token;
  const chain = [{ code: 6111, message: "Invalid format for Authorization header" }];
  throw new APIRefusal(400, [{ code: 6003, message: "Invalid request headers", error_chain: chain }]);
}
