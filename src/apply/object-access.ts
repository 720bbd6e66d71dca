import { type AcquisitionNote, acquisitionNote } from "../model/acquisition-note.ts";
import type { ObjectMeta, Pool, RecordSet } from "../model/resource.ts";
import type { ClusterWriter } from "../ports/cluster.ts";

/** A custom resource as the journal keeps it. */
export interface StoredObject {
  readonly meta: ObjectMeta;
  readonly status: object;
}

/** How objects of one kind are read and written. */
export interface ObjectAccess<O extends StoredObject> {
  /** Plural name of the resource. */
  readonly resource: string;
  /** The kind, as Events name it. */
  readonly kind: "FloatingIPPool" | "NodeDNSRecordSet";
  /** Status fields that an answer must contain as they were sent, most important first; a CRD that does not know a field drops it silently. */
  readonly recorded: readonly (keyof O["status"])[];
  patchStatus(meta: ObjectMeta, status: O["status"]): Promise<O>;
  read(meta: ObjectMeta): Promise<O | undefined>;
  setFinalizer(meta: ObjectMeta, isPresent: boolean): Promise<O>;
  /** What of a status is noted on the object a second time, and how; absent for a kind that needs none of that. */
  readonly note?: {
    readonly of: (status: O["status"]) => AcquisitionNote;
    readonly write: (meta: ObjectMeta, note: AcquisitionNote) => Promise<O>;
  };
}

/** FloatingIPPools of a cluster. */
export function poolAccess(cluster: ClusterWriter): ObjectAccess<Pool> {
  return {
    resource: "floatingippools",
    kind: "FloatingIPPool",
    recorded: [
      "pendingAcquisitions",
      "acquired",
      "released",
      "retries",
      "lastAssignmentTime",
      "assignments",
      "publishedDNS",
      "formerDNS",
      "ips",
      "conditions",
    ],
    patchStatus: (meta, status) => cluster.patchPoolStatus(meta, status),
    read: (meta) => cluster.readPool(meta),
    setFinalizer: (meta, isPresent) => cluster.setPoolFinalizer(meta, isPresent),
    note: { of: acquisitionNote, write: (meta, note) => cluster.notePoolAcquisitions(meta, note) },
  };
}

/** NodeDNSRecordSets of a cluster. */
export function recordSetAccess(cluster: ClusterWriter): ObjectAccess<RecordSet> {
  return {
    resource: "nodednsrecordsets",
    kind: "NodeDNSRecordSet",
    recorded: ["publishedDNS", "formerDNS", "retries", "unreadyNodes", "conditions"],
    patchStatus: (meta, status) => cluster.patchRecordSetStatus(meta, status),
    read: (meta) => cluster.readRecordSet(meta),
    setFinalizer: (meta, isPresent) => cluster.setRecordSetFinalizer(meta, isPresent),
  };
}
