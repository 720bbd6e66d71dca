import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import type { Firewall, FirewallFacts } from "../../src/model/firewall.ts";
import { ADDRESS_ANNOTATION, IP_FAMILIES } from "../../src/model/node-annotations.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { IPStatus, Pool, RoutedIPStatus } from "../../src/model/resource.ts";
import { nextLook } from "../../src/plan/next-look.ts";
import { plan } from "../../src/plan/plan.ts";
import { groupVerdicts } from "../../src/report/text/plan-sections.ts";
import { aNode, anObservation, known, NOW, nodes } from "./builders.ts";
import { aRecordSet, dnsFacts, WWW } from "./dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts, memoryOf, onlyThese, type RoutedParts } from "./firewall-builders.ts";
import { planText } from "./plan-text.ts";

const A = "203.0.113.1";
const B = "203.0.113.2";

const active = (droplet: number): IPStatus => ({
  state: "active",
  nodeName: `n${droplet - 100}`,
  providerID: `digitalocean://${droplet}`,
});

/** The RoutedIP with address A active on n1, its port open and n1 behind the firewall `web`, both by flipop. */
function serving(parts: RoutedParts = {}): Pool {
  const status: Partial<RoutedIPStatus> = { ips: { [A]: active(101) }, firewalls: [memoryOf(["tcp/80"], ["101"])] };
  return aRoutedIP({ ...parts, spec: { ips: [A], ...parts.spec }, status: { ...status, ...parts.status } });
}

const OPEN: Firewall = aFirewall({ open: ["tcp/80"], machineIDs: ["101"] });

const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();

const onN1 = aNode({ addressAnnotation: A, poolAnnotation: "routedip/ingress/vip" });
const n2 = aNode({ name: "n2", droplet: 102 });
const failedN1 = { ...onN1, ready: { isReady: false, sinceMs: NOW - 60_000 } };

function memoryAfter(pools: readonly Pool[], firewall: Firewall, name = "vip"): RoutedIPStatus["firewalls"] {
  const observation = anObservation({
    pools,
    nodes: [onN1],
    addresses: [known(A, { holderID: "101" })],
    firewalls: [firewallFacts([firewall])],
  });
  return plan(observation, {}).pools.find(({ object }) => object.name === name)?.status.firewalls;
}

