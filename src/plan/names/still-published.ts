import { AUTOMATIC_TTL_SECONDS, addressesWithout, type DNSFacts, meantSeconds, recordsKey } from "../../model/dns.ts";
import { RECORD_TYPES } from "../../model/record-types.ts";
import { ownAddresses, type PublishedName } from "../../model/resource.ts";
import { publishedRecords } from "../../model/retry-subject.ts";
import { keptSeconds, type ShownName, USUAL_TTL_SECONDS } from "../drain.ts";
import { isContested } from "./fights.ts";
import {
  type FoundRecords,
  findRecords,
  formerNames,
  isAnothers,
  isToClean,
  ownPartOf,
  type UnreadFormer,
} from "./former-names.ts";
import { type NameClaims, nameKey, publishedKey } from "./name-claims.ts";
import { ownTarget } from "./name-plan.ts";
import { isPassing, isUnread, type NameTarget, type ReadyTarget } from "./name-target.ts";
import { isLeftAlone } from "./outside-owner.ts";
import { isDebouncing, type Publisher } from "./publishers.ts";

/** What names show before anything changes. */
export interface Shown {
  /** What each name shows now; without names that another object has, and those that could not be read. */
  readonly names: readonly ShownName[];
  /** The first name that an object asks for, that it never published, and that nobody has read yet: it may show anything. Absent = there is none. */
  readonly unknown?: string;
  /** The addresses that names show now, or showed last where the records cannot be read now. */
  readonly addresses: ReadonlySet<string>;
  /**
   * Address → name, for each address that this pass cannot remove from its name. Such an address must stay on its machine:
   * 1. records read, but not writable now (not selected, suspended, rate limit, backoff, debounce, or it may be somebody else's): the addresses they show;
   * 2. records not readable now: the addresses that status remembers;
   * 3. former names that the object has to clean up, because of `Delete`: as 1 and 2;
   * 4. object being deleted with `Delete`: the remembered addresses of each name that cannot be cleaned up now.
   * Nothing waits for a name that is invalid or whose zone is gone, nor for one that another object owns: that one shows what is there. Exception: it never published the
   * name, and nobody has read it yet. Then 3 and 4 count.
   */
  readonly stuck: ReadonlyMap<string, string>;
}

/** Finds what names show now, and what of it this pass cannot change. Pure. */
export function shownNow(
  publishers: readonly Publisher[],
  claims: NameClaims,
  dns: ReadonlyMap<string, DNSFacts>,
  nowMs: number,
): Shown {
  const all = publishers.map((publisher) => ({ publisher, target: ownTarget(publisher, claims) }));
  const former = all.flatMap(({ publisher, target }) => formerShown(publisher, target, { claims, dns, nowMs }));
  const names = [
    ...all.flatMap(({ publisher, target }) => shownName(publisher, target, nowMs)),
    ...former.flatMap(({ shown }) => shown),
  ];
  const last = all.flatMap(({ publisher, target }) => [
    ...(isUnread(target) ? unreadable(publisher) : []),
    ...leftUnread(publisher, claims, dns),
  ]);
  const present = all.flatMap(({ publisher, target }) => {
    if (target.kind === "ready") return unwritable(publisher, target, nowMs);
    const unread = isUnread(target) ? unreadable(publisher) : [];
    return unread.length > 0 ? unread : uncleanable(publisher, claims, dns);
  });
  const stuck = [...former.flatMap((name) => name.stuck), ...present];
  const [unknown] = all.flatMap(({ publisher, target }) => unknownName(publisher, target));
  return {
    names,
    ...(unknown === undefined ? {} : { unknown }),
    addresses: new Set([
      ...names.filter(({ isRead }) => isRead).flatMap(({ addresses }) => addresses),
      ...last.flatMap(({ addresses }) => addresses),
    ]),
    stuck: new Map(stuck.flatMap(({ name, addresses }) => addresses.map((ip) => [ip, name] as const))),
  };
}

/**
 * Returns what says whether a record set that shows the addresses of pools on a node does not show this one yet. What nobody can read now shows what status remembers. Pure.
 */
export function awaitedByRecordSets(publishers: readonly Publisher[]): (ip: string, nodeName: string) => boolean {
  const showing = publishers.flatMap(({ showsNode, isReserved, wish, meta, recordType, target, memory }) => {
    if (showsNode === undefined || !isReserved || wish.kind !== "named" || meta.isDeleting) return [];
    const addresses: readonly string[] =
      target.kind === "ready" ? target.records.addresses : (memory.publishedDNS?.addresses ?? []);
    return [{ showsNode, canonical: RECORD_TYPES[recordType].canonical, addresses }];
  });
  return (ip, nodeName) =>
    showing.some(
      ({ showsNode, canonical, addresses }) =>
        canonical(ip) !== undefined && !addresses.includes(ip) && showsNode(nodeName),
    );
}

