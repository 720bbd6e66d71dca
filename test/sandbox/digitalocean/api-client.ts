import { expect } from "vitest";
import {
  type DigitalOceanSandbox,
  digitaloceanSandbox,
} from "../../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { SandboxRequest } from "../../../src/sandbox/http-server.ts";
import { openAPIValidator } from "../../openapi/validator.ts";

/** One answer, as a test wants to look at it. */
export interface APIAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `any` by another name: tests read what they expect to be there. */
  readonly body: APIBody;
}

/** JSON whose members are read without checks. */
interface APIBody {
  readonly [key: string]: APIBody;
}

/** A sandbox without HTTP, its clock, and a client that checks both directions against the API description. */
export interface APIClient {
  readonly sandbox: DigitalOceanSandbox;
  nowMs: number;
  token: string | undefined;
  /** Sends one request. `isInvalid`: the request itself is not what the description allows. */
  send(method: string, path: string, body?: unknown, isInvalid?: boolean): APIAnswer;
  get(path: string): APIAnswer;
  assign(ip: string, dropletID: number): APIAnswer;
  unassign(ip: string): APIAnswer;
  /** Droplet id an address is on by its own GET; null = none. */
  holder(ip: string): number | null;
}

const validator = openAPIValidator();

/** A client of a new in-memory account. */
export function apiClient(state: unknown = {}): APIClient {
  const client: APIClient = {
    nowMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    token: "secret-token",
    sandbox: digitaloceanSandbox({ state, now: () => client.nowMs }),
    send(method, path, body, isInvalid = false) {
      const reply = client.sandbox.handle(requestOf(client, method, path, body));
      if ("stream" in reply) throw new Error("unexpected stream");
      const wire: unknown = reply.body === undefined ? undefined : JSON.parse(JSON.stringify(reply.body));
      if (!isInvalid) expect(validator.checkRequest(method, path, body)).toEqual([]);
      // A request the description does not know has no described answer either.
      const isDescribed = validator.checkRequest(method, path, body)[0]?.startsWith("unknown operation") !== true;
      const faults = isDescribed ? validator.checkResponse(method, path, reply.status, wire) : [];
      // Many fields that nobody reads are left out.
      expect(faults.filter((fault) => !fault.includes("required property"))).toEqual([]);
      return { status: reply.status, headers: reply.headers ?? {}, body: (wire ?? {}) as APIBody };
    },
    get: (path) => client.send("GET", path),
    assign: (ip, dropletID) =>
      client.send("POST", `/v2/reserved_ips/${ip}/actions`, { type: "assign", droplet_id: dropletID }),
    unassign: (ip) => client.send("POST", `/v2/reserved_ips/${ip}/actions`, { type: "unassign" }),
    holder: (ip) => (client.get(`/v2/reserved_ips/${ip}`).body["reserved_ip"]?.["droplet"]?.["id"] ?? null) as never,
  };
  return client;
}

function requestOf(client: APIClient, method: string, path: string, body: unknown): SandboxRequest {
  const [pathname = "", search = ""] = path.split("?");
  const headers = client.token === undefined ? {} : { authorization: `Bearer ${client.token}` };
  return { method, path: pathname, query: new URLSearchParams(search), headers: { ...headers, host: "sandbox" }, body };
}
