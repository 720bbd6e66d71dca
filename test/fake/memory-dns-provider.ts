import { CLOUDFLARE_API } from "../../src/adapters/cloudflare/api.ts";
import { createCloudflare } from "../../src/adapters/cloudflare/cloudflare.ts";
import type { SDK as CloudflareSDK } from "../../src/adapters/cloudflare/sdk.ts";
import { DIGITALOCEAN_API } from "../../src/adapters/digitalocean/api.ts";
import { openDigitalOcean } from "../../src/adapters/digitalocean/digitalocean.ts";
import type { SDK as DigitalOceanSDK } from "../../src/adapters/digitalocean/sdk.ts";
import { HETZNER_API } from "../../src/adapters/hetzner/api.ts";
import { openHetzner } from "../../src/adapters/hetzner/hetzner.ts";
import type { Answer } from "../../src/adapters/http/answer.ts";
import {
  type APIClient,
  callCounter,
  interpretResponse,
  notSent,
  type PlainRequest,
  type ProviderAPI,
} from "../../src/adapters/http/api-client.ts";
import { type CallInfo, failedCall } from "../../src/adapters/http/failures.ts";
import { rateLimitGate } from "../../src/adapters/http/limits.ts";
import { MEDIA_TYPE, webhookAPI } from "../../src/adapters/webhook/api.ts";
import { createWebhook } from "../../src/adapters/webhook/webhook.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { DNSProvider, ProviderMeter } from "../../src/ports/providers.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { SandboxReply } from "../../src/sandbox/http-server.ts";
import { type DNSAccount, memoryDNSAccount } from "../fake/dns-account.ts";
import { FakeClock } from "./fake-clock.ts";
import type { MemoryCall, MemoryFault } from "./memory-cloud-calls.ts";

/** What a call is about, as ProviderError has it: `zone`, `records`, and `write` or, one by one, `add-record`, `set-ttl`, `remove-record`. */
export type MemoryDNSCall = Pick<CallInfo, "operation" | "subject" | "isWrite"> & {
  /** True for `records` of all names of a zone; then the subject is the zone. */
  readonly isWholeZone?: true;
  /** What one request of Cloudflare changes; absent for what changes one thing alone, and at other providers. */
  readonly batch?: DNSBatch;
};

/** How many records of a name one request changes. A record that gets another address is one added and one removed. */
export interface DNSBatch {
  readonly added: number;
  readonly removed: number;
  /** Those that only get another TTL. */
  readonly timed: number;
}

/** What a memory DNS provider may be given. */
export interface MemoryDNSProviderOptions {
  /** Several providers may share one. Default: an empty one of DigitalOcean's. */
  readonly account?: DNSAccount;
  /** Default: a {@link FakeClock}. Says when a 429 is over. */
  readonly clock?: Clock;
  /** Called once per call that is about to reach the account; a fault it returns is thrown in place of the answer. */
  readonly beforeCall?: (operation: string, subject: string) => MemoryFault | undefined;
  /** Called after each write that reached the account. */
  readonly afterWrite?: () => void;
  /** As the real client is given it. Default: always. */
  readonly mayWrite?: () => boolean;
  /** Carries every call out: as it is, late, never, or with another end than its own. Default: at once. */
  readonly around?: <T>(call: MemoryDNSCall, effect: () => Promise<T>) => Promise<T>;
}

/** A DNS provider in memory. */
export interface MemoryDNSProvider extends DNSProvider, ProviderMeter {
  readonly account: DNSAccount;
  /** Every call that reached the provider, injected faults included. */
  readonly recorded: MemoryCall[];
  /** May be exchanged at any time. */
  beforeCall: MemoryDNSProviderOptions["beforeCall"];
}

/**
 * Returns the real adapter on an emulated account, without SDK and HTTP. After a 429 no call reaches the account until its time.
 * Every method settles within promise reactions alone, unless `around` takes longer.
 */
export function memoryDNSProvider(options: MemoryDNSProviderOptions = {}): MemoryDNSProvider {
  const account = options.account ?? memoryDNSAccount("digitalocean");
  const unused = { token: TOKEN, userAgent: "flipop-test", clock: options.clock ?? new FakeClock() };
  const stage = { ...options, clock: unused.clock, account, recorded: [] as MemoryCall[] };
  const faults = { beforeCall: options.beforeCall };
  const port = adapterOf(account, unused, stage, faults);
  // A webhook tells its TTLs while it runs.
  Object.defineProperties(faults, Object.getOwnPropertyDescriptors(port));
  return Object.assign(faults as typeof faults & typeof port, { account, recorded: stage.recorded });
}

