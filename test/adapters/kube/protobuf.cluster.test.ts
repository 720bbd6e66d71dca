import { expect, test } from "vitest";
import { RESOURCES } from "../../../src/adapters/kube/call.ts";
import { createClusterReader } from "../../../src/adapters/kube/cluster-reader.ts";
import { loadConfig } from "../../../src/adapters/kube/config.ts";
import { decodeNode } from "../../../src/adapters/kube/node.ts";
import { decodePod } from "../../../src/adapters/kube/pod.ts";
import { PROTOBUF_OR_JSON } from "../../../src/adapters/kube/protobuf.ts";
import { decodeEndpointSlice, decodeService } from "../../../src/adapters/kube/service.ts";
import { Transport } from "../../../src/adapters/kube/transport.ts";
import { bigNode, bigPod, bigPodStatus } from "../../bench/big-objects.ts";
import { nodeName } from "../../bench/world.ts";
import { API } from "../../cluster/api.ts";
import { describeCluster } from "../../cluster/context.ts";
import { REAL_CLOCK } from "./real-clock.ts";

const DROPLET = 4242;

describeCluster("a real API server's protobuf", (facts) => {
  test("says the same of a node and of a pod that is being deleted as its JSON", async () => {
    const api = new API({ ...facts, token: facts.adminToken });
    const namespace = await api.createNamespace("protobuf");
    const { name, ...pod } = bigPod(1, DROPLET, false);
    const podPath = `/api/v1/namespaces/${namespace}/pods`;
    await api.call("POST", "/api/v1/nodes", bigNode(DROPLET));
    await api.setNodeTaints(nodeName(DROPLET), [
      { key: "empty", effect: "NoSchedule" },
      { key: "evicting", value: "now", effect: "NoExecute" },
    ]);
    await api.call("POST", podPath, pod);
    const status = { status: bigPodStatus(1) };
    await api.call("PATCH", `${podPath}/${name}/status`, status, "application/merge-patch+json");
    await api.deletePod({ namespace, name });
    const connection = await loadConfig({ kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} });
    const reader = createClusterReader(connection, { version: "0.0.0", clock: REAL_CLOCK });

    const node = decodeNode(await api.call("GET", `/api/v1/nodes/${nodeName(DROPLET)}`));
    expect(node?.taints).toHaveLength(2);
    expect(await reader.listNodes()).toContainEqual(node);
    const deleted = decodePod(await api.call("GET", `${podPath}/${name}`));
    expect(deleted?.deletedAtMs).toBeDefined();
    expect(await reader.listPods({ namespace, label: "" })).toEqual([deleted]);

    await api.deletePod({ namespace, name, force: true });
    await api.deleteNode(nodeName(DROPLET));
    reader.close();
    api.close();
  });

  test("says the same of Services and EndpointSlices as its JSON", async () => {
    const api = new API({ ...facts, token: facts.adminToken });
    const namespace = await api.createNamespace("protobuf");
    const services = `/api/v1/namespaces/${namespace}/services`;
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    const ports = [
      { name: "a", port: 80, targetPort: "http" },
      { name: "b", port: 53, protocol: "UDP", targetPort: 5353 },
    ];
    const labels = { app: "web" };
    await api.call("POST", services, {
      metadata: { name: "s", labels },
      spec: { type: "LoadBalancer", selector: labels, ports },
    });
    const conditions = [undefined, {}, { ready: false }, { ready: true, serving: false, terminating: true }];
    await api.call("POST", slices, {
      metadata: { name: "e", labels: { "kubernetes.io/service-name": "s" } },
      addressType: "IPv6",
      ports: [{ name: "a", port: 8080 }],
      endpoints: conditions.map((one, index) => ({
        addresses: [`fd00::${index + 1}`],
        conditions: one,
        hostname: "h",
        nodeName: `n${index % 2}`,
        zone: "z",
        hints: { forZones: [{ name: "z" }] },
        targetRef: { kind: "Pod", name: "p" },
      })),
    });
    const connection = await loadConfig({ kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} });
    const reader = createClusterReader(connection, { version: "0.0.0", clock: REAL_CLOCK });
    const service = decodeService(await api.call("GET", `${services}/s`));
    expect(service).toMatchObject({ type: "LoadBalancer", selector: labels });
    expect(service?.ports.filter(({ nodePort }) => nodePort === 0)).toEqual([]);
    expect(await reader.listServices()).toContainEqual(service);
    const slice = decodeEndpointSlice(await api.call("GET", `${slices}/e`));
    expect(slice?.endpointsByNode).toEqual(
      new Map([
        ["n0", { ready: 1, notReady: 1 }],
        ["n1", { ready: 1, notReady: 1 }],
      ]),
    );
    expect(await reader.listEndpointSlices({ namespace, name: "s" })).toEqual([slice]);
    reader.close();
    api.close();
  });

  test("is what it answers to those who take protobuf or JSON", async () => {
    const connection = await loadConfig({ kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} });
    const transport = new Transport(connection, { version: "0.0.0", clock: REAL_CLOCK });
    const list = {
      method: "GET",
      path: "/api/v1/nodes",
      verb: "list",
      resource: RESOURCES.nodes,
      subject: "",
    } as const;
    const types = [];
    for (const call of [list, { ...list, accept: PROTOBUF_OR_JSON }]) {
      types.push((await transport.send(call)).headers["content-type"]);
    }
    expect(types).toEqual(["application/json", "application/vnd.kubernetes.protobuf"]);
    transport.close();
  });
});
