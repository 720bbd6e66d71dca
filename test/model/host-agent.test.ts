import { expect, test } from "vitest";
import { asksItsHost, hostAgentOf, hostAgentOn, hostPods } from "../../src/model/host-agent.ts";
import type { PodFacts } from "../../src/model/node.ts";
import { aNode } from "../report/world.ts";

const IP = "203.0.113.7";

function pod(nodeName: string, isReady: boolean, more: Partial<PodFacts> = {}): PodFacts {
  const facts = { namespace: "flipop-host", name: `flipop-host-${nodeName}`, nodeName, phase: "Running" };
  return { ...facts, ready: { isReady, sinceMs: 5000 }, ...more };
}

test.for([
  ["no pod is there", [], { kind: "missing" }],
  ["its pod is on another node", [pod("worker-2", true)], { kind: "missing" }],
  ["its pod is ready", [pod("worker-1", true)], { kind: "ready" }],
  ["its pod is not ready", [pod("worker-1", false)], { kind: "not-ready", sinceMs: 5000 }],
  ["nobody says since when", [pod("worker-1", false, { ready: { isReady: false } })], { kind: "not-ready" }],
  [
    "it is replaced, and the new pod is ready",
    [pod("worker-1", false, { deletedAtMs: 1 }), pod("worker-1", true)],
    { kind: "ready" },
  ],
  [
    "it is replaced, and no pod is ready",
    [pod("worker-1", false, { ready: { isReady: false, sinceMs: 7000 } }), pod("worker-1", false)],
    { kind: "not-ready", sinceMs: 5000 },
  ],
  ["its pod cannot be understood", [pod("worker-1", true, { isUnreadable: true })], { kind: "unknown" }],
] as const)("where %s", ([, pods, agent]) => {
  expect(hostAgentOn("worker-1", hostPods(pods))).toEqual(agent);
});

test("nobody knows where pods cannot be read", () => {
  expect(hostAgentOn("worker-1", { kind: "unread", error: "no" })).toEqual({ kind: "unknown" });
});

test("only an address that the node asks its host for has an agent, in whatever form a person wrote it", () => {
  const pods = hostPods([pod("worker-1", true)]);
  const node = { ...aNode(1), hostAnnotation: `${IP}`, ipv6: { hostAnnotation: "2001:DB8::0007" } };
  expect(hostAgentOf(IP, node, pods)).toEqual({ kind: "ready" });
  expect(hostAgentOf("2001:db8::7", node, pods)).toEqual({ kind: "ready" });
  expect(hostAgentOf("203.0.113.8", node, pods)).toBeUndefined();
  expect(hostAgentOf(IP, aNode(1), pods)).toBeUndefined();
  expect(hostAgentOf(IP, undefined, pods)).toBeUndefined();
});

test("a node asks for nothing with an annotation in which no address stands", () => {
  const asked = [IP, undefined, "", ",", "nonsense", "127.0.0.1"].map((hostAnnotation) =>
    asksItsHost(hostAnnotation === undefined ? {} : { hostAnnotation }),
  );
  expect(asked).toEqual([true, false, false, false, false, false]);
});
