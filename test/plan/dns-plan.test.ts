import { describe, expect, test } from "vitest";
import type { AddressFact } from "../../src/model/address.ts";
import type { DNSFacts, ZoneFact } from "../../src/model/dns.ts";
import { whyHeld } from "../../src/model/hold.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import { ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import type { Observation } from "../../src/model/observation.ts";
import {
  FINALIZER,
  type IPStatus,
  type Pool,
  type PoolSpec,
  type PoolStatus,
  type PublishedName,
} from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, aPool, known, NOW, nodes } from "./builders.ts";
import { aRecordSet, dnsFacts, type RecordSetParts, records, WWW } from "./dns-builders.ts";
import { planText } from "./plan-text.ts";

const A = "203.0.113.1";
const B = "203.0.113.2";
const C = "203.0.113.3";
const FQDN = "www.example.com";
const MINE: PublishedName = { provider: "digitalocean", zone: "example.com", name: FQDN, addresses: [A] };

const active = (droplet: number): IPStatus => ({
  state: "active",
  nodeName: `n${droplet - 100}`,
  providerID: `digitalocean://${droplet}`,
});

const annotated = (droplet: number, ip: string, rest: Partial<NodeFacts> = {}): NodeFacts =>
  aNode({ name: `n${droplet - 100}`, droplet, addressAnnotation: ip, poolAnnotation: "ingress/web", ...rest });

function pool(spec: Partial<PoolSpec>, status: Partial<PoolStatus> = {}, rest: Partial<Pool["meta"]> = {}): Pool {
  const built = aPool({ spec: { dnsRecordSet: WWW, ...spec }, status });
  return { ...built, meta: { ...built.meta, ...rest } };
}

/** One pool whose address A is active on n1, annotated and published. */
function steady(parts: {
  readonly spec?: Partial<PoolSpec>;
  readonly status?: Partial<PoolStatus>;
  readonly dns?: DNSFacts;
  readonly nodes?: readonly NodeFacts[];
}): Observation {
  return anObservation({
    pools: [pool({ ips: [A], ...parts.spec }, { ips: { [A]: active(101) }, publishedDNS: MINE, ...parts.status })],
    nodes: parts.nodes ?? [annotated(101, A)],
    addresses: [known(A, { holderID: "101" }), known(B)],
    dns: [parts.dns ?? dnsFacts({ [FQDN]: [A] })],
  });
}

/** DNS in which the zone of the tests is missing, and another one is there. */
function withZone(name: string): DNSFacts {
  const facts = dnsFacts({}, { zoneFact: { kind: "missing" } });
  return { ...facts, zones: new Map([...facts.zones, [name, { kind: "known", zone: { id: name, name } }]]) };
}

