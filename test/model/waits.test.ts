import { expect, test } from "vitest";
import { nextTryMs, WAITS, type Waits, waitMs } from "../../src/model/waits.ts";

const waits: Waits = { ms: [100, 200], spread: 0.5 };

test("the last wait repeats", () => {
  expect([0, 1, 2, 9].map((earlier) => waitMs(waits, earlier))).toEqual([100, 200, 200, 200]);
});

test("tries end after the last wait", () => {
  expect([0, 1, 2].map((earlier) => nextTryMs(waits, earlier))).toEqual([100, 200, undefined]);
});

test("chance adds at most the share of the row", () => {
  expect([0, 0.5, 1].map((random) => waitMs(waits, 1, random))).toEqual([200, 250, 300]);
});

test("no row ever waits less than before", () => {
  for (const { ms } of Object.values<Waits>(WAITS)) expect(ms.toSorted((a, b) => a - b)).toEqual(ms);
});
