import { type Action, refKey, type SetFinalizer, type WriteDNS } from "../model/action.ts";
import { compareText } from "../model/resource.ts";
import type { ObjectNames } from "./dns/plan-dns.ts";
import { takeDown, withTakeDown } from "./dns/take-down.ts";

/**
 * Puts the writes of a plan in their order, where it is not already part of them: DNS first and addresses last on the way down, annotations before DNS on the way
 * up, the finalizer before whatever will have to be cleaned. Pure.
 *
 * @param serving - addresses that serve at this moment
 */
export function orderWrites(
  actions: readonly Action[],
  names: readonly ObjectNames[],
  finalizers: readonly SetFinalizer[],
  serving: ReadonlySet<string>,
): readonly Action[] {
  const distinct = [...new Map(actions.map((action) => [action.id, action])).values()];
  const leaving = new Set(
    distinct.flatMap((action) => (action.kind === "unassign-ip" || action.kind === "delete-ip" ? [action.ip] : [])),
  );
  const ordered = withTakeDown(distinct, takeDown(names, leaving, serving));
  const linked = afterFirewalls(afterAnnotations(afterClearing(clearingAfterDNS(ordered))));
  return [
    ...behindFinalizers(linked, finalizers),
    ...finalizers.map((finalizer) => afterEverything(finalizer, linked)),
  ];
}

/**
 * What a deleted object added to firewalls goes after its records, and before its address leaves the machine; also where the address leaves for another reason
 * in the same plan.
 */
function afterFirewalls(actions: readonly Action[]): readonly Action[] {
  const closing = Map.groupBy(
    actions.filter((action) => isClosing(action) && action.reason === "ObjectDeleted"),
    ({ object }) => refKey(object),
  );
  if (closing.size === 0) return actions;
  const records = Map.groupBy(actions.filter(isDNSWrite), ({ object }) => refKey(object));
  return actions.map((action) => {
    const own = closing.get(refKey(action.object)) ?? [];
    if (own.includes(action)) {
      const first = records.get(refKey(action.object)) ?? [];
      return { ...action, requires: [...action.requires, ...first.map(({ id }) => id)] };
    }
    return action.kind === "unassign-ip"
      ? { ...action, follows: [...action.follows, ...own.map(({ id }) => id)] }
      : action;
  });
}

function isClosing({ kind }: Action): boolean {
  return kind === "close-ports" || kind === "remove-from-firewall";
}

/** An object goes last: what is done for it may have to be put on its record. An annotation that cannot be cleared keeps nobody. */
function afterEverything(finalizer: SetFinalizer, actions: readonly Action[]): SetFinalizer {
  if (finalizer.kind !== "remove-finalizer") return finalizer;
  const clearing = actions.filter(
    ({ kind, object }) => kind === "clear-annotation" && refKey(object) === refKey(finalizer.object),
  );
  return { ...finalizer, follows: [...finalizer.follows, ...clearing.map(({ id }) => id).toSorted(compareText)] };
}

/** An address is taken off a machine only after the node's annotation of it went. */
function afterClearing(actions: readonly Action[]): readonly Action[] {
  const clearing = new Map(
    actions.flatMap((action) => (action.kind === "clear-annotation" ? [[action.nodeName, action.id]] : [])),
  );
  return actions.map((action) => {
    const id = action.kind === "unassign-ip" ? clearing.get(action.before.nodeName ?? "") : undefined;
    return id === undefined ? action : { ...action, follows: [...action.follows, id] };
  });
}

/**
 * An address leaves DNS before the annotation of its node goes. A DNS write that itself waits for something is followed only where nothing is taken off that
 * node's machine: there it would wait for what follows the clearing.
 */
function clearingAfterDNS(actions: readonly Action[]): readonly Action[] {
  const unassigned = new Set(
    actions.flatMap((action) => (action.kind === "unassign-ip" ? [action.before.nodeName ?? ""] : [])),
  );
  const writes = actions.filter(isDNSWrite);
  return actions.map((action) => {
    if (action.kind !== "clear-annotation") return action;
    const { address = "" } = action.before;
    const first = writes.filter(
      ({ before, after, requires }) =>
        before.addresses.includes(address) &&
        !after.addresses.includes(address) &&
        (requires.length === 0 || !unassigned.has(action.nodeName)),
    );
    return first.length === 0 ? action : { ...action, follows: [...action.follows, ...first.map(({ id }) => id)] };
  });
}

/** A verified address is annotated, then published; an annotation that cannot be written holds nothing up. */
function afterAnnotations(actions: readonly Action[]): readonly Action[] {
  const annotating = new Map(
    actions.flatMap((action) =>
      action.kind === "annotate-node" && action.after.address !== undefined
        ? [[action.after.address, action.id] as const]
        : [],
    ),
  );
  return actions.map((action) => {
    if (!isDNSWrite(action)) return action;
    const added = action.after.addresses.filter((address) => !action.before.addresses.includes(address));
    const ids = added.flatMap((address) => annotating.get(address) ?? []);
    return ids.length === 0 ? action : { ...action, follows: [...action.follows, ...ids] };
  });
}

/** What makes something that reclaimPolicy Delete would clean. */
const MADE: ReadonlySet<Action["kind"]> = new Set(["acquire-ip", "update-dns", "open-ports", "add-to-firewall"]);

function behindFinalizers(actions: readonly Action[], finalizers: readonly SetFinalizer[]): readonly Action[] {
  const adding = new Map(
    finalizers.filter(({ kind }) => kind === "add-finalizer").map(({ id, object }) => [refKey(object), id]),
  );
  return actions.map((action) => {
    const id = adding.get(refKey(action.object));
    const isMade = MADE.has(action.kind);
    return id === undefined || !isMade ? action : { ...action, requires: [id, ...action.requires] };
  });
}

function isDNSWrite(action: Action): action is WriteDNS {
  return action.kind === "update-dns" || action.kind === "withdraw-dns" || action.kind === "delete-dns";
}
