import type { DNSName } from "../fake/dns-account.ts";
import { WWW, www } from "./dns-scene.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

export const SHARE = { foreignRecords: "Share" };

/** A pool of two addresses here and a record set of two nodes there, published under one name; returns the other cluster. */
export async function twoClusters(here: World, provider: DNSName, own: Spec = {}, other: Spec = {}): Promise<World> {
  const there = await here.beside();
  await here.machines("n1", "n2");
  await there.machines("n11", "n12");
  for (const number of [1, 2]) here.cloud.address(ip(number));
  here.dns.zone(provider);
  await here.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www(provider, { ...SHARE, ...own }) });
  await there.recordSets.create("nodes", { dnsRecordSet: www(provider, { ...SHARE, ...other }) });
  await here.pass();
  await there.pass();
  await here.pass();
  here.dns.clearHistory();
  return there;
}

/** Passes of both until each has seen what the other did. */
export async function rest(here: World, there: World): Promise<void> {
  for (const world of [here, there, here, there, here]) await world.pass();
}

/** The addresses of the shared name, in short names. */
export function shown(world: World, provider: DNSName): readonly string[] {
  return world.dns.set(provider, WWW);
}
