import { KubeError } from "../model/errors.ts";
import type { KnownFacts, Observation } from "../model/observation.ts";
import { restoreMemory } from "../plan/restore-memory.ts";
import type { Clock } from "../ports/clock.ts";
import type { ClusterReader, LeaseRecord } from "../ports/cluster.ts";
import type { DNSProviderReader } from "../ports/dns-provider.ts";
import type { FirewallProviderReader } from "../ports/firewall-provider.ts";
import type { IPProviderReader } from "../ports/ip-provider.ts";
import type { ProviderAccess } from "../ports/provider-access.ts";
import { leaseFacts } from "./lease-facts.ts";
import { readCluster } from "./read-cluster.ts";
import { type ReadDNSOptions, readDNS } from "./read-dns.ts";
import { readFirewalls } from "./read-firewalls.ts";
import { readProvider } from "./read-provider.ts";

/** What an observation reads from. */
export interface ObserveDeps {
  readonly cluster: ClusterReader;
  readonly providers: ReadonlyMap<string, ProviderAccess<IPProviderReader>>;
  readonly dnsProviders: ReadonlyMap<string, ProviderAccess<DNSProviderReader>>;
  readonly firewallProviders: ReadonlyMap<string, ProviderAccess<FirewallProviderReader>>;
  readonly clock: Clock;
  readonly leaseName: { readonly namespace: string; readonly name: string };
  /** Absent = every provider is asked. */
  readonly known?: KnownFacts | undefined;
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
  known,
  notes,
}: ObserveDeps): Promise<Observation> {
  const [{ pools, recordSets, missingKinds, nodes, nodesReadAtMs, pods }, lease] = await Promise.all([
    readCluster(cluster),
    notes === undefined ? readLease(cluster, leaseName) : { annotations: notes },
  ]);
  const remembering = pools.map((pool) => restoreMemory(pool, cluster.now()));
  const facts = leaseFacts(lease, cluster.now());
  const times = (name: string): Pick<ReadDNSOptions, "notBeforeMs" | "nowMs" | "skewMs"> => ({
    notBeforeMs: facts.providerNotBeforeMs.get(name),
    nowMs: cluster.now(),
    skewMs: () => cluster.now() - clock.wallMs(),
  });
  const [read, dns, firewalls] = await Promise.all([
    Promise.all(
      [...providers].map(([name, access]) =>
        readProvider({ name, access, pools: remembering, nodes, ...times(name), known: known?.providers.get(name) }),
      ),
    ),
    Promise.all(
      [...dnsProviders].map(([name, access]) =>
        readDNS({ name, access, pools, recordSets, ...times(name), known: known?.dns.get(name) }),
      ),
    ),
    Promise.all(
      [...firewallProviders].map(([name, access]) =>
        readFirewalls({ name, access, pools, ...times(name), known: known?.firewalls.get(name) }),
      ),
    ),
  ]);
  return {
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
