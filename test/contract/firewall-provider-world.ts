import type { FirewallProvider } from "../../src/ports/providers.ts";

/** A firewall as it is made behind everybody's back. */
export interface SeededFirewall {
  readonly name: string;
  readonly rules?: readonly {
    readonly protocol: "tcp" | "udp" | "icmp";
    readonly ports: string;
    readonly sources: Readonly<Record<string, readonly string[]>>;
  }[];
  readonly outboundRules?: number;
  readonly machineIDs?: readonly string[];
  readonly tags?: readonly string[];
  /** The last change was given up. */
  readonly hasFailed?: boolean;
}

/** An account without firewalls to test a provider against; changes take more than 0 s and less than a minute to reach the machines. */
export interface FirewallProviderWorld {
  readonly provider: FirewallProvider;
  readonly seed: {
    machine(id: string, tags?: readonly string[]): void;
    /** Returns its id. */
    firewall(firewall: SeededFirewall): string;
    removal(id: string): void;
    /** Lets time pass for the provider's changes; a minute ends every one that was accepted. */
    advance(ms: number): void | Promise<void>;
    /** How many calls the account allows in a minute from now on. */
    callsPerMinute(count: number): void;
    /** What the token may do from now on. */
    scopes(scopes: readonly string[]): void;
  };
  /** Makes the next writing call fail without an answer, after it took effect or without effect. */
  failWrite(fault: { readonly hasEffect: boolean }): void;
  /** How many calls the account has received, whatever came of them. */
  calls(): number;
  dispose(): void | Promise<void>;
}

/** Declares a test that gets a new world and disposes of it. */
export type InFirewallWorld = (title: string, body: (world: FirewallProviderWorld) => Promise<void>) => void;

/** A firewall that the provider must know. @throws Error when it does not */
export async function knownFirewall(
  provider: FirewallProvider,
  id: string,
): Promise<NonNullable<Awaited<ReturnType<FirewallProvider["getFirewall"]>>>> {
  const firewall = await provider.getFirewall(id);
  if (firewall === undefined) throw new Error(`the provider does not know the firewall ${id}`);
  return firewall;
}
