import { type DNSFacts, recordsKey } from "../../model/dns.ts";
import type { PublishedName } from "../../model/resource.ts";
import { retryDueMs } from "../retry-schedule.ts";
import { isSameObject, type NameClaims, nameKey } from "./name-claims.ts";
import { ownTarget } from "./name-plan.ts";
import { dnsSubject, type Publisher } from "./publisher.ts";
import { mustSettle } from "./settling.ts";

/**
 * The addresses that a name shows, or showed last, and that cannot be taken out of it in this pass, with the name: they may not leave their machine yet. Where a
 * name is wrong, gone or another object's, nobody waits for it. Pure.
 */
export function stillPublished(
  publishers: readonly Publisher[],
  claims: NameClaims,
  dns: ReadonlyMap<string, DNSFacts>,
  nowMs: number,
): ReadonlyMap<string, string> {
  return new Map(publishers.flatMap((publisher) => stuckAddresses(publisher, claims, dns, nowMs)));
}

const TRANSIENT: ReadonlySet<string> = new Set(["Unreadable", "RateLimited", "ProviderUnavailable"]);

/** The addresses that names show now, or showed last where the records cannot be read now. Pure. */
export function shownAddresses(publishers: readonly Publisher[], claims: NameClaims): ReadonlySet<string> {
  return new Set(
    publishers.flatMap((publisher) => {
      const target = ownTarget(publisher, claims);
      if (target.kind === "ready") return target.records.addresses;
      return target.kind === "blocked" && TRANSIENT.has(target.reason)
        ? (publisher.memory.publishedDNS?.addresses ?? [])
        : [];
    }),
  );
}

function stuckAddresses(
  publisher: Publisher,
  claims: NameClaims,
  dns: ReadonlyMap<string, DNSFacts>,
  nowMs: number,
): readonly (readonly [string, string])[] {
  const target = ownTarget(publisher, claims);
  const { publishedDNS, formerDNS } = publisher.memory;
  if (target.kind === "ready") {
    const { fqdn } = target.name;
    const isNow = isDue(publisher, fqdn, nowMs) && !mustSettle(publisher, nowMs);
    const canWrite = publisher.isWritable && target.unusable === undefined && isNow;
    return canWrite ? [] : target.records.addresses.map((ip) => [ip, fqdn] as const);
  }
  if (target.kind === "blocked" && TRANSIENT.has(target.reason) && publishedDNS !== undefined)
    return publishedDNS.addresses.map((ip) => [ip, publishedDNS.name] as const);
  const isLeaving = publisher.meta.isDeleting && publisher.reclaimPolicy === "Delete";
  const names = isLeaving ? [...formerDNS, ...(publishedDNS === undefined ? [] : [publishedDNS])] : [];
  return names
    .filter(({ provider, zone, name }) => {
      const key = nameKey({ provider, fqdn: name });
      const owner = claims.ownerOf(key);
      const isFree = isDue(publisher, name, nowMs) && !claims.isUntold(key);
      const canGo = isFree && isCleanable({ provider, zone, name }, dns);
      return !canGo && (owner === undefined || isSameObject(owner, publisher.ref));
    })
    .flatMap(({ name, addresses }) => addresses.map((ip) => [ip, name] as const));
}

function isDue({ retries }: Publisher, fqdn: string, nowMs: number): boolean {
  const retry = retries.find(({ subject }) => subject === dnsSubject(fqdn));
  return retry === undefined || retryDueMs(retry, nowMs) <= nowMs;
}

/** True when the records of a former name were read, or are gone with their zone, and may be written. */
function isCleanable(
  { provider, zone, name }: Omit<PublishedName, "addresses">,
  dns: ReadonlyMap<string, DNSFacts>,
): boolean {
  const facts = dns.get(provider);
  const found = facts?.zones.get(zone);
  if (found?.kind === "missing") return true;
  const fact = found?.kind === "known" ? facts?.records.get(recordsKey(found.zone, name)) : undefined;
  return facts?.unusable === undefined && fact?.kind === "known";
}
