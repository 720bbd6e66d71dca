import type { FirewallWork } from "./firewall-work.ts";

/** True when an object other than that of the work has the entry. */
export type ByOthers = (work: FirewallWork, entry: string) => boolean;

/** Tells of each entry whether another object has it, from the entries of each object, gone through once. Pure. */
export function byOthers(
  works: readonly FirewallWork[],
  entriesBy: (work: FirewallWork) => readonly string[],
): ByOthers {
  const holders = new Map<string, Set<FirewallWork>>();
  for (const work of works)
    for (const entry of entriesBy(work)) {
      const known = holders.get(entry) ?? new Set();
      holders.set(entry, known.add(work));
    }
  return (work, entry) => {
    const known = holders.get(entry);
    return known !== undefined && (known.size > 1 || !known.has(work));
  };
}
