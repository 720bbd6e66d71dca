import { beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { MAXIMAL_ISSUER_SPEC, MAXIMAL_ROUTED_IP_SPEC, MAXIMAL_ROUTED_IP_STATUS } from "./maximal-routed-ip.ts";
import { shippedFiles, shippedText } from "./shipped.ts";
import { shownTable } from "./shown-table.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1";

describeCluster("the shipped CRDs of routed IPs on a real API server", (cluster) => {
  const api = new API({ ...cluster, token: cluster.adminToken });
  const create = (namespace: string, kind: "RoutedIP" | "RoutedIPIssuer", name: string, spec: unknown) =>
    api.request("POST", `${GROUP}/namespaces/${namespace}/${kind.toLowerCase()}s?fieldValidation=Strict`, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind,
      metadata: { name },
      spec,
    });
  const minimal = { issuer: "a", serviceName: "b" };

  beforeAll(async () => {
    for (const file of shippedFiles("crds")) await api.applyManifests(shippedText(file));
  });

  test.for([
    ["spec.issuer", { issuer: "" }],
    ["spec.issuer", { issuer: undefined }],
    ["spec.serviceName", { serviceName: "" }],
    ["spec.serviceName", { serviceName: undefined }],
    ["spec.address", { address: "" }],
    ["spec.address", { address: "2001:db8::g" }],
    ["spec.address", { address: "192.0.2.256" }],
    ["spec.address", { address: "192.0.2.010" }],
    ["spec.ports[0].protocol", { ports: [{ protocol: "sctp", port: 80 }] }],
    ["spec.ports[0].protocol", { ports: [{ port: 80 }] }],
    ["spec.ports[0]: Invalid value: port is required", { ports: [{ protocol: "tcp" }] }],
    ["spec.ports[1]: Invalid value: port is required", { ports: [{ protocol: "ICMP" }, { protocol: "UDP" }] }],
    ["spec.ports[0].port", { ports: [{ protocol: "tcp", port: 0 }] }],
    ["spec.ports[0].port", { ports: [{ protocol: "tcp", port: 65_536 }] }],
    ["spec.ports[0].port", { ports: [{ protocol: "udp", port: "80:90" }] }],
    ["spec.ports[0].port", { ports: [{ protocol: "udp", port: 80.5 }] }],
    ["spec.ports", { ports: Array.from({ length: 51 }, () => ({ protocol: "icmp" })) }],
    ["spec.dnsRecordSet.recordName", { dnsRecordSet: { zone: "example.com" } }],
    ["spec.foreignHolder", { foreignHolder: "Steal" }],
    ["spec.gracePeriodSeconds", { gracePeriodSeconds: -1 }],
    ["spec.suspend", { suspend: "yes" }],
  ] as const)("a routed IP with a bad %s is refused with the field named", async ([field, change]) => {
    const namespace = await api.createNamespace("rip-refused");
    const reply = await create(namespace, "RoutedIP", "bad", { ...minimal, ...change });
    expect(reply.status).toBe(422);
    expect(reply.body.message).toContain(field);
  });

  test.for([
    ["spec.provider", { provider: "" }],
    ["spec.provider", {}],
    ["spec.routedIPReclaimPolicy", { provider: "x", routedIPReclaimPolicy: "Remove" }],
  ] as const)("an issuer with a bad %s is refused with the field named", async ([field, spec]) => {
    const namespace = await api.createNamespace("issuer-refused");
    const reply = await create(namespace, "RoutedIPIssuer", "bad", spec);
    expect(reply.status).toBe(422);
    expect(reply.body.message).toContain(field);
  });

  test("objects without a spec are refused", async () => {
    const namespace = await api.createNamespace("no-spec");
    expect((await create(namespace, "RoutedIP", "bad", undefined)).status).toBe(422);
    expect((await create(namespace, "RoutedIPIssuer", "bad", undefined)).status).toBe(422);
  });

  test.for([
    {},
    { ports: [] },
    { ports: [{ protocol: "TCP", port: 443 }, { protocol: "udp", port: "1-65535" }, { protocol: "ICMP" }] },
    { ports: [{ protocol: "tcp", port: "all" }] },
    { address: "203.0.113.255", dnsRecordSet: { provider: "", zone: "example.com", recordName: "@", ttl: 0 } },
  ])("a routed IP with %o is stored as written", async (change) => {
    const namespace = await api.createNamespace("rip-stored");
    const reply = await create(namespace, "RoutedIP", "good", { ...minimal, ...change });
    expect([reply.status, reply.body.spec]).toEqual([201, { ...minimal, ...change }]);
  });

  test("a spec and a status with every field of the model are stored whole, and kubectl get shows what matters", async () => {
    const namespace = await api.createNamespace("rip-full");
    const path = `${GROUP}/namespaces/${namespace}/routedips`;
    expect((await create(namespace, "RoutedIP", "ingress-frankfurt", MAXIMAL_ROUTED_IP_SPEC)).status).toBe(201);
    const status = MAXIMAL_ROUTED_IP_STATUS;
    await api.call("PATCH", `${path}/ingress-frankfurt/status`, { status }, "application/merge-patch+json");
    const stored = await api.call("GET", `${path}/ingress-frankfurt`);
    expect([stored.status, stored.spec, stored.metadata.generation]).toEqual([status, MAXIMAL_ROUTED_IP_SPEC, 1]);
    const { shown, wide, width, cells } = await shownTable(cluster, path);
    expect(shown).toEqual({
      Name: "ingress-frankfurt",
      Address: "192.0.2.5",
      Node: "worker-1",
      DNS: "www.example.com",
      Ready: "False",
      Age: expect.stringMatching(/^\d+s$/),
    });
    expect(wide).toEqual(["Service", "Issuer", "Reason", "Error"]);
    expect(cells).toMatchObject({ Service: "web", Issuer: "public", Reason: "NoActiveIP" });
    expect(width).toBeLessThanOrEqual(80);
  });

  test("kubectl get shows of an issuer what it says, and it has no status to write", async () => {
    const namespace = await api.createNamespace("issuer-full");
    const path = `${GROUP}/namespaces/${namespace}/routedipissuers`;
    const reply = await create(namespace, "RoutedIPIssuer", "public", MAXIMAL_ISSUER_SPEC);
    expect([reply.status, reply.body.spec]).toEqual([201, MAXIMAL_ISSUER_SPEC]);
    const { shown, wide } = await shownTable(cluster, path);
    expect(shown).toEqual({
      Name: "public",
      Provider: "digitalocean",
      Region: "ams3",
      Reclaim: "Delete",
      Firewall: "edge",
      Age: expect.stringMatching(/^\d+s$/),
    });
    expect(wide).toEqual([]);
    const patch = { status: { planted: 1 } };
    const answer = await api.request("PATCH", `${path}/public/status`, patch, "application/merge-patch+json");
    expect(answer.status).toBe(404);
  });
});
