import { describe, expect, test } from "vitest";
import type { NodeFacts } from "../../src/model/node.ts";
import { ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import type { Observation, PodSummary } from "../../src/model/observation.ts";
import { GAP_SUBJECTS } from "../../src/model/plan.ts";
import type { IPStatus, MatchSpec } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, aPool, known, nodes } from "./builders.ts";
import { aRecordSet, dnsFacts, WWW } from "./dns-builders.ts";
import { planText } from "./plan-text.ts";

const [A, B] = ["203.0.113.10", "203.0.113.11"] as const;
const FQDN = "www.example.com";
const active = (n: number, nodeName = `n${n}`): IPStatus => ({
  state: "active",
  nodeName,
  providerID: `digitalocean://${100 + n}`,
});
const annotated = (n: number, ip: string, rest: Partial<NodeFacts> = {}): NodeFacts =>
  aNode({ name: `n${n}`, droplet: 100 + n, addressAnnotation: ip, poolAnnotation: "ingress/web", ...rest });
const WEB: MatchSpec = { nodeLabel: "", podNamespace: "", podLabel: "app=web", tolerations: [] };
const byNode = (pods: Readonly<Record<string, PodSummary>>): Observation["pods"] =>
  new Map([["|app=web", { kind: "read", byNode: new Map(Object.entries(pods)) }]]);
const ready: PodSummary = { ready: 1, notReady: 0 };
const odd = (name: string): PodSummary => ({ ready: 0, notReady: 0, unreadable: `pod shop/${name}` });
const NOBODY = (node: string, what: string): string =>
  `nobody can tell whether node ${node} matches: ${what} cannot be read`;

/** A pool whose address serves on n1 and is published; n2 is free. */
function serving(parts: {
  readonly n1: Partial<NodeFacts>;
  readonly more?: readonly NodeFacts[];
  readonly status?: IPStatus;
  readonly match?: MatchSpec;
  readonly pods?: Observation["pods"];
  readonly takeOver?: boolean;
}): Observation {
  const { n1, more = [], status = active(1), match, pods, takeOver = false } = parts;
  return anObservation({
    pools: [
      aPool({
        spec: {
          ips: [A],
          dnsRecordSet: WWW,
          ...(match === undefined ? {} : { match }),
          ...(takeOver ? { foreignHolder: "TakeOver" } : {}),
        },
        status: {
          ips: { [A]: status },
          publishedDNS: { provider: "digitalocean", zone: "example.com", name: FQDN, addresses: [A] },
        },
      }),
    ],
    nodes: [annotated(1, A, n1), aNode({ name: "n2", droplet: 102 }), ...more],
    addresses: [known(A, { holderID: "101" })],
    dns: [dnsFacts({ [FQDN]: [A] })],
    ...(pods === undefined ? {} : { pods }),
  });
}

