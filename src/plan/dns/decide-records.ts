import { type RecordSetState, recordAddresses } from "../../model/dns.ts";
import type { Publisher, ServedAddresses } from "./publisher.ts";

/** What becomes of a name's addresses. */
export type RecordDecision =
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
export function decideRecords(
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
export function areAsWanted(records: RecordSetState, addresses: readonly string[], ttlSeconds: number): boolean {
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
