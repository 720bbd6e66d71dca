import { expect, test } from "vitest";
import { type AcquisitionNote, restoreMemory } from "../../src/model/acquisition-memory.ts";
import type { AddressFact, PendingAcquisition } from "../../src/model/address.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool, PoolSpec, PoolStatus } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { anObservation, aPool, known, NOW, nodes } from "./builders.ts";
import { planText } from "./plan-text.ts";

const [A, B, C] = ["203.0.113.10", "203.0.113.11", "203.0.113.12"] as const;
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();
const bought = (ip: string): PoolStatus["acquired"][number] => ({ ip, acquiredAt: ago(600) });
const NOTHING = { ips: [], pending: [] };

/** A pool with this annotation. */
function noting(note: Partial<AcquisitionNote>, spec: Partial<PoolSpec>, status: Partial<PoolStatus> = {}): Pool {
  const pool = aPool({ spec, status });
  return { ...pool, meta: { ...pool.meta, note: { ...NOTHING, ...note } } };
}

function world(pool: Pool, ...addresses: readonly [string, AddressFact][]): Observation {
  return anObservation({ pools: [pool], addresses: [...addresses] });
}

/** As a pass observes it: pools with what only their annotations still show. */
function asObserved(observation: Observation): Observation {
  return { ...observation, pools: observation.pools.map((pool) => restoreMemory(pool, NOW)) };
}

/** An intent that came back from the annotation, a while ago. */
function restored(place: Partial<PendingAcquisition>, seconds = 40): PendingAcquisition {
  return { startedAt: ago(seconds), knownIPs: [], restored: true, ...place };
}

const unattached = (ip: string): string => `hold assign-ip ${ip}: NoCandidate`;

