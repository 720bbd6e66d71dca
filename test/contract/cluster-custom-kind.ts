import type { AcquisitionNote } from "../../src/model/acquisition-memory.ts";
import type { ObjectMeta, PoolStatus, RecordSetStatus, RoutedIPStatus } from "../../src/model/resource.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import type { ContractWorld, Manifest } from "./cluster-world.ts";
import { EMPTY_STATUS, FULL_STATUS } from "./pool-status-samples.ts";
import { EMPTY_RECORD_SET_STATUS, FULL_RECORD_SET_STATUS } from "./record-set-status-samples.ts";
import { FULL_ROUTED_IP_STATUS } from "./routed-ip-status-samples.ts";

// The custom resources that flipop writes, as the contract speaks of them.

type Place = Pick<ObjectMeta, "namespace" | "name">;

/** A custom object as the port returns it. */
export interface CustomObject<Status> {
  readonly meta: ObjectMeta;
  readonly spec: unknown;
  readonly status: Status;
}

/** One of the custom resources: its methods of the port, and what the contract sends through them. */
export interface CustomKind<Status> {
  readonly kind: "FloatingIPPool" | "NodeDNSRecordSet" | "RoutedIP";
  readonly crd: string;
  readonly list: (cluster: ClusterWriter) => Promise<readonly CustomObject<Status>[]>;
  readonly read: (cluster: ClusterWriter, place: Place) => Promise<CustomObject<Status> | undefined>;
  readonly patchStatus: (cluster: ClusterWriter, meta: ObjectMeta, status: Status) => Promise<CustomObject<Status>>;
  readonly setFinalizer: (
    cluster: ClusterWriter,
    meta: ObjectMeta,
    isPresent: boolean,
  ) => Promise<CustomObject<Status>>;
  /** A spec as short as possible, and how it is read. */
  readonly minimal: { readonly spec: object; readonly decoded: object };
  readonly empty: Status;
  /** Every field. */
  readonly full: Status;
  /** Fewer fields, entries and members than {@link full}. */
  readonly less: Status;
  /** Two that differ. */
  readonly twoErrors: readonly [Status, Status];
}

/** One of the custom resources that have acquired addresses. */
export interface NotedKind<Status> extends CustomKind<Status> {
  readonly note: (cluster: ClusterWriter, meta: ObjectMeta, note: AcquisitionNote) => Promise<CustomObject<Status>>;
}

const match = { nodeLabel: "", podNamespace: "", podLabel: "", tolerations: [] };
const common = { gracePeriodSeconds: 0, match, reclaimPolicy: "Retain", suspend: false };

/** FloatingIPPool. */
export const POOL_KIND: NotedKind<PoolStatus> = {
  kind: "FloatingIPPool",
  crd: "floatingippools.flipop.digitalocean.com",
  list: (cluster) => cluster.listPools(),
  read: (cluster, place) => cluster.readPool(place),
  patchStatus: (cluster, meta, status) => cluster.patchPoolStatus(meta, status),
  setFinalizer: (cluster, meta, isPresent) => cluster.setPoolFinalizer(meta, isPresent),
  note: (cluster, meta, note) => cluster.notePoolAcquisitions(meta, note),
  minimal: {
    spec: { provider: "digitalocean", ips: ["192.0.2.5"], match: {} },
    decoded: {
      ...common,
      provider: "digitalocean",
      region: "",
      ips: ["192.0.2.5"],
      desiredIPs: 0,
      assignmentCoolOffSeconds: 0,
      foreignHolder: "Hold",
    },
  },
  empty: EMPTY_STATUS,
  full: FULL_STATUS,
  less: {
    ...EMPTY_STATUS,
    observedGeneration: 1,
    ips: { "192.0.2.5": { state: "unassigned" } },
    nodeErrors: ["n: gone"],
    publishedDNS: { provider: "cloudflare", zone: "example.com", name: "example.com", addresses: [] },
  },
  twoErrors: [
    { ...EMPTY_STATUS, error: "first" },
    { ...EMPTY_STATUS, error: "second" },
  ],
};

