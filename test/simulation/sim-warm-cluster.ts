import { objectKey } from "../../src/model/resource.ts";
import type { WarmCluster } from "../../src/ports/warm-cluster.ts";
import { MemoryWarmCluster } from "../fake/memory-warm-cluster.ts";
import type { Process } from "./process.ts";
import { simCluster } from "./sim-cluster.ts";

/**
 * The cluster as a watching process reaches it: lists that watches keep. Asking for one counts as the call that it is for a single run, so that it may be late, fail, as
 * when the watch is broken, or show the past, as when the watch is slow.
 */
export function simWarmCluster(process: Process): WarmCluster {
  const { world } = process.simulation;
  const lists = new MemoryWarmCluster({ sandbox: world.kubernetes, now: () => world.nowMs() });
  const read = <T>(operation: string, effect: () => Promise<T>): Promise<T> =>
    process.call({ side: "cluster", operation, subject: "", isWrite: false, args: [] }, effect);
  const write = <T>(
    operation: string,
    subject: string,
    args: readonly unknown[],
    effect: () => Promise<T>,
  ): Promise<T> => process.call({ side: "cluster", operation, subject, isWrite: true, args }, effect);
  return {
    ...simCluster(process),
    listPools: () => read("list-pools", () => lists.listPools()),
    listRecordSets: () => read("list-record-sets", () => lists.listRecordSets()),
    listNodes: () => read("list-nodes", () => lists.listNodes()),
    listPods: (selector) => read("list-pods", () => lists.listPods(selector)),
    patchPoolStatus: (meta, status) =>
      write("status", objectKey(meta), [status], () => lists.patchPoolStatus(meta, status)),
    setPoolFinalizer: (meta, isPresent) =>
      write("finalizer", objectKey(meta), [isPresent], () => lists.setPoolFinalizer(meta, isPresent)),
    patchRecordSetStatus: (meta, status) =>
      write("record-set-status", objectKey(meta), [status], () => lists.patchRecordSetStatus(meta, status)),
    setRecordSetFinalizer: (meta, isPresent) =>
      write("record-set-finalizer", objectKey(meta), [isPresent], () => lists.setRecordSetFinalizer(meta, isPresent)),
    annotateNode: (name, annotations) =>
      write("annotate", name, [annotations], () => lists.annotateNode(name, annotations)),
    onChange: (listener) => lists.onChange(listener),
    staleness: () => lists.staleness(),
    close: () => lists.close(),
  };
}
