import type { IPState, Pool } from "../model/resource.ts";
import { type Standing, statusOf } from "./standing.ts";

/** A managed address with how it stands. */
export interface ManagedIP {
  readonly ip: string;
  /** Present when flipop acquired it and the spec does not list it, which would make it the owner's; `isAdopted` = found again, never to be deleted. */
  readonly acquired?: { readonly isAdopted: boolean };
  readonly standing: Standing;
}

/**
 * The addresses that are in use, where no succession is open: at most `desired` of the managed ones. Those active by status whose holder still matches come first, then others
 * on matches (or on the way to one), then list order. Conflicts, addresses that are gone and foreign-held ones fill no place; one that could not be read
 * keeps the rank its status gives it.
 */
export function selectInUse(managed: readonly ManagedIP[], desired: number, pool: Pool): ReadonlySet<string> {
  const ranked = managed
    .filter(({ standing }) => standing.kind !== "conflict" && standing.kind !== "gone" && standing.kind !== "foreign")
    .map((address, order) => ({ ip: address.ip, order, rank: isNamed(address, pool) ? -1 : rankOf(address, pool) }))
    .toSorted((a, b) => a.rank - b.rank || a.order - b.order);
  return new Set(ranked.slice(0, desired).map(({ ip }) => ip));
}

/** True for the address that the spec of a RoutedIP names: once it can be used, none that was bought is. */
function isNamed({ acquired }: ManagedIP, { kind }: Pool): boolean {
  return kind === "routedip" && acquired === undefined;
}

function rankOf({ ip, standing }: ManagedIP, pool: Pool): number {
  if (standing.kind === "placed") return standing.wasActive ? 0 : 1;
  if (standing.kind !== "gap" && standing.kind !== "busy") return 2;
  const ranks: Readonly<Partial<Record<IPState, number>>> = { active: 0, "in-progress": 1 };
  return ranks[statusOf(pool, ip)?.state ?? "unassigned"] ?? 2;
}
