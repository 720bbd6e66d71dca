import { nameActionID, type WriteDNS } from "../../model/action.ts";
import { type DNSFacts, type RecordSetState, recordsKey, type UnreadDNS, type Zone } from "../../model/dns.ts";
import type { Hold } from "../../model/plan.ts";
import { REFUSAL_REASONS } from "../../model/reason.ts";
import { compareText, type PublishedName } from "../../model/resource.ts";
import { dnsSubject, retryDueMs } from "../retries.ts";
import { isSameObject, type NameClaims, nameKey, publishedKey } from "./name-claims.ts";
import { contentOf, type NamePlan, ownTarget } from "./name-plan.ts";
import { isTaken, isUnread } from "./name-target.ts";
import type { Publisher } from "./publishers.ts";
import { mustSettle } from "./readiness.ts";

/** What the clean-up of former names depends on. */
interface FormerContext {
  readonly claims: NameClaims;
  readonly dns: ReadonlyMap<string, DNSFacts>;
  readonly nowMs: number;
  /** By the key of a name, how this plan changes it for the object it belongs to now, or why that object has to wait. */
  readonly changing: ReadonlyMap<string, NameChange>;
  /** Keys of the former names that this plan cleans already: two objects may remember one. Added to. */
  readonly written: Set<string>;
}

/**
 * A change of a name for the object it belongs to: the id of the action, the hold that will end by itself, or none, since the object has nothing to publish; then
 * with the addresses that it manages.
 */
export type NameChange =
  | { readonly kind: "now"; readonly actionID: string }
  | { readonly kind: "later"; readonly hold: Hold }
  | { readonly kind: "none"; readonly hold: Hold; readonly addresses: readonly string[] };

/** What is done about the names an object had before. */
export interface FormerPlan {
  readonly actions: readonly WriteDNS[];
  readonly holds: readonly Hold[];
  /** Names whose records still stand, or may. */
  readonly names: readonly PublishedName[];
  /** Actions of other objects that take over the records of a name. */
  readonly heirs: readonly string[];
  /** Keys of the names that go over to their owners as they are, once those have them on record. */
  readonly bequeathed: readonly string[];
}

interface Step {
  readonly action?: WriteDNS;
  readonly hold?: Hold;
  /** False once nothing of the name is left, or another object has published there. */
  readonly isKept: boolean;
  /** The action by which another object publishes there. */
  readonly heir?: string;
  /** True where its owner is to put on record what stands there. */
  readonly isBequeathed?: true;
}

/** Names an object published under before its present one: those status lists, and the last one when the object asks for another now. Sorted. Pure. */
function formerNames(
  { memory, wish }: Pick<Publisher, "memory" | "wish">,
  { target }: Pick<NamePlan, "target">,
): readonly PublishedName[] {
  const { publishedDNS, formerDNS } = memory;
  const present = target.kind === "none" || target.name === undefined ? undefined : nameKey(target.name);
  const hasLeft = wish.kind === "none" || present !== undefined;
  const left = publishedDNS !== undefined && hasLeft ? [publishedDNS] : [];
  // A former name that the object comes back to is its present one, unless another object has it by now.
  const standing = isTaken(target) ? formerDNS : formerDNS.filter((name) => publishedKey(name) !== present);
  const names = [...standing, ...left.filter((name) => publishedKey(name) !== present)].filter(
    ({ addresses }) => addresses.length > 0,
  );
  return [...new Map(names.map((name) => [publishedKey(name), name])).values()].toSorted((a, b) =>
    compareText(publishedKey(a), publishedKey(b)),
  );
}

/** Plans what happens to the records of an object's former names, by its `reclaimPolicy`. Pure. */
export function planFormerNames(publisher: Publisher, present: NamePlan, context: FormerContext): FormerPlan {
  const steps = formerNames(publisher, present).map((name) => {
    return { name, step: leftToOwner(publisher, present, name, context) ?? cleanUp(publisher, present, name, context) };
  });
  return {
    actions: steps.flatMap(({ step }) => step.action ?? []),
    holds: steps.flatMap(({ step }) => step.hold ?? []),
    names: steps.flatMap(({ name, step }) => (step.isKept ? [name] : [])),
    heirs: steps.flatMap(({ step }) => step.heir ?? []),
    bequeathed: steps.flatMap(({ name, step }) => (step.isBequeathed === true ? [publishedKey(name)] : [])),
  };
}

