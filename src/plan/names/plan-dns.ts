import { type Action, type ObjectRef, ownPart, refKey, type WriteDNS } from "../../model/action.ts";
import { acceptedTTL, addressesWithout, type DNSFacts, recordAddresses } from "../../model/dns.ts";
import type { Hold, Obstacle, WantedOwner } from "../../model/plan.ts";
import { memoryOf, namesOf, type RecordType, setNamed, withMemory } from "../../model/record-types.ts";
import {
  DEFAULT_FOREIGN_RECORDS,
  type DNSMemory,
  ownAddresses,
  type Pool,
  type PoolStatus,
  type PublishedName,
  type RecordSet,
  type RecordSetStatus,
  type RecordSince,
  shownAddresses,
} from "../../model/resource.ts";
import { rememberedLeft, type ToRemember } from "../drain.ts";
import { type Cleaning, NOTHING_TO_CLEAN } from "../finalizer.ts";
import type { StayingIn } from "../guards.ts";
import { hold, obstacle } from "../holds.ts";
import type { ServedAddresses } from "../serving.ts";
import { eachInSteps, type Steps } from "../steps.ts";
import { rememberedFight, withRepair } from "./fights.ts";
import { recordedAddresses, rememberedForeign, rememberedUnseen } from "./foreign-records.ts";
import { type FormerPlan, NEW_NAME_FIRST, type OwnerPlan, planFormerNames } from "./former-names.ts";
import { nameKey, publishedKey } from "./name-claims.ts";
import { type NamePlan, type NamesContext, ownTarget, planName } from "./name-plan.ts";
import { isTaken, type NameTarget, type TargetName } from "./name-target.ts";
import { type Publisher, publisherKey } from "./publishers.ts";

/** What is done about all names of one object. */
export interface ObjectNames {
  readonly publisher: Publisher;
  readonly present: NamePlan;
  readonly former: FormerPlan;
  readonly holds: readonly Hold[];
  /** What its status should remember. */
  readonly memory: DNSMemory;
  readonly cleaning: Cleaning;
}

/** Plans the names of every publisher that has an entry in `served`, by {@link publisherKey}. Pure. */
export function* planDNS(
  publishers: readonly Publisher[],
  served: ReadonlyMap<string, ServedAddresses>,
  dns: ReadonlyMap<string, DNSFacts>,
  facts: Omit<NamesContext, "recorded" | "ttlOf"> & Pick<MemoryContext, "isForgotten">,
): Steps<readonly ObjectNames[]> {
  const { claims, isForgotten, nowMs } = facts;
  const recorded = recordedAddresses(publishers);
  const names: NamesContext = { ...facts, recorded, ttlOf: nameTTLs(publishers, claims, dns) };
  const planned = yield* eachInSteps(publishers, (publisher) => {
    const own = served.get(publisherKey(publisher));
    return own === undefined ? [] : [[publisher, planName(publisher, own, names)] as const];
  });
  const present = new Map(planned.flat());
  const ownerPlans = new Map(
    publishers.flatMap((publisher) => {
      const target = ownTarget(publisher, claims);
      // A list that is refused may be answered the next time: until then the name stays for whoever asks for it.
      const isOwner = publisher.mayPublish || publisher.isHindered === true;
      if (!isOwner || target.kind === "none" || target.name === undefined || isTaken(target)) return [];
      const own = served.get(publisherKey(publisher));
      return [[nameKey(target.name), ownerPlan(publisher, present.get(publisher), own)] as const];
    }),
  );
  const asked = new Map(
    [...present].flatMap(([{ ref, wish }, own]) => (wish.kind === "none" ? [] : [[refKey(ref), own] as const])),
  );
  // Where an object asks for no records of a type any more, those of the other type take their place.
  const inPlaceOf = ({ ref, wish }: Publisher): NamePlan | undefined =>
    wish.kind === "none" ? asked.get(refKey(ref)) : undefined;
  const context = { claims, dns, ownerPlans, cleanedUp: new Set<string>(), served, nowMs };
  // What deleted objects clean up is known first: it may be the new name of another object, whose old one stays then.
  const former = new Map(
    [...present]
      .toSorted(([a], [b]) => Number(b.meta.isDeleting) - Number(a.meta.isDeleting))
      .map(([publisher, own]) => [publisher, planFormerNames(publisher, inPlaceOf(publisher) ?? own, context)]),
  );
  const handedOver = new Set([...former.values()].flatMap((own) => own.handedOver));
  return [...present].flatMap(([publisher, own]) => {
    const past = former.get(publisher);
    return past === undefined ? [] : [objectNames(publisher, own, past, { handedOver, isForgotten, nowMs })];
  });
}

