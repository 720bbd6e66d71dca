import type { Reason } from "./reason.ts";
import type { IPFault } from "./resource.ts";

/** The reason that tells of a fault of an address. */
export const FAULT_REASONS: Readonly<Record<IPFault, Reason>> = {
  conflict: "Conflict",
  ungranted: "NotGranted",
  unknown: "GrantsUnreadable",
  invalid: "InvalidIP",
  gone: "IPNotFound",
  foreign: "ForeignHolder",
  unread: "Unreadable",
};

/** Returns the fault that a stored entry of `status.ips` tells of by its reason; undefined for none. */
export function faultOf(reason: string | undefined): IPFault | undefined {
  const faults = Object.keys(FAULT_REASONS) as readonly IPFault[];
  return faults.find((fault) => FAULT_REASONS[fault] === reason);
}