const TOKEN = "token";

/** What calls without a network go through. */
type Stage = MemoryDNSProviderOptions & Required<Pick<MemoryDNSProviderOptions, "account" | "clock">>;

function adapterOf(
  account: DNSAccount,
  options: { readonly token: string; readonly userAgent: string; readonly clock: Clock },
  stage: Stage & { readonly recorded: MemoryCall[] },
  faults: Pick<MemoryDNSProvider, "beforeCall">,
): DNSProvider & ProviderMeter {
  switch (account.name) {
    case "cloudflare":
      return createCloudflare(
        options,
        memoryClient(CLOUDFLARE_API, cloudflareClient(account), stage, faults, cloudflareBatch),
      );
    case "digitalocean":
      return openDigitalOcean(options, memoryClient(DIGITALOCEAN_API, digitalOceanClient(account), stage, faults)).dns;
    case "hetzner":
      return openHetzner(options, memoryClient(HETZNER_API, hetznerClient(account), stage, faults)).dns;
    case "webhook": {
      const client = memoryClient(webhookAPI(account.name), webhookClient(account), stage, faults);
      return createWebhook({ ...options, name: account.name, baseURL: "http://127.0.0.1:8888" }, client);
    }
  }
}

/** Makes calls without a network: one at a time, counted, and with the faults of the test. */
export function memoryClient<SDK>(
  api: ProviderAPI<SDK>,
  sdk: SDK,
  stage: Stage & { readonly recorded: MemoryCall[] },
  faults: Pick<MemoryDNSProvider, "beforeCall">,
  batchOf: (call: CallInfo & { readonly send: (sdk: SDK) => unknown }) => DNSBatch | undefined = () => undefined,
): APIClient<SDK> {
  const { account, clock, around = (_, effect) => effect(), afterWrite, mayWrite } = stage;
  const counter = callCounter();
  const gate = rateLimitGate(clock, api.readRateLimit);
  let closedUntilMs = 0;
  const caller: APIClient<SDK> = {
    meter: { calls: counter.calls, durations: counter.durations, rateLimit: gate.rateLimit },
    for: () => caller,
    call: async (call) => {
      if (call.isWrite && mayWrite?.() === false) throw notSent(call);
      if (clock.wallMs() < closedUntilMs) {
        const reason = "an earlier answer said that it is used up, so nothing was sent";
        throw failedCall(api, call, { failure: "rate-limited", status: 0, reason, notBeforeMs: closedUntilMs });
      }
      const about = aboutCall(call, account, batchOf(call));
      stage.recorded.push({ operation: about.operation, subject: about.subject, detail: call.doing });
      try {
        const result = await around(about, async () => {
          const fault = faults.beforeCall?.(about.operation, about.subject);
          if (fault !== undefined && "throw" in fault) throw fault.throw;
          // The account has changed once `send` returns. Another process may change it before the answer is here.
          const sending = call.send(sdk);
          if (call.isWrite) afterWrite?.();
          const answer = (await sending) as Answer;
          const notBeforeMs = gate.observe(answer.status, answer.headers);
          const value = interpretResponse(api, call, answer, { redact: (text) => text, notBeforeMs });
          if (fault !== undefined) throw fault.throwAfter;
          return value;
        });
        counter.add(call.operation, "success", 0);
        return result;
      } catch (error) {
        counter.add(call.operation, "error", 0);
        const isLimited = error instanceof ProviderError && error.failure === "rate-limited";
        if (isLimited) closedUntilMs = error.notBeforeMs ?? 0;
        throw error;
      }
    },
  };
  return caller;
}

