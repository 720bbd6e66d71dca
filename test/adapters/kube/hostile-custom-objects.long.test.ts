import { describe, expect, test } from "vitest";
import { CUSTOM_RESOURCES } from "../../../src/adapters/kube/custom-resources.ts";
import type { Pool, RecordSet } from "../../../src/model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../../src/model/routed-ip.ts";
import type { ServiceFacts } from "../../../src/model/service.ts";
import { routedPool } from "../../../src/plan/addresses/routed-pool.ts";
import { plan } from "../../../src/plan/plan.ts";
import { FULL_STATUS } from "../../contract/pool-status-samples.ts";
import { FULL_ROUTED_IP_STATUS } from "../../contract/routed-ip-status-samples.ts";
import { aNode, anObservation, known, NOW } from "../../plan/builders.ts";
import { dnsFacts } from "../../plan/dns-builders.ts";
import { Random } from "../../simulation/random.ts";
import { damaged, jsonOf } from "./hostile-objects.ts";

const ROUNDS = 300;
const { pools, recordSets, routedIPs, issuers } = CUSTOM_RESOURCES;

type JSONObject = { readonly metadata: object; readonly spec: object; readonly status?: object };

const metadata = (name: string): object => ({
  name,
  namespace: "shop",
  uid: `uid-${name}`,
  resourceVersion: "7",
  generation: 3,
  creationTimestamp: "2026-01-02T03:04:05Z",
  finalizers: ["flipop.digitalocean.com/cleanup"],
  labels: { team: "web" },
  annotations: { "flipop.digitalocean.com/acquired": `uid-${name} 192.0.2.9` },
});
const TOLERATION = { key: "k", operator: "Equal", value: "v", effect: "NoExecute", tolerationSeconds: 5 };
const DNS = { provider: "digitalocean", zone: "example.com", recordName: "odd", ttl: 60 };
const MATCH = { nodeLabel: "pool=odd", podNamespace: "shop", podLabel: "app=odd", tolerations: [TOLERATION] };

/** One object of each kind, with every field. */
const FULL: Readonly<Record<"pool" | "record set" | "routed IP" | "issuer", JSONObject>> = {
  pool: {
    metadata: metadata("odd"),
    spec: {
      provider: "digitalocean",
      region: "nyc3",
      ips: ["192.0.2.5"],
      desiredIPs: 2,
      assignmentCoolOffSeconds: 5,
      gracePeriodSeconds: 30,
      match: MATCH,
      dnsRecordSet: DNS,
      reclaimPolicy: "Delete",
      foreignHolder: "TakeOver",
      suspend: false,
    },
    status: FULL_STATUS,
  },
  "record set": {
    metadata: metadata("odd"),
    spec: {
      provider: "digitalocean",
      dnsRecordSet: DNS,
      addressType: "ExternalIP",
      gracePeriodSeconds: 30,
      match: MATCH,
      whenEmpty: "Delete",
      reclaimPolicy: "Delete",
      suspend: false,
    },
    status: {
      ...FULL_STATUS,
      state: "active",
      unreadyNodes: [{ nodeName: "n1", since: "2026-01-02T03:04:05Z" }],
    },
  },
  "routed IP": {
    metadata: metadata("odd"),
    spec: {
      issuer: "cloud",
      address: "192.0.2.5",
      serviceName: "web",
      ports: [{ protocol: "TCP", port: 80 }],
      gracePeriodSeconds: 30,
      foreignHolder: "TakeOver",
      dnsRecordSet: DNS,
      suspend: false,
    },
    status: FULL_ROUTED_IP_STATUS,
  },
  issuer: {
    metadata: metadata("cloud"),
    spec: {
      provider: "digitalocean",
      region: "nyc3",
      routedIPReclaimPolicy: "Delete",
      routedIPFirewallName: "web",
      nodeLabel: "role=edge",
      tolerations: [TOLERATION],
    },
  },
};

const SERVICE: ServiceFacts = {
  namespace: "shop",
  name: "web",
  resourceVersion: "1",
  type: "NodePort",
  selector: { app: "odd" },
  ports: [{ protocol: "TCP", port: 80, nodePort: 30_080 }],
};

/** A pool and a record set of somebody else, served as they should be. */
const NEIGHBOURS = {
  pool: pools.decode({
    metadata: { ...metadata("good"), annotations: {}, finalizers: [] },
    spec: { provider: "digitalocean", ips: ["203.0.113.1"], match: { nodeLabel: "pool=good" } },
    status: { ips: { "203.0.113.1": { state: "active", nodeName: "n1", providerID: "digitalocean://101" } } },
  }),
  recordSet: recordSets.decode({
    metadata: { ...metadata("good"), annotations: {}, finalizers: [] },
    spec: { dnsRecordSet: { zone: "example.com", recordName: "good" }, match: { nodeLabel: "pool=good" } },
  }),
};

