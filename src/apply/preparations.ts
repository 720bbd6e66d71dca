import { isDeepStrictEqual } from "node:util";
import { type Action, isAssign, type ObjectRef, refKey } from "../model/action.ts";
import type { Plan } from "../model/plan.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import {
  type DNSMemory,
  type IPStatus,
  objectKey,
  type Pool,
  type ReclaimPolicy,
  type RoutedIPStatus,
} from "../model/resource.ts";
import { recordedNames } from "../plan/names/plan-dns.ts";
import { statusOf } from "../plan/pool-view.ts";
import { onItsWay } from "../plan/status/stored-status.ts";
import { type ApplyContext, ownerJournal } from "./context.ts";
import { survive } from "./journal.ts";

/** What goes on record for an object, while it is being written. A failure is told to whoever waits for one of these; nobody has to. */
export interface Preparation {
  /** Resolves when all of it is on record, or is missing and may be. @throws KubeError, ConfigError when it may not be */
  readonly whole: Promise<unknown>;
  /** Resolves when nothing is missing any more that would be lost for good; throws as `whole` does. */
  readonly vital: Promise<unknown>;
}

/** Of an object that needs nothing on record. */
export const UNPREPARED: Preparation = { whole: Promise.resolve(), vital: Promise.resolve() };

/**
 * What an object must have on record before a provider is changed for it: the addresses it was found to own, the machines its addresses are sent to, what is added to firewalls for it and how its issuer
 * wants that cleaned up, and the name it will publish under, so that a run that dies leaves nothing that nobody knows. Written once per object, when its first action needs it, and only when the
 * stored status does not show it yet. Where addresses go is recorded as far as possible: a status that cannot be written stops no failover.
 */
export function preparations(
  plan: Plan,
  actions: readonly Action[],
  context: ApplyContext,
): (object: ObjectRef) => Preparation {
  const started = new Map<string, Preparation>();
  return (object) => {
    const known = started.get(refKey(object));
    if (known !== undefined) return known;
    const own = actions.filter((action) => refKey(action.object) === refKey(object));
    const work =
      object.kind === "dns" ? prepareSet(plan, object, own, context) : preparePool(plan, object, own, context);
    started.set(refKey(object), work);
    return work;
  };
}

function preparePool(
  { pools }: Plan,
  object: ObjectRef,
  actions: readonly Action[],
  { journals, registry }: ApplyContext,
): Preparation {
  const key = objectKey(object);
  const journal = ownerJournal(object, journals);
  const status = pools.find((pool) => refKey(pool.object) === refKey(object))?.status;
  const stored = journal.object(key);
  if (status === undefined || stored === undefined) return UNPREPARED;
  const memory = memoryOf(status);
  const isVital = !isDeepStrictEqual(memory, memoryOf(stored.status));
  const sent = sentAddresses(actions, stored, registry);
  const names = recordedNames(actions, status, stored);
  const work = journal.record(key, ({ firewalls: _former, ...current }) => ({
    ...current,
    ...memory,
    ...(status.issuer === undefined ? {} : { issuer: status.issuer }),
    ...names,
    ips: { ...current.ips, ...sent },
  }));
  return preparation(work, isVital || isOwed(names, stored.spec));
}

/** What is lost for good when a run dies with it: what was bought, and what was added to firewalls. */
function memoryOf({
  acquired,
  pendingAcquisitions,
  firewalls,
}: RoutedIPStatus): Pick<RoutedIPStatus, "acquired" | "pendingAcquisitions" | "firewalls"> {
  return { acquired, pendingAcquisitions, ...(firewalls === undefined ? {} : { firewalls }) };
}

function prepareSet(
  { recordSets }: Plan,
  object: ObjectRef,
  actions: readonly Action[],
  { journals }: ApplyContext,
): Preparation {
  const key = objectKey(object);
  const status = recordSets.find((recordSet) => objectKey(recordSet.object) === key)?.status;
  const stored = journals.dns.object(key);
  if (status === undefined || stored === undefined) return UNPREPARED;
  const names = recordedNames(actions, status, stored);
  const work = journals.dns.record(key, (current) => ({ ...current, ...names }));
  return preparation(work, isOwed(names, stored.spec));
}

function preparation(work: Promise<unknown>, isVital: boolean): Preparation {
  const whole = isVital ? work : work.catch(survive);
  whole.catch(() => undefined);
  return { whole, vital: isVital ? whole : Promise.resolve() };
}

/** Records that are to be cleaned one day may not be written under a name that nobody will remember. */
function isOwed(names: Partial<DNSMemory>, { reclaimPolicy }: { readonly reclaimPolicy: ReclaimPolicy }): boolean {
  return names.publishedDNS !== undefined && reclaimPolicy === "Delete";
}

/** The pool's addresses that are about to be sent somewhere, unless status knows that machine already. */
function sentAddresses(
  actions: readonly Action[],
  pool: Pool,
  registry: ProviderRegistry,
): Readonly<Record<string, IPStatus>> {
  return Object.fromEntries(
    actions.flatMap((action) => {
      if (!isAssign(action)) return [];
      const entry = onItsWay(action, registry);
      return statusOf(pool, action.ip)?.providerID === entry.providerID ? [] : [[action.ip, entry] as const];
    }),
  );
}
