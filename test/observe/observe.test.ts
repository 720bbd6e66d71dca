import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import { KubeError, type KubeFailure } from "../../src/model/errors.ts";
import { ACQUISITIONS_ANNOTATION } from "../../src/model/lease-annotations.ts";
import type { Observation } from "../../src/model/observation.ts";
import { DueLooks } from "../../src/observe/due-looks.ts";
import { look, observe } from "../../src/observe/observe.ts";
import { readCluster } from "../../src/observe/read-cluster.ts";
import { ReusableFacts } from "../../src/observe/reusable-facts.ts";
import type { ClusterReader } from "../../src/ports/cluster.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryCluster } from "../fake/memory-cluster.ts";
import { aPool } from "../plan/builders.ts";
import { aRoutedIP } from "../report/routed-world.ts";

test("the Lease is read, unless whoever keeps it knows what is noted there", async () => {
  const clock = new FakeClock();
  const asked: string[] = [];
  const beforeCall = (operation: string): undefined => {
    asked.push(operation);
  };
  const cluster = new MemoryCluster({ now: () => clock.wallMs(), beforeCall });
  const none = new Map<string, never>();
  const leaseName = { namespace: "flipop", name: "flipop" };
  const deps = {
    cluster,
    providers: none,
    dnsProviders: none,
    firewallProviders: none,
    registry: PROVIDERS,
    clock,
    leaseName,
  };
  const readings = (): number => asked.filter((operation) => operation.includes("leases")).length;
  await observe(deps);
  expect(readings()).toBe(1);
  const notes = { [ACQUISITIONS_ANNOTATION]: new Date(clock.wallMs() - 1000).toISOString() };
  const { lease } = await observe({ ...deps, notes });
  expect(lease.acquisitionTimesMs).toEqual([clock.wallMs() - 1000]);
  expect(readings()).toBe(1);
});

test("of an object that a pass meets on its way it is said at once that there is no token: nobody is asked", async () => {
  const clock = new FakeClock();
  const cluster = new MemoryCluster({ now: () => clock.wallMs() });
  const [name, variables] = ["digitalocean", ["DIGITALOCEAN_ACCESS_TOKEN"]];
  const noToken = new Map([[name, { kind: "no-token", name, variables } as const]]);
  const sight = await look({
    cluster,
    providers: noToken,
    dnsProviders: noToken,
    firewallProviders: new Map(),
    registry: PROVIDERS,
    clock,
    leaseName: { namespace: "flipop", name: "flipop" },
  });
  const dnsRecordSet = { provider: "digitalocean", zone: "example.com", recordName: "www", ttlSeconds: 60 };
  const looks = new DueLooks(sight.looking, new ReusableFacts(clock), sight.pieces);
  const { providers, dns } = looks.askMore({ ...sight.observation, pools: [aPool({ spec: { dnsRecordSet } })] });
  const message = 'provider "digitalocean" cannot be used: set DIGITALOCEAN_ACCESS_TOKEN';
  for (const facts of [providers, dns]) {
    expect(facts.get(name)?.unusable).toEqual({ kind: "no-access", message });
  }
});

describe("a list of pods that fails", () => {
  /** What came of the pods of podNamespace `shop` and of podLabel `app=web` when the former, or with `""` the latter, fails so. */
  async function podsAfter(failure: KubeFailure, status: number, namespace: string): Promise<Observation["pods"]> {
    const clock = new FakeClock();
    const error = new KubeError({ failure, operation: "list pods", subject: "", status, message: `no (${status})` });
    const beforeCall = (operation: string, subject: string): { readonly throw: Error } | undefined =>
      operation === "list pods" && subject === namespace ? { throw: error } : undefined;
    const cluster = new MemoryCluster({ now: () => clock.wallMs(), beforeCall });
    for (const [name, match] of Object.entries({ a: { podNamespace: "shop" }, b: { podLabel: "app=web" } })) {
      cluster.sandbox.write({
        apiVersion: "flipop.digitalocean.com/v1alpha1",
        kind: "FloatingIPPool",
        metadata: { namespace: "default", name },
        spec: { provider: "digitalocean", region: "nyc3", desiredIPs: 1, match },
      });
    }
    return (await readCluster({ cluster })).pods;
  }

  test.for<[KubeFailure, number]>([
    ["invalid", 400],
    ["not-found", 404],
    ["invalid", 414],
    ["invalid", 422],
    ["invalid", 431],
    ["invalid", 0],
  ])("as %s (%i) in one namespace is known as refused, and the other list is read", async ([failure, status]) => {
    expect(await podsAfter(failure, status, "shop")).toEqual(
      new Map([
        ["shop|", { kind: "refused", error: `Error listing the pods in namespace "shop": no (${status})` }],
        ["|app=web", { kind: "read", byNode: new Map() }],
      ]),
    );
  });

  test("as forbidden in one namespace is known as forbidden, and the other list is read", async () => {
    expect(await podsAfter("forbidden", 403, "shop")).toEqual(
      new Map([
        [
          "shop|",
          { kind: "refused", error: 'Error listing the pods in namespace "shop": no (403)', isForbidden: true },
        ],
        ["|app=web", { kind: "read", byNode: new Map() }],
      ]),
    );
  });

  test("in all namespaces is refused by its label alone", async () => {
    expect((await podsAfter("invalid", 400, "")).get("|app=web")).toEqual({
      kind: "refused",
      error: 'Error listing the pods of label selector "app=web": no (400)',
    });
  });

  test.for<[KubeFailure, number, string]>([
    ["not-found", 404, ""],
    ["unauthorized", 401, "shop"],
    ["forbidden", 403, ""],
    ["invalid", 405, "shop"],
    ["invalid", 406, "shop"],
    ["timeout", 408, "shop"],
    ["gone", 410, "shop"],
    ["rate-limited", 429, "shop"],
    ["unavailable", 500, "shop"],
    ["unavailable", 503, "shop"],
    ["timeout", 0, "shop"],
    ["unavailable", 0, "shop"],
    ["malformed", 200, "shop"],
  ])(
    "as %s (%i) in namespace %o fails the whole reading: no part of a cluster is acted on",
    async ([failure, status, where]) => {
      await expect(podsAfter(failure, status, where)).rejects.toThrow(`no (${status})`);
    },
  );
});

test("EndpointSlices of a Service whose name can be no label are not asked for: its name would be read as a selector", async () => {
  const cluster = new MemoryCluster();
  const { pods } = await readCluster({ cluster: withService(cluster, "web,app!=x") });
  expect([...pods]).toEqual([
    [
      "endpoints|shop|web,app!=x",
      {
        kind: "refused",
        error: 'Error listing the EndpointSlices of Service "shop/web,app!=x": its name is not a valid label value.',
      },
    ],
  ]);
});

/** The cluster with a RoutedIP that follows a Service without selector, which no real API server would have under such a name. */
function withService(cluster: ClusterReader, name: string): ClusterReader {
  const service = { namespace: "shop", name, resourceVersion: "1", type: "ClusterIP", selector: {}, ports: [] };
  const routed = { listRoutedIPs: [aRoutedIP(name, { namespace: "shop" })], listServices: [service] };
  return new Proxy(cluster, {
    get: (target, key) =>
      key in routed ? async () => Reflect.get(routed, key) : Reflect.get(target, key).bind(target),
  });
}
