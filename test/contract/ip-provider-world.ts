import type { IPProvider } from "../../src/ports/providers.ts";

/** An account to test a provider against: empty, its limit 250, its actions taking more than 0 s and less than a minute. */
export interface IPProviderWorld {
  readonly provider: IPProvider;
  readonly seed: {
    /** Adds an active droplet without addresses of its own that matter here. */
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

/** Declares a test that gets a new world and disposes of it. */
export type InWorld = (title: string, body: (world: IPProviderWorld) => Promise<void>) => void;
