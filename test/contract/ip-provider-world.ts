import type { IPFamily } from "../../src/model/address-source.ts";
import type { IPProvider } from "../../src/ports/providers.ts";

/** What providers differ in, as far as a contract can tell. */
export interface ProviderDifferences {
  /** The family of its addresses. */
  readonly family: IPFamily;
  /** True if it has IPv6 networks in the place of addresses. */
  readonly isNetwork: boolean;
  /** True if an address can be bought for a machine. Else it is bought for a region only. */
  readonly buysForMachine: boolean;
  /** True if an address says that the provider works on it. Else only a refusal does. */
  readonly showsLocks: boolean;
  /** True if an address that this process has a change under way of counts as one that the provider works on. */
  readonly locksOwnChanges: boolean;
  /** True if addresses of the user's own prefixes exist. */
  readonly hasPrefixes: boolean;
  /** True if the limit of addresses can be read. */
  readonly tellsLimit: boolean;
  /** True if the refusal of a purchase says that the limit is reached. */
  readonly namesLimit: boolean;
  /** True if a machine has room for one address, in its own region. */
  readonly isBound: boolean;
  /** True if deleting an assigned address takes it off its machine, and keeps it. Else it is refused. */
  readonly deletingReleases: boolean;
  /** True if an address shows where it goes before it has come there. */
  readonly showsTargetEarly: boolean;
}

/** An account to test a provider against: empty, its limit 250, its actions taking more than 0 s and less than a minute. */
export interface IPProviderWorld {
  readonly provider: IPProvider;
  readonly differs: ProviderDifferences;
  readonly seed: {
    /** Adds an active machine without addresses of its own that matter here. */
    droplet(id: string, region: string): void | Promise<void>;
    /** Adds an address, `locked` by an action that does not end within the test. BYOIP ones may be missing from the list. */
    address(
      ip: string,
      facts: {
        readonly region: string;
        readonly droplet?: string;
        readonly locked?: boolean;
        readonly byoip?: boolean;
      },
    ): void | Promise<void>;
    /** Sets how many reserved addresses the account may have. */
    limit(count: number): void | Promise<void>;
    /** Lets time pass for the provider's actions; a minute ends every one that was accepted. */
    advance(ms: number): void | Promise<void>;
  };
  dispose(): void | Promise<void>;
}

/** Which providers a test says something about: those with a difference, or those of which something holds. */
export type Only = Exclude<keyof ProviderDifferences, "family"> | ((differs: ProviderDifferences) => boolean);

/** Declares a test that gets a new world and disposes of it. `only` = it says nothing about other providers. */
export type InWorld = (title: string, body: (world: IPProviderWorld) => Promise<void>, only?: Only) => void;