/**
 * What becomes of a name that another object has by now; undefined when it is for this object to clean. An owner that has never published there does not know the
 * records, and may leave the name as it came: until then they stay on record, or, where this object goes and nothing may be written for the owner, go with it. For an
 * owner that is to write and cannot yet, or finds there what it wants, this object waits: else the name would be empty meanwhile. To one that has nothing to
 * publish the name is {@link bequest}ed.
 */
function leftToOwner(
  publisher: Publisher,
  present: NamePlan,
  name: PublishedName,
  context: FormerContext,
): Step | undefined {
  const { ref, meta, reclaimPolicy } = publisher;
  const key = publishedKey(name);
  const owner = context.claims.ownerOf(key);
  if (owner === undefined || isSameObject(owner, ref)) return undefined;
  if (context.claims.isHeld(key)) return { isKept: false };
  const change = context.changing.get(key);
  if (change?.kind === "now") return { isKept: true, heir: change.actionID };
  if (!meta.isDeleting) return { isKept: true };
  if (change === undefined || reclaimPolicy === "Retain") return undefined;
  if (change.kind === "none") return bequest(publisher, present, name, change, context);
  return { isKept: true, hold: { ...change.hold, kind: "delete-dns", object: ref, subject: name.name } };
}

/**
 * The name of an object that goes is not emptied under another one that asks for it and has nothing to publish: what stands there is that one's, once it has it on
 * record. Only what is given back to the provider leaves, since it may be a stranger's tomorrow. Undefined where nothing is left to hand over.
 */
function bequest(
  publisher: Publisher,
  present: NamePlan,
  name: PublishedName,
  { hold, addresses }: Extract<NameChange, { kind: "none" }>,
  context: FormerContext,
): Step | undefined {
  const found = findRecords(name, context.dns);
  if (found.kind !== "records") return undefined;
  const shown = found.records.addresses.filter((ip) => name.addresses.includes(ip));
  const leaving = shown.filter((ip) => publisher.givenBack.includes(ip) && !addresses.includes(ip));
  if (leaving.length === shown.length) return undefined;
  const waiting: Hold = { ...hold, kind: "delete-dns", object: publisher.ref, subject: name.name };
  if (leaving.length === 0) return { isKept: true, hold: waiting, isBequeathed: true };
  return { hold: waiting, ...cleanUp(publisher, present, { ...name, addresses: leaving }, context) };
}

function cleanUp(
  publisher: Publisher,
  present: NamePlan,
  former: PublishedName,
  { claims, dns, nowMs, written }: FormerContext,
): Step {
  const held = (why: Why): Step => ({
    isKept: true,
    hold: { kind: "delete-dns", object: publisher.ref, subject: former.name, detail: "", needsPerson: false, ...why },
  });
  if (publisher.reclaimPolicy === "Retain")
    return publisher.meta.isDeleting ? { isKept: false } : held({ reason: "RecordsRetained" });
  if (claims.isUntold(publishedKey(former)))
    return held({ reason: "Unreadable", detail: "another object may ask for it whose zone could not be read" });
  if (!present.isInPlace || isBeingCleaned(present, written)) return held({ reason: "NewNameFirst" });
  const found = findRecords(former, dns);
  const waiting = backoff(publisher, former, nowMs);
  if (found.kind === "unread") return held(whyUnread(found, waiting));
  if (found.kind === "nothing") return { isKept: false };
  const left = found.records.addresses.filter((address) => !former.addresses.includes(address));
  if (left.length === found.records.addresses.length) return { isKept: false };
  if (waiting !== undefined) return held(waiting);
  if (!publisher.isWritable || written.has(publishedKey(former))) return { isKept: true };
  written.add(publishedKey(former));
  return { isKept: true, action: removal(publisher, present, former, found, left) };
}

/** True where another object takes away in this plan what stands under the new name. */
function isBeingCleaned({ target, actions }: NamePlan, written: ReadonlySet<string>): boolean {
  if (target.kind === "none" || target.name === undefined || actions.length > 0) return false;
  return written.has(nameKey(target.name));
}

type Why = Pick<Hold, "reason"> & Partial<Hold>;

/** After a failed change the name is unknown, and is looked at again when the change is due again. */
function whyUnread({ why, isUnanswered }: UnreadRecords, waiting: Why | undefined): Why {
  return isUnanswered ? (waiting ?? why) : why;
}

