import { expect, test } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import type { RetryStatus } from "../../src/model/resource.ts";
import { aNode, anObservation, aPool, known, NOW, nodes } from "./builders.ts";
import { planText } from "./plan-text.ts";

const [A, B, C] = ["203.0.113.10", "203.0.113.11", "203.0.113.12"] as const;

function failed(subject: string, attempts: number, dueForSeconds: number, error = subject): RetryStatus {
  return { subject, attempts, nextAttemptTime: new Date(NOW - dueForSeconds * 1000).toISOString(), error };
}

test.for<[string, Observation, string[]]>([
  [
    "of two nodes that failed, the one due longer is tried, not the first by name for ever",
    anObservation({
      pools: [
        aPool({
          spec: { ips: [A] },
          status: { retries: [failed(`ip/${A}`, 4, 1), failed("node/n1/101", 4, 1), failed("node/n2/102", 1, 900)] },
        }),
      ],
      nodes: nodes(2),
      addresses: [known(A)],
    }),
    [`assign-ip ${A} to n2: NodeMatched`, `annotate-node n2 with ${A}: Verified`],
  ],
  [
    "of two addresses that failed, the one due longer is tried, not the first in order for ever",
    anObservation({
      pools: [
        aPool({
          spec: { ips: [A, B] },
          status: { retries: [failed(`ip/${A}`, 4, 1), failed(`ip/${B}`, 2, 900), failed("node/n1/101", 4, 1)] },
        }),
      ],
      nodes: nodes(1),
      addresses: [known(A), known(B)],
    }),
    [`assign-ip ${B} to n1: NodeMatched`, `annotate-node n1 with ${B}: Verified`, `hold assign-ip ${A}: NoCandidate`],
  ],
  [
    "a failed node that is due longer goes before one that failed later and is empty",
    anObservation({
      pools: [
        aPool({
          spec: { ips: [A] },
          status: {
            released: [{ ip: C, providerID: "digitalocean://102", nodeName: "n2" }],
            retries: [failed(`ip/${A}`, 4, 1), failed("node/n1/101", 4, 1), failed("node/n2/102", 2, 900)],
          },
        }),
      ],
      nodes: [aNode(), aNode({ name: "n2", droplet: 102 })],
      addresses: [known(A), known(C, { holderID: "102" })],
    }),
    [
      `assign-ip ${A} to n2: NodeMatched`,
      `annotate-node n2 with ${A}: Verified`,
      `unassign-ip ${C} from n2: DropletNeeded`,
    ],
  ],
  [
    "pairs that failed together change partners",
    anObservation({
      pools: [
        aPool({
          spec: { ips: [A, B] },
          status: {
            retries: [
              failed(`ip/${A}`, 2, 1, "n1: refused"),
              failed(`ip/${B}`, 2, 1, "n2: refused"),
              failed("node/n1/101", 2, 1, "n1: refused"),
              failed("node/n2/102", 2, 1, "n2: refused"),
            ],
          },
        }),
      ],
      nodes: nodes(2),
      addresses: [known(A), known(B)],
    }),
    [
      `assign-ip ${A} to n2: NodeMatched`,
      `assign-ip ${B} to n1: NodeMatched`,
      `annotate-node n1 with ${B}: Verified`,
      `annotate-node n2 with ${A}: Verified`,
    ],
  ],
  [
    "an address that can only be bought for a node that failed waits for that node, and no region is missed",
    anObservation({
      pools: [aPool({ spec: { desiredIPs: 1, region: "" }, status: { retries: [failed("node/n1/101", 2, -240)] } })],
      nodes: nodes(1),
    }),
    ["hold acquire-ip ingress/web: Backoff (node/n1/101) for 240s"],
  ],
  [
    "a deletion that waits for the answer of a creation says so, and until when",
    anObservation({
      pools: [
        aPool({
          isDeleting: true,
          finalizers: ["flipop.digitalocean.com/cleanup"],
          spec: { desiredIPs: 1, reclaimPolicy: "Delete" },
          status: {
            pendingAcquisitions: [{ startedAt: new Date(NOW - 4000).toISOString(), region: "nyc3", knownIPs: [] }],
          },
        }),
      ],
    }),
    ["hold remove-finalizer ingress/web: AcquisitionUnanswered (the deletion waits for it) for 26s"],
  ],
  [
    "29 s after the call an unattached address may still be somebody else's",
    anObservation({
      pools: [
        aPool({
          spec: { desiredIPs: 1 },
          status: {
            pendingAcquisitions: [{ startedAt: new Date(NOW - 29_000).toISOString(), region: "nyc3", knownIPs: [] }],
          },
        }),
      ],
      nodes: nodes(1),
      addresses: [known(A)],
    }),
    ["hold acquire-ip ingress/web: AcquisitionUnanswered for 1s"],
  ],
])("%s", ([, observation, expected]) => {
  expect(planText(observation)).toEqual(expected);
});
