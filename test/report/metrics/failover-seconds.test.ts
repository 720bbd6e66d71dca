import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/model/outcome.ts";
import { failoverSeconds } from "../../../src/report/metrics/samples.ts";
import { applied, failed, steady } from "../runs.ts";
import { afterFailure, NOW_MS, planOf } from "../world.ts";

/** worker-1 has not been ready since 11:59:00, a minute before now. */
const plan = planOf(afterFailure());
const outcomes = (change: (outcome: Outcome) => Outcome): readonly Outcome[] =>
  plan.actions.map(applied).map((outcome) => change({ ...outcome, endedAtMs: NOW_MS + 1500 }));

describe("the time without service of a moved address", () => {
  test("runs from the first sight of its node as unready until it was verified elsewhere", () => {
    expect(
      failoverSeconds(
        plan,
        outcomes((outcome) => outcome),
      ),
    ).toEqual([61.5]);
  });

  test("is not known while the move has failed", () => {
    expect(
      failoverSeconds(
        plan,
        outcomes(({ action }) => ({ ...failed(action), endedAtMs: NOW_MS })),
      ),
    ).toEqual([]);
  });

  test("is not known of an address whose node the plan does not see unready", () => {
    expect(
      failoverSeconds(
        planOf(steady()),
        outcomes((outcome) => outcome),
      ),
    ).toEqual([]);
  });

  test("is never negative, whatever the clocks say", () => {
    expect(
      failoverSeconds(
        plan,
        outcomes((outcome) => ({ ...outcome, endedAtMs: 0 })),
      ),
    ).toEqual([0]);
  });
});