/** What is planned for the neighbours beside an odd object. */
function neighbourly(odd: { readonly pool?: Pool | undefined; readonly recordSet?: RecordSet | undefined }): unknown {
  const present = <T>(...list: readonly (T | undefined)[]): readonly T[] => list.filter((one) => one !== undefined);
  const world = anObservation({
    pools: present(NEIGHBOURS.pool, odd.pool),
    recordSets: present(NEIGHBOURS.recordSet, odd.recordSet),
    nodes: [
      aNode({
        labels: { pool: "good" },
        addresses: [{ type: "ExternalIP", address: "198.51.100.1" }],
        addressAnnotation: "203.0.113.1",
        poolAnnotation: "shop/good",
      }),
      aNode({ name: "n2", droplet: 102, labels: { pool: "odd", role: "edge" } }),
    ],
    addresses: [known("203.0.113.1", { holderID: "101" }), known("192.0.2.5", { holderID: "999" }), known("192.0.2.9")],
    dns: [dnsFacts({ "good.example.com": [], "odd.example.com": ["192.0.2.5"] })],
    pods: new Map([["shop|app=odd", { kind: "read", byNode: new Map([["n2", { ready: 1, notReady: 0 }]]) }]]),
  });
  const made = plan(world, {});
  for (const { status } of made.pools) JSON.stringify(pools.status.patch(status, FULL_STATUS));
  for (const { status } of made.recordSets) JSON.stringify(recordSets.status.patch(status, FULL_STATUS));
  const isGood = ({ object: { name } }: { readonly object: { readonly name: string } }): boolean => name === "good";
  return {
    actions: made.actions.filter(isGood),
    holds: made.holds.filter(isGood),
    pools: made.pools.filter(isGood),
    recordSets: made.recordSets.filter(isGood),
  };
}

function routed(odd: unknown, issuer: unknown): Pool | undefined {
  const [one, of] = [routedIPs.decode(odd), issuers.decode(issuer)];
  const references = {
    issuers: new Map<string, RoutedIPIssuer>(of === undefined ? [] : [["shop/cloud", of]]),
    services: new Map([["shop/web", SERVICE]]),
  };
  return one === undefined ? undefined : routedPool(one satisfies RoutedIP, references);
}

const ALONE = neighbourly({});

describe("a custom object with something of the wrong type anywhere", () => {
  test.for<[keyof typeof FULL, (odd: unknown) => Parameters<typeof neighbourly>[0]]>([
    ["pool", (odd) => ({ pool: pools.decode(odd) })],
    ["record set", (odd) => ({ recordSet: recordSets.decode(odd) })],
    ["routed IP", (odd) => ({ pool: routed(odd, FULL.issuer) })],
    ["issuer", (odd) => ({ pool: routed(FULL["routed IP"], odd) })],
  ])("is read under its name, and costs nobody else anything: a %s", ([kind, read]) => {
    expect(neighbourly(read(FULL[kind]))).toEqual(ALONE);
    let refused = 0;
    for (let seed = 1; seed <= ROUNDS; seed += 1) {
      const random = new Random(seed);
      let odd: unknown = jsonOf(FULL[kind]);
      for (let count = random.between(1, 3); count > 0; count -= 1) odd = damaged(random, odd);
      const { pool, recordSet } = read(odd);
      const object = pool ?? recordSet;
      expect(object?.meta, `seed ${seed}`).toMatchObject({ namespace: "shop", name: "odd" });
      if (object?.decodeError !== undefined) refused += 1;
      expect(neighbourly({ pool, recordSet }), `seed ${seed}`).toEqual(ALONE);
    }
    expect(refused).toBeGreaterThan(ROUNDS / 10);
  });

  test.for(Object.keys(FULL) as (keyof typeof FULL)[])("is read whatever is missing, or nothing: a %s", (kind) => {
    const { decode } = { pool: pools, "record set": recordSets, "routed IP": routedIPs, issuer: issuers }[kind];
    for (const part of ["spec", "status"])
      for (const odd of [undefined, null, "", 5, true, "x", [], [[]], {}]) {
        const read = decode({ ...FULL[kind], [part]: odd });
        expect(read?.meta).toEqual(decode(FULL[kind])?.meta);
      }
  });
});

describe("something nested more deeply than this machine can write", () => {
  const deep = JSON.parse(`${"[".repeat(9_000)}${"]".repeat(9_000)}`) as unknown;
  const bottomless = JSON.parse(`${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}`) as unknown;

  test.for([
    ["a list", deep],
    ["an object", bottomless],
  ] as const)("is refused where it stands in a spec, and dropped where it stands in a status: %s", ([, odd]) => {
    const read = pools.decode({
      metadata: metadata("odd"),
      spec: { provider: odd, ips: ["192.0.2.5", odd], match: { nodeLabel: odd, tolerations: [odd] } },
      status: { conditions: [odd], ips: odd, acquired: odd, error: odd },
    });
    expect(read?.decodeError).toContain("spec.provider must be text");
    expect(read?.spec.ips).toEqual(["192.0.2.5", "[…]"]);
    expect(neighbourly({ pool: read })).toEqual(ALONE);
    const other = pools.decode({ metadata: metadata("odd"), spec: { provider: "digitalocean", ips: [odd] } });
    expect(other).not.toHaveProperty("decodeError");
    expect(neighbourly({ pool: other })).toEqual(ALONE);
    expect(JSON.stringify(pools.status.patch(FULL_STATUS, { ips: odd, conditions: odd }))).toContain("192.0.2.5");
  });
});

test("a status keeps only numbers that the API server takes back", () => {
  const status = { observedGeneration: 1.5, assignments: 1e300, retries: [{ subject: "acquire", attempts: 2.5 }] };
  const read = pools.decode({ metadata: { ...metadata("odd"), generation: "three" }, spec: {}, status });
  expect(read?.meta.generation).toBe(0);
  expect(read?.status).not.toHaveProperty("observedGeneration");
  expect(read?.status).not.toHaveProperty("assignments");
  expect(read?.status.retries).toMatchObject([{ subject: "acquire", attempts: 1 }]);
  expect(read?.meta.createdAtMs).toBeLessThan(NOW);
});
