import { expect, test } from "vitest";
import { explain } from "../../src/rehearse/explain.ts";
import { aNode, anObservation, aPool, known, nodes } from "../plan/builders.ts";

const WEB = "203.0.113.2";

test("what follows an assignment is told at the time when it begins, as simulate tells it", () => {
  const observation = anObservation({
    pools: [aPool({ spec: { ips: [WEB] } })],
    nodes: [aNode({ ready: { isReady: false, sinceMs: 0 } }), ...nodes(2).slice(1)],
    addresses: [known(WEB, { holderID: "101" })],
  });
  const subject = { kind: "object" } as const;
  const { sections, assumed, observedAtMs } = explain(observation, {
    subject,
    isMeant: () => true,
    horizonMs: 900_000,
  });
  const told = sections[0]?.next.steps.flatMap(({ atMs, actions }) =>
    actions.map(({ kind }) => [kind, atMs - observedAtMs]),
  );
  const [[, moveMs = 0] = []] = told ?? [];
  expect(told).toEqual([
    ["move-ip", moveMs],
    ["annotate-node", Number(moveMs) + assumed.assignMs],
  ]);
});
