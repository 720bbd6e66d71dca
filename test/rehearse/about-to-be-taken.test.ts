import { expect, test } from "vitest";
import { explain } from "../../src/rehearse/explain.ts";
import { anObservation, aPool, known, nodes } from "../plan/builders.ts";

const A = "203.0.113.1";

test("an address on no machine that a node is about to take is not told to have no candidate", () => {
  const observation = anObservation({ pools: [aPool({ spec: { ips: [A] } })], nodes: nodes(1), addresses: [known(A)] });
  const { sections } = explain(observation, {
    subject: { kind: "ip", ip: A },
    isMeant: () => true,
    horizonMs: 900_000,
  });
  expect(sections[0]).toMatchObject({ isComing: true, message: `${A} is on no machine: NodeMatched.` });
});