describe("an address on a node that cannot be read", () => {
  test.for<[string, Partial<NodeFacts>]>([
    ["its taints", { unreadable: "spec.taints" }],
    ["its readiness", { unreadable: "status.conditions", ready: { isReady: false } }],
    ["its labels", { unreadable: "metadata.labels", labels: {} }],
  ])("stays where it is, annotated and published, and a hold and a gap say why: %s", ([, n1]) => {
    const world = serving({ n1 });
    const why = NOBODY("n1", n1.unreadable ?? "");
    expect(planText(world)).toEqual([`hold assign-ip ${A}: Unreadable (${why})`]);
    const { gaps, pools } = plan(world, {});
    expect(gaps).toEqual([{ provider: "kubernetes", about: GAP_SUBJECTS, subject: "n1", error: why }]);
    expect(pools[0]?.status.ips[A]).toEqual({ ...active(1), reason: "Unreadable", fault: "unread", error: why });
    expect(pools[0]?.notMatching).toEqual([
      { nodeName: "n1", reason: "Unreadable", detail: `${n1.unreadable} cannot be read` },
    ]);
  });

  test.for<[string, IPStatus, boolean]>([
    ["by status", active(1), false],
    ["by status, and strangers are taken over", active(1), true],
    ["where status knows no machine, and strangers are taken over", { state: "in-progress" }, true],
  ])("stays although its providerID cannot be read, so that its machine is no node's: %s", ([, status, takeOver]) => {
    const world = serving({ n1: { unreadable: "spec", providerID: "" }, status, takeOver });
    expect(planText(world)).toEqual([`hold assign-ip ${A}: Unreadable (${NOBODY("n1", "spec")})`]);
  });

  test("moves when its node is gone, whatever cannot be read of another one", () => {
    const n3 = aNode({ name: "n3", providerID: "", unreadable: "spec" });
    const world = serving({ n1: { name: "n4", providerID: "digitalocean://104" }, more: [n3] });
    expect(planText({ ...world, nodes: world.nodes.slice(1) })).toContain(`move-ip ${A} from 101 to n2: HolderGone`);
  });

  test("moves when its node is being deleted, which is certain", () => {
    expect(planText(serving({ n1: { unreadable: "spec.taints", isDeleting: true } }))).toContain(
      `move-ip ${A} from n1 to n2: HolderLost`,
    );
  });

  test("does not keep other addresses from their failover, and no node that cannot be read gets one", () => {
    const world = anObservation({
      pools: [aPool({ spec: { ips: [A, B] }, status: { ips: { [A]: active(1), [B]: active(2) } } })],
      nodes: [
        annotated(1, A, { unreadable: "spec.taints" }),
        annotated(2, B, { ready: { isReady: false } }),
        aNode({ name: "n3", droplet: 103, unreadable: "status" }),
        aNode({ name: "n4", droplet: 104 }),
      ],
      addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
    });
    expect(planText(world)).toEqual([
      `move-ip ${B} from n2 to n4: HolderLost`,
      `annotate-node n4 with ${B}: Verified`,
      "clear-annotation n2: HolderLost",
      `hold assign-ip ${A}: Unreadable (${NOBODY("n1", "spec.taints")})`,
    ]);
  });

  test("follows the readable one of two nodes of a machine", () => {
    const world = serving({ n1: { name: "n0", unreadable: "spec.taints" }, more: [annotated(1, A)] });
    expect(planText(world).filter((line) => line.startsWith("hold") || line.startsWith("move"))).toEqual([]);
  });
});

describe("an address on a node whose pods cannot be read", () => {
  test("stays while none of them is ready for certain", () => {
    const pods = byNode({ n1: odd("web-0"), n2: ready });
    expect(planText(serving({ n1: {}, match: WEB, pods }))).toEqual([
      `hold assign-ip ${A}: Unreadable (${NOBODY("n1", "pod shop/web-0")})`,
    ]);
  });

  test("serves when another one is ready, and the gap is told all the same", () => {
    const world = serving({ n1: {}, match: WEB, pods: byNode({ n1: { ...ready, ...odd("web-0"), ready: 1 } }) });
    expect(planText(world)).toEqual([]);
    expect(plan(world, {}).gaps).toEqual([
      {
        provider: "kubernetes",
        about: GAP_SUBJECTS,
        subject: "pod shop/web-0",
        error: "pod shop/web-0 cannot be read",
      },
    ]);
  });

  test("moves all the same when only a pod of no known node cannot be read: it is one of many", () => {
    const world = serving({ n1: {}, match: WEB, pods: byNode({ "": odd("web-0"), n2: ready }) });
    expect(planText(world)).toContain(`move-ip ${A} from n1 to n2: HolderLost`);
    expect(plan(world, {}).gaps).toHaveLength(1);
  });

  test("stays while a list of its Service's endpoints cannot be read: it tells of many nodes", () => {
    const world = serving({ n1: {} });
    const [pool] = world.pools;
    const endpoints = { namespace: "shop", name: "web" };
    const summaries = new Map([
      ["", { ready: 0, notReady: 0, unreadable: "EndpointSlice shop/web-1" }],
      ["n2", ready],
    ]);
    const pods: Observation["pods"] = new Map([["endpoints|shop|web", { kind: "read", byNode: summaries }]]);
    expect(planText({ ...world, pools: pool === undefined ? [] : [{ ...pool, endpoints }], pods })).toEqual([
      `hold assign-ip ${A}: Unreadable (${NOBODY("n1", "EndpointSlice shop/web-1")})`,
    ]);
  });
});

