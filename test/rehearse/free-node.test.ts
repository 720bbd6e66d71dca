import { expect, test } from "vitest";
import { explain } from "../../src/rehearse/explain.ts";
import { anObservation, aPool, known, nodes } from "../plan/builders.ts";

const [API, WEB] = ["203.0.113.1", "203.0.113.2"] as const;

test("the smallest change takes no address from another object while a node is free", () => {
  const observation = anObservation({
    pools: [
      aPool({
        name: "web",
        spec: { ips: [WEB, "203.0.113.3"] },
        status: { ips: { [WEB]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } },
      }),
      aPool({
        name: "api",
        spec: { ips: [API], match: { nodeLabel: "", podNamespace: "ingress", podLabel: "app=api", tolerations: [] } },
      }),
    ],
    nodes: nodes(3),
    pods: new Map([["ingress|app=api", { kind: "read", byNode: new Map() }]]),
    addresses: [known(API), known(WEB, { holderID: "101" })],
  });
  const { sections } = explain(observation, {
    subject: { kind: "object" },
    isMeant: ({ name }) => name === "api",
    horizonMs: 15 * 60_000,
  });
  expect(sections[0]?.counterfactual?.changes.map(({ edit }) => edit)).toEqual(["node/n2.pods=Ready"]);
});
