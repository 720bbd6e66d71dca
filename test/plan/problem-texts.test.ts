import { describe, expect, test } from "vitest";
import type { AddressFact } from "../../src/model/address.ts";
import type { FirewallFact } from "../../src/model/firewall.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Condition, IPStatus, Pool } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, aPool, known, NOW, nodes } from "./builders.ts";
import { aRecordSet, dnsFacts, WWW } from "./dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts } from "./firewall-builders.ts";
import { randomWorld } from "./random-world.ts";

const A = "203.0.113.1";
const B = "203.0.113.2";
const C = "203.0.113.3";

const active = (droplet: number): IPStatus => ({
  state: "active",
  nodeName: `n${droplet - 100}`,
  providerID: `digitalocean://${droplet}`,
});

function conditionOf(observation: Observation, type: string, name = "web"): Condition | undefined {
  const { pools, recordSets } = plan(observation, {});
  const found = [...pools, ...recordSets].find(({ object }) => object.name === name);
  return found?.status.conditions.find((condition) => condition.type === type);
}

/** `REASON: message`, or `False`. */
function stalled(observation: Observation, name = "web"): string {
  const condition = conditionOf(observation, "Stalled", name);
  return condition?.status === "True" ? `${condition.reason}: ${condition.message}` : String(condition?.status);
}

const beyondLimit = (spec: Partial<Pool["spec"]>): Observation =>
  anObservation({
    pools: [aPool({ spec: { ips: [A, B, C], ...spec }, status: { ips: { [A]: active(101) } } })],
    nodes: nodes(5),
    addresses: [known(A, { holderID: "101" }), known(B), known(C), known("192.0.2.1", { holderID: "9" })],
    provider: { addressLimit: 4 },
  });

