import { canonicalIPv6 } from "../../model/address.ts";
import type { IPFamily } from "../../model/address-source.ts";
import { Refusal, timeText } from "../provider.ts";
import { addressOn, familyOf, findAddress, isBusy, isLocked, remember } from "./actions.ts";
import { notFound, pendingEvent, unprocessable } from "./calls.ts";
import { type AddressState, type CloudState, type DropletState, defaultProjectID } from "./cloud-state.ts";

const minuteMs = 60_000;

/** Where a new address goes. */
export interface CreationRequest {
  readonly droplet_id?: number;
  readonly region?: string;
  readonly project_id?: string;
}

/** @throws Refusal 422 when the droplet cannot be given this address now. */
export function refuseAssignment(state: CloudState, address: AddressState, droplet: DropletState, nowMs: number): void {
  if (droplet.region !== address.region) {
    throw unprocessable("The Droplet must be in the same region as the reserved IP.");
  }
  if (isLocked(state, address.ip)) throw pendingEvent("The reserved IP");
  const holder = state.droplets.find((item) => item.id === address.droplet_id);
  if (holder !== undefined && isBusy(state, holder, nowMs)) throw pendingEvent("Droplet");
  refuseTarget(state, droplet, familyOf(address.ip), nowMs);
}

/**
 * Makes a new address. Returns it, still unattached, and the droplet it is meant for.
 * @throws Refusal 422, 404 for an unknown droplet, 429 when too many were made within a minute.
 */
export function createAddress(
  state: CloudState,
  request: CreationRequest,
  nowMs: number,
): { readonly address: AddressState; readonly target: number | undefined } {
  const region = placeOf(state, request, nowMs);
  refuseQuick(state, "creations", nowMs);
  const { reserved_ip_limit: limit } = state.account;
  if (state.reserved_ips.length >= limit) {
    throw unprocessable(`Reserved IP limit exceeded: this account may have ${limit} reserved IPs.`);
  }
  const address: AddressState = {
    ip: nextIP(state),
    region,
    droplet_id: null,
    project_id: request.project_id ?? defaultProjectID,
  };
  state.reserved_ips.push(address);
  state.creations.push(timeText(nowMs));
  remember(state, address.ip, null, nowMs);
  return { address, target: request.droplet_id };
}

/**
 * Makes a new IPv6 address, which is unattached.
 * @throws Refusal 422, 429 when too many were made within a minute.
 */
export function createIPv6(state: CloudState, region: string, nowMs: number): AddressState {
  if (!state.settings.regions.includes(region)) throw unprocessable("Region is not available.");
  refuseQuick(state, "creations_ipv6", nowMs);
  const { reserved_ipv6_limit: limit = state.account.reserved_ip_limit } = state.account;
  if (state.reserved_ipv6.length >= limit)
    throw unprocessable(`Reserved IPv6 limit exceeded: this account may have ${limit} reserved IPv6s.`);
  const address: AddressState = { ip: nextIPv6(state), region, droplet_id: null, project_id: "" };
  state.reserved_ipv6.push(address);
  state.creations_ipv6.push(timeText(nowMs));
  remember(state, address.ip, null, nowMs);
  return address;
}

/** The region of a new address. @throws Refusal */
function placeOf(state: CloudState, request: CreationRequest, nowMs: number): string {
  const { droplet_id: dropletID, region, project_id: projectID } = request;
  if (dropletID === undefined) {
    if (region === undefined) throw unprocessable("Either a Droplet or a region must be given.");
    if (!state.settings.regions.includes(region)) throw unprocessable("Region is not available.");
    return region;
  }
  if (region !== undefined || projectID !== undefined) {
    throw unprocessable("A reserved IP is made for a Droplet or for a region, not both.");
  }
  const droplet = state.droplets.find((item) => item.id === dropletID);
  if (droplet === undefined) throw notFound();
  refuseTarget(state, droplet, "IPv4", nowMs);
  return droplet.region;
}

/** @throws Refusal 422 when the droplet cannot take any address of the family now. */
function refuseTarget(state: CloudState, droplet: DropletState, family: IPFamily, nowMs: number): void {
  if (isBusy(state, droplet, nowMs)) throw pendingEvent("Droplet");
  if (addressOn(state, droplet.id, family) !== undefined) throw unprocessable("Droplet already has a reserved IP.");
  if (family === "IPv6" && droplet.ipv6 === false) throw unprocessable("Droplet has no IPv6 address.");
  if (family === "IPv4" && droplet.anchor_ip === null) throw unprocessable("Droplet has no anchor IP.");
}

/** @throws Refusal 429 when the account made as many addresses as it may within the last minute. */
function refuseQuick(state: CloudState, kind: "creations" | "creations_ipv6", nowMs: number): void {
  const times = state[kind].filter((time) => Date.parse(time) > nowMs - minuteMs);
  state[kind] = times;
  const first = times[times.length - state.settings.creations_per_minute];
  if (times.length < state.settings.creations_per_minute) return;
  const waitMs = (first === undefined ? nowMs : Date.parse(first)) + minuteMs - nowMs;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new Refusal(429, "too_many_requests", "Too many reserved IPs were created within a minute.", seconds);
}

/** The next address of the blocks for documentation and benchmarks that the account does not have; never one it had. */
function nextIP(state: CloudState): string {
  for (;;) {
    const number = state.next.address;
    state.next.address += 1;
    const ip =
      number < 254 ? `198.51.100.${number + 1}` : `198.19.${((number - 254) >> 8) & 255}.${(number - 254) & 255}`;
    if (findAddress(state, ip) === undefined) return ip;
  }
}

/** The next address of the network for documentation (RFC 3849) that the account does not have; never one it had. */
function nextIPv6(state: CloudState): string {
  for (;;) {
    const number = (state.next.ipv6 ?? 0) + 1;
    state.next.ipv6 = number;
    const ip = canonicalIPv6(`2001:db8:d0:${(number >> 16).toString(16)}::${(number & 0xffff).toString(16)}`) ?? "";
    if (findAddress(state, ip) === undefined) return ip;
  }
}
