import type { WarmCluster } from "../../src/ports/cluster.ts";
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
  return {
    ...simCluster(process, lists),
    onChange: (listener) => lists.onChange(listener),
    staleness: () => lists.staleness(),
    close: () => lists.close(),
  };
}
