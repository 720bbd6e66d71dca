import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import type { DNSName, DNSRecord } from "../fake/dns-account.ts";
import type { MemoryCall } from "../fake/memory-cloud-calls.ts";
import type { LoggedCall } from "./call-log.ts";
import { short } from "./scenario-names.ts";

/** How lines of the log call a provider. */
export const SHORT_PROVIDERS: Readonly<Record<DNSName, string>> = {
  digitalocean: "do",
  cloudflare: "cf",
  hetzner: "hz",
  webhook: "wh",
};

/** A call of a DNS provider in memory: `cf batch www.example.com`, `do add ip1 to www.example.com`. */
export function loggedMemoryDNSCall(provider: DNSName, { operation, subject, detail }: MemoryCall): LoggedCall {
  const [, address = ""] = /(?:add|remove) ([\da-f.:]+) /.exec(detail) ?? [];
  const [, ttl = ""] = / to (\d+) s/.exec(detail) ?? [];
  // What a webhook is asked is about everything.
  if (provider === "webhook" && operation !== "write") return dnsCall(provider, false, operation);
  switch (operation) {
    case "add-record":
      return dnsCall(provider, true, `add ${address} to ${subject}`);
    case "set-ttl":
      return dnsCall(provider, true, `set TTL ${ttl} of ${subject}`);
    case "remove-record":
      return dnsCall(provider, true, `remove ${address} from ${subject}`);
    case "write":
      return dnsCall(provider, true, `batch ${subject}`);
    default:
      return dnsCall(provider, false, `${operation} ${subject}`);
  }
}

/** A request to the emulated DigitalOcean about a domain. `recordOf` finds a record by its id, also one that is gone by now. */
export function loggedDomainRequest(
  { method, path, query, body }: RecordedCall,
  recordOf: (id: number) => Pick<DNSRecord, "fqdn" | "content"> | undefined,
): LoggedCall {
  const [, , , zone = "", detail, id] = path.split("/");
  const { name = "", data = "", ttl } = (body ?? {}) as { name?: string; data?: string; ttl?: number };
  const fqdn = name === "@" ? zone : `${name}.${zone}`;
  const { fqdn: known = "?", content = "?" } = recordOf(Number(id)) ?? {};
  if (method === "GET")
    return dnsCall(
      "digitalocean",
      false,
      detail === undefined ? `zone ${zone}` : `records ${new URLSearchParams(query).get("name") ?? ""}`,
    );
  if (method === "POST") return dnsCall("digitalocean", true, `add ${data} to ${fqdn}`);
  if (method === "DELETE") return dnsCall("digitalocean", true, `remove ${content} from ${known}`);
  return dnsCall("digitalocean", true, `set TTL ${ttl ?? "?"} of ${known}`);
}

/** A request to the emulated Cloudflare. `nameOf` finds the name of a record by its id, also of one that is gone by now. */
export function loggedCloudflareRequest(
  { method, path, query, body }: RecordedCall,
  nameOf: (id: string) => string | undefined,
): LoggedCall {
  const [, , , , zone = "", detail] = path.split("/");
  const asked = new URLSearchParams(query);
  if (method === "GET")
    return dnsCall(
      "cloudflare",
      false,
      detail === undefined
        ? `zone ${zone === "" ? (asked.get("name") ?? "") : zone}`
        : `records ${asked.get("name.exact") ?? asked.get("name") ?? ""}`,
    );
  const changes = Object.values((body ?? {}) as Readonly<Record<string, readonly BatchEntry[]>>).flat();
  const [first = ""] = changes.flatMap(({ name, id }) => name ?? nameOf(id ?? "") ?? []);
  return dnsCall("cloudflare", true, `batch ${first}`);
}

/** A request to the emulated Hetzner Cloud about a zone. */
export function loggedZoneRequest({ method, path, query, body }: RecordedCall): LoggedCall {
  const [, , , zone = "", detail, name] = path.split("/");
  const asked = new URLSearchParams(query);
  if (method === "GET" && detail === undefined) return dnsCall("hetzner", false, `zone ${zone || asked.get("name")}`);
  const { name: made } = (body ?? {}) as { readonly name?: string };
  const relative = name ?? made ?? asked.get("name") ?? "@";
  const fqdn = relative === "@" ? zone : `${relative}.${zone}`;
  return method === "GET" ? dnsCall("hetzner", false, `records ${fqdn}`) : dnsCall("hetzner", true, `batch ${fqdn}`);
}

/** A request to the emulated webhook. */
export function loggedWebhookRequest({ method, path, body }: RecordedCall): LoggedCall {
  if (method === "GET") return dnsCall("webhook", false, path === "/" ? "zone" : "records");
  if (path !== "/records") return dnsCall("webhook", false, "adjust");
  const { create, updateNew, delete: gone } = body as Readonly<Record<string, readonly { dnsName: string }[]>>;
  return dnsCall("webhook", true, `batch ${(create ?? updateNew ?? gone)?.[0]?.dnsName}`);
}

interface BatchEntry {
  readonly id?: string;
  readonly name?: string;
}

function dnsCall(provider: DNSName, isWrite: boolean, line: string): LoggedCall {
  return { side: "dns", isWrite, line: `${SHORT_PROVIDERS[provider]} ${short(line)}` };
}
