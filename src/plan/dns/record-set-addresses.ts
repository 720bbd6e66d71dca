import { canonicalIPv4 } from "../../model/address.ts";
import type { NodeFacts } from "../../model/node.ts";
import { ADDRESS_ANNOTATION } from "../../model/resource.ts";
import type { ServedAddresses } from "./publisher.ts";
import type { VerifiedAddresses } from "./verified-addresses.ts";

/** An address of one node, and whether it serves there. */
export interface NodeAddress {
  readonly address: string;
  readonly isUndecided: boolean;
  /** Ids of the actions that must have succeeded first. */
  readonly after: readonly string[];
}

/**
 * The IPv4 addresses a node offers for publication. Of the annotation, values that pools manage count as confirmed in this very pass, wherever the annotation
 * still stands; others are taken as written. Pure.
 */
export function nodeAddresses(
  node: NodeFacts,
  addressType: string,
  verified: VerifiedAddresses,
): readonly NodeAddress[] {
  if (addressType !== ADDRESS_ANNOTATION) {
    return node.addresses
      .filter(({ type, address }) => type === addressType && canonicalIPv4(address) !== undefined)
      .map(({ address }) => ({ address, isUndecided: false, after: [] }));
  }
  const confirmed = (verified.byNode.get(node.name) ?? []).map(({ ip, after }) => ({
    address: ip,
    isUndecided: false,
    after,
  }));
  // A node that was replaced under its name is not where the address was.
  const undecided = verified.undecided
    .filter(({ nodeName, providerID = node.providerID }) => nodeName === node.name && providerID === node.providerID)
    .map(({ ip }) => ({ address: ip, isUndecided: true, after: [] }));
  return [...asWritten(node, verified), ...undecided, ...confirmed];
}

/** A value beside which flipop wrote a pool's name is no stranger's: one that its pool does not know any more is about to be cleared. */
function asWritten(
  { addressAnnotation, poolAnnotation }: NodeFacts,
  { byIP, pools }: VerifiedAddresses,
): readonly NodeAddress[] {
  if (addressAnnotation === undefined || canonicalIPv4(addressAnnotation) === undefined) return [];
  const fact = byIP.get(addressAnnotation);
  if (fact === undefined && poolAnnotation !== undefined)
    return pools.has(poolAnnotation) ? [] : [{ address: addressAnnotation, isUndecided: true, after: [] }];
  const isUndecided = fact?.kind === "undecided";
  return fact === undefined || isUndecided ? [{ address: addressAnnotation, isUndecided, after: [] }] : [];
}

/** What a record set publishes: the addresses of its matches; those of nodes in grace stay as they are. Pure. */
export function recordSetAddresses(
  matches: readonly (readonly NodeAddress[])[],
  graced: readonly (readonly NodeAddress[])[],
): ServedAddresses {
  const serving = new Map<string, readonly string[]>();
  const undecided = new Set(graced.flat().map(({ address }) => address));
  for (const { address, isUndecided, after } of matches.flat()) {
    if (isUndecided) undecided.add(address);
    else if (!serving.has(address) || after.length === 0) serving.set(address, after);
  }
  return { serving, undecided };
}
