import type { MemoryRecord } from "../fake/memory-zone.ts";
import type { DNSProviderName } from "./history.ts";
import type { World } from "./world.ts";

/** Every record of every zone of both providers at one moment. */
export type DNSView = readonly HeldAt[];

interface HeldAt extends MemoryRecord {
  readonly provider: DNSProviderName;
}

const PROVIDERS: readonly DNSProviderName[] = ["digitalocean", "cloudflare"];

/** What both providers hold now. */
export function viewDNS(world: World): DNSView {
  return PROVIDERS.flatMap((provider) => world.dns[provider].all().map((record) => ({ ...record, provider })));
}

/** The addresses that a name shows, sorted and unique. */
export function shownIn(view: DNSView, provider: string | undefined, fqdn: string): readonly string[] {
  const own = view.filter((record) => record.provider === provider && record.fqdn === fqdn && record.type === "A");
  return [...new Set(own.map(({ content }) => content))].toSorted();
}

/** Everything that is not an A record of this name, as one text. */
export function othersIn(view: DNSView, provider: string | undefined, fqdn: string): string {
  const others = view.filter((record) => record.provider !== provider || record.fqdn !== fqdn || record.type !== "A");
  return JSON.stringify(others);
}
