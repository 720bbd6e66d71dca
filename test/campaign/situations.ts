import { ip } from "../scenario/scenario-names.ts";
import type { World } from "../scenario/world.ts";
import { comeToRest } from "./come-to-rest.ts";
import type { KindName } from "./kinds.ts";

/** The statuses of both objects as they are stored. */
export type Statuses = Readonly<Record<KindName, unknown>>;

/** A moment at which state is damaged. */
export interface Situation {
  readonly title: string;
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
export const SITUATIONS: readonly Situation[] = [
  { title: "in a settled world" },
  ...[5].map((diesBefore) => ({ title: `in a failover, before write ${diesBefore}`, event: failOver, diesBefore })),
  ...[4, 5].map((diesBefore) => ({
    title: `in an acquisition, before write ${diesBefore}`,
    event: wantMore,
    diesBefore,
  })),
  ...[5].map((diesBefore) => ({
    title: `in a change of names, before write ${diesBefore}`,
    event: rename,
    diesBefore,
  })),
];

/** Two nodes and a spare one, one listed address and two bought ones, of which one has no node; both names published. */
export async function settle(world: World): Promise<void> {
  await world.namespace();
  await world.machines("n1", "n2");
  world.cloud.address(ip(1));
  world.cloud.address(ip(77));
  for (const provider of ["digitalocean", "cloudflare"] as const) world.dns.zone(provider);
  await world.pools.create("web", {
    ips: [ip(1)],
    desiredIPs: 3,
    gracePeriodSeconds: 5,
    assignmentCoolOffSeconds: 2,
    dnsRecordSet: { zone: "example.com", recordName: "www" },
  });
  await world.recordSets.create("nodes", {
    gracePeriodSeconds: 5,
    dnsRecordSet: { zone: "example.com", recordName: "nodes" },
  });
  await comeToRest(world);
}

async function failOver(world: World): Promise<void> {
  await world.nodes.setReady("n1", false);
  for (const name of ["n4", "n5"]) {
    world.cloud.droplet(name);
    await world.nodes.create(name, { ready: false });
  }
  await comeToRest(world);
  for (const name of ["n4", "n5"]) await world.nodes.setReady(name, true);
}

async function wantMore(world: World): Promise<void> {
  await world.machines("n3");
  await comeToRest(world);
  await world.machines("n4");
  await world.pools.edit("web", { desiredIPs: 4 });
}

async function rename(world: World): Promise<void> {
  await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
  await world.recordSets.edit("nodes", { dnsRecordSet: { recordName: "all" } });
}
