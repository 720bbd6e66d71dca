import { nameActionID, type ObjectRef, ownPart, type WriteDNS } from "../../model/action.ts";
import { AUTOMATIC_TTL_SECONDS, type RecordSetState, recordAddresses, sharedTTL } from "../../model/dns.ts";
import { REFUSAL_REASONS } from "../../model/fault-reason.ts";
import type { Hold, Obstacle } from "../../model/plan.ts";
import type { Reason } from "../../model/reason.ts";
import { remembered } from "../../model/remembered.ts";
import type { ForeignRecordsPolicy } from "../../model/resource.ts";
import { hold, obstacle, personNeeded } from "../holds.ts";
import type { ServedAddresses } from "../serving.ts";
import { fightObstacle, isRepair } from "./fights.ts";
import { othersOf, type RecordedAddresses, type SplitRecords, splitRecords } from "./foreign-records.ts";
import { isSameObject, type NameClaims, nameKey, publishedKey } from "./name-claims.ts";
import { type BlockedTarget, isPassing, type NameTarget, type ReadyTarget } from "./name-target.ts";
import { ownerObstacle } from "./outside-owner.ts";
import { isDebouncing, type Publisher } from "./publishers.ts";

/** What is done about the name an object has now. */
export interface NamePlan {
  readonly target: NameTarget;
  readonly actions: readonly WriteDNS[];
  readonly holds: readonly Hold[];
  /** Set where the hold ends by itself, and the name is written then. `debounce`: the nodes are just changing. */
  readonly waitsFor?: "debounce" | "retry" | "reading";
  /** Set where no address serves and nothing is done: the records stay `as-they-are`, or none of the object's stand and those of others are left alone. */
  readonly kept?: "as-they-are" | "to-others";
  /** True once the records stand under this name as they should, or will after {@link actions}; also where the object asks for no name. */
  readonly isInPlace: boolean;
  /** Set where former names are still needed although something stands under this one: it is not known to serve. */
  readonly isFormerNeeded?: true;
  /** True when the records were read, hold addresses, and are as they should be. */
  readonly isRight: boolean;
  /** True when the name shows an address that may have to leave once it can be looked at; absent = it does not. */
  readonly isUndecided?: boolean;
  /** How many records differ from what they should be; absent when that is not known. */
  readonly drift?: number;
  /** The name's addresses that flipop did not write; sorted. Absent where the records are not known. */
  readonly foreign?: readonly string[];
  /** True where the name is to be taken and nobody has looked yet whose it is. */
  readonly isOwnerWanted?: true;
  /** The TTL of the object's records, where that is lower than what it asks for: foreign records beside them have it. */
  readonly sharedTTL?: number;
}

/** What names are planned with, over all objects. */
export interface NamesContext {
  readonly claims: NameClaims;
  readonly recorded: RecordedAddresses;
  /** Returns the TTL that a set is to have, seconds: what its object asks for, or less where all records of a name have one. */
  readonly ttlOf: (target: ReadyTarget) => number;
  /** True for an address of the object that no node serves now: it leaving a name hurts nobody. */
  readonly isDown: (object: ObjectRef, ip: string) => boolean;
  /** Addresses that leave their machines to others, now or once they have drained. */
  readonly leaving: ReadonlySet<string>;
  /** Addresses that serve at this moment. */
  readonly nowServing: ReadonlySet<string>;
  readonly nowMs: number;
}

