import { runProcess } from "../../src/cli/command-line.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import type { Planner, Wiring } from "../../src/cli/wiring.ts";
import { NO_TIME } from "../report/runs.ts";
import { aNode, anObservation, aPool, planOf } from "../report/world.ts";

// A program for process.test.ts: the real command line on a world with as many nodes as the variable NODES says.

const count = Number(process.env["NODES"]);
const observation = anObservation(
  [
    aPool("web", ["203.0.113.1"], {
      spec: { match: { nodeLabel: "x", podNamespace: "", podLabel: "", tolerations: [] } },
    }),
  ],
  [aNode(1, { labels: { x: "1" } }), ...Array.from({ length: count }, (_, at) => aNode(at + 2))],
  { "203.0.113.1": undefined },
);
const cluster: Planner["cluster"] = {
  server: "https://k",
  now: () => 0,
  listPools: async () => observation.pools,
  listRecordSets: async () => [],
  listRoutedIPs: async () => [],
  listRoutedIPIssuers: async () => [],
  listServices: async () => [],
  listNodes: async () => observation.nodes,
  readLease: async () => undefined,
  hasNamespace: async () => undefined,
  listEvents: async () => [],
  clusterUID: async () => "",
};

/** Writes a line once a reconcile is under way, and ends it only when it is asked to, as a run with a call in flight does. */
function untilStopped(signal: AbortSignal): Promise<void> {
  process.stderr.write("working\n");
  const call = setInterval(() => undefined, 1000);
  return new Promise((resolve) => {
    if (process.env["DEAF"] === "1") return;
    signal.addEventListener("abort", () => {
      clearInterval(call);
      process.stderr.write("released\n");
      resolve();
    });
  });
}

const plan = planOf(observation);
const wiring: Wiring = {
  clock: SYSTEM_CLOCK,
  withPlanner: (_, work) => work({ cluster, plan: async () => ({ observation, plan }) }),
  withReader: (_, work) => work(cluster),
  withLive: () => Promise.reject(new Error("this wiring asks no servers")),
  withWatcher: () => Promise.reject(new Error("this wiring does not watch")),
  withTrial: () => Promise.reject(new Error("this wiring tries no objects")),
  withAnnotator: () => Promise.reject(new Error("this wiring does not annotate")),
  withHost: () => Promise.reject(new Error("this wiring has no host")),
  withSources: () => Promise.reject(new Error("this wiring does not examine")),
  withReconciler: (_, _deadlineMs, work) =>
    work({
      cluster,
      where: "nowhere",
      reconcile: async ({ signal }) => {
        await untilStopped(signal);
        return {
          kind: "done",
          value: { plan, outcomes: [], remaining: plan, reportFailures: [], wasInterrupted: true, timing: NO_TIME },
        };
      },
    }),
};

await runProcess(() => Promise.resolve(wiring));
