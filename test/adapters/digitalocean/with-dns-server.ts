import type { DigitalOceanOptions } from "../../../src/adapters/digitalocean/api.ts";
import { openDigitalOcean } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import type { Zone } from "../../../src/model/dns.ts";
import type { DNSProvider, ProviderMeter } from "../../../src/ports/providers.ts";
import type { ReplyScript } from "../http/reply-script.ts";
import type { Received, Reply, ScriptedServer } from "./scripted-server.ts";
import { token, withServer } from "./with-server.ts";

/** The zone and the name of every test. */
export const zone: Zone = { id: "example.com", name: "example.com" };
/** See {@link zone}. */
export const fqdn: string = "www.example.com";
/** Path of its records. */
export const recordsPath: string = "/v2/domains/example.com/records";
/** Path and query of the first page of the list of its A records. */
export const listPath: string = `${recordsPath}?name=www.example.com&page=1&per_page=200&type=A`;

/** The adapter and the server it talks to. */
export interface DNSStage {
  readonly dns: DNSProvider & ProviderMeter;
  readonly server: ScriptedServer;
}

/** Runs a test of the DNS adapter against a scripted server, see withServer. */
export async function withDNSServer(
  script: ReplyScript<Received, Reply>,
  body: (stage: DNSStage) => Promise<void>,
  options: Partial<DigitalOceanOptions> = {},
): Promise<void> {
  await withServer(script, async ({ server }) => {
    const dns = openDigitalOcean({
      token,
      baseURL: server.url,
      userAgent: "flipop/0 (test)",
      clock: SYSTEM_CLOCK,
      ...options,
    }).dns;
    await body({ dns, server });
  });
}

/** `METHOD path`, and the body when there is one, of each request; the list of the tests' name is `LIST`. */
export function linesOf(server: ScriptedServer): readonly unknown[] {
  return server.requests.map(({ method, path, body }) => {
    if (method === "GET" && path === listPath) return "LIST";
    const line = `${method} ${path.replace(recordsPath, "")}`;
    return body === undefined ? line : [line, body];
  });
}

/** `domain_record` as the API shows it. */
export function recordJSON(id: number, data: string, more: object = {}): object {
  const none = { priority: null, port: null, weight: null, flags: null, tag: null };
  return { id, type: "A", name: "www", data, ttl: 60, ...none, ...more };
}

/** A page of records as the API shows it; `total` is by default how many there are. */
export function pageJSON(records: readonly object[], total: number = records.length): object {
  return { domain_records: records, links: {}, meta: { total } };
}

/** The answer to a list. */
export function listed(...records: readonly object[]): Reply {
  return { json: pageJSON(records) };
}

/** The answer to the making of a record. */
export function made(record: object): Reply {
  return { status: 201, json: { domain_record: record } };
}

/** The answer to the change of a record. */
export function changed(record: object): Reply {
  return { json: { domain_record: record } };
}

/** The answer to a removal. */
export const removed: Reply = { status: 204 };
