import { isIPv4, isIPv6 } from "node:net";
import { relativeName } from "../../model/dns.ts";
import type { SandboxReply, SandboxRequest, SandboxServer } from "../http-server.ts";
import {
  Account,
  answerByRoute,
  bearerToken,
  membersOf,
  type ProviderOptions,
  type Route,
  serveProvider,
} from "../provider.ts";
import { completeWebhook, type RecordSet, WEBHOOK_HEADER, type WebhookState } from "./webhook-state.ts";

/** The emulated webhook of external-dns: its API, and the records behind it. */
export interface WebhookSandbox {
  /** Answers one request. @throws ConfigError when the file was edited into something invalid. */
  handle(request: SandboxRequest): SandboxReply;
  /** Serves the API on loopback, with the faults. */
  serve(): Promise<SandboxServer>;
  /** The records as they are now, the file's newest edit included; changes to the state are saved with the next request or {@link save}. */
  webhook(): { readonly state: WebhookState };
  /** Writes the records to their file. */
  save(): void;
}

/** What bodies are, in both directions. */
const MEDIA_TYPE = "application/external.dns.webhook+json;version=1";

/**
 * Opens or makes an emulated webhook. Its provider replaces a whole set at once. It answers as the server of external-dns v0.22.0 does: an empty list is `null`, and a 500
 * gives no reason.
 * @throws ConfigError naming the file when it cannot be read; BadValue when `state` is invalid.
 */
export function webhookSandbox(options: ProviderOptions): WebhookSandbox {
  const account = new Account(options, { header: WEBHOOK_HEADER, complete: completeWebhook });
  const cache = new Cache();

  function handle(request: SandboxRequest): SandboxReply {
    account.refresh();
    const reply = answerRequest({ state: account.state, request, cache, nowMs: options.now() });
    account.save();
    return reply;
  }

  return {
    handle,
    serve: () => serveProvider("webhook", options, handle),
    webhook: () => {
      account.refresh();
      return account;
    },
    save: () => account.save(),
  };
}

interface Call {
  readonly state: WebhookState;
  readonly request: SandboxRequest;
  readonly cache: Cache;
  readonly nowMs: number;
}

const routes: readonly Route<Call, SandboxReply>[] = [
  ["GET", /^\/$/, negotiate],
  ["GET", /^\/records$/, listRecords],
  ["POST", /^\/adjustendpoints$/, adjust],
  ["POST", /^\/records$/, applyChanges],
];

function answerRequest(call: Call): SandboxReply {
  const { state, request } = call;
  const { token } = state.settings;
  if (token !== "" && bearerToken(request) !== token) return { status: 401, body: "unauthorized", contentType: TEXT };
  const { accept = "", "content-type": type = "" } = request.headers;
  if (request.method === "GET" && accept !== MEDIA_TYPE)
    return { status: 406, contentType: TEXT, body: "client must provide a media type" };
  if (request.method === "POST" && type !== MEDIA_TYPE)
    return { status: 415, contentType: TEXT, body: "client must provide a media type" };
  return answerByRoute(routes, request, call) ?? { status: 404, body: "404 page not found\n", contentType: TEXT };
}

const TEXT = "text/plain; charset=utf-8";

function json(body: unknown): SandboxReply {
  return { status: 200, contentType: MEDIA_TYPE, body };
}

/** What went wrong is only in the webhook's log. */
const SILENT: SandboxReply = { status: 500 };

function negotiate({ state: { domains, excluded } }: Call): SandboxReply {
  return json({
    ...(domains.length > 0 ? { include: domains } : {}),
    ...(excluded.length > 0 ? { exclude: excluded } : {}),
  });
}

function listRecords({ state, cache, nowMs }: Call): SandboxReply {
  const sets = cache.shown(state, nowMs);
  return json(sets.length === 0 ? null : sets);
}

