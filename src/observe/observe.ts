import { KubeError } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import { restoreMemory } from "../plan/restore-memory.ts";
import type { Clock } from "../ports/clock.ts";
import type { ClusterReader, LeaseRecord } from "../ports/cluster.ts";
import type { DNSProviderReader } from "../ports/dns-provider.ts";
import type { FirewallProviderReader } from "../ports/firewall-provider.ts";
import type { IPProviderReader } from "../ports/ip-provider.ts";
import type { ProviderAccess } from "../ports/provider-access.ts";
import { readAddresses } from "./addresses.ts";
import type { AskOptions } from "./asking.ts";
import { readFirewalls } from "./firewalls.ts";
import { leaseFacts } from "./lease-facts.ts";
import { readNames } from "./names.ts";
import { readCluster } from "./read-cluster.ts";
import type { ReusableFacts } from "./reusable-facts.ts";

/** What an observation reads from. */
export interface ObserveDeps {
  readonly cluster: ClusterReader;
  readonly providers: ReadonlyMap<string, ProviderAccess<IPProviderReader>>;
  readonly dnsProviders: ReadonlyMap<string, ProviderAccess<DNSProviderReader>>;
  readonly firewallProviders: ReadonlyMap<string, ProviderAccess<FirewallProviderReader>>;
  readonly clock: Clock;
  readonly leaseName: { readonly namespace: string; readonly name: string };
  /** What earlier passes of this process left; it is told what this one read. Absent = every provider is asked. */
  readonly reusable?: ReusableFacts | undefined;
  /** The Lease's annotations, where this process keeps it and knows them. Absent = it is read. */
  readonly notes?: LeaseRecord["annotations"] | undefined;
}

/**
 * Reads the world once: objects, nodes, the pods that some selector asks for, and what the providers show of every address that some object names.
 * Reads only. A failed provider read becomes a gap.
 *
 * @throws KubeError when a list of the cluster fails: then nothing is known well enough to act on.
 */
export async function observe({
  cluster,
  providers,
  dnsProviders,
  firewallProviders,
  clock,
  leaseName,
  reusable,
  notes,
}: ObserveDeps): Promise<Observation> {
  const [{ pools, recordSets, missingKinds, nodes, nodesReadAtMs, pods }, lease] = await Promise.all([
    readCluster(cluster),
    notes === undefined ? readLease(cluster, leaseName) : { annotations: notes },
  ]);
  const remembering = pools.map((pool) => restoreMemory(pool, cluster.now()));
  const facts = leaseFacts(lease, cluster.now());
  const asking = <P>([name, access]: readonly [string, ProviderAccess<P>]): AskOptions<P> => ({
    name,
    access,
    notBeforeMs: facts.providerNotBeforeMs.get(name),
    nowMs: cluster.now(),
    skewMs: () => cluster.now() - clock.wallMs(),
    reusable,
  });
  const [read, dns, firewalls] = await Promise.all([
    Promise.all([...providers].map((one) => readAddresses({ ...asking(one), pools: remembering, nodes }))),
    Promise.all([...dnsProviders].map((one) => readNames({ ...asking(one), pools, recordSets }))),
    Promise.all([...firewallProviders].map((one) => readFirewalls({ ...asking(one), pools }))),
  ]);
  const observation: Observation = {
    observedAtMs: cluster.now(),
    nodesReadAtMs,
    cluster: cluster.server,
    pools,
    recordSets,
    missingKinds,
    nodes,
    pods,
    providers: byName(read),
    dns: byName(dns),
    firewalls: byName(firewalls),
    lease: facts,
  };
  reusable?.keep(observation);
  return observation;
}

function byName<T extends { readonly name: string }>(facts: readonly (T | undefined)[]): ReadonlyMap<string, T> {
  return new Map(facts.flatMap((one) => (one === undefined ? [] : [[one.name, one] as const])));
}

/** A reader who may not see the Lease, or a cluster without its namespace, only lacks what earlier runs noted there. */
async function readLease(
  cluster: ClusterReader,
  { namespace, name }: ObserveDeps["leaseName"],
): Promise<LeaseRecord | undefined> {
  try {
    return await cluster.readLease(namespace, name);
  } catch (error) {
    if (error instanceof KubeError && (error.failure === "forbidden" || error.failure === "not-found"))
      return undefined;
    throw error;
  }
}
