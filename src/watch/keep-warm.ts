import type { KubeError } from "../model/errors.ts";
import { Interrupted, untilInterrupted } from "../observe/interrupt.ts";
import { readCluster } from "../observe/read-cluster.ts";
import type { WarmCluster } from "../ports/cluster.ts";
import type { Clock } from "../ports/system.ts";
import { backoffMs } from "./backoff.ts";
import { isPassingFailure } from "./passing-failure.ts";

/** How often a standby sees to it that whatever a pass would list is in memory, milliseconds: selectors come and go with the objects. */
const LOOK_MS = 5000;

/** What keeping warm works with. */
export interface KeepWarmDeps {
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
export async function keepWarm(
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
