import type { RunRestraint } from "../../src/model/restraint.ts";
import type { PassResult, Selection } from "../../src/model/run.ts";
import type { WriterDeps } from "../../src/pass.ts";
import type { Clock, LockState } from "../../src/ports/system.ts";
import { reconcilePass, settle } from "../../src/reconcile.ts";
import type { SavedApplication } from "../../src/saved/application.ts";
import { withLease } from "../../src/watch/lease.ts";
import type { DNSName } from "../fake/dns-account.ts";

/** How one run is made. */
export interface RunOptions {
  readonly settle?: boolean;
  /** Namespaces and objects with the scenario's own names. */
  readonly selection?: Selection;
  /** Virtual milliseconds from the start of the run. */
  readonly deadlineMs?: number;
  /** Takes the Lease `shop/flipop`, as the command does; absent = a lock that is always held and keeps nothing. */
  readonly lease?: "fail" | "wait";
  /** Ends the process before its n-th write. */
  readonly dieBeforeWrite?: number;
  readonly signal?: AbortSignal;
  readonly restraint?: RunRestraint;
  /** Carries out a saved plan. */
  readonly saved?: SavedApplication;
  /** DNS providers for which the process has no token. */
  readonly withoutToken?: readonly DNSName[];
  /** Providers of addresses for which it has none. */
  readonly withoutAddresses?: readonly string[];
}

/** What came of a run; a process that died or found the Lease taken has no result. */
export type RunEnd =
  | { readonly kind: "done"; readonly result: PassResult }
  | { readonly kind: "died" }
  | { readonly kind: "locked" };

/** What the process of one run does: a pass, or passes until nothing is left, with or without the Lease. `onLock` is told of the lock that it works under. */
export async function work(
  deps: Omit<WriterDeps, "lock">,
  options: RunOptions,
  run: number,
  onLock: (lock: LockState) => void,
): Promise<RunEnd> {
  const { clock, cluster, leaseName } = deps;
  const deadline = clock.monotonicMs() + (options.deadlineMs ?? 120_000);
  const signal = options.signal ?? new AbortController().signal;
  const { selection = {}, restraint, saved } = options;
  const passOptions = {
    selection,
    deadlineMs: deadline,
    signal,
    ...(restraint === undefined ? {} : { restraint }),
    ...(saved === undefined ? {} : { saved }),
  };
  const pass = async (lock: LockState): Promise<PassResult> => {
    onLock(lock);
    return await (options.settle ? settle : reconcilePass)({ ...deps, lock }, passOptions);
  };
  if (options.lease === undefined) return { kind: "done", result: await pass(heldLock()) };
  const timing = { durationMs: 60_000, renewDeadlineMs: 40_000, retryMs: 2000, deadline };
  const holding = { cluster, clock, ...leaseName, identity: `run-${run}`, onLocked: options.lease, signal };
  const answer = await withLease({ ...holding, ...timing }, pass);
  return answer.kind === "done" ? { kind: "done", result: answer.value } : { kind: "locked" };
}

/** Adapters wait for real between their repeats, shortly: time stands still while their calls are under way. */
export function adapterClock(clock: Clock): Clock {
  return { ...clock, sleep: () => new Promise((resolve) => setTimeout(resolve, 1)) };
}

/** A lock that is always held and keeps nothing. */
export function heldLock(): LockState {
  return {
    isHeld: () => true,
    lost: new AbortController().signal,
    annotations: () => ({}),
    noteAcquisition: async () => true,
    annotate: async () => undefined,
  };
}

/** The errors of a run in one text: of actions that failed, and of what could not be reported. */
export function errorsOf({ outcomes, reportFailures }: PassResult): string {
  const failed = outcomes.flatMap((outcome) => (outcome.outcome === "failed" ? [outcome.error.message] : []));
  return [...failed, ...reportFailures.map(({ error }) => error.message)].join();
}
