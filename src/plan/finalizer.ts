import { type Action, actionID, type ObjectRef, type SetFinalizer } from "../model/action.ts";
import { changesFirewall, changesName } from "../model/action-kinds.ts";
import type { FirewallMemory } from "../model/firewall.ts";
import { type Remembering, rememberedNames } from "../model/record-types.ts";
import { FINALIZER, type ObjectMeta, objectKey, ownAddresses } from "../model/resource.ts";

/** What `reclaimPolicy: Delete` has to do for an object, as far as the finalizer depends on it. */
export interface Cleaning {
  /** Something of the object's would have to be cleaned if it were deleted now. */
  readonly isNeeded: boolean;
  /** Something is held that would have to be cleaned once it is made. */
  readonly isAwaited: boolean;
  /** Something cannot be cleaned in this pass. */
  readonly isStuck: boolean;
  /** Ids of the actions that clean. */
  readonly after: readonly string[];
}

/** Nothing to clean. */
export const NOTHING_TO_CLEAN: Cleaning = { isNeeded: false, isAwaited: false, isStuck: false, after: [] };

/**
 * Keeps the finalizer on an object only while something would have to be cleaned; on a deleted one until it is. One that is there stays while something is held that would have to
 * be cleaned: each attempt would add it, and each failure take it away again. Pure.
 */
export function finalizerStep(
  object: ObjectRef,
  meta: ObjectMeta,
  cleanings: readonly Cleaning[],
): readonly SetFinalizer[] {
  const isNeeded = cleanings.some((cleaning) => cleaning.isNeeded);
  const isKept = isNeeded || cleanings.some((cleaning) => cleaning.isAwaited);
  const isStuck = cleanings.some((cleaning) => cleaning.isStuck);
  const isOurs = meta.finalizers.includes(FINALIZER);
  const common = { object, follows: [], before: undefined, after: undefined };
  if (isOurs && (meta.isDeleting ? !isStuck : !isKept)) {
    const requires = cleanings.flatMap(({ after }) => after);
    const id = actionID("remove-finalizer", object, objectKey(meta));
    return [{ ...common, kind: "remove-finalizer", id, reason: "NothingToReclaim", requires }];
  }
  if (!isOurs && isNeeded && !meta.isDeleting) {
    const id = actionID("add-finalizer", object, objectKey(meta));
    return [{ ...common, kind: "add-finalizer", id, reason: "ReclaimDelete", requires: [] }];
  }
  return [];
}

/** What a status has on record that is cleaned up with the object. */
export type CleanedUp = Remembering & { readonly firewalls?: readonly FirewallMemory[] };

/**
 * True where what an action makes is there already, as the status has it on record: records of that name, or something at that firewall. Such an action waits for no
 * finalizer. There is something to clean up in any case, and what serves no more has to leave it. Pure.
 */
export function isMadeAlready(action: Action, { firewalls = [], ...status }: CleanedUp): boolean {
  if (changesFirewall(action)) return firewalls.some(({ id }) => id === action.firewall.id);
  if (!changesName(action)) return false;
  const { fqdn, dnsProvider, before } = action;
  return rememberedNames(status)
    .filter(({ name, provider }) => name === fqdn && provider === dnsProvider)
    .some((one) => ownAddresses(one).some((ip) => before.addresses.includes(ip)));
}
