import { expect, test } from "vitest";
import { parseLabelSelector } from "../../src/model/label-selector.ts";
import type { NodeFacts, Rest } from "../../src/model/node.ts";
import type { PodSummary } from "../../src/model/observation.ts";
import { judge, type Matcher } from "../../src/plan/nodes/match.ts";
import { aNode, NOW } from "./builders.ts";

interface Row {
  readonly node?: Partial<NodeFacts>;
  readonly nodeLabel?: string;
  readonly tolerations?: Matcher["tolerations"];
  readonly pods?: PodSummary | "none";
  readonly hasGrace?: boolean;
}

function verdict({ node = {}, nodeLabel = "", tolerations = [], pods, hasGrace = false }: Row): string {
  const parsed = parseLabelSelector(nodeLabel);
  if ("error" in parsed) throw new Error(parsed.error);
  const podsByNode = pods === undefined ? undefined : new Map(pods === "none" ? [] : [["n1", pods]]);
  const matcher: Matcher = {
    nodeSelector: parsed.selector,
    nodeLabel,
    tolerations,
    podsByNode,
    hasGrace,
  };
  const answer = judge(aNode(node), matcher, NOW);
  if (answer.kind === "match") return "match";
  const since =
    answer.kind === "unready" && answer.sinceMs !== undefined ? ` since -${(NOW - answer.sinceMs) / 1000}s` : "";
  return `${answer.kind} ${answer.reason}${answer.detail === "" ? "" : ` ${answer.detail}`}${since}`;
}

