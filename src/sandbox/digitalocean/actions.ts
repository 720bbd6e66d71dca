import type { IPFamily } from "../../model/address-source.ts";
import { timeText } from "../provider.ts";
import { type Caller, hasScope } from "./calls.ts";
import type { ActionState, AddressState, CloudState, DropletState } from "./cloud-state.ts";

/** How many finished actions stay readable. */
const keptActions = 50;

/** The family of an address of the account. */
export function familyOf(ip: string): IPFamily {
  return ip.includes(":") ? "IPv6" : "IPv4";
}

/** The address with this IP, reserved or BYOIP. */
export function findAddress(state: CloudState, ip: string): AddressState | undefined {
  return addressesOf(state, familyOf(ip)).find((item) => item.ip === ip);
}

/** The address of a family that a droplet holds; at most one, reserved or BYOIP. */
export function addressOn(state: CloudState, dropletID: number, family: IPFamily): AddressState | undefined {
  return addressesOf(state, family).find((item) => item.droplet_id === dropletID);
}

function addressesOf(state: CloudState, family: IPFamily): readonly AddressState[] {
  return family === "IPv6" ? state.reserved_ipv6 : [...state.reserved_ips, ...state.byoip];
}

/** True while an action of this address is in progress, or something else has locked it. */
export function isLocked(state: CloudState, ip: string): boolean {
  if (findAddress(state, ip)?.locked === true) return true;
  return state.actions.some((action) => action.ip === ip && action.status === "in-progress");
}

/** True while the droplet has an event of its own, or takes part in an action as its target or its present holder. */
export function isBusy(state: CloudState, droplet: DropletState, nowMs: number): boolean {
  const until = droplet.pending_event_until;
  return (
    (until !== undefined && Date.parse(until) > nowMs) ||
    state.actions.some((action) => action.status === "in-progress" && involves(action, droplet.id))
  );
}

/** True when the droplet is the target of the action, or held the address when it was accepted. */
function involves(action: ActionState, dropletID: number): boolean {
  return action.droplet_id === dropletID || action.from_droplet_id === dropletID;
}

/** Accepts an action; it has its effect when {@link settleActions} sees its time come. */
export function startAction(
  state: CloudState,
  facts: Pick<ActionState, "type" | "droplet_id"> & { readonly address: AddressState; readonly nowMs: number },
): ActionState {
  const { settings } = state;
  const { address, nowMs } = facts;
  const isPlannedToFail = settings.fail_next_actions > 0 || settings.fail_actions_of.includes(address.ip);
  if (settings.fail_next_actions > 0) settings.fail_next_actions -= 1;
  const action: ActionState = {
    id: state.next.action_id,
    type: facts.type,
    ip: address.ip,
    region: address.region,
    status: "in-progress",
    droplet_id: facts.droplet_id,
    from_droplet_id: address.droplet_id,
    started_at: timeText(nowMs),
    completes_at: timeText(nowMs + settings.action_delay_ms),
    completed_at: null,
    outcome: isPlannedToFail ? "errored" : "completed",
  };
  state.next.action_id += 1;
  state.actions.push(action);
  return action;
}

/** Carries out every action whose time has come, in the order they end, and forgets what nobody can see any more. */
export function settleActions(state: CloudState, nowMs: number): void {
  const due = state.actions
    .filter((action) => action.status === "in-progress" && Date.parse(action.completes_at) <= nowMs)
    .sort((a, b) => Date.parse(a.completes_at) - Date.parse(b.completes_at) || a.id - b.id);
  for (const action of due) finish(state, action);
  const surplus = state.actions.filter((action) => action.status !== "in-progress").length - keptActions;
  if (surplus > 0) {
    const dropped = new Set(state.actions.filter((action) => action.status !== "in-progress").slice(0, surplus));
    state.actions = state.actions.filter((action) => !dropped.has(action));
  }
  forgetHistory(state, nowMs);
}

/** Changes the holder of an address; the list shows it when its lag has passed. */
export function setHolder(state: CloudState, address: AddressState, dropletID: number | null, nowMs: number): void {
  remember(state, address.ip, { ...address }, nowMs);
  address.droplet_id = dropletID;
}

/** Notes how an address looked until now (null = it did not exist), when lists lag. */
export function remember(state: CloudState, ip: string, before: AddressState | null, nowMs: number): void {
  if (state.settings.list_lag_ms > 0) state.history.push({ at: timeText(nowMs), ip, before });
}

function finish(state: CloudState, action: ActionState): void {
  const address = findAddress(state, action.ip);
  const target = action.droplet_id;
  // A person may have removed the droplet or used it for something else while the action was under way.
  const isPossible =
    address !== undefined &&
    (target === null || (state.droplets.some((item) => item.id === target) && isFreeFor(state, target, action.ip)));
  const isDone = action.outcome === "completed" && isPossible;
  if (isDone) setHolder(state, address, target, Date.parse(action.completes_at));
  action.status = isDone ? "completed" : "errored";
  action.completed_at = action.completes_at;
}

function isFreeFor(state: CloudState, dropletID: number, ip: string): boolean {
  const present = addressOn(state, dropletID, familyOf(ip));
  return present === undefined || present.ip === ip;
}

function forgetHistory(state: CloudState, nowMs: number): void {
  if (state.history.length === 0) return;
  const lag = state.settings.list_lag_ms;
  state.history = state.history.filter((entry) => Date.parse(entry.at) + lag > nowMs);
}

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

/** The reserved addresses of a family as they were before the changes that are still remembered, that is, one lag ago. */
export function laggingList(state: CloudState, family: IPFamily): readonly AddressState[] {
  const now = family === "IPv6" ? state.reserved_ipv6 : state.reserved_ips;
  if (state.history.length === 0) return now;
  const seen = new Map<string, AddressState>(now.map((address) => [address.ip, address]));
  for (const { ip, before } of state.history.toReversed()) {
    if (familyOf(ip) !== family || state.byoip.some((address) => address.ip === ip)) continue;
    if (before === null) seen.delete(ip);
    else seen.set(ip, before);
  }
  return [...seen.values()];
}
