import type { IPFamily } from "../../model/address-source.ts";
import { Refusal, RequestTimes } from "../provider.ts";
import {
  type AddressView,
  addressOn,
  findAddress,
  isBusy,
  isLocked,
  laggingList,
  remember,
  setHolder,
  settleActions,
  startAction,
  viewAddress,
} from "./actions.ts";
import { type CreationRequest, createAddress, createIPv6, refuseAssignment } from "./address-rules.ts";
import { type Caller, hasScope, need, notFound, pendingEvent, unprocessable } from "./calls.ts";
import type { ActionState, AddressState, CloudState, DropletState } from "./cloud-state.ts";
import { hasTag, leaveFirewalls, settleFirewalls } from "./firewalls.ts";

/** A droplet with what the account knows of it. */
export interface DropletView {
  readonly droplet: DropletState;
  readonly isBusy: boolean;
  /** Its reserved or BYOIP address. */
  readonly reservedIP: string | undefined;
  /** Its reserved IPv6 address. */
  readonly reservedIPv6: string | undefined;
}

/**
 * The emulated DigitalOcean account: a state machine over plain state, without clock or network. Each operation is told
 * the time, first carries out the accepted actions that are due, then checks scopes, then answers or throws
 * {@link Refusal}; a refused operation changes nothing.
 */
export class Cloud {
  readonly #account: { state: CloudState };
  readonly #meter = new RateMeter();

  constructor(account: { state: CloudState }) {
    this.#account = account;
  }

  /** What `digitalocean.yaml` holds; tests may change it between operations. */
  get state(): CloudState {
    return this.#account.state;
  }

  set state(state: CloudState) {
    this.#account.state = state;
  }

  /**
   * Counts a request of this token. Returns who is calling. @throws Refusal 401 for a token the account does not
   * know, 429 over the rate limit.
   */
  admit(token: string | undefined, nowMs: number): Caller {
    const { tokens, settings } = this.state;
    const isOpen = Object.keys(tokens).length === 0;
    const scopes = isOpen ? ["*"] : Object.hasOwn(tokens, token ?? "") ? tokens[token ?? ""] : undefined;
    if (token === undefined || token === "" || scopes === undefined) {
      throw new Refusal(401, "Unauthorized", "Unable to authenticate you");
    }
    this.#meter.count(token, settings.rate_limit, nowMs);
    return { nowMs, scopes: new Set(scopes) };
  }

  /** The rate-limit headers of an answer to this token. */
  rateHeaders(token: string, nowMs: number): Readonly<Record<string, string>> {
    return this.#meter.headers(token, this.state.settings.rate_limit, nowMs);
  }

  /** The account; the limit is 0 for a token that may not read addresses. Needs `account:read`. */
  account(caller: Caller): CloudState["account"] {
    need(caller, "account:read");
    const { account } = this.state;
    return { ...account, reserved_ip_limit: hasScope(caller, "reserved_ip:read") ? account.reserved_ip_limit : 0 };
  }

