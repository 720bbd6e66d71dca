import { objectKey } from "../../src/model/resource.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { MemoryCluster } from "../fake/memory-cluster.ts";
import type { Process } from "./process.ts";

/** The cluster as one process reaches it: every call may be late, fail, or be its last. */
export function simCluster(process: Process, cluster: ClusterWriter = memoryCluster(process)): ClusterWriter {
  /** `namespace` = the one that a list is about; `""` = all. */
  const read = <T>(operation: string, subject: string, effect: () => Promise<T>, namespace = ""): Promise<T> => {
    const args = namespace === "" ? [] : [namespace];
    return process.call({ side: "cluster", operation, subject, isWrite: false, args }, effect);
  };
  const write = <T>(
    operation: string,
    subject: string,
    args: readonly unknown[],
    effect: () => Promise<T>,
  ): Promise<T> => process.call({ side: "cluster", operation, subject, isWrite: true, args }, effect);
  return {
    server: cluster.server,
    now: () => cluster.now(),
    listPools: () => read("list-pools", "", () => cluster.listPools()),
    listRecordSets: () => read("list-record-sets", "", () => cluster.listRecordSets()),
    // Asked as if it were no call where there are none, so that a seed means the history it meant before there were any.
    listRoutedIPs: async () => {
      const listed = await cluster.listRoutedIPs();
      return listed.length === 0 ? listed : await read("list-routed-ips", "", () => cluster.listRoutedIPs());
    },
    listRoutedIPIssuers: () => read("list-issuers", "", () => cluster.listRoutedIPIssuers()),
    listNamespaceGrants: () => read("list-namespaces", "", () => cluster.listNamespaceGrants()),
    listServices: () => read("list-services", "", () => cluster.listServices()),
    listEndpointSlices: (service) =>
      read("list-endpoint-slices", objectKey(service), () => cluster.listEndpointSlices(service), service.namespace),
    listNodes: () => read("list-nodes", "", () => cluster.listNodes()),
    listPods: (selector) =>
      read("list-pods", `|${selector.label}`, () => cluster.listPods(selector), selector.namespace),
    readPool: (meta) => read("read-pool", objectKey(meta), () => cluster.readPool(meta)),
    readRecordSet: (meta) => read("read-record-set", objectKey(meta), () => cluster.readRecordSet(meta)),
    readRoutedIP: (meta) => read("read-routed-ip", objectKey(meta), () => cluster.readRoutedIP(meta)),
    readNode: (name) => read("read-node", name, () => cluster.readNode(name)),
    readPodsOn: (selector, name) => read("read-pods", name, () => cluster.readPodsOn(selector, name)),
    readEndpointSlices: (service) =>
      read("read-endpoint-slices", objectKey(service), () => cluster.readEndpointSlices(service)),
    readLease: (namespace, name) => read("read-lease", "", () => cluster.readLease(namespace, name)),
    patchPoolStatus: (meta, status) =>
      write("status", objectKey(meta), [status], () => cluster.patchPoolStatus(meta, status)),
    setPoolFinalizer: (meta, isPresent) =>
      write("finalizer", objectKey(meta), [isPresent], () => cluster.setPoolFinalizer(meta, isPresent)),
    notePoolAcquisitions: (meta, note) =>
      write("note", objectKey(meta), [note], () => cluster.notePoolAcquisitions(meta, note)),
    patchRecordSetStatus: (meta, status) =>
      write("record-set-status", objectKey(meta), [status], () => cluster.patchRecordSetStatus(meta, status)),
    setRecordSetFinalizer: (meta, isPresent) =>
      write("record-set-finalizer", objectKey(meta), [isPresent], () => cluster.setRecordSetFinalizer(meta, isPresent)),
    patchRoutedIPStatus: (meta, status) =>
      write("routed-ip-status", objectKey(meta), [status], () => cluster.patchRoutedIPStatus(meta, status)),
    setRoutedIPFinalizer: (meta, isPresent) =>
      write("routed-ip-finalizer", objectKey(meta), [isPresent], () => cluster.setRoutedIPFinalizer(meta, isPresent)),
    noteRoutedIPAcquisitions: (meta, note) =>
      write("routed-ip-note", objectKey(meta), [note], () => cluster.noteRoutedIPAcquisitions(meta, note)),
    annotateNode: (name, annotations) =>
      write("annotate", name, [annotations], () => cluster.annotateNode(name, annotations)),
    createEvent: (event) => write("event", objectKey(event.regarding.meta), [event], () => cluster.createEvent(event)),
    createLease: (lease) => write("create-lease", "", [lease], () => cluster.createLease(lease)),
    replaceLease: (lease) => write("replace-lease", "", [lease], () => cluster.replaceLease(lease)),
  };
}

function memoryCluster({ simulation: { world } }: Process): MemoryCluster {
  return new MemoryCluster({ sandbox: world.kubernetes, now: () => world.nowMs() });
}
