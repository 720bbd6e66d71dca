import type { Address } from "../model/address.ts";
import type { CallCount, CallDuration, RateLimit } from "../model/meter.ts";

/** One page of the account's reserved addresses. */
export interface AddressPage {
  readonly addresses: readonly Address[];
  /** How many addresses the account has over all pages. */
  readonly total: number;
}

/**
 * What flipop reads from a provider of movable addresses. Every method is one HTTP call (plus at most one repeat of an
 * idempotent read after a 5xx or a broken connection), has its own deadline, and throws ProviderError on failure; after a
 * 429 all calls fail without a request until the provider's reset. Values are canonical.
 */
export interface IPProviderReader {
  /** The name used in `spec.provider`: `digitalocean`. */
  readonly name: string;
  /** How many addresses {@link listPage} returns at most. */
  readonly pageSize: number;
  /** Page `page` (from 1) of the account's reserved addresses; BYOIP addresses may be missing from the list. */
  listPage(page: number): Promise<AddressPage>;
  /** One address, BYOIP too; undefined when the provider does not know it (404). */
  getAddress(ip: string): Promise<Address | undefined>;
  /** The IPv4 addresses a machine carries, reserved ones included; undefined when there is no such machine (404). */
  machineAddresses(machineID: string): Promise<readonly string[] | undefined>;
  /** How many reserved addresses the account may have; undefined when the token may not read it or it is not set. */
  addressLimit(): Promise<number | undefined>;
}

/** How an accepted action stands. `unknown` = the provider does not know the action (for ever so with BYOIP addresses). */
export type ActionState = "pending" | "done" | "errored" | "unknown";

/** Handle of an accepted asynchronous action; pass it to {@link IPProvider.actionState}. */
export interface AcceptedAction {
  readonly ip: string;
  readonly actionID: string;
}

/**
 * A provider that may also be changed. No method here is ever repeated by the adapter. Accepted is not done: the address
 * itself, read back, is the truth. A 422 is answered as ProviderError `busy` when the text speaks of a pending event, else `refused`;
 * 404 is `not-found`; texts are hints only, so callers re-read before they believe a failure.
 */
export interface IPProvider extends IPProviderReader {
  /** Attaches a free address to a machine, or moves it from the machine that has it. Asynchronous. */
  assign(ip: string, machineID: string): Promise<AcceptedAction>;
  /** Detaches an address. Asynchronous. */
  unassign(ip: string): Promise<AcceptedAction>;
  /** State of an accepted action. */
  actionState(action: AcceptedAction): Promise<ActionState>;
  /** Buys one address: for a machine, or unattached in a region. Not idempotent. Returns the new address as answered. */
  create(place: { readonly machineID: string } | { readonly region: string }): Promise<Address>;
  /** Gives an unattached address back; resolves also when it is already gone (404). */
  delete(ip: string): Promise<void>;
}

/** What an adapter tells about its own calls. No effects. */
export interface ProviderMeter {
  /** Sorted by operation, then outcome; nothing with count 0. */
  calls(): readonly CallCount[];
  /** Sorted by operation. */
  durations(): readonly CallDuration[];
  rateLimit(): RateLimit;
}
