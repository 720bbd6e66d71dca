import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import type { Evidence, Explanation, ShownGate, Subject } from "../../src/model/explanation.ts";
import { GATE_IDS, type GateID } from "../../src/model/gates.ts";
import type { Taint } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import { ProviderRegistry } from "../../src/model/provider.ts";
import { FINALIZER, type PoolSpec, type PoolStatus, type RecordSetSpec } from "../../src/model/resource.ts";
import { SHARD_LABEL } from "../../src/model/shard.ts";
import { explain } from "../../src/rehearse/explain.ts";
import { renderExplanation } from "../../src/report/text/explanation.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { aNode, anObservation, aPool, known, NOW, nodes } from "../plan/builders.ts";
import { aRecordSet, dnsFacts, WWW } from "../plan/dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts, onlyThese } from "../plan/firewall-builders.ts";

const [A, B, X] = ["203.0.113.1", "203.0.113.2", "203.0.113.9"] as const;

const PAIR: Subject = { kind: "pair", ip: A, node: "n1" };
const ADDRESS: Subject = { kind: "ip", ip: A };
const NODE: Subject = { kind: "node", node: "n1" };
const OBJECT: Subject = { kind: "object" };
const MATCH = { nodeLabel: "", podNamespace: "", podLabel: "", tolerations: [] };
const WEB = { ...MATCH, podNamespace: "ingress", podLabel: "app=web" };

/** One pool with the address A that is active on n1, of two nodes; `spec` and `status` say what is otherwise. */
function world(
  { spec, status, ...more }: { readonly spec?: Partial<PoolSpec>; readonly status?: Partial<PoolStatus> } = {},
  rest: Partial<Parameters<typeof anObservation>[0]> & { readonly createdAtMs?: number } = {},
): Observation {
  const active = { state: "active", nodeName: "n1", providerID: "digitalocean://101" } as const;
  return anObservation({
    pools: [aPool({ ...more, spec: { ips: [A], ...spec }, status: { ips: { [A]: active }, ...status } })],
    nodes: nodes(2),
    addresses: [known(A, { holderID: "101" })],
    ...rest,
  });
}

/** A is on no machine, and status knows nothing of it. */
const parked = { addresses: [known(A)] };
const NOTHING: Partial<PoolStatus> = { ips: {} };

const BOTH: Partial<PoolStatus> = {
  ips: {
    [A]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" },
    [B]: { state: "active", nodeName: "n2", providerID: "digitalocean://102" },
  },
};
/** As many machines as a firewall takes, of no node. */
const FULL: readonly string[] = Array.from({ length: 10 }, (_, index) => String(900 + index));

/** n1 with a taint, and others without. */
const tainted = (taint: Taint, count = 2): Partial<Parameters<typeof anObservation>[0]> => ({
  nodes: [aNode({ taints: [taint] }), ...nodes(count).slice(1)],
});

const pods = (ready: number, notReady: number, ...elsewhere: readonly string[]): Observation["pods"] =>
  new Map([
    [
      "ingress|app=web",
      {
        kind: "read",
        byNode: new Map([
          ...(ready + notReady === 0 ? [] : [["n1", { ready, notReady }] as const]),
          ...elsewhere.map((node) => [node, { ready: 1, notReady: 0 }] as const),
        ]),
      },
    ],
  ]);

const set = (spec: Partial<RecordSetSpec> = {}, dns = dnsFacts({ "nodes.example.com": [] })): Observation =>
  anObservation({
    nodes: [aNode({ addresses: [{ type: "ExternalIP", address: A }] })],
    recordSets: [aRecordSet({ spec })],
    dns: [dns],
  });

/** A world in which only this gate is shut, and who asks. */
type Shut = readonly [world: Observation, subject: Subject];

