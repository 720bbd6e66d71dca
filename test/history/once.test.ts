import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { PassResult } from "../../src/model/run.ts";
import { afterFailureWithDNS, beforePurchase } from "../report/dns-world.ts";
import { HARM_WORLDS } from "../report/harm-worlds.ts";
import { afterRoutedFailure } from "../report/routed-world.ts";
import { applied, aRun, failed } from "../report/runs.ts";
import { afterFailure, NOW_MS } from "../report/world.ts";
import { eventsTold, historyFrom, linesTold, logOf, storyOf } from "./told.ts";

const WORLDS: Readonly<Record<string, () => Observation>> = {
  ...HARM_WORLDS,
  "a node failed": afterFailure,
  "a node failed whose address is in a name": afterFailureWithDNS,
  "an address is bought": beforePurchase,
  "routed IPs follow": afterRoutedFailure,
};

/** A run whose changes ended one after the other, a second apart. */
function timedRun(world: Observation, outcomeOf: (action: Action) => Outcome): PassResult {
  const run = aRun(world, world, outcomeOf);
  const { length } = run.outcomes;
  return { ...run, outcomes: run.outcomes.map((one, at) => ({ ...one, endedAtMs: NOW_MS - (length - at) * 1000 })) };
}

describe.for(Object.keys(WORLDS))("the history of a run in which %s", (name) => {
  test.for([
    ["went well", applied],
    ["failed", (action: Action) => failed(action)],
  ] as const)(
    "and all of it %s: each change once, the newest first, from Events, from logs and from both",
    async ([, outcomeOf]) => {
      const world = WORLDS[name]?.() ?? expect.fail("no world");
      const run = timedRun(world, outcomeOf);
      const [events, log] = [eventsTold(run), logOf(await linesTold(run))];
      const changes = { ...log, changes: log.changes.filter(({ kind }) => kind !== "run") };
      const both = historyFrom({ events, log: changes }).changes;
      expect(both.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual(
        run.outcomes.map(({ action, outcome }) => `${action.kind} ${outcome}`).toReversed(),
      );
      expect(storyOf(historyFrom({ events }).changes)).toEqual(storyOf(both));
      expect(storyOf(historyFrom({ log: changes }).changes)).toEqual(storyOf(both));
      for (const change of both) {
        expect(change.sources.toSorted()).toEqual(["event", "log"]);
        expect(change).toMatchObject({ by: "flipop-1", tookMs: expect.any(Number), object: expect.any(Object) });
      }
    },
  );
});

test("what is done within the same millisecond is told in one order, however its Events come", () => {
  const run = aRun(afterFailure(), afterFailure(), applied);
  const outcomes = run.outcomes.flatMap((one): readonly Outcome[] => {
    const { action } = one;
    if (action.kind !== "annotate-node") return [one];
    return ["worker-8", "worker-9"].map((nodeName) => ({ ...one, action: { ...action, nodeName } }));
  });
  const events = eventsTold({ ...run, outcomes: outcomes.map((one) => ({ ...one, endedAtMs: NOW_MS })) });
  const told = storyOf(historyFrom({ events }).changes);
  expect(told.filter((line) => /annotated node worker-[89]/.test(line))).toHaveLength(2);
  expect(storyOf(historyFrom({ events: events.toReversed() }).changes)).toEqual(told);
});

test("the subject of a change is what its plan calls it, but for what has no name of its own", async () => {
  const run = timedRun(afterRoutedFailure(), applied);
  const lines = (await linesTold(run)).map((line) => JSON.parse(line)).filter(({ outcome }) => outcome === "applied");
  const told = historyFrom({ log: logOf(await linesTold(run)) }).changes.filter(({ kind }) => kind !== "run");
  const named = lines.map(({ subject }) => (/^new-\d+$|^\w+\/\w+$/.test(subject) ? "" : subject));
  expect(told.map(({ subject }) => subject).toReversed()).toEqual(named);
  expect(new Set(named).size).toBeGreaterThan(3);
});

describe("what happens again", () => {
  const run = timedRun(afterFailure(), applied);
  const later = (value: PassResult, ms: number): PassResult => ({
    ...value,
    outcomes: value.outcomes.map((one) => ({ ...one, endedAtMs: (one.endedAtMs ?? 0) + ms })),
  });

  test("is told as often as it was done, however much of it Events and logs have each", async () => {
    const runs = [run, later(run, 600_000), later(run, 1_200_000)];
    const lines = await Promise.all(runs.map(linesTold));
    const events = runs.flatMap(eventsTold);
    const each = run.outcomes.length;
    const all = historyFrom({ events, log: logOf(lines.flat()), nowMs: NOW_MS + 1_300_000 }).changes;
    expect(all.filter(({ kind }) => kind !== "run")).toHaveLength(3 * each);
    const lost = historyFrom({ events: events.slice(each), log: logOf(lines.slice(0, 2).flat()) }).changes;
    expect(lost.filter(({ kind }) => kind !== "run")).toHaveLength(3 * each);
  });

  test("and fails is one fact with how often, since when and when last; after an hour of silence it is another one", async () => {
    const refused = timedRun(afterFailure(), (action) => failed(action));
    const runs = [0, 60_000, 120_000, 120_000 + 3_700_000].map((ms) => later(refused, ms));
    const lines = (await Promise.all(runs.map(linesTold))).flat();
    const { changes } = historyFrom({ log: logOf(lines), nowMs: NOW_MS + 4_000_000 });
    const moves = changes.filter(({ kind }) => kind === "move-ip" || kind === "assign-ip");
    expect(moves.map(({ count }) => count).toSorted()).toEqual([1, 3]);
    const [newest, before] = moves;
    expect((newest?.timeMs ?? 0) - (before?.timeMs ?? 0)).toBe(3_700_000);
    expect((before?.timeMs ?? 0) - (before?.firstMs ?? 0)).toBe(120_000);
  });

  test("and fails counts as often as the source says that saw most of it", async () => {
    const refused = timedRun(afterFailure(), (action) => failed(action));
    const log = logOf([...(await linesTold(refused)), ...(await linesTold(later(refused, 60_000)))]);
    const events = eventsTold(refused).map((event) => ({ ...event, count: 7, lastMs: event.firstMs + 300_000 }));
    const { changes } = historyFrom({ events, log, nowMs: NOW_MS + 400_000 });
    for (const { count, kind } of changes) if (kind !== "run") expect(count).toBe(7);
    expect(changes.filter(({ kind }) => kind !== "run")).toHaveLength(refused.outcomes.length);
  });
});
