import { nameActionID, type WriteDNS } from "../../model/action.ts";
import { type RecordSetState, recordAddresses } from "../../model/dns.ts";
import type { Hold, Obstacle } from "../../model/plan.ts";
import { REFUSAL_REASONS, type Reason } from "../../model/reason.ts";
import { hold, obstacle } from "../holds.ts";
import { dnsSubject } from "../retries.ts";
import { isSameObject, type NameClaims, nameKey } from "./name-claims.ts";
import { type BlockedTarget, isPassing, type NameTarget, type ReadyTarget } from "./name-target.ts";
import { isDebouncing, type Publisher, type ServedAddresses } from "./publishers.ts";

/** What is done about the name an object has now. */
export interface NamePlan {
  readonly target: NameTarget;
  readonly actions: readonly WriteDNS[];
  readonly holds: readonly Hold[];
  /** Set where the hold ends by itself, and the name is written then. `debounce`: the nodes are just changing. */
  readonly waitsFor?: "debounce" | "retry" | "reading";
  /** True where no address serves, and the records stay as they are. */
  readonly isKept?: true;
  /** True once the records stand under this name as they should, or will after {@link actions}; also where the object asks for no name. */
  readonly isInPlace: boolean;
  /** True when the records were read, hold addresses, and are as they should be. */
  readonly isRight: boolean;
  /** True when the name shows an address that may have to leave once it can be looked at; absent = it does not. */
  readonly isUndecided?: boolean;
  /** How many records differ from what they should be; absent when that is not known. */
  readonly drift?: number;
}

/** Plans the records of an object's present name. Pure. */
export function planName(publisher: Publisher, served: ServedAddresses, claims: NameClaims, nowMs: number): NamePlan {
  const target = ownTarget(publisher, claims);
  if (target.kind === "none") return { target, actions: [], holds: [], isInPlace: true, isRight: false };
  const written = publisher.wish.kind === "named" ? publisher.wish.recordName : "";
  const waiting = (why: Obstacle, waitsFor?: NamePlan["waitsFor"]): NamePlan => ({
    target,
    actions: [],
    holds: [hold("update-dns", publisher.ref, target.name?.fqdn ?? written, why)],
    isInPlace: false,
    isRight: false,
    ...(waitsFor === undefined ? {} : { waitsFor }),
  });
  const reading = (blocked: BlockedTarget): NamePlan["waitsFor"] => (isPassing(blocked) ? "reading" : undefined);
  if (target.kind === "blocked") return waiting(blockedWhy(publisher, target), reading(target));
  const { name, records, ttlSeconds, unusable } = target;
  const decision = decideRecords(served, records, publisher.whenEmpty);
  const { isUndecided } = decision;
  const done = { target, actions: [], holds: [], isInPlace: true, isRight: false, isUndecided };
  const isFilled = records.addresses.length > 0;
  if (decision.kind === "keep" && isUndecided) return done;
  if (decision.kind === "keep")
    return { ...waiting(obstacle("NothingToPublish")), isKept: true, isInPlace: isFilled, drift: 0 };
  if (areAsWanted(records, decision.addresses, ttlSeconds))
    return { ...done, isRight: decision.addresses.length > 0, drift: 0 };
  const drift = differingRecords(records, decision.addresses, ttlSeconds);
  const retry = publisher.retries.obstacle(dnsSubject(name.fqdn));
  if (retry !== undefined) return { ...waiting(retry, "retry"), drift };
  if (isDebouncing(publisher, nowMs)) {
    const debounce = obstacle("Settling", "", { notBeforeMs: publisher.settlesAtMs });
    return { ...waiting(debounce, "debounce"), isInPlace: isFilled, drift };
  }
  if (unusable !== undefined) {
    const why = blockedWhy(publisher, { ...unusable, name });
    return { ...waiting(why, reading(unusable)), drift };
  }
  const open = { target, actions: [], holds: [], isInPlace: false, isRight: false, drift };
  return publisher.isWritable ? { ...open, actions: [update(publisher, target, decision)], isInPlace: true } : open;
}