describe("a pool's name", () => {
  test("is left alone when its records are the active addresses", () => {
    expect(planText(steady({}))).toEqual([]);
  });

  test("gets the addresses once they are assigned and annotated", () => {
    const world = anObservation({
      pools: [pool({ ips: [A, B] })],
      nodes: nodes(2),
      addresses: [known(A), known(B)],
      dns: [dnsFacts({ [FQDN]: [] })],
    });
    expect(planText(world)).toEqual([
      `assign-ip ${A} to n1: NodeMatched`,
      `assign-ip ${B} to n2: NodeMatched`,
      `annotate-node n1 with ${A}: Verified`,
      `annotate-node n2 with ${B}: Verified`,
      `update-dns ${FQDN} {} -> {${A} ${B}}/60: RecordsDiffer`,
    ]);
    const { actions } = plan(world, {});
    const write = actions.find(({ kind }) => kind === "update-dns");
    expect(write?.requires).toEqual([`assign-ip pool/ingress/web ${A}`, `assign-ip pool/ingress/web ${B}`]);
    expect(write?.follows).toEqual(["annotate-node pool/ingress/web n1", "annotate-node pool/ingress/web n2"]);
  });

  test.for([
    ["an address was added by hand", [A, C], `{${A} ${C}}/60 -> {${A}}/60: RecordsDiffer`],
    ["an address was replaced by hand", [C], `{${C}}/60 -> {${A}}/60: RecordsDiffer`],
    ["the records were deleted by hand", [], `{} -> {${A}}/60: RecordsDiffer`],
    ["the TTL was changed by hand", records(FQDN, [A], { ttlSeconds: 300 }), `{${A}}/300 -> {${A}}/60: TTLDiffers`],
    [
      "an address stands there twice",
      records(FQDN, [A], { hasDuplicates: true }),
      `{${A}}/60 -> {${A}}/60: RecordsDiffer`,
    ],
  ] as const)("is repaired when %s", ([, found, expected]) => {
    expect(planText(steady({ dns: dnsFacts({ [FQDN]: found }) }))).toEqual([`update-dns ${FQDN} ${expected}`]);
  });

  test("ignores the TTL where the provider decides it", () => {
    const dns = dnsFacts({ [FQDN]: records(FQDN, [A], { ttlSeconds: 300, isTTLAutomatic: true }) });
    expect(planText(steady({ dns }))).toEqual([]);
  });

  test("raises a TTL below the least the provider accepts, and says so", () => {
    const world = steady({
      spec: { dnsRecordSet: { ...WWW, ttlSeconds: 20 } },
      dns: dnsFacts({ [FQDN]: records(FQDN, [A], { ttlSeconds: 30 }) }),
    });
    expect(planText(world)).toEqual([]);
    expect(plan(world, {}).pools[0]?.status.conditions[0]?.message).toBe(
      "1 address is active. TTL 20 was raised to 30, the least digitalocean accepts.",
    );
  });

  test("keeps its records when no address is active", () => {
    const world = steady({ nodes: [annotated(101, A, { ready: { isReady: false } })] });
    expect(planText(world)).toEqual([
      "clear-annotation n1: HolderLost",
      `hold assign-ip ${A}: NoCandidate`,
      `hold update-dns ${FQDN}: NothingToPublish`,
    ]);
    expect(plan(world, {}).pools[0]?.status).toMatchObject({
      conditions: [{ type: "Ready", status: "False", reason: "NoActiveIP" }, {}, {}],
      publishedDNS: MINE,
    });
  });

  test("neither adds nor removes an address that cannot be read", () => {
    const world = anObservation({
      pools: [pool({ ips: [A, B] }, { ips: { [A]: active(101), [B]: active(102) }, publishedDNS: MINE })],
      nodes: [annotated(101, A), annotated(102, B)],
      addresses: [[A, { kind: "gap", error: "500" }], known(B, { holderID: "102" })],
      dns: [dnsFacts({ [FQDN]: [A] })],
    });
    expect(planText(world)).toEqual([
      `update-dns ${FQDN} {${A}}/60 -> {${A} ${B}}/60: RecordsDiffer`,
      `hold assign-ip ${A}: Unreadable (500)`,
    ]);
  });

  test("remembers its last failure while an address that it shows cannot be read, and forgets it once it is right", () => {
    const retries = [
      { subject: `dns/digitalocean/${FQDN}`, attempts: 1, nextAttemptTime: "2026-08-01T12:01:00Z", error: "422" },
    ];
    const world = anObservation({
      pools: [pool({ ips: [A, B] }, { ips: { [A]: active(101), [B]: active(102) }, publishedDNS: MINE, retries })],
      nodes: [annotated(101, A), annotated(102, B)],
      addresses: [known(A, { holderID: "101" }), [B, { kind: "gap", error: "500" }]],
      dns: [dnsFacts({ [FQDN]: [A, B] })],
    });
    expect(plan(world, {}).pools[0]?.status.retries).toEqual(retries);
    const providers = anObservation({ addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })] });
    expect(plan({ ...world, providers: providers.providers }, {}).pools[0]?.status.retries).toEqual([]);
  });

  test("remembers its last failure while the zone of its id cannot be read", () => {
    const zone = "5ababd603b22780302dd8d83498e5172";
    const retries = [
      { subject: `dns/digitalocean/${FQDN}`, attempts: 1, nextAttemptTime: "2026-08-01T12:01:00Z", error: "409" },
    ];
    const world = steady({
      spec: { dnsRecordSet: { ...WWW, zone, provider: "cloudflare" } },
      status: { retries },
      dns: dnsFacts(
        {},
        { name: "cloudflare", zones: new Map([[zone, { kind: "gap", error: "401", isRefused: true }]]) },
      ),
    });
    expect(plan(world, {}).pools[0]?.status.retries).toEqual(retries);
  });

  test("loses an address without a holder as soon as another is active", () => {
    const world = anObservation({
      pools: [
        pool(
          { ips: [A, B] },
          { ips: { [A]: active(101), [B]: active(102) }, publishedDNS: { ...MINE, addresses: [A, B] } },
        ),
      ],
      nodes: [annotated(101, A, { ready: { isReady: false } }), annotated(102, B)],
      addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
      dns: [dnsFacts({ [FQDN]: [A, B] })],
    });
    expect(planText(world)).toEqual([
      `update-dns ${FQDN} {${A} ${B}}/60 -> {${B}}/60: RecordsDiffer`,
      "clear-annotation n1: HolderLost",
      `hold assign-ip ${A}: NoCandidate`,
    ]);
  });

  test("keeps an address that moves to a waiting node", () => {
    const world = steady({
      nodes: [annotated(101, A, { ready: { isReady: false } }), aNode({ name: "n2", droplet: 102 })],
    });
    expect(planText(world)).toEqual([
      `move-ip ${A} from n1 to n2: HolderLost`,
      `annotate-node n2 with ${A}: Verified`,
      "clear-annotation n1: HolderLost",
    ]);
  });

  test.for([
    [
      "the zone is not in the account",
      dnsFacts({}, { zoneFact: { kind: "missing" } }),
      "ZoneNotFound (digitalocean shows no zone example.com to this token)",
    ],
    [
      "the zone is not in the account, and one that another object names is written nearly so",
      withZone("exmaple.com"),
      "ZoneNotFound (digitalocean shows no zone example.com to this token; it shows exmaple.com)",
    ],
    [
      "the zone is not in the account, and the account has one that is written nearly so",
      dnsFacts({}, { zoneFact: { kind: "missing", near: "exampel.com" } }),
      "ZoneNotFound (digitalocean shows no zone example.com to this token; it shows exampel.com)",
    ],
    [
      "the zone is not in the account, and those that are there have other names",
      withZone("example.net"),
      "ZoneNotFound (digitalocean shows no zone example.com to this token)",
    ],
    [
      "the zone cannot be read",
      dnsFacts({}, { zoneFact: { kind: "gap", error: "500", isRefused: false } }),
      "Unreadable (500)",
    ],
    [
      "the token may not read the zone",
      dnsFacts({}, { zoneFact: { kind: "gap", error: "403", isRefused: true } }),
      "ProviderUnavailable (403)",
    ],
    ["the records cannot be read", dnsFacts({ [FQDN]: "502" }), "Unreadable (502)"],
    [
      "the provider has no token",
      dnsFacts({}, { unusable: { kind: "no-access", message: "set X" } }),
      "ProviderUnavailable (set X)",
    ],
    [
      "the provider asked for no calls",
      dnsFacts({}, { unusable: { kind: "rate-limited", message: "429", notBeforeMs: NOW + 20_000 } }),
      "RateLimited (429) for 20s",
    ],
  ] as const)("is held while %s", ([, dns, why]) => {
    expect(planText(steady({ dns }))).toEqual([`hold update-dns ${FQDN}: ${why}`]);
    expect(plan(steady({ dns }), {}).pools[0]?.status).toMatchObject({
      publishedDNS: MINE,
      ips: { [A]: active(101) },
      conditions: [{ type: "Ready", status: "False" }, {}, {}],
    });
  });

  test.for([
    [{ ...WWW, provider: "ferengi" }, 'unknown provider "ferengi"'],
    [{ ...WWW, zone: "" }, "invalid dnsRecordSet specification"],
    [{ ...WWW, recordName: "" }, "invalid dnsRecordSet specification"],
    [{ ...WWW, recordName: "a b" }, 'recordName "a b" is not a DNS name'],
    [{ ...WWW, recordName: "www.example.org." }, 'recordName "www.example.org." is outside the zone example.com'],
  ] as const)("with bad settings %j is an error of DNS alone", ([dnsRecordSet, error]) => {
    const world = steady({ spec: { dnsRecordSet } });
    expect(planText(world)).toEqual([expect.stringContaining(`InvalidDNS (${error})`)]);
    expect(plan(world, {}).pools[0]?.status).toMatchObject({
      error,
      publishedDNS: MINE,
      ips: { [A]: { state: "active" } },
    });
  });

  test("is retried by schedule after a failure", () => {
    const nextAttemptTime = new Date(NOW + 5000).toISOString();
    const retries = [{ subject: `dns/digitalocean/${FQDN}`, attempts: 3, nextAttemptTime, error: "500" }];
    expect(planText(steady({ status: { retries }, dns: dnsFacts({ [FQDN]: [] }) }))).toEqual([
      `hold update-dns ${FQDN}: Backoff (500) for 5s`,
    ]);
  });
});

