import type { DNSMemory, PublishedName } from "../../model/resource.ts";
import type { FormerPlan } from "./former-names.ts";
import { nameKey, publishedKey } from "./name-claims.ts";
import type { NamePlan } from "./name-plan.ts";
import { isTaken, type NameTarget } from "./name-target.ts";
import type { Publisher } from "./publisher.ts";

/**
 * What an object's status should remember of DNS; what it stores, where nothing may be changed for it. Pure.
 * @param bequeathed - keys of the names that their owners get as they are
 */
export function dnsMemory(
  publisher: Publisher,
  present: NamePlan,
  former: FormerPlan,
  bequeathed: ReadonlySet<string>,
): DNSMemory {
  if (!publisher.isWritable) {
    const { publishedDNS, formerDNS } = publisher.memory;
    return { ...(publishedDNS === undefined ? {} : { publishedDNS }), formerDNS };
  }
  const published = publishedName(publisher, present, bequeathed);
  return { ...(published === undefined ? {} : { publishedDNS: published }), formerDNS: former.names };
}

function publishedName(
  { memory, wish }: Publisher,
  { target, isRight }: NamePlan,
  bequeathed: ReadonlySet<string>,
): PublishedName | undefined {
  if (target.kind === "none" || wish.kind === "none") return undefined;
  if (target.name === undefined) return memory.publishedDNS;
  const stored = storedName(memory, target);
  if (target.kind === "blocked") return stored;
  if (stored === undefined && !isRight && !bequeathed.has(nameKey(target.name))) return undefined;
  const { provider, zone, fqdn } = target.name;
  return { provider, zone, name: fqdn, addresses: target.records.addresses };
}

/** What is on record of the present name; an object that comes back to a former name still has its records. */
function storedName(
  { publishedDNS, formerDNS }: DNSMemory,
  target: Exclude<NameTarget, { readonly kind: "none" }>,
): PublishedName | undefined {
  const names = isTaken(target) ? [publishedDNS ?? []] : [publishedDNS ?? [], formerDNS];
  return names.flat().find((name) => target.name !== undefined && publishedKey(name) === nameKey(target.name));
}
