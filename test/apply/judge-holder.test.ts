import { describe, expect, test } from "vitest";
import { holderKeeps } from "../../src/apply/assign-ip.ts";
import { applyContext } from "../../src/apply/context.ts";
import type { AssignIP } from "../../src/model/action.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { NodeFacts, PodFacts } from "../../src/model/node.ts";
import type { EndpointSliceFacts } from "../../src/model/service.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { aNode, anObservation, aPool, NOW } from "../plan/builders.ts";

const IP = "203.0.113.1";
const MOVE: AssignIP = {
  kind: "move-ip",
  id: `move-ip pool/ingress/web ${IP}`,
  object: { kind: "pool", namespace: "ingress", name: "web" },
  reason: "HolderLost",
  requires: [],
  follows: [],
  provider: "digitalocean",
  ip: IP,
  before: { machineID: "101", nodeName: "n1" },
  after: { machineID: "102", nodeName: "n2" },
  mustNotCarry: [],
  isHolderJudged: true,
};
const UNREADY: Partial<NodeFacts> = { ready: { isReady: false } };
const POD: PodFacts = {
  namespace: "shop",
  name: "web-0",
  nodeName: "n1",
  phase: "Running",
  ready: { isReady: false },
};

interface Now {
  readonly node?: Partial<NodeFacts>;
  readonly pods?: readonly PodFacts[] | "never answered" | "refused";
  readonly slices?: readonly EndpointSliceFacts[];
}

async function readPods(pods: Now["pods"]): Promise<readonly PodFacts[]> {
  if (pods === "never answered") return await Promise.withResolvers<never>().promise;
  if (pods !== "refused") return pods ?? [];
  throw new KubeError({ failure: "unavailable", operation: "list pods", subject: "", status: 500, message: "oops" });
}

/** Why the holder of an address keeps it, as things are now; undefined when it does not. */
async function why({ node = {}, pods, slices }: Now): Promise<string | undefined> {
  const match = { nodeLabel: "", podNamespace: pods === undefined ? "" : "shop", podLabel: "", tolerations: [] };
  const pool = {
    ...aPool({ spec: { ips: [IP], match } }),
    ...(slices === undefined ? {} : { endpoints: { namespace: "shop", name: "web" } }),
  };
  const cluster: Partial<ClusterWriter> = {
    now: () => NOW,
    readNode: async () => aNode(node),
    readPodsOn: () => readPods(pods),
    readEndpointSlices: async () => slices ?? [],
  };
  const none = new Map<string, never>();
  const lock = { isHeld: () => true, lost: new AbortController().signal, annotations: () => ({}) };
  const access = {
    cluster: cluster as ClusterWriter,
    providers: none,
    dnsProviders: none,
    firewallProviders: none,
    clock: new FakeClock(),
    lock: { ...lock, noteAcquisition: async () => true, annotate: async () => undefined },
  };
  const options = { deadlineMs: 1_000, signal: new AbortController().signal };
  const result = await holderKeeps(MOVE, applyContext(access, anObservation({ pools: [pool] }), options));
  if (result?.outcome !== "skipped") return result?.outcome;
  return `${result.outcome} ${result.reason}: ${result.detail}`;
}

const slice = (node: string, rest: object): EndpointSliceFacts => ({
  namespace: "shop",
  name: "web-1",
  resourceVersion: "1",
  serviceName: "web",
  endpointsByNode: new Map([[node, { ready: 0, notReady: 0, ...rest }]]),
});

describe("right before an address is taken from its node, the node keeps it", () => {
  test.for<[string, Now, string]>([
    ["when it can serve again", {}, "can serve again"],
    [
      "when its taints cannot be read",
      { node: { unreadable: "spec.taints" } },
      "may serve: spec.taints cannot be read",
    ],
    [
      "when not even its machine can be read",
      { node: { unreadable: "spec", providerID: "" } },
      "may serve: spec cannot be read",
    ],
    [
      "when its only pod cannot be read",
      { pods: [{ ...POD, isUnreadable: true }] },
      "may serve: pod shop/web-0 cannot be read",
    ],
    [
      "when not even the node of its only pod can be read",
      { pods: [{ ...POD, nodeName: "", isUnreadable: true }] },
      "may serve: pod shop/web-0 cannot be read",
    ],
    [
      "when the endpoints of its Service cannot be read",
      { slices: [slice("", { unreadable: "EndpointSlice shop/web-1" })] },
      "may serve: EndpointSlice shop/web-1 cannot be read",
    ],
  ])("%s", async ([, now, wanted]) => {
    expect(await why(now)).toBe(`skipped Stale: node n1, which has the address, ${wanted}`);
  });
});

describe("right before an address is taken from its node, the node does not keep it", () => {
  test.for<[string, Now]>([
    ["when it is not ready", { node: UNREADY }],
    ["when it is being deleted, whatever cannot be read", { node: { unreadable: "spec.taints", isDeleting: true } }],
    ["when it is another machine by now", { node: { providerID: "digitalocean://103" } }],
    ["when its pods are not ready", { pods: [POD] }],
    ["when it is not ready, and its pods are never told", { node: UNREADY, pods: "never answered" }],
    ["when it is not ready, and its pods cannot be listed", { node: UNREADY, pods: "refused" }],
    ["when the Service has no endpoint there", { slices: [slice("n2", { ready: 1 })] }],
  ])("%s", async ([, now]) => {
    expect(await why(now)).toBeUndefined();
  });
});