/** TTLs are brought between the bounds, and settings of the provider are added. */
function adjust({ state: { settings }, request: { body } }: Call): SandboxReply {
  if (!Array.isArray(body)) return { status: 400 };
  const { least_ttl, most_ttl, provider_specific } = settings;
  return json(
    body.map((item) => {
      const { recordTTL: ttl = 0, providerSpecific = [], ...rest } = item as RecordSet;
      const held = new Set(providerSpecific.map(({ name }) => name));
      const all = [...providerSpecific, ...provider_specific.filter(({ name }) => !held.has(name))];
      const recordTTL = ttl === 0 ? 0 : Math.min(Math.max(ttl, least_ttl), most_ttl);
      return {
        ...rest,
        ...(recordTTL === 0 ? {} : { recordTTL }),
        ...(all.length === 0 ? {} : { providerSpecific: all }),
      };
    }),
  );
}

/** The changes in the order of many webhooks: what goes, what comes, what is replaced. One that cannot be made ends it, and those before it stay. */
function applyChanges({ state, request: { body } }: Call): SandboxReply {
  const changes = membersOf(body);
  if (changes === undefined) return { status: 400 };
  const listOf = (key: string): readonly RecordSet[] => (changes[key] ?? []) as readonly RecordSet[];
  const [old, wanted] = [listOf("updateOld"), listOf("updateNew")];
  if (old.length !== wanted.length) return SILENT;
  const work = [
    ...listOf("delete").map((set) => () => remove(state, set)),
    ...listOf("create").map((set) => () => add(state, set)),
    ...wanted.map((set, at) => () => replace(state, old[at], set)),
  ];
  return work.every((change) => change()) ? { status: 204 } : SILENT;
}

function isOf(set: RecordSet): (other: RecordSet) => boolean {
  return ({ dnsName, recordType, setIdentifier = "" }) =>
    dnsName.toLowerCase() === set.dnsName.toLowerCase() &&
    recordType === set.recordType &&
    setIdentifier === (set.setIdentifier ?? "");
}

function remove(state: WebhookState, set: RecordSet): boolean {
  const left = state.records.filter((other) => !isOf(set)(other));
  const isThere = left.length < state.records.length;
  state.records = left;
  return isThere;
}

function add(state: WebhookState, set: RecordSet): boolean {
  if (!isValid(state, set) || state.records.some(isOf(set))) return false;
  state.records.push(stored(state, set));
  return true;
}

function replace(state: WebhookState, old: RecordSet | undefined, set: RecordSet): boolean {
  if (old === undefined || !state.records.some(isOf(old)) || !isValid(state, set)) return false;
  const at = state.records.findIndex(isOf(old));
  const rest = state.records.filter((other) => !isOf(old)(other));
  state.records = [...rest.slice(0, at), stored(state, set), ...rest.slice(at)];
  return true;
}

/** Some webhooks store only the first target of a set. */
function stored({ settings: { targets_per_set } }: WebhookState, set: RecordSet): RecordSet {
  return {
    ...structuredClone(set),
    targets: targets_per_set === 0 ? [...set.targets] : set.targets.slice(0, targets_per_set),
  };
}

function isValid({ records, domains }: WebhookState, { dnsName, recordType, targets }: RecordSet): boolean {
  const isInside = domains.length === 0 || domains.some((domain) => relativeName(domain, dnsName) !== undefined);
  const isBeside = records.some(
    (other) => other.dnsName === dnsName && (other.recordType === "CNAME") !== (recordType === "CNAME"),
  );
  const hasTargets = Array.isArray(targets) && targets.length > 0 && new Set(targets).size === targets.length;
  return (
    isInside &&
    !isBeside &&
    hasTargets &&
    (recordType !== "A" || targets.every(isIPv4)) &&
    (recordType !== "AAAA" || targets.every(isIPv6))
  );
}

/** Some webhooks keep what they read from their provider for a while, and show it whatever was changed. */
class Cache {
  #sets: readonly RecordSet[] = [];
  #endMs = Number.NEGATIVE_INFINITY;

  shown({ records, settings: { cache_seconds } }: WebhookState, nowMs: number): readonly RecordSet[] {
    if (cache_seconds === 0) return records;
    if (nowMs >= this.#endMs) {
      this.#sets = structuredClone(records);
      this.#endMs = nowMs + cache_seconds * 1000;
    }
    return this.#sets;
  }
}