  /** All reserved addresses of a family, in the order they were made, as old as the lists' lag. BYOIP ones are not among them. */
  listAddresses(caller: Caller, family: IPFamily = "IPv4"): readonly AddressView[] {
    this.enter(caller, "reserved_ip:read");
    return laggingList(this.state, family).map((address) => viewAddress(this.state, caller, address));
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

  /** Makes an IPv6 address, which is unattached. */
  createIPv6(caller: Caller, region: string): AddressView {
    this.enter(caller, "reserved_ip:create");
    return viewAddress(this.state, caller, createIPv6(this.state, region, caller.nowMs));
  }

  /** Gives an address back; one that is assigned is only released, and stays, and an IPv6 one is refused. */
  delete(caller: Caller, ip: string): void {
    this.enter(caller, "reserved_ip:delete");
    const address = this.known(ip);
    if (isLocked(this.state, ip)) throw pendingEvent("The reserved IP");
    const isIPv6 = this.state.reserved_ipv6.includes(address);
    // Seen 2024-12: https://github.com/digitalocean/terraform-provider-digitalocean/pull/1277
    if (address.droplet_id !== null && isIPv6)
      throw new Refusal(400, "bad_request", "an assigned reserved IPv6 cannot be released");
    if (address.droplet_id !== null) {
      startAction(this.state, { type: "unassign_ip", droplet_id: null, address, nowMs: caller.nowMs });
      this.leave(caller, undefined);
      return;
    }
    if (this.state.byoip.includes(address)) throw unprocessable("An address of a BYOIP prefix cannot be deleted.");
    remember(this.state, ip, { ...address }, caller.nowMs);
    this.state.reserved_ips = this.state.reserved_ips.filter((item) => item !== address);
    this.state.reserved_ipv6 = this.state.reserved_ipv6.filter((item) => item !== address);
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
    const isBYOIP = this.state.byoip.some((address) => address.ip === ip);
    const action = this.state.actions.find((item) => item.id === id && item.ip === ip);
    if (action === undefined || isBYOIP) throw notFound();
    return action;
  }

  /** An action, whatever it is about; those of BYOIP addresses are never found. */
  action(caller: Caller, id: number): ActionState {
    this.enter(caller, "actions:read");
    const action = this.state.actions.find((item) => item.id === id);
    if (action === undefined || this.state.byoip.some(({ ip }) => ip === action.ip)) throw notFound();
    return action;
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

  /** Deletes a droplet, as another program of the account would; its addresses become unassigned, and its firewalls lose it. */
  removeDroplet(id: number, nowMs: number): void {
    settleActions(this.state, nowMs);
    this.state.droplets = this.state.droplets.filter((droplet) => droplet.id !== id);
    for (const address of [...this.state.reserved_ips, ...this.state.reserved_ipv6, ...this.state.byoip]) {
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

  private viewDroplet(droplet: DropletState, nowMs: number): DropletView {
    const isBusyNow = isBusy(this.state, droplet, nowMs);
    return {
      droplet,
      isBusy: isBusyNow,
      reservedIP: addressOn(this.state, droplet.id, "IPv4")?.ip,
      reservedIPv6: addressOn(this.state, droplet.id, "IPv6")?.ip,
    };
  }
}

/** The limits of one token. */
interface RateLimits {
  readonly per_hour: number;
  readonly per_minute: number;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;

/**
 * Counts the requests of each token in a sliding hour, with a burst limit per sliding minute.
 * @see https://docs.digitalocean.com/reference/api/digitalocean/#section/Introduction/Rate-Limit verified 2026-08-07
 */
class RateMeter {
  readonly #times = new RequestTimes(hourMs);

  /** Counts one request. @throws Refusal 429 when it is one too many; that one is not counted */
  count(token: string, limits: RateLimits, nowMs: number): void {
    const times = this.#times.of(token, nowMs);
    const burst = times.slice(-limits.per_minute).filter((time) => time > nowMs - minuteMs);
    if (times.length >= limits.per_hour) throw tooMany();
    const first = burst[0] ?? nowMs;
    if (burst.length >= limits.per_minute) throw tooMany(Math.max(1, Math.ceil((first + minuteMs - nowMs) / 1000)));
    times.push(nowMs);
  }

  /** The headers of an answer: nothing remains also while only the burst is used up, the reset is that of the hour. */
  headers(token: string, limits: RateLimits, nowMs: number): Readonly<Record<string, string>> {
    const times = this.#times.of(token, nowMs);
    const inMinute = times.filter((time) => time > nowMs - minuteMs).length;
    const remaining = inMinute >= limits.per_minute ? 0 : Math.max(0, limits.per_hour - times.length);
    return {
      "ratelimit-limit": String(limits.per_hour),
      "ratelimit-remaining": String(remaining),
      "ratelimit-reset": String(Math.ceil(((times[0] ?? nowMs) + hourMs) / 1000)),
    };
  }
}

function tooMany(retryAfterSeconds?: number): Refusal {
  return new Refusal(429, "too_many_requests", "API rate limit exceeded.", retryAfterSeconds);
}
