import type { Steps } from "./plan/steps.ts";
import type { Clock } from "./ports/system.ts";

/** So long work goes on before everything else gets a turn, milliseconds. */
const TURN_MS = 50;

/**
 * Does work that may take long, and lets everything else go on in between: calls are answered, and the Lease is renewed, however slow the machine is. Work that takes no
 * longer than {@link TURN_MS} is done at once.
 */
export async function inTurns<T>(steps: Steps<T>, clock: Clock): Promise<T> {
  let sinceMs = clock.monotonicMs();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (clock.monotonicMs() - sinceMs < TURN_MS) continue;
    await clock.sleep(1);
    sinceMs = clock.monotonicMs();
  }
}