describe("take-down", () => {
  /** A is on n1 and published; the spec lists B instead, whose machine is gone, so that B waits for nobody; C serves on n2. */
  const swap = (
    published: readonly string[],
    status: Partial<PoolStatus> = {},
    dns = dnsFacts({ [FQDN]: published }),
  ): Observation =>
    anObservation({
      pools: [
        pool(
          { ips: [B, C] },
          {
            ips: { [A]: active(101), [B]: active(103), [C]: active(102) },
            publishedDNS: { ...MINE, addresses: [...published] },
            ...status,
          },
        ),
      ],
      nodes: [annotated(101, A), annotated(102, C)],
      addresses: [known(A, { holderID: "101" }), known(B), known(C, { holderID: "102" })],
      dns: [dns],
    });

  test("takes an address out of DNS, then its annotation, then it is unassigned, before the next one comes in", () => {
    expect(planText(swap([A, C]))).toEqual([
      `withdraw-dns ${FQDN} {${A} ${C}}/60 -> {${C}}/60: LeavesDNSFirst`,
      `assign-ip ${B} to n1: NodeMatched`,
      `annotate-node n1 with ${B}: Verified`,
      `update-dns ${FQDN} {${C}}/60 -> {${B} ${C}}/60: RecordsDiffer`,
      `unassign-ip ${A} from n1: DropletNeeded`,
    ]);
    const unassign = plan(swap([A, C]), {}).actions.find(({ kind }) => kind === "unassign-ip");
    expect(unassign?.requires).toEqual([`withdraw-dns pool/ingress/web ${FQDN} digitalocean`]);
  });

  test("shows what moves to a node of the name once it is there, though it serves where it is", () => {
    const status = (ip: string, droplet: number): Partial<PoolStatus> => ({ ips: { [ip]: active(droplet) } });
    const world = anObservation({
      pools: [
        aPool({
          name: "old",
          isDeleting: true,
          finalizers: [FINALIZER],
          spec: { desiredIPs: 1, reclaimPolicy: "Delete" },
          status: { ...status(A, 101), acquired: [{ ip: A, acquiredAt: "2026-08-01T11:00:00Z" }] },
        }),
        aPool({ name: "other", spec: { ips: [B] }, status: status(B, 103) }),
        aPool({ name: "web", spec: { ips: [C] }, status: status(C, 102) }),
      ],
      nodes: [
        annotated(101, A, { poolAnnotation: "ingress/old" }),
        annotated(102, C, { taints: [{ key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" }] }),
        annotated(103, B, { poolAnnotation: "ingress/other" }),
      ],
      addresses: [known(A), known(B, { holderID: "103" }), known(C, { holderID: "102" })],
      recordSets: [
        aRecordSet({ spec: { provider: "digitalocean", dnsRecordSet: WWW, addressType: ADDRESS_ANNOTATION } }),
      ],
      dns: [dnsFacts({ [FQDN]: [A, B] })],
    });
    expect(planText(world).filter((line) => line.includes("-dns ") || line.startsWith("move"))).toEqual([
      `withdraw-dns ${FQDN} {${A} ${B}}/60 -> {${B}}/60: LeavesDNSFirst`,
      `update-dns ${FQDN} {${B}}/60 -> {${B} ${C}}/60: RecordsDiffer`,
      `move-ip ${C} from n2 to n1: HolderLost`,
    ]);
  });

  test("leaves a name's only address until the new one is in", () => {
    expect(planText(swap([A]))).toContain(`unassign-ip ${A} from n1: DropletNeeded`);
    const world = anObservation({
      pools: [pool({ ips: [B] }, { ips: { [A]: active(101) }, publishedDNS: MINE })],
      nodes: [annotated(101, A)],
      addresses: [known(A, { holderID: "101" }), known(B)],
      dns: [dnsFacts({ [FQDN]: [A] })],
    });
    expect(planText(world)).toEqual([
      `assign-ip ${B} to n1: NodeMatched`,
      `annotate-node n1 with ${B}: Verified`,
      `update-dns ${FQDN} {${A}}/60 -> {${B}}/60: RecordsDiffer`,
      `unassign-ip ${A} from n1: DropletNeeded`,
    ]);
  });

  test("withdraws nothing when only a record that nobody serves would be left", () => {
    const world = anObservation({
      pools: [pool({ ips: [B] }, { ips: { [A]: active(101) }, publishedDNS: MINE })],
      nodes: [annotated(101, A)],
      addresses: [known(A, { holderID: "101" }), known(B)],
      dns: [dnsFacts({ [FQDN]: [A, "192.0.2.99"] })],
    });
    expect(planText(world).filter((line) => line.includes("dns"))).toEqual([
      `update-dns ${FQDN} {192.0.2.99 ${A}}/60 -> {${B}}/60: RecordsDiffer`,
    ]);
  });

  test("sends no client to a dead address while another one is exchanged", () => {
    const dead = "192.0.2.99";
    expect(planText(swap([A, C], {}, dnsFacts({ [FQDN]: [A, C, dead] })))).toEqual([
      `withdraw-dns ${FQDN} {${dead} ${A} ${C}}/60 -> {${C}}/60: LeavesDNSFirst`,
      `assign-ip ${B} to n1: NodeMatched`,
      `annotate-node n1 with ${B}: Verified`,
      `update-dns ${FQDN} {${C}}/60 -> {${B} ${C}}/60: RecordsDiffer`,
      `unassign-ip ${A} from n1: DropletNeeded`,
    ]);
  });

  test("exchanges the addresses of a name one after another, so that one always serves", () => {
    const D = "203.0.113.4";
    const world = anObservation({
      pools: [
        pool(
          { ips: [C, D] },
          {
            ips: { [A]: active(101), [B]: active(102), [C]: active(103), [D]: active(104) },
            publishedDNS: { ...MINE, addresses: [A, B] },
          },
        ),
      ],
      nodes: [annotated(101, A), annotated(102, B)],
      addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" }), known(C), known(D)],
      dns: [dnsFacts({ [FQDN]: [A, B] })],
    });
    expect(planText(world)).toEqual([
      `withdraw-dns ${FQDN} {${A} ${B}}/60 -> {${B}}/60: LeavesDNSFirst`,
      `assign-ip ${C} to n1: NodeMatched`,
      `annotate-node n1 with ${C}: Verified`,
      `update-dns ${FQDN} {${B}}/60 -> {${C}}/60: RecordsDiffer`,
      `unassign-ip ${A} from n1: DropletNeeded`,
      `hold unassign-ip ${B}: LastServing (${FQDN})`,
    ]);
  });

  test("gives no address back that a name still shows", () => {
    const acquired = [A, B].map((ip) => ({ ip, acquiredAt: "2026-08-01T00:00:00Z" }));
    const world = anObservation({
      pools: [
        pool(
          { desiredIPs: 1, reclaimPolicy: "Delete" },
          { acquired, ips: { [A]: active(101), [B]: active(102) }, publishedDNS: { ...MINE, addresses: [A, B] } },
          { finalizers: ["flipop.digitalocean.com/cleanup"] },
        ),
      ],
      nodes: [],
      addresses: [known(A), known(B)],
      dns: [dnsFacts({ [FQDN]: [A, B] })],
    });
    expect(planText(world)).toEqual([
      `hold assign-ip ${A}: NoCandidate`,
      `hold delete-ip ${B}: StillPublished (${FQDN})`,
      `hold update-dns ${FQDN}: NothingToPublish`,
    ]);
  });

  test("waits while the address cannot be taken out of DNS", () => {
    expect(planText(swap([A, C], {}, dnsFacts({ [FQDN]: "500" })))).toEqual([
      `hold assign-ip ${B}: NoCandidate`,
      `hold update-dns ${FQDN}: Unreadable (500)`,
    ]);
  });

  test("waits for nobody's zone that is gone", () => {
    expect(planText(swap([A, C], {}, dnsFacts({}, { zoneFact: { kind: "missing" } })))).toContain(
      `unassign-ip ${A} from n1: DropletNeeded`,
    );
  });

  test("of a deleted pool removes its records, then its addresses, then the finalizer", () => {
    const acquired = [{ ip: A, acquiredAt: "2026-08-01T00:00:00Z" }];
    const world = anObservation({
      pools: [
        pool(
          { desiredIPs: 1, reclaimPolicy: "Delete" },
          { acquired, ips: { [A]: active(101) }, publishedDNS: MINE },
          { isDeleting: true, finalizers: ["flipop.digitalocean.com/cleanup"] },
        ),
      ],
      nodes: [annotated(101, A)],
      addresses: [known(A, { holderID: "101" })],
      dns: [dnsFacts({ [FQDN]: [A, C] })],
    });
    expect(planText(world)).toEqual([
      "clear-annotation n1: PoolDeleted",
      `delete-dns ${FQDN} {${A} ${C}}/60 -> {${C}}/60: ObjectDeleted`,
      `unassign-ip ${A} from n1: PoolDeleted`,
      `delete-ip ${A}: ReclaimDelete`,
      "remove-finalizer ingress/web: NothingToReclaim",
    ]);
    const { actions } = plan(world, {});
    expect(actions.find(({ kind }) => kind === "unassign-ip")?.requires).toEqual([
      `delete-dns pool/ingress/web ${FQDN} digitalocean`,
    ]);
    expect(actions.find(({ kind }) => kind === "clear-annotation")?.follows).toEqual([
      `delete-dns pool/ingress/web ${FQDN} digitalocean`,
    ]);
    expect(actions.at(-1)?.requires).toContain(`delete-dns pool/ingress/web ${FQDN} digitalocean`);
  });

  const LATER = new Date(NOW + 60_000).toISOString();

  /** A pool that goes, whose name another pool asks for that has never published there. */
  const succeeded = (heir: Pool, ofHeir: AddressFact = { kind: "gone" }): Observation =>
    anObservation({
      pools: [
        pool(
          { ips: [A], reclaimPolicy: "Delete" },
          { ips: { [A]: active(101) }, publishedDNS: MINE },
          { isDeleting: true, finalizers: ["flipop.digitalocean.com/cleanup"] },
        ),
        heir,
      ],
      nodes: nodes(2),
      addresses: [known(A), known(B, { holderID: "102" }), [C, ofHeir]],
      dns: [dnsFacts({ [FQDN]: [A] })],
    });
  const heir = (status: Partial<PoolStatus> = {}): Pool =>
    aPool({ name: "heir", spec: { ips: [B], dnsRecordSet: WWW }, status });

  /** The same, where the address is given back to the provider with the pool. */
  const succeededByNothing = (heirs: Partial<Observation>, ofHeir?: AddressFact): Observation => {
    const { pools, ...world } = succeeded(heir(), ofHeir);
    const acquired = [{ ip: A, acquiredAt: "2026-08-01T00:00:00Z" }];
    const leaving = pools
      .slice(0, 1)
      .map((own) => ({ ...own, spec: { ...own.spec, ips: [], desiredIPs: 1 }, status: { ...own.status, acquired } }));
    return { ...world, ...heirs, pools: [...leaving, ...(heirs.pools ?? [])] };
  };

  test("of a deleted pool goes over as it is to another one that asks for it and has nothing to publish, once that has it on record", () => {
    const world = succeeded({ ...heir(), spec: { ...heir().spec, ips: [C] } });
    const text = planText(world);
    expect(text).toContain(`hold delete-dns ${FQDN}: NewNameFirst`);
    expect(text.filter((line) => /^(delete-dns|remove-finalizer)/.test(line))).toEqual([]);
    const [, after] = plan(world, {}).pools.toSorted(
      (a, b) => (a.status.publishedDNS ? 1 : 0) - (b.status.publishedDNS ? 1 : 0),
    );
    expect(after?.status.publishedDNS).toEqual(MINE);
    const [own, other] = world.pools;
    const pools =
      own === undefined || other === undefined || after === undefined ? [] : [own, { ...other, status: after.status }];
    const next = planText({ ...world, pools });
    expect(next.filter((line) => line.startsWith("delete-dns"))).toEqual([]);
    expect(next).toContain("remove-finalizer ingress/web: NothingToReclaim");
  });

  test("of a deleted record set waits for a pool that asks for it and cannot be worked on just now", () => {
    const deleted = aRecordSet({
      isDeleting: true,
      finalizers: ["flipop.digitalocean.com/cleanup"],
      spec: { reclaimPolicy: "Delete", dnsRecordSet: WWW },
      status: { publishedDNS: MINE },
    });
    const parts = { pools: [heir()], recordSets: [deleted], nodes: nodes(2), dns: [dnsFacts({ [FQDN]: [A] })] };
    const unusable = { kind: "rate-limited", message: "429" } as const;
    const lines = planText(anObservation({ ...parts, provider: { unusable } }));
    expect(lines).toContain(`hold delete-dns ${FQDN}: NewNameFirst`);
    expect(lines.filter((line) => /^(delete-dns|remove-finalizer)/.test(line))).toEqual([]);
  });

  test.for([
    [false, "Unreadable (another object may ask for it whose zone could not be read)"],
    [true, undefined],
  ] as const)(
    "of a deleted pool waits for the zone of another object that may ask for it, unless the token may not read that: %s",
    ([isRefused, held]) => {
      const id = "5ababd603b22780302dd8d83498e5172";
      const provider = "cloudflare";
      const { pools, ...world } = succeededByNothing({});
      const own = pools.map((pool) => ({ ...pool, status: { ...pool.status, publishedDNS: { ...MINE, provider } } }));
      const other = aRecordSet({ spec: { dnsRecordSet: { ...WWW, provider, zone: id } } });
      const zones = new Map<string, ZoneFact>([
        ["example.com", { kind: "known", zone: { id: "example.com", name: "example.com" } }],
        [id, { kind: "gap", error: "500", isRefused }],
      ]);
      const { dns } = anObservation({ dns: [dnsFacts({ [FQDN]: [A] }, { name: provider, zones })] });
      const text = planText({ ...world, dns, pools: own, recordSets: [other] });
      expect(text.find((line) => line.startsWith(`hold delete-dns ${FQDN}`))).toBe(
        held === undefined ? undefined : `hold delete-dns ${FQDN}: ${held}`,
      );
      expect(text.some((line) => line.startsWith("delete-dns"))).toBe(held === undefined);
      expect(text.some((line) => line.startsWith("delete-ip"))).toBe(held === undefined);
    },
  );

  test("of a deleted pool loses what is given back with it, also where another one asks for it and has nothing to publish", () => {
    const pools = [{ ...heir(), spec: { ...heir().spec, ips: [C] } }];
    expect(planText(succeededByNothing({ pools }))).toContain(`delete-dns ${FQDN} {${A}}/60 -> {}: ObjectDeleted`);
  });

  test.for([
    ["cannot be read just now", { kind: "gap", error: "500" }, []],
    ["could not be sent to a node, and is tried again", known(C)[1], [`ip/${C}`]],
  ] as const)("of a deleted pool keeps its last address while that of another one %s", ([, fact, failed]) => {
    const retries = failed.map((subject) => ({ subject, attempts: 4, nextAttemptTime: LATER, error: "500" }));
    const waiting = heir({ retries });
    const pools = [{ ...waiting, spec: { ...waiting.spec, ips: [C] } }];
    const text = planText(succeededByNothing({ pools }, fact));
    expect(text).toContain(`hold delete-dns ${FQDN}: NewNameFirst`);
    expect(text.filter((line) => /^(delete-dns|unassign-ip|delete-ip)/.test(line))).toEqual([]);
  });

  test("of a deleted pool waits for another one that writes the name in this pass", () => {
    const world = succeeded(heir({ ips: { [B]: active(102) } }));
    const text = planText(world);
    expect(text).toContain(`update-dns ${FQDN} {${A}}/60 -> {${B}}/60: RecordsDiffer`);
    expect(text.filter((line) => line.startsWith("delete-dns"))).toEqual([]);
    const { actions } = plan(world, {});
    expect(actions.at(-1)).toMatchObject({
      kind: "remove-finalizer",
      requires: [`update-dns pool/ingress/heir ${FQDN} digitalocean`],
    });
  });

  test("of a deleted pool cleans a name that another object moves to, which keeps its old name until it publishes", () => {
    const mover = aRecordSet({
      spec: { dnsRecordSet: WWW, reclaimPolicy: "Delete" },
      status: { formerDNS: [{ ...MINE, name: "old.example.com", addresses: [B] }] },
    });
    const dns = [dnsFacts({ [FQDN]: [A], "old.example.com": [B] })];
    const { dns: names } = anObservation({ dns });
    const text = planText(succeededByNothing({ recordSets: [mover], nodes: [], dns: names }));
    expect(text).toContain(`delete-dns ${FQDN} {${A}}/60 -> {}: ObjectDeleted`);
    expect(text).toContain("hold delete-dns old.example.com: NewNameFirst");
  });

  test("of a deleted pool waits for another one that will write the name when its last failure is over", () => {
    const retry = {
      subject: `dns/digitalocean/${FQDN}`,
      attempts: 1,
      nextAttemptTime: "2026-08-01T12:00:01Z",
      error: "500",
    };
    const text = planText(succeeded(heir({ ips: { [B]: active(102) }, retries: [retry] })));
    expect(text).toContain(`hold update-dns ${FQDN}: Backoff (500) for 1s`);
    expect(text).toContain(`hold delete-dns ${FQDN}: Backoff (500) for 1s`);
    expect(text.filter((line) => line.startsWith("delete-dns"))).toEqual([]);
    expect(text.filter((line) => line.startsWith("remove-finalizer"))).toEqual([]);
  });

  test("of a deleted pool leaves its name as it is to another one that gets its address, too", () => {
    const text = planText(succeeded({ ...heir(), spec: { ...heir().spec, ips: [A] } }));
    expect(text.filter((line) => /^(delete-dns|remove-finalizer)/.test(line))).toEqual([]);
    expect(text).toContain(`hold delete-dns ${FQDN}: NewNameFirst`);
  });

  test("of a deleted pool waits for another one whose records are the same until that has them on record", () => {
    const { pools, ...world } = succeeded(heir());
    const addresses = [{ type: "ExternalIP", address: A }];
    const text = planText({
      ...world,
      pools: pools.slice(0, 1),
      recordSets: [aRecordSet({ spec: { dnsRecordSet: WWW } })],
      nodes: [aNode({ name: "n1", droplet: 101, addresses })],
    });
    expect(text).toEqual([`hold delete-dns ${FQDN}: NewNameFirst`]);
  });

  test("of a deleted pool leaves a name to another one that has published there", () => {
    const text = planText(succeeded(heir({ ips: { [B]: active(102) }, publishedDNS: { ...MINE, addresses: [B] } })));
    expect(text.filter((line) => line.startsWith("delete-dns"))).toEqual([]);
    expect(text).toContain("remove-finalizer ingress/web: NothingToReclaim");
  });
});

describe("a name that changes", () => {
  const OLD: PublishedName = { ...MINE, name: "old.example.com" };
  const renamed = (spec: Partial<PoolSpec>, www: readonly string[] | string = []): Observation =>
    steady({ spec, status: { publishedDNS: OLD }, dns: dnsFacts({ [FQDN]: www, "old.example.com": [A, C] }) });

  test("is written first; with Delete the old records that flipop wrote go after it", () => {
    const world = renamed({ reclaimPolicy: "Delete" });
    expect(planText(world)).toEqual([
      "add-finalizer ingress/web: ReclaimDelete",
      `update-dns ${FQDN} {} -> {${A}}/60: RecordsDiffer`,
      `delete-dns old.example.com {${A} ${C}}/60 -> {${C}}/60: NameChanged`,
    ]);
    const { actions } = plan(world, {});
    expect(actions.at(-1)?.requires).toEqual([`update-dns pool/ingress/web ${FQDN} digitalocean`]);
    expect(actions[1]?.requires).toEqual(["add-finalizer pool/ingress/web ingress/web"]);
  });

  test("with Retain leaves the old records and says so", () => {
    const world = renamed({}, [A]);
    expect(planText(world)).toEqual(["hold delete-dns old.example.com: RecordsRetained"]);
    expect(plan(world, {}).pools[0]?.status).toMatchObject({ publishedDNS: MINE, formerDNS: [OLD] });
  });

  test("keeps the old records while the new ones cannot be written", () => {
    expect(planText(renamed({ reclaimPolicy: "Delete" }, "500"))).toEqual([
      "add-finalizer ingress/web: ReclaimDelete",
      "hold delete-dns old.example.com: NewNameFirst",
      `hold update-dns ${FQDN}: Unreadable (500)`,
    ]);
  });

  test("is left to another object that asks for it now", () => {
    const world = renamed({ reclaimPolicy: "Delete" }, [A]);
    const other = aPool({ name: "other", spec: { ips: [B], dnsRecordSet: { ...WWW, recordName: "old" } } });
    const text = planText({ ...world, pools: [...world.pools, other] });
    expect(text.filter((line) => line.includes("old.example.com"))).toEqual([
      "hold update-dns old.example.com: NothingToPublish",
    ]);
  });

  test("back to the old one forgets that it was left", () => {
    const world = steady({
      status: { formerDNS: [MINE, OLD] },
      spec: { desiredIPs: 1, reclaimPolicy: "Delete" },
      dns: dnsFacts({ [FQDN]: [A], "old.example.com": [] }),
    });
    expect(plan(world, {}).pools[0]?.status.formerDNS).toEqual([]);
  });

  test("and is removed from the spec goes with Delete", () => {
    const { dnsRecordSet: _none, ...spec } = pool({ ips: [A], reclaimPolicy: "Delete" }).spec;
    const world = steady({});
    const [own] = world.pools;
    const text = planText({ ...world, pools: own === undefined ? [] : [{ ...own, spec }] });
    expect(text).toContain(`delete-dns ${FQDN} {${A}}/60 -> {}: NameChanged`);
  });
});

describe("two objects with one name", () => {
  const rival = (status: Partial<PoolStatus> = {}, createdAtMs = NOW): Pool =>
    aPool({ name: "rival", createdAtMs, spec: { ips: [B], dnsRecordSet: { ...WWW, recordName: FQDN } }, status });

  test("leave it to the one that published it", () => {
    const world = steady({});
    expect(planText({ ...world, pools: [...world.pools, rival({}, 1)] })).toContain(
      `hold update-dns ${FQDN}: Conflict (owned by pool ingress/web, which published it first)`,
    );
  });

  test("leave it to the older one when nobody published it", () => {
    const world = steady({ status: {} });
    const pools = world.pools.map((own) => {
      const { publishedDNS: _none, ...status } = own.status;
      return { ...own, status };
    });
    expect(planText({ ...world, pools: [...pools, rival({}, 1)] })).toContain(
      `hold update-dns ${FQDN}: Conflict (owned by pool ingress/rival, which is older)`,
    );
  });
});

describe("a record set", () => {
  const external = (name: string, droplet: number, address: string, rest: Partial<NodeFacts> = {}): NodeFacts =>
    aNode({
      name,
      droplet,
      addresses: [
        { type: "InternalIP", address: `10.0.0.${droplet - 100}` },
        { type: "ExternalIP", address },
        { type: "ExternalIP", address: "2001:db8::1" },
      ],
      ...rest,
    });
  const NAME = "nodes.example.com";
  const world = (
    parts: RecordSetParts,
    present: Parameters<typeof dnsFacts>[0][string],
    list: readonly NodeFacts[],
  ): Observation =>
    anObservation({ recordSets: [aRecordSet(parts)], nodes: list, dns: [dnsFacts({ [NAME]: present })] });
  const two = [external("n2", 102, B), external("n1", 101, A)];

  test.for([
    ["ExternalIP", [A, B]],
    ["InternalIP", ["10.0.0.1", "10.0.0.2"]],
  ] as const)("publishes the IPv4 %s of every match, sorted", ([addressType, expected]) => {
    expect(planText(world({ spec: { addressType } }, [], two))).toEqual([
      `update-dns ${NAME} {} -> {${expected.join(" ")}}/60: RecordsDiffer`,
    ]);
  });

  test("keeps its records when nothing matches, or removes them where it is told to", () => {
    const none = two.map((node) => ({ ...node, ready: { isReady: false } }));
    expect(planText(world({}, [A], none))).toEqual([`hold update-dns ${NAME}: NothingToPublish`]);
    expect(planText(world({ spec: { whenEmpty: "Delete" } }, [A], none))).toEqual([
      `delete-dns ${NAME} {${A}}/60 -> {}: WhenEmptyDelete`,
    ]);
  });

  test("keeps its records when the selector selects nothing, and does not say that no address serves", () => {
    const observation = world(
      { spec: { match: { nodeLabel: "role=none", podNamespace: "", podLabel: "", tolerations: [] } } },
      [A],
      two,
    );
    const { holds, recordSets } = plan(observation, {});
    const why = "nodeLabel role=none selects no node; the records stay as they are.";
    expect(holds.map(({ reason }) => reason)).toEqual(["EmptyTarget", "NothingToPublish"]);
    expect(holds.map(whyHeld)[1]).toBe(why);
    expect(recordSets[0]?.status.conditions[0]?.message).toBe(`${NAME}: ${why}`);
  });

  test("that cannot be one is told once, for records of both types", () => {
    const dnsRecordSet = { ...aRecordSet().spec.dnsRecordSet, recordName: "größe" };
    const { holds } = plan(world({ spec: { dnsRecordSet, ipFamilies: ["IPv4", "IPv6"] } }, [A], two), {});
    expect(holds.map(({ subject, reason }) => `${subject}: ${reason}`)).toEqual(["größe: InvalidDNS"]);
  });

  test("keeps a node in grace, and drops it afterwards", () => {
    const unready = (seconds: number): readonly NodeFacts[] => [
      external("n1", 101, A),
      external("n2", 102, B, { ready: { isReady: false, sinceMs: NOW - seconds * 1000 } }),
    ];
    const spec = { gracePeriodSeconds: 30 };
    expect(planText(world({ spec }, [A, B], unready(3)))).toEqual(["hold update-dns n2: Grace for 27s"]);
    expect(planText(world({ spec }, [A, B], unready(31)))).toEqual([
      `update-dns ${NAME} {${A} ${B}}/60 -> {${A}}/60: RecordsDiffer`,
    ]);
    expect(planText(world({ spec }, [A], unready(3)))).toEqual([]);
  });

  test("remembers since when a node is unready without evidence", () => {
    const unready = [external("n1", 101, A), external("n2", 102, B, { ready: { isReady: false } })];
    const spec = { gracePeriodSeconds: 30 };
    const [assessed] = plan(world({ spec }, [A, B], unready), {}).recordSets;
    expect(assessed?.status.unreadyNodes).toEqual([{ nodeName: "n2", since: "2026-08-01T12:00:00Z" }]);
    const status = { unreadyNodes: [{ nodeName: "n2", since: "2026-08-01T11:59:50Z" }] };
    expect(planText(world({ spec, status }, [A, B], unready))).toEqual(["hold update-dns n2: Grace for 20s"]);
  });

  test.for([
    [{ provider: "x" }, 'unknown provider "x"'],
    [
      {
        provider: "cloudflare",
        dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "a", ttlSeconds: 60 },
      },
      'provider "cloudflare" and dnsRecordSet.provider "digitalocean" differ',
    ],
    [
      { dnsRecordSet: { provider: "", zone: "", recordName: "", ttlSeconds: 60 } },
      "invalid dnsRecordSet specification",
    ],
    [
      { addressType: "Hostname" },
      'invalid addressType "Hostname": it must be ExternalIP, InternalIP, flipop.digitalocean.com/ipv4-reserved-ip, flipop.digitalocean.com/ipv6-reserved-ip',
    ],
    [
      { match: { nodeLabel: "a in", podNamespace: "", podLabel: "", tolerations: [] } },
      expect.stringContaining("Error parsing node selector: "),
    ],
  ] as const)("with the spec %j is invalid and keeps everything", ([spec, error]) => {
    const [assessed] = plan(world({ spec }, [A], two), {}).recordSets;
    expect(assessed?.status).toMatchObject({
      state: "error",
      error,
      conditions: [{ status: "False", reason: "InvalidSpec" }, {}, {}],
    });
    expect(plan(world({ spec }, [A], two), {}).actions).toEqual([]);
  });

  describe("of annotations", () => {
    const spec = { addressType: "flipop.digitalocean.com/ipv4-reserved-ip" };

    test("takes what no pool manages as written, and skips what is no address", () => {
      const list = [
        aNode({ name: "n1", droplet: 101, addressAnnotation: A }),
        aNode({ name: "n2", droplet: 102, addressAnnotation: "bad" }),
      ];
      expect(planText(world({ spec }, [], list))).toEqual([
        `update-dns ${NAME} {} -> {${A}}/60: RecordsDiffer`,
        'hold update-dns n2: InvalidAddress ("bad")',
      ]);
    });

    test("takes what a pool manages as confirmed in this pass, whatever the annotations say", () => {
      const pools = [aPool({ spec: { ips: [A, B, C] }, status: { ips: { [A]: active(101), [B]: active(102) } } })];
      const both = anObservation({
        pools,
        recordSets: [aRecordSet({ spec })],
        nodes: [annotated(101, A), annotated(102, B), annotated(103, A)],
        addresses: [known(A, { holderID: "101" }), [B, { kind: "gap", error: "500" }], known(C)],
        dns: [dnsFacts({ [NAME]: [B] })],
      });
      const lines = planText(both).filter((line) => line.includes("dns"));
      expect(lines).toEqual([`update-dns ${NAME} {${B}}/60 -> {${A} ${B} ${C}}/60: RecordsDiffer`]);
      expect(plan(both, {}).actions.find(({ kind }) => kind === "update-dns")?.requires).toEqual([
        `assign-ip pool/ingress/web ${C}`,
      ]);
    });
  });

  describe("of annotations that may be emptied", () => {
    const spec = { addressType: "flipop.digitalocean.com/ipv4-reserved-ip", whenEmpty: "Delete" } as const;
    const shows = (pools: readonly Pool[], a: AddressFact, list: readonly NodeFacts[]): Observation =>
      anObservation({
        pools,
        recordSets: [aRecordSet({ spec })],
        nodes: list,
        addresses: [[A, a], known(B)],
        dns: [dnsFacts({ [NAME]: [A, B] })],
      });
    const holding = aPool({ spec: { ips: [A, B] }, status: { ips: { [A]: active(101) } } });

    test("loses what serves nowhere, and keeps what could not be read", () => {
      const world = shows([holding], { kind: "gap", error: "500" }, [annotated(101, A)]);
      expect(planText(world)).toContain(`update-dns ${NAME} {${A} ${B}}/60 -> {${A}}/60: RecordsDiffer`);
    });

    test("keeps what could not be read on a node without an annotation, as a suspended pool leaves it", () => {
      const suspended = { ...holding, spec: { ...holding.spec, suspend: true } };
      const bare = [aNode({ name: "n1", droplet: 101 })];
      expect(planText(shows([suspended], { kind: "gap", error: "500" }, bare))).toContain(
        `update-dns ${NAME} {${A} ${B}}/60 -> {${A}}/60: RecordsDiffer`,
      );
    });

    test("loses what could not be read once the node it was on has another machine", () => {
      const suspended = { ...holding, spec: { ...holding.spec, suspend: true } };
      const replaced = [aNode({ name: "n1", droplet: 201 })];
      expect(planText(shows([suspended], { kind: "gap", error: "500" }, replaced))).toContain(
        `delete-dns ${NAME} {${A} ${B}}/60 -> {}: WhenEmptyDelete`,
      );
    });

    test("publishes nothing that its pool has just found gone, whoever wrote it on a node", () => {
      const lost = aPool({
        spec: { ips: [], desiredIPs: 1, region: "" },
        status: { ips: { [A]: { state: "error" } }, acquired: [{ ip: A, acquiredAt: "2026-08-01T11:00:00Z" }] },
      });
      const list = [aNode({ name: "n1", droplet: 101, addressAnnotation: A })];
      const text = planText({
        ...shows([lost], { kind: "gone" }, list),
        dns: anObservation({ dns: [dnsFacts({ [NAME]: [] })] }).dns,
      });
      expect(text.filter((line) => line.includes("-dns"))).toEqual([]);
    });

    test("is emptied of an address that is gone, even where its pool is invalid", () => {
      const match = { ...holding.spec.match, nodeLabel: "role in (" };
      const invalid = { ...holding, spec: { ...holding.spec, match } };
      expect(planText(shows([invalid], { kind: "gone" }, [annotated(101, A)]))).toContain(
        `delete-dns ${NAME} {${A} ${B}}/60 -> {}: WhenEmptyDelete`,
      );
      expect(planText(shows([invalid], known(A, { holderID: "101" })[1], [annotated(101, A)]))).not.toContain(
        `delete-dns ${NAME} {${A} ${B}}/60 -> {}: WhenEmptyDelete`,
      );
    });
  });

  test("of the same name as a pool is another object", () => {
    const both = anObservation({
      pools: [aPool({ spec: { ips: [A] }, status: { ips: { [A]: active(101) } } })],
      recordSets: [aRecordSet({ name: "web" })],
      nodes: [{ ...external("n1", 101, C), addressAnnotation: A, poolAnnotation: "ingress/web" }],
      addresses: [known(A, { holderID: "101" })],
      dns: [dnsFacts({ [NAME]: [] })],
    });
    expect(planText(both)).toEqual([`update-dns ${NAME} {} -> {${C}}/60: RecordsDiffer`]);
    expect(plan(both, { objects: ["pool/ingress/web"] }).actions).toEqual([]);
    expect(plan(both, { objects: ["dns/ingress/web"] }).recordSets).toHaveLength(1);
    expect(plan(both, { objects: ["dns/ingress/web"] }).pools).toEqual([]);
  });
});

describe("a provider that asked for no calls in the middle of the reading", () => {
  const unusable = { kind: "rate-limited" as const, message: "429", notBeforeMs: NOW + 20_000 };

  test("holds only the names that would be written or were not read", () => {
    expect(planText(steady({ dns: dnsFacts({ [FQDN]: [A] }, { unusable }) }))).toEqual([]);
    expect(planText(steady({ dns: dnsFacts({ [FQDN]: [C] }, { unusable }) }))).toEqual([
      `hold update-dns ${FQDN}: RateLimited (429) for 20s`,
    ]);
  });

  test("keeps the addresses of a deleted pool on their machines until its records can go", () => {
    const world = anObservation({
      pools: [
        pool(
          { desiredIPs: 1, reclaimPolicy: "Delete" },
          { acquired: [{ ip: A, acquiredAt: "2026-08-01T00:00:00Z" }], ips: { [A]: active(101) }, publishedDNS: MINE },
          { isDeleting: true, finalizers: ["flipop.digitalocean.com/cleanup"] },
        ),
      ],
      nodes: [annotated(101, A)],
      addresses: [known(A, { holderID: "101" })],
      dns: [dnsFacts({ [FQDN]: [A] }, { unusable })],
    });
    expect(planText(world)).toEqual([
      `hold delete-ip ${A}: StillPublished (${FQDN})`,
      `hold delete-dns ${FQDN}: RateLimited (429) for 20s`,
    ]);
  });
});