/** Returns what says which TTL a set is to have: where all records of a name have one, the lowest that any object asks for. */
function nameTTLs(
  publishers: readonly Publisher[],
  claims: NamesContext["claims"],
  dns: ReadonlyMap<string, DNSFacts>,
): NamesContext["ttlOf"] {
  const keyOf = ({ provider, fqdn }: TargetName): string => `${provider} ${setNamed(fqdn).fqdn}`;
  const lowest = new Map<string, number>();
  for (const publisher of publishers) {
    const target = ownTarget(publisher, claims);
    if (publisher.wish.kind !== "named" || target.kind === "none" || target.name === undefined || isTaken(target))
      continue;
    const rules = dns.get(target.name.provider)?.ttlRules;
    if (rules?.isOfName !== true) continue;
    const key = keyOf(target.name);
    lowest.set(
      key,
      Math.min(acceptedTTL(publisher.wish.ttlSeconds, rules), lowest.get(key) ?? Number.POSITIVE_INFINITY),
    );
  }
  return ({ name, ttlSeconds }) => Math.min(ttlSeconds, lowest.get(keyOf(name)) ?? ttlSeconds);
}

/** Returns what is done for an object's name, as an object that leaves the name has to know it. `present` is absent for a blocked pool: its provider cannot be used now. */
function ownerPlan(
  publisher: Publisher,
  present: NamePlan | undefined,
  served: ServedAddresses | undefined,
): OwnerPlan {
  // Of an object that this run leaves alone nobody has said what another one will do for it.
  if (present === undefined || !publisher.isWritable) return { kind: "waits", why: NEW_NAME_FIRST };
  const { actions, holds, waitsFor, isRight, drift = 0 } = present;
  const [action] = actions;
  if (action !== undefined) return { kind: "writes", actionID: action.id };
  const [why] = waitsFor === undefined ? [] : holds;
  // What is right already, or is to stay, is in status once this pass has written it.
  const isSettled = isRight || drift > 0;
  return why === undefined && !isSettled && !mayServeSoon(publisher, served)
    ? { kind: "cannot-publish", addresses: publisher.managed }
    : { kind: "waits", why: why ?? NEW_NAME_FIRST };
}

/**
 * True while an address of an object may serve a moment later: it is on its way, cannot be read just now, is being bought, waits for what ends by itself or for a permission, or
 * is tried again soon.
 */
function mayServeSoon({ managed, retries }: Publisher, served: ServedAddresses | undefined): boolean {
  if (served !== undefined && (served.undecided.size > 0 || served.isComing === true)) return true;
  const failed = [...managed.map((ip) => retries.ofAddress(ip)), retries.of("acquire")];
  return failed.some((retry) => retries.mayEndSoon(retry));
}

function objectNames(publisher: Publisher, present: NamePlan, former: FormerPlan, context: MemoryContext): ObjectNames {
  const memory = dnsMemory(publisher, present, former, context);
  return {
    publisher,
    present,
    former,
    holds: [...present.holds, ...former.holds, ...withheld(publisher)],
    memory,
    cleaning: publisher.isWritable ? cleaning(publisher, present, former, memory) : NOTHING_TO_CLEAN,
  };
}

/** A name that is not granted, while the one before it is served; else its hold is the present name's. */
function withheld({ ref, target, withheld: name }: Publisher): readonly Hold[] {
  const isSaid = target.kind === "blocked" && target.cause === "ungranted";
  return name === undefined || isSaid ? [] : [hold("update-dns", ref, name.fqdn, name.why)];
}

