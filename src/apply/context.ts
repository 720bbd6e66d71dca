import type { Action, ChangeMachines, ChangePorts } from "../model/action.ts";
import type { Address } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import { InternalError, KubeError, ProviderError } from "../model/errors.ts";
import type { FirewallFacts } from "../model/firewall.ts";
import type { Observation, ProviderFacts } from "../model/observation.ts";
import type { Learned, Outcome } from "../model/outcome.ts";
import type { Progress } from "../model/progress.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import type { Reason } from "../model/reason.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import type { DNSProvider, FirewallProvider, IPProvider, ProviderAccess } from "../ports/providers.ts";
import { type Clock, type LockState, untilAfter } from "../ports/system.ts";
import { BusyTries } from "./busy-tries.ts";
import { Confirmer, MachineTurns, Mutex } from "./confirmer.ts";
import { provenFirewalls, provenProvider } from "./proven-provider.ts";
import { ResourceStores } from "./resource-store.ts";

/** What a mutating run may write to. */
export interface WriteAccess {
  readonly cluster: ClusterWriter;
  readonly providers: ReadonlyMap<string, ProviderAccess<IPProvider>>;
  readonly dnsProviders: ReadonlyMap<string, ProviderAccess<DNSProvider>>;
  readonly firewallProviders: ReadonlyMap<string, ProviderAccess<FirewallProvider>>;
  readonly clock: Clock;
  readonly lock: LockState;
  /** Is told what is under way. Absent = nobody asks. */
  readonly progress?: Progress | undefined;
  /** Where the providers enter until when they asked for no calls. Absent for a process that makes one pass. */
  readonly limits?: Limits | undefined;
}

/** What an operation works with. */
export interface ApplyContext {
  readonly cluster: ClusterWriter;
  readonly registry: ProviderRegistry;
  readonly providers: ReadonlyMap<string, IPProvider>;
  readonly dnsProviders: ReadonlyMap<string, DNSProvider>;
  readonly firewallProviders: ReadonlyMap<string, FirewallProvider>;
  /** By firewall id: lets changes of a firewall through one at a time, over all objects. Filled as they are needed. */
  readonly firewallMutexes: Map<string, Mutex>;
  readonly confirmers: ReadonlyMap<string, Confirmer>;
  readonly machineTurns: MachineTurns;
  readonly busyTries: BusyTries;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly lock: LockState;
  /** By provider, when its addresses began to be read, by the cluster's clock, milliseconds. Filled as they arrive. */
  readonly readAtMs: Map<string, number>;
  /** Monotonic milliseconds after which nothing new is started. */
  readonly deadlineMs: number;
  /** Aborted when the run is asked to end, or the lock is lost. */
  readonly signal: AbortSignal;
  /** Aborted when waits for the provider are to end: what it is at work on is then left in progress for the next pass. */
  readonly stopWaiting: AbortSignal;
  readonly stores: ResourceStores;
  /** Returns what the pass knows at the moment of the addresses of a source. */
  readonly addressesOf: (source: string) => ProviderFacts["addresses"];
  /** By source of addresses: lets acquisitions there through one at a time, over all pools. Filled as they are needed. */
  readonly acquisitionMutexes: Map<string, Mutex>;
  readonly progress: Progress | undefined;
  /** Is told that the provider has refused for a while what the action asks for, since it is busy. Absent = nobody asks. */
  readonly onBusy?: () => void;
}

/** How a pass is bounded; `deadlineMs` in monotonic milliseconds. */
interface Bounds {
  readonly deadlineMs: number;
  /** Aborted when nothing new may be started. */
  readonly signal: AbortSignal;
  /** Aborted when no wait for a provider is worth its time any more; absent = never. */
  readonly hurry?: AbortSignal | undefined;
  /** See {@link ApplyContext.addressesOf}; absent = nothing is known beside the actions. */
  readonly addressesOf?: ApplyContext["addressesOf"];
  /** Returns what the pass knows at the moment of the firewalls of a provider; absent as of {@link addressesOf}. */
  readonly firewallsOf?: (provider: string) => FirewallFacts["firewalls"];
  /** What earlier passes know of a busy provider; absent = there were none. */
  readonly busyTries?: BusyTries | undefined;
}

