import type { PoolSpecText } from "./pool-spec-text.ts";
import type { Random } from "./random.ts";

/** Names of the pools, all in namespace shop. */
export const POOLS = ["p0", "p1", "p2"] as const;
/** Addresses that pools list. */
export const LISTED = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4", "203.0.113.5"] as const;

function someIPs(random: Random): readonly string[] {
  const ips = LISTED.filter(() => random.chance(0.4));
  return random.chance(0.05) ? [...ips, "203.0.113.01"] : ips;
}

/** A spec as somebody could write it. */
export function poolSpec(random: Random): PoolSpecText {
  const ips = random.chance(0.7) ? someIPs(random) : [];
  const desiredIPs = random.chance(0.6) || ips.length === 0 ? random.between(1, 4) : 0;
  return {
    provider: "digitalocean",
    ...(random.chance(0.8) ? { region: "nyc3" } : {}),
    ...(ips.length > 0 ? { ips } : {}),
    ...(desiredIPs > 0 ? { desiredIPs } : {}),
    ...(random.chance(0.3) ? { assignmentCoolOffSeconds: random.pick([5, 20, 60]) } : {}),
    ...(random.chance(0.3) ? { gracePeriodSeconds: random.pick([5, 30, 90]) } : {}),
    ...(random.chance(0.5) ? { reclaimPolicy: random.pick(["Retain", "Delete"] as const) } : {}),
    ...(random.chance(0.4) ? { foreignHolder: random.pick(["Hold", "TakeOver"] as const) } : {}),
    ...(random.chance(0.05) ? { suspend: true } : {}),
    ...(random.chance(0.5) ? { match: match(random) } : {}),
  };
}

function match(random: Random): NonNullable<PoolSpecText["match"]> {
  return {
    ...(random.chance(0.6) ? { nodeLabel: "role=edge" } : {}),
    ...(random.chance(0.35) ? { podLabel: "app=web" } : {}),
  };
}

/** A change of a spec. */
export function specEdit(random: Random): Readonly<Partial<Record<keyof PoolSpecText, unknown>>> {
  const roll = random.between(1, 11);
  if (roll <= 3) return { desiredIPs: random.between(0, 4) };
  if (roll <= 5) return { ips: someIPs(random) };
  if (roll === 6) return { assignmentCoolOffSeconds: random.pick([0, 5, 30]) };
  if (roll === 7) return { suspend: random.chance(0.5) };
  if (roll === 8) return { reclaimPolicy: random.pick(["Retain", "Delete"]) };
  if (roll === 9) return { foreignHolder: random.pick(["Hold", "TakeOver"]) };
  if (roll === 10) return { provider: random.pick(["nowhere", "digitalocean"]) };
  return { match: { nodeLabel: random.pick(["role=edge", "", "role in ("]), podLabel: random.pick(["app=web", ""]) } };
}
