import type { SandboxReply, SandboxRequest, SandboxServer } from "../http-server.ts";
import {
  Account,
  type APIObject,
  answerByRoute,
  bearerToken,
  type ProviderOptions,
  pageOf,
  Refusal,
  RequestTimes,
  type Route,
  serveProvider,
} from "../provider.ts";
import {
  ACCOUNT_HEADER,
  type AccountState,
  completeAccount,
  fullName,
  type Permission,
  type RecordState,
  type ZoneState,
} from "./account-state.ts";
import { InvalidRecord, isProxiable, runBatch } from "./records.ts";

/** The emulated Cloudflare: its API, and the account behind it. */
export interface CloudflareSandbox {
  /** Answers one request. @throws ConfigError when the file was edited into something invalid. */
  handle(request: SandboxRequest): SandboxReply;
  /** Serves the API on loopback, with the faults; the base URL of a client is `url` and `/client/v4`. */
  serve(): Promise<SandboxServer>;
  /** The account as it is now, the file's newest edit included; changes to its state are saved with the next request or {@link save}. */
  account(): { readonly state: AccountState };
  /** Writes the account to its file. */
  save(): void;
  /** Adds a zone and returns it. */
  addZone(zone: Partial<Omit<ZoneState, "dns_records">> & { readonly name: string }): ZoneState;
  /** Takes a zone away with its records. */
  removeZone(name: string): void;
  /** Adds a record behind everybody's back and returns it; it may be one that the API would refuse. @throws Error without the zone. */
  addRecord(zone: string, record: Partial<RecordState> & Pick<RecordState, "name" | "content">): RecordState;
  /** Takes the records of a name (full or relative) that fit away, behind everybody's back. @throws Error without the zone. */
  removeRecords(zone: string, name: string, fits?: (record: RecordState) => boolean): void;
}

/**
 * Opens or makes an emulated account. The file is read again before a request when a person changed it, and written
 * after each request that changed something.
 *
 * Its API has what flipop asks for: lists of zones and records, a zone by id, batches, and when the token ends. Everything else is 404 (7003).
 * @throws ConfigError naming the file when it cannot be read; BadValue when `state` is invalid.
 */
export function cloudflareSandbox(options: ProviderOptions): CloudflareSandbox {
  const account = new Account(options, { header: ACCOUNT_HEADER, complete: completeAccount });
  const meter = new RateMeter();
  let requests = 0;

  function handle(request: SandboxRequest): SandboxReply {
    requests += 1;
    account.refresh();
    const reply = answerRequest(account.state, meter, request, options.now());
    account.save();
    const ray = { "cf-ray": `${requests.toString(16).padStart(16, "0")}-SBX` };
    return { ...reply, headers: { ...reply.headers, ...ray } };
  }

  return {
    handle,
    serve: () => serveProvider("cloudflare", options, handle),
    account: () => {
      account.refresh();
      return account;
    },
    save: () => account.save(),
    addZone: (zone) => {
      account.edit((state) => state.zones.push({ ...zone, dns_records: [] } as unknown as ZoneState));
      return account.state.zones.at(-1) as ZoneState;
    },
    removeZone: (name) =>
      account.edit((state) => {
        state.zones = state.zones.filter((zone) => zone.name !== name);
      }),
    addRecord: (zone, record) => {
      account.edit((state) => zoneNamed(state, zone).dns_records.push(record as RecordState));
      return zoneNamed(account.state, zone).dns_records.at(-1) as RecordState;
    },
    removeRecords: (zone, name, fits = () => true) =>
      account.edit((state) => {
        const held = zoneNamed(state, zone);
        const full = fullName(name, held.name);
        held.dns_records = held.dns_records.filter((record) => record.name !== full || !fits(record));
      }),
  };
}

function zoneNamed(state: AccountState, name: string): ZoneState {
  const zone = state.zones.find((item) => item.name === name);
  if (zone === undefined) throw new Error(`the sandbox has no zone ${name}`);
  return zone;
}

