import type { ObjectRef } from "../model/action.ts";
import { REASONS, type Reason } from "../model/reason.ts";

/** What is said of a RoutedIP instead, where the general sentence names fields or words that it does not have. */
const OF_ROUTED_IPS: Readonly<Partial<Record<Reason, string>>> = {
  BelowDesired: "It has no address, and spec.address names none.",
  AboveDesired: "It has another address now.",
  PoolDeleted: "The object is deleted.",
  ReclaimDelete: "routedIPReclaimPolicy of its issuer is Delete and flipop acquired the address.",
  RecordsRetained: "routedIPReclaimPolicy of its issuer is Retain: the records of the old name stay.",
  NothingToReclaim: "Nothing is left that routedIPReclaimPolicy Delete would clean.",
  NoRegion: "An address can be acquired only for a node or in the region of the issuer.",
};

/** Returns the sentence that explains a reason for an object of that kind. Ends with a full stop. */
export function reasonText(reason: Reason, kind: ObjectRef["kind"]): string {
  return (kind === "routedip" ? OF_ROUTED_IPS[reason] : undefined) ?? REASONS[reason];
}
