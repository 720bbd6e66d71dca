import { canonicalIPv4 } from "../model/address.ts";
import { bySeniority, ownerKey, type Pool } from "../model/resource.ts";
import { statusOf } from "./standing.ts";

/** Who owns which address, over all objects of the cluster. */
export interface Claims {
  /** Owner of an address that some object manages: as {@link ownerKey} names it; undefined when no object manages it. */
  ownerOf(ip: string): string | undefined;
  /** True when some object manages the address, or its status remembers it. */
  isNamed(ip: string): boolean;
}

/**
 * Settles claims. An object claims the addresses of its spec and those it acquired; suspended, invalid and deleted objects too, as long as
 * they exist. Who by status already holds an address keeps it, and of two of them the one where it is active; among others the senior object wins.
 */
export function settleClaims(pools: readonly Pool[]): Claims {
  const owners = new Map<string, { readonly key: string; readonly hold: number }>();
  const named = new Set<string>();
  for (const pool of pools.toSorted(bySeniority)) {
    const key = ownerKey({ kind: pool.kind, ...pool.meta });
    for (const ip of managedIPs(pool)) {
      named.add(ip);
      const rival = owners.get(ip);
      const hold = holdByStatus(pool, ip);
      if (rival === undefined || hold > rival.hold) owners.set(ip, { key, hold });
    }
    for (const ip of Object.keys(pool.status.ips)) named.add(ip);
    for (const { ip } of pool.status.released) named.add(ip);
  }
  return { ownerOf: (ip) => owners.get(ip)?.key, isNamed: (ip) => named.has(ip) };
}

/** The addresses an object manages, in order and once each: the canonical entries of its spec, then what it acquired; what somebody wrote there that is no address is none. */
export function managedIPs(pool: Pool): readonly string[] {
  const listed = pool.spec.ips.flatMap((entry) => canonicalIPv4(entry) ?? []);
  const acquired = pool.status.acquired.map(({ ip }) => ip).filter((ip) => canonicalIPv4(ip) === ip);
  return [...new Set([...listed, ...acquired])];
}

/** How firmly a pool holds an address by its status: 2 = acquired or active, 1 = shown, as one that may have stopped being its own while it could not be looked at, 0 = not. */
function holdByStatus(pool: Pool, ip: string): 0 | 1 | 2 {
  if (pool.status.acquired.some((acquired) => acquired.ip === ip)) return 2;
  const entry = statusOf(pool, ip);
  if (entry === undefined || entry.reason === "Conflict") return 0;
  return entry.state === "active" ? 2 : 1;
}
