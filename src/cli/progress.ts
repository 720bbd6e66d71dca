import type { Clock } from "../ports/system.ts";
import type { Session } from "./session.ts";
import { writeLine } from "./write.ts";

const TICK_MS = 10_000;

/** Says every ten seconds that a run is still working, as a line of text on stderr; never as JSON. Returns what ends it. */
export function startProgress({ invocation, lines }: Session, clock: Clock, limitMs: number): () => void {
  const ending = new AbortController();
  if (lines.format === "text" && !lines.isQuiet) void tick();
  return () => ending.abort();

  async function tick(): Promise<void> {
    const startMs = clock.monotonicMs();
    for (;;) {
      await clock.sleep(TICK_MS, ending.signal);
      if (ending.signal.aborted) return;
      const seconds = Math.round((clock.monotonicMs() - startMs) / 1000);
      const msg = `still working after ${seconds}s of at most ${Math.round(limitMs / 1000)}s`;
      writeLine(invocation.streams, lines, "info", msg);
    }
  }
}
