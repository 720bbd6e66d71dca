import { expect, test } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import type { IPStatus, MatchSpec, RetryStatus } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, aPool, known, NOW, nodes } from "./builders.ts";
import { planText } from "./plan-text.ts";

const [A, B, C] = ["203.0.113.10", "203.0.113.11", "203.0.113.12"] as const;
const active = (n: number): IPStatus => ({
  state: "active",
  nodeName: `n${n}`,
  providerID: `digitalocean://${100 + n}`,
});
const matching = (nodeLabel: string): MatchSpec => ({ nodeLabel, podNamespace: "", podLabel: "", tolerations: [] });
const SHOP: MatchSpec = { ...matching(""), podNamespace: "shop" };
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();
/** What a hold says of a cool-off of 20 s that began so many seconds ago. */
const cooling = (seconds: number, node: string): string => {
  const [begun, over] = [ago(seconds), ago(seconds - 20)].map((time) => time.replace(".000Z", "Z"));
  return `the pool's last assignment was at ${begun}, its cool-off is 20s: ${node} gets it at ${over}`;
};
const retry = (subject: string, attempts: number, inSeconds: number): RetryStatus => ({
  subject,
  attempts,
  nextAttemptTime: ago(-inSeconds),
  error: "refused",
});
const annotated = (n: number, ip: string): ReturnType<typeof aNode> =>
  aNode({ name: `n${n}`, droplet: 100 + n, addressAnnotation: ip, poolAnnotation: "ingress/web" });
const unready = { ready: { isReady: false, sinceMs: NOW - 5000 } };

