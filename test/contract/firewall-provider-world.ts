import type { Firewall } from "../../src/model/firewall.ts";
import type { FirewallProvider } from "../../src/ports/providers.ts";

/** What providers differ in, as far as a contract can tell. */
export interface FirewallDifferences {
  /** The id of a firewall that nobody has. */
  readonly unknownID: string;
  /** How many items a page of a list has. */
  readonly pageSize: number;
  /** True if rights are given one by one. Else a token may read, or do everything. */
  readonly hasScopes: boolean;
  /** What to do about a token that may not write. */
  readonly writeAdvice: string;
  /** True if several firewalls can have one name. */
  readonly sharesNames: boolean;
  /** True if only so many machines can be attached one by one. */
  readonly limitsMachines: boolean;
  /** True if a firewall is read before it is changed, since it is written as a whole, and if machines say what is in force. */
  readonly readsFirst: boolean;
}

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
  readonly differs: FirewallDifferences;
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
  /** How many of them were to change something. */
  writes(): number;
  dispose(): void | Promise<void>;
}

/** Declares a test that gets a new world and disposes of it. `only` = it says nothing about providers without this difference. */
export type InFirewallWorld = (
  title: string,
  body: (world: FirewallProviderWorld) => Promise<void>,
  only?: keyof FirewallDifferences,
) => void;

/** A firewall that the provider must know. @throws Error when it does not */
export async function knownFirewall(
  provider: FirewallProvider,
  id: string,
): Promise<NonNullable<Awaited<ReturnType<FirewallProvider["getFirewall"]>>>> {
  const firewall = await provider.getFirewall(id);
  if (firewall === undefined) throw new Error(`the provider does not know the firewall ${id}`);
  return firewall;
}

/** A firewall without what only some providers show of it. */
export function plainly({ othersAt: _others, limitsOutgoing: _outgoing, ...firewall }: Firewall): Firewall {
  return firewall;
}
