import { acquireLease } from "./lease-acquire.ts";
import { type HeldLease, LeaseKeeper } from "./lease-keeper.ts";
import { checkLeaseOptions, type LeaseOptions } from "./lease-options.ts";

/**
 * Runs `work` while holding the Lease, and gives it back afterwards, also when the work throws.
 *
 * `done` has the work's value; whether the Lease was lost on the way is for the work to notice (`lock.isHeld()`,
 * `lock.lost`): there is no fencing, so it must ask before every mutation. `locked` means the work never began, because
 * someone else kept the Lease (until the deadline with `wait`) or the signal came first; `holder` is `""` when it is not
 * known who.
 *
 * Effects: one read and one write to take it, one write per retry period while the work runs, one to give it back.
 * Annotations of the Lease are kept by all of them.
 *
 * @throws ConfigError `usage` when the periods do not fit together, `invalid` when the namespace does not exist;
 * KubeError when the API refuses or stays away; what `work` throws.
 */
export async function withLease<T>(
  options: LeaseOptions,
  work: (lock: HeldLease) => Promise<T>,
): Promise<{ kind: "done"; value: T } | { kind: "locked"; holder: string }> {
  checkLeaseOptions(options);
  const taken = await acquireLease(options);
  if (taken.kind === "locked") return taken;
  const keeper = new LeaseKeeper(options, taken);
  const keeping = keeper.keep();
  try {
    if (options.signal.aborted) return { kind: "locked", holder: "" };
    return { kind: "done", value: await work(keeper) };
  } finally {
    await keeper.release();
    await keeping;
  }
}