test.for<[string, Observation, string[]]>([
  [
    "free addresses go to the first nodes by name; the third node waits",
    anObservation({ pools: [aPool({ spec: { ips: [A, B] } })], nodes: nodes(3), addresses: [known(A), known(B)] }),
    [
      `assign-ip ${A} to n1: NodeMatched`,
      `assign-ip ${B} to n2: NodeMatched`,
      `annotate-node n1 with ${A}: Verified`,
      `annotate-node n2 with ${B}: Verified`,
    ],
  ],
  [
    "an address whose holder matches stays, and nothing is done",
    anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { ips: { [A]: active(2) } } })],
      nodes: [aNode(), annotated(2, A)],
      addresses: [known(A, { holderID: "102" })],
    }),
    [],
  ],
  [
    "an address moves when its holder no longer matches and a node waits",
    anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { ips: { [A]: active(1) } } })],
      nodes: [{ ...annotated(1, A), ...unready }, aNode({ name: "n2", droplet: 102 })],
      addresses: [known(A, { holderID: "101" })],
    }),
    [
      `move-ip ${A} from n1 to n2: HolderLost`,
      `annotate-node n2 with ${A}: Verified`,
      "clear-annotation n1: HolderLost",
    ],
  ],
  [
    "an address that a later pass finds on its new node leaves the annotation of the old one, for the old one's reason",
    anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { ips: { [A]: active(1) } } })],
      nodes: [{ ...annotated(1, A), ...unready }, aNode({ name: "n2", droplet: 102 })],
      addresses: [known(A, { holderID: "102" })],
    }),
    [`annotate-node n2 with ${A}: Verified`, "clear-annotation n1: HolderLost"],
  ],
  [
    "an address stays parked when nobody waits, and its annotation goes",
    anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { ips: { [A]: active(1) } } })],
      nodes: [{ ...annotated(1, A), ...unready }],
      addresses: [known(A, { holderID: "101" })],
    }),
    ["clear-annotation n1: HolderLost", `hold assign-ip ${A}: NoCandidate`],
  ],
  [
    "a holder unready for 5 of 30 s of grace keeps everything",
    anObservation({
      pools: [aPool({ spec: { ips: [A], gracePeriodSeconds: 30 }, status: { ips: { [A]: active(1) } } })],
      nodes: [{ ...annotated(1, A), ...unready }, aNode({ name: "n2", droplet: 102 })],
      addresses: [known(A, { holderID: "101" })],
    }),
    [`hold assign-ip ${A}: Grace (stays on node n1) for 25s`],
  ],
  [
    "grace of 5 s is over after 5 s",
    anObservation({
      pools: [aPool({ spec: { ips: [A], gracePeriodSeconds: 5 }, status: { ips: { [A]: active(1) } } })],
      nodes: [{ ...annotated(1, A), ...unready }, aNode({ name: "n2", droplet: 102 })],
      addresses: [known(A, { holderID: "101" })],
    }),
    [
      `move-ip ${A} from n1 to n2: HolderLost`,
      `annotate-node n2 with ${A}: Verified`,
      "clear-annotation n1: HolderLost",
    ],
  ],
  [
    "grace of 5 s is not over when the nodes were read after 4 s, however late the providers answered",
    {
      ...anObservation({
        pools: [aPool({ spec: { ips: [A], gracePeriodSeconds: 5 }, status: { ips: { [A]: active(1) } } })],
        nodes: [{ ...annotated(1, A), ...unready }, aNode({ name: "n2", droplet: 102 })],
        addresses: [known(A, { holderID: "101" })],
      }),
      nodesReadAtMs: NOW - 1000,
    },
    [`hold assign-ip ${A}: Grace (stays on node n1) for 0s`],
  ],
  [
    "the stored first sight ends grace although the evidence is newer",
    anObservation({
      pools: [
        aPool({
          spec: { ips: [A], gracePeriodSeconds: 30 },
          status: { ips: { [A]: { ...active(1), notMatchingSince: ago(31) } } },
        }),
      ],
      nodes: [{ ...annotated(1, A), ...unready }, aNode({ name: "n2", droplet: 102 })],
      addresses: [known(A, { holderID: "101" })],
    }),
    [
      `move-ip ${A} from n1 to n2: HolderLost`,
      `annotate-node n2 with ${A}: Verified`,
      "clear-annotation n1: HolderLost",
    ],
  ],
  [
    "a cordoned holder has no grace",
    anObservation({
      pools: [aPool({ spec: { ips: [A], gracePeriodSeconds: 300 }, status: { ips: { [A]: active(1) } } })],
      nodes: [
        { ...annotated(1, A), taints: [{ key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" }] },
        aNode({ name: "n2", droplet: 102 }),
      ],
      addresses: [known(A, { holderID: "101" })],
    }),
    [
      `move-ip ${A} from n1 to n2: HolderLost`,
      `annotate-node n2 with ${A}: Verified`,
      "clear-annotation n1: HolderLost",
    ],
  ],
  [
    "a foreign holder is held; the field that would move it is advice, told where nothing else says it",
    anObservation({
      pools: [aPool({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [known(A, { holderID: "999" })],
    }),
    [`hold assign-ip ${A}: ForeignHolder (machine 999)`],
  ],
  [
    "TakeOver moves it",
    anObservation({
      pools: [aPool({ spec: { ips: [A], foreignHolder: "TakeOver" } })],
      nodes: nodes(1),
      addresses: [known(A, { holderID: "999" })],
    }),
    [`move-ip ${A} from 999 to n1: TakeOver`, `annotate-node n1 with ${A}: Verified`],
  ],
  [
    "a holder that status knows as a former node is not foreign",
    anObservation({
      pools: [
        aPool({
          spec: { ips: [A] },
          status: { ips: { [A]: { state: "active", nodeName: "old", providerID: "digitalocean://999" } } },
        }),
      ],
      nodes: nodes(1),
      addresses: [known(A, { holderID: "999" })],
    }),
    [`move-ip ${A} from 999 to n1: HolderGone`, `annotate-node n1 with ${A}: Verified`],
  ],
  [
    "a node that carries an address nobody names is passed over",
    anObservation({
      pools: [aPool({ spec: { ips: [A] } })],
      nodes: nodes(2),
      addresses: [known(A), known("198.51.100.9", { holderID: "101" })],
    }),
    [`assign-ip ${A} to n2: NodeMatched`, `annotate-node n2 with ${A}: Verified`],
  ],
  [
    "an address in another region goes to no node here",
    anObservation({
      pools: [aPool({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [known(A, { region: "ams3" })],
    }),
    [`hold assign-ip ${A}: RegionMismatch (the address is in ams3)`],
  ],
  [
    "a locked address is waited for",
    anObservation({
      pools: [aPool({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [known(A, { isLocked: true })],
    }),
    [`hold assign-ip ${A}: InProgress`],
  ],
  [
    "an address on its way to a node by status reserves that node",
    anObservation({
      pools: [aPool({ spec: { ips: [A, B] }, status: { ips: { [A]: { ...active(1), state: "in-progress" } } } })],
      nodes: nodes(1),
      addresses: [known(A, { isLocked: true }), known(B)],
    }),
    [`hold assign-ip ${A}: InProgress (on its way to n1)`, `hold assign-ip ${B}: NoCandidate`],
  ],
  [
    "unassigned addresses go before those on gone nodes, those before parked ones",
    anObservation({
      pools: [
        aPool({
          spec: { ips: [A, B, C] },
          status: { ips: { [B]: { state: "active", providerID: "digitalocean://999" } } },
        }),
      ],
      nodes: [
        aNode({ name: "n1", ...unready }),
        aNode({ name: "n2", droplet: 102 }),
        aNode({ name: "n3", droplet: 103 }),
      ],
      addresses: [known(A, { holderID: "101" }), known(B, { holderID: "999" }), known(C)],
    }),
    [
      `move-ip ${B} from 999 to n3: HolderGone`,
      `assign-ip ${C} to n2: NodeMatched`,
      `annotate-node n2 with ${C}: Verified`,
      `annotate-node n3 with ${B}: Verified`,
      `hold assign-ip ${A}: NoCandidate`,
    ],
  ],
  [
    "during the cool-off nothing is assigned, and the hold says until when",
    anObservation({
      pools: [aPool({ spec: { ips: [A], assignmentCoolOffSeconds: 20 }, status: { lastAssignmentTime: ago(15) } })],
      nodes: nodes(1),
      addresses: [known(A)],
    }),
    [`hold assign-ip ${A}: CoolOff (${cooling(15, "n1")}) for 5s`],
  ],
  [
    "after the cool-off one is assigned and the next is held for all of it",
    anObservation({
      pools: [aPool({ spec: { ips: [A, B], assignmentCoolOffSeconds: 20 }, status: { lastAssignmentTime: ago(20) } })],
      nodes: nodes(2),
      addresses: [known(A), known(B)],
    }),
    [
      `assign-ip ${A} to n1: NodeMatched`,
      `annotate-node n1 with ${A}: Verified`,
      `hold assign-ip ${B}: CoolOff (${cooling(0, "n2")}) for 20s`,
    ],
  ],
  [
    "a cool-off that began in the future ends after its length",
    anObservation({
      pools: [aPool({ spec: { ips: [A], assignmentCoolOffSeconds: 20 }, status: { lastAssignmentTime: ago(-3600) } })],
      nodes: nodes(1),
      addresses: [known(A)],
    }),
    [`hold assign-ip ${A}: CoolOff (${cooling(0, "n1")}) for 20s`],
  ],
  [
    "after one failure a fresh node is tried at once",
    anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { retries: [retry(`ip/${A}`, 1, 1), retry("node/n1/101", 1, 1)] } })],
      nodes: nodes(2),
      addresses: [known(A)],
    }),
    [`assign-ip ${A} to n2: NodeMatched`, `annotate-node n2 with ${A}: Verified`],
  ],
  [
    "an address that failed twice waits, and a fresh one takes its node",
    anObservation({
      pools: [
        aPool({ spec: { ips: [A, B] }, status: { retries: [retry(`ip/${A}`, 2, 1), retry("node/n1/101", 1, 1)] } }),
      ],
      nodes: nodes(1),
      addresses: [known(A), known(B)],
    }),
    [`assign-ip ${B} to n1: NodeMatched`, `annotate-node n1 with ${B}: Verified`, `hold assign-ip ${A}: NoCandidate`],
  ],
  [
    "a pair that both failed waits until the later of the two is due",
    anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { retries: [retry(`ip/${A}`, 2, 1), retry("node/n1/101", 3, 5)] } })],
      nodes: nodes(1),
      addresses: [known(A)],
    }),
    [`hold assign-ip ${A}: Backoff (refused) for 5s`],
  ],
  [
    "a suspended pool changes nothing",
    anObservation({ pools: [aPool({ spec: { ips: [A], suspend: true } })], nodes: nodes(1), addresses: [known(A)] }),
    ["hold reconcile ingress/web: Suspended (spec.suspend is true)"],
  ],
  [
    "an invalid pool changes nothing and keeps its annotation",
    anObservation({
      pools: [aPool({ spec: { ips: [A], provider: "Ferengi" }, status: { ips: { [A]: active(1) } } })],
      nodes: [annotated(1, A)],
      addresses: [known(A, { holderID: "101" })],
    }),
    ['hold reconcile ingress/web: InvalidSpec (unknown provider "Ferengi")'],
  ],
  [
    "a pool that bought an address at another provider changes nothing, and does not take the address for one that is gone",
    anObservation({
      pools: [
        aPool({
          spec: { desiredIPs: 1 },
          status: { acquired: [{ ip: A, acquiredAt: new Date(NOW).toISOString(), provider: "hetzner" }] },
        }),
      ],
      nodes: nodes(1),
      addresses: [[A, { kind: "gone" }]],
    }),
    [
      `hold reconcile ingress/web: InvalidSpec (provider cannot be "digitalocean": ${A} was acquired at hetzner; set it back to hetzner, or make a new pool)`,
    ],
  ],
  [
    "a pool that asked another provider for an address, and has no answer, changes nothing",
    anObservation({
      pools: [
        aPool({
          spec: { desiredIPs: 1 },
          status: {
            pendingAcquisitions: [
              { startedAt: "2026-01-01T00:00:00Z", region: "fsn1", knownIPs: [], provider: "hetzner" },
            ],
          },
        }),
      ],
      nodes: nodes(1),
    }),
    [
      'hold reconcile ingress/web: InvalidSpec (provider cannot be "digitalocean": hetzner has not answered an acquisition yet; set it back to hetzner, or make a new pool)',
    ],
  ],
  [
    "a pool whose pods the API server does not list changes nothing: no address leaves, though its node is gone, and no node gets one",
    anObservation({
      pools: [
        aPool({ spec: { ips: [A, B], match: SHOP }, status: { ips: { [A]: active(1), [B]: active(9) } } }),
        aPool({ name: "other", createdAtMs: NOW, spec: { ips: [C] } }),
      ],
      pods: new Map([["shop|", { kind: "refused", error: "Cannot list pods: no (400)." }]]),
      nodes: [
        annotated(1, A),
        aNode({ name: "n2", droplet: 102, isDeleting: true }),
        aNode({ name: "n3", droplet: 103 }),
      ],
      addresses: [known(A, { holderID: "101" }), known(B, { holderID: "109" }), known(C)],
    }),
    [
      `assign-ip ${C} to n3: NodeMatched`,
      `annotate-node n3 with ${C}: Verified`,
      "hold reconcile ingress/web: SelectorRefused (Cannot list pods: no (400).)",
    ],
  ],
  [
    "a pool whose pods nobody has listed is held as one whose pods cannot be listed",
    anObservation({ pools: [aPool({ spec: { ips: [A], match: SHOP } })], nodes: nodes(1), addresses: [known(A)] }),
    ["hold reconcile ingress/web: SelectorRefused (Error listing pods: they were not asked for.)"],
  ],
  [
    "a pool that is invalid, too, is held for that",
    anObservation({
      pools: [aPool({ spec: { ips: [A], provider: "Ferengi", match: SHOP } })],
      pods: new Map([["shop|", { kind: "refused", error: "Cannot list pods: no (400)." }]]),
    }),
    ['hold reconcile ingress/web: InvalidSpec (unknown provider "Ferengi")'],
  ],
  [
    "the annotation of a pool that is gone is cleared",
    anObservation({ nodes: [annotated(1, A)] }),
    ["clear-annotation n1: PoolDeleted"],
  ],
  [
    "an annotation of nobody's, without a pool, is left alone",
    anObservation({
      pools: [aPool({ spec: { ips: [A] } })],
      nodes: [aNode({ addressAnnotation: "192.0.2.1" })],
      addresses: [known(A, { isLocked: true })],
    }),
    [`hold assign-ip ${A}: InProgress`],
  ],
  [
    "a swap on one droplet unassigns first what is no longer managed",
    anObservation({
      pools: [aPool({ spec: { ips: [B] }, status: { ips: { [A]: active(1) } } })],
      nodes: [annotated(1, A)],
      addresses: [known(A, { holderID: "101" }), known(B)],
    }),
    [
      `assign-ip ${B} to n1: NodeMatched`,
      `annotate-node n1 with ${B}: Verified`,
      `unassign-ip ${A} from n1: DropletNeeded`,
    ],
  ],
  [
    "on a droplet with two nodes an address leaves the node that its own pool sees, whose version is looked at before",
    anObservation({
      pools: [
        aPool({
          name: "a",
          spec: { ips: [C], desiredIPs: 1, match: matching("role=none") },
          status: { acquired: [{ ip: A, acquiredAt: ago(60) }], ips: { [A]: active(1) } },
        }),
        aPool({ name: "b", spec: { ips: [B], match: matching("role=edge") } }),
      ],
      nodes: [aNode({ name: "n0", ready: { isReady: false } }), aNode({ labels: { role: "edge" } })],
      addresses: [known(A, { holderID: "101" }), known(B), known(C)],
    }),
    [
      `unassign-ip ${A} from n0: DropletNeeded`,
      `assign-ip ${B} to n1: NodeMatched`,
      `annotate-node n1 with ${B}: Verified`,
      `hold assign-ip ${C}: NoCandidate`,
      "hold reconcile ingress/a: EmptyTarget (nodeLabel role=none selects no node)",
    ],
  ],
  [
    "on a droplet with two nodes that are not ready the grace period counts from when the last one was",
    anObservation({
      pools: [aPool({ spec: { ips: [A], gracePeriodSeconds: 30 }, status: { ips: { [A]: active(1) } } })],
      nodes: [
        aNode({ name: "n0", ready: { isReady: false, sinceMs: NOW - 60_000 } }),
        aNode({
          addressAnnotation: A,
          poolAnnotation: "ingress/web",
          ready: { isReady: false, sinceMs: NOW - 10_000 },
        }),
        aNode({ name: "n2", droplet: 102 }),
      ],
      addresses: [known(A, { holderID: "101" })],
    }),
    [`hold assign-ip ${A}: Grace (stays on node n1) for 20s`],
  ],
  [
    "an empty droplet is taken before one that an address must leave",
    anObservation({
      pools: [aPool({ spec: { ips: [B] }, status: { ips: { [A]: active(1) } } })],
      nodes: [annotated(1, A), aNode({ name: "n2", droplet: 102 })],
      addresses: [known(A, { holderID: "101" }), known(B)],
    }),
    [`assign-ip ${B} to n2: NodeMatched`, `annotate-node n2 with ${B}: Verified`, "clear-annotation n1: NotManaged"],
  ],
  [
    "missing addresses are acquired for waiting nodes, then in the region",
    anObservation({ pools: [aPool({ spec: { desiredIPs: 2 } })], nodes: nodes(1) }),
    ["acquire-ip new-1 for n1: BelowDesired", "acquire-ip new-2 in nyc3: BelowDesired"],
  ],
  [
    "the account's limit holds an acquisition",
    anObservation({
      pools: [aPool({ spec: { desiredIPs: 2 } })],
      nodes: nodes(2),
      addresses: [known("198.51.100.1")],
      provider: { addressLimit: 2, addressCount: 1 },
    }),
    [
      "acquire-ip new-1 for n1: BelowDesired",
      "hold acquire-ip ingress/web: QuotaExceeded (the account's limit of 2 reserved addresses is reached)",
    ],
  ],
  [
    "at most 12 are acquired a minute",
    anObservation({
      pools: [aPool({ spec: { desiredIPs: 1 } })],
      nodes: nodes(1),
      lease: { acquisitionTimesMs: Array.from({ length: 12 }, (_, index) => NOW - 55_000 + index * 1000) },
    }),
    ["hold acquire-ip ingress/web: CreationRate for 10s"],
  ],
  [
    "a suspended pool says that it waits for the answer of a creation",
    anObservation({
      pools: [
        aPool({
          spec: { desiredIPs: 1, suspend: true },
          status: { pendingAcquisitions: [{ startedAt: ago(4), region: "nyc3", knownIPs: [] }] },
        }),
      ],
    }),
    [
      "hold acquire-ip ingress/web: AcquisitionUnanswered for 26s",
      "hold reconcile ingress/web: Suspended (spec.suspend is true)",
    ],
  ],
  [
    "nothing is acquired while an earlier one has no answer",
    anObservation({
      pools: [
        aPool({
          spec: { desiredIPs: 1 },
          status: { pendingAcquisitions: [{ startedAt: ago(4), region: "nyc3", knownIPs: [] }] },
        }),
      ],
      nodes: nodes(1),
    }),
    ["hold acquire-ip ingress/web: AcquisitionUnanswered for 26s"],
  ],
  [
    "the one new unattached address is the lost answer's once every list must show all of them, 30 s after the call",
    anObservation({
      pools: [
        aPool({
          spec: { desiredIPs: 1 },
          status: { pendingAcquisitions: [{ startedAt: ago(30), region: "nyc3", knownIPs: [B] }] },
        }),
      ],
      nodes: nodes(1),
      addresses: [known(A), known(B)],
    }),
    [`assign-ip ${A} to n1: NodeMatched`, `annotate-node n1 with ${A}: Verified`],
  ],
  [
    "an address is not bought a second time because a list that is too old does not show the first one",
    anObservation({
      pools: [
        aPool({
          spec: { desiredIPs: 1 },
          status: { pendingAcquisitions: [{ startedAt: ago(31), region: "nyc3", knownIPs: [] }] },
        }),
      ],
      nodes: nodes(1),
      provider: { readAtMs: NOW - 2000 },
    }),
    ["hold acquire-ip ingress/web: AcquisitionUnanswered for -1s"],
  ],
  [
    "two new addresses could be it: a person must say which",
    anObservation({
      pools: [
        aPool({
          spec: { desiredIPs: 1 },
          status: { pendingAcquisitions: [{ startedAt: ago(40), region: "nyc3", knownIPs: [] }] },
        }),
      ],
      nodes: nodes(1),
      addresses: [known(B), known(A)],
    }),
    [`hold acquire-ip ingress/web: AmbiguousAcquisition (${A}, ${B})`],
  ],
  [
    "a pool that lost its status finds its addresses by the nodes' annotations",
    anObservation({
      pools: [aPool({ spec: { desiredIPs: 1 } })],
      nodes: [annotated(1, A)],
      addresses: [known(A, { holderID: "101" })],
    }),
    [],
  ],
  [
    "a surplus acquired address is given back with Delete",
    anObservation({
      pools: [
        aPool({
          finalizers: ["flipop.digitalocean.com/cleanup"],
          spec: { desiredIPs: 1, reclaimPolicy: "Delete" },
          status: {
            ips: { [A]: active(1), [B]: active(2) },
            acquired: [A, B].map((ip) => ({ ip, acquiredAt: ago(60) })),
          },
        }),
      ],
      nodes: [annotated(1, A), annotated(2, B)],
      addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
    }),
    ["clear-annotation n2: AboveDesired", `unassign-ip ${B} from n2: AboveDesired`, `delete-ip ${B}: ReclaimDelete`],
  ],
  [
    "a next attempt later than any schedule has was stored by a clock that was wrong: it is made now",
    anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { retries: [retry(`ip/${A}`, 2, 3600)] } })],
      nodes: nodes(1),
      addresses: [known(A)],
    }),
    [`assign-ip ${A} to n1: NodeMatched`, `annotate-node n1 with ${A}: Verified`],
  ],
  [
    "an unreadable address keeps its node, and the others go on",
    anObservation({
      pools: [aPool({ spec: { ips: [A, B] }, status: { ips: { [A]: active(1) } } })],
      nodes: [annotated(1, A), aNode({ name: "n2", droplet: 102 })],
      addresses: [[A, { kind: "gap", error: "500" }], known(B)],
    }),
    [
      `assign-ip ${B} to n2: NodeMatched`,
      `annotate-node n2 with ${B}: Verified`,
      `hold assign-ip ${A}: Unreadable (500)`,
    ],
  ],
  [
    "an unreadable address that was on its way keeps both nodes, and the others go on",
    anObservation({
      pools: [
        aPool({
          spec: { ips: [A, B] },
          status: { ips: { [A]: { ...active(1), state: "in-progress", previousProviderID: "digitalocean://102" } } },
        }),
      ],
      nodes: [1, 2, 3].map((at) => aNode({ name: `n${at}`, droplet: 100 + at })),
      addresses: [[A, { kind: "gap", error: "500" }], known(B)],
    }),
    [
      `assign-ip ${B} to n3: NodeMatched`,
      `annotate-node n3 with ${B}: Verified`,
      `hold assign-ip ${A}: Unreadable (500)`,
    ],
  ],
  [
    "an address active with one pool stays there, though an older one still shows it as on its way",
    anObservation({
      pools: [
        aPool({ spec: { ips: [A] }, status: { ips: { [A]: active(1) } } }),
        aPool({
          name: "older",
          createdAtMs: 0,
          spec: { ips: [A] },
          status: { ips: { [A]: { ...active(1), state: "in-progress" } } },
        }),
      ],
      nodes: [annotated(1, A)],
      addresses: [known(A, { holderID: "101" })],
    }),
    [`hold assign-ip ${A}: Conflict (owned by pool ingress/web, which has it already)`],
  ],
])("%s", ([, observation, expected]) => {
  expect(planText(observation)).toEqual(expected);
});

test("a next attempt that no schedule has is stored as now, one that a schedule has as it is", () => {
  const retries = [retry("node/n2/102", 3, 3600), retry("node/n3/103", 3, 300)];
  const observation = anObservation({
    pools: [aPool({ spec: { ips: [A] }, status: { ips: { [A]: active(1) }, retries } })],
    nodes: [annotated(1, A), ...[2, 3].map((at) => aNode({ name: `n${at}`, droplet: 100 + at }))],
    addresses: [known(A, { holderID: "101" })],
  });
  expect(plan(observation, {}).pools[0]?.status.retries).toEqual([
    { ...retry("node/n2/102", 3, 0), nextAttemptTime: "2026-08-01T12:00:00Z" },
    retry("node/n3/103", 3, 300),
  ]);
});
