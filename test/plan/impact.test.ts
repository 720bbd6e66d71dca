import { expect, test } from "vitest";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation, PodReading, PodSummary } from "../../src/model/observation.ts";
import type { MatchSpec, PublishedName } from "../../src/model/resource.ts";
import { stillServes } from "../../src/plan/nodes/match.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, aPool, known, NOW, nodes, type PoolParts } from "./builders.ts";
import { aRecordSet, dnsFacts, WWW } from "./dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts } from "./firewall-builders.ts";

const A = "203.0.113.1";
const B = "203.0.113.2";
const C = "203.0.113.3";
const cordon = { key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" };
const taint = (key: string, effect = "NoExecute"): NodeFacts["taints"][number] => ({ key, value: "", effect });
const region = { "topology.kubernetes.io/region": "nyc3" };
const outOfService = taint("node.kubernetes.io/out-of-service");

/** `www.example.com`, as written for these addresses. */
function published(addresses: readonly string[], name = "www.example.com"): PublishedName {
  return { provider: "digitalocean", zone: "example.com", name, addresses };
}

/** The status of a pool whose addresses serve on n1, n2, … and stand in `www.example.com`. */
function serving(ips: readonly string[]): NonNullable<PoolParts["status"]> {
  return {
    ips: Object.fromEntries(
      ips.map((ip, index) => [
        ip,
        { state: "active", nodeName: `n${index + 1}`, providerID: `digitalocean://${101 + index}` },
      ]),
    ),
    publishedDNS: published(ips),
  };
}

interface Scene {
  /** How the nodes differ from ready ones, from n1 on. */
  readonly nodes?: readonly Partial<NodeFacts>[];
  /** False where no node is annotated. */
  readonly isAnnotated?: boolean;
  /** How many nodes there are; as many as addresses if absent. */
  readonly count?: number;
  readonly pool?: PoolParts;
  /** Addresses on n1, n2, …; published. */
  readonly ips?: readonly string[];
  readonly shown?: Readonly<Record<string, readonly string[]>>;
  readonly addresses?: NonNullable<Parameters<typeof anObservation>[0]["addresses"]>;
  readonly rest?: Partial<Parameters<typeof anObservation>[0]>;
}

/** The pool of `ips`, each of them serving on its node and published, with what a row changes. */
function scene({
  nodes: changes = [],
  count,
  isAnnotated = true,
  pool = {},
  ips = [A, B],
  shown,
  addresses,
  rest,
}: Scene): Observation {
  const all = nodes(count ?? ips.length).map((node, index): NodeFacts => {
    const ip = ips[index];
    const annotations =
      ip === undefined || !isAnnotated ? {} : { addressAnnotation: ip, poolAnnotation: "ingress/web" };
    return { ...node, ...annotations, ...changes[index] };
  });
  const spec = { ips, dnsRecordSet: WWW, ...pool.spec };
  return anObservation({
    pools: [aPool({ ...pool, spec, status: { ...serving(ips), ...pool.status } })],
    nodes: all.filter(({ name }) => name !== ""),
    addresses: addresses ?? ips.map((ip, index) => known(ip, { holderID: String(101 + index) })),
    dns: [dnsFacts(shown ?? { "www.example.com": ips })],
    ...rest,
  });
}

function pods(match: Partial<MatchSpec>, byNode: Readonly<Record<string, PodSummary>>): Observation["pods"] {
  const reading: PodReading = { kind: "read", byNode: new Map(Object.entries(byNode)) };
  return new Map([[`${match.podNamespace ?? ""}|${match.podLabel ?? ""}`, reading]]);
}

const web = { nodeLabel: "", podNamespace: "shop", podLabel: "app=web", tolerations: [] };
const ready: PodSummary = { ready: 1, notReady: 0 };
const down: PodSummary = { ready: 0, notReady: 1 };

/** Each action of the plan with its class. */
function classes(observation: Observation): readonly string[] {
  return plan(observation, {}).actions.map(({ kind, id, impact = "none" }) => `${kind} ${id.split(" ")[2]}: ${impact}`);
}

test.for<[string, Scene, readonly string[]]>([
  ["nothing to do hurts nobody", {}, []],
  [
    "an address that is assigned, annotated and published hurts nobody",
    { ips: [A], pool: { status: { ips: {} } }, addresses: [known(A)], nodes: [{}], shown: { "www.example.com": [] } },
    [`assign-ip ${A}: none`, "update-dns www.example.com: none"],
  ],
  [
    "the only address of a name leaves a cordoned node that still serves: a relocation",
    { ips: [A], nodes: [{ taints: [cordon] }], count: 2 },
    [`move-ip ${A}: relocation`, "annotate-node n2: none", "clear-annotation n1: relocation"],
  ],
  [
    "beside another one it leaves only its name and its annotation at first: a relocation, too",
    { nodes: [{ taints: [cordon] }], count: 3 },
    ["update-dns www.example.com: relocation", "clear-annotation n1: relocation"],
  ],
  ["with nowhere to go it stays in its name, and nobody is hurt", { nodes: [{ taints: [cordon] }] }, []],
  [
    "so with a taint of the owner's",
    { nodes: [{ taints: [taint("dedicated")] }], count: 3 },
    ["update-dns www.example.com: relocation", "clear-annotation n1: relocation"],
  ],
  [
    "and with a label that the selector asks for no more",
    {
      count: 3,
      nodes: [
        { labels: { ...region } },
        { labels: { ...region, role: "edge" } },
        { labels: { ...region, role: "edge" } },
      ],
      pool: { spec: { match: { ...web, podNamespace: "", podLabel: "", nodeLabel: "role=edge" } } },
    },
    ["update-dns www.example.com: relocation", "clear-annotation n1: relocation"],
  ],
  [
    "an address leaves a node that is not ready: a recovery, cordoned or not",
    { nodes: [{ ready: { isReady: false }, taints: [cordon] }], count: 3 },
    [`move-ip ${A}: recovery`, "annotate-node n3: none", "clear-annotation n1: recovery"],
  ],
  [
    "one that is being deleted",
    { nodes: [{ isDeleting: true }], count: 3 },
    [`move-ip ${A}: recovery`, "annotate-node n3: none", "clear-annotation n1: recovery"],
  ],
  [
    "one that a taint of its condition excludes",
    { nodes: [{ taints: [taint("node.kubernetes.io/disk-pressure", "NoSchedule")] }], count: 3 },
    [`move-ip ${A}: recovery`, "annotate-node n3: none", "clear-annotation n1: recovery"],
  ],
  [
    "one that is out of service",
    { nodes: [{ taints: [outOfService] }], count: 3 },
    [`move-ip ${A}: recovery`, "annotate-node n3: none", "clear-annotation n1: recovery"],
  ],
  ["one whose node is gone", { nodes: [{ name: "" }], count: 3 }, [`move-ip ${A}: recovery`, "annotate-node n3: none"]],
  [
    "one on which no pod is ready, although it is cordoned, too",
    {
      nodes: [{ taints: [cordon] }],
      count: 3,
      pool: { spec: { match: web } },
      rest: { pods: pods(web, { n1: down, n2: ready, n3: ready }) },
    },
    [`move-ip ${A}: recovery`, "annotate-node n3: none", "clear-annotation n1: recovery"],
  ],
  [
    "with a ready pod on the cordoned node it is a relocation",
    {
      nodes: [{ taints: [cordon] }],
      count: 3,
      pool: { spec: { match: web } },
      rest: { pods: pods(web, { n1: ready, n2: ready, n3: ready }) },
    },
    ["update-dns www.example.com: relocation", "clear-annotation n1: relocation"],
  ],
  [
    "an address that is on no machine hurts nobody as it leaves a name: it serves no more",
    { addresses: [known(A), known(B, { holderID: "102" })], count: 2, nodes: [{ taints: [cordon] }] },
    ["update-dns www.example.com: recovery", "clear-annotation n1: none"],
  ],
  [
    "of two addresses that leave a name, the one that serves counts",
    {
      ips: [A, B, C],
      nodes: [{ ready: { isReady: false } }, { taints: [cordon] }],
      addresses: [
        known(A, { holderID: "101", region: "fra1" }),
        known(B, { holderID: "102" }),
        known(C, { holderID: "103" }),
      ],
      count: 4,
    },
    ["update-dns www.example.com: relocation", "clear-annotation n1: recovery", "clear-annotation n2: relocation"],
  ],
  [
    "an address beyond a lowered desiredIPs leaves where it serves: a reduction",
    { pool: { spec: { desiredIPs: 1 } } },
    ["update-dns www.example.com: reduction", "clear-annotation n2: reduction"],
  ],
  [
    "with Delete it is unassigned, and given back for good, once no name shows it",
    {
      shown: { "www.example.com": [A] },
      pool: {
        finalizers: ["flipop.digitalocean.com/cleanup"],
        spec: { ips: [], desiredIPs: 1, reclaimPolicy: "Delete" },
        status: {
          acquired: [A, B].map((ip) => ({ ip, acquiredAt: "2026-08-01T11:00:00Z" })),
          publishedDNS: published([A]),
        },
      },
    },
    ["clear-annotation n2: reduction", `unassign-ip ${B}: reduction`, `delete-ip ${B}: reduction`],
  ],
  [
    "a surplus address on a dead node hurts nobody until it is given back for good",
    {
      nodes: [{}, { ready: { isReady: false } }],
      pool: {
        finalizers: ["flipop.digitalocean.com/cleanup"],
        spec: { ips: [], desiredIPs: 1, reclaimPolicy: "Delete" },
        status: { acquired: [A, B].map((ip) => ({ ip, acquiredAt: "2026-08-01T11:00:00Z" })) },
      },
    },
    [
      "update-dns www.example.com: recovery",
      "clear-annotation n2: recovery",
      `unassign-ip ${B}: recovery`,
      `delete-ip ${B}: reduction`,
    ],
  ],
  [
    "an address that is taken out of the spec leaves where it serves: a reduction",
    { pool: { spec: { ips: [A] } } },
    ["update-dns www.example.com: reduction", "clear-annotation n2: reduction"],
  ],
  [
    "taken out while its node is dead it is no loss",
    { nodes: [{}, { ready: { isReady: false } }], pool: { spec: { ips: [A] } } },
    ["update-dns www.example.com: recovery", "clear-annotation n2: recovery"],
  ],
  [
    "a name that is changed loses its addresses under the old one: a reduction",
    {
      ips: [A],
      pool: {
        spec: { ips: [A], dnsRecordSet: { ...WWW, recordName: "new" }, reclaimPolicy: "Delete" },
        finalizers: ["flipop.digitalocean.com/cleanup"],
      },
      shown: { "www.example.com": [A], "new.example.com": [] },
    },
    ["update-dns new.example.com: none", "delete-dns www.example.com: reduction"],
  ],
  [
    "a pool that is deleted gives up what serves: a reduction",
    {
      ips: [A],
      pool: {
        isDeleting: true,
        spec: { ips: [A], reclaimPolicy: "Delete" },
        finalizers: ["flipop.digitalocean.com/cleanup"],
      },
    },
    ["clear-annotation n1: reduction", "delete-dns www.example.com: reduction", "remove-finalizer ingress/web: none"],
  ],
  [
    "an address on a machine outside the cluster that is taken over: a takeover",
    {
      ips: [A],
      pool: { spec: { ips: [A], foreignHolder: "TakeOver" }, status: { ips: {} } },
      addresses: [known(A, { holderID: "900" })],
      isAnnotated: false,
      shown: { "www.example.com": [A] },
    },
    [`move-ip ${A}: takeover`, "annotate-node n1: none"],
  ],
  [
    "a record that flipop did not write hurts nobody of its own as it is replaced",
    { ips: [A], shown: { "www.example.com": [A, "192.0.2.7"] } },
    ["update-dns www.example.com: none"],
  ],
  [
    "a TTL that is put right hurts nobody",
    { ips: [A], pool: { spec: { ips: [A], dnsRecordSet: { ...WWW, ttlSeconds: 30 } } } },
    ["update-dns www.example.com: none"],
  ],
  [
    "an annotation that a node has no more right to hurts nobody: the address is elsewhere",
    { ips: [A], count: 2, nodes: [{}, { addressAnnotation: A, poolAnnotation: "ingress/web" }] },
    ["clear-annotation n2: none"],
  ],
])("pool › %s", ([, given, expected]) => {
  expect(classes(scene(given))).toEqual(expected);
});

const external = (address: string): NodeFacts["addresses"] => [{ type: "ExternalIP", address }];

interface RecordSetScene {
  readonly nodes?: readonly Partial<NodeFacts>[];
  readonly set?: Parameters<typeof aRecordSet>[0];
  readonly shown?: readonly string[];
  readonly rest?: Partial<Parameters<typeof anObservation>[0]>;
}

/** The record set of the ExternalIPs of n1 and n2, published. */
function recordSetScene({ nodes: changes = [], set = {}, shown = [A, B], rest = {} }: RecordSetScene): Observation {
  const status = { publishedDNS: published([A, B], "nodes.example.com"), ...set.status };
  return anObservation({
    recordSets: [aRecordSet({ ...set, status })],
    nodes: nodes(2)
      .map((node, index) => ({ ...node, addresses: external(index === 0 ? A : B), ...changes[index] }))
      .filter(({ name }) => name !== ""),
    dns: [dnsFacts({ "nodes.example.com": shown })],
    ...rest,
  });
}

test.for<[string, RecordSetScene, string]>([
  ["a cordoned node leaves the name: a relocation", { nodes: [{ taints: [cordon] }] }, "update-dns: relocation"],
  [
    "a node that is not ready leaves it: a recovery",
    { nodes: [{ ready: { isReady: false } }] },
    "update-dns: recovery",
  ],
  ["so does one that is gone", { nodes: [{ name: "" }] }, "update-dns: recovery"],
  ["a node joins: nobody is hurt", { shown: [A] }, "update-dns: none"],
  [
    "a stranger's address is replaced: nobody of the cluster is hurt",
    { shown: [A, B, "192.0.2.7"] },
    "update-dns: none",
  ],
  [
    "all nodes are cordoned and whenEmpty is Delete: a relocation",
    { nodes: [{ taints: [cordon] }, { taints: [cordon] }], set: { spec: { whenEmpty: "Delete" } } },
    "delete-dns: relocation",
  ],
  [
    "all nodes are dead and whenEmpty is Delete: a recovery",
    { nodes: [{ ready: { isReady: false } }, { ready: { isReady: false } }], set: { spec: { whenEmpty: "Delete" } } },
    "delete-dns: recovery",
  ],
  [
    "another addressType is asked for: a reduction",
    {
      nodes: [{ addresses: [...external(A), { type: "InternalIP", address: "10.0.0.1" }] }],
      set: { spec: { addressType: "InternalIP" } },
    },
    "update-dns: reduction",
  ],
  [
    "the object is deleted while its nodes serve: a reduction",
    { set: { isDeleting: true, finalizers: ["flipop.digitalocean.com/cleanup"], spec: { reclaimPolicy: "Delete" } } },
    "delete-dns: reduction",
  ],
])("record set › %s", ([, given, expected]) => {
  const { actions } = plan(recordSetScene(given), {});
  const [write] = actions.filter(({ object }) => object.kind === "dns");
  expect(`${write?.kind}: ${write?.impact ?? "none"}`).toBe(expected);
});

test("a record set of annotations loses what its pool gives up: the pool's class", () => {
  const observation = scene({
    pool: { spec: { desiredIPs: 1 } },
    shown: { "www.example.com": [A, B], "nodes.example.com": [A, B] },
    rest: {
      recordSets: [
        aRecordSet({
          spec: { addressType: "flipop.digitalocean.com/ipv4-reserved-ip" },
          status: { publishedDNS: published([A, B], "nodes.example.com") },
        }),
      ],
    },
  });
  expect(classes(observation)).toContain("update-dns nodes.example.com: reduction");
  const dead = scene({
    nodes: [{}, { ready: { isReady: false } }],
    shown: { "www.example.com": [A, B], "nodes.example.com": [A, B] },
    rest: { recordSets: observation.recordSets },
  });
  expect(classes(dead)).toContain("update-dns nodes.example.com: recovery");
});

test("the annotation of an object that is gone was somebody's, as long as its node serves", () => {
  const left = (change: Partial<NodeFacts>): readonly string[] =>
    classes(anObservation({ nodes: [aNode({ addressAnnotation: A, poolAnnotation: "ingress/gone", ...change })] }));
  expect(left({})).toEqual(["clear-annotation n1: reduction"]);
  expect(left({ ready: { isReady: false } })).toEqual(["clear-annotation n1: recovery"]);
});

test("ports that are opened and machines behind a firewall hurt no address", () => {
  const observation = anObservation({
    pools: [aRoutedIP({ spec: { ips: [A] } })],
    nodes: [aNode()],
    addresses: [known(A)],
    firewalls: [firewallFacts([aFirewall({ machineIDs: ["900"] })])],
  });
  expect(classes(observation)).toEqual([
    "open-ports web: none",
    "add-to-firewall web: none",
    `assign-ip ${A}: none`,
    "annotate-node n1: none",
  ]);
});

test.for<[string, Partial<NodeFacts>, PodSummary | "none" | undefined, boolean]>([
  ["a ready node", {}, undefined, true],
  ["a cordoned one, of another label", { taints: [cordon], labels: {} }, undefined, true],
  [
    "one with a taint of the owner's",
    { taints: [taint("dedicated"), taint("soft", "PreferNoSchedule")] },
    undefined,
    true,
  ],
  ["one that is not ready", { ready: { isReady: false } }, undefined, false],
  ["one that is being deleted, readable or not", { isDeleting: true, unreadable: "spec.taints" }, undefined, false],
  ["one with a taint of its condition", { taints: [taint("node.kubernetes.io/unreachable")] }, undefined, false],
  ["one that is out of service", { taints: [outOfService] }, undefined, false],
  [
    "one with such a taint that is tolerated",
    { taints: [taint("tolerated"), taint("node.kubernetes.io/memory-pressure", "NoSchedule")] },
    undefined,
    true,
  ],
  ["one that cannot be read", { unreadable: "spec.taints", ready: { isReady: false } }, undefined, true],
  ["one without a provider ID", { providerID: "" }, undefined, true],
  ["one with a ready pod", {}, ready, true],
  ["one whose pods are not ready", {}, down, false],
  ["one without such pods", {}, "none", false],
  ["one with a pod that cannot be read", {}, { ...down, unreadable: "pod shop/web-0" }, true],
])("stillServes › %s", ([, change, summary, expected]) => {
  const podsByNode = summary === undefined ? undefined : new Map(summary === "none" ? [] : [["n1", summary]]);
  const tolerations = [{ key: "node.kubernetes.io/memory-pressure", operator: "Exists" }];
  expect(stillServes(aNode(change), { tolerations, podsByNode }, NOW)).toBe(expected);
});

test.for(["pool", "record set"] as const)(
  "what serves counts as serving while no pod exists that the %s asks for, as its addresses stay",
  (kind) => {
    const match = { ...web, podLabel: "app=wbe" };
    const nobody = { pods: pods(match, {}) };
    const of: Scene =
      kind === "pool"
        ? { pool: { spec: { match } }, rest: nobody }
        : {
            rest: {
              ...nobody,
              pools: [
                aPool({
                  spec: { ips: [A, B] },
                  status: { ...serving([A, B]), publishedDNS: published([], "none.example.com") },
                }),
              ],
              recordSets: [annotated(match)],
            },
          };
    const { names, holds, actions } = plan(scene(of), {});
    expect(actions).toEqual([]);
    expect(holds.map(({ reason }) => reason)).toContain("EmptyTarget");
    expect(names.map(({ shown, serving: left }) => [shown, left])).toEqual([
      [
        [A, B],
        [A, B],
      ],
    ]);
  },
);

/** A record set that shows the addresses of the nodes' annotations as `www.example.com`, as written. */
function annotated(match: MatchSpec): ReturnType<typeof aRecordSet> {
  return aRecordSet({
    spec: { match, dnsRecordSet: WWW, addressType: "flipop.digitalocean.com/ipv4-reserved-ip" },
    status: { publishedDNS: published([A, B]) },
  });
}