interface Call {
  readonly state: AccountState;
  readonly request: SandboxRequest;
  readonly nowMs: number;
  /** True when the token may do this in that zone. */
  readonly may: (permission: Permission, zone: ZoneState) => boolean;
}

/** `result` of the envelope, and what else belongs into it. */
interface Answer {
  readonly result: unknown;
  readonly result_info?: APIObject;
}

const zones = "^/client/v4/zones";

/** The account of every zone. */
const ACCOUNT_ID = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";

const routes: readonly Route<Call, Answer>[] = [
  ["GET", /^\/client\/v4\/user\/tokens\/verify$/, (call) => verifyToken(call, "user")],
  ["GET", new RegExp(`^/client/v4/accounts/${ACCOUNT_ID}/tokens/verify$`), (call) => verifyToken(call, "account")],
  ["GET", new RegExp(`${zones}$`), listZones],
  ["GET", new RegExp(`${zones}/([^/]+)$`), readZone],
  ["GET", new RegExp(`${zones}/([^/]+)/dns_records$`), listRecords],
  ["POST", new RegExp(`${zones}/([^/]+)/dns_records/batch$`), batch],
];

type Reply = Extract<SandboxReply, { readonly body?: unknown }>;

/** Answers in the order of Cloudflare: token, rate limit, route, permission, then the operation. Every answer is an envelope with rate-limit headers. */
function answerRequest(state: AccountState, meter: RateMeter, request: SandboxRequest, nowMs: number): Reply {
  const limit = state.settings.requests_per_5_minutes;
  try {
    const may = permissions(request, state.tokens);
    meter.count(limit, nowMs);
    const answer = answerByRoute(routes, request, { state, request, nowMs, may }) ?? refuseRoute(request.path);
    const body = { success: true, errors: [], messages: [], ...answer };
    return { status: 200, headers: meter.headers(limit, nowMs), body };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const body = { success: false, errors: errorsOf(error), messages: [], result: null };
    return { status: error.status, headers: { ...meter.headers(limit, nowMs), ...error.headers }, body };
  }
}