/** The target of an object; blocked where another object owns the name. Pure. */
export function ownTarget({ ref, target }: Publisher, claims: NameClaims): NameTarget {
  const name = target.kind === "none" ? undefined : target.name;
  const owner = name === undefined ? undefined : claims.ownerOf(nameKey(name));
  if (name === undefined || owner === undefined || isSameObject(owner, ref)) return target;
  const detail = `owned by ${owner.kind} ${owner.namespace}/${owner.name}`;
  return { kind: "blocked", cause: "taken", detail, needsPerson: true, name };
}

const CAUSES: Readonly<Record<BlockedTarget["cause"], Reason>> = {
  ...REFUSAL_REASONS,
  invalid: "InvalidDNS",
  taken: "Conflict",
  "no-zone": "ZoneNotFound",
};

/** Returns why nothing can be written under the name. After a failed change the name is unknown, and is looked at again when the change is due again. */
function blockedWhy(publisher: Publisher, target: BlockedTarget): Obstacle {
  const { cause, detail, name } = target;
  const retry =
    cause === "unanswered" && name !== undefined ? publisher.retries.obstacle(dnsSubject(name.fqdn)) : undefined;
  return retry ?? obstacle(CAUSES[cause], detail, target);
}

function update(
  { ref, whenEmpty }: Publisher,
  { name, zone, records, ttlSeconds }: ReadyTarget,
  { addresses, requires }: { readonly addresses: readonly string[]; readonly requires: readonly string[] },
): WriteDNS {
  const isEmptied = addresses.length === 0;
  const kind = isEmptied ? "delete-dns" : "update-dns";
  const isSameSet = !records.hasDuplicates && addresses.join() === records.addresses.join();
  const differs = isSameSet ? "TTLDiffers" : "RecordsDiffer";
  return {
    kind,
    id: nameActionID(kind, ref, name),
    object: ref,
    reason: isEmptied && whenEmpty === "Delete" ? "WhenEmptyDelete" : differs,
    requires,
    follows: [],
    dnsProvider: name.provider,
    zoneText: name.zone,
    zone,
    fqdn: name.fqdn,
    before: contentOf(records),
    after: { addresses, ttlSeconds },
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
 * emptied, unless `whenEmpty: Delete` asks for it and nothing is undecided. Where it asks for that, what is known not to serve does not wait for the undecided. Pure.
 */
function decideRecords(
  { serving, undecided }: ServedAddresses,
  records: RecordSetState,
  whenEmpty: Publisher["whenEmpty"],
): RecordDecision {
  const staying = records.addresses.filter((address) => undecided.has(address));
  const isUndecided = staying.length > 0;
  if (serving.size === 0) {
    const mayLeave = whenEmpty === "Delete" && (undecided.size === 0 || isPart(staying, records.addresses));
    return mayLeave
      ? { kind: "set", addresses: recordAddresses(staying), isUndecided, requires: [] }
      : { kind: "keep", isUndecided };
  }
  const present = new Set(records.addresses);
  // Where nothing of the set serves yet, what it shows now stays until something does.
  const isServed = [...serving.values()].some((first) => first.length === 0);
  const requires = [...serving].flatMap(([address, first]) => (isServed && present.has(address) ? [] : first));
  const addresses = recordAddresses([...serving.keys(), ...staying]);
  return { kind: "set", addresses, isUndecided, requires: [...new Set(requires)] };
}

/** True for some of the addresses: neither none of them nor all. */
function isPart(staying: readonly string[], { length }: readonly string[]): boolean {
  return staying.length > 0 && staying.length < length;
}

/** True when the records already are as wanted, duplicates and TTL included. Pure. */
function areAsWanted(records: RecordSetState, addresses: readonly string[], ttlSeconds: number): boolean {
  return (
    !records.hasDuplicates &&
    records.addresses.length === addresses.length &&
    records.addresses.every((address, index) => address === addresses[index]) &&
    (addresses.length === 0 || isTTLAsWanted(records, ttlSeconds))
  );
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
