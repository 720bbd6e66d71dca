import { PROVIDERS } from "../../src/adapters/registry.ts";
import type { Address } from "../../src/model/address.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation, ProviderFacts } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import type {
  Condition,
  IPStatus,
  Pool,
  PoolSpec,
  PoolStatus,
  RecordSet,
  RecordSetSpec,
  RecordSetStatus,
} from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import type { LeaseRecord } from "../../src/ports/cluster.ts";
import { announce } from "../../src/rehearse/announce.ts";

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
    kind: "pool",
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
      formerDNS: [],
      ...changes.status,
    },
  };
}

/** A record set that publishes `NAME.example.com` at DigitalOcean for nodes with `role=edge`, never reconciled. */
export function aRecordSet(
  name: string,
  changes: {
    readonly spec?: Partial<RecordSetSpec>;
    readonly status?: Partial<RecordSetStatus>;
    readonly namespace?: string;
  } = {},
): RecordSet {
  const { meta, spec } = aPool(name, [], changes.namespace === undefined ? {} : { namespace: changes.namespace });
  return {
    meta,
    spec: {
      provider: "digitalocean",
      dnsRecordSet: { provider: "", zone: "example.com", recordName: name, ttlSeconds: 60 },
      addressType: "ExternalIP",
      gracePeriodSeconds: 0,
      match: spec.match,
      whenEmpty: "Keep",
      reclaimPolicy: "Retain",
      suspend: false,
      ...changes.spec,
    },
    status: { conditions: [], formerDNS: [], unreadyNodes: [], retries: [], ...changes.status },
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
  const provider: ProviderFacts = {
    name: "digitalocean",
    addresses: new Map(addresses.map((address) => [address.ip, { kind: "known", address }])),
    isComplete: true,
    addressCount: addresses.length,
    addressLimit: 25,
    readAtMs: NOW_MS,
  };
  return {
    observedAtMs: NOW_MS,
    nodesReadAtMs: NOW_MS,
    cluster: "https://kubernetes.example:6443",
    pools,
    registry: PROVIDERS,
    recordSets: [],
    missingKinds: [],
    firewalls: new Map(),
    nodes,
    pods: new Map(),
    providers: new Map([[provider.name, provider]]),
    dns: new Map(),
    lease: { acquisitionTimesMs: [], providerNotBeforeMs: new Map(), lookFrom: new Map() },
  };
}

/** A small cluster after a failure: worker-1 is not ready, worker-3 waits, one address is free, one foreign, one pool invalid. */
export function afterFailure(): Observation {
  const web = aPool("web", ["203.0.113.10", "203.0.113.11"], {
    status: {
      conditions: [
        {
          type: "Ready",
          status: "False",
          observedGeneration: 1,
          lastTransitionTime: "2026-08-01T11:59:00Z",
          reason: "WaitingForAssignment",
          message: "1 address and 1 node wait for each other",
        },
      ],
      assignableNodes: ["worker-3"],
      retries: [{ subject: "ip/203.0.113.10", attempts: 2, nextAttemptTime: "2026-08-01T11:59:58Z", error: "refused" }],
      ips: {
        "203.0.113.10": {
          state: "no-match",
          nodeName: "worker-1",
          providerID: "digitalocean://1",
          reason: "HolderLost",
          notMatchingSince: "2026-08-01T11:59:00Z",
        },
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

/** What `flipop plan` says of an observation: made by the real planner over the whole cluster, with what follows. */
export function planOf(observation: Observation): Plan {
  return announce(plan(observation, {}), observation, {});
}

/** What a run plans once it has done all it could. */
export function remainingOf(observation: Observation): Plan {
  return plan(observation, {});
}

/** {@link afterFailure} after a run that did everything: the address is on worker-3. */
export function reconciled(): Observation {
  const before = afterFailure();
  const nodes = before.nodes.map((node): NodeFacts => {
    if (node.name === "worker-1") return aNode(1, { ready: node.ready });
    return node.name === "worker-3"
      ? aNode(3, { addressAnnotation: "203.0.113.10", poolAnnotation: "ingress/web" })
      : node;
  });
  const pools = before.pools.map((pool) => {
    if (pool.meta.name !== "web") return pool;
    const moved = { state: "active", nodeName: "worker-3", providerID: "digitalocean://3" } as const;
    return { ...pool, status: { ...pool.status, ips: { ...pool.status.ips, "203.0.113.10": moved } } };
  });
  return anObservation(pools, nodes, { "203.0.113.10": "3", "203.0.113.11": "2", "203.0.113.20": "777" });
}

/** The Lease that a run left five seconds ago, free. */
export function aLease(changes: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    namespace: "flipop",
    name: "flipop",
    resourceVersion: "7",
    holder: "",
    durationSeconds: 1,
    acquireTimeMs: NOW_MS - 8000,
    renewTimeMs: NOW_MS - 5000,
    transitions: 3,
    annotations: {
      "flipop.digitalocean.com/last-run": "2026-08-01T11:59:55Z",
      "flipop.digitalocean.com/last-success": "2026-08-01T11:59:55Z",
      "flipop.digitalocean.com/last-result": "3 some objects in error",
      "flipop.digitalocean.com/put-off-digitalocean":
        "312 until 2026-08-07T12:01:00.000Z from example.com a1.example.com",
    },
    ...changes,
  };
}

/** A pool of five with three addresses in an account that may have four: two are missing, and only a person can do something about it. */
export function beyondLimit(): Observation {
  const ips = ["203.0.113.10", "203.0.113.11", "203.0.113.12"];
  const active = (number: number): IPStatus => ({
    state: "active",
    nodeName: `worker-${number}`,
    providerID: `digitalocean://${number}`,
  });
  const condition = (type: string, status: "True" | "False", reason: string, message: string): Condition => ({
    type,
    status,
    observedGeneration: 1,
    lastTransitionTime: "2026-08-01T11:59:00Z",
    reason,
    message,
  });
  const web = aPool("web", ips, {
    spec: { desiredIPs: 5 },
    status: {
      conditions: [
        condition("Ready", "True", "Ready", "3 addresses are active."),
        condition(
          "Stalled",
          "True",
          "QuotaExceeded",
          "2 of 5 addresses are missing: the account's limit of 4 reserved addresses is reached. Ask the provider for a higher limit, or lower desiredIPs.",
        ),
      ],
      ips: Object.fromEntries(ips.map((ip, at) => [ip, active(at + 1)])),
    },
  });
  const nodes = [1, 2, 3, 4, 5].map((number) => {
    const ip = ips[number - 1];
    return aNode(number, ip === undefined ? {} : { addressAnnotation: ip, poolAnnotation: "ingress/web" });
  });
  const world = anObservation([web], nodes, {
    ...Object.fromEntries(ips.map((ip, at) => [ip, `${at + 1}`])),
    "203.0.113.99": "99",
  });
  const [facts] = world.providers.values();
  return facts === undefined ? world : { ...world, providers: new Map([[facts.name, { ...facts, addressLimit: 4 }]]) };
}

/** A pool that waits for the grant of a name, and one that is served although its address is granted no longer, as a run with `--grants require` left them. */
export function notGranted(): Observation {
  const granted = (reason: string, message: string): Condition => ({
    type: "Granted",
    status: "False",
    observedGeneration: 1,
    lastTransitionTime: "2026-08-01T10:00:00Z",
    reason,
    message,
  });
  const name =
    "Namespace ingress is not granted the name www.example.com. It waits for that. Whoever may change namespaces can grant it: kubectl annotate --overwrite namespace ingress flipop.digitalocean.com/names='www.example.com'";
  const stalled = {
    ...granted("NotGranted", "www.example.com: not written."),
    type: "Stalled",
    status: "True",
  } as const;
  const web = aPool("web", ["203.0.113.10"], { status: { conditions: [granted("NotGranted", name), stalled] } });
  const kept =
    "Namespace ingress is not granted the address 203.0.113.20. What is on record stays as it is and is served.";
  const mail = aPool("mail", ["203.0.113.20"], { status: { conditions: [granted("NotGranted", kept)] } });
  return anObservation([web, mail], [aNode(1)], {});
}

/** {@link beyondLimit} as a pass finds it that reads none of the pool's addresses, beside a pool whose spec is invalid. */
export function unreadable(): Observation {
  const world = beyondLimit();
  const gap = { kind: "gap", error: "DigitalOcean did not answer within 10 s" } as const;
  const addresses = new Map(world.pools.flatMap(({ spec }) => spec.ips.map((ip) => [ip, gap] as const)));
  const facts: ProviderFacts = { name: "digitalocean", addresses, isComplete: false, readAtMs: NOW_MS };
  const status = { ips: { "203.0.113.30": { state: "active", nodeName: "worker-9" } } } as const;
  const broken = aPool("broken", ["203.0.113.30"], { spec: { provider: "Ferengi" }, status });
  return { ...world, pools: [...world.pools, broken], providers: new Map([[facts.name, facts]]) };
}
