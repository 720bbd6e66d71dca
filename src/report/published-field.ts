import type { DNSMemory, PublishedName } from "../model/resource.ts";
import type { JSONObject } from "./document.ts";

/** Returns the name an object publishes and the addresses its records had when last seen, as documents carry it; `null` = none is on record. */
export function publishedField({ publishedDNS }: Pick<DNSMemory, "publishedDNS">): JSONObject | null {
  return publishedDNS === undefined ? null : nameField(publishedDNS);
}

/** Returns one name with its records as documents carry it. */
export function nameField({ provider, zone, name, addresses }: PublishedName): JSONObject {
  return { provider, zone, name, addresses };
}