/** NodeDNSRecordSet. */
export const RECORD_SET_KIND: CustomKind<RecordSetStatus> = {
  kind: "NodeDNSRecordSet",
  crd: "nodednsrecordsets.flipop.digitalocean.com",
  list: (cluster) => cluster.listRecordSets(),
  read: (cluster, place) => cluster.readRecordSet(place),
  patchStatus: (cluster, meta, status) => cluster.patchRecordSetStatus(meta, status),
  setFinalizer: (cluster, meta, isPresent) => cluster.setRecordSetFinalizer(meta, isPresent),
  minimal: {
    spec: { dnsRecordSet: { zone: "example.com", recordName: "nodes" } },
    decoded: {
      ...common,
      provider: "",
      dnsRecordSet: { provider: "", zone: "example.com", recordName: "nodes", ttlSeconds: 60 },
      addressType: "ExternalIP",
      whenEmpty: "Keep",
    },
  },
  empty: EMPTY_RECORD_SET_STATUS,
  full: FULL_RECORD_SET_STATUS,
  less: {
    ...EMPTY_RECORD_SET_STATUS,
    observedGeneration: 1,
    state: "active",
    publishedDNS: { provider: "cloudflare", zone: "example.com", name: "example.com", addresses: [] },
  },
  twoErrors: [
    { ...EMPTY_RECORD_SET_STATUS, error: "first" },
    { ...EMPTY_RECORD_SET_STATUS, error: "second" },
  ],
};

/** RoutedIP. */
export const ROUTED_IP_KIND: NotedKind<RoutedIPStatus> = {
  kind: "RoutedIP",
  crd: "routedips.flipop.digitalocean.com",
  list: (cluster) => cluster.listRoutedIPs(),
  read: (cluster, place) => cluster.readRoutedIP(place),
  patchStatus: (cluster, meta, status) => cluster.patchRoutedIPStatus(meta, status),
  setFinalizer: (cluster, meta, isPresent) => cluster.setRoutedIPFinalizer(meta, isPresent),
  note: (cluster, meta, note) => cluster.noteRoutedIPAcquisitions(meta, note),
  minimal: {
    spec: { issuer: "public", serviceName: "web" },
    decoded: {
      issuer: "public",
      address: "",
      serviceName: "web",
      ports: [],
      gracePeriodSeconds: 0,
      foreignHolder: "Hold",
      suspend: false,
    },
  },
  empty: EMPTY_STATUS,
  full: FULL_ROUTED_IP_STATUS,
  less: {
    ...EMPTY_STATUS,
    observedGeneration: 1,
    ips: { "192.0.2.5": { state: "unassigned" } },
    firewalls: [{ provider: "digitalocean", id: "fw-2", name: "", ports: [], machineIDs: ["2"] }],
  },
  twoErrors: [
    { ...EMPTY_STATUS, error: "first" },
    { ...EMPTY_STATUS, error: "second" },
  ],
};

/** An object of the kind in the world's namespace. */
export function manifestOf<Status>(
  { kind, minimal }: Pick<CustomKind<Status>, "kind" | "minimal">,
  { seed }: ContractWorld,
  name: string,
): Manifest {
  return {
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind,
    metadata: { namespace: seed.namespace(), name },
    spec: minimal.spec,
  };
}

/** The object of this name. @throws Error when there is none. */
export async function stored<Status>(
  kind: CustomKind<Status>,
  { cluster, seed }: ContractWorld,
  name: string,
): Promise<CustomObject<Status>> {
  const object = await kind.read(cluster, { namespace: seed.namespace(), name });
  if (object === undefined) throw new Error(`${kind.kind} ${name} was not seeded`);
  return object;
}

/** Seeds an object with the shortest spec and returns it as read back. */
export async function seeded<Status>(
  kind: CustomKind<Status>,
  world: ContractWorld,
  name: string,
): Promise<CustomObject<Status>> {
  await world.seed.object(manifestOf(kind, world, name));
  return await stored(kind, world, name);
}
