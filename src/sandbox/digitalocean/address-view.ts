import { type Caller, hasScope } from "./caller.ts";
import type { AddressState, CloudState, DropletState } from "./cloud-state.ts";
import { isLocked } from "./pending-actions.ts";

/** An address as one caller sees it at one time. */
export interface AddressView {
  readonly ip: string;
  readonly region: string;
  /** null also when the caller's token may not read droplets. */
  readonly droplet: DropletState | null;
  readonly locked: boolean;
  readonly projectID: string;
}

/** What a caller sees of an address. */
export function viewAddress(state: CloudState, caller: Caller, address: AddressState): AddressView {
  const holder = state.droplets.find((droplet) => droplet.id === address.droplet_id);
  return {
    ip: address.ip,
    region: address.region,
    droplet: holder !== undefined && hasScope(caller, "droplet:read") ? { ...holder } : null,
    locked: isLocked(state, address.ip),
    projectID: address.project_id,
  };
}

/** The reserved addresses as they were before the changes that are still remembered, that is, one lag ago. */
export function laggingList(state: CloudState): readonly AddressState[] {
  if (state.history.length === 0) return state.reserved_ips;
  const seen = new Map<string, AddressState>(state.reserved_ips.map((address) => [address.ip, address]));
  for (const { ip, before } of state.history.toReversed()) {
    if (state.byoip.some((address) => address.ip === ip)) continue;
    if (before === null) seen.delete(ip);
    else seen.set(ip, before);
  }
  return [...seen.values()];
}
