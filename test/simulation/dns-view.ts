import { setNamed } from "../../src/model/record-types.ts";
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

/** The addresses that a set of records shows, named as `setText` does it, sorted and unique. */
export function shownIn(view: DNSView, provider: string | undefined, text: string): readonly string[] {
  const own = view.filter((record) => record.provider === provider && isIn(record, text));
  return [...new Set(own.map(({ content }) => content))].toSorted();
}

/** True for a record of this set. */
export function isIn(record: DNSRecord, text: string): boolean {
  const { fqdn, type } = setNamed(text);
  return record.fqdn === fqdn && record.type === type;
}

/** Everything that is not of this set, as one text. At DigitalOcean all records of a name share their TTL, so that of the others is not theirs alone. */
export function othersIn(view: DNSView, provider: string | undefined, text: string): string {
  const { fqdn } = setNamed(text);
  const others = view.filter((record) => record.provider !== provider || !isIn(record, text));
  const isShared = (record: HeldAt): boolean => record.provider === "digitalocean" && record.fqdn === fqdn;
  return JSON.stringify(others.map((record) => (isShared(record) ? { ...record, ttlSeconds: 0 } : record)));
}

/** The records of a set of a zone. */
export function recordsOf(account: DNSAccount, zone: string, text: string): readonly DNSRecord[] {
  return account.records().filter((record) => record.zone === zone && isIn(record, text));
}