function shownName(publisher: Publisher, target: NameTarget, nowMs: number): readonly ShownName[] {
  if (target.kind === "ready") return [readName(publisher, target, nowMs)];
  const { ref: owner, wish } = publisher;
  if (!isPassing(target) || wish.kind !== "named") return [];
  return unreadable(publisher).map(({ name: fqdn, addresses }) => {
    const access = publisher.isWritable ? "later" : "never";
    const ttlSeconds = keptSeconds(wish.ttlSeconds, publisher.memory, nowMs);
    return { owner, fqdn, addresses, ttlSeconds, access, isRead: false };
  });
}

function readName(publisher: Publisher, target: ReadyTarget, nowMs: number): ShownName {
  const { settlesAtMs, isReserved, showsNode } = publisher;
  const { name, records } = target;
  const ttlSeconds = records.isTTLAutomatic ? AUTOMATIC_TTL_SECONDS : (records.ttlSeconds ?? target.ttlSeconds);
  // A change that failed is planned again when it is due: until then the address is on its way out.
  const isPaused = isRetried(publisher, target);
  const access = isPaused ? "now" : accessTo(publisher, target, nowMs);
  return {
    owner: publisher.ref,
    fqdn: name.fqdn,
    addresses: records.addresses,
    ttlSeconds: keptSeconds(ttlSeconds, publisher.memory, nowMs),
    access,
    isRead: true,
    ...(isPaused ? { isPaused } : {}),
    ...(access === "later" && settlesAtMs !== undefined ? { accessAtMs: settlesAtMs } : {}),
    ...unrecordedField(publisher, target),
    ...(isReserved && showsNode !== undefined ? { showsNode } : {}),
  };
}

/** As of a {@link ShownName}: what status has of the name, and its records have not. */
function unrecordedField(
  { memory: { publishedDNS } }: Publisher,
  { name, records }: ReadyTarget,
): Pick<ShownName, "unrecorded"> {
  if (publishedDNS === undefined || publishedKey(publishedDNS) !== nameKey(name)) return {};
  const unrecorded = addressesWithout(ownAddresses(publishedDNS), records.addresses);
  return unrecorded.length === 0 ? {} : { unrecorded };
}

function unknownName({ wish, memory: { publishedDNS } }: Publisher, target: NameTarget): readonly string[] {
  if (!isPassing(target) || wish.kind !== "named") return [];
  const isNew =
    publishedDNS === undefined || (target.name !== undefined && publishedKey(publishedDNS) !== nameKey(target.name));
  return isNew ? [target.name?.fqdn ?? wish.recordName] : [];
}

function isRetried({ isWritable, retries }: Publisher, { name, unusable }: ReadyTarget): boolean {
  return isWritable && unusable === undefined && retries.removalObstacle(name) !== undefined;
}

function accessTo(publisher: Publisher, target: ReadyTarget, nowMs: number): ShownName["access"] {
  const { name, unusable, owner } = target;
  if (!publisher.isWritable) return "never";
  if (isLeftAlone(publisher, target)) {
    const isPassingBy = owner === undefined || (owner.kind === "gap" && !owner.isRefused);
    return isPassingBy ? "later" : "never";
  }
  if (unusable !== undefined) return isPassing(unusable) ? "later" : "never";
  const isWaiting =
    publisher.retries.removalObstacle(name) !== undefined ||
    isDebouncing(publisher, nowMs) ||
    isContested(publisher, target, nowMs);
  return isWaiting ? "later" : "now";
}

type NamedAddresses = Pick<PublishedName, "name" | "addresses">;

/** Returns the addresses that a name shows and that cannot be taken out of it, although it was read. */
function unwritable(publisher: Publisher, target: ReadyTarget, nowMs: number): readonly NamedAddresses[] {
  const { name, records } = target;
  return accessTo(publisher, target, nowMs) === "now" ? [] : [{ name: name.fqdn, addresses: records.addresses }];
}

/** Returns every name that status remembers. */
function remembered(publisher: Publisher): readonly PublishedName[] {
  return [...publisher.memory.formerDNS, ...unreadable(publisher)];
}

/** Returns the name that status remembers as published. */
function unreadable({ memory: { publishedDNS } }: Publisher): readonly PublishedName[] {
  return publishedDNS === undefined ? [] : [publishedDNS];
}

/** What a former name shows that its object has to clean up. */
interface FormerShown {
  /** Empty where the records cannot be read until a person acts. */
  readonly shown: readonly ShownName[];
  /** The name, if nothing can be taken out of it in this pass. */
  readonly stuck: readonly NamedAddresses[];
}

