import type { Hold } from "./model/plan.ts";
import type { PassResult, RunTiming } from "./model/run.ts";
import { CLOSING_MS, type PassOptions, reconcilePass, type WriterDeps } from "./reconcile.ts";

/** While the provider is at work or something is left that has no time of its own, the world is looked at again after this, milliseconds. */
const LOOK_AGAIN_MS = 2000;
/** The shortest wait between two passes, milliseconds: never a hot loop. */
const SHORTEST_WAIT_MS = 500;

/**
 * Passes until nothing is left to do, or the deadline: cool-offs, grace and retries that end inside it are waited for.
 *
 * @returns one result over all passes: planned first, done in all of them, left after the last.
 * @throws KubeError as {@link reconcilePass}, when the very first pass cannot read the cluster.
 */
export async function settle(deps: WriterDeps, options: PassOptions): Promise<PassResult> {
  let total = await reconcilePass(deps, options);
  for (;;) {
    const waitMs = nextLookMs(total, deps.cluster.now());
    const leftMs = options.deadline - CLOSING_MS - deps.clock.monotonicMs();
    if (waitMs === undefined || waitMs > leftMs || total.wasInterrupted) return total;
    await deps.clock.sleep(waitMs, AbortSignal.any([options.signal, deps.lock.lost]));
    if (options.signal.aborted || !deps.lock.isHeld()) return { ...total, wasInterrupted: true };
    const next = await reconcilePass(deps, options);
    const timing = addTiming(total.timing, next.timing);
    total = { ...next, plan: total.plan, outcomes: [...total.outcomes, ...next.outcomes], timing };
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

/** How long until another pass can change something; undefined when only a change from outside can. */
function nextLookMs({ remaining }: PassResult, nowMs: number): number | undefined {
  const due = remaining.holds.flatMap(({ notBeforeMs }) => (notBeforeMs === undefined ? [] : [notBeforeMs - nowMs]));
  const open = remaining.actions.length > 0 || remaining.holds.some(isInProgress) ? [LOOK_AGAIN_MS] : [];
  const waits = [...due, ...open].map((ms) => Math.max(ms, SHORTEST_WAIT_MS));
  return waits.length === 0 ? undefined : Math.min(...waits);
}

function isInProgress({ reason }: Hold): boolean {
  return reason === "InProgress" || reason === "AcquisitionUnanswered";
}