/** Plans the records of an object's present name. Pure. */
export function planName(publisher: Publisher, served: ServedAddresses, context: NamesContext): NamePlan {
  const target = ownTarget(publisher, context.claims);
  if (target.kind === "none") return { target, actions: [], holds: [], isInPlace: true, isRight: false };
  if (target.kind === "blocked") return waiting(publisher, target, blockedWhy(publisher, target), reading(target));
  const shown = withoutEntering(served, target.records);
  const planAs = (foreignRecords: ForeignRecordsPolicy, why?: Obstacle): NamePlan => {
    const own = { ...publisher, foreignRecords };
    const split = splitRecords(own, target, shown, context.recorded);
    return planBeside(own, target, split, { served: shown, context, why });
  };
  const plan = planAs(publisher.foreignRecords);
  const takes = plan.actions.length > 0 || (plan.isRight && publisher.isWritable);
  const { foreign = [] } = plan;
  const held = takes ? ownerObstacle(publisher, target, foreign) : undefined;
  if (held === undefined) return plan;
  const isOwnerWanted = held.isWanted ? { isOwnerWanted: true as const } : {};
  const nothing = { ...waiting(publisher, target, held.why, held.isUnknown ? "reading" : undefined), foreign };
  if (held.policy === undefined) return { ...nothing, ...isOwnerWanted };
  const own = planAs(held.policy, held.why);
  // Until somebody has looked nothing is done that can be done in one change then. What serves no more does not wait long.
  const mayWait = target.isOwnerLate !== true || !takesOut(own);
  return { ...(held.isWanted && mayWait ? nothing : own), ...isOwnerWanted };
}

/** What an object publishes under a name that shows these records: what serves nobody enters none. */
function withoutEntering(served: ServedAddresses, { addresses }: RecordSetState): ServedAddresses {
  const { serving, lasting } = served;
  const isEntering = (ip: string): boolean => lasting?.has(ip) === true && !addresses.includes(ip);
  if (lasting === undefined || ![...lasting].some(isEntering)) return served;
  return { ...served, serving: new Map([...serving].filter(([ip]) => !isEntering(ip))) };
}

/** True where a change takes an address out: one of the object's own that serves no more. */
function takesOut({ actions }: NamePlan): boolean {
  return actions.some(({ before, after }) => before.addresses.some((ip) => !after.addresses.includes(ip)));
}

/** What the records that a name's owner answers for are planned with. */
interface Beside {
  readonly served: ServedAddresses;
  readonly context: NamesContext;
  /** Why foreign records stay; absent = because `foreignRecords` says so. */
  readonly why: Obstacle | undefined;
}

/** Plans the object's own records, with foreign ones beside them or in their place. */
function planBeside(
  publisher: Publisher,
  target: ReadyTarget,
  split: SplitRecords,
  { served, context, why: reason }: Beside,
): NamePlan {
  const { foreign } = split;
  const plan = planRecords(publisher, target, split, served, context);
  const isTold = reason !== undefined || (publisher.foreignRecords === "Hold" && foreign.length > 0);
  if (!isTold) return plan;
  const held = waiting(publisher, target, reason ?? personNeeded("ForeignRecords", foreignText(foreign)));
  // What is not published there yet waits; what is goes on following the nodes.
  if (publisher.foreignRecords === "Hold" && split.own.addresses.length === 0) return { ...held, foreign };
  return { ...plan, holds: [...plan.holds, ...held.holds] };
}

function foreignText(foreign: readonly string[]): string {
  const [verb, them] = foreign.length === 1 ? ["is", "it"] : ["are", "them"];
  return `${foreign.join(", ")} ${verb} there, and no object has ${them} on record`;
}

/** Plans the records that a name's owner answers for. */
function planRecords(
  publisher: Publisher,
  target: ReadyTarget,
  split: SplitRecords,
  served: ServedAddresses,
  { isDown, leaving, nowServing, ttlOf, nowMs }: NamesContext,
): NamePlan {
  const { others } = split;
  const own = ttlOf(target);
  const ttlSeconds = others === undefined ? own : sharedTTL(own, others, target.ttlRules);
  const isShared = publisher.foreignRecords === "Share" && split.foreign.length > 0;
  const isStaying = (ip: string): boolean => nowServing.has(ip) && !leaving.has(ip);
  // What makes room for others leaves even a set of which nothing is wanted, where another address of it serves and stays.
  const isReplaced = (ip: string): boolean =>
    (isShared && isDown(publisher.ref, ip)) || (leaving.has(ip) && split.own.addresses.some(isStaying));
  const plan = planSet(publisher, target, split, { served, isReplaced, ttlSeconds, nowMs });
  const shared = ttlSeconds === target.ttlSeconds ? {} : { sharedTTL: ttlSeconds };
  return { ...plan, foreign: split.foreign, ...shared };
}

