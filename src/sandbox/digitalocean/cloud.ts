import {
  type AddressView,
  addressOn,
  findAddress,
  involves,
  isBusy,
  isLocked,
  laggingList,
  remember,
  setHolder,
  settleActions,
  startAction,
  viewAddress,
} from "./actions.ts";
import { type CreationRequest, createAddress, refuseAssignment } from "./address-rules.ts";
import type { ActionState, AddressState, CloudState, DropletState } from "./cloud-state.ts";
import { hasTag, leaveFirewalls, settleFirewalls } from "./firewalls.ts";
import { type Caller, CloudRefusal, hasScope, need, notFound, pendingEvent, unprocessable } from "./refusals.ts";

/** A droplet with what the account knows of it. */
export interface DropletView {
  readonly droplet: DropletState;
  readonly isBusy: boolean;
  /** Its reserved or BYOIP address. */
  readonly reservedIP: string | undefined;
}

/**
 * The emulated DigitalOcean account: a state machine over plain state, without clock or network. Each operation is told
 * the time, first carries out the accepted actions that are due, then checks scopes, then answers or throws
 * {@link CloudRefusal}; a refused operation changes nothing.
 */
export class Cloud {
  /** What `digitalocean.yaml` holds; tests may change it between operations. */
  state: CloudState;
  private readonly meter = new RateMeter();

  constructor(state: CloudState) {
    this.state = state;
  }

  /**
   * Counts a request of this token. Returns who is calling. @throws CloudRefusal 401 for a token the account does not
   * know, 429 over the rate limit.
   */
  admit(token: string | undefined, nowMs: number): Caller {
    const { tokens, settings } = this.state;
    const isOpen = Object.keys(tokens).length === 0;
    const scopes = isOpen ? ["*"] : Object.hasOwn(tokens, token ?? "") ? tokens[token ?? ""] : undefined;
    if (token === undefined || token === "" || scopes === undefined) {
      throw new CloudRefusal(401, "Unauthorized", "Unable to authenticate you");
    }
    const refusal = this.meter.count(token, settings.rate_limit, nowMs);
    if (refusal !== undefined) throw refusal;
    return { nowMs, scopes: new Set(scopes) };
  }

  /** What the rate-limit headers say to this token. */
  rateFacts(token: string, nowMs: number): RateFacts {
    return this.meter.facts(token, this.state.settings.rate_limit, nowMs);
  }

  /** The account; the limit is 0 for a token that may not read addresses. Needs `account:read`. */
  account(caller: Caller): CloudState["account"] {
    need(caller, "account:read");
    const { account } = this.state;
    return { ...account, reserved_ip_limit: hasScope(caller, "reserved_ip:read") ? account.reserved_ip_limit : 0 };
  }

  /** All reserved addresses, in the order they were made, as old as the lists' lag. BYOIP ones are not among them. */
  listAddresses(caller: Caller): readonly AddressView[] {
    this.enter(caller, "reserved_ip:read");
    return laggingList(this.state).map((address) => viewAddress(this.state, caller, address));
  }

  /** One address, reserved or BYOIP. */
  address(caller: Caller, ip: string): AddressView {
    this.enter(caller, "reserved_ip:read");
    return viewAddress(this.state, caller, this.known(ip));
  }

  /** Makes an address; for a droplet it comes unattached and locked, with the assignment under way. */
  create(caller: Caller, request: CreationRequest): { readonly address: AddressView; readonly action?: ActionState } {
    this.enter(caller, "reserved_ip:create");
    const { address, target } = createAddress(this.state, request, caller.nowMs);
    const action =
      target === undefined
        ? undefined
        : startAction(this.state, { type: "assign_ip", droplet_id: target, address, nowMs: caller.nowMs });
    const view = viewAddress(this.state, caller, address);
    return action === undefined ? { address: view } : this.leave(caller, { address: view, action: { ...action } });
  }