const unready = { isReady: false, sinceMs: NOW - 5000 };
const cordon = { key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" };
const notReady = { key: "node.kubernetes.io/not-ready", value: "", effect: "NoExecute", timeAddedMs: NOW - 7000 };

/** A rest from labels that a node had. */
const resting = (labels: Rest["labels"]): Rest => ({
  isUnready: false,
  taints: [],
  ...(labels === undefined ? {} : { labels }),
  untilMs: NOW + 2000,
});

test.for<[string, Row, string]>([
  ["a ready node matches", {}, "match"],
  [
    "a node whose pods never rest is unready for a while",
    { pods: { ready: 1, notReady: 0, restsUntilMs: NOW + 2000 } },
    "unready PodNotReady ready and not ready again and again",
  ],
  [
    "it is told so while they are not ready, too: a text that changes each time would be written each time",
    { pods: { ready: 0, notReady: 1, unreadySinceMs: NOW - 300, restsUntilMs: NOW + 2000 } },
    "unready PodNotReady ready and not ready again and again since -0.3s",
  ],
  [
    "for an object that gives grace it matches at once",
    { pods: { ready: 1, notReady: 0, restsUntilMs: NOW + 2000 }, hasGrace: true },
    "match",
  ],
  [
    "a node whose condition Ready never rests is unready for a while",
    { node: { rest: { isUnready: true, taints: [], untilMs: NOW + 2000 } } },
    "unready NodeNotReady ready and not ready again and again",
  ],
  [
    "it is told so while it is not ready, too",
    { node: { ready: unready, rest: { isUnready: true, taints: [] } } },
    "unready NodeNotReady ready and not ready again and again since -5s",
  ],
  [
    "a node that is cordoned again and again is so for a while",
    { node: { rest: { isUnready: false, taints: [cordon], untilMs: NOW + 2000 } } },
    "excluded TaintNotTolerated node.kubernetes.io/unschedulable:NoSchedule",
  ],
  [
    "for an object that tolerates it there is nothing to rest from",
    {
      node: { rest: { isUnready: false, taints: [cordon], untilMs: NOW + 2000 } },
      tolerations: [{ key: cordon.key, operator: "Exists" }],
    },
    "match",
  ],
  [
    "for an object that gives grace a node that has to rest from not being ready matches at once",
    { node: { rest: { isUnready: true, taints: [notReady], untilMs: NOW + 2000 } }, hasGrace: true },
    "match",
  ],
  [
    "what excludes it has no grace, and counts on with it, too",
    { node: { rest: { isUnready: true, taints: [cordon], untilMs: NOW + 2000 } }, hasGrace: true },
    "excluded TaintNotTolerated node.kubernetes.io/unschedulable:NoSchedule",
  ],
  [
    "a node that is made again and again is unready for a while, with grace, too",
    { node: { rest: { isUnready: false, isGone: true, taints: [], untilMs: NOW + 2000 } }, hasGrace: true },
    "unready NodeNotReady it comes and goes again and again",
  ],
  [
    "a node whose label never rests has the one that it had, too",
    { node: { labels: { role: "edge" }, rest: resting([{ name: "role", value: "other" }]) }, nodeLabel: "role=edge" },
    "excluded NodeLabelMismatch role=edge",
  ],
  [
    "or none, where it had none",
    { node: { labels: { role: "edge" }, rest: resting([{ name: "role" }]) }, nodeLabel: "role", hasGrace: true },
    "excluded NodeLabelMismatch role",
  ],
  [
    "for an object that asks for neither there is nothing to rest from",
    {
      node: { labels: { role: "edge" }, rest: resting([{ name: "role", value: "a" }]) },
      nodeLabel: "role in (a,edge)",
    },
    "match",
  ],
  ["a node being deleted does not match at once", { node: { isDeleting: true } }, "excluded NodeDeleting"],
  ["a node without providerID does not match", { node: { providerID: "" } }, "excluded NoProviderID"],
  [
    "an unready node is unready since its condition moved",
    { node: { ready: unready } },
    "unready NodeNotReady since -5s",
  ],
  [
    "an unready node without a transition time is unready since unknown",
    { node: { ready: { isReady: false } } },
    "unready NodeNotReady",
  ],
  [
    "a transition time in the future counts as now",
    { node: { ready: { isReady: false, sinceMs: NOW + 60_000 } } },
    "unready NodeNotReady since -0s",
  ],
  [
    "a time before every calendar counts as the evidence that it is",
    { node: { ready: { isReady: false, sinceMs: NOW - 7_000 }, taints: [{ ...notReady, timeAddedMs: NOW - 9e12 }] } },
    "unready NodeNotReady since -9000000000s",
  ],
  [
    "of a node that cannot be read nobody can tell, whatever else is known",
    { node: { unreadable: "spec.taints", ready: unready, providerID: "" }, nodeLabel: "role=edge" },
    "unreadable Unreadable spec.taints cannot be read",
  ],
  [
    "a node that is being deleted does not match although it cannot be read",
    { node: { unreadable: "spec.taints", isDeleting: true } },
    "excluded NodeDeleting",
  ],
  [
    "of a node whose only pod cannot be read nobody can tell",
    { pods: { ready: 0, notReady: 0, unreadable: "pod shop/web-0" } },
    "unreadable Unreadable pod shop/web-0 cannot be read",
  ],
  [
    "nor of one whose other pods are not ready",
    { pods: { ready: 0, notReady: 2, unreadable: "pod shop/web-0", unreadySinceMs: NOW - 1000 } },
    "unreadable Unreadable pod shop/web-0 cannot be read",
  ],
  [
    "a pod that cannot be read takes nothing from one that is ready",
    { pods: { ready: 1, notReady: 0, unreadable: "pod shop/web-0" } },
    "match",
  ],
  [
    "a node that is known not to be ready is not, although its pod cannot be read",
    { node: { ready: unready }, pods: { ready: 0, notReady: 0, unreadable: "pod shop/web-0" } },
    "unready NodeNotReady since -5s",
  ],
  [
    "a node that is out of service is, although its pod cannot be read",
    {
      node: { taints: [{ key: "node.kubernetes.io/out-of-service", value: "", effect: "NoExecute" }] },
      tolerations: [{ operator: "Exists" }],
      pods: { ready: 0, notReady: 0, unreadable: "pod shop/web-0" },
    },
    "excluded PodNotReady",
  ],
  ["another label excludes", { nodeLabel: "role=edge" }, "excluded NodeLabelMismatch role=edge"],
  [
    "a label that excludes is reported before readiness",
    { node: { ready: unready }, nodeLabel: "role=edge" },
    "excluded NodeLabelMismatch role=edge",
  ],
  [
    "a cordon excludes",
    { node: { taints: [cordon] } },
    "excluded TaintNotTolerated node.kubernetes.io/unschedulable:NoSchedule",
  ],
  ["a tolerated cordon matches", { node: { taints: [cordon] }, tolerations: [{ operator: "Exists" }] }, "match"],
  [
    "a taint of the node's condition is unreadiness",
    { node: { taints: [notReady] } },
    "unready TaintNotTolerated node.kubernetes.io/not-ready:NoExecute since -7s",
  ],
  ["the earliest evidence counts", { node: { taints: [notReady], ready: unready } }, "unready NodeNotReady since -7s"],
  [
    "PreferNoSchedule is unreadiness",
    { node: { taints: [{ key: "a", value: "b", effect: "PreferNoSchedule" }] } },
    "unready TaintNotTolerated a=b:PreferNoSchedule",
  ],
  [
    "out-of-service excludes",
    { node: { taints: [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }] } },
    "excluded TaintNotTolerated node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
  ],
  [
    "out-of-service excludes an unready node even when it is tolerated",
    {
      node: { ready: unready, taints: [{ key: "node.kubernetes.io/out-of-service", value: "", effect: "NoExecute" }] },
      tolerations: [{ operator: "Exists" }],
    },
    "excluded NodeNotReady",
  ],
  ["no pod on the node is unreadiness without evidence", { pods: "none" }, "unready NoMatchingPod"],
  ["a ready pod matches beside unready ones", { pods: { ready: 1, notReady: 4 } }, "match"],
  [
    "unready pods count from the last that stopped",
    { pods: { ready: 0, notReady: 2, unreadySinceMs: NOW - 3000 } },
    "unready PodNotReady since -3s",
  ],
  [
    "a deleted node with unready pods is excluded",
    { node: { isDeleting: true }, pods: { ready: 0, notReady: 1 } },
    "excluded NodeDeleting",
  ],
])("%s", ([, row, expected]) => {
  expect(verdict(row)).toBe(expected);
});
