import type { PortRange } from "../../model/firewall.ts";

/** The sources of the rules that flipop writes, in CIDR notation: every IPv4 and every IPv6 address. */
export const ANYBODY: readonly string[] = ["0.0.0.0/0", "::/0"];

/** An inbound rule as the SDK takes it. */
export interface OpenRule {
  readonly protocol: "tcp" | "udp" | "icmp";
  readonly ports: string;
  readonly sources: { readonly addresses: string[] };
}

/** The inbound rule that lets everybody in on these ports; the same value adds it and removes it. Pure. */
export function openRule(ports: PortRange): OpenRule {
  return { protocol: ports.protocol, ports: writtenPorts(ports), sources: { addresses: [...ANYBODY] } };
}

/**
 * `80`, `8000-9000`, `1-65535` for all ports, `0` for icmp. Pure.
 *
 * All ports have three spellings. The API has at times refused `0` and at times `all`, and it shows both as `0`, so that a
 * removal of `all` finds nothing; the plain range has always been accepted and comes back as it was written.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/pull/39, https://github.com/patoroco/doorkeeper/pull/17,
 *   https://github.com/mondoohq/cnspec/pull/3839 (verified 2026-11-21)
 */
export function writtenPorts({ from, to }: PortRange): string {
  return from === to ? String(from) : `${from}-${to}`;
}