const WORLDS: Readonly<Record<GateID, Shut>> = {
  spec: [world({ spec: { provider: "nobody" } }), OBJECT],
  suspend: [world({ spec: { suspend: true } }), OBJECT],
  provider: [world({}, { provider: { unusable: { kind: "no-access", message: "Set a token." } } }), OBJECT],
  selects: [world({ spec: { match: { ...MATCH, nodeLabel: "role=edge" } } }), OBJECT],
  address: [world({}, { addresses: [[A, { kind: "gone" }]] }), ADDRESS],
  "in-use": [
    world(
      {
        spec: { ips: [B, A], desiredIPs: 1 },
        status: { ips: { [B]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } },
      },
      { addresses: [known(B, { holderID: "101" }), known(A)] },
    ),
    ADDRESS,
  ],
  stays: [world(), { kind: "pair", ip: A, node: "n2" }],
  deleting: [world({}, { nodes: [aNode({ isDeleting: true }), ...nodes(2).slice(1)] }), NODE],
  "provider-id": [world({}, { nodes: [aNode({ providerID: "" }), ...nodes(2).slice(1)], ...parked }), NODE],
  "node-label": [
    world(
      { spec: { match: { ...MATCH, nodeLabel: "role=edge" } } },
      { nodes: [aNode(), aNode({ name: "n2", droplet: 102, labels: { role: "edge" } })] },
    ),
    NODE,
  ],
  taints: [world({}, tainted({ key: "dedicated", value: "db", effect: "NoSchedule" })), NODE],
  ready: [
    world({}, { nodes: [aNode({ ready: { isReady: false, sinceMs: NOW - 60_000 } }), ...nodes(2).slice(1)] }),
    NODE,
  ],
  "condition-taints": [
    world({}, tainted({ key: "node.kubernetes.io/not-ready", value: "", effect: "NoSchedule" })),
    NODE,
  ],
  pods: [world({ spec: { match: WEB } }, { pods: pods(0, 1, "n2") }), NODE],
  machine: [
    world(
      { status: NOTHING },
      { ...parked, nodes: [aNode({ providerID: "aws:///us-east-1/i-1" }), ...nodes(2).slice(1)] },
    ),
    NODE,
  ],
  firewall: [
    anObservation({
      pools: [aRoutedIP({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [known(A)],
      firewalls: [firewallFacts([aFirewall({ open: ["tcp/80"], machineIDs: FULL })])],
    }),
    NODE,
  ],
  free: [world({ status: NOTHING }, { addresses: [known(A), known(X, { holderID: "101" })] }), NODE],
  region: [world({ status: NOTHING }, { addresses: [known(A, { region: "ams3" })] }), ADDRESS],
  due: [
    world(
      {
        status: {
          ...NOTHING,
          retries: [
            { subject: `ip/${A}`, attempts: 3, nextAttemptTime: new Date(NOW + 60_000).toISOString(), error: "no" },
          ],
        },
      },
      parked,
    ),
    ADDRESS,
  ],
  turn: [world({ status: NOTHING }, parked), { kind: "pair", ip: A, node: "n2" }],
  pace: [
    world(
      { spec: { ips: [A, B], dnsRecordSet: WWW }, status: BOTH },
      {
        ...tainted({ key: "dedicated", value: "db", effect: "NoSchedule" }, 3),
        addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
        dns: [dnsFacts({ "www.example.com": [A, B] })],
      },
    ),
    ADDRESS,
  ],
  approval: [
    world(
      { spec: { foreignHolder: "TakeOver", approval: "Voluntary" } },
      { addresses: [known(A, { holderID: "999" })] },
    ),
    ADDRESS,
  ],
  "cool-off": [
    world(
      {
        spec: { assignmentCoolOffSeconds: 7200 },
        status: { ...NOTHING, lastAssignmentTime: new Date(NOW - 1000).toISOString() },
      },
      parked,
    ),
    ADDRESS,
  ],
  quota: [world({ spec: { desiredIPs: 2 } }, { provider: { addressLimit: 1, addressCount: 1 } }), OBJECT],
  "dns-valid": [
    set({ dnsRecordSet: { provider: "", zone: "example.com", recordName: "größe", ttlSeconds: 60 } }),
    OBJECT,
  ],
  zone: [set({}, dnsFacts({}, { zoneFact: { kind: "missing" } })), OBJECT],
  "name-owner": [
    {
      ...set(),
      recordSets: [aRecordSet(), aRecordSet({ name: "rival", createdAtMs: 1 })],
    },
    OBJECT,
  ],
  serves: [{ ...set(), nodes: [aNode({ ready: { isReady: false, sinceMs: NOW - 60_000 } })] }, OBJECT],
};

/** The fact that shuts each gate in its world. */
const FACTS: Readonly<Record<GateID, Evidence>> = {
  spec: { path: "pool/ingress/web.metadata.generation", value: 1 },
  suspend: { path: "pool/ingress/web.spec.suspend", value: true },
  provider: { path: "provider/digitalocean", value: "Set a token." },
  selects: { path: "pool/ingress/web.spec.match.nodeLabel", value: "role=edge" },
  address: { path: "ip/203.0.113.1", value: "gone" },
  "in-use": { path: "pool/ingress/web.status.ips[203.0.113.1].state", value: "disabled" },
  stays: { path: "pool/ingress/web.status.ips[203.0.113.1].nodeName", value: "n1" },
  deleting: { path: "node/n1.metadata.deleting", value: true },
  "provider-id": { path: "node/n1.spec.providerID", value: "" },
  "node-label": { path: "node/n1.metadata.labels[role]", value: null },
  taints: { path: "node/n1.spec.taints", value: ["dedicated=db:NoSchedule"] },
  ready: { path: "node/n1.status.conditions[Ready]", value: false, sinceMs: NOW - 60_000 },
  "condition-taints": { path: "node/n1.spec.taints", value: ["node.kubernetes.io/not-ready:NoSchedule"] },
  pods: { path: "node/n1.pods", value: "0 ready, 1 not ready" },
  machine: { path: "node/n1.spec.providerID", value: "aws:///us-east-1/i-1" },
  firewall: { path: "firewall/web.machines", value: 10 },
  free: { path: "machine/101.addresses", value: ["203.0.113.9"] },
  region: { path: "ip/203.0.113.1.region", value: "ams3" },
  due: { path: "pool/ingress/web.status.retries[ip/203.0.113.1].nextAttemptTime", value: "2026-08-01T12:01:00.000Z" },
  turn: { path: "pool/ingress/web.next", value: "n1" },
  pace: { path: "pool/ingress/web.status.ips[203.0.113.1].drainingUntil", value: "2026-08-01T12:01:00Z" },
  approval: { path: "pool/ingress/web.spec.approval", value: "Voluntary" },
  "cool-off": { path: "pool/ingress/web.status.lastAssignmentTime", value: "2026-08-01T11:59:59.000Z" },
  quota: { path: "quota/digitalocean.used", value: 1 },
  "dns-valid": { path: "dns/ingress/nodes.spec.dnsRecordSet.recordName", value: "größe" },
  zone: { path: "zone/digitalocean/example.com", value: "missing" },
  "name-owner": { path: "dns/ingress/nodes.metadata.creationTimestamp", value: "2026-07-31T12:00:00Z" },
  serves: { path: "dns/ingress/nodes.matching", value: 0 },
};

function shutIn(observation: Observation, subject: Subject): readonly ShownGate[] {
  const { sections } = explain(observation, { subject, isMeant: () => true, horizonMs: 900_000 });
  const section = sections.find(({ object }) => object.name !== "rival");
  return section?.gates.filter(({ pass, isUnread }) => pass === false || isUnread === true) ?? [];
}

test("in a world in which all is well no gate is shut", () => {
  for (const subject of [PAIR, ADDRESS, { kind: "node", node: "n2" } as const, OBJECT])
    expect(shutIn(world(), subject)).toEqual([]);
  expect(shutIn(set(), OBJECT)).toEqual([]);
});

describe.for(GATE_IDS)("the gate %s", (id) => {
  test("is shut alone, and says why", () => {
    const [observation, subject] = WORLDS[id];
    const shut = shutIn(observation, subject);
    expect(shut.map((gate) => gate.id)).toEqual([id]);
  });

  test("shows the fact that shuts it", () => {
    const [observation, subject] = WORLDS[id];
    expect(shutIn(observation, subject).flatMap(({ evidence }) => evidence)).toContainEqual(FACTS[id]);
  });
});

test("a firewall that could not be read is unknown, and not open, for a node, for an address and for the object", () => {
  const unread = { ...firewallFacts([]), firewalls: new Map([["web", { kind: "gap", error: "no answer" } as const]]) };
  const observation = anObservation({
    pools: [aRoutedIP({ spec: { ips: [A] } })],
    nodes: nodes(2),
    addresses: [known(A)],
    firewalls: [unread],
  });
  const gate = { id: "firewall", isUnread: true, reason: "Unreadable", detail: "no answer" };
  for (const subject of [NODE, PAIR, ADDRESS, OBJECT])
    expect(shutIn(observation, subject), subject.kind).toContainEqual(expect.objectContaining(gate));
});

test("a node whose last attempt failed is told to be tried later, and not to wait for an address", () => {
  const retries = [
    { subject: "node/n2/102", attempts: 1, nextAttemptTime: "2026-08-01T12:01:00.000Z", error: "no such machine" },
  ];
  const observation = world(
    { spec: { ips: [A, B] }, status: { retries } },
    { addresses: [known(A, { holderID: "101" }), known(B)] },
  );
  const node: Subject = { kind: "node", node: "n2" };
  expect(shutIn(observation, node)).toMatchObject([{ id: "due", detail: "no such machine" }]);
  const { sections } = explain(observation, { subject: node, isMeant: () => true, horizonMs: 900_000 });
  expect(sections[0]?.facts).toEqual([]);
});

test.for<Subject>([{ kind: "object" }, { kind: "ip", ip: A }])(
  "a routed IP whose firewall is gone says so: %o",
  (subject) => {
    const status = { ips: { [A]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } } as const;
    const observation = anObservation({
      pools: [aRoutedIP({ spec: { ips: [A] }, status })],
      nodes: nodes(2),
      addresses: [known(A, { holderID: "101" })],
      firewalls: [onlyThese([])],
    });
    expect(shutIn(observation, subject)).toMatchObject([{ id: "firewall", reason: "FirewallNotFound" }]);
  },
);

test.for<Subject>([{ kind: "object" }, { kind: "ip", ip: A }])(
  "a routed IP whose node is behind no firewall says so: %o",
  (subject) => {
    const status = { ips: { [A]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } } as const;
    const othersAt = new Map([["101", { inForce: 0, pending: 0 }]]);
    const observation = anObservation({
      pools: [aRoutedIP({ spec: { ips: [A] }, status })],
      nodes: nodes(1),
      addresses: [known(A, { holderID: "101" })],
      firewalls: [firewallFacts([aFirewall({ open: ["tcp/80"], othersAt })])],
    });
    expect(shutIn(observation, subject)).toMatchObject([
      { id: "firewall", reason: "NodeWithoutFirewall", detail: "n1" },
    ]);
  },
);

test.for<Subject>([{ kind: "object" }, { kind: "ip", ip: A }])(
  "a routed IP whose firewall another shard changes says so: %o",
  (subject) => {
    const own = aRoutedIP({ spec: { ips: [A] } });
    const labels = { [SHARD_LABEL]: "vip" };
    const observation = anObservation({
      pools: [aRoutedIP({ name: "rival", createdAtMs: 1 }), { ...own, meta: { ...own.meta, labels } }],
      nodes: nodes(2),
      addresses: [known(A)],
      firewalls: [firewallFacts([aFirewall({ open: ["tcp/80"] })])],
    });
    const detail = expect.stringContaining("is changed for routedip/ingress/rival, of another shard");
    const [gate] = shutIn(observation, subject);
    expect(gate).toMatchObject({ id: "firewall", reason: "OtherShard", detail });
  },
);

test("a routed IP whose issuer is not there is to have one address", () => {
  const invalid = { ...aRoutedIP({ spec: { ips: [A], provider: "", desiredIPs: 0 } }), invalidReason: "no issuer" };
  const observation = anObservation({ pools: [invalid], nodes: nodes(2), addresses: [known(A)] });
  const { sections } = explain(observation, { subject: OBJECT, isMeant: () => true, horizonMs: 900_000 });
  expect(sections[0]?.message).toBe("routedip/ingress/vip has 0 of 1 address active on nodes that match.");
});

test("an address that is active by status on a node that is down is told with that, while its provider cannot be read", () => {
  const unusable = { kind: "unanswered", message: "500" } as const;
  const observation = world(
    {},
    { provider: { unusable }, nodes: [aNode({ ready: { isReady: false } }), ...nodes(2).slice(1)] },
  );
  const { sections } = explain(observation, { subject: ADDRESS, isMeant: () => true, horizonMs: 900_000 });
  expect(sections[0]?.message).toMatch(/is active on n1.* That is what status says: the node is not ready\.$/);
});

test("of an object whose spec cannot be used no node is said to match", () => {
  const { sections } = explain(world({ spec: { provider: "nobody" } }), {
    subject: OBJECT,
    isMeant: () => true,
    horizonMs: 900_000,
  });
  expect(sections[0]?.nodes).toEqual([]);
  expect(sections[0]?.message).toBe(
    "pool/ingress/web had 1 of 1 address active when it was looked at last. Its spec cannot be used, so nobody can tell which nodes match.",
  );
});

test("the name of a pool is at the provider of names, whoever has its addresses", () => {
  const names = PROVIDERS.get("digitalocean");
  if (names === undefined) throw new Error("no traits");
  const { dns: _, ...traits } = names;
  const registry = new ProviderRegistry([names, { ...traits, name: "acme" }], PROVIDERS.placeLabels);
  const observation = anObservation({
    pools: [aPool({ spec: { provider: "acme", ips: [A], dnsRecordSet: { ...WWW, provider: "" } } })],
    nodes: nodes(2),
    dns: [dnsFacts({})],
  });
  const paths = shutIn({ ...observation, registry }, OBJECT).flatMap(({ evidence }) =>
    evidence.map(({ path }) => path),
  );
  expect(paths).toEqual(["provider/acme", "provider/digitalocean"]);
});

test("a node in grace is told with the end of it, alone and with the address that it carries", () => {
  const sinceMs = NOW - 10_000;
  const observation = world(
    { spec: { gracePeriodSeconds: 60 } },
    { nodes: [aNode({ ready: { isReady: false, sinceMs } }), ...nodes(2).slice(1)] },
  );
  const messagesOf = (subject: Subject): readonly string[] =>
    explain(observation, { subject, isMeant: () => true, horizonMs: 60_000 }).sections.map(({ message }) => message);
  const until = "2026-08-01T12:00:50.000Z";
  expect(messagesOf(NODE)).toEqual([
    `n1 does not match pool/ingress/web any more, and counts as a match until ${until}: it is in grace.`,
  ]);
  expect(messagesOf(ADDRESS)).toEqual([
    `${A} is active on n1: Grace. The node still counts as a match until ${until}.`,
  ]);
});

describe("the name of a pool", () => {
  const subject: Subject = { kind: "name", fqdn: "www.example.com" };
  const explained = (ready: readonly boolean[], shown: readonly string[], holderID = "101"): Explanation => {
    const some = ready.map((isReady, at) => aNode({ name: `n${at + 1}`, droplet: 101 + at, ready: { isReady } }));
    const observation = anObservation({
      pools: [aPool({ spec: { ips: [A, B], desiredIPs: 2, dnsRecordSet: WWW }, status: BOTH })],
      nodes: some,
      addresses: [known(A, { holderID }), known(B, { holderID: "102" })],
      dns: [dnsFacts({ "www.example.com": shown })],
    });
    return explain(observation, { subject, isMeant: () => true, horizonMs: 60_000 });
  };
  const factOf = ({ sections }: Explanation): string =>
    sections.flatMap(({ facts }) => facts).find((fact) => fact.startsWith("www.example.com")) ?? "";

  test("is told with what of it does not answer", () => {
    expect(factOf(explained([true, true], [A, B]))).toBe(`www.example.com shows ${A}, ${B}: as desired.`);
    expect(factOf(explained([false, false], [A]))).toBe(
      `www.example.com shows ${A}: as desired, but nothing there answers now, and there is nothing else to show.`,
    );
  });

  test("is told with what keeps its addresses from being active", () => {
    const explanation = explained([true, true], [B], "999");
    const text = renderExplanation(explanation, { palette: PLAIN, width: 200, wide: false });
    expect(text).toMatch(/! address +203\.0\.113\.1: The address is on a machine that never was a node/);
  });
});

test("a name that is not known in full is explained: what is wrong with it is what a person asks", () => {
  const [observation] = WORLDS["dns-valid"];
  const [gate] = shutIn(observation, OBJECT);
  expect(gate).toMatchObject({ reason: "InvalidDNS", detail: expect.stringContaining("größe") });
});

test.for([OBJECT, NODE])(
  "of an object that is being deleted the gate of its spec is shut for the subject %j",
  (subject) => {
    const parts = { isDeleting: true, finalizers: [FINALIZER] };
    const deleted = aPool({ ...parts, spec: { ips: [A], reclaimPolicy: "Delete" }, status: BOTH });
    const observation = anObservation({
      pools: [deleted],
      nodes: nodes(2),
      addresses: [known(A, { holderID: "101" })],
    });
    const [gate] = shutIn(observation, subject);
    expect(gate).toMatchObject({ id: "spec", reason: "Deleting" });
    const explanation = explain(observation, { subject, isMeant: () => true, horizonMs: 900_000 });
    expect(renderExplanation(explanation, { palette: PLAIN, width: 100, wide: false })).not.toContain(
      "No change of up to",
    );
  },
);

test("explains an object of a shard as the process of that shard sees it, and says whose it is", () => {
  const of = (shard: string): Observation => {
    const whole = world({ status: { ips: {} } }, parked);
    const pools = whole.pools.map((pool) => {
      const labels = shard === "" ? {} : { [SHARD_LABEL]: shard };
      return { ...pool, meta: { ...pool.meta, labels } };
    });
    return { ...whole, pools };
  };
  const ask = (shard: string): Explanation =>
    explain(of(shard), { subject: ADDRESS, isMeant: () => true, horizonMs: 600_000 });
  const [alone, [section, ...others]] = [ask("").sections, ask("vip").sections];
  expect(others).toEqual([]);
  const fact = `Only the process with --shard vip works for it: the label ${SHARD_LABEL} says so.`;
  expect(section).toMatchObject({ facts: [fact, ...(alone[0]?.facts ?? [])], message: alone[0]?.message });
  expect(section?.gates.map(({ id, pass }) => [id, pass])).toEqual(alone[0]?.gates.map(({ id, pass }) => [id, pass]));
});

describe("an address whose node is gone from its region, while nodes of another region wait", () => {
  const elsewhere = anObservation({
    pools: [aPool({ spec: { ips: [A] } })],
    nodes: [
      aNode({ ready: { isReady: false, sinceMs: NOW - 60_000 } }),
      aNode({ name: "n2", droplet: 102, labels: { "topology.kubernetes.io/region": "ams3" } }),
    ],
    addresses: [known(A)],
  });

  test.for([ADDRESS, OBJECT])("comes back with that node: %o", (subject) => {
    const { sections } = explain(elsewhere, { subject, isMeant: () => true, horizonMs: 900_000 });
    expect(sections[0]?.counterfactual?.changes.map(({ edit }) => edit)).toEqual(["node/n1=Ready"]);
  });

  test("is told with its region where its pool is explained", () => {
    expect(shutIn(elsewhere, OBJECT)).toMatchObject([{ id: "region", reason: "RegionMismatch", about: A }]);
    const explanation = explain(elsewhere, { subject: OBJECT, isMeant: () => true, horizonMs: 900_000 });
    expect(renderExplanation(explanation, { palette: PLAIN, width: 100, wide: false })).toContain(
      `! region            ${A}: in another region than the address: the address is in nyc3`,
    );
  });
});

test("an address that is on its way is foretold to arrive, and to go nowhere else", () => {
  const sent = { state: "in-progress", nodeName: "n2", providerID: "digitalocean://102" } as const;
  const observation = world(
    { status: { ips: { [A]: { ...sent, previousProviderID: "digitalocean://101", reason: "InProgress" } } } },
    {
      nodes: [aNode({ ready: { isReady: false, sinceMs: NOW - 60_000 } }), ...nodes(3).slice(1)],
      addresses: [known(A, { holderID: "101", isLocked: true })],
    },
  );
  const { sections } = explain(observation, { subject: ADDRESS, isMeant: () => true, horizonMs: 900_000 });
  expect(sections[0]).toMatchObject({ isComing: true });
  const kinds = sections[0]?.next.steps.flatMap(({ actions }) => actions.map(({ id }) => id));
  expect(kinds).toEqual(["annotate-node pool/ingress/web n2"]);
});

test("a node that carries an address of the object is not told to carry another object's", () => {
  const unready = new Map([["n1", { ready: 0, notReady: 1, unreadySinceMs: NOW - 60_000 }]]);
  const spec = { match: WEB, gracePeriodSeconds: 600 };
  const observation = world({ spec }, { pods: new Map([["ingress|app=web", { kind: "read", byNode: unready }]]) });
  expect(shutIn(observation, NODE).map(({ id }) => id)).toEqual(["pods"]);
});

test("a gate names an entry of spec.ips that has no text of its own in quotes", () => {
  const observation = world({ spec: { ips: ["", A] } });
  const explanation = explain(observation, { subject: OBJECT, isMeant: () => true, horizonMs: 900_000 });
  const text = renderExplanation(explanation, { palette: PLAIN, width: 200, wide: false });
  expect(text).toMatch(/! address +"": It is not a canonical IPv4 address/);
});
