import { describe, expect, test } from "vitest";
import type { PastEvent } from "../../src/model/change.ts";
import { ADDRESS_ANNOTATION, IPV6_ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import type { Observation } from "../../src/model/observation.ts";
import { SHARD_LABEL } from "../../src/model/shard.ts";
import { planWorld } from "../../src/reconcile.ts";
import { anonymize } from "../../src/snapshot/anonymize.ts";
import { Names, nameParts } from "../../src/snapshot/anonymous-names.ts";
import { readSnapshot, type Snapshot, writeSnapshot } from "../../src/snapshot/snapshot.ts";
import { randomDNSWorld } from "../plan/random-dns-world.ts";
import { randomFirewallWorld, randomWholeFirewallWorld } from "../plan/random-firewall-world.ts";
import { randomWorld } from "../plan/random-world.ts";
import { afterRoutedFailure } from "../report/routed-world.ts";
import { afterFailure, aNode, aRecordSet } from "../report/world.ts";
import { checkAnonymized, storedOf } from "./check-anonymized.ts";

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed + 1);

/** Random worlds of every kind. */
function worldsOf(seed: number): readonly Observation[] {
  return [randomWorld(seed), randomDNSWorld(seed), randomFirewallWorld(seed), randomWholeFirewallWorld(seed)];
}

describe("the plan of a world with other names is its plan with these names", () => {
  test.for([
    ["after a failure", afterFailure()],
    ["with routed IPs", afterRoutedFailure()],
  ] as const)("%s", ([, observation]) => checkAnonymized(observation));

  test.for(SEEDS)("of random worlds, seed %i", (seed) => {
    for (const observation of worldsOf(seed)) checkAnonymized(observation);
  });
});

test("an object that is of a shard by its label is so with other names, too: a plan leaves it to that shard", () => {
  const world = afterFailure();
  const pools = world.pools.map((pool) => ({ ...pool, meta: { ...pool.meta, labels: { [SHARD_LABEL]: "vip" } } }));
  const observation = { ...world, pools };
  const { written, by } = anonymize({ observation, stored: storedOf(observation) });
  const { registry, cluster: name } = observation;
  const { observation: other } = readSnapshot(JSON.parse(JSON.stringify(written)), { name, registry });
  expect(planWorld(other, {}).plan.pools).toEqual([]);
  const [shard, ...others] = new Set(other.pools.map(({ meta }) => meta.labels[SHARD_LABEL] ?? ""));
  expect([shard, others]).toEqual([by("name", "vip"), []]);
  expect(planWorld(other, { shard: shard ?? "" }).plan.pools).toHaveLength(pools.length);
  checkAnonymized(observation);
});

test.for(["ExternalIP", "InternalIP", ADDRESS_ANNOTATION, IPV6_ADDRESS_ANNOTATION])(
  "a record set of addressType %s is as valid with other names",
  (addressType) => {
    const world = { ...afterFailure(), recordSets: [aRecordSet("nodes", { spec: { addressType } })] };
    expect(planWorld(world, {}).plan.recordSets[0]?.status.error).toContain(": it was not read");
    checkAnonymized(world);
  },
);

/** A snapshot with a name that nobody knows in every text that it has, alone, between signs and in a sentence. */
function planted(snapshot: Snapshot, form: (name: string, text: string) => string): Snapshot {
  let count = 0;
  const { registry, cluster: name } = snapshot.observation;
  const written = writeSnapshot(snapshot, (_, text) => {
    count += 1;
    return form(`pl4nted${count}`, text);
  });
  expect(count).toBeGreaterThan(100);
  return readSnapshot(JSON.parse(JSON.stringify(written)), { name, registry });
}

describe("no name survives", () => {
  const worlds = [
    afterFailure(),
    afterRoutedFailure(),
    ...SEEDS.slice(0, 10).flatMap((seed) => [randomDNSWorld(seed), randomFirewallWorld(seed)]),
  ];
  const stored = (observation: Observation): Snapshot["stored"] => ({
    ...storedOf(observation),
    lease: {
      holder: "laptop",
      renewTimeMs: 1,
      annotations: { "flipop.digitalocean.com/last-result": "0 done", "flipop.digitalocean.com/totals": "{}" },
    },
    leaseError: "no",
    events: [EVENT],
    eventsError: "no",
    workloads: [{ kind: "CronJob", name: "flipop", schedule: "* * * * *", timeZone: "UTC", isSuspended: false }],
  });
  test.for([
    ["alone", (name: string) => name],
    ["behind what was there", (name: string, text: string) => `${text} ${name}`],
    ["before what was there", (name: string, text: string) => `${name}/${text}`],
    [
      "in a sentence",
      (name: string, text: string) => `${text}: the machine "${name}" of ${name.toUpperCase()}-x was not found`,
    ],
    ["in capital letters, with signs", (name: string) => `ÄB-${name.toUpperCase()}_${name}@Größe`],
    [
      "behind a word that stays",
      (name: string, text: string) =>
        `digitalocean://${name} in (${name}) ip/${name} k8s-${name} node.kubernetes.io/not-ready${name} ${text}`,
    ],
  ] as const)("planted %s in every text", ([, form]) => {
    for (const observation of worlds) {
      const { written } = anonymize(planted({ observation, stored: stored(observation) }, form));
      expect(JSON.stringify(written).match(/pl4nted|Größe|größe|ÄB/giu)).toBeNull();
    }
  });
});

const EVENT: PastEvent = {
  object: { kind: "pool", namespace: "ingress", name: "web" },
  type: "Normal",
  reason: "AssignmentChanged",
  action: "MoveIP",
  note: "Moved 203.0.113.10 from worker-1 to worker-5.",
  firstMs: 1,
  lastMs: 2,
  count: 1,
  controller: "flipop.digitalocean.com/flipop",
  instance: "flipop-1",
};

