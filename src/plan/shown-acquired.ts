import { canonicalIPv4 } from "../model/address.ts";
import type { Reason } from "../model/reason.ts";
import { compareText, type Pool } from "../model/resource.ts";

/** What Ready says of a pool whose addresses were looked at, as far as no other reason can be mistaken for it. */
const LOOKED_AT: ReadonlySet<string> = new Set<Reason>([
  "Ready",
  "NoActiveIP",
  "DNSPending",
  "WaitingForAssignment",
  "IPNotFound",
  "Conflict",
  "ForeignHolder",
  "DuplicateIP",
  "InvalidIP",
  "QuotaExceeded",
  "NoRegion",
  "AmbiguousAcquisition",
  "LostAcquisition",
]);

/**
 * Addresses that a pool must have acquired although the list of those does not have them any more: the status, made from this very spec by a pass that
 * looked at the addresses, shows them as managed, and the spec does not list them. After an edit they may as well have left the spec. Sorted by text. Pure.
 */
export function shownAcquired({ meta, spec, status }: Pool): readonly string[] {
  const ready = status.conditions.find(({ type }) => type === "Ready");
  const isOfThisSpec = status.observedGeneration === meta.generation && LOOKED_AT.has(ready?.reason ?? "");
  if (!isOfThisSpec || meta.isDeleting) return [];
  const listed = new Set(spec.ips.map((entry) => canonicalIPv4(entry) ?? entry));
  const known = new Set([...status.acquired, ...status.released].map(({ ip }) => ip));
  return Object.entries(status.ips)
    .filter(
      ([ip, { reason }]) => reason !== "Conflict" && canonicalIPv4(ip) === ip && !listed.has(ip) && !known.has(ip),
    )
    .map(([ip]) => ip)
    .toSorted(compareText);
}
