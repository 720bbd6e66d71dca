import { expect, test } from "vitest";
import type { ContractWorld, Manifest } from "./cluster-world.ts";

/** Declares the tests of listRoutedIPIssuers. */
export function describeIssuers(world: () => ContractWorld): void {
  test("listRoutedIPIssuers returns every issuer with its spec defaulted, sorted by namespace and name", async () => {
    const { cluster, seed } = world();
    const specs = {
      "issuer-b": { provider: "digitalocean" },
      "issuer-a": {
        provider: "digitalocean",
        region: "ams3",
        routedIPReclaimPolicy: "Delete",
        routedIPFirewallName: "edge",
        nodeLabel: "role=web",
        tolerations: [{ key: "dedicated", operator: "Exists", effect: "" }],
      },
    };
    for (const [name, spec] of Object.entries(specs))
      await seed.object({
        apiVersion: "flipop.digitalocean.com/v1alpha1",
        kind: "RoutedIPIssuer",
        metadata: { namespace: seed.namespace(), name },
        spec,
      });
    const issuers = (await cluster.listRoutedIPIssuers()).filter(({ meta }) => meta.namespace === seed.namespace());
    expect(issuers.map(({ meta }) => meta.name)).toEqual(["issuer-a", "issuer-b"]);
    expect(issuers.map((issuer) => Object.keys(issuer))).toEqual([
      ["meta", "spec"],
      ["meta", "spec"],
    ]);
    expect(issuers[0]?.spec).toEqual({
      provider: "digitalocean",
      region: "ams3",
      reclaimPolicy: "Delete",
      firewallName: "edge",
      nodeLabel: "role=web",
      tolerations: [{ key: "dedicated", operator: "Exists" }],
    });
    expect(issuers[1]?.spec).toEqual({
      provider: "digitalocean",
      region: "",
      reclaimPolicy: "Retain",
      firewallName: "",
      nodeLabel: "",
      tolerations: [],
    });
    expect(issuers[0]?.meta).toMatchObject({ isDeleting: false, generation: 1 });
  });
}

/** Declares the tests of listServices and listEndpointSlices. */
export function describeServices(world: () => ContractWorld): void {
  test("listServices returns type, selector and ports of every Service, sorted by namespace and name", async () => {
    const { cluster, seed } = world();
    await seed.service(
      aService(world(), "service-b", {
        type: "NodePort",
        selector: { app: "web", tier: "edge" },
        ports: [
          { name: "http", port: 80, nodePort: 31_080 },
          { name: "dns", protocol: "UDP", port: 53, nodePort: 31_053 },
        ],
      }),
    );
    await seed.service(aService(world(), "service-a", { ports: [{ port: 443, targetPort: 8443 }] }));
    await seed.service(aService(world(), "service-c", { type: "ExternalName", externalName: "example.com" }));
    const services = (await cluster.listServices()).filter(({ namespace }) => namespace === seed.namespace());
    const facts = services.map(({ namespace: _namespace, resourceVersion: _version, ...rest }) => rest);
    expect(facts).toEqual([
      { name: "service-a", type: "ClusterIP", selector: {}, ports: [{ protocol: "TCP", port: 443, nodePort: 0 }] },
      {
        name: "service-b",
        type: "NodePort",
        selector: { app: "web", tier: "edge" },
        ports: [
          { protocol: "TCP", port: 80, nodePort: 31_080 },
          { protocol: "UDP", port: 53, nodePort: 31_053 },
        ],
      },
      { name: "service-c", type: "ExternalName", selector: {}, ports: [] },
    ]);
    expect(services.filter(({ resourceVersion }) => resourceVersion === "")).toEqual([]);
  });

  test("listEndpointSlices returns the slices of the one Service, their endpoints summed up by node", async () => {
    const { cluster, seed } = world();
    const namespace = seed.namespace();
    const endpoints = [
      { addresses: ["10.0.0.1"], nodeName: "node-1", conditions: { ready: true } },
      { addresses: ["10.0.0.2"], nodeName: "node-1" },
      { addresses: ["10.0.0.3"], nodeName: "node-1", conditions: { ready: false, serving: true, terminating: true } },
      { addresses: ["10.0.0.4"], nodeName: "node-2", conditions: { ready: false } },
      { addresses: ["10.0.0.5"], nodeName: "node-3", conditions: { ready: true, serving: true, terminating: true } },
      { addresses: ["10.0.0.6"] },
    ];
    const ofService = (service: string) => ({ "kubernetes.io/service-name": service, "example.com/more": "x" });
    await seed.service(aSlice(world(), "slice-1", { labels: ofService("sliced"), endpoints }));
    await seed.service(aSlice(world(), "slice-2", { labels: ofService("sliced"), endpoints: [] }));
    await seed.service(aSlice(world(), "slice-3", { labels: ofService("other"), endpoints }));
    await seed.service(aSlice(world(), "slice-4", { labels: {}, endpoints }));
    const slices = await cluster.listEndpointSlices({ namespace, name: "sliced" });
    expect(slices.map(({ name }) => name).toSorted()).toEqual(["slice-1", "slice-2"]);
    const first = slices.find(({ name }) => name === "slice-1");
    expect(first).toMatchObject({ namespace, serviceName: "sliced", resourceVersion: expect.stringMatching(/./) });
    expect(first?.endpointsByNode).toEqual(
      new Map([
        ["node-1", { ready: 2, notReady: 1 }],
        ["node-2", { ready: 0, notReady: 1 }],
        ["node-3", { ready: 0, notReady: 1 }],
      ]),
    );
    expect(slices.find(({ name }) => name === "slice-2")?.endpointsByNode).toEqual(new Map());
    expect(await cluster.listEndpointSlices({ namespace, name: "no-such-service" })).toEqual([]);
    expect(await cluster.listEndpointSlices({ namespace: "no-such-namespace", name: "sliced" })).toEqual([]);
  });
}

function aService({ seed }: ContractWorld, name: string, spec: object): Manifest {
  return { apiVersion: "v1", kind: "Service", metadata: { namespace: seed.namespace(), name }, spec };
}

function aSlice(
  { seed }: ContractWorld,
  name: string,
  { labels, endpoints }: { readonly labels: Readonly<Record<string, string>>; readonly endpoints: unknown },
): Manifest {
  const metadata = { namespace: seed.namespace(), name, labels };
  const apiVersion = "discovery.k8s.io/v1";
  return { apiVersion, kind: "EndpointSlice", metadata, addressType: "IPv4", endpoints, ports: [] };
}
