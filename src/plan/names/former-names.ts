import { nameActionID, type WriteDNS } from "../../model/action.ts";
import {
  AUTOMATIC_TTL_SECONDS,
  addressesWithout,
  type DNSFacts,
  type RecordSetState,
  recordsKey,
  type UnreadDNS,
  type Zone,
} from "../../model/dns.ts";
import { REFUSAL_REASONS } from "../../model/fault-reason.ts";
import type { Hold, Obstacle } from "../../model/plan.ts";
import { compareText, ownAddresses, type PublishedName } from "../../model/resource.ts";
import { publishedRecords } from "../../model/retry-subject.ts";
import { hold, obstacle, personNeeded } from "../holds.ts";
import type { ServedAddresses } from "../serving.ts";
import { isSameObject, type NameClaims, nameKey, publishedKey } from "./name-claims.ts";
import { contentOf, type NamePlan } from "./name-plan.ts";
import { isTaken, type NameTarget } from "./name-target.ts";
import { isDebouncing, type Publisher, publisherKey } from "./publishers.ts";

/** What is done about the names an object published under before. */
export interface FormerPlan {
  readonly actions: readonly WriteDNS[];
  readonly holds: readonly Hold[];
  /** Names whose records still stand, or may. */
  readonly names: readonly PublishedName[];
  /** Ids of the actions by which new owners publish under the names. */
  readonly takeoverActionIDs: readonly string[];
  /** Keys of the names whose records stay for their new owners. */
  readonly handedOver: readonly string[];
  /** What stands under the names that the object has to clean up, before {@link actions}: its own addresses. */
  readonly shown: readonly PublishedName[];
}

/** What this plan does for the object that owns a name now. */
export type OwnerPlan =
  /** Writes the name. */
  | { readonly kind: "writes"; readonly actionID: string }
  /** Writes the name later, or finds its records right. */
  | { readonly kind: "waits"; readonly why: Obstacle }
  /** Publishes nothing: the object has no address, or needs a person. With the addresses that it manages. */
  | { readonly kind: "cannot-publish"; readonly addresses: readonly string[] };

/** Why a name's records stay until another name, or another object's, is written. */
export const NEW_NAME_FIRST: Obstacle = obstacle("NewNameFirst");

/** What the clean-up of former names depends on. */
interface FormerContext {
  readonly claims: NameClaims;
  readonly dns: ReadonlyMap<string, DNSFacts>;
  /** By the key of a name; absent for an object that is suspended or invalid, and for a name that nobody asks for. */
  readonly ownerPlans: ReadonlyMap<string, OwnerPlan>;
  /** Keys of the former names that this plan cleans up already: two objects may remember one. Added to. */
  readonly cleanedUp: Set<string>;
  /** What each object has to publish, by {@link publisherKey}. */
  readonly served: ReadonlyMap<string, ServedAddresses>;
  readonly nowMs: number;
}

/** What is done about one former name. */
interface Step {
  /** False once nothing of the name is left, or another object has published there. */
  readonly isRemembered: boolean;
  readonly action?: WriteDNS;
  readonly why?: Obstacle;
  readonly takeoverActionID?: string;
  readonly isHandedOver?: true;
}

/** Plans what happens to the records of an object's former names. Adds the names that it cleans up to `context.cleanedUp`. */
export function planFormerNames(publisher: Publisher, present: NamePlan, context: FormerContext): FormerPlan {
  const steps = formerNames(publisher, present.target).map((name) => {
    // What others put there is none of this object's business.
    const own = { ...name, addresses: ownAddresses(name) };
    const step = yieldToNewOwner(publisher, present, own, context) ?? cleanUp(publisher, present, own, context);
    return { name, step, shown: shownOf(publisher, own, context) };
  });
  return {
    actions: steps.flatMap(({ step }) => step.action ?? []),
    holds: steps.flatMap(({ name, step: { why } }) =>
      why === undefined ? [] : [hold("delete-dns", publisher.ref, name.name, why)],
    ),
    names: steps.flatMap(({ name, step }) => (step.isRemembered ? [name] : [])),
    takeoverActionIDs: steps.flatMap(({ step }) => step.takeoverActionID ?? []),
    handedOver: steps.flatMap(({ name, step }) => (step.isHandedOver === true ? [publishedKey(name)] : [])),
    shown: steps.flatMap(({ shown }) => shown),
  };
}

