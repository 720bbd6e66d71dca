import { type Action, nameActionID, refKey, type SetFinalizer, type WriteDNS } from "../model/action.ts";
import { compareText } from "../model/resource.ts";
import type { ObjectNames } from "./names/plan-dns.ts";

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
  const linked = afterFirewalls(afterAnnotations(afterClearing(clearingAfterDNS(ordered))), names);
  return [
    ...behindFinalizers(linked, finalizers),
    ...finalizers.map((finalizer) => afterEverything(finalizer, linked)),
  ];
}

/**
 * What a deleted object added to firewalls goes after its records, and before its address leaves the machine; also where the address leaves for another reason
 * in the same plan.
 */
function afterFirewalls(actions: readonly Action[], names: readonly ObjectNames[]): readonly Action[] {
  const deleted = new Set(names.flatMap(({ publisher: { meta, ref } }) => (meta.isDeleting ? [refKey(ref)] : [])));
  const closing = Map.groupBy(
    actions.filter((action) => isClosing(action) && deleted.has(refKey(action.object))),
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

/** DNS writes that take addresses out ahead of what would make them stop serving. */
interface TakeDown {
  /** Extra writes, and those of the plan as they are after them, by id. */
  readonly writes: ReadonlyMap<string, WriteDNS>;
  /** Address → ids of the writes that must have succeeded before it may leave its machine. */
  readonly before: ReadonlyMap<string, readonly string[]>;
  /** Address → ids of the writes that must have succeeded before it may be given back. */
  readonly beforeDeletion: ReadonlyMap<string, readonly string[]>;
}

/**
 * Take-down runs DNS first, address last: an address that is to leave its machine is out of every name before. Where the final write of a name itself waits for an
 * assignment (a swap on one machine), the address is withdrawn by a write of its own; unless it is the name's only address, which then stays until the new one is
 * in. Pure.
 *
 * @param serving - addresses that serve at this moment, those that are to leave included
 */
function takeDown(names: readonly ObjectNames[], leaving: ReadonlySet<string>, serving: ReadonlySet<string>): TakeDown {
  const writes = new Map<string, WriteDNS>();
  const before = new Map<string, string[]>();
  const beforeDeletion = new Map<string, string[]>();
  for (const write of names.flatMap(({ present, former }) => [...present.actions, ...former.actions])) {
    const out = write.before.addresses.filter((ip) => leaving.has(ip) && !write.after.addresses.includes(ip));
    const first = out.length === 0 ? undefined : firstWrite(write, out, serving, writes);
    for (const ip of out) {
      if (first !== undefined) before.set(ip, [...(before.get(ip) ?? []), first.id]);
      beforeDeletion.set(ip, [...(beforeDeletion.get(ip) ?? []), (first ?? write).id]);
    }
  }
  return { writes, before, beforeDeletion };
}

/** The write after which the addresses are out of the name; undefined when the name would show nothing that serves until something new does. */
function firstWrite(
  write: WriteDNS,
  out: readonly string[],
  serving: ReadonlySet<string>,
  writes: Map<string, WriteDNS>,
): WriteDNS | undefined {
  if (write.requires.length === 0) return write;
  const addresses = meanwhile(write, out, serving);
  if (addresses.length === 0) return undefined;
  const ttlSeconds = write.before.ttlSeconds ?? write.after.ttlSeconds;
  const withdrawal: WriteDNS = {
    ...write,
    kind: "withdraw-dns",
    id: nameActionID("withdraw-dns", write.object, { fqdn: write.fqdn, provider: write.dnsProvider }),
    reason: "LeavesDNSFirst",
    requires: [],
    after: { addresses, ttlSeconds },
  };
  writes.set(withdrawal.id, withdrawal);
  const { ttlSeconds: _old, ...content } = write.before;
  const next = { ...content, ...(write.before.ttlSeconds === undefined ? {} : { ttlSeconds }), addresses };
  writes.set(write.id, { ...write, before: next, requires: [...write.requires, withdrawal.id] });
  return withdrawal;
}

/**
 * What the name shows until the assignments are made: what of the final set is there or serves already, else what it shows now without those that leave; empty when
 * none of that serves.
 */
function meanwhile(
  { before, after }: WriteDNS,
  out: readonly string[],
  serving: ReadonlySet<string>,
): readonly string[] {
  const isServed = (addresses: readonly string[]): boolean => addresses.some((ip) => serving.has(ip));
  const final = after.addresses.filter((ip) => before.addresses.includes(ip) || serving.has(ip));
  const left = before.addresses.filter((ip) => !out.includes(ip));
  return isServed(final) ? final : isServed(left) ? left : [];
}

/** Applies a take-down to all actions: writes replaced and added, and what takes an address off its machine waits for them. Pure. */
function withTakeDown(actions: readonly Action[], { writes, before, beforeDeletion }: TakeDown): readonly Action[] {
  const known = new Set(actions.map(({ id }) => id));
  const added = [...writes.values()].filter(({ id }) => !known.has(id));
  return [...actions, ...added].map((action) => {
    const changed = writes.get(action.id) ?? action;
    if (changed.kind !== "unassign-ip" && changed.kind !== "delete-ip") return changed;
    const first = changed.kind === "delete-ip" ? beforeDeletion : before;
    return { ...changed, requires: [...changed.requires, ...(first.get(changed.ip) ?? [])] };
  });
}
