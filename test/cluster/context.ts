// How a test file reaches a cluster that the global setup has started for the whole run.
import { describe, inject, test } from "vitest";
import type { ClusterFacts } from "./start.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A cluster for each worker; none where etcd and kube-apiserver are missing. */
    clusters: readonly ClusterFacts[];
  }
}

/** Declares a group of tests that needs a cluster, which no other file uses meanwhile; where there is none, one skipped test says so. */
export function describeCluster(title: string, body: (cluster: ClusterFacts) => void): void {
  const clusters = inject("clusters");
  // Vitest numbers its workers from 1, and gives a worker's number to its successor.
  const cluster = clusters[Number(process.env["VITEST_POOL_ID"] ?? 1) - 1];
  if (cluster !== undefined) describe(title, () => body(cluster));
  else if (clusters.length > 0) throw new Error("there are more workers than clusters");
  else describe(title, () => test.skip("needs etcd and kube-apiserver", () => undefined));
}