/** What a set is planned with. */
interface Setting {
  readonly served: ServedAddresses;
  /** True for an address that leaves although nothing of the object serves. */
  readonly isReplaced: (address: string) => boolean;
  readonly ttlSeconds: number;
  readonly nowMs: number;
}

function planSet(publisher: Publisher, target: ReadyTarget, split: SplitRecords, setting: Setting): NamePlan {
  const { whenEmpty } = publisher;
  const { serving, undecided } = setting.served;
  const decision = decideRecords(setting.served, split.own, whenEmpty, setting.isReplaced);
  const plan = planDecided(publisher, target, split, { ...setting, decision });
  const mayBeEmpty = whenEmpty === "Delete" && undecided.size === 0;
  const isEmptied = mayBeEmpty && decision.kind === "set" && decision.addresses.length === 0;
  return serving.size > 0 || isEmptied ? plan : { ...plan, isFormerNeeded: true };
}

function planDecided(
  publisher: Publisher,
  target: ReadyTarget,
  split: SplitRecords,
  { served, decision, ttlSeconds, nowMs }: Setting & { readonly decision: RecordDecision },
): NamePlan {
  const { own } = split;
  const { isUndecided } = decision;
  const done = { target, actions: [], holds: [], isInPlace: true, isRight: false, isUndecided };
  if (decision.kind === "keep" && isUndecided) return done;
  if (decision.kind === "keep") return keeping(publisher, target, split);
  if (areAsWanted(own, decision.addresses, ttlSeconds))
    return { ...done, isRight: decision.addresses.length > 0, drift: 0 };
  const drift = differingRecords(own, decision.addresses, ttlSeconds);
  const change = nextChange(publisher, target, split, { wanted: { ...decision, ttlSeconds }, served });
  return { ...planChange(publisher, target, split, { ...change, nowMs }), drift };
}

/** Plans a change of a set that is not as it should be, or says what it waits for. */
function planChange(
  publisher: Publisher,
  target: ReadyTarget,
  { own, foreign }: SplitRecords,
  { write, isPart, retry, nowMs }: NextChange & Pick<Setting, "nowMs">,
): NamePlan {
  const { name, unusable } = target;
  const later = retry === undefined ? undefined : waiting(publisher, target, retry, "retry");
  if (later !== undefined && !isPart) return later;
  if (isDebouncing(publisher, nowMs)) return settling(publisher, target, own, write);
  if (unusable !== undefined)
    return waiting(publisher, target, blockedWhy(publisher, { ...unusable, name }), reading(unusable));
  const open = { target, actions: [], holds: [], isInPlace: false, isRight: false };
  if (!publisher.isWritable) return open;
  const wanted = ownPart(write, write.after.addresses);
  const repairs = write.requires.length === 0 && isRepair(publisher, target, wanted);
  const repair = { wanted, ttlSeconds: write.after.ttlSeconds, foreign };
  const contested = repairs ? fightObstacle(publisher, target, repair, nowMs) : undefined;
  if (contested !== undefined) return waiting(publisher, target, contested, "retry");
  const actions = [repairs ? { ...write, isRepair: true as const } : write];
  return { ...open, ...later, actions, isInPlace: !isPart };
}

/** Plans nothing while nodes are just changing. Former names are needed until the object has published here, and something of it is to stay. */
function settling(publisher: Publisher, target: ReadyTarget, { addresses }: RecordSetState, write: WriteDNS): NamePlan {
  const { publishedDNS } = publisher.memory;
  const isOnRecord = publishedDNS !== undefined && publishedKey(publishedDNS) === nameKey(target.name);
  const isServed = isOnRecord && addresses.some((ip) => write.after.addresses.includes(ip));
  return {
    ...waiting(publisher, target, obstacle("Settling", "", { notBeforeMs: publisher.settlesAtMs }), "debounce"),
    isInPlace: addresses.length > 0,
    ...(isServed ? {} : { isFormerNeeded: true }),
  };
}

