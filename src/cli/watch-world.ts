import { Attempts } from "../apply/attempts.ts";
import { ReusableFacts } from "../observe/reusable-facts.ts";
import type { WarmCluster } from "../ports/cluster.ts";
import { pass } from "../reconcile.ts";
import { type WatchDeps, type WatchLock, watch } from "../watch/watch.ts";
import type { Config } from "./config.ts";
import { type Machine, NO_LOCK, readMeters } from "./machine.ts";
import { openProviders, tokenState, unusableTokens } from "./providers.ts";
import { WatchNotes } from "./watch.ts";
import type { Backend, WatchRequest } from "./wiring.ts";

type WatchWorld = Parameters<Parameters<Backend["withWatchWorld"]>[1]>[0];

/** Returns what `reconcile --watch` works with, on a cluster whose lists are kept in memory. */
export function watchWorld(config: Config, cluster: WarmCluster, machine: Machine): WatchWorld {
  const { clock } = machine;
  return {
    cluster,
    staleness: () => cluster.staleness(),
    watch: async (request) => {
      const { identity, intervalMs, signal, onLead, onTurn, onWarm, onStandbyFailure } = request;
      const passUnder = await passes(config, cluster, machine, request);
      const deps = { cluster, clock, identity, onLead, tell: onTurn, onWarm, onFailure: onStandbyFailure, passUnder };
      return watch(deps, lockOf(config, request), { intervalMs, signal });
    },
  };
}

function lockOf({ lease }: Config, { lock }: WatchRequest): WatchLock {
  return lock === undefined ? NO_LOCK : { ...lease, ...lock };
}

/** The providers stay open from pass to pass, with their counts and limits, until a token appears or is gone. */
async function passes(
  config: Config,
  cluster: WarmCluster,
  machine: Machine,
  { selection, passMs, signal, annotate, intervalMs, onRun }: WatchRequest,
): Promise<WatchDeps["passUnder"]> {
  let tokens = tokenState(config);
  const { clock } = machine;
  let open = await openProviders(config, machine);
  return (lock) => {
    const counts = new WatchNotes({
      clock,
      lock,
      now: () => cluster.now(),
      readMeters: () => readMeters(open.meters),
      annotate,
      intervalMs,
    });
    const reusable = new ReusableFacts(clock);
    const attempts = new Attempts();
    return async ({ isFullLook, ...manner }) => {
      const now = tokenState(config);
      if (now.present !== tokens.present) open = await openProviders(config, machine);
      // What another token was refused, this one may be allowed.
      if (isFullLook || now.fingerprint !== tokens.fingerprint) reusable.forget();
      tokens = now;
      const startMs = clock.monotonicMs();
      const { meters: _meters, ...access } = open;
      // As long as the providers need not be asked anew the Lease need not be, either: nobody else writes what this process renews.
      const notes = isFullLook || lock === NO_LOCK ? undefined : lock.annotations();
      const made = await pass(
        {
          cluster,
          ...access,
          clock,
          lock,
          leaseName: config.lease,
          reusable,
          attempts,
          notes,
        },
        { selection, deadline: startMs + passMs, signal, ...manner },
      );
      const result = { ...made.result, unusableTokens: unusableTokens(config) };
      onRun(await counts.note(result, startMs));
      return { ...made, result };
    };
  };
}
