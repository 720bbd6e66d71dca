import type { Pool } from "../../model/resource.ts";

/** Firewall id → the ports that flipop opened there, for whatever object, as its status has them. Pure. */
export function madeRules(pools: readonly Pool[]): ReadonlyMap<string, ReadonlySet<string>> {
  const made = new Map<string, Set<string>>();
  for (const { id, ports } of pools.flatMap(({ status }) => status.firewalls ?? []))
    made.set(id, new Set([...(made.get(id) ?? []), ...ports]));
  return made;
}
