import type { IPFamily } from "./address-source.ts";

/** A reserved or BYOIP address as the provider shows it, in canonical form. */
export interface Address {
  readonly ip: string;
  /** Region slug; `""` when the provider does not say. */
  readonly region: string;
  /** Droplet that holds it, as the provider's own id in decimal; absent = unassigned. */
  readonly holderID?: string;
  /** True while the provider works on it and refuses other actions. */
  readonly isLocked: boolean;
  /** Set where the provider lets nothing through to it, as after abuse. */
  readonly isBlocked?: true;
  /** Set where a person has protected it from deletion at the provider. */
  readonly isProtected?: true;
  /** The network that the provider moves as one, where it is more than this address: `2001:db8:1:2::/64`. Addresses of one network are always on the same machine. */
  readonly network?: string;
  /** The uid of the object that flipop bought it for, where the provider keeps that. */
  readonly boughtFor?: string;
}

/**
 * What one pass knows of one address: read, known to be absent, or not readable in this pass. `movesTo` is the machine to which this process has asked the provider to
 * bring it, `""` for none; absent once the address was read again. `isRefused` = the provider has refused that for a while now, since it is busy.
 */
export type AddressFact =
  | { readonly kind: "known"; readonly address: Address; readonly movesTo?: string; readonly isRefused?: true }
  | { readonly kind: "gone" }
  | { readonly kind: "gap"; readonly error: string };

/** What is known of an address that was not read in this pass. */
export const UNREAD: Extract<AddressFact, { kind: "gap" }> = { kind: "gap", error: "it was not read" };

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const CANONICAL_IPV4 = new RegExp(String.raw`^(?:${OCTET}\.){3}${OCTET}$`);

/** Canonical dotted-decimal IPv4 (no leading zeros, no spaces), or undefined. */
export function canonicalIPv4(text: string): string | undefined {
  return CANONICAL_IPV4.test(text) ? text : undefined;
}

const IPV6 = /^[0-9a-f:.]{2,45}$/i;
/** IPv4-mapped addresses: nobody reaches one through a record. */
const MAPPED = /^::ffff:/;

/**
 * Returns an IPv6 address in the one form that flipop writes: lower case, no leading zeros, the longest run of zeros as `::`. Undefined for any other text, and for
 * an address that stands for an IPv4 one. Pure.
 *
 * @see https://www.rfc-editor.org/rfc/rfc5952#section-4
 */
export function canonicalIPv6(text: string): string | undefined {
  if (!IPV6.test(text) || !text.includes(":")) return undefined;
  const url = URL.parse(`http://[${text}]`);
  const address = url?.hostname.slice(1, -1);
  return address === undefined || MAPPED.test(address) ? undefined : address;
}

/** Returns an IPv4 or IPv6 address in the one form that flipop writes; undefined for any other text. Pure. */
export function canonicalAddress(text: string): string | undefined {
  return canonicalIPv4(text) ?? canonicalIPv6(text);
}

/** Ranges that no provider gives out: nobody reaches a node at such an address, and on an interface it would cut a host off. */
const UNREACHABLE: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^0\.|^::$/, "it stands for no address"],
  [/^127\.|^::1$/, "it is the host itself"],
  [/^169\.254\.|^fe[89ab][0-9a-f]:/, "it is link-local"],
  [/^2(?:2[4-9]|3\d)\.|^255\.255\.255\.255$|^ff[0-9a-f]{2}:/, "it is no address of one host"],
];

/** Returns why no client reaches a node at an address in its one form, as a clause: `it is link-local`; undefined where one may. Pure. */
export function unreachableWhy(ip: string): string | undefined {
  return UNREACHABLE.find(([pattern]) => pattern.test(ip))?.[1];
}

/** Returns an address of a family in the one form that flipop writes; undefined for any other text. */
export const CANONICAL: Readonly<Record<IPFamily, (text: string) => string | undefined>> = {
  IPv4: canonicalIPv4,
  IPv6: canonicalIPv6,
};

/**
 * Returns why an entry of an object is no address that the object can have, as a sentence; undefined where it is one. `field` says where the object has its family:
 * `spec.ipFamily`. Pure.
 */
export function entryProblem(entry: string, family: IPFamily, field: string): string | undefined {
  const fault = entryFault(entry, family, field);
  return fault === undefined ? undefined : `"${entry}" ${fault}`;
}