test.for<[string, Observation, string[]]>([
  [
    "with the status lost an address that the annotation tells of is the pool's, and one of nobody is not",
    world(noting({ ips: [A] }, { desiredIPs: 1 }), known(A), known(B)),
    [unattached(A)],
  ],
  [
    "with the status lost an address that the annotation tells of and the account does not have is replaced",
    world(noting({ ips: [A] }, { desiredIPs: 1 }), [A, { kind: "gone" }]),
    ["acquire-ip new-1 in nyc3: BelowDesired"],
  ],
  [
    "with the status lost an address that a younger pool lists, too, stays the pool's",
    anObservation({
      pools: [
        noting({ ips: [A] }, { desiredIPs: 1 }),
        aPool({
          name: "other",
          createdAtMs: NOW,
          spec: { ips: [A] },
          status: { ips: { [A]: { state: "unassigned" } } },
        }),
      ],
      addresses: [known(A)],
    }),
    [`hold assign-ip ${A}: Conflict (owned by pool ingress/web, which is older)`, unattached(A)],
  ],
  [
    "with the status lost a creation without an answer is watched for 30 s, and nothing is bought meanwhile",
    world(noting({ pending: ["nyc3"] }, { desiredIPs: 2 }), known(B)),
    ["hold acquire-ip ingress/web: AcquisitionUnanswered for 30s"],
  ],
  [
    "with the status lost a creation for a machine is answered by an address on that machine",
    anObservation({
      pools: [
        noting(
          { pending: ["digitalocean://101"] },
          { desiredIPs: 1 },
          { pendingAcquisitions: [restored({ providerID: "digitalocean://101" })] },
        ),
      ],
      nodes: nodes(1),
      addresses: [known(A, { holderID: "101" }), known(B)],
    }),
    [`annotate-node n1 with ${A}: Verified`],
  ],
  [
    "39 s after the status was lost the one address that is on no machine is named, and not taken",
    world(
      noting({ pending: ["nyc3"] }, { desiredIPs: 1 }, { pendingAcquisitions: [restored({ region: "nyc3" }, 39)] }),
      known(B),
    ),
    [`hold acquire-ip ingress/web: LostAcquisition (${B})`],
  ],
  [
    "39 s after the status was lost with nothing that could be it, one is bought",
    world(
      noting({ pending: ["nyc3"] }, { desiredIPs: 1 }, { pendingAcquisitions: [restored({ region: "nyc3" }, 39)] }),
      known(B, { region: "ams3" }),
    ),
    ["acquire-ip new-1 in nyc3: BelowDesired"],
  ],
  [
    "with its place removed from the annotation a creation that came back is given up",
    world(noting({}, { desiredIPs: 1 }, { pendingAcquisitions: [restored({ region: "nyc3" })] }), known(B)),
    ["acquire-ip new-1 in nyc3: BelowDesired"],
  ],
  [
    "listing one of the candidates is the answer, and the other is left alone",
    world(
      aPool({
        spec: { desiredIPs: 1, ips: [A] },
        status: {
          pendingAcquisitions: [{ startedAt: ago(90), region: "nyc3", knownIPs: [], candidates: [A, B] }],
        },
      }),
      known(A),
      known(B),
    ),
    [unattached(A)],
  ],
  [
    "listing one of the candidates answers one of two creations",
    world(
      aPool({
        spec: { desiredIPs: 2, ips: [A] },
        status: {
          pendingAcquisitions: [80, 90].map((seconds) => ({
            startedAt: ago(seconds),
            region: "nyc3",
            knownIPs: [],
            candidates: [A, B, C],
          })),
        },
      }),
      known(A),
      known(B),
      known(C),
    ),
    [`hold acquire-ip ingress/web: AmbiguousAcquisition (${B}, ${C})`, unattached(A)],
  ],
  [
    "an address that came to the creation's machine after the candidates were told answers nothing",
    anObservation({
      pools: [
        aPool({
          spec: { desiredIPs: 1 },
          status: {
            pendingAcquisitions: [
              { startedAt: ago(90), providerID: "digitalocean://101", knownIPs: [], candidates: [A, B] },
            ],
          },
        }),
      ],
      nodes: nodes(1),
      addresses: [known(A), known(B), known(C, { holderID: "101" })],
    }),
    [`hold acquire-ip ingress/web: AmbiguousAcquisition (${A}, ${B})`],
  ],
  [
    "listing an address that was never a candidate answers nothing",
    world(
      aPool({
        spec: { desiredIPs: 2, ips: [C] },
        status: {
          pendingAcquisitions: [{ startedAt: ago(90), region: "nyc3", knownIPs: [], candidates: [A, B] }],
        },
      }),
      known(A),
      known(B),
      known(C),
    ),
    [`hold acquire-ip ingress/web: AmbiguousAcquisition (${A}, ${B})`, unattached(C)],
  ],
])("%s", ([, observation, expected]) => {
  expect(planText(asObserved(observation)).toSorted()).toEqual(expected.toSorted());
});

test("what is restored is put on record, as found again", () => {
  const pool = noting({ ips: [A], pending: ["nyc3", "digitalocean://7", ""] }, { desiredIPs: 4 });
  const [assessed] = plan(asObserved(world(pool, known(A))), {}).pools;
  const startedAt = "2026-08-01T12:00:00Z";
  expect(assessed?.status).toMatchObject({
    acquired: [{ ip: A, acquiredAt: startedAt, adopted: true }],
    pendingAcquisitions: [
      { startedAt, knownIPs: [], restored: true, region: "nyc3" },
      { startedAt, knownIPs: [], restored: true, providerID: "digitalocean://7" },
      { startedAt, knownIPs: [], restored: true },
    ],
  });
});

test("the candidates of a creation are put on record once they are told", () => {
  const pending = { startedAt: ago(90), region: "nyc3", knownIPs: [] };
  const pool = aPool({ spec: { desiredIPs: 1 }, status: { pendingAcquisitions: [pending] } });
  const [assessed] = plan(asObserved(world(pool, known(B), known(A))), {}).pools;
  expect(assessed?.status.pendingAcquisitions).toEqual([{ ...pending, candidates: [A, B], provider: "digitalocean" }]);
});

