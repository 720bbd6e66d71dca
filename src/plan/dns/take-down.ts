import { type Action, nameActionID, type WriteDNS } from "../../model/action.ts";
import type { ObjectNames } from "./plan-dns.ts";

/** DNS writes that take addresses out ahead of what would make them stop serving. */
export interface TakeDown {
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
export function takeDown(
  names: readonly ObjectNames[],
  leaving: ReadonlySet<string>,
  serving: ReadonlySet<string>,
): TakeDown {
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
export function withTakeDown(
  actions: readonly Action[],
  { writes, before, beforeDeletion }: TakeDown,
): readonly Action[] {
  const known = new Set(actions.map(({ id }) => id));
  const added = [...writes.values()].filter(({ id }) => !known.has(id));
  return [...actions, ...added].map((action) => {
    const changed = writes.get(action.id) ?? action;
    if (changed.kind !== "unassign-ip" && changed.kind !== "delete-ip") return changed;
    const first = changed.kind === "delete-ip" ? beforeDeletion : before;
    return { ...changed, requires: [...changed.requires, ...(first.get(changed.ip) ?? [])] };
  });
}