/** Returns the names of `formerDNS`, and the last published one if the object asks for another now. Sorted, each once. Pure. */
export function formerNames({ memory, wish }: Publisher, target: NameTarget): readonly PublishedName[] {
  const present = target.kind === "none" || target.name === undefined ? undefined : nameKey(target.name);
  const isPresent = (name: PublishedName): boolean => publishedKey(name) === present;
  // An object that comes back to a former name has it as its present one, unless another object owns it by now.
  const former = memory.formerDNS.filter((name) => isTaken(target) || !isPresent(name));
  const isLeft = wish.kind === "none" || present !== undefined;
  const last = [memory.publishedDNS ?? []].flat().filter((name) => isLeft && !isPresent(name));
  const names = [...former, ...last].filter((name) => ownAddresses(name).length > 0);
  return [...new Map(names.map((name) => [publishedKey(name), name])).values()].toSorted((a, b) =>
    compareText(publishedKey(a), publishedKey(b)),
  );
}

/**
 * Decides what happens to a former name that another object, the new owner, claims now. Undefined = this object cleans the name up.
 *
 *   the new owner …                                   if this object stays    if it is being deleted with `Delete`
 *   has published under the name                      forgets the name        forgets the name
 *   writes the name in this plan                      remembers it            finalizer waits for that write
 *   will write later, or its records are right        remembers it            hold: waits for the new owner
 *   cannot publish: no address, needs a person, or
 *   was refused thrice and is not tried again soon    remembers it            hands the records over
 *   waits for what an API refuses it: a list of the
 *     API server, a purchase, a firewall              remembers it            hold: waits for the new owner
 *   is suspended or invalid                           remembers it            cleans the name up
 *
 * This object remembers the name until the new owner's status shows it: somebody must be able to clean it up at any time.
 */
function yieldToNewOwner(
  publisher: Publisher,
  present: NamePlan,
  name: PublishedName,
  context: FormerContext,
): Step | undefined {
  const key = publishedKey(name);
  const owner = context.claims.ownerOf(key);
  if (owner === undefined || isSameObject(owner, publisher.ref)) return undefined;
  if (context.claims.hasPublished(key)) return { isRemembered: false };
  const plan = context.ownerPlans.get(key);
  if (plan?.kind === "writes") return { isRemembered: true, takeoverActionID: plan.actionID };
  if (!publisher.meta.isDeleting) return { isRemembered: true };
  if (plan === undefined || publisher.reclaimPolicy === "Retain") return undefined;
  if (plan.kind === "waits") return wait(plan.why);
  return handOver(publisher, present, name, plan.addresses, context);
}

/**
 * Hands the records of a deleted object's name over to the new owner. They stay, and this object waits until the new owner's status shows them.
 * Exception: addresses that go back to the provider are removed now, unless the new owner manages them: a stranger may get them tomorrow.
 * Returns undefined if no address is left to hand over.
 */
function handOver(
  publisher: Publisher,
  present: NamePlan,
  name: PublishedName,
  managedByOwner: readonly string[],
  context: FormerContext,
): Step | undefined {
  const found = findRecords(name, context.dns);
  if (found.kind !== "records") return undefined;
  const shown = found.records.addresses.filter((ip) => name.addresses.includes(ip));
  const leaving = shown.filter((ip) => publisher.givenBack.includes(ip) && !managedByOwner.includes(ip));
  if (leaving.length === shown.length) return undefined;
  if (leaving.length === 0) return { isRemembered: true, why: NEW_NAME_FIRST, isHandedOver: true };
  return { why: NEW_NAME_FIRST, ...cleanUp(publisher, present, { ...name, addresses: leaving }, context) };
}

/** Removes what the object published under a former name, once the present name is in place. */
function cleanUp(publisher: Publisher, present: NamePlan, former: PublishedName, context: FormerContext): Step {
  if (publisher.reclaimPolicy === "Retain")
    return publisher.meta.isDeleting ? { isRemembered: false } : wait(obstacle("RecordsRetained"));
  if (context.claims.mayBeClaimed(publishedKey(former)))
    return wait(obstacle("Unreadable", "another object may ask for it whose zone could not be read"));
  if (!isReplaced(present) || isBeingCleanedUp(present, context.cleanedUp))
    return { ...newNameFirst(publisher, former), ...withdraw(publisher, former, context) };
  // What serves no more does not wait for a write that has failed before.
  const first = hasFailed(publisher, present) ? withdraw(publisher, former, context) : {};
  if (first.action !== undefined) return { ...wait(NEW_NAME_FIRST), ...first };
  const found = findRecords(former, context.dns);
  if (found.kind === "nothing") return { isRemembered: false };
  if (found.kind === "records") return remove(publisher, present, former, found, context);
  // After a failed change the name is unknown, and is looked at again when the change is due again.
  const retry = found.isUnanswered ? publisher.retries.nameObstacle(publishedRecords(former)) : undefined;
  return wait(retry ?? found.why);
}

