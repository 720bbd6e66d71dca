import { canonicalIPv6, ipv6Groups } from "./address.ts";

const BITS = 128;

/** The network of so many bits that a canonical IPv6 address lies in: `2001:db8:1:2::/64`. Pure. */
export function ipv6NetworkOf(ip: string, bits: number): string {
  const hostBits = BigInt(BITS - bits);
  return `${textOf((numberOf(ip) >> hostBits) << hostBits)}/${bits}`;
}

/** Returns an IPv6 network in the one form that flipop writes, without bits of a host; undefined for any other text. Pure. */
export function canonicalIPv6Network(text: string): string | undefined {
  const [, address = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const ip = canonicalIPv6(address);
  const bits = Number(length);
  return ip === undefined || length === "" || bits > BITS ? undefined : ipv6NetworkOf(ip, bits);
}

/** How many bits of an address a canonical network is: 64. Pure. */
export function networkBits(network: string): number {
  return Number(network.slice(network.indexOf("/") + 1));
}

/** The first address of a canonical network that a machine can have: `2001:db8:1:2::1`. Of a network of one address it is that one. Pure. */
export function firstAddressOf(network: string): string {
  const [base = ""] = network.split("/");
  return networkBits(network) === BITS ? base : textOf(numberOf(base) + 1n);
}

function numberOf(ip: string): bigint {
  return ipv6Groups(ip).reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
}

function textOf(number: bigint): string {
  const groups = Array.from({ length: 8 }, (_, at) => ((number >> BigInt(112 - 16 * at)) & 0xffffn).toString(16));
  return canonicalIPv6(groups.join(":")) ?? groups.join(":");
}
