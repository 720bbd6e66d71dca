import { expect, test } from "vitest";
import { lastingHistory } from "./lasting-history.ts";
import type { Violation } from "./monitor.ts";
import { WatchSimulation } from "./watch-simulation.ts";

/** How many histories are played: one of each world; `npm run play -- --lasting` plays any number. */
const SEEDS = 11;
/** How much of a broken history is shown. */
const MOST_LINES = 80;

test("beside what stays wrong for ever an address moves at once, and a busy cluster makes nobody ask a provider again", async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violation } = await new WatchSimulation(lastingHistory(seed), false).run();
    if (violation !== undefined) expect.fail(await broken(seed, violation));
  }
  expect(SEEDS).toBeGreaterThan(0);
});

async function broken(seed: number, { invariant, text }: Violation): Promise<string> {
  const { trace } = await new WatchSimulation(lastingHistory(seed), true).run();
  return [`seed ${seed}: ${invariant}: ${text}`, ...trace.slice(-MOST_LINES)].join("\n");
}
