import { KubeError } from "./model/errors.ts";
import type { PassResult, RunTiming } from "./model/run.ts";
import { Interrupted } from "./observe/interrupt.ts";
import { nextLook } from "./plan/next-look.ts";
import { CLOSING_MS, type PassOptions, reconcilePass, type WriterDeps } from "./reconcile.ts";

/** While the provider is at work or something is left that has no time of its own, the world is looked at again after this, milliseconds. */
const LOOK_AGAIN_MS = 2000;
/** The shortest wait between two passes, milliseconds: never a hot loop. */
const SHORTEST_WAIT_MS = 500;

/**
 * Passes until nothing is left to do, or the deadline: cool-offs, grace and retries that end inside it are waited for.
 *
 * @returns one result over all passes: planned first, done in all of them, left after the last.
 * @throws KubeError and Interrupted as {@link reconcilePass}, in the very first pass.
 */
export async function settle(deps: WriterDeps, options: PassOptions): Promise<PassResult> {
  let total = await reconcilePass(deps, options);
  for (;;) {
    const next = nextLook(total.remaining, deps.cluster.now(), LOOK_AGAIN_MS);
    const leftMs = options.deadline - CLOSING_MS - deps.clock.monotonicMs();
    if (next === undefined || next.inMs > leftMs || total.wasInterrupted) return total;
    await deps.clock.sleep(Math.max(next.inMs, SHORTEST_WAIT_MS), AbortSignal.any([options.signal, deps.lock.lost]));
    if (options.signal.aborted || !deps.lock.isHeld()) return { ...total, wasInterrupted: true };
    const again = await lookAgain(deps, options);
    if (again === "unreadable") continue;
    if (again === "interrupted") return { ...total, wasInterrupted: true };
    const timing = addTiming(total.timing, again.timing);
    total = { ...again, plan: total.plan, outcomes: [...total.outcomes, ...again.outcomes], timing };
  }
}

/** A later pass that cannot read the cluster writes nothing, and takes nothing away from what the earlier ones did. */
async function lookAgain(deps: WriterDeps, options: PassOptions): Promise<PassResult | "unreadable" | "interrupted"> {
  try {
    return await reconcilePass(deps, options);
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
