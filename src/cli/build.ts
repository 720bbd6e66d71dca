import type { RunEnd } from "../model/run.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import type { LockState } from "../ports/system.ts";
import type { Backend, NotedRun, ReconcileAnswer, ReconcileRequest } from "./backend.ts";
import type { Config } from "./config.ts";
import type { Machine } from "./machine.ts";
import { openClusterReader, openClusterWriter, openWarmCluster } from "./open-cluster.ts";
import { openProviderReaders, openProviders, unusableTokens } from "./providers.ts";
import { readMeters } from "./read-meters.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";
import { withSandbox } from "./with-sandbox.ts";

/** Kept for what a run writes to the cluster at its end, when the providers have kept it waiting; milliseconds. */
const LAST_WORDS_MS = 1500;

/** Builds the real thing: adapters from the configuration, each loaded only when a command needs it. */
export function createBackend(machine: Machine = { clock: SYSTEM_CLOCK }): Backend {
  const { clock } = machine;
  return {
    clock,
    withPlanWorld: (flags, work) =>
      withSandbox(flags, async (config) => {
        const { planPass } = await import("../reconcile.ts");
        const access = await openProviderReaders(config, machine);
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
    withWatchWorld: (flags, work) =>
      withSandbox(flags, async (config) => {
        const { watchWorld } = await import("./watch-world.ts");
        return withCluster(await openWarmCluster(config, clock), (cluster) =>
          work(watchWorld(config, cluster, machine)),
        );
      }),
    withReconcileWorld: (flags, deadlineMs, work) =>
      withSandbox(flags, async (config) =>
        withCluster(await openClusterWriter(config, clock, deadlineMs), (cluster) =>
          work({ cluster, reconcile: (request) => reconcile(machine, config, cluster, request) }),
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

async function reconcile(
  machine: Machine,
  config: Config,
  cluster: ClusterWriter,
  request: ReconcileRequest,
): Promise<ReconcileAnswer> {
  const { clock } = machine;
  const { deadlineMs, signal, lock } = request;
  const startMs = clock.monotonicMs();
  const { NO_LOCK } = await import("./no-lock.ts");
  if (lock === undefined) return done(await passes(machine, config, cluster, request, { lock: NO_LOCK, startMs }));
  const { withLease } = await import("../watch/lease.ts");
  const answer = await withLease({ ...config.lease, ...lock, cluster, clock, signal, deadline: deadlineMs }, (held) =>
    passes(machine, config, cluster, request, { lock: held, startMs }),
  );
  return answer.kind === "locked" ? answer : done(answer.value);
}

function done(noted: NotedRun): ReconcileAnswer {
  return { kind: "done", value: noted.end.result, noted };
}

/** Passes, and leaves on the Lease how it went; a note that cannot be left changes nothing of that. */
async function passes(
  machine: Machine,
  config: Config,
  cluster: ClusterWriter,
  { selection, settle, deadlineMs, signal, annotate, lock: wanted }: ReconcileRequest,
  { lock, startMs }: { readonly lock: LockState; readonly startMs: number },
): Promise<NotedRun> {
  const run = settle ? (await import("../settle.ts")).settle : (await import("../reconcile.ts")).reconcilePass;
  const { meters, ...access } = await openProviders(config, { ...machine, untilMs: deadlineMs - LAST_WORDS_MS });
  const { clock } = machine;
  const deps = { cluster, ...access, clock, lock, leaseName: config.lease };
  const passed = await run(deps, { selection, deadline: deadlineMs, signal });
  const result = { ...passed, unusableTokens: unusableTokens(config) };
  const end = {
    result,
    endedAtMs: cluster.now(),
    durationMs: clock.monotonicMs() - startMs,
    meters: readMeters(meters),
    notes: wanted === undefined ? await storedNotes(config, cluster) : lock.annotations(),
  };
  if (wanted === undefined || !lock.isHeld()) return { end, isNoted: false };
  const isNoted = await lock.annotate(annotate(end)).then(
    () => true,
    () => false,
  );
  return { end, isNoted };
}

/** What runs with the lock have left; nothing where it cannot be read. */
async function storedNotes({ lease }: Config, cluster: ClusterWriter): Promise<RunEnd["notes"]> {
  const record = await cluster.readLease(lease.namespace, lease.name).catch(() => undefined);
  return record?.annotations ?? {};
}