function wait(why: Obstacle): Step {
  return { isRemembered: true, why };
}

/** Lets a former name wait for the new one. Where a change of it failed, its records count as fixed until the next attempt: then it is looked at again. */
function newNameFirst({ retries }: Publisher, former: PublishedName): Step {
  const notBeforeMs = retries.removalObstacle(publishedRecords(former))?.notBeforeMs;
  return wait(notBeforeMs === undefined ? NEW_NAME_FIRST : { ...NEW_NAME_FIRST, notBeforeMs });
}

/** True once clients find under the new name what serves; where nothing may serve, once it is as it should be. */
function isReplaced({ isInPlace, isFormerNeeded }: NamePlan): boolean {
  return isInPlace && isFormerNeeded !== true;
}

/** True if the write of the new name has failed before: it may fail again. */
function hasFailed({ retries }: Publisher, { actions }: NamePlan): boolean {
  return actions.some(({ fqdn, dnsProvider: provider }) => retries.hasFailedToAdd({ provider, fqdn }));
}

/** True if another object takes away in this plan what stands under the new name. */
function isBeingCleanedUp({ target, actions }: NamePlan, cleanedUp: ReadonlySet<string>): boolean {
  if (target.kind === "none" || target.name === undefined || actions.length > 0) return false;
  return cleanedUp.has(nameKey(target.name));
}

/**
 * Takes out of a former name that has to wait what serves no more, as out of a present one: as long as another address of the object serves there. Nothing is added
 * to it, and it is never emptied.
 */
function withdraw(publisher: Publisher, former: PublishedName, context: FormerContext): Partial<Step> {
  const { served, dns, cleanedUp, nowMs } = context;
  const key = publishedKey(former);
  const found = findRecords(former, dns);
  const mayWrite = publisher.isWritable && !isDebouncing(publisher, nowMs) && !cleanedUp.has(key);
  const own = served.get(publisherKey(publisher));
  if (found.kind !== "records" || !mayWrite || own === undefined) return {};
  const { serving, undecided } = own;
  const shown = ownPartOf(found, former);
  const leaving = shown.filter((ip) => !serving.has(ip) && !undecided.has(ip));
  const isServed = shown.some((ip) => serving.get(ip)?.length === 0);
  if (!isServed || leaving.length === 0) return {};
  const action = withdrawal(publisher, former, found, leaving);
  const why = publisher.retries.changeObstacle(action);
  if (why !== undefined) return { why };
  cleanedUp.add(key);
  return { action };
}

function withdrawal(
  { ref }: Publisher,
  former: PublishedName,
  { zone, records, ttlSeconds }: FoundRecords,
  leaving: readonly string[],
): WriteDNS {
  const { name: fqdn, provider: dnsProvider } = former;
  const left = addressesWithout(records.addresses, leaving);
  return {
    kind: "withdraw-dns",
    id: nameActionID("withdraw-dns", ref, { fqdn, provider: dnsProvider }),
    object: ref,
    reason: "RecordsDiffer",
    requires: [],
    follows: [],
    dnsProvider,
    zoneText: former.zone,
    zone,
    fqdn,
    before: contentOf(records),
    after: { addresses: left, ttlSeconds },
    others: { addresses: left, expected: "some" },
    ...(records.isTTLAutomatic ? { cachedSeconds: AUTOMATIC_TTL_SECONDS } : {}),
  };
}

/** Returns what of the object's own stands under a former name that it has to clean up. Empty where nothing was read, another object owns the name, or its records are to stay. */
function shownOf(publisher: Publisher, former: PublishedName, context: FormerContext): readonly PublishedName[] {
  if (!isToClean(publisher, former, context.claims)) return [];
  const found = findRecords(former, context.dns);
  return found.kind === "records" ? [{ ...former, addresses: ownPartOf(found, former) }] : [];
}

/** True for a former name whose records the object has to remove: no other object owns it, and they are not to stay. Pure. */
export function isToClean(publisher: Publisher, former: PublishedName, claims: NameClaims): boolean {
  return publisher.reclaimPolicy === "Delete" && !isAnothers(publisher, former, claims);
}