test("words that flipop has stay in sentences, names in them become the new ones, and all other words are left out", () => {
  const observation = afterFailure();
  const { by } = anonymize({ observation, stored: storedOf(observation) });
  const sentence = by(
    "sentence",
    "DigitalOcean answered 403: acme may not assign 203.0.113.10 to worker-2 since 2026-08-01T12:00:00Z.",
  );
  expect(sentence).toBe(
    `DigitalOcean answered 403: … may not assign ${by("name", "203.0.113.10")} to ${by("name", "worker-2")} since 2026-08-01T12:00:00Z.`,
  );
});

test.for([
  ["4 addresses are published, 60 s ago (403).", "4 addresses are published, 60 s ago (403)."],
  ["(+203.0.113.10 -203.0.113.11, TTL 60 s)", /^\(\+198\.18\.100\.\d+ -198\.18\.100\.\d+, TTL 60 s\)$/],
  ["nodes.example.com is taken by dns/shop/nodes", /^n2\d+\.n2\d+\.n2\d+ is taken by dns\/….*\/n2\d+$/],
  ["pool/ingress/web waits", /^pool\/n2\d+\/n2\d+ waits$/],
  ["worker-4 matches", /^n2\d+-2\d+ matches$/],
] as const)("the sentence %s keeps figures and loses names", ([text, wanted]) => {
  const { pools, ...world } = afterFailure();
  const named = { provider: "digitalocean", zone: "example.com", recordName: "nodes", ttlSeconds: 60 };
  const observation = {
    ...world,
    pools: pools.map((pool) => ({ ...pool, spec: { ...pool.spec, dnsRecordSet: named } })),
    nodes: [...world.nodes, aNode(4)],
  };
  const { by } = anonymize({ observation, stored: storedOf(observation) });
  if (typeof wanted === "string") expect(by("sentence", text)).toBe(wanted);
  else expect(by("sentence", text)).toMatch(wanted);
});

test("of what runs flipop the schedules stay and the names go", () => {
  const observation = afterFailure();
  const workloads = ["0 8-18/2 * * mon-fri", "@hourly", "", "TZ=Asia/Tokyo * * * * *", "flip op"].map((schedule) => {
    return { kind: "CronJob" as const, name: "flipop", schedule, timeZone: "Europe/Vienna", isSuspended: false };
  });
  const { written } = anonymize({ observation, stored: { ...storedOf(observation), workloads } });
  const { workloads: shown } = written.stored as unknown as { readonly workloads: typeof workloads };
  const kept = shown.map(({ schedule }) => schedule);
  expect(kept.slice(0, 3)).toEqual(["0 8-18/2 * * mon-fri", "@hourly", ""]);
  expect(JSON.stringify(shown)).not.toMatch(/flip|op\b|Vienna|Europe|Tokyo|Asia/);
});

describe("names", () => {
  const NAMES = [
    "web-10",
    "web-2",
    "web",
    "web2",
    "ingress/web",
    "ingress-2/web",
    "ingress2/web",
    "a.b",
    "a-b.c",
    "10",
    "9",
    "9xk2f",
    "28391",
    "_acme",
    "x",
    "007",
  ];
  const parts = new Set<string>();
  const addresses = new Set<string>();
  for (const name of [...NAMES, "203.0.113.9", "203.0.113.10", "9.9.9.9"]) nameParts(name, { parts, addresses });
  const names = new Names(parts, addresses, () => false);

  test("sort as they did, alone and inside of longer texts", () => {
    for (const suffix of ["", "/x", ".x", "-x", " x"]) {
      const before = NAMES.map((name) => name + suffix).toSorted();
      expect(before.map((name) => names.of(name))).toEqual(NAMES.map((name) => names.of(name + suffix)).toSorted());
    }
    const ips = ["203.0.113.10", "203.0.113.9", "9.9.9.9"];
    expect(ips.map((ip) => names.of(ip))).toEqual(["198.18.100.100", "198.18.100.101", "198.18.100.102"]);
  });

  test("sort as they did among those that stay, alone and inside of longer texts", () => {
    for (const kept of [["fsn1"], ["ash", "fsn1", "nbg1"], ["webhook"], ["ash", "zz"]]) {
      const all = [...NAMES, ...kept, "fsn1-worker-1", "nbg1-worker-1", "fsn2", "alpha", "zeta"];
      const known = { parts: new Set<string>(), addresses: new Set<string>() };
      for (const name of all) nameParts(name, known);
      const some = new Names(known.parts, known.addresses, () => false, kept);
      expect(kept.map((name) => some.of(name))).toEqual(kept);
      for (const suffix of ["", "/x", ".x", "-x", " x"]) {
        const before = all.map((name) => name + suffix).toSorted();
        expect(before.map((name) => some.of(name))).toEqual(all.map((name) => some.of(name + suffix)).toSorted());
      }
    }
  });

  test.for([
    ["2026-08-01T12:00:00Z", "2026-08-01T12:00:00Z"],
    ["topology.kubernetes.io/zone=x", /^topology\.kubernetes\.io\/zone=n2\d+$/],
    ["x in (a, b)", /^n2\d+ in \(n2\d+, n2\d+\)$/],
    ["007", /^02\d+$/],
    ["nobody", "…"],
    ["203.0.113.10.x", /^…\.…\.…\.2\d+\.n2\d+$/],
  ] as const)("%s becomes %s", ([text, wanted]) => {
    expect(names.of(text)).toEqual(typeof wanted === "string" ? wanted : expect.stringMatching(wanted));
  });
});
