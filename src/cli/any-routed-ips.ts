import { KubeError } from "../model/errors.ts";
import type { RoutedIP } from "../model/routed-ip.ts";
import type { ClusterReader } from "../ports/cluster.ts";

/**
 * Returns the routed IPs of a cluster; none where it does not know the kind, as after an update of flipop alone.
 * @throws KubeError when the list fails for any other reason
 */
export async function anyRoutedIPs(cluster: Pick<ClusterReader, "listRoutedIPs">): Promise<readonly RoutedIP[]> {
  try {
    return await cluster.listRoutedIPs();
  } catch (error) {
    if (error instanceof KubeError && error.failure === "missing-resource") return [];
    throw error;
  }
}
