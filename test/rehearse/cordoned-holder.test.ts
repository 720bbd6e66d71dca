import { describe, expect, test } from "vitest";
import { CORDON_KEY } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import { explain } from "../../src/rehearse/explain.ts";
import { renderExplanation } from "../../src/report/text/explanation.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { aNode, anObservation, aPool, known } from "../plan/builders.ts";
import { atHetzner } from "../plan/random-several.ts";

const [A, B, C] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;
const CORDONED = { taints: [{ key: CORDON_KEY, value: "", effect: "NoSchedule" as const }] };

function told(observation: Observation, ip: string, node: string): string {
  const subject = { kind: "pair", ip, node } as const;
  const explanation = explain(observation, { subject, isMeant: () => true, horizonMs: 900_000 });
  return renderExplanation(explanation, { palette: PLAIN, width: 250, wide: false });
}

describe("an address whose node is cordoned, while the only other one carries an address of the same pool", () => {
  const world = anObservation({
    pools: [
      aPool({
        spec: { ips: [A, B] },
        status: {
          ips: {
            [A]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" },
            [B]: { state: "active", nodeName: "n2", providerID: "digitalocean://102" },
          },
        },
      }),
    ],
    nodes: [aNode({ name: "n1", droplet: 101 }), aNode({ name: "n2", droplet: 102, ...CORDONED })],
    addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
  });

  test("is not kept where it is by a match, but by the other node, which is full", () => {
    const text = told(world, B, "n1");
    expect(text).not.toContain("an address never leaves a node that matches");
    expect(text).toContain(
      `  ! free              already carrying ${A} of the same object, and may have no more than 1\n`,
    );
  });

  test("is offered no change that ends the service of the other address", () => {
    expect(told(world, B, "n1")).not.toContain(`"ips"`);
  });

  test("is told to be where it is", () => {
    const [first] = told(world, B, "n2").split("\n");
    expect(first).toBe(`${B} is active on n2: NoCandidate. It stays there although n2 does not match.`);
  });

  test("is not told to be on another node", () => {
    const [first] = told(world, B, "n1").split("\n");
    expect(first).toBe(`${B} is active on n2: NoCandidate. It is not on n1.`);
  });
});

test("an address whose node is cordoned may go to a node that has as many as it may once that may have more", () => {
  const labels = { "topology.kubernetes.io/region": "fsn1" };
  const at = (nodeName: string, id: number) => ({ state: "active" as const, nodeName, providerID: `hcloud://${id}` });
  const world = atHetzner({
    pools: [
      aPool({
        spec: { provider: "hetzner", region: "fsn1", ips: [A, B, C], maxPerNode: 2 },
        status: { ips: { [A]: at("n1", 101), [B]: at("n2", 102), [C]: at("n1", 101) } },
      }),
    ],
    nodes: [
      aNode({ name: "n1", providerID: "hcloud://101", labels }),
      aNode({ name: "n2", providerID: "hcloud://102", labels, ...CORDONED }),
    ],
    addresses: [A, B, C].map((ip) => known(ip, { region: "fsn1", holderID: ip === B ? "102" : "101" })),
  });
  const text = told(world, B, "n1");
  expect(text).toContain(
    `  ! free              already carrying ${A}, ${C} of the same object, and may have no more than 2\n`,
  );
  expect(text).toContain(
    `  1 kubectl -n ingress patch floatingippool web --type=merge -p '{"spec":{"maxPerNode":3}}'\n`,
  );
  expect(text).not.toContain(`"ips"`);
});