/** Returns the context of one pass over the objects as they are stored. */
export function applyContext(
  access: WriteAccess,
  stored: Pick<Observation, "pools" | "recordSets" | "registry">,
  {
    deadlineMs,
    signal,
    hurry,
    addressesOf = () => new Map(),
    firewallsOf = () => new Map(),
    busyTries = new BusyTries(),
  }: Bounds,
): ApplyContext {
  const { cluster, clock, lock, progress, limits = new Map() } = access;
  const usable = <P>(all: ReadonlyMap<string, ProviderAccess<P>>): Map<string, P> =>
    new Map([...all].flatMap(([name, one]) => (one.kind === "usable" ? [[name, one.provider] as const] : [])));
  const providers = new Map(
    [...usable(access.providers)].map(([name, one]) => [name, provenProvider(one, (ip) => addressesOf(name).get(ip))]),
  );
  const stop = AbortSignal.any([signal, lock.lost]);
  const stopWaiting = hurry === undefined ? stop : AbortSignal.any([stop, hurry]);
  return {
    cluster,
    registry: stored.registry,
    clock,
    lock,
    readAtMs: new Map(),
    deadlineMs,
    signal: stop,
    stopWaiting,
    providers,
    dnsProviders: usable(access.dnsProviders),
    firewallProviders: new Map(
      [...usable(access.firewallProviders)].map(([name, one]) => [
        name,
        provenFirewalls(one, { machines: providers.get(name), facts: () => firewallsOf(name).values() }),
      ]),
    ),
    firewallMutexes: new Map(),
    confirmers: new Map(
      [...providers].map(([name, one]) => [name, new Confirmer(one, clock, deadlineMs, stopWaiting)] as const),
    ),
    machineTurns: new MachineTurns(clock, stopWaiting),
    busyTries,
    limits,
    stores: new ResourceStores(cluster, stored, () => lock.isHeld()),
    addressesOf,
    acquisitionMutexes: new Map(),
    progress,
  };
}

/** So long a run that is asked to end still waits for an answer of the cluster, milliseconds: another process may be waiting for the Lease. */
export const ENDING_MS = 3000;

/**
 * Returns the answer to a write of the cluster. A run that is asked to end gives it up after {@link ENDING_MS}; it may still take effect.
 * @throws KubeError `timeout` when it was given up; else what the write throws.
 */
export async function answered<T>(
  write: Promise<T>,
  what: Pick<KubeError, "operation" | "subject">,
  { clock, signal }: Ending,
): Promise<T> {
  const answer = await untilAfter(clock, ENDING_MS, write, signal);
  if (answer !== "late") return answer;
  const message = `Could not ${what.operation} ${what.subject}: the run had to end before the API server answered.`;
  throw new KubeError({ failure: "timeout", status: 0, message, ...what });
}

/** What tells when a run is asked to end. */
export type Ending = Pick<ApplyContext, "clock" | "signal">;

/** Returns the result of work that only prepares a change; `late` as soon as the run is asked to end, since nothing has begun then. Rejects as the work does. */
export function beforeEnd<T>(work: Promise<T>, { clock, signal }: Ending): Promise<T | "late"> {
  return untilAfter(clock, 0, work, signal);
}

/** What there was no time, or no lock, left to begin: a run that did nothing for such a reason has not done well. */
export function notBegun(actions: readonly Action[], reason: Reason, endedAtMs: number): readonly Outcome[] {
  return actions.map((action) => ({ action, ms: 0, endedAtMs, ...skipped(reason) }));
}

/** Why no mutation may start now; undefined when one may. Asked right before every single one. */
export function obstacle(context: ApplyContext): Reason | undefined {
  if (!context.lock.isHeld()) return "LockLost";
  if (context.signal.aborted || context.clock.monotonicMs() >= context.deadlineMs) return "Deadline";
  return undefined;
}

/** True where nothing keeps a run from going on but that its time is over. */
export function isTimeOver({ lock, signal, clock, deadlineMs }: ApplyContext): boolean {
  return lock.isHeld() && !signal.aborted && clock.monotonicMs() >= deadlineMs;
}

/** By provider name: when this process may call it again. Milliseconds of the API server's clock: setting the local clock changes nothing. */
export type Limits = Map<string, number>;

/** What a run calls its providers by, and the two clocks. */
type Callers = Pick<WriteAccess, "providers" | "dnsProviders" | "firewallProviders" | "clock"> & {
  readonly cluster: Pick<ClusterWriter, "now">;
};

