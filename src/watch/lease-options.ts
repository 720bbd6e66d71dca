import { ConfigError } from "../model/errors.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import type { Clock } from "../ports/system.ts";

/** The methods the lock needs of a cluster. */
export type LeaseStore = Pick<ClusterWriter, "now" | "readLease" | "createLease" | "replaceLease">;

/** Which Lease to hold, as whom, for how long, and what to do while someone else holds it. */
export interface LeaseOptions {
  readonly cluster: LeaseStore;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** Names this process, uniquely; shown to others as the holder. */
  readonly identity: string;
  /** After this long without a renewal others may take the Lease; whole seconds on the wire, rounded up. */
  readonly durationMs: number;
  /** After this long without a successful renewal the holder gives up by itself. */
  readonly renewDeadlineMs: number;
  /** Time between two renewals, and between two looks at a Lease held by someone else; lengthened by up to a fifth. */
  readonly retryMs: number;
  /** Time between two looks at a Lease held by someone else, when that is less than {@link retryMs}; lengthened as that. */
  readonly lookMs?: number;
  /** `fail` and `skip` differ for the caller only: both end as soon as the holder is seen to be alive. */
  readonly onLocked: "fail" | "skip" | "wait";
  /** When waiting ends, in {@link Clock.monotonicMs}. It does not bound the work. */
  readonly deadline: number;
  /** Ends waiting; work that has begun is not interrupted by it. */
  readonly signal: AbortSignal;
}

/** How long one call may take: half the renew deadline, so that one lost call does not lose the Lease. Milliseconds. */
export function callLimitMs(options: LeaseOptions): number {
  return options.renewDeadlineMs / 2;
}

/**
 * Checks the three periods against each other, as client-go does.
 * @throws ConfigError `usage` naming the two flags that do not fit.
 */
export function checkLeaseOptions(options: LeaseOptions): void {
  const { durationMs, renewDeadlineMs, retryMs, identity } = options;
  if (!(durationMs >= 1000)) throw unfit("--lease-duration", durationMs, "must be at least 1s");
  if (!(renewDeadlineMs < durationMs)) {
    throw unfit("--renew-deadline", renewDeadlineMs, `must be shorter than --lease-duration (${durationMs} ms)`);
  }
  if (!(retryMs > 0 && retryMs * 1.2 < renewDeadlineMs)) {
    throw unfit(
      "--retry-period",
      retryMs,
      `must be above 0 and 1.2 times it below --renew-deadline (${renewDeadlineMs} ms)`,
    );
  }
  if (identity === "") throw new ConfigError("usage", "The Lease needs a holder with a name: the identity is empty.");
}

function unfit(flag: string, ms: number, rule: string): ConfigError {
  return new ConfigError("usage", `${flag} is ${ms} ms: it ${rule}.`);
}
