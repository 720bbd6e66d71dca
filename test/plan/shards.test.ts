import { expect, test } from "vitest";
import { type Action, isAssign, refKey } from "../../src/model/action.ts";
import { changesAddress } from "../../src/model/action-kinds.ts";
import { ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { ObjectMeta } from "../../src/model/resource.ts";
import { isOfShard, partOf, SHARD_LABEL } from "../../src/model/shard.ts";
import { plan } from "../../src/plan/plan.ts";
import { shardOf } from "../../src/plan/shards.ts";
import { aNode, anObservation, aPool, known, NOW, nodes } from "./builders.ts";
import { aRecordSet, dnsFacts } from "./dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts, memoryOf } from "./firewall-builders.ts";
import { planText } from "./plan-text.ts";
import { randomDNSWorld } from "./random-dns-world.ts";
import { randomFirewallWorld } from "./random-firewall-world.ts";
import { randomWorld } from "./random-world.ts";

const IP = (last: number): string => `203.0.113.${last}`;

/** An object with the label of a shard. */
function of<T extends { readonly meta: ObjectMeta }>(shard: string, object: T): T {
  return { ...object, meta: { ...object.meta, labels: { [SHARD_LABEL]: shard } } };
}

const active = (
  ip: string,
  node: number,
): Record<string, { state: "active"; nodeName: string; providerID: string }> => ({
  [ip]: { state: "active", nodeName: `n${node}`, providerID: `digitalocean://${100 + node}` },
});

test("of two pools that wait for nodes each shard sends its own address, and to the node that the other one's does not go to", () => {
  const world = anObservation({
    pools: [
      of("a", aPool({ name: "p1", createdAtMs: 1, spec: { ips: [IP(1)] } })),
      aPool({ name: "p2", spec: { ips: [IP(2)] } }),
    ],
    nodes: nodes(2),
    addresses: [known(IP(1)), known(IP(2))],
  });
  expect(planText(world, { shard: "a" })).toContain("assign-ip 203.0.113.1 to n1: NodeMatched");
  expect(planText(world, { shard: "a" }).join()).not.toContain(IP(2));
  expect(planText(world)).toContain("assign-ip 203.0.113.2 to n2: NodeMatched");
  expect(planText(world).join()).not.toContain(IP(1));
  expect(planText(world, { shard: "b" })).toEqual([]);
});

test("a numbered shard works for what has no label in the namespaces that fall to it", () => {
  const inNamespace = (namespace: string, last: number): ReturnType<typeof aPool> => {
    const pool = aPool({ name: "web", spec: { ips: [IP(last)] } });
    return { ...pool, meta: { ...pool.meta, namespace, uid: namespace } };
  };
  const pools = ["a", "b", "c", "d"].map((namespace, at) => inNamespace(namespace, at + 1));
  const world = anObservation({
    pools: [...pools, of("x", inNamespace("e", 5))],
    nodes: nodes(5),
    addresses: [1, 2, 3, 4, 5].map((last) => known(IP(last))),
  });
  for (const part of [1, 2]) {
    const sent = plan(world, { shard: `${part}/2` }).actions.filter(isAssign);
    expect(sent.map(({ object }) => object.namespace)).toEqual(
      ["a", "b", "c", "d"].filter((name) => partOf(name, 2) === part),
    );
  }
});

test("an address leaves a machine that another shard's needs in the process whose it is; the other one waits, and then sends its own", () => {
  const released = { ip: IP(1), providerID: "digitalocean://101" };
  const former = of("a", aPool({ name: "p1", spec: { ips: [IP(9)] }, status: { released: [released] } }));
  const world = (holder: Record<string, string>): Observation =>
    anObservation({
      pools: [former, aPool({ name: "p2", spec: { ips: [IP(2)] } })],
      nodes: nodes(1),
      addresses: [known(IP(1), holder), known(IP(2)), [IP(9), { kind: "gone" }]],
    });
  const before = world({ holderID: "101" });
  expect(planText(before, { shard: "a" })).toContain("unassign-ip 203.0.113.1 from n1: DropletNeeded");
  const waiting = plan(before, {});
  expect(waiting.actions.map(({ id }) => id)).toEqual([]);
  expect(waiting.holds).toMatchObject([
    {
      kind: "assign-ip",
      subject: IP(2),
      reason: "OtherShard",
      detail: "pool/ingress/p1, of another shard, comes first: unassign 203.0.113.1",
      needsPerson: false,
    },
  ]);
  expect(planText(world({}))).toContain("assign-ip 203.0.113.2 to n1: NodeMatched");
});

test("an address stays while another shard's record set shows it, and leaves once that has left it out", () => {
  const pool = of(
    "a",
    aPool({
      spec: { ips: [], desiredIPs: 1, reclaimPolicy: "Delete" },
      isDeleting: true,
      finalizers: ["flipop.digitalocean.com/cleanup"],
      status: { acquired: [{ ip: IP(1), acquiredAt: "2026-01-01T00:00:00Z" }], ips: active(IP(1), 1) },
    }),
  );
  const spec = { addressType: ADDRESS_ANNOTATION };
  const world = (shown: readonly string[]): Observation =>
    anObservation({
      pools: [pool, aPool({ name: "p2", spec: { ips: [IP(2)] }, status: { ips: active(IP(2), 2) } })],
      recordSets: [
        aRecordSet({
          spec,
          status: {
            publishedDNS: {
              provider: "digitalocean",
              zone: "example.com",
              name: "nodes.example.com",
              addresses: shown,
            },
          },
        }),
      ],
      nodes: [
        aNode({ addressAnnotation: IP(1), poolAnnotation: "ingress/web" }),
        aNode({ name: "n2", droplet: 102, addressAnnotation: IP(2), poolAnnotation: "ingress/p2" }),
      ],
      addresses: [known(IP(1), { holderID: "101" }), known(IP(2), { holderID: "102" })],
      dns: [dnsFacts({ "nodes.example.com": shown })],
    });
  const both = world([IP(1), IP(2)]);
  expect(
    plan(both, { shard: "a" }).actions.filter(({ kind }) => kind === "unassign-ip" || kind === "delete-ip"),
  ).toEqual([]);
  expect(planText(both)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^(update|withdraw)-dns nodes\.example\.com .* -> \{203\.0\.113\.2\}/),
    ]),
  );
  expect(planText(world([IP(2)]), { shard: "a" })).toContain("unassign-ip 203.0.113.1 from n1: PoolDeleted");
});

