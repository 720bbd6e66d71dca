import { expect, test } from "vitest";
import type { History } from "./history.ts";
import { lastingHistory, restlessHistory } from "./lasting-history.ts";
import type { Violation } from "./monitor.ts";
import { CHURNS, type Restless } from "./restless-churns.ts";
import { WatchSimulation } from "./watch-simulation.ts";

/** How many histories are played: one of each world; `npm run play -- --lasting` plays any number. */
const SEEDS = 11;
/** Of each. */
const RESTLESS_SEEDS = 3;
/** How much of a broken history is shown. */
const MOST_LINES = 80;

test("beside what stays wrong for ever an address moves at once, and a busy cluster makes nobody ask a provider again", async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) await play(lastingHistory(seed));
  expect(SEEDS).toBeGreaterThan(0);
});

test.for(Object.keys(CHURNS) as Restless[])(
  "beside addresses and names that follow what never rests, %s, an address moves at once, and they cost as little",
  async (what) => {
    for (let seed = 1; seed <= RESTLESS_SEEDS; seed += 1) await play(restlessHistory(seed, what));
    expect(RESTLESS_SEEDS).toBeGreaterThan(0);
  },
);

async function play(history: History): Promise<void> {
  const { violation } = await new WatchSimulation(history, false).run();
  if (violation !== undefined) expect.fail(await broken(history, violation));
}

async function broken(history: History, { invariant, text }: Violation): Promise<string> {
  const { trace } = await new WatchSimulation(history, true).run();
  return [`seed ${history.seed}: ${invariant}: ${text}`, ...trace.slice(-MOST_LINES)].join("\n");
}
