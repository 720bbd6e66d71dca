import type { RecordState } from "../../../src/sandbox/cloudflare/account-state.ts";
import { type CloudflareSandbox, cloudflareSandbox } from "../../../src/sandbox/cloudflare/cloudflare-sandbox.ts";

/** The zone of the tests. */
export const zoneID = "023e105f4ecef8ad9ca31a8372d0c353";

/** An error of an envelope. */
interface APIError {
  readonly code: number;
  readonly message: string;
  readonly error_chain?: readonly APIError[];
}

/** An answer of the emulated API. */
export interface APIAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly success: boolean;
    readonly errors: readonly APIError[];
    readonly result: unknown;
    readonly result_info?: Readonly<Record<string, number>>;
  };
}

/** Talks to an emulated account without a network. */
export interface APIClient {
  readonly sandbox: CloudflareSandbox;
  /** Sent with every request; undefined = none. May be changed. */
  authorization: string | undefined;
  /** The account's time. May be changed. */
  nowMs: number;
  /** `path` below `/client/v4`, with query. */
  send(method: string, path: string, body?: unknown): APIAnswer;
  /** Creates one record by a batch. */
  create(record: object): APIAnswer;
  /** The records of the zone of the tests as `name type content`, in order. */
  stored(): readonly string[];
}

/** Makes an account with the zone `example.com`; `records` are A records of `www` unless they say otherwise. */
export function apiClient(records: readonly Partial<RecordState>[] = [], more: object = {}): APIClient {
  const dnsRecords = records.map((record) => ({ name: "www", ...record }));
  const zones = [{ id: zoneID, name: "example.com", dns_records: dnsRecords }];
  const client: APIClient = {
    sandbox: cloudflareSandbox({ state: { zones, ...more }, now: () => client.nowMs }),
    authorization: "Bearer token",
    nowMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    send(method, path, body) {
      const [pathname = "", search = ""] = path.split("?");
      const { authorization } = client;
      const reply = client.sandbox.handle({
        method,
        path: `/client/v4${pathname}`,
        query: new URLSearchParams(search),
        headers: authorization === undefined ? {} : { authorization },
        body: body === undefined ? undefined : JSON.parse(JSON.stringify(body)),
      });
      if ("stream" in reply) throw new Error("a stream");
      const wire: unknown = JSON.parse(JSON.stringify(reply.body));
      return { status: reply.status, headers: reply.headers ?? {}, body: wire as APIAnswer["body"] };
    },
    create: (record) => client.send("POST", recordsPath("/batch"), { posts: [record] }),
    stored: () =>
      client.sandbox
        .account()
        .state.zones[0]?.dns_records.map(({ name, type, content }) => `${name} ${type} ${content}`) ?? [],
  };
  return client;
}

/** The path of the records of the zone of the tests, or of what lies below. */
export function recordsPath(below = ""): string {
  return `/zones/${zoneID}/dns_records${below}`;
}

/** The codes of an answer's errors and their chains: `1004>9021`. */
export function codes(answer: APIAnswer): string {
  const textOf = (error: APIError): string => [error.code, ...(error.error_chain ?? []).map(textOf)].join(">");
  return answer.body.errors.map(textOf).join(" ");
}
