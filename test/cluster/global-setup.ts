// Starts one cluster for the whole run and stops it at the end.
import type { TestProject } from "vitest/node";
import { AssetsError, skipOrFail } from "./assets.ts";
import type {} from "./context.ts";
import { type Cluster, startCluster } from "./start.ts";

/** Provides `cluster` to the tests and returns what ends it. Provides `undefined` where the programs are missing. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await start();
  if (cluster === undefined) {
    project.provide("cluster", undefined);
    return async () => undefined;
  }
  const { server, caFile, adminToken, kubeconfig, directory } = cluster;
  project.provide("cluster", { server, caFile, adminToken, kubeconfig, directory });
  return async () => await cluster.stop();
}

async function start(): Promise<Cluster | undefined> {
  try {
    return await startCluster();
  } catch (error) {
    if (!(error instanceof AssetsError)) throw error;
    skipOrFail(error);
    return undefined;
  }
}