/** As {@link entryProblem}, without the entry: `is not an IPv6 address`. Pure. */
export function entryFault(entry: string, family: IPFamily, field: string): string | undefined {
  if (CANONICAL[family](entry) !== undefined) return undefined;
  const other: IPFamily = family === "IPv4" ? "IPv6" : "IPv4";
  if (CANONICAL[other](entry) !== undefined) return `is an ${other} address: ${field} would have to be ${other}`;
  if (family === "IPv6") return "is not an IPv6 address";
  const mapped = canonicalIPv4(/^::ffff:([\d.]+)$/i.exec(entry)?.[1] ?? "");
  if (mapped !== undefined) return `is an IPv4 address in IPv6's form: write ${mapped}`;
  return `is not ${entry.includes(":") ? "an IPv6" : "a canonical IPv4"} address`;
}

/** Returns an entry of a list of addresses as texts name it: in quotes where it is empty or has blanks in it. Pure. */
export function entryText(entry: string): string {
  return /^\S+$/.test(entry) ? entry : JSON.stringify(entry);
}

/** The number of a canonical IPv4 address, 0 to 2³² - 1. */
export function addressNumber(ip: string): number {
  return ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** The canonical IPv4 address of a number from 0 to 2³² - 1. */
export function addressText(number: number): string {
  return `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
}

/** Orders addresses for lists that people read: those of IPv4 by number, then those of IPv6, in canonical form, by their groups. */
export function compareAddresses(a: string, b: string): number {
  const isIPv6 = [a, b].map((ip) => ip.includes(":"));
  const byFamily = Number(isIPv6[0]) - Number(isIPv6[1]);
  if (byFamily !== 0) return byFamily;
  const [x, y] = isIPv6[0] === true ? [paddedIPv6(a), paddedIPv6(b)] : [addressNumber(a), addressNumber(b)];
  return x < y ? -1 : x > y ? 1 : a < b ? -1 : a > b ? 1 : 0;
}

/** An IPv6 address with four digits in each group: such texts are in the order of numbers. */
function paddedIPv6(ip: string): string {
  return ipv6Groups(ip)
    .map((group) => group.padStart(4, "0"))
    .join(":");
}

/** The eight groups of a canonical IPv6 address: `2001`, `db8`, `0`. Of any other text what stands between its colons. Pure. */
export function ipv6Groups(ip: string): readonly string[] {
  const [before = [], after] = ip.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  if (after === undefined) return before;
  return [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0"), ...after];
}

/** Returns what a status has for one address, in `status.ips`; undefined where it has nothing, whatever text the address is. Pure. */
export function entryOf<T>(byAddress: Readonly<Record<string, T>>, ip: string): T | undefined {
  return Object.hasOwn(byAddress, ip) ? byAddress[ip] : undefined;
}

/** True where a status says that its object sent the address to a machine. It stays true while the address cannot be read. False where somebody else moves it. Pure. */
export function isSent(
  entry: { readonly state: string; readonly error?: string; readonly fault?: string } | undefined,
): boolean {
  return entry?.state === "in-progress" && (entry.error === undefined || entry.fault === "unread");
}

/** `status.acquired[]`: an address flipop got for this pool from the provider. */
export interface AcquiredIP {
  readonly ip: string;
  /** RFC 3339. */
  readonly acquiredAt: string;
  /** True when it was found after a lost answer or by annotation: it is used, and never deleted. */
  readonly adopted?: boolean;
  /** The provider that it is of, such as `hetzner`; absent where that is not on record. */
  readonly provider?: string;
}

/** `status.pendingAcquisitions[]`: the intent of one creation whose answer is not known yet. */
export interface PendingAcquisition {
  /** RFC 3339, just before the call. */
  readonly startedAt: string;
  readonly region?: string;
  /** The provider that is asked, such as `hetzner`; absent where that is not on record. */
  readonly provider?: string;
  /** Target droplet, as a provider ID, when the address was asked for a droplet. */
  readonly providerID?: string;
  readonly nodeName?: string;
  /** Every address of the account just before the call, sorted. */
  readonly knownIPs: readonly string[];
  /** True when status had lost it and the pool's annotation still told of it: which addresses the account had is not known. */
  readonly restored?: boolean;
  /** The addresses it may have been, sorted, as a person was told; listing one of them in `spec.ips` is the answer. */
  readonly candidates?: readonly string[];
}

/** What a status has of how one address drains. */
export interface DrainMemory {
  /** RFC 3339. Until when resolvers may hand it out although it has left its names; absent while names go on showing it. Until then it stays where it is. */
  readonly drainingUntil?: string;
  /** For how long resolvers may hand it out from when it has left its names, seconds. Set while it is about to leave them: until then nobody knows the time. */
  readonly drainsForSeconds?: number;
}

/** `status.released[]`: no longer managed, still attached where it was. */
export interface ReleasedIP extends DrainMemory {
  readonly ip: string;
  readonly providerID?: string;
  readonly nodeName?: string;
  /** True when flipop acquired it and may delete it. */
  readonly acquired?: boolean;
  /** When the object stopped using it, RFC 3339; absent where that is not on record. */
  readonly releasedAt?: string;
}
