import type { IPFamily } from "../../src/model/address-source.ts";
import { dropletOf, externalIP, externalIPv6, ip, ipv6 } from "../scenario/scenario-names.ts";
import type { World } from "../scenario/world.ts";
import { comeToRest } from "./come-to-rest.ts";
import type { KindName } from "./kinds.ts";

/** The statuses of both objects as they are stored. */
export type Statuses = Readonly<Record<KindName, unknown>>;

/** A moment at which state is damaged. */
export interface Situation {
  readonly title: string;
  /** Of the pool's addresses. Beside a pool of IPv6 the record set publishes both families. */
  readonly family: IPFamily;
  /** What happens once everything is settled; absent where nothing does. */
  readonly event?: (world: World) => Promise<void>;
  /** The write before which the run that follows dies. */
  readonly diesBefore?: number;
}

/** The pool and the record set of every situation. */
export const OBJECTS: Readonly<Record<KindName, string>> = { FloatingIPPool: "web", NodeDNSRecordSet: "nodes" };

/**
 * Everything settled, with one bought address that no node can take; and in the middle of a failover, of an acquisition and of a change of
 * names: each right after the provider has done its part, before that is on record, and a little later.
 */
export const SITUATIONS: readonly Situation[] = [...situationsOf("IPv4", ""), ...situationsOf("IPv6", ", with IPv6")];

function situationsOf(family: IPFamily, suffix: string): readonly Situation[] {
  const dying = (what: string, diesBefore: number, event: (world: World) => Promise<void>): Situation => ({
    title: `in ${what}, before write ${diesBefore}${suffix}`,
    family,
    event,
    diesBefore,
  });
  const settledAndFailing = [{ title: `in a settled world${suffix}`, family }, dying("a failover", 5, failOver)];
  // What is bought, and how names change, is told by the situations of IPv4.
  if (family === "IPv6") return settledAndFailing;
  return [
    ...settledAndFailing,
    dying("an acquisition", 4, wantMore),
    dying("an acquisition", 5, wantMore),
    dying("a change of names", 5, rename),
  ];
}

/** Two nodes and a spare one, one listed address and two bought ones, of which one has no node; both names published. */
export async function settle(world: World, family: IPFamily = "IPv4"): Promise<void> {
  const isIPv6 = family === "IPv6";
  const address = isIPv6 ? ipv6 : ip;
  await world.namespace();
  await machines(world, "n1", "n2");
  world.cloud.address(address(1));
  world.cloud.address(address(77));
  for (const provider of ["digitalocean", "cloudflare"] as const) world.dns.zone(provider);
  await world.pools.create("web", {
    ...(isIPv6 ? { ipFamily: family } : {}),
    ips: [address(1)],
    desiredIPs: 3,
    gracePeriodSeconds: 5,
    assignmentCoolOffSeconds: 2,
    dnsRecordSet: { zone: "example.com", recordName: "www" },
  });
  await world.recordSets.create("nodes", {
    ...(isIPv6 ? { ipFamilies: ["IPv4", "IPv6"] } : {}),
    gracePeriodSeconds: 5,
    dnsRecordSet: { zone: "example.com", recordName: "nodes" },
  });
  await comeToRest(world);
}

async function failOver(world: World): Promise<void> {
  await world.nodes.setReady("n1", false);
  await machines(world, "n4", "n5");
  for (const name of ["n4", "n5"]) await world.nodes.setReady(name, false);
  await comeToRest(world);
  for (const name of ["n4", "n5"]) await world.nodes.setReady(name, true);
}

async function wantMore(world: World): Promise<void> {
  await machines(world, "n3");
  await comeToRest(world);
  await machines(world, "n4");
  await world.pools.edit("web", { desiredIPs: 4 });
}

async function rename(world: World): Promise<void> {
  await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
  await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "all" } });
}

/** Nodes with an address of each family, each with its droplet. */
async function machines(world: World, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const number = dropletOf(name) - dropletOf("n0");
    const addresses = [externalIP(number), externalIPv6(number)].map(
      (address) => ({ type: "ExternalIP", address }) as const,
    );
    world.cloud.droplet(name);
    await world.nodes.create(name, { addresses });
  }
}