test("a name does not wait for an address that only another shard can send: what is dead leaves it all the same", () => {
  const pool = of(
    "a",
    aPool({ spec: { ips: [IP(1), IP(2)] }, status: { ips: { ...active(IP(1), 1), ...active(IP(2), 2) } } }),
  );
  const addresses = [known(IP(1), { holderID: "101" }), known(IP(2), { holderID: "102" })];
  const annotated = (number: number, isReady: boolean): ReturnType<typeof aNode> =>
    aNode({
      name: `n${number}`,
      droplet: 100 + number,
      addressAnnotation: IP(number),
      poolAnnotation: "ingress/web",
      ready: { isReady, sinceMs: NOW - 60_000 },
    });
  const world = anObservation({
    pools: [pool],
    recordSets: [aRecordSet({ spec: { addressType: ADDRESS_ANNOTATION } })],
    nodes: [annotated(1, false), annotated(2, true), aNode({ name: "n3", droplet: 103 })],
    addresses,
    dns: [dnsFacts({ "nodes.example.com": [IP(1), IP(2)] })],
  });
  expect(planText(world, { shard: "a" })).toContain("move-ip 203.0.113.1 from n1 to n3: HolderLost");
  const dns = plan(world, {}).actions;
  expect(dns.map(({ kind }) => kind)).toEqual(["update-dns"]);
  expect(dns[0]?.requires).toEqual([]);
  expect(planText(world)[0]).toContain("-> {203.0.113.2}");
});

test("what a name leaves out of another shard's addresses stands in its own status: the other one's is not written", () => {
  const pool = of(
    "a",
    aPool({ spec: { ips: [IP(1), IP(2)] }, status: { ips: { ...active(IP(1), 1), ...active(IP(2), 2) } } }),
  );
  const world = (labels: boolean): Observation =>
    anObservation({
      pools: [labels ? pool : { ...pool, meta: { ...pool.meta, labels: {} } }],
      recordSets: [aRecordSet({ spec: { addressType: ADDRESS_ANNOTATION } })],
      nodes: [
        aNode({
          addressAnnotation: IP(1),
          poolAnnotation: "ingress/web",
          ready: { isReady: false, sinceMs: NOW - 60_000 },
        }),
        aNode({ name: "n2", droplet: 102, addressAnnotation: IP(2), poolAnnotation: "ingress/web" }),
      ],
      addresses: [known(IP(1), { holderID: "101" }), known(IP(2), { holderID: "102" })],
      dns: [dnsFacts({ "nodes.example.com": [IP(1), IP(2)] })],
    });
  expect(plan(world(true), {}).recordSets[0]?.status.leftDNS).toMatchObject([{ address: IP(1) }]);
  expect(plan(world(false), {}).recordSets[0]?.status.leftDNS).toBeUndefined();
});

