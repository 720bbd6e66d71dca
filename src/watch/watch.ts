import type { KubeError } from "../model/errors.ts";
import { Interrupted, untilInterrupted } from "../observe/interrupt.ts";
import { readCluster } from "../observe/read-cluster.ts";
import type { WarmCluster } from "../ports/cluster.ts";
import type { Clock, LockState } from "../ports/system.ts";
import { withLease } from "./lease.ts";
import type { LeaseOptions } from "./lease-acquire.ts";
import { backoffMs, isPassingFailure, type WatchLoopDeps, type WatchLoopOptions, watchLoop } from "./watch-loop.ts";

/** How often a standby looks at the Lease, milliseconds: what is given back is taken within a second. */
const STANDBY_LOOK_MS = 750;

/** What watching works with: as the loop, before the lock is there. */
export interface WatchDeps extends Omit<WatchLoopDeps, "lock" | "pass" | "cluster">, KeepWarmDeps {
  readonly cluster: WarmCluster;
  readonly passUnder: (lock: LockState) => WatchLoopDeps["pass"];
  /** Told when this process has the lock and begins to pass. */
  readonly onLead: () => void;
}

/** Which Lease to hold, as {@link LeaseOptions}; or a lock that needs none. */
export type WatchLock = Omit<LeaseOptions, "cluster" | "clock" | "signal" | "deadline"> | LockState;

/** How watching ended: asked to, or never begun because someone else kept the Lease. */
export type WatchAnswer = { readonly kind: "stopped" } | { readonly kind: "locked"; readonly holder: string };

/**
 * Waits for the Lease with all lists in memory, then passes whenever something changes, until the signal is aborted; the Lease is given back then.
 *
 * @throws what {@link watchLoop}, {@link keepWarm} and {@link withLease} throw: the process is to end.
 */
export async function watch(deps: WatchDeps, lock: WatchLock, options: WatchLoopOptions): Promise<WatchAnswer> {
  const lead = async (held: LockState): Promise<void> => {
    deps.onLead();
    await watchLoop({ ...deps, lock: held, pass: deps.passUnder(held) }, options);
  };
  if ("isHeld" in lock) {
    await lead(lock);
    return { kind: "stopped" };
  }
  const standby = new Standby(deps, options.signal);
  try {
    const { cluster, clock } = deps;
    const answer = await withLease(
      { lookMs: STANDBY_LOOK_MS, ...lock, cluster, clock, signal: standby.signal, deadline: Number.POSITIVE_INFINITY },
      async (held) => {
        await standby.end();
        await lead(held);
      },
    );
    return answer.kind === "locked" && !options.signal.aborted ? answer : { kind: "stopped" };
  } finally {
    await standby.end();
  }
}

/** Keeps the lists in memory while the Lease is waited for; where they can never be read the waiting ends, too. */
class Standby {
  /** Aborted when waiting for the Lease is to end. */
  readonly signal: AbortSignal;
  private readonly ending = new AbortController();
  private readonly failing = new AbortController();
  private readonly warming: Promise<void>;
  private failure: { readonly error: unknown } | undefined;

  constructor(deps: KeepWarmDeps, signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.failing.signal]);
    this.warming = keepWarm(deps, AbortSignal.any([signal, this.ending.signal])).catch((error: unknown) => {
      this.failure = { error };
      this.failing.abort();
    });
  }

  /** Ends keeping warm. @throws what made it impossible */
  async end(): Promise<void> {
    this.ending.abort();
    await this.warming;
    if (this.failure !== undefined) throw this.failure.error;
  }
}

/** How often a standby sees to it that whatever a pass would list is in memory, milliseconds: selectors come and go with the objects. */
const LOOK_MS = 5000;

/** What keeping warm works with. */
interface KeepWarmDeps {
  readonly cluster: WarmCluster;
  readonly clock: Clock;
  readonly identity: string;
  /** Told whenever all that is needed is in memory. */
  readonly onWarm: () => void;
  /** Told of every failure to read the cluster, and how many there were in a row. */
  readonly onFailure: (error: KubeError, failures: number) => void;
}

/**
 * Keeps in memory all lists that a pass would ask for, until the signal is aborted: who takes over need not list.
 *
 * @throws ConfigError; KubeError `forbidden` or `unauthorized` while nothing has ever been listed.
 */
async function keepWarm(
  { cluster, clock, identity, onWarm, onFailure }: KeepWarmDeps,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  let hasListed = false;
  while (!signal.aborted) {
    try {
      await untilInterrupted(readCluster(cluster), signal);
      hasListed = true;
      failures = 0;
      onWarm();
    } catch (error) {
      if (error instanceof Interrupted) return;
      if (!isPassingFailure(error, hasListed)) throw error;
      failures += 1;
      onFailure(error, failures);
    }
    await clock.sleep(failures === 0 ? LOOK_MS : backoffMs(failures, identity), signal);
  }
}
