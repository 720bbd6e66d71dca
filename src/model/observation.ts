import type { AddressFact } from "./address.ts";
import type { DNSFacts } from "./dns.ts";
import type { Refusal } from "./errors.ts";
import type { FirewallFacts } from "./firewall.ts";
import type { GrantFacts } from "./grants.ts";
import type { NodeFacts } from "./node.ts";
import type { ProviderRegistry } from "./provider.ts";
import type { Pool, RecordSet } from "./resource.ts";
import type { Restraint } from "./restraint.ts";
import type { Suspension } from "./suspension.ts";

/** The pods of one selector on one node, summed up. */
export interface PodSummary {
  /** How many are Running, Ready and not terminating. */
  readonly ready: number;
  readonly notReady: number;
  /** When the last of them stopped being ready, as far as the pods themselves show; absent when one is ready or none shows it. */
  readonly unreadySinceMs?: number;
  /** Before when they do not count as ready, since they were ready and not ready again and again, milliseconds of the API server's clock; absent where they do not have to wait. */
  readonly restsUntilMs?: number;
  /** A pod or EndpointSlice that cannot be read and may serve, such as `pod shop/web-0`; not counted above. Absent if everything can be read. */
  readonly unreadable?: string;
}

/** The pods of one selector, or the endpoints of one Service. */
export type PodReading =
  /** Node name, or {@link NO_NODE} → pods. Nodes without such pods are absent. */
  | { readonly kind: "read"; readonly byNode: ReadonlyMap<string, PodSummary> }
  /**
   * The API server refuses this list and answers others. Nobody knows which nodes run such pods. `isForbidden` = flipop has no
   * permission for it; absent = the server does not take what it asks for.
   */
  | { readonly kind: "refused"; readonly error: string; readonly isForbidden?: true };

/** What could be read of one provider in this pass. */
export interface ProviderFacts {
  /** `digitalocean`. */
  readonly name: string;
  /** Absent = usable. Else nothing was or could be read, and nothing may be changed. */
  readonly unusable?: Refusal;
  /** Every address that was read, or failed to be read, by address. */
  readonly addresses: ReadonlyMap<string, AddressFact>;
  /** True when the account's whole list was read: an address that is not in it was asked for by itself. */
  readonly isComplete: boolean;
  /** When the reading began, milliseconds of the API server's clock. */
  readonly readAtMs: number;
  /** How many reserved addresses the account has; absent when the list was not read. */
  readonly addressCount?: number;
  /** How many the account may have; absent when unknown. */
  readonly addressLimit?: number;
  /** True while the provider has not answered how many that are: nothing is acquired before. */
  readonly isLimitAwaited?: true;
}

/** What earlier runs left on the Lease. */
export interface LeaseFacts {
  /** Times of acquisitions of IPv4 addresses within the last minute, ascending, milliseconds. */
  readonly acquisitionTimesMs: readonly number[];
  /** The same of IPv6 addresses; absent = none. */
  readonly acquisitionTimesIPv6Ms?: readonly number[];
  /** Provider name → no call before this time, milliseconds. */
  readonly providerNotBeforeMs: ReadonlyMap<string, number>;
  /** DNS provider → where the next look at its names begins, as {@link DNSFacts.lookFrom}. */
  readonly lookFrom: ReadonlyMap<string, string>;
  /** What lets all objects stand still; absent = nothing. It may be over. */
  readonly suspension?: Suspension;
}

/** What is known of all providers, as a pass may reuse it from the one before. */
export type KnownFacts = Pick<Observation, "providers" | "dns" | "firewalls">;

/** Everything one pass knows, read before anything is decided. */
export interface Observation {
  /** The API server's clock, milliseconds. */
  readonly observedAtMs: number;
  /** The same clock when the nodes had been listed, milliseconds: whether one of them has been unready for too long is known as of then, however long the providers took to answer. */
  readonly nodesReadAtMs: number;
  /** URL of the API server. */
  readonly cluster: string;
  /** FloatingIPPools, then RoutedIPs as pools of one address. */
  readonly pools: readonly Pool[];
  readonly recordSets: readonly RecordSet[];
  /** Kinds of ours that the cluster does not know, and so has none of, with the error that says it. */
  readonly missingKinds: readonly { readonly resource: string; readonly error: string }[];
  readonly nodes: readonly NodeFacts[];
  /** By {@link podSelectorKey} or {@link endpointsKey}, for every object whose selectors can be read. */
  readonly pods: ReadonlyMap<string, PodReading>;
  /** What each provider can do. */
  readonly registry: ProviderRegistry;
  /** By provider name; a provider that some object names and that is unknown to flipop is absent. */
  readonly providers: ReadonlyMap<string, ProviderFacts>;
  /** By provider name; a DNS provider that no object names is absent. */
  readonly dns: ReadonlyMap<string, DNSFacts>;
  /** By provider name; absent where no object names a firewall of it. */
  readonly firewalls: ReadonlyMap<string, FirewallFacts>;
  readonly lease: LeaseFacts;
  /** How much the run may take from anybody. Absent = it is not restrained. */
  readonly restraint?: Restraint;
  /** What namespaces may ask of the account. Absent = nothing is asked for it. */
  readonly grants?: GrantFacts;
  /**
   * By {@link refKey}: when the wait of an object ends, milliseconds of the API server's clock. A record set waits with its records while its addresses change.
   * A pool or RoutedIP that was just deleted waits with what it left on nodes. Absent = none.
   */
  readonly settling?: ReadonlyMap<string, number>;
}
