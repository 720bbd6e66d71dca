import type { KubeError } from "../model/errors.ts";
import type { Pass } from "../model/run.ts";
import type { Shard } from "../model/shard.ts";
import { Interrupted, untilInterrupted } from "../observe/interrupt.ts";
import { readCluster } from "../observe/read-cluster.ts";
import type { WarmCluster } from "../ports/cluster.ts";
import type { Clock, LockState } from "../ports/system.ts";
import { type LeaseOptions, NO_LOCK } from "./lease.ts";
import type { LeaseName, LeaseTerms } from "./lease-acquire.ts";
import { type ShardAnswer, withShardLease } from "./shard-lock.ts";
import {
  backoffMs,
  isPassingFailure,
  type LoopPass,
  type WatchedPass,
  type WatchLoopOptions,
  watchLoop,
} from "./watch-loop.ts";

/** Is told how watching goes. */
export interface WatchListener {
  /** Called whenever a standby has all that it would need in memory. */
  readonly onWarm: () => void;
  /** Called each time that a standby cannot read the cluster; `failures` = how many times in a row. */
  readonly onStandbyFailure: (error: KubeError, failures: number) => void;
  /** Called when this process has the lock and begins to pass. */
  readonly onLead: () => void;
  /** Called after each pass, also after one that could not read the cluster. */
  readonly onPass: (pass: WatchedPass) => void;
}

/** The collaborators of a watching process. */
export interface WatchDeps extends WatchListener {
  readonly cluster: WarmCluster;
  readonly clock: Clock;
  /** Names this process, so that processes do not all try again at once. */
  readonly identity: string;
  /** Called once, with the lock. Returns what makes one pass. */
  readonly lead: (lock: LockState) => (manner: LoopPass) => Promise<Pass>;
}

/** The end of watching: asked to, or never begun because someone else kept the Lease. */
export type WatchAnswer =
  | { readonly kind: "stopped"; readonly isLeaseFree?: true }
  | Extract<ShardAnswer<never>, { readonly kind: "locked" }>;

/** The Lease of a watching process. */
export type WatchLease = LeaseName &
  LeaseTerms &
  Pick<LeaseOptions, "onKept" | "annotateFailure"> & { readonly shard?: Shard | undefined };

/** The time between two looks of a standby at the Lease, milliseconds: a Lease that is given back is taken within a second. */
const STANDBY_LOOK_MS = 750;

/**
 * Runs one watching process until the signal is aborted:
 *
 *   standby   lists in memory, waits for the Lease          Standby
 *   leader    passes whenever something changes             watchLoop
 *   end       gives the Lease back                          withShardLease
 *
 * Without `lease` it leads at once, under no lock.
 * @throws what {@link watchLoop}, {@link withShardLease} and a standby that can never read the cluster throw: the process is to end.
 */
export async function watch(
  deps: WatchDeps,
  lease: WatchLease | undefined,
  options: WatchLoopOptions,
): Promise<WatchAnswer> {
  const { cluster, clock, identity, onPass } = deps;
  const lead = async (lock: LockState): Promise<void> => {
    deps.onLead();
    await watchLoop({ cluster, clock, identity, onPass, lock, pass: deps.lead(lock) }, options);
  };
  if (lease === undefined) {
    await lead(NO_LOCK);
    return { kind: "stopped" };
  }
  const standby = new Standby(deps, options.signal);
  const waiting = { lookMs: STANDBY_LOOK_MS, signal: standby.signal, deadline: Number.POSITIVE_INFINITY };
  try {
    let isLeaseFree = false;
    const onRelease = (): void => {
      isLeaseFree = true;
    };
    const answer = await withShardLease({ ...lease, ...waiting, cluster, clock, onRelease }, async (held) => {
      await standby.end();
      await lead(held);
    });
    if (answer.kind === "locked") return options.signal.aborted ? { kind: "stopped" } : answer;
    return isLeaseFree ? { kind: "stopped", isLeaseFree: true } : { kind: "stopped" };
  } finally {
    await standby.end();
  }
}

/** The time after which a standby reads again whatever a pass would list, milliseconds: selectors come and go with the objects. */
const LOOK_MS = 5000;

/** Keeps in memory all lists that a pass would ask for, so that a new leader need not list. If they can never be read, it ends the wait for the Lease. */
class Standby {
  /** Aborted when waiting for the Lease is to end. */
  readonly signal: AbortSignal;
  readonly #deps: WatchDeps;
  readonly #ending = new AbortController();
  readonly #failing = new AbortController();
  readonly #warming: Promise<void>;
  #failure: { readonly error: unknown } | undefined;

  constructor(deps: WatchDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.signal = AbortSignal.any([signal, this.#failing.signal]);
    this.#warming = this.#keepWarm(AbortSignal.any([signal, this.#ending.signal])).catch((error: unknown) => {
      this.#failure = { error };
      this.#failing.abort();
    });
  }

  /** Ends keeping warm. @throws ConfigError, or KubeError `forbidden` or `unauthorized` if nothing could ever be listed */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#warming;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #keepWarm(signal: AbortSignal): Promise<void> {
    const { cluster, clock, identity, onWarm, onStandbyFailure } = this.#deps;
    let failures = 0;
    let hasListed = false;
    while (!signal.aborted) {
      try {
        await untilInterrupted(readCluster({ cluster }), signal);
        hasListed = true;
        failures = 0;
        onWarm();
      } catch (error) {
        if (error instanceof Interrupted) return;
        if (!isPassingFailure(error, hasListed)) throw error;
        failures += 1;
        onStandbyFailure(error, failures);
      }
      await clock.sleep(failures === 0 ? LOOK_MS : backoffMs(failures, identity), signal);
    }
  }
}
