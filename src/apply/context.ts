import type { ObjectRef } from "../model/action.ts";
import type { Observation } from "../model/observation.ts";
import type { Reason } from "../model/reason.ts";
import type { Pool, RecordSet } from "../model/resource.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import type { DNSProvider, FirewallProvider, IPProvider, ProviderAccess } from "../ports/providers.ts";
import type { Clock, LockState } from "../ports/system.ts";
import { Confirmer } from "./confirmer.ts";
import { Journal } from "./journal.ts";
import { limitNoting, limitNotingDNS, limitNotingFirewalls } from "./limit-noting.ts";
import { poolAccess, recordSetAccess, routedIPAccess } from "./object-access.ts";
import { Turnstile } from "./turnstile.ts";

/** What a mutating run may write to. */
export interface WriteAccess {
  readonly cluster: ClusterWriter;
  readonly providers: ReadonlyMap<string, ProviderAccess<IPProvider>>;
  readonly dnsProviders: ReadonlyMap<string, ProviderAccess<DNSProvider>>;
  readonly firewallProviders: ReadonlyMap<string, ProviderAccess<FirewallProvider>>;
  readonly clock: Clock;
  readonly lock: LockState;
}

/** The objects as the cluster holds them, by the kind of {@link ObjectRef}. */
export interface Journals {
  readonly pool: Journal<Pool>;
  readonly dns: Journal<RecordSet>;
  readonly routedip: Journal<Pool>;
}

/** The journal of an object that owns addresses: a pool's, or a RoutedIP's. */
export function ownerJournal({ kind }: ObjectRef, journals: Journals): Journal<Pool> {
  return kind === "routedip" ? journals.routedip : journals.pool;
}

/** What an operation works with. */
export interface ApplyContext {
  readonly cluster: ClusterWriter;
  readonly providers: ReadonlyMap<string, IPProvider>;
  /** By provider, until when it asked for no calls while this pass made them; monotonic milliseconds, which no leap of the local clock moves. */
  readonly limits: ReadonlyMap<string, number>;
  readonly dnsProviders: ReadonlyMap<string, DNSProvider>;
  readonly firewallProviders: ReadonlyMap<string, FirewallProvider>;
  /** By firewall id: lets changes of a firewall through one at a time, over all objects. Filled as they are needed. */
  readonly firewallTurns: Map<string, Turnstile>;
  readonly confirmers: ReadonlyMap<string, Confirmer>;
  readonly clock: Clock;
  readonly lock: LockState;
  /** By provider, when its addresses began to be read, by the cluster's clock, milliseconds. Filled as they arrive. */
  readonly readAtMs: Map<string, number>;
  /** Monotonic milliseconds after which nothing new is started. */
  readonly deadline: number;
  /** Aborted when the run is asked to end, or the lock is lost. */
  readonly signal: AbortSignal;
  /** Aborted when waits for the provider are to end: what it is at work on is then left in progress for the next pass. */
  readonly patience: AbortSignal;
  readonly journals: Journals;
  /** Lets acquisitions through one at a time, over all pools. */
  readonly acquisitions: Turnstile;
}

/** How a pass is bounded; `deadline` in monotonic milliseconds. */
export interface Bounds {
  readonly deadline: number;
  /** Aborted when nothing new may be started. */
  readonly signal: AbortSignal;
  /** Aborted when no wait for a provider is worth its time any more; absent = never. */
  readonly hurry?: AbortSignal | undefined;
}

/** The context of one pass over one observation. */
export function applyContext(
  access: WriteAccess,
  observation: Observation,
  { deadline, signal, hurry }: Bounds,
): ApplyContext {
  const { cluster, clock, lock } = access;
  const limits = new Map<string, number>();
  const usable = usableOf(access.providers).map(
    ([name, provider]) => [name, limitNoting(provider, limits, clock)] as const,
  );
  const usableDNS = usableOf(access.dnsProviders).map(
    ([name, dns]) => [name, limitNotingDNS(dns, limits, clock)] as const,
  );
  const usableFirewalls = usableOf(access.firewallProviders).map(
    ([name, firewalls]) => [name, limitNotingFirewalls(firewalls, limits, clock)] as const,
  );
  const ofKind = (kind: Pool["kind"]): readonly Pool[] => observation.pools.filter((pool) => pool.kind === kind);
  const stop = AbortSignal.any([signal, lock.lost]);
  const patience = hurry === undefined ? stop : AbortSignal.any([stop, hurry]);
  return {
    cluster,
    clock,
    lock,
    readAtMs: new Map(),
    deadline,
    signal: stop,
    patience,
    providers: new Map(usable),
    limits,
    dnsProviders: new Map(usableDNS),
    firewallProviders: new Map(usableFirewalls),
    firewallTurns: new Map(),
    confirmers: new Map(usable.map(([name, provider]) => [name, new Confirmer(provider, clock, deadline, patience)])),
    journals: {
      pool: new Journal(poolAccess(cluster), ofKind("pool"), () => lock.isHeld()),
      dns: new Journal(recordSetAccess(cluster), observation.recordSets, () => lock.isHeld()),
      routedip: new Journal(routedIPAccess(cluster, ofKind("routedip")), ofKind("routedip"), () => lock.isHeld()),
    },
    acquisitions: new Turnstile(),
  };
}

function usableOf<P>(access: ReadonlyMap<string, ProviderAccess<P>>): readonly (readonly [string, P])[] {
  return [...access].flatMap(([name, provider]) =>
    provider.kind === "usable" ? [[name, provider.provider] as const] : [],
  );
}

/** Why no mutation may start now; undefined when one may. Asked right before every single one. */
export function obstacle(context: ApplyContext): Reason | undefined {
  if (!context.lock.isHeld()) return "LockLost";
  if (context.signal.aborted || context.clock.monotonicMs() >= context.deadline) return "Deadline";
  return undefined;
}
