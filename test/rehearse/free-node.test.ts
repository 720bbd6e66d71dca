import { expect, test } from "vitest";
import { explain } from "../../src/rehearse/explain.ts";
import { renderExplanation } from "../../src/report/text/explanation.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { aNode, anObservation, aPool, known, nodes } from "../plan/builders.ts";
import { aRecordSet, dnsFacts } from "../plan/dns-builders.ts";

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

test("no node is labelled for a record set whose selector selects nothing: its name would lose all others", () => {
  const observation = anObservation({
    nodes: [1, 2].map((n) => aNode({ name: `n${n}`, addresses: [{ type: "ExternalIP", address: `192.0.2.${n}` }] })),
    recordSets: [
      aRecordSet({
        spec: { match: { nodeLabel: "x=y", podNamespace: "", podLabel: "", tolerations: [] } },
      }),
    ],
    dns: [dnsFacts({ "nodes.example.com": ["192.0.2.1", "192.0.2.2"] })],
  });
  const explanation = explain(observation, {
    subject: { kind: "object" },
    isMeant: ({ kind }) => kind === "dns",
    horizonMs: 15 * 60_000,
  });
  expect(explanation.sections[0]?.counterfactual).toBeUndefined();
  expect(renderExplanation(explanation, { palette: PLAIN, width: 100, wide: false })).toContain(
    "Correct that selector, or give nodes the labels that it asks for.",
  );
});

test("an object that has no address yet is told which node to free for one, rather than to buy one for nobody", () => {
  const cordoned = { taints: [{ key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" as const }] };
  const observation = anObservation({
    pools: [
      aPool({
        name: "web",
        spec: { ips: [WEB] },
        status: { ips: { [WEB]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } },
      }),
      aPool({ name: "api", spec: { ips: [], desiredIPs: 1, region: "" } }),
    ],
    nodes: [aNode(), aNode({ name: "n2", droplet: 102, ...cordoned })],
    addresses: [known(WEB, { holderID: "101" })],
  });
  const { sections } = explain(observation, {
    subject: { kind: "object" },
    isMeant: ({ name }) => name === "api",
    horizonMs: 15 * 60_000,
  });
  expect(sections[0]?.gates.flatMap(({ id, pass }) => (pass === false ? [id] : []))).toEqual(["region"]);
  expect(sections[0]?.counterfactual?.changes.map(({ edit }) => edit)).toEqual(["node/n2=Uncordoned"]);
});

test("a node of another cloud is told to have no usable machine, and not what else it lacks to match", () => {
  const observation = anObservation({
    pools: [
      aPool({
        spec: { ips: [WEB], match: { nodeLabel: "", podNamespace: "ingress", podLabel: "app=web", tolerations: [] } },
      }),
    ],
    nodes: [aNode({ providerID: "hcloud://2001" })],
    pods: new Map([["ingress|app=web", { kind: "read", byNode: new Map() }]]),
    addresses: [known(WEB)],
  });
  const { sections } = explain(observation, {
    subject: { kind: "node", node: "n1" },
    isMeant: () => true,
    horizonMs: 15 * 60_000,
  });
  const [section] = sections;
  expect(section?.gates.find(({ id }) => id === "machine")).toMatchObject({ pass: false, detail: "hcloud://2001" });
  expect(section?.counterfactual).toBeUndefined();
});