/**
 * Returns the same providers. When one asks for no calls, `limits` gets the time when it may be called again. That is so even if nobody waits for its answer any more:
 * later runs have to know.
 */
export function notingLimits(
  { providers, dnsProviders, firewallProviders, cluster, clock }: Callers,
  limits: Limits,
): Pick<Callers, "providers" | "dnsProviders" | "firewallProviders"> {
  const enter = (name: string, notBeforeMs: number): void => {
    const untilMs = cluster.now() + notBeforeMs - clock.wallMs();
    const { provider } = sourceNamed(name);
    // The server's clock is known to the second only: told the same again, it stays the same.
    if (untilMs > (limits.get(provider) ?? 0) + SERVER_CLOCK_MS) limits.set(provider, untilMs);
  };
  const noting = <P extends { readonly name: string }>(
    all: ReadonlyMap<string, ProviderAccess<P>>,
  ): ReadonlyMap<string, ProviderAccess<P>> =>
    new Map(
      [...all].map(([name, one]) => [
        name,
        one.kind === "usable" ? { ...one, provider: limitNoting(one.provider, enter) } : one,
      ]),
    );
  return {
    providers: noting(providers),
    dnsProviders: noting(dnsProviders),
    firewallProviders: noting(firewallProviders),
  };
}

/** How exactly the API server's clock is known, milliseconds. */
const SERVER_CLOCK_MS = 1000;

/** Returns the same provider. When it asks for no calls, `enter` gets its name, and when it may be called again: milliseconds of the local clock. */
function limitNoting<P extends { readonly name: string }>(
  provider: P,
  enter: (name: string, notBeforeMs: number) => void,
): P {
  return new Proxy(provider, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== "function") return member;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        try {
          return await Reflect.apply(member, target, args);
        } catch (error) {
          if (error instanceof ProviderError && error.failure === "rate-limited" && error.notBeforeMs !== undefined)
            enter(provider.name, error.notBeforeMs);
          throw error;
        }
      };
    },
  });
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

/** Says that an address could not be read: it is left alone until it can, even after a refusal. */
export function unread(ip: string, error: string): Learned {
  return { ip, fact: { kind: "gap", error } };
}

/** Reads an address before it is changed. Where it cannot be read, what the pass knew of it says nothing of how it is now. */
export async function lookAt(
  ip: string,
  provider: Pick<IPProvider, "getAddress">,
): Promise<{ readonly address: Address | undefined } | { readonly failure: Result }> {
  try {
    return { address: await provider.getAddress(ip) };
  } catch (error) {
    if (error instanceof ProviderError) return { failure: failed(error, { learned: [unread(ip, error.message)] }) };
    throw error;
  }
}

/** Says that one reading did not find an address. That is no proof. It counts as gone once the account's list, which the next pass reads, lacks it, too. */
export function notFound(ip: string): Learned {
  return unread(ip, `${ip} was not found when it was read by itself`);
}

/** Returns the provider of a firewall action, and the firewall's mutex. @throws InternalError when the plan names one that is not usable. */
export function firewallToolsOf(
  { provider: name, firewall }: ChangePorts | ChangeMachines,
  context: ApplyContext,
): { readonly provider: FirewallProvider; readonly mutex: Mutex } {
  const provider = context.firewallProviders.get(name);
  if (provider === undefined) throw new InternalError(`The plan uses firewalls of "${name}", which is not available.`);
  return { provider, mutex: mutexOf(firewall.id, context.firewallMutexes) };
}

/** Returns what lets acquisitions of a source of addresses through one at a time. */
export function acquisitionMutex(name: string, { acquisitionMutexes }: ApplyContext): Mutex {
  return mutexOf(name, acquisitionMutexes);
}

function mutexOf(key: string, all: Map<string, Mutex>): Mutex {
  const mutex = all.get(key) ?? new Mutex();
  all.set(key, mutex);
  return mutex;
}

/** Returns the provider of an action and what confirms its changes. @throws InternalError when the plan names one that is not usable. */
export function toolsOf(
  name: string,
  context: ApplyContext,
): { readonly provider: IPProvider; readonly confirmer: Confirmer } {
  const provider = context.providers.get(name);
  const confirmer = context.confirmers.get(name);
  if (provider === undefined || confirmer === undefined)
    throw new InternalError(`The plan uses provider "${name}", which is not available.`);
  return { provider, confirmer };
}
