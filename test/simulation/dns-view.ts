import { DNS_NAMES, type DNSAccount, type DNSRecord } from "../fake/dns-account.ts";
import type { DNSProviderName } from "./history.ts";
import type { World } from "./world.ts";

/** Every record of every zone of both providers at one moment. */
export type DNSView = readonly HeldAt[];

interface HeldAt extends DNSRecord {
  readonly provider: DNSProviderName;
}

/** What both providers hold now. */
export function viewDNS(world: World): DNSView {
  return DNS_NAMES.flatMap((provider) => world.dns[provider].records().map((record) => ({ ...record, provider })));
}

/** The addresses that a name shows, sorted and unique. */
export function shownIn(view: DNSView, provider: string | undefined, fqdn: string): readonly string[] {
  const own = view.filter((record) => record.provider === provider && record.fqdn === fqdn && record.type === "A");
  return [...new Set(own.map(({ content }) => content))].toSorted();
}

/** Everything that is not an A record of this name, as one text. At DigitalOcean all records of a name share their TTL, so that of the others is not theirs alone. */
export function othersIn(view: DNSView, provider: string | undefined, fqdn: string): string {
  const others = view.filter((record) => record.provider !== provider || record.fqdn !== fqdn || record.type !== "A");
  const isShared = (record: HeldAt): boolean => record.provider === "digitalocean" && record.fqdn === fqdn;
  return JSON.stringify(others.map((record) => (isShared(record) ? { ...record, ttlSeconds: 0 } : record)));
}

/** The A records of a name of a zone. */
export function recordsOf(account: DNSAccount, zone: string, fqdn: string): readonly DNSRecord[] {
  return account.records().filter((record) => record.zone === zone && record.fqdn === fqdn && record.type === "A");
}
