import { Attempts } from "./apply/attempts.ts";
import { KubeError } from "./model/errors.ts";
import type { Pass, PassResult, RunTiming } from "./model/run.ts";
import { Interrupted } from "./observe/interrupt.ts";
import { ReusableFacts } from "./observe/reusable-facts.ts";
import { nextLook } from "./plan/retries.ts";
import { pass } from "./reconcile.ts";
import { CLOSING_MS, type PassOptions, type WriterDeps } from "./rounds.ts";

/** Where actions are left that have no time of their own, the next pass comes after this, milliseconds. */
const LEFT_OVER_MS = 2000;
/** The shortest wait between two passes, milliseconds: never a hot loop. */
const SHORTEST_WAIT_MS = 500;

/**
 * Passes until nothing is left to do, or the deadline: cool-offs, grace and retries that end inside it are waited for. Later passes ask the providers only for what is
 * moving, could not be read, or is about to change.
 *
 * @returns one result over all passes: planned first, done in all of them, left after the last.
 * @throws KubeError and Interrupted as {@link reconcilePass}, in the very first pass.
 */
export async function settle(deps: WriterDeps, options: PassOptions): Promise<PassResult> {
  const own = { ...deps, reusable: new ReusableFacts(deps.clock), attempts: new Attempts() };
  let { result: total, nextReadInMs } = await pass(own, options);
  for (;;) {
    const next = nextLook(total.remaining, deps.cluster.now(), { leftOverMs: LEFT_OVER_MS, nextReadInMs });
    const leftMs = options.deadline - CLOSING_MS - deps.clock.monotonicMs();
    if (next === undefined || next.inMs > leftMs || total.wasInterrupted) return total;
    await deps.clock.sleep(Math.max(next.inMs, SHORTEST_WAIT_MS), AbortSignal.any([options.signal, deps.lock.lost]));
    if (options.signal.aborted || !deps.lock.isHeld()) return { ...total, wasInterrupted: true };
    const again = await lookAgain(own, options);
    if (again === "unreadable") continue;
    if (again === "interrupted") return { ...total, wasInterrupted: true };
    const { result } = again;
    const timing = addTiming(total.timing, result.timing);
    total = { ...result, plan: total.plan, outcomes: [...total.outcomes, ...result.outcomes], timing };
    nextReadInMs = again.nextReadInMs;
  }
}

/** A later pass that cannot read the cluster writes nothing, and takes nothing away from what the earlier ones did. */
async function lookAgain(deps: WriterDeps, options: PassOptions): Promise<Pass | "unreadable" | "interrupted"> {
  try {
    return await pass(deps, options);
  } catch (error) {
    if (error instanceof KubeError) return "unreadable";
    if (error instanceof Interrupted) return "interrupted";
    throw error;
  }
}

function addTiming(a: RunTiming, b: RunTiming): RunTiming {
  return {
    observeMs: a.observeMs + b.observeMs,
    planMs: a.planMs + b.planMs,
    applyMs: a.applyMs + b.applyMs,
    reportMs: a.reportMs + b.reportMs,
    failoverSeconds: [...a.failoverSeconds, ...b.failoverSeconds],
  };
}