function cleaning(
  { reclaimPolicy }: Publisher,
  present: NamePlan,
  former: FormerPlan,
  { publishedDNS }: DNSMemory,
): Cleaning {
  if (reclaimPolicy !== "Delete") return NOTHING_TO_CLEAN;
  const isPublished = publishedDNS !== undefined && ownAddresses(publishedDNS).length > 0;
  return {
    isNeeded:
      isPublished ||
      former.names.length > 0 ||
      present.isOwnerWanted === true ||
      present.actions.some(({ kind }) => kind === "update-dns"),
    isAwaited: present.holds.length > 0,
    isStuck: former.holds.length > 0,
    after: [...former.actions.map(({ id }) => id), ...former.takeoverActionIDs],
  };
}

/** Plans nothing for the names of an object: all stays as it is. Pure. */
export function untouchedNames(publisher: Publisher): ObjectNames {
  const memory = storedMemory(publisher);
  return {
    publisher,
    present: { target: { kind: "none" }, actions: [], holds: [], isInPlace: false, isRight: false },
    former: { actions: [], holds: [], names: memory.formerDNS, takeoverActionIDs: [], handedOver: [], shown: [] },
    holds: [],
    memory,
    cleaning: NOTHING_TO_CLEAN,
  };
}

/**
 * Returns each address that a name shows and goes on showing after what is planned, with that name. One that serves stays for this plan, too, where all that the name shows is
 * exchanged: what takes its place has to be there first, and resolvers have to forget the old one. Pure.
 */
export function stayingAddresses(
  names: readonly ObjectNames[],
  serving: ReadonlySet<string>,
): ReadonlyMap<string, StayingIn> {
  return new Map([
    ...stayingInFormer(names),
    ...names.flatMap(({ publisher: { ref }, present: { target, actions, kept: isKept } }) => {
      if (target.kind !== "ready") return [];
      const [write] = actions;
      const { addresses } = target.records;
      const { fqdn } = target.name;
      const kept = write === undefined ? undefined : new Set(write.after.addresses);
      const why = isKept === undefined || ref.kind !== "dns" ? obstacle("StillPublished", fqdn) : keptBy(ref, fqdn);
      const isExchanged = write?.kind === "update-dns" && exchangesAll(write);
      const stays = (ip: string): boolean => kept?.has(ip) !== false || (isExchanged && serving.has(ip));
      return addresses.filter(stays).map((ip) => [ip, { fqdn, why }] as const);
    }),
  ]);
}

/** Returns the addresses that the names of pools and RoutedIPs show and go on showing after what is planned. Pure. */
export function keptByPools(names: readonly ObjectNames[]): ReadonlySet<string> {
  return new Set(
    names.flatMap(({ publisher: { ref }, present: { target, actions } }) => {
      if (ref.kind === "dns" || target.kind !== "ready") return [];
      const [write] = actions;
      return target.records.addresses.filter((ip) => write?.after.addresses.includes(ip) !== false);
    }),
  );
}

/** Returns each address that a former name shows, and that nothing of the plan takes out of it. */
function stayingInFormer(names: readonly ObjectNames[]): readonly (readonly [string, StayingIn])[] {
  const all = names.map(({ former }) => former);
  const writes = Map.groupBy(
    all.flatMap(({ actions }) => actions),
    ({ dnsProvider: provider, fqdn }) => nameKey({ provider, fqdn }),
  );
  return all.flatMap(({ shown }) =>
    shown.flatMap((former) => {
      const written = writes.get(publishedKey(former)) ?? [];
      const isLeft = (ip: string): boolean => written.every(({ after }) => after.addresses.includes(ip));
      const why = obstacle("StillPublished", former.name);
      return former.addresses.filter(isLeft).map((ip) => [ip, { fqdn: former.name, why }] as const);
    }),
  );
}

/** True for a write that leaves nothing of its object in a name and puts something else there. */
function exchangesAll(write: WriteDNS): boolean {
  const own = ownPart(write, write.after.addresses);
  return own.length > 0 && !own.some((ip) => write.before.addresses.includes(ip));
}

