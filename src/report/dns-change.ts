import type { RecordSetContent, WriteDNS } from "../model/action.ts";
import { addressTexts } from "./address-text.ts";
import { listText } from "./count-text.ts";

/** What a change of the A records of a name means, address by address. Each list in the order of the records. */
export interface DNSChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
  /** `TTL 30 -> 60 s`; absent when it stays, or when the provider decides it. */
  readonly ttl?: string;
}

/** Seconds for which Cloudflare lets resolvers keep an answer whose TTL is "automatic", proxied sets among them. @see https://developers.cloudflare.com/dns/manage-dns-records/reference/ttl/ (verified 2026-11-21) */
const AUTOMATIC_SECONDS = 300;
/** Cloudflare's way to write "automatic". */
const AUTOMATIC_TTL = 1;

/** Returns what is added, removed and kept, and what becomes of the TTL. */
export function dnsChange({ before, after, reason }: WriteDNS): DNSChange {
  const change = {
    added: after.addresses.filter((address) => !before.addresses.includes(address)),
    removed: before.addresses.filter((address) => !after.addresses.includes(address)),
    kept: before.addresses.filter((address) => after.addresses.includes(address)),
  };
  if (after.addresses.length === 0 || after.ttlSeconds === before.ttlSeconds) return change;
  if (before.addresses.length === 0) return { ...change, ttl: `TTL ${ttlText(after.ttlSeconds)}` };
  // Without a TTL of its own a set has several, or the provider decides: only the reason tells which.
  if (before.ttlSeconds === undefined && reason !== "TTLDiffers") return change;
  const from = before.ttlSeconds === undefined ? "several" : ttlText(before.ttlSeconds).replace(/ s$/, "");
  return { ...change, ttl: `TTL ${from} -> ${ttlText(after.ttlSeconds)}` };
}

/** Returns the change as one piece of text: `+203.0.113.2 -203.0.113.1 =203.0.113.3, TTL 30 -> 60 s`; of each kind at most `most` addresses. */
export function dnsChangeText(action: WriteDNS, most: number): string {
  const { added, removed, kept, ttl } = dnsChange(action);
  const signed = (sign: string, addresses: readonly string[]): string[] => {
    const texts = addressTexts(addresses);
    const more = texts.length > most ? [`${sign}${texts.length - most} more`] : [];
    return [...texts.slice(0, most).map((text) => sign + text), ...more];
  };
  const addresses = [...signed("+", added), ...signed("-", removed), ...signed("=", kept)].join(" ");
  return [addresses, ttl ?? ""].filter((part) => part !== "").join(", ");
}

/** Returns the change as lines: `+ 203.0.113.2`, `- 203.0.113.1`, `= 203.0.113.3`, `TTL 30 -> 60 s`; of what is kept at most `most` addresses. */
export function dnsChangeLines(action: WriteDNS, most: number): readonly string[] {
  const { added, removed, kept, ttl } = dnsChange(action);
  const isTidied = added.length + removed.length === 0 && ttl === undefined;
  return [
    ...(isTidied ? ["one record is left of each address and TTL"] : []),
    ...(added.length > 0 ? [`+ ${addressTexts(added).join(", ")}`] : []),
    ...(removed.length > 0 ? [`- ${addressTexts(removed).join(", ")}`] : []),
    ...(kept.length > 0 ? [`= ${listText(addressTexts(kept), most)}`] : []),
    ...(ttl === undefined ? [] : [ttl]),
  ];
}

/** Returns when clients see a change: resolvers may keep the old set for its TTL. Ends with a full stop. */
export function whenVisible({ before, dnsProvider }: WriteDNS): string {
  if (before.addresses.length === 0) return "Clients see it at once, unless a resolver remembers that there was none.";
  const seconds = cacheSeconds(before, dnsProvider);
  if (seconds === undefined) return "Resolvers see it once the longest TTL of the old records is over.";
  return `Resolvers see it within ${seconds} s.`;
}

function cacheSeconds({ ttlSeconds }: RecordSetContent, provider: string): number | undefined {
  if (ttlSeconds === undefined) return provider === "cloudflare" ? AUTOMATIC_SECONDS : undefined;
  return ttlSeconds === AUTOMATIC_TTL ? AUTOMATIC_SECONDS : ttlSeconds;
}

function ttlText(seconds: number): string {
  return seconds === AUTOMATIC_TTL ? "automatic" : `${seconds} s`;
}