/** What says whether former names can be cleaned up. */
interface FormerFacts {
  readonly claims: NameClaims;
  readonly dns: ReadonlyMap<string, DNSFacts>;
  readonly nowMs: number;
}

/** Returns what the former names show that an object has to clean up. Those of a deleted object only hold its addresses. */
function formerShown(publisher: Publisher, target: NameTarget, facts: FormerFacts): readonly FormerShown[] {
  if (publisher.meta.isDeleting) return [];
  return formerNames(publisher, target).flatMap((name) => {
    const former = { ...name, addresses: ownAddresses(name) };
    const found = findRecords(former, facts.dns);
    const isOwn = isToClean(publisher, name, facts.claims);
    if (found.kind === "records") return isOwn ? [readFormer(publisher, former, found, facts)] : [];
    const isUnread = found.kind === "unread" && (isOwn || isYetToPublish(publisher, name, facts.claims));
    return isUnread ? [unreadFormer(publisher, former, found)] : [];
  });
}

function readFormer(
  publisher: Publisher,
  former: PublishedName,
  found: FoundRecords,
  { claims, nowMs }: FormerFacts,
): FormerShown {
  const { ref: owner, isWritable, settlesAtMs, retries } = publisher;
  const { name: fqdn } = former;
  const addresses = ownPartOf(found, former);
  const isSettling = isDebouncing(publisher, nowMs);
  const isLater = isSettling || claims.mayBeClaimed(publishedKey(former));
  const access = isWritable ? (isLater ? "later" : "now") : "never";
  const ttlSeconds = found.records.isTTLAutomatic ? AUTOMATIC_TTL_SECONDS : meantSeconds(found.ttlSeconds);
  const settles = isWritable && isSettling && settlesAtMs !== undefined ? { accessAtMs: settlesAtMs } : {};
  const isStuck = access !== "now" || retries.removalObstacle(publishedRecords(former)) !== undefined;
  return {
    shown: [{ owner, fqdn, addresses, ttlSeconds, access, isRead: true, isFormer: true, ...settles }],
    stuck: isStuck ? [{ name: fqdn, addresses }] : [],
  };
}

function unreadFormer(
  { ref: owner, isWritable }: Publisher,
  { name: fqdn, addresses }: PublishedName,
  { isPassing: mayBeRead }: UnreadFormer,
): FormerShown {
  const stuck = [{ name: fqdn, addresses }];
  if (!mayBeRead) return { shown: [], stuck };
  const access = isWritable ? "later" : "never";
  const shown = {
    owner,
    fqdn,
    addresses,
    ttlSeconds: USUAL_TTL_SECONDS,
    access,
    isRead: false,
    isFormer: true,
  } as const;
  return { shown: [shown], stuck };
}

/** Returns the remembered addresses of each name that a deleted object would have to clean up and cannot. */
function uncleanable(
  publisher: Publisher,
  claims: NameClaims,
  dns: ReadonlyMap<string, DNSFacts>,
): readonly NamedAddresses[] {
  if (!publisher.meta.isDeleting) return [];
  const own = remembered(publisher).filter((name) => {
    if (!isToClean(publisher, name, claims)) return false;
    const isWaiting =
      publisher.retries.removalObstacle(publishedRecords(name)) !== undefined ||
      claims.mayBeClaimed(publishedKey(name));
    return isWaiting || !isCleanable(name, dns);
  });
  return [...own, ...leftUnread(publisher, claims, dns)];
}

/** Returns the names that an object remembers and leaves to another one, where nobody knows what they show now. */
function leftUnread(
  publisher: Publisher,
  claims: NameClaims,
  dns: ReadonlyMap<string, DNSFacts>,
): readonly PublishedName[] {
  return remembered(publisher).filter((name) => isYetToPublish(publisher, name, claims) && !isCleanable(name, dns));
}

/** True for a name that its object leaves to another one which never published it: only this object remembers what it shows. */
function isYetToPublish(publisher: Publisher, name: PublishedName, claims: NameClaims): boolean {
  const isLeft = publisher.reclaimPolicy === "Delete" && isAnothers(publisher, name, claims);
  return isLeft && !claims.hasPublished(publishedKey(name));
}

/** True if the records of a name were read and may be written, or are gone with their zone. */
function isCleanable({ provider, zone, name }: PublishedName, dns: ReadonlyMap<string, DNSFacts>): boolean {
  const facts = dns.get(provider);
  const found = facts?.zones.get(zone);
  if (found?.kind === "missing") return true;
  const fact = found?.kind === "known" ? facts?.records.get(recordsKey(found.zone, name)) : undefined;
  return facts?.unusable === undefined && fact?.kind === "known";
}