/** A record set with nothing else to show keeps its records until a person does something. */
function keptBy({ namespace, name }: ObjectRef, fqdn: string): Obstacle {
  const detail = `${fqdn} has nothing else to show, and record set ${namespace}/${name} keeps its records`;
  const advice =
    "Give that record set other addresses, or set its spec.whenEmpty: Delete. If you delete it, set its reclaimPolicy: Delete first: else the name goes on showing what is given back.";
  return obstacle("StillPublished", detail, { needsPerson: true, advice });
}

/** What the memory of names depends on beside an object's own plan. */
interface MemoryContext extends Pick<ToRemember, "isForgotten"> {
  /** Keys of names whose records stay for their new owners. */
  readonly handedOver: ReadonlySet<string>;
  readonly nowMs: number;
}

/** Returns what an object's status should remember of DNS: what it has stored, if nothing may be changed for it. */
function dnsMemory(publisher: Publisher, present: NamePlan, former: FormerPlan, context: MemoryContext): DNSMemory {
  if (!publisher.isWritable) return storedMemory(publisher);
  const published = publishedName(publisher, present, context);
  const { memory, isReserved } = publisher;
  const { isForgotten, nowMs } = context;
  return {
    ...(published === undefined ? {} : { publishedDNS: published }),
    formerDNS: former.names,
    ...rememberedLeft(memory.leftDNS, present.actions, { isForgotten, isReserved }, nowMs),
    ...rememberedFight(memory.fight, present.target, nowMs),
  };
}

/** The publisher's memory is a whole status: only its part about names. */
function storedMemory({ memory: { publishedDNS, formerDNS, leftDNS, fight } }: Publisher): DNSMemory {
  return {
    ...(publishedDNS === undefined ? {} : { publishedDNS }),
    formerDNS,
    ...(leftDNS === undefined ? {} : { leftDNS }),
    ...(fight === undefined ? {} : { fight }),
  };
}

function publishedName(
  publisher: Publisher,
  { target, isRight, foreign = [] }: NamePlan,
  { handedOver, nowMs }: MemoryContext,
): PublishedName | undefined {
  const { memory, wish } = publisher;
  if (target.kind === "none" || wish.kind === "none") return undefined;
  if (target.name === undefined) return memory.publishedDNS;
  const stored = storedName(memory, target);
  if (target.kind === "blocked") return stored;
  if (stored === undefined && !isRight && !handedOver.has(nameKey(target.name))) return undefined;
  const { provider, zone, fqdn } = target.name;
  const { addresses } = target.records;
  const unseen = rememberedUnseen(publisher, target, stored, nowMs);
  return { provider, zone, name: fqdn, addresses, ...rememberedForeign(foreign, stored, nowMs), ...unseen };
}

/** What is on record of the present name; an object that comes back to a former name still has its records. */
function storedName(
  memory: DNSMemory,
  target: Exclude<NameTarget, { readonly kind: "none" }>,
): PublishedName | undefined {
  const names = isTaken(target) ? [memory.publishedDNS ?? []].flat() : namesOf(memory);
  return names.find((name) => target.name !== undefined && publishedKey(name) === nameKey(target.name));
}

/** What is to be stored of each type of records before anything is changed. */
export type RecordedNames = Readonly<Record<RecordType, Partial<DNSMemory>>>;

/**
 * What an object must have on record of names before its actions are carried out: the name that is about to be written for the first time, and the names before it.
 * Also what is about to be added to a known name, where records are to be cleaned one day or foreign ones stay: only addresses on record are ever taken out there.
 * What leaves and only the name remembers, and a repair as it is tried. Nothing is to be stored when status knows all of it. Pure.
 *
 * @param planned - the status that the plan has for the object
 */
export function recordedNames(
  actions: readonly Action[],
  planned: PoolStatus | RecordSetStatus,
  { spec, status }: Pick<Pool | RecordSet, "spec" | "status">,
  nowMs: number,
): RecordedNames {
  const of = (type: RecordType): Partial<DNSMemory> => {
    const write = actions.find(
      (action): action is WriteDNS => action.kind === "update-dns" && setNamed(action.fqdn).type === type,
    );
    if (write === undefined) return {};
    return recordedName(write, memoryOf(planned, type), { spec, memory: memoryOf(status, type) }, nowMs);
  };
  return { A: of("A"), AAAA: of("AAAA") };
}