describe("the condition Stalled", () => {
  test("says how many addresses are missing, why, and what to do", () => {
    expect(stalled(beyondLimit({ desiredIPs: 5 }))).toBe(
      "QuotaExceeded: 2 of 5 addresses are missing: the account's limit of 4 reserved addresses is reached. Ask the provider for a higher limit, or lower desiredIPs.",
    );
    expect(stalled(beyondLimit({ desiredIPs: 4 }))).toMatch(
      /^QuotaExceeded: 1 of 4 addresses is missing: the account's/,
    );
  });

  test("of a pool that is to have one address does not advise to want less", () => {
    const pools = [aPool({ spec: { ips: [], desiredIPs: 1, region: "nyc3" } })];
    expect(stalled(anObservation({ pools, nodes: nodes(1), provider: { addressLimit: 0 } }))).toBe(
      "QuotaExceeded: 1 of 1 address is missing: the account's limit of 0 reserved addresses is reached. Ask the provider for a higher limit.",
    );
  });

  test("of a RoutedIP names its fields", () => {
    const observation = anObservation({
      pools: [aRoutedIP({ firewall: "", spec: { region: "nyc3" } })],
      nodes: nodes(1),
      provider: { addressLimit: 0 },
    });
    expect(stalled(observation, "vip")).toBe(
      "QuotaExceeded: its address is missing: the account's limit of 0 reserved addresses is reached. Ask the provider for a higher limit, or name an address of the account in spec.address.",
    );
  });

  test.for([
    [
      "an address that the account does not have",
      anObservation({ pools: [aPool({ spec: { ips: [A] } })], nodes: nodes(1), addresses: [[A, { kind: "gone" }]] }),
      `IPNotFound: ${A}: The provider does not know the address. Remove it from spec.ips, or check that the token belongs to the right account.`,
    ],
    [
      "an address of another object",
      anObservation({
        pools: [aPool({ name: "first", createdAtMs: 1, spec: { ips: [A] } }), aPool({ spec: { ips: [A] } })],
        nodes: nodes(1),
        addresses: [known(A)],
      }),
      `Conflict: ${A}: It is owned by pool ingress/first, which is older. Remove it from one of the two objects.`,
    ],
    [
      "an address on a machine outside the cluster",
      anObservation({
        pools: [aPool({ spec: { ips: [A] } })],
        nodes: nodes(1),
        addresses: [known(A, { holderID: "9001" })],
      }),
      `ForeignHolder: ${A}: The address is on a machine that never was a node of this cluster: machine 9001. Take it off that machine, or set spec.foreignHolder: TakeOver.`,
    ],
    [
      "a zone that the token does not see",
      anObservation({
        pools: [aPool({ spec: { ips: [A], dnsRecordSet: WWW } })],
        nodes: nodes(1),
        addresses: [known(A)],
        dns: [dnsFacts({}, { zoneFact: { kind: "missing" } })],
      }),
      "ZoneNotFound: www.example.com: The account has no such zone: digitalocean shows no zone example.com to this token. Create the zone, correct dnsRecordSet.zone, or use a token that may see it.",
    ],
  ] as const)("names %s and what to do", ([, observation, text]) => {
    expect(stalled(observation)).toBe(text);
  });

  const gone = (ip: string): [string, AddressFact] => [ip, { kind: "gone" }];
  const NOT_FOUND =
    "The provider does not know the address. Remove it from spec.ips, or check that the token belongs to the right account.";
  const BAD_NAME =
    'n n: The object\'s DNS settings cannot be used: recordName "n n" is not a DNS name. Correct its dnsRecordSet.';
  const badName = { dnsRecordSet: { ...WWW, recordName: "n n" } };

  test("tells everything that waits for a person, each cause once with all that it concerns", () => {
    const pools = [aPool({ spec: { ips: [A, B, "bad"], ...badName } })];
    const world = anObservation({ pools, nodes: nodes(2), addresses: [gone(A), gone(B)], dns: [dnsFacts({})] });
    expect(stalled(world)).toBe(
      `IPNotFound: ${A} and ${B}: ${NOT_FOUND} Also InvalidIP: bad: It is not a canonical IPv4 address. Correct or remove the entry in spec.ips. Also InvalidDNS: ${BAD_NAME}`,
    );
    expect(conditionOf(world, "Ready")).toMatchObject({
      reason: "IPNotFound",
      message: `No address is active. ${A} and ${B}: ${NOT_FOUND}`,
    });
  });

  test("counts what does not fit", () => {
    const foreign = Array.from({ length: 7 }, (_, at) => known(`203.0.113.${at + 1}`, { holderID: `90${at}` }));
    const pools = [aPool({ spec: { ips: foreign.map(([ip]) => ip) } })];
    const text = stalled(anObservation({ pools, nodes: nodes(1), addresses: foreign }));
    expect(text.match(/ Also ForeignHolder: /g)).toHaveLength(4);
    expect(text).toMatch(/ And 2 more: flipop plan tells them\.$/);
  });

  test("says of an entry that stands in spec.ips several times once what to do", () => {
    const pools = [aPool({ spec: { ips: [A, A, A] }, status: { ips: { [A]: active(101) } } })];
    const observation = anObservation({ pools, nodes: nodes(1), addresses: [known(A, { holderID: "101" })] });
    expect(plan(observation, {}).holds.filter(({ reason }) => reason === "DuplicateIP")).toHaveLength(1);
    expect(stalled(observation)).toBe(
      `DuplicateIP: ${A}: The address is listed more than once. Keep one of its entries in spec.ips.`,
    );
  });

  test("of a firewall that is not there names it and what to do", () => {
    const observation = anObservation({
      pools: [aRoutedIP({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [known(A)],
      firewalls: [{ ...firewallFacts([aFirewall()]), firewalls: new Map([["web", { kind: "gone" }]]) }],
    });
    expect(stalled(observation, "vip")).toBe(
      "FirewallNotFound: firewall web: The account has no such firewall: web. Create it, or correct routedIPFirewallName of the issuer.",
    );
  });

  test("never says only that something is held, in any world", () => {
    for (let seed = 1; seed <= 150; seed += 1) {
      for (const { status } of plan(randomWorld(seed), {}).pools)
        for (const { message } of status.conditions) expect(message).not.toMatch(/is held|: *$|^ *$/);
    }
  });
});

describe("the condition Ready of a pool on whose addresses nothing serves", () => {
  test.for<readonly [string, string, readonly [string, AddressFact]]>([
    ["the account does not have them", "IPNotFound", [A, { kind: "gone" }]],
    ["they are on machines outside the cluster", "ForeignHolder", known(A, { holderID: "9001" })],
  ])("has the reason for which a person must act where %s", ([, reason, [ip, fact]]) => {
    const observation = anObservation({
      pools: [aPool({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [[ip, fact]],
    });
    const ready = conditionOf(observation, "Ready");
    expect(ready).toMatchObject({ status: "False", reason });
    expect(ready?.message).toMatch(/^No address is active\. 203\.0\.113\.1: The /);
  });

  test("says in whole sentences that nothing can be bought", () => {
    const observation = anObservation({ pools: [aRoutedIP({ firewall: "" })] });
    expect(conditionOf(observation, "Ready", "vip")?.message).toBe(
      "No address is active. Its address is missing: no node waits for a new address, and region of the issuer is not set. Free a matching node, or set region of the issuer to acquire an address that waits for one.",
    );
  });

  test("tells what is wrong with its firewall, without which no node may take the address", () => {
    const observation = anObservation({
      pools: [aRoutedIP({ spec: { ips: [A] } })],
      nodes: nodes(1),
      addresses: [known(A)],
      firewalls: [
        { ...firewallFacts([aFirewall()]), firewalls: new Map([["web", { kind: "gap", error: "no answer" }]]) },
      ],
    });
    expect(conditionOf(observation, "Ready", "vip")).toMatchObject({
      status: "False",
      message: "No address is active. Firewall web: It could not be read in this pass: no answer.",
    });
  });

  test("and so does the hold of the address, which waits for a node", () => {
    const holdsWith = (web: FirewallFact): readonly unknown[] => {
      const observation = anObservation({
        pools: [aRoutedIP({ spec: { ips: [A] } })],
        nodes: nodes(2),
        addresses: [known(A)],
        firewalls: [{ ...firewallFacts([aFirewall()]), firewalls: new Map([["web", web]]) }],
      });
      return plan(observation, {}).holds.filter(({ kind }) => kind === "assign-ip");
    };
    expect(holdsWith({ kind: "gap", error: "no answer" })).toEqual([
      expect.objectContaining({
        subject: A,
        reason: "NoCandidate",
        detail: "firewall web keeps each of them away: it could not be read in this pass: no answer",
        waitsFor: "node",
        needsPerson: false,
      }),
    ]);
    expect(holdsWith({ kind: "gone" })).toEqual([
      expect.objectContaining({
        detail: "firewall web keeps each of them away: the account has no such firewall: web",
      }),
    ]);
  });

  test("is NoActiveIP where no person is needed", () => {
    const observation = anObservation({ pools: [aPool({ spec: { ips: [A] } })], addresses: [known(A)] });
    expect(conditionOf(observation, "Ready")).toMatchObject({ reason: "NoActiveIP", message: "No address is active." });
  });
});

describe("the condition Ready of a pool whose addresses could not be looked at", () => {
  const gap: AddressFact = { kind: "gap", error: "no answer" };
  const stored = { [A]: active(101), [B]: active(102) };
  const ready = (
    addresses: readonly (readonly [string, AddressFact])[],
    ips: Readonly<Record<string, IPStatus>> = stored,
  ): Condition | undefined =>
    conditionOf(
      anObservation({
        pools: [aPool({ spec: { ips: [A, B] }, status: { ips } })],
        nodes: nodes(2).map((node, at) => ({
          ...node,
          addressAnnotation: at === 0 ? A : B,
          poolAnnotation: "ingress/web",
        })),
        addresses: addresses.map(([ip, fact]): [string, AddressFact] => [ip, fact]),
      }),
      "Ready",
    );

  test("does not tell as a fact how many are active", () => {
    expect(ready([known(A, { holderID: "101" }), known(B, { holderID: "102" })])).toMatchObject({
      status: "True",
      message: "2 addresses are active.",
    });
    expect(ready([known(A, { holderID: "101" }), [B, gap]])).toMatchObject({
      status: "True",
      message: "1 address is active. 1 address could not be read; it was active when last seen.",
    });
    expect(
      ready([
        [A, gap],
        [B, gap],
      ]),
    ).toMatchObject({
      status: "True",
      message: "2 addresses could not be read; they were active when last seen.",
    });
  });

  test("says that none is known to be active where none was", () => {
    const away: IPStatus = { state: "unassigned" };
    expect(
      ready(
        [
          [A, gap],
          [B, gap],
        ],
        { [A]: away, [B]: away },
      )?.message,
    ).toBe("No address is known to be active; 2 addresses could not be read.");
  });
});

describe("the condition Ready while an address and a node wait for each other", () => {
  const waiting = (status: Partial<Pool["status"]>, spec: Partial<Pool["spec"]> = {}): string | undefined =>
    conditionOf(
      anObservation({
        pools: [aPool({ spec: { ips: [A, B], ...spec }, status: { ips: { [A]: active(101) }, ...status } })],
        nodes: nodes(2),
        addresses: [known(A, { holderID: "101" }), known(B)],
      }),
      "Ready",
    )?.message;

  test("names the address and the node that a change is planned for", () => {
    expect(waiting({})).toBe(`${B} and node n2 wait for each other.`);
  });

  test("is True where only an annotation is missing", () => {
    const observation = anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { ips: { [A]: active(101) } } })],
      nodes: nodes(1),
      addresses: [known(A, { holderID: "101" })],
    });
    expect(conditionOf(observation, "Ready")).toMatchObject({ status: "True", message: "1 address is active." });
    expect(conditionOf(observation, "Reconciling")?.status).toBe("True");
  });

  test("names the address and why it waits", () => {
    const later = new Date(NOW + 60_000).toISOString();
    const retries = [{ subject: `ip/${B}`, attempts: 3, nextAttemptTime: later, error: "refused" }];
    expect(waiting({ retries })).toBe(
      `${B} and a node that could take it wait for each other. The last attempt failed and the next one is not due: refused.`,
    );
    const lastAssignmentTime = new Date(NOW - 1000).toISOString();
    expect(waiting({ lastAssignmentTime }, { assignmentCoolOffSeconds: 20 })).toBe(
      `CoolOff until ${new Date(NOW + 19_000).toISOString().replace(".000Z", "Z")}: n2 gets ${B} then.`,
    );
  });
});

describe("the condition Ready of a name", () => {
  test("names the owner of the name and what to do", () => {
    const observation = anObservation({
      nodes: [aNode({ addresses: [{ type: "ExternalIP", address: A }] })],
      recordSets: [aRecordSet({ createdAtMs: 1 }), aRecordSet({ name: "rival" })],
      dns: [dnsFacts({ "nodes.example.com": [A] })],
    });
    expect(conditionOf(observation, "Ready", "rival")?.message).toBe(
      "nodes.example.com: It is owned by dns ingress/nodes, which is older. Remove it from one of the two objects.",
    );
  });
});

describe("what is said of a node whose machine carries an address", () => {
  test("knows the owner of an address that was found again after a lost answer in this pass", () => {
    const startedAt = new Date(NOW - 4000).toISOString();
    const intent = { startedAt, providerID: "digitalocean://101", nodeName: "n1", knownIPs: [B] };
    const observation = anObservation({
      pools: [
        aPool({ name: "buyer", spec: { desiredIPs: 1 }, status: { pendingAcquisitions: [intent] } }),
        aPool({ spec: { ips: [B] } }),
      ],
      nodes: nodes(2),
      addresses: [known(A, { holderID: "101" }), known(B)],
    });
    const { pools } = plan(observation, {});
    expect(pools.find(({ object }) => object.name === "buyer")?.status.ips[A]).toMatchObject({ nodeName: "n1" });
    expect(pools.find(({ object }) => object.name === "web")?.skipped).toEqual([
      { nodeName: "n1", reason: "NodeHasOtherIP", detail: A },
    ]);
  });
});

describe("the status of an address that is parked", () => {
  const since = NOW - 60_000;
  const failed = aNode({ ready: { isReady: false, sinceMs: since } });
  const parked = (
    spec: Partial<Pool["spec"]>,
    others: Parameters<typeof anObservation>[0]["nodes"],
  ): IPStatus | undefined => {
    const observation = anObservation({
      pools: [
        aPool({
          spec: { ips: [A], ...spec },
          status: { ips: { [A]: active(101) }, lastAssignmentTime: new Date(since).toISOString() },
        }),
      ],
      nodes: [failed, ...(others ?? [])],
      addresses: [known(A, { holderID: "101" })],
    });
    return plan(observation, {}).pools[0]?.status.ips[A];
  };

  test("names its node, since when that does not match and why, where no other node can take it", () => {
    expect(parked({}, [])).toMatchObject({
      state: "no-match",
      nodeName: "n1",
      reason: "NoCandidate",
      error: "n1 does not match (not ready) since 2026-08-01T11:59:00Z, and no other node can take it",
    });
  });

  test("says that a node is gone", () => {
    const observation = anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { ips: { [A]: active(101) } } })],
      addresses: [known(A, { holderID: "101" })],
    });
    expect(plan(observation, {}).pools[0]?.status.ips[A]).toMatchObject({
      reason: "NoCandidate",
      error: "machine 101 is no node of this cluster any more, and no other node can take it",
    });
  });

  test("waits for a move where another node can take it, and for the cool-off where that runs", () => {
    const n2 = aNode({ name: "n2", droplet: 102 });
    expect(parked({}, [n2])).toMatchObject({ reason: "HolderLost" });
    expect(parked({}, [n2])).not.toHaveProperty("error");
    expect(parked({ assignmentCoolOffSeconds: 600 }, [n2])).toMatchObject({ reason: "CoolOff" });
  });
});

