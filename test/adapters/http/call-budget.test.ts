import { expect, test } from "vitest";
import { CallBudget, type Purpose } from "../../../src/adapters/http/limits.ts";
import type { RateLimit } from "../../../src/model/meter.ts";
import { FakeClock } from "../../fake/fake-clock.ts";

const PURPOSES: readonly Purpose[] = ["address", "rest", "recovery", "change", "look"];

/** A budget of 100 calls in 60 s, its clock, and what the headers say. */
function stage(told: RateLimit = {}) {
  const clock = new FakeClock(Date.UTC(2026, 0, 2, 3, 4, 5));
  const budget = new CallBudget(clock, { calls: 100, ms: 60_000, toldLimit: 5000 }, () => told);
  const spend = (calls: number): void => {
    for (let count = 0; count < calls; count += 1) budget.spend();
  };
  const allowed = (): readonly Purpose[] => PURPOSES.filter((purpose) => budget.putOffUntilMs(purpose) === undefined);
  return { clock, budget, spend, allowed };
}

test.for<readonly [calls: number, allowed: readonly Purpose[]]>([
  [69, PURPOSES],
  [70, ["address", "rest", "recovery", "change"]],
  [79, ["address", "rest", "recovery", "change"]],
  [80, ["address", "rest", "recovery"]],
  [89, ["address", "rest", "recovery"]],
  [90, ["address", "rest"]],
  [1000, ["address", "rest"]],
])("after %i of 100 calls what may still be sent is %j", ([calls, allowed]) => {
  const scene = stage();
  scene.spend(calls);
  expect(scene.allowed()).toEqual(allowed);
});

test("what is put off may be sent as soon as enough calls are a span ago, and not before", async () => {
  const { clock, budget, spend } = stage();
  spend(40);
  await clock.advance(10_000);
  spend(40);
  expect(budget.putOffUntilMs("look")).toBe(clock.wallMs() + 50_000);
  await clock.advance(49_999);
  expect(budget.putOffUntilMs("look")).toBe(clock.wallMs() + 1);
  await clock.advance(1);
  expect(budget.putOffUntilMs("look")).toBeUndefined();
});

test.for<readonly [remaining: number, allowed: readonly Purpose[]]>([
  [1501, PURPOSES],
  [1500, ["address", "rest", "recovery", "change"]],
  [1000, ["address", "rest", "recovery"]],
  [500, ["address", "rest"]],
  [0, ["address", "rest"]],
])("with %i of 5000 calls left by the headers what may still be sent is %j", ([remaining, allowed]) => {
  expect(stage({ limit: 5000, remaining }).allowed()).toEqual(allowed);
});

test("where nothing is left by the headers, what is put off is looked at again when the first of our calls no longer counts", async () => {
  const { clock, budget, spend } = stage({ limit: 5000, remaining: 0 });
  spend(1);
  await clock.advance(50_000);
  spend(1);
  expect(budget.putOffUntilMs("recovery")).toBe(clock.wallMs() + 10_000);
});

test("an account whose limit was raised may make as many more calls in the span", () => {
  const { spend, allowed } = stage({ limit: 15_000, remaining: 15_000 });
  spend(209);
  expect(allowed()).toEqual(PURPOSES);
  spend(1);
  expect(allowed()).toEqual(["address", "rest", "recovery", "change"]);
});

test("an account with a lower limit than is known of has the span's calls all the same: what is left the headers tell", () => {
  const { spend, allowed } = stage({ limit: 50, remaining: 50 });
  spend(69);
  expect(allowed()).toEqual(PURPOSES);
});

test("what the headers ask for ends with their reset, and is asked about again after a minute at most", () => {
  const resetMs = Date.UTC(2026, 0, 2, 3, 4, 5) + 7000;
  const near = stage({ limit: 5000, remaining: 1, resetMs });
  expect(near.budget.putOffUntilMs("look")).toBe(resetMs);
  const far = stage({ limit: 5000, remaining: 1, resetMs: resetMs + 3_600_000 });
  expect(far.budget.putOffUntilMs("look")).toBe(far.clock.wallMs() + 60_000);
  const past = stage({ limit: 5000, remaining: 1, resetMs: resetMs - 10_000 });
  expect(past.budget.putOffUntilMs("look")).toBeUndefined();
});