  /** Gives an address back; one that is assigned is only released, and stays. */
  delete(caller: Caller, ip: string): void {
    this.enter(caller, "reserved_ip:delete");
    const address = this.known(ip);
    if (isLocked(this.state, ip)) throw pendingEvent("The reserved IP");
    if (address.droplet_id !== null) {
      startAction(this.state, { type: "unassign_ip", droplet_id: null, address, nowMs: caller.nowMs });
      this.leave(caller, undefined);
      return;
    }
    if (this.state.byoip.includes(address)) throw unprocessable("An address of a BYOIP prefix cannot be deleted.");
    remember(this.state, ip, { ...address }, caller.nowMs);
    this.state.reserved_ips = this.state.reserved_ips.filter((item) => item !== address);
  }

  /** Accepts the assignment of an address to a droplet of its region, from wherever it is now. */
  assign(caller: Caller, ip: string, dropletID: number): ActionState {
    this.enter(caller, "reserved_ip:update");
    const address = this.known(ip);
    const droplet = this.knownDroplet(dropletID);
    refuseAssignment(this.state, address, droplet, caller.nowMs);
    return this.start(caller, address, "assign_ip", dropletID);
  }

  /** Accepts the removal of an address from its droplet. */
  unassign(caller: Caller, ip: string): ActionState {
    this.enter(caller, "reserved_ip:update");
    const address = this.known(ip);
    if (isLocked(this.state, ip)) throw pendingEvent("The reserved IP");
    const holder = this.state.droplets.find((droplet) => droplet.id === address.droplet_id);
    if (holder === undefined) throw unprocessable("The reserved IP is not assigned to a Droplet.");
    if (isBusy(this.state, holder, caller.nowMs)) throw pendingEvent("Droplet");
    return this.start(caller, address, "unassign_ip", null);
  }

  /** An action of one address; those of BYOIP addresses are never found. */
  addressAction(caller: Caller, ip: string, id: number): ActionState {
    this.enter(caller, "reserved_ip:read");
    return this.knownAction((action) => action.id === id && action.ip === ip);
  }

  /** Any action; those of BYOIP addresses are never found. Needs `actions:read`, which no other operation needs. */
  action(caller: Caller, id: number): ActionState {
    this.enter(caller, "actions:read");
    return this.knownAction((action) => action.id === id);
  }

  /** The actions of one address, newest first. */
  addressActions(caller: Caller, ip: string): readonly ActionState[] {
    this.enter(caller, "reserved_ip:read");
    this.known(ip);
    return this.state.actions.filter((action) => action.ip === ip && !this.isBYOIP(ip)).reverse();
  }

  /** All droplets, by id, or those with a tag, which needs `tag:read`, too. */
  droplets(caller: Caller, tag?: string): readonly DropletView[] {
    this.enter(caller, "droplet:read");
    if (tag !== undefined) need(caller, "tag:read");
    return this.state.droplets
      .filter((droplet) => tag === undefined || hasTag(droplet, tag))
      .toSorted((a, b) => a.id - b.id)
      .map((droplet) => this.viewDroplet(droplet, caller.nowMs));
  }

  /** One droplet. */
  droplet(caller: Caller, id: number): DropletView {
    this.enter(caller, "droplet:read");
    return this.viewDroplet(this.knownDroplet(id), caller.nowMs);
  }

  /** The droplet and the actions it takes part in, newest first. */
  dropletActions(caller: Caller, id: number): { readonly view: DropletView; readonly actions: readonly ActionState[] } {
    const view = this.droplet(caller, id);
    return { view, actions: this.state.actions.filter((action) => involves(action, id)).reverse() };
  }

  /** Deletes a droplet, as another program of the account would; its addresses become unassigned, and its firewalls lose it. */
  removeDroplet(id: number, nowMs: number): void {
    settleActions(this.state, nowMs);
    this.state.droplets = this.state.droplets.filter((droplet) => droplet.id !== id);
    for (const address of [...this.state.reserved_ips, ...this.state.byoip]) {
      if (address.droplet_id === id) setHolder(this.state, address, null, nowMs);
    }
    leaveFirewalls(this.state, id);
  }