describe("what is added to a firewall", () => {
  test("is the port, then the node, then the address", () => {
    const observation = anObservation({
      pools: [aRoutedIP({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [known(A)],
      firewalls: [firewallFacts([aFirewall()])],
    });
    expect(planText(observation)).toEqual([
      "open-ports web: PortsClosed",
      "add-to-firewall web: NodeOutsideFirewall",
      `assign-ip ${A} to n1: NodeMatched`,
      `annotate-node n1 with ${A}: Verified`,
    ]);
    const { actions } = plan(observation, {});
    const requires = (kind: string): readonly string[] =>
      actions.find((action) => action.kind === kind)?.requires ?? [];
    expect(requires("add-to-firewall")).toEqual(["open-ports routedip/ingress/vip web"]);
    expect(requires("assign-ip")).toEqual([
      "open-ports routedip/ingress/vip web",
      "add-to-firewall routedip/ingress/vip web",
    ]);
  });

  test("is on record before the first call", () => {
    const observation = anObservation({
      pools: [aRoutedIP({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [known(A)],
      firewalls: [firewallFacts([aFirewall()])],
    });
    expect(plan(observation, {}).pools[0]?.status.firewalls).toEqual([memoryOf(["tcp/80"], ["101"])]);
  });

  test("is nothing where somebody else opened the port, and a tag covers the node", () => {
    const observation = anObservation({
      pools: [aRoutedIP({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [known(A)],
      firewalls: [firewallFacts([aFirewall({ open: ["tcp/1-65535"], tags: ["k8s"] })], ["101"])],
    });
    expect(planText(observation)[0]).toBe(`assign-ip ${A} to n1: NodeMatched`);
    expect(plan(observation, {}).pools[0]?.status.firewalls).toBeUndefined();
  });

  test("comes before an address that is bought for the node", () => {
    const observation = anObservation({
      pools: [aRoutedIP()],
      nodes: nodes(1),
      firewalls: [firewallFacts([aFirewall()])],
    });
    const { actions } = plan(observation, {});
    expect(actions.find(({ kind }) => kind === "acquire-ip")?.requires).toEqual([
      "open-ports routedip/ingress/vip web",
      "add-to-firewall routedip/ingress/vip web",
    ]);
  });

  test("is brought once for two that need it, and the second waits for it and has it on record, too", () => {
    const observation = anObservation({
      pools: [
        aRoutedIP({ spec: { ips: [A] }, createdAtMs: NOW - 2000 }),
        aRoutedIP({ name: "other", spec: { ips: [B] }, createdAtMs: NOW - 1000 }),
      ],
      nodes: nodes(2),
      addresses: [known(A), known(B)],
      firewalls: [firewallFacts([aFirewall()])],
    });
    const { actions, pools } = plan(observation, {});
    expect(actions.filter(({ kind }) => kind === "open-ports").map(({ object }) => object.name)).toEqual(["vip"]);
    const assign = actions.find(({ kind, object }) => kind === "assign-ip" && object.name === "other");
    expect(assign?.requires).toContain("open-ports routedip/ingress/vip web");
    expect(pools.find(({ object }) => object.name === "other")?.status.firewalls).toEqual([
      memoryOf(["tcp/80"], ["102"]),
    ]);
  });
});

describe("a failover", () => {
  test("puts the new node behind the firewall first and takes the old one away after the move", () => {
    const observation = anObservation({
      pools: [serving()],
      nodes: [failedN1, n2],
      addresses: [known(A, { holderID: "101" })],
      firewalls: [firewallFacts([OPEN])],
    });
    expect(planText(observation)).toEqual([
      "add-to-firewall web: NodeOutsideFirewall",
      `move-ip ${A} from n1 to n2: HolderLost`,
      `annotate-node n2 with ${A}: Verified`,
      "clear-annotation n1: HolderLost",
      "remove-from-firewall web: NodeUnneeded",
    ]);
    const removal = plan(observation, {}).actions.find(({ kind }) => kind === "remove-from-firewall");
    expect(removal?.requires).toEqual([`move-ip routedip/ingress/vip ${A}`]);
  });

  test("leaves the old node where another object's address is on it", () => {
    const other = serving({ name: "other", spec: { ips: [B] }, status: { ips: { [B]: active(101) } } });
    const observation = anObservation({
      pools: [serving(), { ...other, spec: { ...other.spec, suspend: true } }],
      nodes: [failedN1, n2],
      addresses: [known(A, { holderID: "101" })],
      firewalls: [firewallFacts([OPEN])],
    });
    expect(planText(observation).filter((line) => line.startsWith("remove-from"))).toEqual([]);
  });

  test.each([
    [
      "is full of machines",
      [aFirewall({ open: ["tcp/80"], machineIDs: Array.from({ length: 10 }, (_, at) => `9${at}`) })],
      "FirewallFull",
    ],
    ["is full of rules", [aFirewall({ ruleCount: 50, machineIDs: ["102"] })], "FirewallFull"],
    ["is still being changed", [{ ...OPEN, machineIDs: ["101", "102"], isWaiting: true }], "InProgress"],
  ] as const)("waits where the firewall %s", (_, firewalls, reason) => {
    const name = firewalls[0]?.name ?? "web";
    const observation = anObservation({
      pools: [serving({ firewall: name, status: { firewalls: undefined } as never })],
      nodes: [failedN1, n2],
      addresses: [known(A, { holderID: "101" })],
      firewalls: [onlyThese(firewalls)],
    });
    const { actions, pools } = plan(observation, {});
    expect(actions.filter(({ kind }) => kind === "move-ip")).toEqual([]);
    expect(pools[0]?.skipped).toMatchObject([{ nodeName: "n2", reason }]);
  });

  test.each([
    ["is not there", [], "FirewallNotFound"],
    ["is one of DigitalOcean Kubernetes", [aFirewall({ id: "fw-web", name: "k8s-web" })], "FirewallReserved"],
  ] as const)("goes on, and says so, where the firewall %s, as long as nothing serves", (_, firewalls, reason) => {
    const name = firewalls[0]?.name ?? "web";
    const observation = anObservation({
      pools: [serving({ firewall: name })],
      nodes: [failedN1, n2],
      addresses: [known(A, { holderID: "101" })],
      firewalls: [onlyThese(firewalls)],
    });
    const { actions, holds } = plan(observation, {});
    expect(actions.filter(({ kind }) => kind === "move-ip")).toHaveLength(1);
    expect(holds).toContainEqual(expect.objectContaining({ kind: "open-ports", reason, needsPerson: true }));
    const atWork = {
      ...observation,
      nodes: [{ ...onN1, taints: [{ key: "a", value: "", effect: "NoSchedule" as const }] }, n2],
    };
    expect(plan(atWork, {}).actions.filter(({ kind }) => kind === "move-ip")).toEqual([]);
  });

  test.each([
    [
      "its last change failed",
      [aFirewall()],
      { retries: [{ subject: "firewall-ports/fw-web", attempts: 1, nextAttemptTime: at(60), error: "500" }] },
      { reason: "Backoff", detail: "500", needsPerson: false, notBeforeMs: NOW + 60_000 },
    ],
    ["it is being changed", [aFirewall({ isWaiting: true })], {}, { reason: "InProgress", needsPerson: false }],
    ["it is full of rules", [aFirewall({ ruleCount: 50 })], {}, { reason: "FirewallFull", needsPerson: true }],
    ["it is not there", [], {}, { reason: "FirewallNotFound", detail: "web", needsPerson: true }],
  ] as const)(
    "does not ask for a region to buy in where the firewall keeps every node waiting: %s",
    (_, all, status, hold) => {
      const observation = anObservation({
        pools: [aRoutedIP({ spec: { ips: [] }, status })],
        nodes: [n2],
        firewalls: [onlyThese(all)],
      });
      const { holds } = plan(observation, {});
      expect(holds.filter(({ kind }) => kind === "acquire-ip")).toMatchObject([
        { ...hold, missing: { count: 1, desired: 1 } },
      ]);
      expect(holds.map(({ reason }) => reason)).not.toContain("NoRegion");
    },
  );

  test.each([
    ["the firewall is full of rules", aFirewall({ ruleCount: 50 }), {}, "FirewallFull", undefined],
    [
      "the firewall is full of machines",
      aFirewall({ open: ["tcp/80"], machineIDs: Array.from({ length: 10 }, (_, at) => `9${at}`) }),
      {},
      "FirewallFull",
      undefined,
    ],
    [
      "its last change failed",
      aFirewall(),
      { retries: [{ subject: "firewall-ports/fw-web", attempts: 1, nextAttemptTime: at(60), error: "500" }] },
      "Backoff",
      NOW + 60_000,
    ],
    ["it is being changed", aFirewall({ isWaiting: true }), {}, "InProgress", undefined],
  ] as const)("says why nothing can be brought to any node: %s", (_, firewall, status, reason, notBeforeMs) => {
    const observation = anObservation({
      pools: [aRoutedIP({ spec: { ips: [A] }, status })],
      nodes: nodes(2),
      addresses: [known(A)],
      firewalls: [firewallFacts([firewall])],
    });
    const hold = plan(observation, {}).holds.find(({ kind }) => kind === "open-ports");
    expect(hold).toMatchObject({ subject: "firewall web", reason });
    expect(hold?.notBeforeMs).toBe(notBeforeMs);
  });

  test("is looked at again while the provider carries a change of the firewall out", () => {
    const observation = anObservation({
      pools: [serving()],
      nodes: [failedN1, n2],
      addresses: [known(A, { holderID: "101" })],
      firewalls: [firewallFacts([{ ...OPEN, machineIDs: ["101", "102"], isWaiting: true }])],
    });
    expect(nextLook(plan(observation, {}), NOW, { leftOverMs: 30_000, nextReadInMs: 2000 })?.inMs).toBe(2000);
  });

  test("waits where the firewall could not be read, and nothing about it changes", () => {
    const facts = { ...firewallFacts([]), firewalls: new Map([["web", { kind: "gap" as const, error: "500" }]]) };
    const observation = anObservation({
      pools: [serving()],
      nodes: [failedN1, n2],
      addresses: [known(A, { holderID: "101" })],
      firewalls: [facts],
    });
    expect(planText(observation)).toContain("hold open-ports firewall web: Unreadable (500)");
    expect(groupVerdicts(plan(observation, {}).pools[0]?.skipped ?? [], 3)).toBe(
      "1 whose firewall could not be read (n2)",
    );
    expect(plan(observation, {}).actions.map(({ kind }) => kind)).toEqual(["clear-annotation"]);
    expect(plan(observation, {}).pools[0]?.status.firewalls).toEqual([memoryOf(["tcp/80"], ["101"])]);
  });
});

describe("a change that the provider has not carried out", () => {
  const since = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString().replace(".000Z", "Z");
  const failover = (firewall: Partial<Firewall>, status: Partial<RoutedIPStatus> = {}) =>
    plan(
      anObservation({
        pools: [serving({ status })],
        nodes: [failedN1, n2],
        addresses: [known(A, { holderID: "101" })],
        firewalls: [firewallFacts([{ ...OPEN, ...firewall }])],
      }),
      {},
    );
  const pendingSince = (secondsAgo: number): Partial<RoutedIPStatus> => ({
    pendingFirewalls: [{ id: "fw-web", name: "web", machineID: "102", since: since(secondsAgo) }],
  });

  test.each([
    ["another machine", { pendingMachineIDs: ["101", "999"] }],
    ["another machine, where it was given up", { failedMachineIDs: ["101", "999"] }],
    ["a machine that has to be added anyway, where it was given up", { failedMachineIDs: ["102"] }],
  ])("for %s delays no move, and nothing is said of it", (_, firewall) => {
    const { actions, holds, pools } = failover(firewall);
    expect(actions.map(({ kind }) => kind)).toContain("move-ip");
    expect(holds).toEqual([]);
    expect(pools[0]?.status.pendingFirewalls).toBeUndefined();
  });

  test.each([
    [{ pendingMachineIDs: ["102"] }, {}, "InProgress", "firewall web, node n2 (machine 102), since NOW"],
    [{ pendingMachineIDs: ["102"] }, pendingSince(299), "InProgress", `since ${since(299)}`],
    [{ pendingMachineIDs: ["102"] }, pendingSince(300), "FirewallStuck", `since ${since(300)}`],
    [{ pendingMachineIDs: ["102"] }, pendingSince(-60), "InProgress", "since NOW"],
    [{ isWaiting: true }, {}, "InProgress", "firewall web, since NOW"],
    [{ isWaiting: true }, pendingSince(900), "InProgress", "firewall web, since NOW"],
    [
      { machineIDs: ["101", "102"], failedMachineIDs: ["102"] },
      {},
      "FirewallFailed",
      "firewall web, node n2 (machine 102)",
    ],
  ] as const)("for the only machine left is waited for and said: %j after %j", (firewall, status, reason, detail) => {
    const { actions, holds: all, pools } = failover(firewall, status);
    const holds = all.filter(({ kind }) => kind === "open-ports");
    expect(actions.map(({ kind }) => kind)).not.toContain("move-ip");
    const needsPerson = reason !== "InProgress";
    const told = detail.replace("NOW", since(0));
    expect(holds).toMatchObject([{ kind: "open-ports", subject: "firewall web", reason, needsPerson }]);
    expect(holds[0]?.detail).toContain(told);
    expect(pools[0]?.skipped).toMatchObject([{ nodeName: "n2", reason, detail: holds[0]?.detail }]);
    const stalled = pools[0]?.status.conditions.find(({ type }) => type === "Stalled");
    expect(stalled?.status).toBe(needsPerson ? "True" : "False");
  });

  test("is on record where it matters, with the time it had, until the firewall is another one", () => {
    const stored = [
      { id: "fw-old", name: "old", since: since(60) },
      { id: "fw-web", name: "web", machineID: "102", since: since(60) },
      { id: "fw-web", name: "web", machineID: "999", since: since(60) },
    ];
    const { pools } = failover({ pendingMachineIDs: ["102", "999"] }, { pendingFirewalls: stored });
    expect(pools[0]?.status.pendingFirewalls).toEqual([stored[1]]);
  });

  test("stays on record while the firewall cannot be read", () => {
    const facts = { ...firewallFacts([]), firewalls: new Map([["web", { kind: "gap" as const, error: "500" }]]) };
    const observation = anObservation({
      pools: [serving({ status: pendingSince(60) })],
      nodes: [failedN1, n2],
      addresses: [known(A, { holderID: "101" })],
      firewalls: [facts],
    });
    expect(plan(observation, {}).pools[0]?.status.pendingFirewalls).toEqual(pendingSince(60).pendingFirewalls);
  });

  test("asks for nobody while it may end by itself at one of two machines", () => {
    const observation = anObservation({
      pools: [serving({ status: pendingSince(900) })],
      nodes: [failedN1, n2, aNode({ name: "n3", droplet: 103 })],
      addresses: [known(A, { holderID: "101" })],
      firewalls: [firewallFacts([{ ...OPEN, pendingMachineIDs: ["102", "103"] }])],
    });
    expect(plan(observation, {}).holds.filter(({ kind }) => kind === "open-ports")).toMatchObject([
      { reason: "InProgress", detail: expect.stringContaining("machine 103"), needsPerson: false },
    ]);
  });

  test("for a machine whose address another object waits to move is awaited by nobody else", () => {
    const other = aRoutedIP({ name: "other", spec: { ips: [B] }, ports: ["tcp/443"], createdAtMs: NOW - 500 });
    const observation = anObservation({
      pools: [serving({ ports: ["tcp/443"] }), other],
      nodes: [onN1, n2, aNode({ name: "n3", droplet: 103 })],
      addresses: [known(A, { holderID: "101" }), known(B)],
      firewalls: [firewallFacts([{ ...OPEN, machineIDs: ["101", "102"], pendingMachineIDs: ["101"] }])],
    });
    const awaited = plan(observation, {}).actions.flatMap((action) =>
      "awaited" in action ? [[action.kind, action.awaited]] : [],
    );
    expect(awaited).toEqual([
      ["open-ports", ["102"]],
      ["close-ports", []],
    ]);
  });
});

describe("what is taken from a firewall", () => {
  const steady = (pools: readonly Pool[], firewall: Firewall): readonly string[] =>
    planText(
      anObservation({
        pools,
        nodes: [onN1],
        addresses: [known(A, { holderID: "101" })],
        firewalls: [firewallFacts([firewall])],
      }),
    );

  test("is nothing while everything is needed", () => {
    expect(steady([serving()], OPEN)).toEqual([]);
  });

  test("is a port that the Service has no more, once the new one was opened", () => {
    const pools = [serving({ ports: ["tcp/443"] })];
    expect(steady(pools, OPEN)).toEqual(["open-ports web: PortsClosed", "close-ports web: PortsUnneeded"]);
    expect(memoryAfter(pools, OPEN)).toEqual([memoryOf(["tcp/443", "tcp/80"], ["101"])]);
  });

  test("is no port that flipop did not open, nor one whose rule somebody widened", () => {
    const pools = [serving({ ports: ["tcp/443"], status: { firewalls: [memoryOf([], ["101"])] } })];
    expect(steady(pools, aFirewall({ open: ["tcp/443", "tcp/80"], machineIDs: ["101"] }))).toEqual([]);
    const rule = { ports: { protocol: "tcp", from: 80, to: 80 }, openTo: IP_FAMILIES, isPlain: false } as const;
    const widened = aFirewall({ open: ["tcp/443"], machineIDs: ["101"] });
    expect(steady([serving({ ports: ["tcp/443"] })], { ...widened, rules: [...widened.rules, rule] })).toEqual([]);
  });

  test("goes before the address of a deleted object leaves, also while the firewall is still being read", () => {
    const going = serving({
      isDeleting: true,
      finalizers: ["flipop.digitalocean.com/cleanup"],
      spec: { ips: [], reclaimPolicy: "Delete" },
      status: { acquired: [{ ip: A, acquiredAt: "2026-08-01T11:00:00Z" }] },
    });
    const world = (facts: FirewallFacts): readonly string[] =>
      planText(
        anObservation({
          pools: [going],
          nodes: [aNode()],
          addresses: [known(A, { holderID: "101" })],
          firewalls: [facts],
        }),
      );
    const read = firewallFacts([OPEN]);
    const leaving = (lines: readonly string[]): readonly string[] =>
      lines.filter((line) => /^(close|unassign|delete)/.test(line)).map((line) => line.split(" ")[0] ?? "");
    expect(leaving(world(read))).toEqual(["close-ports", "unassign-ip", "delete-ip"]);
    const unusable = { kind: "unanswered", message: "digitalocean has not answered yet" } as const;
    expect(leaving(world({ ...read, firewalls: new Map(), unusable: { ...unusable, isAwaited: true } }))).toEqual([]);
    // One that does not answer holds no address up.
    const silent = { ...read, firewalls: new Map(), unusable };
    expect(leaving(world(silent))).toEqual(["unassign-ip", "delete-ip"]);
  });

  test("is a shared port only when the last one needs it no more", () => {
    const first = serving({ ports: ["tcp/443"], createdAtMs: NOW - 2000 });
    const second = serving({ name: "other", spec: { ips: [B] }, status: { ips: {} } });
    const open = aFirewall({ open: ["tcp/443", "tcp/80"], machineIDs: ["101"] });
    expect(steady([first, second], open).filter((line) => line.startsWith("close"))).toEqual([]);
    expect(memoryAfter([first, second], open)).toEqual([memoryOf(["tcp/80"], ["101"])]);
  });

  test("is taken over by a suspended object that needs it, so that the one that added it may go", () => {
    const going = serving({
      isDeleting: true,
      finalizers: ["flipop.digitalocean.com/cleanup"],
      spec: { reclaimPolicy: "Delete" },
    });
    const other = serving({ name: "other", spec: { ips: [B], suspend: true }, status: { ips: { [B]: active(102) } } });
    const { firewalls: _none, ...status } = other.status;
    expect(memoryAfter([going, { ...other, status }], OPEN, "other")).toEqual([memoryOf(["tcp/80"], [])]);
    expect(steady([going, other], OPEN)).toContain("remove-finalizer ingress/vip: NothingToReclaim");
  });

  test("is nothing that is on record for an object whose Service cannot be found", () => {
    const lost = serving({ name: "other", spec: { ips: [B] }, firewall: "", status: { ips: { [B]: active(102) } } });
    const pools = [serving({ ports: ["tcp/443"] }), { ...lost, decodeError: 'Service "web" not found' }];
    const open = aFirewall({ open: ["tcp/443", "tcp/80"], machineIDs: ["101"] });
    expect(steady(pools, open).filter((line) => line.startsWith("close"))).toEqual([]);
  });

  test("is what a wider rule of flipop covered, once its own is there", () => {
    const wide = serving({ ports: [], status: { firewalls: [memoryOf(["tcp/1-1000"], ["101"])] } });
    const narrow = serving({ name: "other", spec: { ips: [B] }, status: { firewalls: undefined } as never });
    const firewall = aFirewall({ open: ["tcp/1-1000"], machineIDs: ["101"] });
    const observation = anObservation({
      pools: [wide, narrow],
      nodes: [onN1, n2],
      addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
      firewalls: [firewallFacts([firewall])],
    });
    const lines = planText(observation);
    expect(lines).toContain("open-ports web: PortsClosed");
    expect(lines).toContain("close-ports web: PortsUnneeded");
  });

  describe("is a wider rule", () => {
    const wide = serving({ ports: [], status: { firewalls: [memoryOf(["tcp/1-1000"], ["101"])] } });
    const narrow = serving({ name: "other", spec: { ips: [B] }, status: { ips: { [B]: active(102) } } });
    const retries = [
      { subject: "firewall-ports/fw-web", attempts: 1, nextAttemptTime: "2026-08-01T12:00:05Z", error: "x" },
    ];
    const planOf = (other: Pool, open: readonly string[]): readonly Action[] =>
      plan(
        anObservation({
          pools: [wide, other],
          nodes: [onN1, n2],
          addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
          firewalls: [firewallFacts([aFirewall({ open, machineIDs: ["101", "102"] })])],
        }),
        {},
      ).actions;
    const closing = (actions: readonly Action[]): Action | undefined =>
      actions.find(({ kind }) => kind === "close-ports");

    test("only after the narrower port of another object was opened, and looked for", () => {
      const actions = planOf(narrow, ["tcp/1-1000"]);
      const opening = actions.find(({ kind }) => kind === "open-ports");
      expect(closing(actions)?.requires).toEqual([opening?.id]);
      expect(closing(actions)).toMatchObject({
        replaced: [{ ports: { protocol: "tcp", from: 80, to: 80 }, family: "IPv4" }],
      });
    });

    test("only after the port was opened to its family, where a person let in the other one alone", () => {
      const theirs = { ports: { protocol: "tcp", from: 80, to: 80 }, openTo: ["IPv6"], isPlain: false } as const;
      const firewall = aFirewall({ open: ["tcp/1-1000"], machineIDs: ["101", "102"] });
      const { actions } = plan(
        anObservation({
          pools: [wide, narrow],
          nodes: [onN1, n2],
          addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
          firewalls: [firewallFacts([{ ...firewall, rules: [...firewall.rules, theirs] }])],
        }),
        {},
      );
      const opening = actions.find(({ kind }) => kind === "open-ports");
      expect(opening).toMatchObject({ after: ["tcp/80"] });
      expect(closing(actions)?.requires).toEqual([opening?.id]);
    });

    test("never while that cannot be opened yet", () => {
      const refused = { ...narrow, status: { ...narrow.status, retries } };
      expect(closing(planOf(refused, ["tcp/1-1000"]))).toBeUndefined();
    });

    test("never while the provider works on the address that it serves", () => {
      const addresses = [known(A, { holderID: "101" }), known(B, { holderID: "102", isLocked: true })];
      const firewalls = [firewallFacts([aFirewall({ open: ["tcp/1-1000"], machineIDs: ["101", "102"] })])];
      const { actions } = plan(anObservation({ pools: [wide, narrow], nodes: [onN1, n2], addresses, firewalls }), {});
      expect(closing(actions)).toBeUndefined();
    });

    test("at once where that is open already, if it still is then", () => {
      const last = closing(planOf(narrow, ["tcp/1-1000", "tcp/80"]));
      expect(last?.requires).toEqual([]);
      expect(last).toMatchObject({ replaced: [{ ports: { protocol: "tcp", from: 80, to: 80 }, family: "IPv4" }] });
    });
  });

  test("goes after the records and before the address, with Delete", () => {
    const deleted = serving({
      isDeleting: true,
      finalizers: ["flipop.digitalocean.com/cleanup"],
      spec: { ips: [], reclaimPolicy: "Delete", dnsRecordSet: WWW },
      status: {
        acquired: [{ ip: A, acquiredAt: "2026-07-01T00:00:00Z" }],
        publishedDNS: { provider: "digitalocean", zone: "example.com", name: "www.example.com", addresses: [A] },
      },
    });
    const observation = anObservation({
      pools: [deleted],
      nodes: [onN1],
      addresses: [known(A, { holderID: "101" })],
      dns: [dnsFacts({ "www.example.com": [A] })],
      firewalls: [firewallFacts([OPEN])],
    });
    const { actions } = plan(observation, {});
    expect(actions.map(({ kind }) => kind)).toEqual([
      "clear-annotation",
      "delete-dns",
      "close-ports",
      "remove-from-firewall",
      "unassign-ip",
      "delete-ip",
      "remove-finalizer",
    ]);
    const find = (kind: string): (typeof actions)[number] | undefined => actions.find((action) => action.kind === kind);
    expect(find("close-ports")?.requires).toEqual([find("delete-dns")?.id]);
    expect(find("unassign-ip")?.follows).toEqual(
      expect.arrayContaining([find("close-ports")?.id, find("remove-from-firewall")?.id]),
    );
    expect(find("remove-finalizer")?.requires).toEqual(expect.arrayContaining([find("close-ports")?.id]));
  });

  test("is nothing of a deleted one with Retain", () => {
    const retained = serving({ isDeleting: true, finalizers: ["example.com/other"] });
    expect(steady([retained], OPEN).filter((line) => line.includes("firewall") || line.includes("ports"))).toEqual([]);
  });

  test("leaves a former firewall once the new one is in place", () => {
    const moved = serving({ firewall: "new" });
    const next = aFirewall({ id: "fw-new", name: "new" });
    const observation = anObservation({
      pools: [moved],
      nodes: [onN1],
      addresses: [known(A, { holderID: "101" })],
      firewalls: [firewallFacts([OPEN, next])],
    });
    const { actions } = plan(observation, {});
    expect(actions.map(({ kind }) => kind)).toEqual([
      "open-ports",
      "add-to-firewall",
      "close-ports",
      "remove-from-firewall",
    ]);
    const closing = actions.find(({ kind }) => kind === "close-ports");
    expect(closing?.requires).toEqual(expect.arrayContaining(["add-to-firewall routedip/ingress/vip new"]));
  });
});

describe("DNS of a RoutedIP", () => {
  const world = (shown: readonly string[], firewalls: FirewallFacts): Observation =>
    anObservation({
      pools: [serving({ spec: { dnsRecordSet: WWW } })],
      nodes: [onN1],
      addresses: [known(A, { holderID: "101" })],
      dns: [dnsFacts({ "www.example.com": [...shown] })],
      firewalls: [firewalls],
    });
  const dnsLines = (observation: Observation): readonly string[] =>
    planText(observation).filter((line) => line.includes("dns"));

  test("does not get an address whose ports stay closed, and does not lose one either", () => {
    const full = { ...firewallFacts([aFirewall({ machineIDs: ["101"] })]), limits: { rules: 0, machines: 10 } };
    expect(dnsLines(world([], full))).toEqual(["hold update-dns www.example.com: NothingToPublish"]);
    expect(dnsLines(world([A], full))).toEqual([]);
  });

  test.for([
    ["a port is opened", aFirewall({ machineIDs: ["101"] }), ["open-ports routedip/ingress/vip web"]],
    ["its node is put behind it", aFirewall({ open: ["tcp/80"] }), ["add-to-firewall routedip/ingress/vip web"]],
    ["both are done", aFirewall(), ["open-ports routedip/ingress/vip web", "add-to-firewall routedip/ingress/vip web"]],
  ] as const)("gets the address in the plan in which %s, behind that", ([, firewall, first]) => {
    const observation = world([], firewallFacts([firewall]));
    expect(dnsLines(observation)).toEqual([`update-dns www.example.com {} -> {${A}}/60: RecordsDiffer`]);
    const write = plan(observation, {}).actions.find(({ kind }) => kind === "update-dns");
    expect(write?.requires).toEqual(first);
  });

  test("keeps a record that it has already while its port is opened again", () => {
    expect(dnsLines(world([A], firewallFacts([aFirewall({ machineIDs: ["101"] })])))).toEqual([]);
  });

  test("keeps what a name shows until the firewall lets the new address in", () => {
    const observation = world(["192.0.2.9"], firewallFacts([aFirewall({ machineIDs: ["101"] })]));
    expect(dnsLines(observation)).toEqual([`update-dns www.example.com {192.0.2.9}/60 -> {${A}}/60: RecordsDiffer`]);
    const write = plan(observation, {}).actions.find(({ kind }) => kind === "update-dns");
    expect(write?.requires).toEqual(["open-ports routedip/ingress/vip web"]);
  });

  test("of a record set that publishes annotations gets the address behind its firewall, too", () => {
    const recordSet = aRecordSet({ spec: { addressType: ADDRESS_ANNOTATION } });
    const observation = {
      ...world([A], firewallFacts([aFirewall({ machineIDs: ["101"] })])),
      recordSets: [recordSet],
      dns: new Map([["digitalocean", dnsFacts({ "www.example.com": [A], "nodes.example.com": [] })]]),
    };
    const write = plan(observation, {}).actions.find(({ kind }) => kind === "update-dns");
    expect([write?.id, write?.requires]).toEqual([
      "update-dns dns/ingress/nodes nodes.example.com digitalocean",
      ["open-ports routedip/ingress/vip web"],
    ]);
  });
});

test("a port that no firewall can open is told, and stops nothing", () => {
  const observation = anObservation({
    pools: [aRoutedIP({ spec: { ips: [A] }, unusable: ["SCTP/5000"] })],
    nodes: nodes(1),
    addresses: [known(A)],
    firewalls: [firewallFacts([OPEN])],
  });
  expect(planText(observation)).toEqual([
    `assign-ip ${A} to n1: NodeMatched`,
    `annotate-node n1 with ${A}: Verified`,
    "hold open-ports firewall web: UnusablePort (SCTP/5000)",
  ]);
});

test("two RoutedIPs that need a port whose rule somebody replaced do not take it over from one another for ever", () => {
  const narrow = { ...OPEN, rules: OPEN.rules.map((rule) => ({ ...rule, isPlain: false })) };
  const second = aRoutedIP({ name: "second" });
  const memories = memoryAfter([serving(), second], narrow, "second");
  expect(memories).toBeUndefined();
});

test("what its issuer says is on record also for a RoutedIP whose provider cannot be asked", () => {
  const pool = aRoutedIP({ spec: { ips: [A], reclaimPolicy: "Delete", provider: "nowhere" } });
  const [planned] = plan(anObservation({ pools: [pool] }), {}).pools;
  expect(planned?.status.issuer).toEqual(pool.issuer);
});

test("the last free rule of a firewall is planned for one RoutedIP, and no address goes where another port would be shut", () => {
  const pools = [aRoutedIP({ spec: { ips: [A] } }), aRoutedIP({ name: "web", spec: { ips: [B] }, ports: ["tcp/443"] })];
  const lines = planText(
    anObservation({
      pools,
      nodes: nodes(2),
      addresses: [known(A), known(B)],
      firewalls: [firewallFacts([aFirewall({ ruleCount: 49 })])],
    }),
  );
  expect(lines.filter((line) => line.startsWith("open-ports"))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith("assign-ip"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes("hold") && line.includes("FirewallFull"))).not.toEqual([]);
});

test("a former firewall keeps everything while an address that is locked is not behind the new one", () => {
  const next = aFirewall({ id: "fw-new", name: "new" });
  const observation = anObservation({
    pools: [serving({ firewall: "new" })],
    nodes: [onN1],
    addresses: [known(A, { holderID: "101", isLocked: true })],
    firewalls: [firewallFacts([OPEN, next])],
  });
  const { actions } = plan(observation, {});
  expect(actions.filter(({ kind }) => kind === "close-ports" || kind === "remove-from-firewall")).toEqual([]);
});

describe("a former firewall", () => {
  const next = aFirewall({ id: "fw-new", name: "new" });
  const closing = (pools: readonly Pool[], facts: readonly Firewall[]): readonly (readonly string[])[] => {
    const addresses = [known(A, { holderID: "101" }), known(B, { holderID: "102" })];
    const observation = anObservation({ pools, nodes: [onN1, n2], addresses, firewalls: [firewallFacts(facts)] });
    return plan(observation, {}).actions.flatMap((one) => (one.kind === "close-ports" ? [one.requires] : []));
  };

  test("keeps everything while the new one waits for another try", () => {
    const retries = [
      { subject: "firewall/fw-new", attempts: 1, nextAttemptTime: new Date(NOW + 60_000).toISOString(), error: "no" },
    ];
    expect(closing([serving({ firewall: "new", status: { retries } })], [OPEN, next])).toEqual([]);
  });

  test("keeps a port that two share until the new one is in step for both", () => {
    const status = { ips: { [B]: active(102) }, firewalls: [memoryOf(["tcp/80"], ["102"])] };
    const second = aRoutedIP({ name: "second", firewall: "new", spec: { ips: [B] }, status });
    const both = aFirewall({ open: ["tcp/80"], machineIDs: ["101", "102"] });
    expect(closing([serving({ firewall: "new" }), second], [both, next])).toEqual([]);
  });

  test("keeps a port that another object added and that serves one which is not behind the new one yet", () => {
    const status = { ips: { [B]: active(102) }, firewalls: [memoryOf([], ["102"])] };
    const second = aRoutedIP({ name: "second", firewall: "new", spec: { ips: [B] }, status });
    const going = serving({
      isDeleting: true,
      finalizers: ["flipop.digitalocean.com/cleanup"],
      spec: { reclaimPolicy: "Delete" },
    });
    const both = aFirewall({ open: ["tcp/80"], machineIDs: ["101", "102"] });
    expect(closing([going, second], [both, next])).toEqual([]);
  });
});

test("a deletion says that another one is to take over what it needs", () => {
  const going = serving({
    isDeleting: true,
    finalizers: ["flipop.digitalocean.com/cleanup"],
    spec: { reclaimPolicy: "Delete" },
  });
  const { firewalls: _none, ...status } = serving({ status: { ips: { [B]: active(102) } } }).status;
  const other = { ...serving({ name: "other", spec: { ips: [B] } }), status };
  const observation = anObservation({
    pools: [going, other],
    nodes: [onN1, n2],
    addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
    firewalls: [firewallFacts([aFirewall({ open: ["tcp/80"], machineIDs: ["101", "102"] })])],
  });
  expect(planText(observation)).toContain(
    "hold remove-finalizer routedip/ingress/vip: FirewallPending (another RoutedIP needs what was added to a firewall for this one, and is to take it over)",
  );
});
