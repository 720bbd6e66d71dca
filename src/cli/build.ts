import type { PassResult } from "../model/run.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import type { LockState } from "../ports/lock.ts";
import type { Backend, ReconcileAnswer, ReconcileRequest } from "./backend.ts";
import type { Config } from "./config.ts";
import { openClusterReader, openClusterWriter } from "./open-cluster.ts";
import { openProviderReaders, openProviders } from "./providers.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";
import { withSandbox } from "./with-sandbox.ts";

const clock = SYSTEM_CLOCK;

/** Builds the real thing: adapters from the configuration, each loaded only when a command needs it. */
export function createBackend(): Backend {
  return {
    clock,
    withPlanWorld: (flags, work) =>
      withSandbox(flags, async (config) => {
        const { planPass } = await import("../reconcile.ts");
        const access = await openProviderReaders(config, clock);
        return withCluster(await openClusterReader(config, clock), (cluster) =>
          work({
            cluster,
            plan: (selection) => planPass({ cluster, ...access, clock, leaseName: config.lease }, selection),
          }),
        );
      }),
    withStatusWorld: (flags, work) =>
      withSandbox(flags, async (config) =>
        withCluster(await openClusterReader(config, clock), (cluster) => work({ cluster })),
      ),
    withReconcileWorld: (flags, work) =>
      withSandbox(flags, async (config) =>
        withCluster(await openClusterWriter(config, clock), (cluster) =>
          work({ cluster, reconcile: (request) => reconcile(config, cluster, request) }),
        ),
      ),
  };
}

async function withCluster<C extends { close(): void }, T>(cluster: C, work: (cluster: C) => Promise<T>): Promise<T> {
  try {
    return await work(cluster);
  } finally {
    cluster.close();
  }
}

async function reconcile(config: Config, cluster: ClusterWriter, request: ReconcileRequest): Promise<ReconcileAnswer> {
  const { NO_LOCK } = await import("./no-lock.ts");
  if (request.lock === undefined) return { kind: "done", value: await passes(config, cluster, request, NO_LOCK) };
  const { withLease } = await import("../watch/lease.ts");
  const { deadlineMs, signal, lock } = request;
  return withLease({ ...config.lease, ...lock, cluster, clock, signal, deadline: deadlineMs }, (held) =>
    passes(config, cluster, request, held),
  );
}

/** Passes, and leaves on the Lease how it went; a note that cannot be left changes nothing of that. */
async function passes(
  config: Config,
  cluster: ClusterWriter,
  { selection, settle, deadlineMs, signal, annotate }: ReconcileRequest,
  lock: LockState,
): Promise<PassResult> {
  const run = settle ? (await import("../settle.ts")).settle : (await import("../reconcile.ts")).reconcilePass;
  const access = await openProviders(config, clock);
  const deps = { cluster, ...access, clock, lock, leaseName: config.lease };
  const result = await run(deps, { selection, deadline: deadlineMs, signal });
  if (lock.isHeld()) await lock.annotate(annotate(result, cluster.now())).catch(() => undefined);
  return result;
}
