import { inTurns } from "../in-turns.ts";
import { Interrupted } from "../observe/interrupt.ts";
import type { Steps } from "../plan/steps.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";

/** Does work that may take long, and ends it at a signal. For work that changes nothing. @throws Interrupted */
export async function heeding<T>(signal: AbortSignal, steps: Steps<T>): Promise<T> {
  return await inTurns(untilAborted(signal, steps), SYSTEM_CLOCK);
}

function* untilAborted<T>(signal: AbortSignal, steps: Steps<T>): Steps<T> {
  for (;;) {
    if (signal.aborted) throw new Interrupted();
    const step = steps.next();
    if (step.done === true) return step.value;
    yield;
  }
}