describe("an annotation that is cleared", () => {
  test("because its address is on a foreign machine says so, and does not wait for DNS as what is given up does", () => {
    const observation = anObservation({
      pools: [aPool({ spec: { ips: [A], dnsRecordSet: WWW }, status: { ips: { [A]: active(101) } } })],
      nodes: [aNode({ addressAnnotation: A, poolAnnotation: "ingress/web" })],
      addresses: [known(A, { holderID: "9001" })],
      dns: [dnsFacts({ "www.example.com": [A] }, { unusable: { kind: "rate-limited", message: "later" } })],
    });
    const clearing = plan(observation, {}).actions.find(({ kind }) => kind === "clear-annotation");
    expect(clearing).toMatchObject({ reason: "ForeignHolder", holder: { machineID: "9001" } });
  });
});

describe("foreignRecords", () => {
  const OTHER = "198.51.100.9";
  const held = (foreignRecords: string): Observation =>
    anObservation({
      pools: [
        aPool({ spec: { ips: [A], dnsRecordSet: { ...WWW, foreignRecords } }, status: { ips: { [A]: active(101) } } }),
      ],
      nodes: nodes(1),
      addresses: [known(A, { holderID: "101" })],
      dns: [dnsFacts({ "www.example.com": [OTHER] })],
    });

  test("of another value is an error of the DNS part alone", () => {
    const { pools, actions } = plan(held("Keep"), {});
    expect(pools[0]?.status.error).toBe('foreignRecords "Keep" must be Adopt, Hold or Share');
    expect(actions.map(({ kind }) => kind)).toEqual(["annotate-node"]);
  });

  test("Hold names the addresses, and the field that would end it", () => {
    expect(stalled(held("Hold"))).toBe(
      "ForeignRecords: www.example.com: 198.51.100.9 is there, and no object has it on record. Remove them at the provider, or set dnsRecordSet.foreignRecords: Adopt to have them replaced, or Share if another cluster publishes them.",
    );
  });
});
