/** What a firewall lets through, in lower case. */
export type FirewallProtocol = "tcp" | "udp" | "icmp";

/** Ports of one protocol, canonical: 1 ≤ `from` ≤ `to` ≤ 65535; all ports are 1 to 65535; icmp has none and says 0 to 0. */
export interface PortRange {
  readonly protocol: FirewallProtocol;
  readonly from: number;
  readonly to: number;
}

/** The highest port there is. */
export const LAST_PORT = 65_535;

const PROTOCOLS: readonly FirewallProtocol[] = ["tcp", "udp", "icmp"];

/** `tcp/80`, `udp/8000-9000` or `icmp`: the one way a range is written in status, plans and texts. */
export function portText({ protocol, from, to }: PortRange): string {
  if (protocol === "icmp") return protocol;
  return from === to ? `${protocol}/${from}` : `${protocol}/${from}-${to}`;
}

/**
 * The range that a protocol and a port, a range of ports (`8000-9000`), or all of them (`all`, `0`, `""`) mean; undefined when it is none. The protocol in any
 * case; icmp has no ports, whatever is written.
 */
export function portRange(protocol: string, ports: string): PortRange | undefined {
  const lower = protocol.toLowerCase();
  const known = PROTOCOLS.find((name) => name === lower);
  if (known === undefined) return undefined;
  if (known === "icmp") return { protocol: known, from: 0, to: 0 };
  if (ports === "all" || ports === "0" || ports === "") return { protocol: known, from: 1, to: LAST_PORT };
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(ports);
  if (match === null) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  return from >= 1 && from <= to && to <= LAST_PORT ? { protocol: known, from, to } : undefined;
}

/** Reads what {@link portText} wrote; undefined when it is something else. */
export function parsePortText(text: string): PortRange | undefined {
  const [protocol = "", ports, ...rest] = text.split("/");
  const range = rest.length > 0 ? undefined : portRange(protocol, ports ?? "");
  return range !== undefined && portText(range) === text ? range : undefined;
}

/** True when everything in `inner` is also in `outer`. */
export function includesPorts(outer: PortRange, inner: PortRange): boolean {
  return outer.protocol === inner.protocol && outer.from <= inner.from && inner.to <= outer.to;
}