/** The change of a set that is to be made next. */
interface NextChange {
  readonly write: WriteDNS;
  /** True where it only takes addresses out, and the set is not as it should be then. */
  readonly isPart: boolean;
  /** Why the set is not made as it should be now. */
  readonly retry?: Obstacle | undefined;
}

/** Returns all of a change; where adding to the name has failed, first what it takes out alone, so that what serves no more does not wait for what cannot be added. */
function nextChange(
  publisher: Publisher,
  target: ReadyTarget,
  split: SplitRecords,
  { wanted, served }: { readonly wanted: WantedRecords; readonly served: ServedAddresses },
): NextChange {
  const { retries } = publisher;
  const whole = update(publisher, target, split, wanted);
  const retry = retries.changeObstacle(whole);
  const left = retries.hasFailedToAdd(target.name) ? servingPart(split.own, wanted.addresses, served) : [];
  if (left.length === 0) return { write: whole, isPart: false, retry };
  const { isTTLAutomatic, ttlSeconds } = split.own;
  const ttl = isTTLAutomatic ? wanted.ttlSeconds : (ttlSeconds ?? wanted.ttlSeconds);
  const write = update(publisher, target, split, { addresses: left, ttlSeconds: ttl, requires: [] });
  const isPart = retries.changeObstacle(write) === undefined;
  return { write: isPart ? write : whole, isPart, retry };
}

/** The part of a name's own addresses that is to stay; empty where that is all of them, or nothing of it serves already. */
function servingPart(
  { addresses }: RecordSetState,
  wanted: readonly string[],
  { serving }: ServedAddresses,
): readonly string[] {
  const left = addresses.filter((ip) => wanted.includes(ip));
  const isServed = left.some((ip) => serving.get(ip)?.length === 0);
  return isServed && left.length < addresses.length ? left : [];
}

/** Plans nothing, because no address serves, or the selector selects nothing. */
function keeping(publisher: Publisher, target: ReadyTarget, { own, others, foreign }: SplitRecords): NamePlan {
  const isInPlace = own.addresses.length > 0;
  const isLeft = !isInPlace && others !== undefined && foreign.length > 0;
  const { selectsNothing } = publisher;
  const detail = selectsNothing === undefined ? "" : `${selectsNothing.what}; the records stay as they are`;
  const why = isLeft ? obstacle("LeftToOthers") : obstacle("NothingToPublish", detail);
  return { ...waiting(publisher, target, why), kept: isLeft ? "to-others" : "as-they-are", isInPlace, drift: 0 };
}

/** Plans nothing but a hold. */
function waiting(
  { ref, wish, withheld }: Publisher,
  target: BlockedTarget | ReadyTarget,
  why: Obstacle,
  waitsFor?: NamePlan["waitsFor"],
): NamePlan {
  const written = withheld?.fqdn ?? (wish.kind === "named" ? wish.recordName : "");
  return {
    target,
    actions: [],
    holds: [hold("update-dns", ref, target.name?.fqdn ?? written, why)],
    isInPlace: false,
    isRight: false,
    ...(waitsFor === undefined ? {} : { waitsFor }),
  };
}

function reading(blocked: BlockedTarget): NamePlan["waitsFor"] {
  return isPassing(blocked) ? "reading" : undefined;
}

/** The target of an object; blocked where another object owns the name. Pure. */
export function ownTarget(publisher: Publisher, claims: NameClaims): NameTarget {
  const { ref, target } = publisher;
  const name = target.kind === "none" ? undefined : target.name;
  const owner = name === undefined ? undefined : claims.ownerOf(nameKey(name));
  if (name === undefined || owner === undefined || isSameObject(owner, ref)) return target;
  const right = claims.rightOf(nameKey(name), publisher);
  const detail = `owned by ${owner.kind} ${owner.namespace}/${owner.name}, ${right}`;
  return { kind: "blocked", cause: "taken", detail, needsPerson: true, name };
}

