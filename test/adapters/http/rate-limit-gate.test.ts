import { expect, test } from "vitest";
import { rateLimitGate } from "../../../src/adapters/http/limits.ts";
import type { Clock } from "../../../src/ports/system.ts";

test.for([300_000, -300_000])("a closed gate opens at its time although the local clock leaps by %i ms", (leapMs) => {
  const now = { monotonicMs: 0, wallMs: 1_000_000 };
  const clock: Clock = {
    monotonicMs: () => now.monotonicMs,
    wallMs: () => now.wallMs,
    sleep: () => Promise.resolve(),
  };
  const gate = rateLimitGate(clock, (_, __, nowMs) => ({ rateLimit: {}, refusedUntilMs: nowMs }));
  expect(gate.observe(429, new Map([["retry-after", "40"]]))).toBe(1_040_000);
  now.wallMs += leapMs;
  expect(gate.closedUntilMs()).toBe(1_040_000 + leapMs);
  now.monotonicMs = 39_999;
  expect(gate.closedUntilMs()).toBeDefined();
  now.monotonicMs = 40_000;
  expect(gate.closedUntilMs()).toBeUndefined();
});

/** One answer: when its call was sent, when it came, and its status. */
type Story = readonly (readonly [sentMs: number, answeredMs: number, status: number])[];

test.for<[string, Story, readonly number[]]>([
  [
    "of calls that were in flight together are one",
    [
      [0, 100, 429],
      [0, 100, 429],
      [50, 5000, 429],
    ],
    [1, 1, 1],
  ],
  [
    "of calls that were sent one after the other, each when the gate had opened, are counted",
    [
      [0, 100, 429],
      [1100, 1200, 429],
      [2200, 2300, 429],
    ],
    [1, 2, 3],
  ],
  [
    "are counted on where a call that was sent before the first of them succeeds late",
    [
      [0, 100, 429],
      [0, 1150, 200],
      [1100, 1200, 429],
    ],
    [1, 1, 2],
  ],
  [
    "begin anew after a call that was sent later has succeeded",
    [
      [0, 100, 429],
      [1100, 1200, 200],
      [1300, 1400, 429],
    ],
    [1, 0, 1],
  ],
])("refusals for the rate limit %s", ([, story, expected]) => {
  let nowMs = 0;
  const clock: Clock = { monotonicMs: () => nowMs, wallMs: () => nowMs, sleep: () => Promise.resolve() };
  const told: number[] = [];
  const gate = rateLimitGate(clock, (_, __, atMs, refusals) => {
    told.push(refusals);
    return { rateLimit: {}, refusedUntilMs: atMs + 1000 };
  });
  for (const [sentAtMs, answeredMs, status] of story) {
    nowMs = answeredMs;
    gate.observe(status, new Map(), { sentAtMs });
  }
  expect(told).toEqual(expected);
});

test("what refuses only writes, and asks each time for a second, is left alone for longer and longer", () => {
  let nowMs = 0;
  const clock: Clock = { monotonicMs: () => nowMs, wallMs: () => nowMs, sleep: () => Promise.resolve() };
  const gate = rateLimitGate(clock, (_, __, atMs) => ({ rateLimit: {}, refusedUntilMs: atMs + 60_000 }));
  const aSecond = new Map([["retry-after", "1"]]);
  const waits: number[] = [];
  const write = (status: number): void => {
    gate.observe(200, new Map());
    waits.push((gate.observe(status, status === 429 ? aSecond : new Map(), { kind: "write" }) ?? nowMs) - nowMs);
    nowMs = gate.closedUntilMs() ?? nowMs;
  };
  for (const status of [429, 429, 429, 429, 429, 429, 200, 429]) write(status);
  expect(waits).toEqual([1000, 1000, 1000, 5000, 10_000, 10_000, 0, 1000]);
});
