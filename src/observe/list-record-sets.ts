import { KubeError } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import type { RecordSet } from "../model/resource.ts";
import type { ClusterReader } from "../ports/cluster.ts";

/** Every record set of a cluster; `missing` says why there can be none, where the cluster does not know the kind. */
export interface RecordSetListing {
  readonly recordSets: readonly RecordSet[];
  readonly missing?: Observation["missingKinds"];
}

/**
 * Lists the record sets. A cluster that does not know the kind yet, as after an update of flipop alone, has none: that must not stop its pools.
 * @throws KubeError when the list fails for any other reason
 */
export async function listRecordSets(cluster: Pick<ClusterReader, "listRecordSets">): Promise<RecordSetListing> {
  try {
    return { recordSets: await cluster.listRecordSets() };
  } catch (error) {
    if (error instanceof KubeError && error.failure === "missing-resource")
      return { recordSets: [], missing: [{ resource: "nodednsrecordsets", error: error.message }] };
    throw error;
  }
}