const CAUSES: Readonly<Record<BlockedTarget["cause"], Reason>> = {
  ...REFUSAL_REASONS,
  invalid: "InvalidDNS",
  taken: "Conflict",
  ungranted: "NotGranted",
  "no-zone": "ZoneNotFound",
};

/** Returns why nothing can be written under the name. After a failed change the name is unknown, and is looked at again when the change is due again. */
function blockedWhy(publisher: Publisher, target: BlockedTarget): Obstacle {
  const { cause, detail, name } = target;
  if (cause === "ungranted" && publisher.withheld !== undefined) return publisher.withheld.why;
  const retry = cause === "unanswered" && name !== undefined ? publisher.retries.nameObstacle(name) : undefined;
  return retry ?? obstacle(CAUSES[cause], detail, target);
}

/** What the object's own records are to be. */
interface WantedRecords {
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
  readonly requires: readonly string[];
}

function update(
  publisher: Publisher,
  { name, zone, records }: ReadyTarget,
  split: SplitRecords,
  { addresses: wanted, ttlSeconds, requires }: WantedRecords,
): WriteDNS {
  const { ref, whenEmpty } = publisher;
  const { own, foreign } = split;
  const { others } = othersOf(publisher, split, wanted);
  const addresses = others === undefined ? wanted : recordAddresses([...wanted, ...others.addresses]);
  const kind = addresses.length === 0 ? "delete-dns" : "update-dns";
  const isSameSet = !own.hasDuplicates && wanted.join() === own.addresses.join();
  const differs = isSameSet ? "TTLDiffers" : "RecordsDiffer";
  return {
    kind,
    id: nameActionID(kind, ref, name),
    object: ref,
    reason: wanted.length === 0 && whenEmpty === "Delete" ? "WhenEmptyDelete" : differs,
    requires,
    follows: [],
    dnsProvider: name.provider,
    zoneText: name.zone,
    zone,
    fqdn: name.fqdn,
    before: contentOf(records),
    after: { addresses, ttlSeconds },
    ...(others === undefined ? { unrecorded: foreign } : { others }),
    ...(records.isTTLAutomatic ? { cachedSeconds: AUTOMATIC_TTL_SECONDS } : {}),
  };
}

/** The part of a set that a change is shown with. Pure. */
export function contentOf({ addresses, ttlSeconds }: ReadyTarget["records"]): WriteDNS["before"] {
  return ttlSeconds === undefined ? { addresses } : { addresses, ttlSeconds };
}

/** What becomes of a name's addresses. */
type RecordDecision =
  /** Nothing serves for certain: the records stay as they are, none where there is none. `isUndecided` = one of them may serve all the same. */
  | { readonly kind: "keep"; readonly isUndecided: boolean }
  /** The set it should be; `requires` are the actions that must have succeeded before. `isUndecided` = some of it stays only until it can be looked at. */
  | {
      readonly kind: "set";
      readonly isUndecided: boolean;
      readonly addresses: readonly string[];
      readonly requires: readonly string[];
    };

/**
 * Decides the addresses of a name. What serves is in; what is undecided stays as it is; everything else leaves, but only when something serves: a name is never
 * emptied, unless `whenEmpty: Delete` asks for it and nothing is undecided. Where it asks for that, what is known not to serve does not wait for the undecided. What is to serve
 * again in a moment stays meanwhile, unless that has failed before: then it leaves first, and nothing that has to wait is added with that. Pure.
 *
 * @param isReplaced - true for an address that leaves though nothing of the object serves: others publish under the name, and it serves nobody; or it makes room for another one
 */