describe("a record set", () => {
  const external = (n: number, rest: Partial<NodeFacts> = {}): NodeFacts =>
    aNode({
      name: `n${n}`,
      droplet: 100 + n,
      addresses: [{ type: "ExternalIP", address: `198.51.100.${n}` }],
      ...rest,
    });
  const world = (facts: readonly NodeFacts[], published: readonly string[]): Observation =>
    anObservation({
      recordSets: [aRecordSet()],
      nodes: facts,
      dns: [dnsFacts({ "nodes.example.com": published })],
    });
  const [X, Y, Z] = ["198.51.100.1", "198.51.100.2", "198.51.100.3"] as const;
  const hold = (n: number, what: string): string => `hold update-dns n${n}: Unreadable (${NOBODY(`n${n}`, what)})`;

  test("neither adds nor removes the address of a node that cannot be read, and goes on with the others", () => {
    const facts = [external(1, { unreadable: "spec.taints" }), external(2), external(3, { unreadable: "status" })];
    expect(planText(world(facts, [X]))).toEqual([
      `update-dns nodes.example.com {${X}}/60 -> {${X} ${Y}}/60: RecordsDiffer`,
      hold(1, "spec.taints"),
      hold(3, "status"),
    ]);
  });

  test("removes nothing while a node's addresses cannot be read: each may be its own", () => {
    const facts = [external(1, { unreadable: "status.addresses", addresses: [] }), external(2)];
    expect(planText(world(facts, [X, Z]))).toEqual([
      `update-dns nodes.example.com {${X} ${Z}}/60 -> {${X} ${Y} ${Z}}/60: RecordsDiffer`,
      hold(1, "status.addresses"),
    ]);
  });

  test("keeps its records when nothing can be read", () => {
    const facts = [external(1, { unreadable: "status" }), external(2, { unreadable: "status" })];
    expect(planText(world(facts, [X, Y])).filter((line) => !line.startsWith("hold"))).toEqual([]);
  });

  test("keeps a former name while a node's addresses cannot be read: each may be its own", () => {
    const publishedDNS = { provider: "digitalocean", zone: "example.com", name: "old.example.com", addresses: [X] };
    const renamed = anObservation({
      recordSets: [aRecordSet({ spec: { whenEmpty: "Delete", reclaimPolicy: "Delete" }, status: { publishedDNS } })],
      nodes: [external(1, { unreadable: "status.addresses", addresses: [] })],
      dns: [dnsFacts({ "nodes.example.com": [], "old.example.com": [X] })],
    });
    expect(planText(renamed)).toContain("hold delete-dns old.example.com: NewNameFirst");
  });

  test("of annotations leaves what a pool keeps on a node that cannot be read", () => {
    const recordSet = aRecordSet({ spec: { addressType: ADDRESS_ANNOTATION } });
    const both = anObservation({
      pools: [aPool({ spec: { ips: [A, B] }, status: { ips: { [A]: active(1), [B]: active(2) } } })],
      recordSets: [recordSet],
      nodes: [annotated(1, A, { unreadable: "status" }), annotated(2, B)],
      addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
      dns: [dnsFacts({ "nodes.example.com": [A, B] })],
    });
    expect(planText(both).filter((line) => !line.startsWith("hold"))).toEqual([]);
  });
});

describe("gaps", () => {
  test("name twenty objects of the cluster that cannot be read, and count the others", () => {
    const broken = nodes(50).map((node) => ({ ...node, unreadable: "status" }));
    const { gaps } = plan(anObservation({ nodes: broken }), {});
    expect(gaps).toHaveLength(21);
    expect(gaps[0]).toMatchObject({ provider: "kubernetes", subject: "n1" });
    expect(gaps[20]).toEqual({
      about: GAP_SUBJECTS,
      provider: "kubernetes",
      subject: "",
      error: "30 more nodes, pods or EndpointSlices cannot be read",
    });
  });
});