/** True for a name that another object owns by now. Pure. */
export function isAnothers({ ref }: Publisher, name: PublishedName, claims: NameClaims): boolean {
  const owner = claims.ownerOf(publishedKey(name));
  return owner !== undefined && !isSameObject(owner, ref);
}

/** Returns what of a former name's remembered addresses its records show. Pure. */
export function ownPartOf({ records }: FoundRecords, former: PublishedName): readonly string[] {
  return records.addresses.filter((ip) => former.addresses.includes(ip));
}

/**
 * Returns the addresses of its own that an object publishes under a name on record: those that its records show, or showed last where they cannot be read now. Nothing under
 * a name that another object owns by now. Pure.
 */
export function publishedNow(
  publisher: Publisher,
  name: PublishedName,
  claims: NameClaims,
  dns: ReadonlyMap<string, DNSFacts>,
): readonly string[] {
  if (isAnothers(publisher, name, claims)) return [];
  const own = { ...name, addresses: ownAddresses(name) };
  const found = findRecords(own, dns);
  if (found.kind === "nothing") return [];
  return found.kind === "records" ? ownPartOf(found, own) : own.addresses;
}

/** Only what flipop wrote goes: what somebody else put there meanwhile stays. */
function remove(
  publisher: Publisher,
  present: NamePlan,
  former: PublishedName,
  found: FoundRecords,
  { cleanedUp }: FormerContext,
): Step {
  const key = publishedKey(former);
  const left = addressesWithout(found.records.addresses, former.addresses);
  if (left.length === found.records.addresses.length) return { isRemembered: false };
  const action = removal(publisher, present, former, found, left);
  const retry = publisher.retries.changeObstacle(action);
  if (retry !== undefined) return wait(retry);
  if (!publisher.isWritable || cleanedUp.has(key)) return { isRemembered: true };
  cleanedUp.add(key);
  return { isRemembered: true, action };
}

function removal(
  { ref, meta }: Publisher,
  present: NamePlan,
  former: PublishedName,
  { zone, records, ttlSeconds }: FoundRecords,
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
    ...(left.length === 0 && former.foreign === undefined ? {} : { others: { addresses: left, expected: "any" } }),
  };
}

/** The records of a former name, as they were read. */
export interface FoundRecords {
  readonly kind: "records";
  readonly zone: Zone;
  readonly records: RecordSetState;
  readonly ttlSeconds: number;
}

type Found = FoundRecords | { readonly kind: "nothing" } | UnreadFormer;

/** `isUnanswered`: the provider did not say why; no refusal, no rate limit. `isPassing`: they may be read in a later pass without anybody's help. */
export interface UnreadFormer {
  readonly kind: "unread";
  readonly why: Obstacle;
  readonly isUnanswered: boolean;
  readonly isPassing: boolean;
}

/** Finds the records of a former name among what was read. Pure. */
export function findRecords({ provider, zone, name }: PublishedName, dns: ReadonlyMap<string, DNSFacts>): Found {
  const facts = dns.get(provider);
  if (facts?.unusable !== undefined) {
    const { kind, message, notBeforeMs } = facts.unusable;
    const why = obstacle(REFUSAL_REASONS[kind], message, { notBeforeMs });
    return { kind: "unread", why, isUnanswered: kind === "unanswered", isPassing: kind !== "no-access" };
  }
  const found = facts?.zones.get(zone);
  if (found?.kind === "missing") return { kind: "nothing" };
  const fact = found?.kind === "known" ? facts?.records.get(recordsKey(found.zone, name)) : found;
  if (found?.kind !== "known" || fact?.kind !== "known")
    return unread(fact?.kind === "gap" ? fact : { kind: "gap", error: "it was not read", isRefused: false });
  const ttlSeconds = fact.records.ttlSeconds ?? facts?.ttlRules.minimumSeconds ?? 0;
  return { kind: "records", zone: found.zone, records: fact.records, ttlSeconds };
}

function unread({ error, isRefused, putOffUntilMs }: UnreadDNS): Found {
  if (putOffUntilMs !== undefined) {
    const why = obstacle("RateLimited", error, { notBeforeMs: putOffUntilMs });
    return { kind: "unread", why, isUnanswered: false, isPassing: true };
  }
  const why = isRefused ? personNeeded("Unreadable", error) : obstacle("Unreadable", error);
  return { kind: "unread", why, isUnanswered: true, isPassing: !isRefused };
}