/** The wait after a failed change of a name; undefined when none runs. */
function backoff({ retries }: Publisher, { name }: PublishedName, nowMs: number): Why | undefined {
  const retry = retries.find(({ subject }) => subject === dnsSubject(name));
  const dueMs = retry === undefined ? nowMs : retryDueMs(retry, nowMs);
  return retry === undefined || dueMs <= nowMs
    ? undefined
    : { reason: "Backoff", detail: retry.error, notBeforeMs: dueMs };
}

interface UnreadRecords {
  readonly kind: "unread";
  readonly why: Why;
  /** True where the provider did not say why: no refusal, no rate limit. */
  readonly isUnanswered: boolean;
}

type Found =
  | { readonly kind: "records"; readonly zone: Zone; readonly records: RecordSetState; readonly ttlSeconds: number }
  | { readonly kind: "nothing" }
  | UnreadRecords;

function findRecords({ provider, zone, name }: PublishedName, dns: ReadonlyMap<string, DNSFacts>): Found {
  const facts = dns.get(provider);
  if (facts?.unusable !== undefined) {
    const { kind, message, notBeforeMs } = facts.unusable;
    const until = notBeforeMs === undefined ? {} : { notBeforeMs };
    const why = { reason: REFUSAL_REASONS[kind], detail: message, ...until };
    return { kind: "unread", why, isUnanswered: kind === "unanswered" };
  }
  const found = facts?.zones.get(zone);
  if (found?.kind === "missing") return { kind: "nothing" };
  const fact = found?.kind === "known" ? facts?.records.get(recordsKey(found.zone, name)) : found;
  if (found?.kind !== "known" || fact?.kind !== "known") {
    return fact?.kind === "gap"
      ? unreadBecause(fact)
      : { kind: "unread", why: { reason: "Unreadable", detail: "it was not read" }, isUnanswered: true };
  }
  const ttlSeconds = fact.records.ttlSeconds ?? facts?.ttlRules.minimumSeconds ?? 0;
  return { kind: "records", zone: found.zone, records: fact.records, ttlSeconds };
}

function unreadBecause({ error, isRefused, putOffUntilMs }: UnreadDNS): UnreadRecords {
  return putOffUntilMs === undefined
    ? { kind: "unread", why: { reason: "Unreadable", detail: error, needsPerson: isRefused }, isUnanswered: true }
    : {
        kind: "unread",
        why: { reason: "RateLimited", detail: error, notBeforeMs: putOffUntilMs },
        isUnanswered: false,
      };
}

/** Only what flipop wrote goes: what somebody else put there meanwhile stays. */
function removal(
  { ref, meta }: Publisher,
  present: NamePlan,
  former: PublishedName,
  { zone, records, ttlSeconds }: Extract<Found, { kind: "records" }>,
  left: readonly string[],
): WriteDNS {
  return {
    kind: "delete-dns",
    id: nameActionID("delete-dns", ref, { fqdn: former.name, provider: former.provider }),
    object: ref,
    reason: meta.isDeleting ? "ObjectDeleted" : "NameChanged",
    requires: present.actions.map(({ id }) => id),
    follows: [],
    dnsProvider: former.provider,
    zoneText: former.zone,
    zone,
    fqdn: former.name,
    before: contentOf(records),
    after: { addresses: left, ttlSeconds },
  };
}

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

/** What each name shows now; without names that another object has, and those that could not be read. Pure. */
export function shownNames(
  publishers: readonly Publisher[],
  claims: NameClaims,
): readonly { readonly fqdn: string; readonly addresses: readonly string[] }[] {
  return publishers.flatMap((publisher) => {
    const target = ownTarget(publisher, claims);
    return target.kind === "ready" ? [{ fqdn: target.name.fqdn, addresses: target.records.addresses }] : [];
  });
}

/** The addresses that names show now, or showed last where the records cannot be read now. Pure. */
export function shownAddresses(publishers: readonly Publisher[], claims: NameClaims): ReadonlySet<string> {
  return new Set(
    publishers.flatMap((publisher) => {
      const target = ownTarget(publisher, claims);
      if (target.kind === "ready") return target.records.addresses;
      return isUnread(target) ? (publisher.memory.publishedDNS?.addresses ?? []) : [];
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
  if (isUnread(target) && publishedDNS !== undefined)
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