function aboutCall(
  { operation, subject, isWrite, doing }: CallInfo,
  account: DNSAccount,
  batch: DNSBatch | undefined,
): MemoryDNSCall {
  if (batch !== undefined) return { operation, subject, isWrite, batch };
  if (operation !== "records" || !doing.startsWith("list ")) return { operation, subject, isWrite };
  return { operation, subject: account.zoneName(subject) ?? subject, isWrite, isWholeZone: true };
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** Lets the account answer one request. */
async function ask(
  account: DNSAccount,
  method: string,
  path: string,
  { query = {}, body }: { readonly query?: Query | undefined; readonly body?: unknown } = {},
): Promise<Answer> {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  return answerOf(account.handle({ method, path, query: search, headers: HEADERS, body }));
}

const HEADERS = { authorization: `Bearer ${TOKEN}`, accept: MEDIA_TYPE, "content-type": MEDIA_TYPE };

function answerOf(reply: SandboxReply): Answer {
  if ("stream" in reply) throw new Error("the answer is a stream");
  const headers = new Map(Object.entries({ "content-type": "application/json", ...reply.headers }));
  return { status: reply.status, headers, text: reply.body === undefined ? "" : JSON.stringify(reply.body) };
}

/** Sends a request to a webhook. */
function webhookClient(account: DNSAccount): PlainRequest {
  return (method, path, body) => ask(account, method, path, { body });
}

/** Sends a request to Hetzner Cloud. */
export function hetznerClient(account: DNSAccount): PlainRequest {
  return async (method, path, body) => {
    const url = new URL(`http://localhost/v1${path}`);
    const query = url.searchParams;
    return answerOf(account.handle({ method, path: decodeURIComponent(url.pathname), query, headers: HEADERS, body }));
  };
}

/** What the adapter uses of Cloudflare's SDK. */
function cloudflareClient(account: DNSAccount): CloudflareSDK {
  const zones = "/client/v4/zones";
  const request = (
    ...args: [method: string, path: string, more?: { readonly query?: Query; readonly body?: unknown }]
  ) => ({
    asResponse: () => ask(account, ...args),
  });
  const client = {
    zones: {
      list: (query: Query) => request("GET", zones, { query }),
      get: ({ zone_id }: { readonly zone_id: string }) => request("GET", `${zones}/${zone_id}`),
    },
    dns: {
      records: {
        list: ({ zone_id, name, ...query }: Query & { readonly name?: { readonly exact: string } }) =>
          request("GET", `${zones}/${zone_id}/dns_records`, { query: { ...query, "name.exact": name?.exact } }),
        batch: ({ zone_id, ...body }: { readonly zone_id: string }) =>
          request("POST", `${zones}/${zone_id}/dns_records/batch`, { body }),
      },
    },
  };
  return client as unknown as CloudflareSDK;
}

/** What a batch is going to change: it is told to an SDK that sends nothing. */
function cloudflareBatch({
  operation,
  send,
}: CallInfo & { readonly send: (sdk: CloudflareSDK) => unknown }): DNSBatch | undefined {
  if (operation !== "write") return undefined;
  let told: DNSBatch | undefined;
  const batch = ({ deletes = [], patches = [], posts = [] }: Partial<Record<string, readonly object[]>>) => {
    const exchanged = patches.filter((patch) => "content" in patch).length;
    told = {
      added: posts.length + exchanged,
      removed: deletes.length + exchanged,
      timed: patches.length - exchanged,
    };
    return { asResponse: () => undefined };
  };
  send({ dns: { records: { batch } } } as unknown as CloudflareSDK);
  return told;
}

/** What the adapter uses of DigitalOcean's SDK for names. */
function digitalOceanClient(account: DNSAccount): DigitalOceanSDK {
  const resource = (path: string) => ({
    get: ({ queryParameters: { perPage, ...query } = {} }: { readonly queryParameters?: Query } = {}) =>
      ask(account, "GET", path, { query: { ...query, per_page: perPage } }),
    post: (body: unknown) => ask(account, "POST", path, { body }),
    patch: (body: unknown) => ask(account, "PATCH", path, { body }),
    delete: () => ask(account, "DELETE", path),
  });
  const byDomainName = (zone: string) => ({
    ...resource(`/v2/domains/${zone}`),
    records: {
      ...resource(`/v2/domains/${zone}/records`),
      byDomain_record_id: (id: number) => resource(`/v2/domains/${zone}/records/${id}`),
    },
  });
  return { domains: { ...resource("/v2/domains"), byDomain_name: byDomainName } } as unknown as DigitalOceanSDK;
}
