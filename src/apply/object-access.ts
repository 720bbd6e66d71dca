import { InternalError } from "../model/errors.ts";
import { type AcquisitionNote, acquisitionNote } from "../model/lease-notes.ts";
import { type ObjectMeta, objectKey, type Pool, type RecordSet } from "../model/resource.ts";
import type { RoutedIP } from "../model/routed-ip.ts";
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
  readonly kind: "FloatingIPPool" | "NodeDNSRecordSet" | "RoutedIP";
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

const POOL_FIELDS = [
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
] as const;

/** FloatingIPPools of a cluster. */
export function poolAccess(cluster: ClusterWriter): ObjectAccess<Pool> {
  return {
    resource: "floatingippools",
    kind: "FloatingIPPool",
    recorded: POOL_FIELDS,
    patchStatus: (meta, status) => cluster.patchPoolStatus(meta, status),
    read: (meta) => cluster.readPool(meta),
    setFinalizer: (meta, isPresent) => cluster.setPoolFinalizer(meta, isPresent),
    note: { of: acquisitionNote, write: (meta, note) => cluster.notePoolAcquisitions(meta, note) },
  };
}

/** RoutedIPs of a cluster, as the pools that were observed: their issuers and Services are not read again. */
export function routedIPAccess(cluster: ClusterWriter, observed: readonly Pool[]): ObjectAccess<Pool> {
  const pools = new Map(observed.map((pool) => [objectKey(pool.meta), pool]));
  const asPool = ({ meta, status }: RoutedIP): Pool => {
    const pool = pools.get(objectKey(meta));
    if (pool === undefined) throw new InternalError(`RoutedIP ${objectKey(meta)} was not observed.`);
    return { ...pool, meta, status };
  };
  return {
    resource: "routedips",
    kind: "RoutedIP",
    recorded: ["firewalls", ...POOL_FIELDS, "issuer", "pendingFirewalls"],
    patchStatus: async (meta, status) => asPool(await cluster.patchRoutedIPStatus(meta, status)),
    async read(meta) {
      const stored = await cluster.readRoutedIP(meta);
      return stored && asPool(stored);
    },
    setFinalizer: async (meta, isPresent) => asPool(await cluster.setRoutedIPFinalizer(meta, isPresent)),
    note: {
      of: acquisitionNote,
      write: async (meta, note) => asPool(await cluster.noteRoutedIPAcquisitions(meta, note)),
    },
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
