import type { DNSMemory, PublishedName } from "../../model/resource.ts";
import type { FormerPlan } from "./former-names.ts";
import { nameKey, publishedKey } from "./name-claims.ts";
import type { NamePlan } from "./name-plan.ts";
import type { Publisher } from "./publisher.ts";

/** What an object's status should remember of DNS; what it stores, where nothing may be changed for it. Pure. */
export function dnsMemory(publisher: Publisher, present: NamePlan, former: FormerPlan): DNSMemory {
  if (!publisher.isWritable) {
    const { publishedDNS, formerDNS } = publisher.memory;
    return { ...(publishedDNS === undefined ? {} : { publishedDNS }), formerDNS };
  }
  const published = publishedName(publisher, present);
  return { ...(published === undefined ? {} : { publishedDNS: published }), formerDNS: former.names };
}

function publishedName({ memory, wish }: Publisher, { target, isRight }: NamePlan): PublishedName | undefined {
  const stored = memory.publishedDNS;
  if (target.kind === "none" || wish.kind === "none") return undefined;
  if (target.name === undefined) return stored;
  const isStored = stored !== undefined && publishedKey(stored) === nameKey(target.name);
  if (target.kind === "blocked") return isStored ? stored : undefined;
  if (!isStored && !isRight) return undefined;
  const { provider, zone, fqdn } = target.name;
  return { provider, zone, name: fqdn, addresses: target.records.addresses };
}
