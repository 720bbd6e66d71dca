import { expect } from "vitest";
import type { Condition } from "../../src/model/resource.ts";
import { DNS_NAMES, type DNSName } from "../fake/dns-account.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";
import type { Spec } from "./world-objects.ts";

/** The DNS providers, for scenarios that hold at each. */
export const DNS_PROVIDERS: readonly DNSName[] = DNS_NAMES;

/** The name that the objects of these scenarios publish under. */
export const WWW = "www.example.com";

/** `www` in `example.com` at a provider, with a TTL that all accept. */
export function www(provider: DNSName, more: Spec = {}): Spec {
  return { provider, zone: "example.com", recordName: "www", ttl: 60, ...more };
}

/** As many addresses as nodes, ip1 on n1 and so on, published as `www`, converged; more addresses are in the account. */
export async function publishedPool(
  world: World,
  provider: DNSName,
  nodes: readonly string[] = ["n1"],
  spec: Spec = {},
): Promise<void> {
  await world.machines(...nodes);
  const ips = nodes.map((_, index) => ip(index + 1));
  for (const address of ips) world.cloud.address(address);
  world.dns.zone(provider);
  await world.pools.create("web", { ips, dnsRecordSet: www(provider), ...spec });
  await world.pass();
  expect(world.dns.addresses(provider, WWW)).toEqual(ips);
  world.dns.clearHistory();
}

/** Nothing of the account's addresses can be read until the faults are cleared. */
export function failReadings(world: World): void {
  for (const operation of ["list", "get"] as const) world.fail({ side: "cloud", operation, kind: "500", times: 0 });
}

/** The external addresses of these nodes published as `www` by record set `nodes`, converged. */
export async function publishedNodes(
  world: World,
  provider: DNSName,
  nodes: readonly string[] = ["n1", "n2"],
  spec: Spec = {},
): Promise<void> {
  await world.machines(...nodes);
  world.dns.zone(provider);
  await world.recordSets.create("nodes", { dnsRecordSet: www(provider), ...spec });
  await world.pass();
  expect(world.dns.set(provider, WWW)).toHaveLength(nodes.length);
  world.dns.clearHistory();
}

/** `Ready=True Reconciling=False Stalled=False`, with the reason of what is not as usual: `Ready=False (NoActiveIP)`. */
export function conditionsText(conditions: readonly Condition[]): string {
  const usual: Readonly<Record<string, string>> = { Ready: "True", Reconciling: "False", Stalled: "False" };
  return conditions
    .filter(({ type, status }) => usual[type] !== status)
    .map(({ type, status, reason }) => `${type}=${status} (${reason})`)
    .join(" ");
}

/** The call that adds to a name: one record, or the batch. */
export function addCall(provider: DNSName): {
  readonly side: "dns";
  readonly provider: DNSName;
  readonly operation: "add-record" | "write";
} {
  return { side: "dns", provider, operation: provider === "digitalocean" ? "add-record" : "write" };
}
