import type { PoolStatus, RecordSetStatus } from "../../src/model/resource.ts";
import { type CampaignWorld, FOREIGN_DROPLET, FOREIGN_IPS, USUAL_IPS, type WorldOptions } from "./campaign-world.ts";
import type { Kind } from "./kinds.ts";
import type { Spec } from "./spec-value.ts";

/** The fresh object and the fresh world that an object with a past is compared with. */
export interface FreshStart {
  readonly spec: Spec;
  readonly options: WorldOptions;
  /** What of the past was taken over, with the part of product.md that says so. */
  readonly because: readonly string[];
}

/**
 * What a fresh object needs to have to be the same as this one. Three things of a past are as good as part of the world:
 *
 * - An acquired address stays the pool's and is managed after those of the spec (product.md, section 4: "Managed", "Fewer managed than D: acquire
 *   the difference"), whatever region is asked for by now: it stands where a listed one would.
 * - An address that a list had which has become empty is one of those (crds/README.md: "An empty `ips` takes nothing away").
 * - An address that was taken over from a foreign holder stays where it is (section 5: "Stay").
 */
export function freshStart(
  kind: Kind,
  spec: Spec,
  status: PoolStatus | RecordSetStatus,
  world: CampaignWorld,
): FreshStart {
  const free = FOREIGN_IPS.filter((address) => world.world.cloud.holderOf(address) !== FOREIGN_DROPLET);
  const listed = Array.isArray(spec["ips"]) ? (spec["ips"] as readonly string[]) : [];
  const acquired = "acquired" in status ? status.acquired.map(({ ip }) => ip).filter((ip) => !listed.includes(ip)) : [];
  const desired = (spec["desiredIPs"] ?? 0) || listed.length;
  const isSurplus = kind.ref === "pool" && acquired.length > Math.max(0, Number(desired) - listed.length);
  const regions = regionsOf(world, acquired);
  const isElsewhere = Object.values(regions).some((region) => region !== spec["region"]);
  const given = [...USUAL_IPS, ...FOREIGN_IPS];
  const wasListed = acquired.some((ip) => given.includes(ip));
  const isKept = acquired.length > 0 && Number(desired) > 0 && (isSurplus || isElsewhere || wasListed);
  const bought = acquired.filter((ip) => !given.includes(ip));
  return {
    spec: isKept ? { ...spec, ips: [...listed, ...acquired], desiredIPs: desired } : spec,
    options: { ...(free.length > 0 ? { free } : {}), ...(isKept ? { addresses: regionsOf(world, bought) } : {}) },
    because: [
      ...(isKept ? ["section 4: acquired addresses stay the pool's"] : []),
      ...(free.length > 0 ? ["section 5: an address that was taken over stays"] : []),
    ],
  };
}

function regionsOf(world: CampaignWorld, ips: readonly string[]): Readonly<Record<string, string>> {
  const { reserved_ips, reserved_ipv6 = [] } = world.world.cloud.state;
  const all = [...reserved_ips, ...reserved_ipv6];
  return Object.fromEntries(all.filter(({ ip }) => ips.includes(ip)).map(({ ip, region }) => [ip, region]));
}