/** Returns a status with what is to be stored of names. Pure. */
export function withNames<S extends PoolStatus | RecordSetStatus>(status: S, { A, AAAA }: RecordedNames): S {
  return withMemory(withMemory(status, "A", A), "AAAA", AAAA);
}

function recordedName(
  write: WriteDNS,
  planned: DNSMemory,
  { spec, memory }: { readonly spec: (Pool | RecordSet)["spec"]; readonly memory: DNSMemory },
  nowMs: number,
): Partial<DNSMemory> {
  const { dnsProvider: provider, zoneText: zone, fqdn: name } = write;
  const known = memory.publishedDNS;
  const left = planned.leftDNS === undefined ? {} : { leftDNS: planned.leftDNS };
  if (known?.provider === provider && known.name === name) {
    const isForGood = spec.reclaimPolicy === "Delete" || write.others !== undefined;
    const fight = write.isRepair === true ? { fight: withRepair(memory.fight, write, nowMs) } : {};
    return { ...(isForGood ? attemptedName(memory, write) : {}), ...left, ...fight };
  }
  // What another object left there is this one's from now on: it may prove impossible to take out.
  const addresses = recordAddresses([...write.before.addresses, ...write.after.addresses]);
  const foreign = [...(write.unrecorded ?? []), ...(write.others?.addresses ?? [])];
  const published = { provider, zone, name, addresses, ...rememberedForeign(foreign, undefined, nowMs) };
  return { publishedDNS: published, formerDNS: planned.formerDNS, ...left };
}

/** The published name with the addresses that a change may add; empty if status has all of them as flipop's, or another name. Pure. */
export function attemptedName({ publishedDNS: known }: DNSMemory, write: WriteDNS): Partial<DNSMemory> {
  if (known?.provider !== write.dnsProvider || known.name !== write.fqdn) return {};
  const added = ownPart(write, write.after.addresses);
  const own = shownAddresses(known);
  if (added.every((ip) => own.includes(ip))) return {};
  const { foreign, unseen, ...name } = known;
  const addresses = recordAddresses([...known.addresses, ...added]);
  const rest = { ...without(foreign, added, "foreign"), ...without(unseen, added, "unseen") };
  return { publishedDNS: { ...name, addresses, ...rest } };
}

function without(
  records: readonly RecordSince[] = [],
  added: readonly string[],
  field: "foreign" | "unseen",
): Partial<PublishedName> {
  const left = records.filter(({ address }) => !added.includes(address));
  return left.length === 0 ? {} : { [field]: left };
}

/**
 * True if nothing may be written under a name that is not on record: its records are to be deleted one day, or others have records there. What only takes addresses out leaves
 * nothing behind. Pure.
 */
export function isVitalName(
  { A, AAAA }: RecordedNames,
  { spec }: Pick<Pool | RecordSet, "spec">,
  actions: readonly Action[],
): boolean {
  const adds = ({ before, after }: WriteDNS): boolean => addressesWithout(after.addresses, before.addresses).length > 0;
  if (!actions.some((action) => action.kind === "update-dns" && adds(action))) return false;
  const isShared = (spec.dnsRecordSet?.foreignRecords ?? DEFAULT_FOREIGN_RECORDS) !== DEFAULT_FOREIGN_RECORDS;
  const isNamed = A.publishedDNS !== undefined || AAAA.publishedDNS !== undefined;
  return isNamed && (spec.reclaimPolicy === "Delete" || isShared);
}

/** Returns the name that an object is about to take, if somebody has to look first whose it is. Pure. */
export function wantedOwner({ publisher, present: { target, isOwnerWanted } }: ObjectNames): readonly WantedOwner[] {
  if (isOwnerWanted !== true || target.kind !== "ready") return [];
  const { name, zone, records } = target;
  const hasRecords = records.addresses.length > 0;
  return [{ object: publisher.ref, provider: name.provider, zone, fqdn: name.fqdn, hasRecords }];
}