test.for<[string, Pool]>([
  [
    "that status knows",
    noting({ pending: ["nyc3"] }, {}, { pendingAcquisitions: [{ startedAt: ago(5), region: "nyc3", knownIPs: [] }] }),
  ],
  ["whose answer status has and the annotation not yet", noting({ pending: ["nyc3"] }, {}, { acquired: [bought(A)] })],
])("an acquisition without an answer %s is not restored", ([, pool]) => {
  expect(restoreMemory(pool, NOW)).toBe(pool);
});

test("garbage among the acquired addresses does not pass for an answer", () => {
  const pool = noting({ pending: ["nyc3"] }, {}, { acquired: [bought("?!")] });
  expect(restoreMemory(pool, NOW).status.pendingAcquisitions).toHaveLength(1);
});

const AT_HETZNER = { ...bought(A), provider: "hetzner" };

test("an acquisition without a provider is of the one that the annotation names, else of none", () => {
  const pending = { startedAt: ago(5), region: "nyc3", knownIPs: [] };
  const status = { acquired: [bought(A)], pendingAcquisitions: [pending] };
  const known = restoreMemory(noting({ ips: [A], pending: ["nyc3"], provider: "hetzner" }, {}, status), NOW);
  expect(known.status).toMatchObject({
    acquired: [AT_HETZNER],
    pendingAcquisitions: [{ ...pending, provider: "hetzner" }],
  });
  const unknown = noting({ ips: [A], pending: ["nyc3"] }, {}, status);
  expect(restoreMemory(unknown, NOW)).toBe(unknown);
});

test("what status says of a provider counts before the annotation", () => {
  const status = { acquired: [bought(A), { ...bought(B), provider: "digitalocean" }] };
  const { acquired } = restoreMemory(noting({ ips: [A, B, C], provider: "hetzner" }, {}, status), NOW).status;
  expect(acquired.map(({ provider }) => provider)).toEqual(["digitalocean", "digitalocean", "digitalocean"]);
});

test.for<[string, Partial<PoolStatus>, string, string]>([
  ["nothing on record", {}, "digitalocean", "digitalocean"],
  ["an address elsewhere", { acquired: [AT_HETZNER] }, "digitalocean IPv6", "hetzner"],
  [
    "an IPv6 address elsewhere",
    { acquired: [{ ...AT_HETZNER, ip: "2001:db8:66:1::1" }] },
    "digitalocean",
    "hetzner IPv6",
  ],
  [
    "no answer from elsewhere",
    { pendingAcquisitions: [{ startedAt: ago(5), knownIPs: [], provider: "hetzner" }] },
    "digitalocean IPv6",
    "hetzner IPv6",
  ],
])("a pool with %s is cleaned up where that is, and keeps its spec until it is deleted", ([, status, named, at]) => {
  const pool = aPool({ spec: { provider: named }, status });
  expect(restoreMemory(pool, NOW).spec.provider).toBe(named);
  const deleted = { ...pool, meta: { ...pool.meta, isDeleting: true } };
  expect(restoreMemory(deleted, NOW).spec.provider).toBe(at);
});

test("a deleted pool with acquisitions of two providers waits for a person, and says which", () => {
  const pool = aPool({
    spec: { desiredIPs: 2, reclaimPolicy: "Delete" },
    status: { acquired: [{ ...bought(B), provider: "digitalocean" }, AT_HETZNER] },
  });
  const meta = { ...pool.meta, isDeleting: true, finalizers: ["flipop.digitalocean.com/cleanup"] };
  const observation = asObserved(world({ ...pool, meta }, known(B)));
  expect(planText(observation)).toEqual([
    `hold reconcile ingress/web: InvalidSpec (provider cannot be "digitalocean": ${A} was acquired at hetzner; set it back to hetzner, or make a new pool)`,
    "hold remove-finalizer ingress/web: InvalidSpec (the deletion waits for it)",
  ]);
});