function decideRecords(
  { serving, undecided, failed }: ServedAddresses,
  records: RecordSetState,
  whenEmpty: Publisher["whenEmpty"],
  isReplaced: (address: string) => boolean,
): RecordDecision {
  const staying = records.addresses.filter((address) => undecided.has(address));
  const isUndecided = staying.length > 0;
  if (serving.size === 0) {
    const mayLeave = whenEmpty === "Delete" && (undecided.size === 0 || isPart(staying, records.addresses));
    if (mayLeave) return { kind: "set", addresses: recordAddresses(staying), isUndecided, requires: [] };
    const left = records.addresses.filter((address) => undecided.has(address) || !isReplaced(address));
    if (left.length === records.addresses.length) return { kind: "keep", isUndecided };
    return { kind: "set", addresses: left, isUndecided, requires: [] };
  }
  const { isServed, waiting, addresses: all } = servingSet(serving);
  const present = waiting.length === 0 ? new Set<string>() : new Set(records.addresses);
  const isFailing = (address: string): boolean => present.has(address) && failed?.has(address) === true;
  if (isServed && waiting.some(([address]) => isFailing(address))) {
    const spared = [...serving].flatMap(([address, first]) =>
      first.length === 0 || (present.has(address) && !isFailing(address)) ? [address] : [],
    );
    return { kind: "set", addresses: recordAddresses([...spared, ...staying]), isUndecided, requires: [] };
  }
  // Where nothing of the set serves yet, what it shows now stays until something does.
  const requires = waiting.flatMap(([address, first]) => (isServed && present.has(address) ? [] : first));
  const addresses = isUndecided ? recordAddresses([...serving.keys(), ...staying]) : all;
  return { kind: "set", addresses, isUndecided, requires: [...new Set(requires)] };
}

/** What is known of addresses that serve, whatever a name shows. */
interface ServingSet {
  /** True where one of them serves already. */
  readonly isServed: boolean;
  /** Those that serve only after actions of this plan, with these. */
  readonly waiting: readonly (readonly [address: string, after: readonly string[]])[];
  /** In the order of records. */
  readonly addresses: readonly string[];
}

/** It goes with the map, which names that publish the same have in common. */
const servingSet: (serving: ServedAddresses["serving"]) => ServingSet = remembered((serving) => {
  const waiting = [...serving].filter(([, first]) => first.length > 0);
  return { isServed: waiting.length < serving.size, waiting, addresses: recordAddresses(serving.keys()) };
});

/** True for some of the addresses: neither none of them nor all. */
function isPart(staying: readonly string[], { length }: readonly string[]): boolean {
  return staying.length > 0 && staying.length < length;
}

/** True when the records already are as wanted, duplicates and TTL included. Pure. */
function areAsWanted(records: RecordSetState, addresses: readonly string[], ttlSeconds: number): boolean {
  return (
    !records.hasDuplicates &&
    isSameList(records.addresses, addresses) &&
    (addresses.length === 0 || isTTLAsWanted(records, ttlSeconds))
  );
}

function isSameList(some: readonly string[], others: readonly string[]): boolean {
  if (some === others) return true;
  return some.length === others.length && some.every((address, index) => address === others[index]);
}

/** How many records are missing, too many, or have another TTL than wanted; 1 where nothing but a duplicate is wrong. Pure. */
export function differingRecords(records: RecordSetState, addresses: readonly string[], ttlSeconds: number): number {
  const wanted = new Set(addresses);
  const kept = records.addresses.filter((address) => wanted.has(address)).length;
  const moved = addresses.length - kept + records.addresses.length - kept;
  const differing = moved + (isTTLAsWanted(records, ttlSeconds) ? 0 : kept);
  return differing === 0 && !areAsWanted(records, addresses, ttlSeconds) ? 1 : differing;
}

/** True when the TTL of the set is the wanted one, or the provider's own affair. Pure. */
function isTTLAsWanted(records: RecordSetState, ttlSeconds: number): boolean {
  return records.isTTLAutomatic || records.ttlSeconds === ttlSeconds;
}
