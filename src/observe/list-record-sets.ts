import type { Observation } from "../model/observation.ts";
import type { RecordSet } from "../model/resource.ts";
import type { ClusterReader } from "../ports/cluster.ts";
import { orMissing } from "./or-missing.ts";

/** Every record set of a cluster; `missing` says why there can be none, where the cluster does not know the kind. */
export interface RecordSetListing {
  readonly recordSets: readonly RecordSet[];
  readonly missing?: Observation["missingKinds"];
}

/**
 * Lists the record sets; none where the cluster does not know the kind, see {@link orMissing}.
 * @throws KubeError when the list fails for any other reason
 */
export async function listRecordSets(cluster: Pick<ClusterReader, "listRecordSets">): Promise<RecordSetListing> {
  const { objects: recordSets, missing: error } = await orMissing(() => cluster.listRecordSets());
  return error === undefined ? { recordSets } : { recordSets, missing: [{ resource: "nodednsrecordsets", error }] };
}
