import { KubeError } from "../model/errors.ts";
import { asksItsHost, HOST_PODS, type HostPods, hostPods } from "../model/host-agent.ts";
import type { NodeFacts } from "../model/node.ts";
import type { ClusterReader } from "../ports/cluster.ts";

/**
 * Reads the pods of `flipop host` by one list, if some node asks its host for addresses; else none is read, and undefined is returned. Whoever may not read them is told
 * why nothing is known of them.
 * @param cluster - without `listPods` it is a snapshot, which does not hold them
 */
export async function readHostPods(
  cluster: Partial<Pick<ClusterReader, "listPods">>,
  nodes: readonly NodeFacts[],
): Promise<HostPods | undefined> {
  if (!nodes.some(asksItsHost)) return undefined;
  if (cluster.listPods === undefined) return { kind: "unread", error: "The snapshot does not hold its pods." };
  try {
    return hostPods(await cluster.listPods(HOST_PODS));
  } catch (error) {
    if (error instanceof KubeError) return { kind: "unread", error: error.message };
    throw error;
  }
}
