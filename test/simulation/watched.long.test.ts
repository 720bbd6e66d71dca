import { expect, test } from "vitest";
import { generate } from "./generate.ts";
import type { Violation } from "./monitor.ts";
import { WatchSimulation } from "./watch-simulation.ts";

/** How many histories are played; `WATCH=all` plays many more. */
const SEEDS = process.env["WATCH"] === "all" ? 100 : 6;
const FIRST_SEED = 1;
/** How much of a broken history is shown. */
const MOST_LINES = 80;

test("every promise holds in seeded histories in which processes watch and anything may fail at any time", async () => {
  let calls = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
    const result = await new WatchSimulation(generate(seed), false).run();
    calls += result.calls;
    if (result.violation !== undefined) expect.fail(await broken(seed, result.violation));
  }
  expect(calls).toBeGreaterThan(100 * SEEDS);
});

async function broken(seed: number, { invariant, text }: Violation): Promise<string> {
  const { trace } = await new WatchSimulation(generate(seed), true).run();
  return [`seed ${seed}: ${invariant}: ${text}`, ...trace.slice(-MOST_LINES)].join("\n");
}
