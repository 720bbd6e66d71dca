import { beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../../../src/adapters/kube/config.ts";
import { createWarmCluster } from "../../../../src/adapters/kube/warm-cluster.ts";
import { API } from "../../../cluster/api.ts";
import { describeCluster } from "../../../cluster/context.ts";
import { shippedFiles, shippedText } from "../../../manifests/shipped.ts";
import { REAL_CLOCK } from "../real-clock.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1";
const MERGE = "application/merge-patch+json";
const apiVersion = "flipop.digitalocean.com/v1alpha1";

describeCluster("lists for routed IPs kept in memory on a real API server", (facts) => {
  const api = new API({ ...facts, token: facts.adminToken });
  beforeAll(async () => {
    for (const file of shippedFiles("crds")) await api.applyManifests(shippedText(file));
  });

  test("show routed IPs, own writes at once and unannounced, issuers, Services, and the EndpointSlices of a Service", async () => {
    const connection = await loadConfig({ kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} });
    const cluster = createWarmCluster(connection, { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" });
    const namespace = await api.createNamespace("warm-rip");
    const service = { namespace, name: "web" };
    const heard: string[] = [];
    cluster.onChange(({ kind, subject }) => heard.push(`${kind} ${subject}`));
    const hears = (text: string) => expect.poll(() => heard).toContain(`${text}`);
    for (const list of [cluster.listRoutedIPs(), cluster.listRoutedIPIssuers(), cluster.listServices()]) await list;
    expect(await cluster.listEndpointSlices(service)).toEqual([]);

    const own = `${GROUP}/namespaces/${namespace}`;
    const spec = { issuer: "public", serviceName: "web" };
    await api.call("POST", `${own}/routedips`, { apiVersion, kind: "RoutedIP", metadata: { name: "web" }, spec });
    await hears(`routed-ip ${namespace}/web`);
    const [routedIP] = (await cluster.listRoutedIPs()).filter(({ meta }) => meta.namespace === namespace);
    if (routedIP === undefined) throw new Error("the routed IP is not listed");
    heard.length = 0;
    const firewalls = [{ provider: "digitalocean", id: "fw", name: "edge", ports: ["tcp/80"], machineIDs: ["1"] }];
    const stored = await cluster.patchRoutedIPStatus(routedIP.meta, { ...routedIP.status, firewalls });
    expect(await cluster.listRoutedIPs()).toContainEqual(stored);
    const finalised = await cluster.setRoutedIPFinalizer(stored.meta, true);
    const noted = await cluster.noteRoutedIPAcquisitions(finalised.meta, { ips: ["192.0.2.1"], pending: [] });
    expect(await cluster.listRoutedIPs()).toContainEqual(noted);
    expect(noted).toMatchObject({ status: { firewalls }, meta: { note: { ips: ["192.0.2.1"] } } });
    await cluster.setRoutedIPFinalizer(noted.meta, false);

    const issuer = {
      apiVersion,
      kind: "RoutedIPIssuer",
      metadata: { name: "public" },
      spec: { provider: "digitalocean" },
    };
    await api.call("POST", `${own}/routedipissuers`, issuer);
    await hears(`issuer ${namespace}/public`);
    // By now an echo of the own writes would have been heard.
    expect(heard.filter((text) => text.startsWith("routed-ip"))).toEqual([]);

    const services = `/api/v1/namespaces/${namespace}/services`;
    await api.call("POST", services, { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
    await hears(`service ${namespace}/web`);
    heard.length = 0;
    await api.call("PATCH", `${services}/web`, { metadata: { annotations: { unread: "1" } } }, MERGE);
    await api.call("PATCH", `${services}/web`, { spec: { selector: { app: "web" } } }, MERGE);
    await hears(`service ${namespace}/web`);
    expect(heard).toEqual([`service ${namespace}/web`]);
    expect((await cluster.listServices()).filter((one) => one.namespace === namespace)).toMatchObject([
      { name: "web", selector: { app: "web" }, ports: [{ port: 80 }] },
    ]);

    const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    const slice = (of: string) => ({
      metadata: { name: of, labels: { "kubernetes.io/service-name": of } },
      addressType: "IPv4",
      ports: [],
      endpoints: [{ addresses: ["10.0.0.1"], nodeName: "n1" }],
    });
    await api.call("POST", slices, slice("other"));
    await api.call("POST", slices, slice("web"));
    await hears(`endpoint-slice ${namespace}/web`);
    expect(heard).not.toContain(`endpoint-slice ${namespace}/other`);
    const moved = [{ addresses: ["10.0.0.1"], nodeName: "n2", conditions: { ready: false } }];
    await api.call("PATCH", `${slices}/web`, { endpoints: moved }, MERGE);
    const byNode = async () => (await cluster.listEndpointSlices(service))[0]?.endpointsByNode;
    await expect.poll(byNode).toEqual(new Map([["n2", { ready: 0, notReady: 1 }]]));
    await api.call("DELETE", `${slices}/web`);
    await expect.poll(() => cluster.listEndpointSlices(service)).toEqual([]);
    await api.call("DELETE", `${own}/routedips`);
    cluster.close();
    api.close();
  });
});
