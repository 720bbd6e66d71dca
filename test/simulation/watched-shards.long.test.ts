import { expect, test } from "vitest";
import { explain } from "./explain.ts";
import type { History } from "./history.ts";
import { lastingShards } from "./lasting-shards.ts";
import type { Violation } from "./monitor.ts";
import { shardedHistory } from "./sharded-history.ts";
import type { Simulate } from "./shrink.ts";
import { WatchSimulation } from "./watch-simulation.ts";

/** Short histories in which shards watch: numbered ones, by label, with a change of their number, with a standby, with objects that are given away while a status or an Event is on its way, and with a rate limit that the Lease forgets. `npm run play -- --shards --watch` plays any number. */
const SEEDS = [92, 97, 42, 19, 13, 14, 20, 144, 4038] as const;
/** Histories that broke a promise once: a shard sent an address to a machine while its newest reading, which showed another one there, waited to be planned on. */
const ONCE_BROKEN = [34000128] as const;
/** `npm run play -- --shards --lasting` plays any number. */
const LASTING_SEEDS = [1, 2] as const;
/** How much of a broken history is shown. */
const MOST_LINES = 80;

const watching: Simulate = (history, isTraced) => new WatchSimulation(history, isTraced);

test("every promise holds in seeded histories in which three shards watch, labels change, and anything may fail at any time", async () => {
  let effects = 0;
  for (const seed of [...SEEDS, ...ONCE_BROKEN]) {
    const history = shardedHistory(seed);
    const result = await watching(history, false).run();
    effects += result.effects;
    if (result.violation !== undefined) expect.fail(await broken(history, result.violation, "--shards --watch"));
  }
  expect(effects).toBeGreaterThan(50 * SEEDS.length);
});

test("beside shards that die, hang and stop an address of another one moves at once, and all together ask a provider no more than one process may", async () => {
  let calls = 0;
  for (const seed of LASTING_SEEDS) {
    const history = lastingShards(seed);
    const result = await watching(history, false).run();
    calls += result.calls;
    if (result.violation !== undefined) expect.fail(await broken(history, result.violation, "--shards --lasting"));
  }
  expect(calls).toBeGreaterThan(1000 * LASTING_SEEDS.length);
});

async function broken(history: History, { invariant, text }: Violation, kind: string): Promise<string> {
  const story = await explain(history, MOST_LINES, watching);
  return [`${invariant}: ${text}`, ...story, "", `npm run play -- ${kind} --seed ${history.seed}`].join("\n");
}
