import type { AddressFact } from "../model/address.ts";
import type { ProviderFacts } from "../model/observation.ts";
import { compareText, type Pool } from "../model/resource.ts";
import type { Claims } from "./claims.ts";

/** An address the object no longer manages and still remembers, because it is attached or could not be read. */
export interface Released {
  readonly ip: string;
  readonly fact: Extract<AddressFact, { kind: "known" | "gap" }>;
}

/**
 * What an object released and must remember: earlier entries, and addresses its status shows though neither spec nor status manages them any more.
 * Forgotten once unattached, gone, managed again, or managed by another object. Sorted by address text.
 */
export function releasedOf(
  pool: Pool,
  managed: ReadonlySet<string>,
  provider: ProviderFacts | undefined,
  claims: Claims,
): readonly Released[] {
  const shown = Object.entries(pool.status.ips)
    .filter(([, entry]) => entry.reason !== "Conflict" && entry.reason !== "InvalidIP")
    .map(([ip]) => ip);
  const acquired = new Set(pool.status.acquired.map(({ ip }) => ip));
  const remembered = new Set([...pool.status.released.map(({ ip }) => ip), ...shown]);
  return [...remembered].toSorted(compareText).flatMap((ip): readonly Released[] => {
    if (managed.has(ip) || acquired.has(ip) || claims.ownerOf(ip) !== undefined) return [];
    const fact = provider?.addresses.get(ip) ?? { kind: "gap", error: "it was not read" };
    if (fact.kind === "gap") return [{ ip, fact }];
    return fact.kind === "known" && (fact.address.holderID !== undefined || fact.address.isLocked)
      ? [{ ip, fact }]
      : [];
  });
}
