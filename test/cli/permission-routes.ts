import type { API } from "../cluster/api.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/routed";
const MERGE = "application/merge-patch+json";
const apiVersion = "flipop.digitalocean.com/v1alpha1";

/**
 * In the namespace `routed`: one routed IP whose Service selects pods, on n4 and n6, and one whose Service has EndpointSlices alone, on n5. Their nodes have pods in no
 * other namespace.
 */
export async function createRoutes(api: API, selected: string, sliced: string): Promise<void> {
  await api.call("POST", "/api/v1/namespaces", { metadata: { name: "routed" } });
  for (const n of [4, 5, 6]) {
    const node = `n${n}`;
    await api.createNode({ name: node, providerID: `digitalocean://${100 + n}`, region: "nyc3", ready: true });
    if (n !== 5)
      await api.createPod({ namespace: "routed", name: node, nodeName: node, labels: { app: "web" }, ready: true });
  }
  const service = (name: string, spec: object): Promise<unknown> =>
    api.call("POST", "/api/v1/namespaces/routed/services", {
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...spec },
    });
  await service("selected", { selector: { app: "web" } });
  await service("sliced", {});
  await api.call("POST", "/apis/discovery.k8s.io/v1/namespaces/routed/endpointslices", {
    metadata: { name: "sliced", labels: { "kubernetes.io/service-name": "sliced" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.5"], nodeName: "n5", conditions: { ready: true } }],
    ports: [{ port: 80 }],
  });
  const metadata = { name: "public" };
  const issuer = { apiVersion, kind: "RoutedIPIssuer", metadata, spec: { provider: "digitalocean", region: "nyc3" } };
  await api.call("POST", `${GROUP}/routedipissuers`, issuer);
  for (const [name, address] of Object.entries({ selected, sliced }))
    await api.call("POST", `${GROUP}/routedips`, {
      apiVersion,
      kind: "RoutedIP",
      metadata: { name },
      spec: {
        issuer: "public",
        address,
        serviceName: name,
        dnsRecordSet: { zone: "example.com", recordName: name },
      },
    });
}

/** Makes the address of `selected` move, and both routed IPs change their finalizer: work of every kind. */
export async function changeRoutes(api: API, isOdd: boolean): Promise<void> {
  await api.setNodeReady("n6", !isOdd);
  await api.setNodeReady("n4", isOdd);
  const spec = { routedIPReclaimPolicy: isOdd ? "Delete" : "Retain" };
  await api.call("PATCH", `${GROUP}/routedipissuers/public`, { spec }, MERGE);
}

/** A change by somebody else, without a meaning. */
export async function editRoutes(api: API, count: number): Promise<void> {
  const annotations = { "example.com/count": String(count) };
  await api.call("PATCH", `${GROUP}/routedips/selected`, { metadata: { annotations } }, MERGE);
}
