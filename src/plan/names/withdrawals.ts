import { nameActionID, type WriteDNS } from "../../model/action.ts";
import { addressesWithout } from "../../model/dns.ts";
import type { ObjectNames } from "./plan-dns.ts";

/** What else happens to the addresses of names. */
interface Leaving {
  /** Addresses that the plan takes off their machine, or gives back. */
  readonly leaving: ReadonlySet<string>;
  /** Addresses that the plan moves to another machine. */
  readonly moving: ReadonlySet<string>;
  /** Addresses that serve at this moment, those that are to leave included. */
  readonly serving: ReadonlySet<string>;
}

/** Returns all writes of names, withdrawals included. Pure. */
export function nameWrites(names: readonly ObjectNames[], addresses: Leaving): readonly WriteDNS[] {
  const planned = names.flatMap(({ present, former }) => [...present.actions, ...former.actions]);
  return planWithdrawals(planned, addresses).map(withLeaving);
}

/**
 * Takes leaving addresses out of each name before they leave their machine. If the name's write waits for something, say an assignment, a write before it does
 * that:
 *
 *   withdraw-dns {.1 .3} → {.3}  →  unassign .1  →  assign .2  →  update-dns {.3} → {.2 .3}      (.1 = 203.0.113.1)
 *
 * Exception: if no other address of the name serves, the name keeps .1 until .2 is in.
 */
function planWithdrawals(writes: readonly WriteDNS[], facts: Leaving): readonly WriteDNS[] {
  const { leaving } = facts;
  return writes.flatMap((write) => {
    const out = addressesWithout(write.before.addresses, write.after.addresses).filter((ip) => leaving.has(ip));
    const addresses = out.length === 0 || write.requires.length === 0 ? [] : meanwhile(write, out, facts);
    if (addresses.length === 0) return [write];
    const withdrawal: WriteDNS = {
      ...write,
      kind: "withdraw-dns",
      id: nameActionID("withdraw-dns", write.object, { fqdn: write.fqdn, provider: write.dnsProvider }),
      reason: "LeavesDNSFirst",
      requires: [],
      after: { addresses, ttlSeconds: write.before.ttlSeconds ?? write.after.ttlSeconds },
    };
    const before = { ...write.before, addresses };
    return [withdrawal, { ...write, before, requires: [...write.requires, withdrawal.id] }];
  });
}

/**
 * Returns what the name shows until its write can be made: the part of the final set that it shows, or that serves already and stays where it is, else what it
 * shows now without the addresses that leave. Empty if none of that serves.
 */
function meanwhile(
  { before, after }: WriteDNS,
  out: readonly string[],
  { moving, serving }: Leaving,
): readonly string[] {
  const shown = new Set(before.addresses);
  const isThere = (ip: string): boolean => serving.has(ip) && !moving.has(ip);
  const final = after.addresses.filter((ip) => shown.has(ip) || isThere(ip));
  const left = addressesWithout(before.addresses, out);
  return [final, left].find((addresses) => addresses.some((ip) => serving.has(ip))) ?? [];
}

/** Leaves of what flipop did not write the addresses that leave by this write: one that was split in two tells them once. */
function withLeaving(write: WriteDNS): WriteDNS {
  const { unrecorded = [], ...rest } = write;
  const leaving = addressesWithout(write.before.addresses, write.after.addresses);
  const foreign = leaving.filter((ip) => unrecorded.includes(ip));
  return foreign.length === 0 ? rest : { ...rest, unrecorded: foreign };
}
