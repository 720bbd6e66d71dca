// How a test file reaches the cluster that the global setup has started for the whole run.
import { describe, inject, test } from "vitest";
import type { ClusterFacts } from "./start.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The shared cluster; `undefined` where etcd and kube-apiserver are missing. */
    cluster: ClusterFacts | undefined;
  }
}

/** Declares a group of tests that needs the shared cluster; where there is none, one skipped test says so. */
export function describeCluster(title: string, body: (cluster: ClusterFacts) => void): void {
  const cluster = inject("cluster");
  if (cluster === undefined) describe(title, () => test.skip("needs etcd and kube-apiserver", () => undefined));
  else describe(title, () => body(cluster));
}
