import type { Action, WriteDNS } from "../../model/action.ts";
import { recordAddresses } from "../../model/dns.ts";
import type { DNSMemory, Pool, PublishedName, RecordSet } from "../../model/resource.ts";
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

/**
 * What an object must have on record of names before its actions are carried out: the name that is about to be written for the first time, and the names before it.
 * Where records are to be cleaned one day, also what is about to be added to a known name: only addresses on record are ever taken out of a former one. Empty when
 * status knows all of it. Pure.
 *
 * @param planned - the status that the plan has for the object
 */
export function recordedNames(
  actions: readonly Action[],
  planned: DNSMemory,
  { spec, status }: Pick<Pool | RecordSet, "spec" | "status">,
): Partial<DNSMemory> {
  const write = actions.find((action): action is WriteDNS => action.kind === "update-dns");
  if (write === undefined) return {};
  const { dnsProvider: provider, zoneText: zone, fqdn: name } = write;
  const { addresses } = write.after;
  // What another object left there is this one's from now on: it may prove impossible to take out.
  const shown = recordAddresses([...write.before.addresses, ...addresses]);
  const known = status.publishedDNS;
  if (known?.provider !== provider || known.name !== name)
    return { publishedDNS: { provider, zone, name, addresses: shown }, formerDNS: planned.formerDNS };
  const isKnown = addresses.every((address) => known.addresses.includes(address));
  if (isKnown || spec.reclaimPolicy !== "Delete") return {};
  return { publishedDNS: { ...known, addresses: recordAddresses([...known.addresses, ...addresses]) } };
}
