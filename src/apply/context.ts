import type { ObjectRef } from "../model/action.ts";
import type { Address } from "../model/address.ts";
import { ProviderError } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import type { Reason } from "../model/reason.ts";
import type { Pool, RecordSet } from "../model/resource.ts";
import type { Learned, Outcome } from "../model/run.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import type { DNSProvider, FirewallProvider, IPProvider, ProviderAccess } from "../ports/providers.ts";
import type { Clock, LockState } from "../ports/system.ts";
import { Confirmer, Turnstile } from "./confirmer.ts";
import { Journal, poolAccess, recordSetAccess, routedIPAccess } from "./journal.ts";

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
  readonly registry: ProviderRegistry;
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
interface Bounds {
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
    registry: observation.registry,
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

/** Until when each provider asked for no calls, by its name; monotonic milliseconds. */
export type Limits = Map<string, number>;

/**
 * The same provider, which also enters in `limits` until when it asked for no calls, whatever call was told so and whoever made it: such an answer concerns every later
 * run, even where the call itself did not matter.
 */
export function limitNoting(provider: IPProvider, limits: Limits, clock: Clock): IPProvider {
  const { name, pageSize } = provider;
  const noting = notingFor(name, limits, clock);
  return {
    name,
    pageSize,
    listPage: (page) => noting(provider.listPage(page)),
    getAddress: (ip) => noting(provider.getAddress(ip)),
    machineAddresses: (machineID) => noting(provider.machineAddresses(machineID)),
    addressLimit: () => noting(provider.addressLimit()),
    assign: (ip, machineID) => noting(provider.assign(ip, machineID)),
    unassign: (ip) => noting(provider.unassign(ip)),
    actionState: (action) => noting(provider.actionState(action)),
    create: (place) => noting(provider.create(place)),
    delete: (ip) => noting(provider.delete(ip)),
  };
}

/** As {@link limitNoting}, for a DNS provider. */
function limitNotingDNS(provider: DNSProvider, limits: Limits, clock: Clock): DNSProvider {
  const { name, ttlRules, isBatched } = provider;
  const noting = notingFor(name, limits, clock);
  return {
    name,
    ttlRules,
    isBatched,
    findZone: (zone) => noting(provider.findZone(zone)),
    readRecords: (zone, fqdn, isAwaited) => noting(provider.readRecords(zone, fqdn, isAwaited)),
    listRecords: (zone, mostCalls, isAwaited) => noting(provider.listRecords(zone, mostCalls, isAwaited)),
    writeRecords: (zone, fqdn, change) => noting(provider.writeRecords(zone, fqdn, change)),
  };
}

/** As {@link limitNoting}, for a provider of firewalls. */
function limitNotingFirewalls(provider: FirewallProvider, limits: Limits, clock: Clock): FirewallProvider {
  const { name, firewallLimits } = provider;
  const noting = notingFor(name, limits, clock);
  return {
    name,
    firewallLimits,
    listFirewalls: () => noting(provider.listFirewalls()),
    getFirewall: (id) => noting(provider.getFirewall(id)),
    machinesWithTag: (tag) => noting(provider.machinesWithTag(tag)),
    openPorts: (id, ports) => noting(provider.openPorts(id, ports)),
    closePorts: (id, ports) => noting(provider.closePorts(id, ports)),
    addMachines: (id, machineIDs) => noting(provider.addMachines(id, machineIDs)),
    removeMachines: (id, machineIDs) => noting(provider.removeMachines(id, machineIDs)),
  };
}

function notingFor(name: string, limits: Limits, clock: Clock): <T>(call: Promise<T>) => Promise<T> {
  return async (call) => {
    try {
      return await call;
    } catch (error) {
      if (error instanceof ProviderError && error.failure === "rate-limited" && error.notBeforeMs !== undefined) {
        const untilMs = clock.monotonicMs() + error.notBeforeMs - clock.wallMs();
        limits.set(name, Math.max(limits.get(name) ?? 0, untilMs));
      }
      throw error;
    }
  };
}

type WithoutAction<T> = T extends unknown ? Omit<T, "action" | "ms" | "endedAtMs"> : never;

/** An outcome before the action and its duration are added. */
export type Result = WithoutAction<Outcome>;

/** Done and seen. */
export function applied(
  facts: { readonly address?: Address; readonly learned?: readonly Learned[]; readonly acceptedAtMs?: number } = {},
): Result {
  return { outcome: "applied", ...facts };
}

/** Not done, and no error. */
export function skipped(
  reason: Reason,
  detail = "",
  learned: readonly Learned[] = [],
): Extract<Result, { readonly outcome: "skipped" }> {
  return { outcome: "skipped", reason, detail, learned };
}

/** Tried and refused; what was learned on the way is kept. */
export function failed(
  error: Error,
  facts: { readonly learned?: readonly Learned[]; readonly acceptedAtMs?: number } = {},
): Result {
  return { outcome: "failed", error, ...facts };
}

/** A reading of an address as something learned: undefined = the provider does not know it. */
export function learn(ip: string, address: Address | undefined): Learned {
  return { ip, fact: address === undefined ? { kind: "gone" } : { kind: "known", address } };
}
