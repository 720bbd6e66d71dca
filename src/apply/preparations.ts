import { isDeepStrictEqual } from "node:util";
import type { Action } from "../model/action.ts";
import { KubeError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import { type IPStatus, objectKey, type PoolStatus } from "../model/resource.ts";
import { onItsWay } from "../plan/on-its-way.ts";
import type { ApplyContext } from "./context.ts";

/**
 * What a pool must have on record before a provider is changed for it: the addresses it was found to own, and the machines its addresses are sent to, so that
 * a run that dies leaves no address on a machine that nobody knows. Written once per pool, when its first action needs it, and only when the stored status does
 * not show it yet. Where the addresses are sent to is recorded as far as possible: a status that cannot be written stops no failover.
 */
export function preparations(
  plan: Plan,
  actions: readonly Action[],
  { journal }: ApplyContext,
): (key: string) => Promise<unknown> {
  const statuses = new Map(plan.pools.map((pool) => [objectKey(pool.object), pool.status]));
  const started = new Map<string, Promise<unknown>>();
  return (key) => {
    const known = started.get(key);
    const status = statuses.get(key);
    const stored = journal.pool(key)?.status;
    if (known !== undefined || status === undefined || stored === undefined) return known ?? Promise.resolve();
    const memory = { acquired: status.acquired, pendingAcquisitions: status.pendingAcquisitions };
    const sent = sentAddresses(key, actions, stored);
    const isVital = !isDeepStrictEqual(memory, {
      acquired: stored.acquired,
      pendingAcquisitions: stored.pendingAcquisitions,
    });
    const work = journal.record(key, (current) => ({ ...current, ...memory, ips: { ...current.ips, ...sent } }));
    const result = isVital ? work : work.catch(survive);
    started.set(key, result);
    return result;
  };
}

/** The pool's addresses that are about to be sent somewhere, unless status knows that machine already. */
function sentAddresses(
  key: string,
  actions: readonly Action[],
  { ips }: PoolStatus,
): Readonly<Record<string, IPStatus>> {
  return Object.fromEntries(
    actions.flatMap((action) => {
      if ((action.kind !== "assign-ip" && action.kind !== "move-ip") || objectKey(action.object) !== key) return [];
      const entry = onItsWay(action);
      const stored = Object.hasOwn(ips, action.ip) ? ips[action.ip] : undefined;
      return stored?.providerID === entry.providerID ? [] : [[action.ip, entry] as const];
    }),
  );
}

function survive(error: unknown): void {
  if (!(error instanceof KubeError)) throw error;
}
