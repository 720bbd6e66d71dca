import { describe, expect, test } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import { type Enter, Looking, type Piece, Readings } from "../../src/observe/looking.ts";
import { FakeClock } from "../fake/fake-clock.ts";

const unchanged: Enter = (observation: Observation) => observation;

interface FakePiece extends Piece {
  /** How often it was read. */
  readonly reads: () => number;
}

/** A piece whose reading takes so long, milliseconds; for ever where that is absent. */
function piece(clock: FakeClock, provider: string, takesMs?: number, asked = "all"): FakePiece {
  let reads = 0;
  return {
    kind: "names",
    provider,
    asked,
    reads: () => reads,
    read: async () => {
      reads += 1;
      await (takesMs === undefined ? new Promise(() => undefined) : clock.sleep(takesMs));
      return unchanged;
    },
  };
}

function underWay(looking: Looking): readonly string[] {
  return looking.underWay.map(({ provider }) => provider);
}

/** How long the first pieces are waited for, milliseconds, and what has not arrived by then. */
async function firstPieces(
  clock: FakeClock,
  looking: Looking,
): Promise<{ readonly waitedMs: number; readonly left: readonly string[] }> {
  const startMs = clock.monotonicMs();
  const end = looking.firstPieces().then(() => ({ waitedMs: clock.monotonicMs() - startMs, left: underWay(looking) }));
  await clock.advance(60_000);
  return await end;
}

describe("the first pieces of a look", () => {
  test.for([
    ["nothing is to be read", [], 0, []],
    ["everything answers fast", [30, 60], 60, []],
    ["one hangs, and the first answers at once", [5, undefined], 55, ["p1"]],
    ["one hangs, and the first answers after a second", [1000, undefined], 2000, ["p1"]],
    ["one comes as long after the first as that took", [1000, 1900], 1900, []],
    ["one comes later than that", [1000, 2100], 2000, ["p1"]],
    ["each that arrives makes it worth waiting for the next", [1000, 1900, 3700], 3700, []],
    ["the only one is slow", [9000], 9000, []],
  ] as const)("%s", async ([, durations, waitedMs, left]) => {
    const clock = new FakeClock();
    const pieces = durations.map((ms, at) => piece(clock, `p${at}`, ms));
    const looking = new Looking(pieces, new Readings(), clock);
    expect(await firstPieces(clock, looking)).toEqual({ waitedMs, left });
  });
});

describe("a piece that has not arrived when a pass ends", () => {
  test("is not asked for anew by the next pass, and not waited for by it at first", async () => {
    const clock = new FakeClock();
    const readings = new Readings();
    const pieces = [piece(clock, "quick", 10), piece(clock, "hangs")];
    const first = new Looking(pieces, readings, clock);
    await firstPieces(clock, first);
    first.leave();
    const second = new Looking(pieces, readings, clock);
    expect(await firstPieces(clock, second)).toEqual({ waitedMs: 10, left: ["hangs"] });
    expect(pieces.map(({ reads }) => reads())).toEqual([2, 1]);
  });

  test("arrives in the pass that is there by then, and only there", async () => {
    const clock = new FakeClock();
    const readings = new Readings();
    const pieces = [piece(clock, "slow", 5000)];
    const first = new Looking(pieces, readings, clock);
    await clock.advance(1000);
    first.leave();
    const second = new Looking(pieces, readings, clock);
    await clock.advance(4000);
    expect([first.take().length, second.take().length]).toEqual([0, 1]);
    const third = new Looking(pieces, readings, clock);
    expect([pieces[0]?.reads(), underWay(third)]).toEqual([2, ["slow"]]);
  });

  test("is read anew where something else is asked for", async () => {
    const clock = new FakeClock();
    const readings = new Readings();
    new Looking([piece(clock, "slow", 5000)], readings, clock).leave();
    const other = piece(clock, "slow", 10, "more");
    const looking = new Looking([other], readings, clock);
    expect(await firstPieces(clock, looking)).toEqual({ waitedMs: 10, left: [] });
    expect(other.reads()).toBe(1);
  });

  test("is read anew once everything is to be looked at", async () => {
    const clock = new FakeClock();
    const readings = new Readings();
    const hanging = piece(clock, "hangs");
    new Looking([hanging], readings, clock).leave();
    readings.forget();
    new Looking([hanging], readings, clock).leave();
    expect(hanging.reads()).toBe(2);
  });
});

test("what has arrived may be judged by until it has been entered, whether a round has taken it or not", async () => {
  const clock = new FakeClock();
  const looking = new Looking([piece(clock, "quick", 10), piece(clock, "slow", 5000)], new Readings(), clock);
  await clock.advance(1000);
  const known = [looking.unentered.length];
  looking.take();
  known.push(looking.unentered.length);
  await clock.advance(5000);
  known.push(looking.unentered.length);
  looking.take();
  looking.entered();
  known.push(looking.unentered.length);
  expect(known).toEqual([1, 1, 2, 0]);
});

test("a mistake in the program while reading ends the pass", async () => {
  const clock = new FakeClock();
  const read = async (): Promise<Enter> => Promise.reject(new TypeError("a mistake"));
  const looking = new Looking([{ kind: "names", provider: "broken", asked: "all", read }], new Readings(), clock);
  await firstPieces(clock, looking);
  expect(() => looking.take()).toThrow("a mistake");
});
