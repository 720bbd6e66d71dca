import { expect, test } from "vitest";
import type { NodeFacts } from "../../src/model/node.ts";
import { nodeVersion } from "../../src/model/node-version.ts";
import { aNode } from "../plan/builders.ts";

const node = aNode({ name: "n1", droplet: 101 });

test.for<[string, Partial<NodeFacts>]>([
  ["another resourceVersion", { resourceVersion: "x" }],
  ["annotations of flipop's own", { addressAnnotation: "203.0.113.1", poolAnnotation: "ingress/web" }],
  ["the same labels in another order", { labels: Object.fromEntries(Object.entries(node.labels).toReversed()) }],
])("a node is what it was with %s", ([, change]) => {
  expect(nodeVersion({ ...node, ...change })).toBe(nodeVersion(node));
});

test.for<[string, Partial<NodeFacts>]>([
  ["other labels", { labels: { ...node.labels, role: "x" } }],
  ["a taint", { taints: [{ key: "a", value: "", effect: "NoSchedule" }] }],
  ["another machine", { providerID: "digitalocean://102" }],
  ["its deletion", { isDeleting: true }],
  ["a readiness that went and came back", { ready: { isReady: node.ready.isReady, sinceMs: 1 } }],
])("a node is another one with %s", ([, change]) => {
  expect(nodeVersion({ ...node, ...change })).not.toBe(nodeVersion(node));
});
