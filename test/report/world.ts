import type { Address } from "../../src/model/address.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Pool, PoolSpec, PoolStatus } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";

/** 2026-08-01T12:00:00Z. */
export const NOW_MS = 1_785_585_600_000;

/** A ready node with a droplet of the same number and the label `role=edge`. */
export function aNode(number: number, changes: Partial<NodeFacts> = {}): NodeFacts {
  return {
    name: `worker-${number}`,
    resourceVersion: "1",
    providerID: `digitalocean://${number}`,
    labels: { role: "edge" },
    taints: [],
    ready: { isReady: true, sinceMs: NOW_MS - 3_600_000 },
    isDeleting: false,
    addresses: [],
    ...changes,
  };
}

/** A pool of the addresses given, for nodes with `role=edge`, never reconciled. */
export function aPool(
  name: string,
  ips: readonly string[],
  changes: {
    readonly spec?: Partial<PoolSpec>;
    readonly status?: Partial<PoolStatus>;
    readonly namespace?: string;
  } = {},
): Pool {
  return {
    meta: {
      namespace: changes.namespace ?? "ingress",
      name,
      uid: `uid-${name}`,
      resourceVersion: "1",
      generation: 1,
      createdAtMs: NOW_MS - 86_400_000,
      isDeleting: false,
      finalizers: [],
      labels: { app: name },
    },
    spec: {
      provider: "digitalocean",
      region: "ams3",
      ips,
      desiredIPs: 0,
      assignmentCoolOffSeconds: 0,
      gracePeriodSeconds: 0,
      match: { nodeLabel: "role=edge", podNamespace: "", podLabel: "", tolerations: [] },
      reclaimPolicy: "Retain",
      foreignHolder: "Hold",
      suspend: false,
      ...changes.spec,
    },
    status: {
      conditions: [],
      ips: {},
      assignableNodes: [],
      nodeErrors: [],
      acquired: [],
      pendingAcquisitions: [],
      released: [],
      retries: [],
      ...changes.status,
    },
  };
}

/** What a pass read: pools, nodes, and where each address is (`undefined` = unattached). */
export function anObservation(
  pools: readonly Pool[],
  nodes: readonly NodeFacts[],
  holders: Readonly<Record<string, string | undefined>>,
): Observation {
  const addresses = Object.entries(holders).map(([ip, holderID]): Address => {
    const free = { ip, region: "ams3", isLocked: false };
    return holderID === undefined ? free : { ...free, holderID };
  });
  return {
    observedAtMs: NOW_MS,
    cluster: "https://kubernetes.example:6443",
    pools,
    nodes,
    pods: new Map(),
    providers: new Map([
      [
        "digitalocean",
        {
          name: "digitalocean",
          addresses: new Map(addresses.map((address) => [address.ip, { kind: "known", address } as const])),
          isComplete: true,
          addressCount: addresses.length,
          addressLimit: 25,
        },
      ],
    ]),
    lease: { acquisitionTimesMs: [], providerNotBeforeMs: new Map() },
  };
}

/** A small cluster after a failure: worker-1 is not ready, worker-3 waits, one address is free, one foreign, one pool invalid. */
export function afterFailure(): Observation {
  const web = aPool("web", ["203.0.113.10", "203.0.113.11"], {
    status: {
      ips: {
        "203.0.113.10": { state: "active", nodeName: "worker-1", providerID: "digitalocean://1" },
        "203.0.113.11": { state: "active", nodeName: "worker-2", providerID: "digitalocean://2" },
      },
    },
  });
  const mail = aPool("mail", ["203.0.113.20"], { spec: { match: { ...web.spec.match, nodeLabel: "role=mail" } } });
  const broken = aPool("broken", ["203.0.113.30"], { spec: { provider: "Ferengi" } });
  const nodes = [
    aNode(1, {
      ready: { isReady: false, sinceMs: NOW_MS - 60_000 },
      addressAnnotation: "203.0.113.10",
      poolAnnotation: "ingress/web",
    }),
    aNode(2, { addressAnnotation: "203.0.113.11", poolAnnotation: "ingress/web" }),
    aNode(3),
    aNode(4, { labels: { role: "db" } }),
    aNode(5, { labels: { role: "db" } }),
  ];
  return anObservation([broken, mail, web], nodes, {
    "203.0.113.10": "1",
    "203.0.113.11": "2",
    "203.0.113.20": "777",
  });
}

/** The plan for an observation, made by the real planner over the whole cluster. */
export function planOf(observation: Observation): Plan {
  return plan(observation, {});
}
