import type { Refusal } from "./errors.ts";
import { REASONS, type Reason } from "./reason.ts";
import type { ReasonFacts } from "./reason-facts.ts";
import type { Condition, IPFault } from "./resource.ts";

/** The reason that tells of a fault of an address. */
export const FAULT_REASONS: Readonly<Record<IPFault, Reason>> = {
  conflict: "Conflict",
  ungranted: "NotGranted",
  unknown: "GrantsUnreadable",
  invalid: "InvalidIP",
  blocked: "IPBlocked",
  gone: "IPNotFound",
  foreign: "ForeignHolder",
  unread: "Unreadable",
};

/** The reason that tells of a refusal. */
export const REFUSAL_REASONS: Readonly<Record<Refusal["kind"], Reason>> = {
  "no-access": "ProviderUnavailable",
  "rate-limited": "RateLimited",
  unanswered: "Unreadable",
};

/** Returns the fault that a stored entry of `status.ips` tells of by its reason; undefined for none. */
export function faultOf(reason: string | undefined): IPFault | undefined {
  const faults = Object.keys(FAULT_REASONS) as readonly IPFault[];
  return faults.find((fault) => FAULT_REASONS[fault] === reason);
}

/** The table for texts that somebody else may have written. */
const STORED: ReadonlyMap<string, ReasonFacts> = new Map(Object.entries(REASONS));

/** Returns `hasAddresses` of a condition with this type and reason, as part of it. */
export function addressesOf(type: string, reason: string): Pick<Condition, "hasAddresses"> {
  return type === "Ready" && STORED.get(reason)?.hasAddresses === true ? { hasAddresses: true } : {};
}
