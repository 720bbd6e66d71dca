import { isDeepStrictEqual } from "node:util";
import { type AcquisitionNote, EMPTY_NOTE, withoutProvider, withPlanned } from "../model/acquisition-memory.ts";
import {
  type AcquireIP,
  type Action,
  type AssignIP,
  isAssign,
  type ObjectRef,
  refKey,
  type WriteDNS,
} from "../model/action.ts";
import { changesName } from "../model/action-kinds.ts";
import type { Address, DrainMemory, PendingAcquisition } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import { claimsReady } from "../model/deletion.ts";
import { addressesWithout } from "../model/dns.ts";
import { ConfigError, KubeError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { memoryOf as memoryOfNames, setNamed, withMemory } from "../model/record-types.ts";
import { objectKey, type Pool, type PoolStatus, type RecordSetStatus, type RoutedIPStatus } from "../model/resource.ts";
import { timestamp } from "../model/time.ts";
import { attemptedName, isVitalName, recordedNames, withNames } from "../plan/names/plan-dns.ts";
import { statusOf, storedDrain, storedDrainSeconds } from "../plan/pool-view.ts";
import { onItsWay, withDrains, withSent } from "../plan/status/stored-status.ts";
import { type ApplyContext, answered } from "./context.ts";
import { ignoreKubeError, isAmbiguousWrite } from "./resource-store.ts";

/*
 * What the next run must know if this run dies, and when it is written into status. Every write goes through the ResourceStore.
 *
 *   status must have …                                          before …                        if that write fails
 *   found addresses, pending acquisitions, ports and machines
 *     that are added to firewalls (vital)                       any change at a provider        the change fails
 *   the DNS name and the addresses to be published              any change at a provider        `Delete`, or foreign records stay: the write of the name fails;
 *                                                                                               else, and for any other change: ignored
 *   the machine an address is sent to; the issuer's policy;
 *     until when an address stays that leaves its names;
 *     that an object which is being deleted is not ready        any change at a provider        ignored: it stops no failover
 *   the time of an assignment, with a cool-off                  the assignment                  the assignment fails
 *   the acquisition, with the account's addresses before it     the purchase                    nothing is bought
 *   the address that was acquired                               the acquisition counts as done  the acquisition stays pending
 *   what a DNS change whose records are unreadable may add      the next round                  ignored
 *
 * The first three rows are one write per object, before its first change. An assignment that takes an address from a machine that status knows
 * waits only for what is vital: the write is under way before the provider is asked, and a slow API server delays no failover.
 */

/** The first write of an object, while it is under way. Nobody has to wait for it. */
export interface Preparation {
  /** Resolves when all of it is stored, or what is missing may be. @throws KubeError, ConfigError when a vital part cannot be stored */
  readonly whole: Promise<unknown>;
  /** Resolves when every vital part is stored. @throws as `whole` does */
  readonly vital: Promise<unknown>;
  /** As `whole`, for a write of a name: what it publishes may have to be on record, too. */
  readonly named: Promise<unknown>;
  /** As `whole`, for a purchase: what a definition drops may not be missing then. @throws ConfigError when anything was dropped, too */
  readonly kept: Promise<unknown>;
}

/** The preparation of an object that needs nothing in its status. */
export const UNPREPARED: Preparation = {
  whole: Promise.resolve(),
  vital: Promise.resolve(),
  named: Promise.resolve(),
  kept: Promise.resolve(),
};

/**
 * Returns what starts the first write of an object, once: when its first action asks for it, and only if the stored status lacks something. The stored statuses are
 * still those that the plan was made on when this is called.
 */
export function preparations(
  plan: Plan,
  actions: readonly Action[],
  context: ApplyContext,
): (object: ObjectRef) => Preparation {
  const alone = new Map<string, Preparation>();
  const started = new Map<string, Preparation>();
  const seen = new Map(
    plan.pools.flatMap(({ object }) => {
      const pool = context.stores.ownersOf(object).get(object);
      return pool === undefined ? [] : [[refKey(object), pool.status] as const];
    }),
  );
  const byObject = Map.groupBy(actions, ({ object }) => refKey(object));
  const ownActions = (object: ObjectRef): readonly Action[] => byObject.get(refKey(object)) ?? [];
  const prepareAlone = (object: ObjectRef): Preparation =>
    object.kind === "dns"
      ? prepareSet(plan, object, ownActions(object), context)
      : preparePool(plan, object, { actions: ownActions(object), seen: seen.get(refKey(object)) }, context);
  const once = (known: Map<string, Preparation>, object: ObjectRef, start: () => Preparation): Preparation => {
    const work = known.get(refKey(object)) ?? start();
    known.set(refKey(object), work);
    return work;
  };
  return (object) =>
    once(started, object, () => {
      const others = losers(plan, leavingNames(ownActions(object)), context).filter(
        (pool) => refKey(pool) !== refKey(object),
      );
      const all = [object, ...others].map((one) => once(alone, one, () => prepareAlone(one)));
      return together(all[0] ?? UNPREPARED, all.slice(1));
    });
}

/** The addresses that these actions take out of names. */
function leavingNames(actions: readonly Action[]): ReadonlySet<string> {
  return new Set(
    actions.flatMap((action) =>
      changesName(action) ? addressesWithout(action.before.addresses, action.after.addresses) : [],
    ),
  );
}

/** The pools of which these addresses are about to leave a name, to stay where they are until no resolver has them. */
function losers({ pools }: Plan, leaving: ReadonlySet<string>, { stores }: ApplyContext): readonly ObjectRef[] {
  if (leaving.size === 0) return [];
  return pools.flatMap((pool) => {
    const stored = stores.ownersOf(pool.object).get(pool.object);
    const drains = stored === undefined ? [] : [...newDrains(pool.status, stored).keys()];
    return drains.some((ip) => leaving.has(ip)) ? [pool.object] : [];
  });
}

function together(own: Preparation, others: readonly Preparation[]): Preparation {
  if (others.length === 0) return own;
  const all = (part: keyof Preparation): Promise<unknown> =>
    Promise.all([own[part], ...others.map((other) => other[part].catch(ignoreKubeError))]);
  const both = { whole: all("whole"), vital: all("vital"), named: all("named"), kept: all("kept") };
  for (const work of Object.values(both)) work.catch(() => undefined);
  return both;
}

/** An acquisition under way stores its answer itself: a plan that was made before changes nothing of it. */
function preparePool(
  { pools }: Plan,
  object: ObjectRef,
  facts: {
    readonly actions: readonly Action[];
    readonly seen: RoutedIPStatus | undefined;
  },
  { stores, registry, cluster }: ApplyContext,
): Preparation {
  const { actions, seen } = facts;
  const store = stores.ownersOf(object);
  const planned = pools.find((pool) => refKey(pool.object) === refKey(object));
  const stored = store.get(object);
  if (planned === undefined || stored === undefined || seen === undefined) return UNPREPARED;
  const { status } = planned;
  const { firewalls } = status;
  const isVital = !isDeepStrictEqual(memoryOf(status), memoryOf(withNoted(seen, status, stored.meta.note)));
  const sent = sentAddresses(actions, stored, registry);
  const names = recordedNames(actions, status, stored, cluster.now());
  const drains = newDrains(status, stored);
  const work = store.updateStatus(object, ({ firewalls: _former, ...current }) => ({
    ...withNames(current, names),
    ...withPlanned(current, seen, status),
    ...(firewalls === undefined ? {} : { firewalls }),
    ...(status.issuer === undefined ? {} : { issuer: status.issuer }),
    ...(claimsReady(stored) ? { conditions: status.conditions } : {}),
    ...withSent(withDrains(current, drains), sent),
  }));
  return preparation(work, { isVital, isNameVital: isVitalName(names, stored, actions) });
}

function prepareSet(
  { recordSets }: Plan,
  object: ObjectRef,
  actions: readonly Action[],
  { stores, cluster }: ApplyContext,
): Preparation {
  const status = recordSets.find((recordSet) => objectKey(recordSet.object) === objectKey(object))?.status;
  const stored = stores.dns.get(object);
  if (status === undefined || stored === undefined) return UNPREPARED;
  const names = recordedNames(actions, status, stored, cluster.now());
  const going = claimsReady(stored) ? { conditions: status.conditions } : {};
  const work = stores.dns.updateStatus(object, (current) => ({ ...withNames(current, names), ...going }));
  return preparation(work, { isVital: false, isNameVital: isVitalName(names, stored, actions) });
}

function preparation(
  work: Promise<unknown>,
  { isVital, isNameVital }: { readonly isVital: boolean; readonly isNameVital: boolean },
): Preparation {
  const whole = isVital ? work : work.catch(ignoreUnwritten);
  const named = isNameVital ? work : whole;
  const kept = isVital ? work : work.catch(ignoreKubeError);
  for (const one of [whole, named, kept]) one.catch(() => undefined);
  return { whole, vital: isVital ? whole : Promise.resolve(), named, kept };
}

/** What would be lost for good: what was bought, and what was added to firewalls. The provider of what was bought is left out: no change waits until it is on record. */
function memoryOf({
  firewalls,
  ...acquisitions
}: RoutedIPStatus): Pick<RoutedIPStatus, "acquired" | "pendingAcquisitions" | "firewalls"> {
  return { ...withoutProvider(acquisitions), ...(firewalls === undefined ? {} : { firewalls }) };
}

/** What status had, with what only the annotation still has of the acquired addresses: there they are on record, whatever becomes of status. */
function withNoted(
  seen: RoutedIPStatus,
  { acquired }: RoutedIPStatus,
  note: AcquisitionNote = EMPTY_NOTE,
): RoutedIPStatus {
  const isSeen = (ip: string): boolean => seen.acquired.some((one) => one.ip === ip);
  const noted = acquired.filter(({ ip }) => note.ips.includes(ip) && !isSeen(ip));
  return noted.length === 0 ? seen : { ...seen, acquired: [...seen.acquired, ...noted] };
}

/**
 * Returns how addresses drain that are about to leave their names, by address. One whose time is on record is left out: the next run sees in the names when it has left. If it were
 * written again, runs that all die early would write nothing else, and the address would never leave.
 */
function newDrains({ ips, released }: PoolStatus, stored: Pool): ReadonlyMap<string, DrainMemory> {
  const isOnRecord = (ip: string, { drainingUntil, drainsForSeconds }: DrainMemory): boolean =>
    drainsForSeconds === storedDrainSeconds(stored, ip) &&
    (drainsForSeconds !== undefined || drainingUntil === storedDrain(stored, ip));
  const all = [...Object.entries(ips), ...released.map((entry) => [entry.ip, entry] as const)];
  return new Map(
    all.flatMap(([ip, entry]) =>
      entry.drainingUntil === undefined || isOnRecord(ip, entry) ? [] : [[ip, drainOfEntry(entry)]],
    ),
  );
}

function drainOfEntry({ drainingUntil, drainsForSeconds }: DrainMemory): DrainMemory {
  return {
    ...(drainingUntil === undefined ? {} : { drainingUntil }),
    ...(drainsForSeconds === undefined ? {} : { drainsForSeconds }),
  };
}

/** The pool's addresses that are about to be sent somewhere, unless status knows that machine already. */
function sentAddresses(actions: readonly Action[], pool: Pool, registry: ProviderRegistry): PoolStatus["ips"] {
  return Object.fromEntries(
    actions.flatMap((action) => {
      if (!isAssign(action)) return [];
      const entry = onItsWay(action, registry);
      return statusOf(pool, action.ip)?.providerID === entry.providerID ? [] : [[action.ip, entry] as const];
    }),
  );
}

/**
 * Stores the time of an assignment, if the pool has a cool-off. A run that dies before the call leaves the next one waiting rather than early.
 *
 * @returns what takes the time back when the provider did not accept
 */
export async function recordAssignmentTime(
  { object }: AssignIP,
  { stores, cluster }: ApplyContext,
): Promise<() => Promise<unknown>> {
  const store = stores.ownersOf(object);
  const before = store.get(object);
  if (before === undefined || before.spec.assignmentCoolOffSeconds <= 0) return () => Promise.resolve();
  await store.updateStatus(object, (status) => ({ ...status, lastAssignmentTime: timestamp(cluster.now()) }));
  return () => store.updateStatus(object, (status) => withAssignmentTime(status, before.status));
}

function withAssignmentTime(
  { lastAssignmentTime: _withdrawn, ...status }: PoolStatus,
  { lastAssignmentTime }: Pick<PoolStatus, "lastAssignmentTime">,
): PoolStatus {
  return lastAssignmentTime === undefined ? status : { ...status, lastAssignmentTime };
}

/**
 * One acquisition on record: pending before the purchase, then an address, or gone. With a target node it is an assignment, too, and starts a cool-off.
 * While nobody knows the answer it stays pending, for a later pass to resolve from the account's list.
 */
export class AcquisitionRecord {
  readonly #pending: PendingAcquisition;
  readonly #object: ObjectRef;
  readonly #before: Pool;
  readonly #context: ApplyContext;

  /**
   * @param before - the pool as it is stored now
   * @param knownIPs - every address of the account, sorted
   */
  constructor(action: AcquireIP, before: Pool, knownIPs: readonly string[], context: ApplyContext) {
    const { provider } = sourceNamed(action.provider);
    const common = { startedAt: timestamp(context.cluster.now()), provider, knownIPs };
    this.#object = action.object;
    this.#before = before;
    this.#context = context;
    this.#pending =
      "node" in action.after
        ? {
            ...common,
            providerID: context.registry.providerID(action.provider, action.after.node.machineID),
            nodeName: action.after.node.nodeName,
          }
        : { ...common, region: action.after.region };
  }

  /**
   * Stores that the purchase is about to be sent. If the API server refuses, the acquisition is taken back. If the write may have taken effect, it stays:
   * only a refusal shows that the annotation does not have it.
   *
   * @throws KubeError, ConfigError when it cannot be stored: then nothing may be bought
   */
  async begin(): Promise<void> {
    const startsCoolOff = this.#before.spec.assignmentCoolOffSeconds > 0 && this.#pending.providerID !== undefined;
    const time = startsCoolOff ? { lastAssignmentTime: this.#pending.startedAt } : {};
    try {
      const write = this.#update((status) => {
        return { ...status, ...time, pendingAcquisitions: [...status.pendingAcquisitions, this.#pending] };
      });
      await answered(write, { operation: "record a purchase of", subject: refKey(this.#object) }, this.#context);
    } catch (error) {
      if (error instanceof KubeError && !isAmbiguousWrite(error)) await this.withdraw();
      throw error;
    }
  }

  /** Stores that nothing was bought. The time of the last assignment is what it was, unless another assignment set it meanwhile. */
  async withdraw(): Promise<void> {
    const { startedAt, providerID } = this.#pending;
    await this.#update((status) => {
      const rest = this.#withoutPending(status);
      const isOwnTime = status.lastAssignmentTime === startedAt && providerID !== undefined;
      return isOwnTime ? withAssignmentTime(rest, this.#before.status) : rest;
    });
  }

  /** Stores the address that was acquired. With its machine it is known as a node's even if this run and that node end here. */
  async answer({ ip }: Address): Promise<void> {
    const { startedAt, provider, nodeName, providerID } = this.#pending;
    await this.#update((status) => {
      const acquired = [...status.acquired, { ip, acquiredAt: startedAt, ...(provider && { provider }) }];
      const answered = { ...this.#withoutPending(status), acquired };
      if (nodeName === undefined || providerID === undefined) return answered;
      return { ...answered, ips: { ...status.ips, [ip]: { state: "in-progress", nodeName, providerID } } };
    });
  }

  #withoutPending(status: PoolStatus): PoolStatus {
    const isOwn = ({ startedAt, knownIPs }: PendingAcquisition): boolean =>
      startedAt === this.#pending.startedAt && knownIPs.length === this.#pending.knownIPs.length;
    return { ...status, pendingAcquisitions: status.pendingAcquisitions.filter((one) => !isOwn(one)) };
  }

  async #update(change: (status: PoolStatus) => PoolStatus): Promise<void> {
    await this.#context.stores.ownersOf(this.#object).updateStatus(this.#object, change);
  }
}

/**
 * Stores the addresses that a change of a name may have added, when its records could not be read after it failed: flipop only ever removes stored addresses from
 * a former name.
 */
export async function recordAttemptedNames(action: WriteDNS, { stores }: ApplyContext): Promise<void> {
  const { object } = action;
  const stored = stores[object.kind].get(object)?.status;
  const { type } = setNamed(action.fqdn);
  if (stored === undefined || attemptedName(memoryOfNames(stored, type), action).publishedDNS === undefined) return;
  const remembered = <S extends PoolStatus | RecordSetStatus>(status: S): S =>
    withMemory(status, type, attemptedName(memoryOfNames(status, type), action));
  const work =
    object.kind === "dns"
      ? stores.dns.updateStatus(object, remembered)
      : stores.ownersOf(object).updateStatus(object, remembered);
  await work.catch(ignoreKubeError);
}

/** Ignores what the API server refused, or a definition dropped: the last write of the pass tells of it. */
function ignoreUnwritten(error: unknown): void {
  if (!(error instanceof ConfigError)) ignoreKubeError(error);
}