test("a firewall is changed by one shard: that of what is on record there, else of the senior object that names it", () => {
  const routed = (name: string, last: number, memory: boolean): ReturnType<typeof aRoutedIP> =>
    aRoutedIP({
      name,
      createdAtMs: NOW - last * 1000,
      spec: { ips: [IP(last)], desiredIPs: 0 },
      status: memory ? { firewalls: [memoryOf(["tcp/80"], ["101"])] } : {},
    });
  const world = (hasMemory: boolean): Observation =>
    anObservation({
      pools: [of("a", routed("young", 1, hasMemory)), routed("old", 2, false)],
      nodes: nodes(2),
      addresses: [known(IP(1)), known(IP(2))],
      firewalls: [firewallFacts([aFirewall()])],
    });
  const changes = (shard: string | undefined, hasMemory: boolean): readonly string[] =>
    plan(world(hasMemory), shard === undefined ? {} : { shard }).actions.flatMap(({ kind }) =>
      kind.includes("firewall") || kind.includes("ports") || kind === "assign-ip" ? [kind] : [],
    );
  const all = ["open-ports", "add-to-firewall", "assign-ip"];
  expect(changes(undefined, false).toSorted()).toEqual(all.toSorted());
  expect(changes("a", false)).toEqual([]);
  expect(changes("a", true)).toContain("assign-ip");
  expect(changes(undefined, true)).toEqual([]);
  const held = plan(world(true), {}).holds.filter(({ reason }) => reason === "OtherShard");
  expect(held[0]).toMatchObject({
    needsPerson: true,
    detail: "firewall web is changed for routedip/ingress/young, of another shard, and by one process alone",
  });
});

test("the limit of a run counts its own purchases; those of others are theirs", () => {
  const world = anObservation({
    pools: [
      of("a", aPool({ name: "p1", createdAtMs: 1, spec: { desiredIPs: 1 } })),
      aPool({ name: "p2", spec: { desiredIPs: 1 } }),
    ],
    nodes: nodes(2),
    provider: { addressLimit: 10 },
  });
  const restraint = { limits: { purchases: 1 }, begun: { purchases: 0, taken: new Map() } };
  const bought = plan({ ...world, restraint }, {}).actions.filter(({ kind }) => kind === "acquire-ip");
  expect(bought.map(({ object }) => refKey(object))).toEqual(["pool/ingress/p2"]);
});

const SHARDS = [undefined, "a", "b"] as const;
const WORLDS = { addresses: randomWorld, names: randomDNSWorld, firewalls: randomFirewallWorld } as const;

/** The objects of a world in turn without a label, of shard `a`, and of shard `b`. */
function labelled(world: Observation): Observation {
  const label = <T extends { readonly meta: ObjectMeta }>(object: T, at: number): T => {
    const shard = SHARDS[at % SHARDS.length];
    return shard === undefined ? object : of(shard, object);
  };
  return { ...world, pools: world.pools.map(label), recordSets: world.recordSets.map((one, at) => label(one, at + 1)) };
}

test.for(Object.keys(WORLDS) as (keyof typeof WORLDS)[])(
  "in random worlds of %s each shard does what one process would do for its objects, and nothing that rests on another one's action",
  (kind) => {
    let done = 0;
    let waiting = 0;
    for (let seed = 1; seed <= 150; seed += 1) {
      const world = WORLDS[kind](seed);
      const whole = new Map(plan(world, {}).actions.map((action) => [action.id, action]));
      const split = labelled(world);
      const plans = SHARDS.map((shard) => plan(split, shard === undefined ? {} : { shard }));
      for (const [at, made] of plans.entries()) checkOwn(made, SHARDS[at], split, whole, `seed ${seed}`);
      const sent = plans.flatMap(({ actions }) => actions.filter(isAssign));
      expect(new Set(sent.map(({ after }) => after.machineID)).size, `seed ${seed}`).toBe(sent.length);
      expect(new Set(sent.map(({ ip }) => ip)).size, `seed ${seed}`).toBe(sent.length);
      done += sent.length;
      waiting += plans.flatMap(({ holds }) => holds.filter(({ reason }) => reason === "OtherShard")).length;
    }
    expect(done).toBeGreaterThan(20);
    // No address of the first kind of worlds has to make room.
    if (kind !== "addresses") expect(waiting).toBeGreaterThan(0);
  },
);

function checkOwn(
  made: Plan,
  shard: string | undefined,
  { pools, recordSets }: Observation,
  whole: ReadonlyMap<string, Action>,
  where: string,
): void {
  const metas = new Map([
    ...pools.map(({ kind, meta }) => [refKey({ kind, ...meta }), meta] as const),
    ...recordSets.map(({ meta }) => [refKey({ kind: "dns", ...meta }), meta] as const),
  ]);
  const own = (key: string): boolean =>
    isOfShard(metas.get(key) ?? { namespace: "ingress", labels: {} }, shardOf(shard === undefined ? {} : { shard }));
  const ids = new Set(made.actions.map(({ id }) => id));
  for (const action of made.actions) {
    expect(own(refKey(action.object)), `${where}: ${action.id}`).toBe(true);
    expect(
      action.requires.filter((id) => !ids.has(id)),
      `${where}: ${action.id}`,
    ).toEqual([]);
    if (changesAddress(action))
      expect(whole.get(action.id), `${where}: ${action.id}`).toMatchObject({ kind: action.kind, after: action.after });
  }
  for (const { object } of [...made.pools, ...made.recordSets]) expect(own(refKey(object)), where).toBe(true);
}
