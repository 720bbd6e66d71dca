import type { Observation } from "../model/observation.ts";
import { objectKey, type Pool } from "../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../model/routed-ip.ts";
import type { ServiceFacts } from "../model/service.ts";
import { routedPool } from "../plan/addresses/routed-pool.ts";
import type { ClusterReader } from "../ports/cluster.ts";
import { orMissing } from "./or-missing.ts";

/** The routed IPs of a cluster as pools; `missing` says why there can be none, where the cluster does not know the kind. */
export interface RoutedIPListing {
  readonly pools: readonly Pool[];
  readonly missing?: Observation["missingKinds"];
}

/**
 * Lists the routed IPs with what they refer to; issuers and Services are listed only where there are routed IPs. A cluster that does not know the kind has none.
 * @throws KubeError when a list fails for any other reason
 */
export async function readRoutedIPs(cluster: ClusterReader): Promise<RoutedIPListing> {
  const routed = await orMissing(() => cluster.listRoutedIPs());
  if (routed.missing !== undefined) return { pools: [], missing: [{ resource: "routedips", error: routed.missing }] };
  if (routed.objects.length === 0) return { pools: [] };
  const [issuers, services] = await Promise.all([
    orMissing(() => cluster.listRoutedIPIssuers()),
    cluster.listServices(),
  ]);
  const pools = asPools(routed.objects, issuers.objects, services);
  return issuers.missing === undefined
    ? { pools }
    : { pools, missing: [{ resource: "routedipissuers", error: issuers.missing }] };
}

function asPools(
  routedIPs: readonly RoutedIP[],
  issuers: readonly RoutedIPIssuer[],
  services: readonly ServiceFacts[],
): readonly Pool[] {
  const references = {
    issuers: new Map(issuers.map((issuer) => [objectKey(issuer.meta), issuer])),
    services: new Map(services.map((service) => [objectKey(service), service])),
  };
  return routedIPs.map((routedIP) => routedPool(routedIP, references));
}