  /** Brings the state up to this time: actions and changes of firewalls that are due have their effect. */
  settle(nowMs: number): void {
    settleActions(this.state, nowMs);
    settleFirewalls(this.state, nowMs);
  }

  private enter(caller: Caller, scope: string): void {
    settleActions(this.state, caller.nowMs);
    need(caller, scope);
  }

  /** An action that takes no time has had its effect before anyone can look; the answer still says it is in progress. */
  private leave<T>(caller: Caller, result: T): T {
    settleActions(this.state, caller.nowMs);
    return result;
  }

  private start(caller: Caller, address: AddressState, type: ActionState["type"], target: number | null): ActionState {
    const action = startAction(this.state, { type, droplet_id: target, address, nowMs: caller.nowMs });
    return this.leave(caller, { ...action });
  }

  private known(ip: string): AddressState {
    const address = findAddress(this.state, ip);
    if (address === undefined) throw notFound();
    return address;
  }

  private knownDroplet(id: number): DropletState {
    const droplet = this.state.droplets.find((item) => item.id === id);
    if (droplet === undefined) throw notFound();
    return droplet;
  }

  private knownAction(fits: (action: ActionState) => boolean): ActionState {
    const action = this.state.actions.find(fits);
    if (action === undefined || this.isBYOIP(action.ip)) throw notFound();
    return action;
  }

  private isBYOIP(ip: string): boolean {
    return this.state.byoip.some((address) => address.ip === ip);
  }

  private viewDroplet(droplet: DropletState, nowMs: number): DropletView {
    const isBusyNow = isBusy(this.state, droplet, nowMs);
    return { droplet, isBusy: isBusyNow, reservedIP: addressOn(this.state, droplet.id)?.ip };
  }
}

/** What the rate-limit headers say. */
interface RateFacts {
  readonly limit: number;
  /** Calls left of the hour; 0 also while only the burst is used up. */
  readonly remaining: number;
  /** Epoch seconds at which the oldest counted request expires. */
  readonly resetSeconds: number;
}

/** The limits of one token. */
interface RateLimits {
  readonly per_hour: number;
  readonly per_minute: number;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;

/**
 * Counts the requests of each token in a sliding hour, with a burst limit per sliding minute. Lives in memory only:
 * a new process starts with a fresh hour.
 * @see https://docs.digitalocean.com/reference/api/digitalocean/#section/Introduction/Rate-Limit verified 2026-08-07
 */
class RateMeter {
  private readonly calls = new Map<string, number[]>();

  /** Counts one request. Returns undefined, or the refusal with which it is answered instead; refused ones are not counted. */
  count(token: string, limits: RateLimits, nowMs: number): CloudRefusal | undefined {
    const times = this.recent(token, nowMs);
    const burst = times.slice(-limits.per_minute).filter((time) => time > nowMs - minuteMs);
    if (times.length >= limits.per_hour) return tooMany();
    const first = burst[0] ?? nowMs;
    if (burst.length >= limits.per_minute) return tooMany(Math.max(1, Math.ceil((first + minuteMs - nowMs) / 1000)));
    times.push(nowMs);
    return undefined;
  }

  /** The headers of an answer to this token. */
  facts(token: string, limits: RateLimits, nowMs: number): RateFacts {
    const times = this.recent(token, nowMs);
    const inMinute = times.filter((time) => time > nowMs - minuteMs).length;
    const left = Math.max(0, limits.per_hour - times.length);
    return {
      limit: limits.per_hour,
      remaining: inMinute >= limits.per_minute ? 0 : left,
      resetSeconds: Math.ceil(((times[0] ?? nowMs) + hourMs) / 1000),
    };
  }

  private recent(token: string, nowMs: number): number[] {
    const times = this.calls.get(token) ?? [];
    this.calls.set(token, times);
    const live = times.findIndex((time) => time > nowMs - hourMs);
    times.splice(0, live === -1 ? times.length : live);
    return times;
  }
}

function tooMany(retryAfterSeconds?: number): CloudRefusal {
  return new CloudRefusal(429, "too_many_requests", "API rate limit exceeded.", retryAfterSeconds);
}