/** What the token of a request may do. @throws Refusal for what is no header (9106, 6003) or no known token (9109) */
function permissions(request: SandboxRequest, tokens: AccountState["tokens"]): Call["may"] {
  const token = bearerToken(request);
  if (request.headers["authorization"] === undefined)
    throw new Refusal(400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers");
  if (token === undefined) throw new Refusal(400, 6003, "Invalid request headers");
  if (Object.keys(tokens).length === 0) return () => true;
  const grants = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
  if (grants === undefined) throw new Refusal(403, 9109, "Invalid access token");
  return (permission, zone) => {
    const granted = [zone.id, zone.name, "*"].flatMap((key) => (Object.hasOwn(grants, key) ? (grants[key] ?? []) : []));
    return granted.includes(permission) || (permission === "dns:read" && granted.includes("dns:edit"));
  };
}

/** A token is known where it belongs. Every token of a file ends at the same time. */
function verifyToken({ state: { settings } }: Call, of: "user" | "account"): Answer {
  const { token_of = "user", token_expires_on } = settings;
  if (token_of !== of) throw new Refusal(401, 1000, "Invalid API Token");
  const end = token_expires_on === undefined ? {} : { expires_on: token_expires_on };
  return { result: { id: "sandbox", status: "active", ...end } };
}

/** `name` is an exact match; a zone that the token may not read is left out without a word. */
function listZones({ state, may, request: { query } }: Call): Answer {
  const name = query.get("name")?.toLowerCase();
  const fitting = state.zones.filter((zone) => may("zone:read", zone) && (name === undefined || zone.name === name));
  return listAnswer(fitting.map(zoneJSON), query, { usual: 20, most: 50 });
}

function readZone(call: Call, id = ""): Answer {
  const zone = knownZone(call, id);
  if (!call.may("zone:read", zone)) throw new Refusal(403, 9109, "Unauthorized to access requested resource");
  return { result: zoneJSON(zone) };
}

/** The filters are those that flipop uses: `name`, `name.exact` and `type`. */
function listRecords(call: Call, id = ""): Answer {
  const { query } = call.request;
  const name = (query.get("name.exact") ?? query.get("name"))?.toLowerCase();
  const type = query.get("type");
  const records = openZone(call, id, "dns:read").dns_records.filter(
    (record) => (name === undefined || record.name === name) && (type === null || record.type === type),
  );
  return listAnswer(records.map(recordJSON), query, { usual: 100, most: 5_000_000 });
}

function batch(call: Call, id = ""): Answer {
  const zone = openZone(call, id, "dns:edit");
  const done = runBatch(call.state, zone, call.request.body, call.nowMs);
  const shown = Object.entries(done).map(([kind, records]) => [kind, records.map(recordJSON)]);
  return { result: { ...Object.fromEntries(shown), puts: [] } };
}

function openZone(call: Call, id: string, permission: Permission): ZoneState {
  const zone = knownZone(call, id);
  if (!call.may(permission, zone)) throw new Refusal(403, 10_000, "Authentication error");
  return zone;
}

function knownZone({ state }: Call, id: string): ZoneState {
  return state.zones.find((zone) => zone.id === id) ?? refuseRoute(`/zones/${id}`);
}

/** 404 for a path that leads nowhere: a zone that does not exist, too. */
function refuseRoute(path: string): never {
  throw new Refusal(404, 7003, `Could not route to ${path}, perhaps your object identifier is invalid?`);
}

function errorsOf(refusal: Refusal): readonly APIObject[] {
  const { code, message } = refusal;
  if (refusal instanceof InvalidRecord) return [{ code, message, error_chain: refusal.chain }];
  return [{ code, message }, ...(code === 7003 ? [{ code: 7000, message: "No route for that URI" }] : [])];
}

function listAnswer(
  items: readonly APIObject[],
  query: URLSearchParams,
  sizes: { readonly usual: number; readonly most: number },
): Answer {
  const page = pageOf(items, query, sizes);
  const counts = { count: page.items.length, total_count: page.total, total_pages: page.pages };
  return { result: page.items, result_info: { page: page.page, per_page: page.size, ...counts } };
}

function zoneJSON({ id, name, status }: ZoneState): APIObject {
  return { id, name, status, paused: false, type: "full", account: { id: ACCOUNT_ID, name: "sandbox" } };
}

function recordJSON({ comment, ...record }: RecordState): APIObject {
  return { ...record, proxiable: isProxiable(record.type), comment: comment === "" ? null : comment };
}

const windowMs = 300_000;
const blockMs = 300_000;

/**
 * Counts the requests of the account's user, whatever token they come with, in sliding five minutes; one too many blocks
 * everything for five minutes.
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ verified 2026-11-21
 */
class RateMeter {
  readonly #times = new RequestTimes(windowMs);
  #blockedUntilMs = Number.NEGATIVE_INFINITY;

  /** Counts one request. @throws Refusal 429 when it is one too many, or comes while everything is blocked */
  count(limit: number, nowMs: number): void {
    const times = this.#times.of("", nowMs);
    if (nowMs >= this.#blockedUntilMs && times.length >= limit) this.#blockedUntilMs = nowMs + blockMs;
    if (nowMs < this.#blockedUntilMs) {
      const seconds = Math.ceil((this.#blockedUntilMs - nowMs) / 1000);
      throw new Refusal(429, 971, "Please wait and consider throttling your request speed", seconds);
    }
    times.push(nowMs);
  }

  /** The rate-limit headers of an answer. */
  headers(limit: number, nowMs: number): Readonly<Record<string, string>> {
    const times = this.#times.of("", nowMs);
    const isBlocked = nowMs < this.#blockedUntilMs;
    const resetMs = isBlocked ? this.#blockedUntilMs : (times[0] ?? nowMs) + windowMs;
    const remaining = isBlocked ? 0 : Math.max(0, limit - times.length);
    const seconds = Math.max(1, Math.ceil((resetMs - nowMs) / 1000));
    return { ratelimit: `"default";r=${remaining};t=${seconds}`, "ratelimit-policy": `"default";q=${limit};w=300` };
  }
}
