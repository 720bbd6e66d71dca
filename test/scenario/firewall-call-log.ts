import type { FirewallState } from "../../src/sandbox/digitalocean/firewall-rules.ts";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import type { MemoryCall } from "../fake/memory-cloud-calls.ts";
import type { LoggedCall } from "./call-log.ts";
import { nodeOf } from "./scenario-names.ts";

/** The firewalls of the account, by which a log names them. */
type Firewalls = readonly Pick<FirewallState, "id" | "name">[];

/** True for a call about firewalls. */
export function isOfFirewalls({ operation }: MemoryCall): boolean {
  return /firewall|-ports$|-machines$|^machines$/.test(operation);
}

/** A call of the firewall provider in memory: `open tcp/80 on web`, `add n1 to web`. */
export function loggedMemoryFirewallCall({ operation, subject, detail }: MemoryCall, firewalls: Firewalls): LoggedCall {
  const name = nameOf(subject, firewalls);
  const [, what = ""] = /^\w+ (?:(?:droplet|server)s? )?(.*?) (?:in|to|from) the firewall /.exec(detail) ?? [];
  switch (operation) {
    case "open-ports":
      return write(`open ${what} on ${name}`);
    case "close-ports":
      return write(`close ${what} on ${name}`);
    case "add-machines":
      return write(`add ${nodesOf(what.split(", "))} to ${name}`);
    case "remove-machines":
      return write(`remove ${nodesOf(what.split(", "))} from ${name}`);
    default:
      return read(operation === "tagged-machines" ? "tagged" : [operation, name].filter(Boolean).join(" "));
  }
}

/** A request about firewalls to the emulated DigitalOcean; undefined for any other. */
export function loggedFirewallRequest(
  { method, path, body }: RecordedCall,
  firewalls: Firewalls,
): LoggedCall | undefined {
  if (path === "/v2/droplets") return read("tagged");
  const [, , collection, id = "", part] = path.split("/");
  if (collection !== "firewalls") return undefined;
  const name = nameOf(id, firewalls);
  const { inbound_rules: rules = [], droplet_ids: droplets = [] } = (body ?? {}) as FirewallBody;
  const isAdding = method === "POST";
  const ports = rules.map(({ protocol, ports: text }) => portsText(protocol, text)).join(", ");
  if (part === "rules") return write(`${isAdding ? "open" : "close"} ${ports} on ${name}`);
  if (part === "droplets")
    return write(`${isAdding ? "add" : "remove"} ${nodesOf(droplets)} ${isAdding ? "to" : "from"} ${name}`);
  return read(id === "" ? "firewalls" : `firewall ${name}`);
}

interface FirewallBody {
  readonly inbound_rules?: readonly { readonly protocol: string; readonly ports?: string }[];
  readonly droplet_ids?: readonly number[];
}

function portsText(protocol: string, ports: string | undefined): string {
  if (protocol === "icmp" || ports === undefined) return protocol;
  return `${protocol}/${ports === "all" || ports === "0" ? "1-65535" : ports}`;
}

function nameOf(id: string, firewalls: Firewalls): string {
  return firewalls.find((firewall) => firewall.id === id)?.name ?? id;
}

function nodesOf(droplets: readonly (string | number)[]): string {
  return droplets.map(nodeOf).join(", ");
}

function read(line: string): LoggedCall {
  return { side: "cloud", isWrite: false, line };
}

function write(line: string): LoggedCall {
  return { side: "cloud", isWrite: true, line };
}
