import { expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import { eventsOf } from "../../src/report/events.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderRun, watchLines } from "../../src/report/text/run.ts";
import { applied, aRun, steady } from "./runs.ts";
import { aNode, anObservation, aPool } from "./world.ts";

/** A pool that is to have so many addresses, has none, and could put one on each of two nodes. */
function wanting(desiredIPs: number) {
  return anObservation([aPool("web", [], { spec: { desiredIPs } })], [aNode(1), aNode(2)], {});
}

function textOf(result: Parameters<typeof renderRun>[0]): string {
  return renderRun(result, { palette: PLAIN, wide: false, all: false, verbosity: 0 });
}

const isPurchase = ({ kind }: Action): boolean => kind === "acquire-ip";

test("desiredIPs that was raised during a run is told as the run went by it", () => {
  const result = aRun(wanting(1), wanting(2), applied);
  const purchases = { ...result, outcomes: result.outcomes.filter(({ action }) => isPurchase(action)) };
  expect(textOf(purchases)).toContain("fewer addresses than its desiredIPs (2).");
  expect(watchLines(purchases, undefined).map(({ text }) => text)[0]).toContain("desiredIPs (2).");
  const told = { seen: wanting(1), planned: result.plan, outcomes: purchases.outcomes, remaining: result.remaining };
  expect(eventsOf({ ...told, stored: () => [] })[0]?.note).toContain("desiredIPs (2).");
});

test("a purchase that waited for another one, and was made later, is told once", () => {
  const [first, second] = aRun(wanting(2), wanting(2), applied).plan.actions.filter(isPurchase);
  if (first?.kind !== "acquire-ip" || second?.kind !== "acquire-ip") throw new Error("two purchases are planned");
  const putOff: Outcome = { action: second, outcome: "skipped", reason: "PrerequisiteFailed", detail: "", ms: 0 };
  const later: Outcome = {
    action: { ...second, id: first.id, ordinal: first.ordinal },
    outcome: "unconfirmed",
    ms: 10,
  };
  const outcomes: readonly Outcome[] = [{ action: first, outcome: "unconfirmed", ms: 10 }, putOff];
  const lines = (all: readonly Outcome[]): readonly string[] => {
    const result = { ...aRun(wanting(2), wanting(2), applied), outcomes: all };
    return watchLines(result, result.remaining).map(({ text }) => text.split(": ")[1] ?? "");
  };
  expect(lines(outcomes)).toEqual([
    "asked to acquire a new address for worker-1",
    "did not acquire a new address for worker-2",
  ]);
  expect(lines([...outcomes, later])).toEqual([
    "asked to acquire a new address for worker-1",
    "asked to acquire a new address for worker-2",
  ]);
});

/** Nothing is to do, or worker-1 has failed since and no other node is there. */
function serving(isReady: boolean) {
  const { pools, nodes } = steady();
  const ready = { isReady };
  return anObservation(
    pools,
    nodes.map((node) => ({ ...node, ready })),
    { "203.0.113.10": "1" },
  );
}

test.each([
  ["a node that failed during a run is told to have failed", false, "worker-1 no longer matches (not ready"],
  [
    "a node that failed during a run, and is well again: no other one is said to wait",
    true,
    "worker-1 no longer matches.",
  ],
])("%s", (_, isReady, text) => {
  const cleared = aRun(serving(false), serving(false), applied).plan.actions.find(
    (one) => one.kind === "clear-annotation",
  );
  if (cleared === undefined) throw new Error("the annotation is to be cleared");
  const result = { ...aRun(serving(true), serving(isReady), applied), outcomes: [applied(cleared)] };
  expect(watchLines(result, result.remaining)[0]?.text).toContain(text);
});
