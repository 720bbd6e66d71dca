// Starts the clusters of the whole run, one for each worker, and stops them at the end.
import type { TestProject } from "vitest/node";
import { AssetsError, skipOrFail } from "./assets.ts";
import type {} from "./context.ts";
import { type Cluster, startCluster } from "./start.ts";

/** Provides `clusters` to the tests and returns what ends them. Provides none where the programs are missing. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const clusters: Cluster[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  };
  try {
    // The first one alone: it may have to fetch or build the programs.
    clusters.push(await startCluster());
    const others = Array.from({ length: project.config.maxWorkers - 1 }, () => startCluster());
    const started = await Promise.allSettled(others);
    clusters.push(...started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
    for (const one of started) if (one.status === "rejected") throw one.reason;
  } catch (error) {
    await stop();
    if (!(error instanceof AssetsError)) throw error;
    skipOrFail(error);
    clusters.length = 0;
  }
  project.provide(
    "clusters",
    clusters.map(({ server, caFile, adminToken, kubeconfig, directory }) => ({
      server,
      caFile,
      adminToken,
      kubeconfig,
      directory,
    })),
  );
  return stop;
}
