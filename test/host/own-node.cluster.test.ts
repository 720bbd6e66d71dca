// The node of `flipop host` on a real API server, read as the shipped ServiceAccount.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/adapters/kube/config.ts";
import { createOwnNode } from "../../src/adapters/kube/own-node.ts";
import { NODE_ANNOTATIONS } from "../../src/model/node-annotations.ts";

import type { NodeReading, OwnNode } from "../../src/ports/host.ts";
import { REAL_CLOCK } from "../adapters/kube/real-clock.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { shippedText } from "../manifests/shipped.ts";

const MERGE = "application/merge-patch+json";

describeCluster("flipop host on a real API server", () => {
  let cluster: Cluster;
  let api: API;
  const open: OwnNode[] = [];

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", "host/namespace.yaml", "host/rbac.yaml", "host/daemonset.yaml"])
      await api.applyManifests(shippedText(file));
    for (const name of ["h1", "h2"])
      await api.createNode({ name, providerID: `hcloud://${name === "h1" ? 1 : 2}`, region: "fsn1", ready: true });
  });
  afterEach(() => {
    for (const node of open.splice(0)) node.close();
  });
  afterAll(async () => {
    api?.close();
    await cluster?.stop();
  });

  async function ownNode(
    name: string,
    account: string = "flipop-host",
  ): Promise<{ node: OwnNode; changes: () => number }> {
    const kubeconfig = cluster.kubeconfigFor(await api.serviceAccountToken(account, account));
    const connection = await loadConfig({ kubeconfig, home: "", inCluster: {}, environment: {} });
    const node = createOwnNode(connection, { version: "0.0.0", clock: REAL_CLOCK, name });
    open.push(node);
    let changes = 0;
    node.onChange(() => (changes += 1));
    return { node, changes: () => changes };
  }

  const annotate = async (name: string, text: string | null): Promise<void> => {
    await api.call(
      "PATCH",
      `/api/v1/nodes/${name}`,
      { metadata: { annotations: { [NODE_ANNOTATIONS.IPv4.host]: text } } },
      MERGE,
    );
  };

  test("its account reads one node, hears of each change of the annotation, and of nothing else", async () => {
    const { node, changes } = await ownNode("h1");
    expect(await node.read()).toEqual({ kind: "known" });
    const becomes = async (reading: NodeReading): Promise<void> => {
      await expect.poll(() => node.read()).toEqual(reading);
    };
    await annotate("h1", "203.0.113.7");
    await becomes({ kind: "known", annotation: "203.0.113.7" });
    await annotate("h1", "203.0.113.7,203.0.113.8");
    await becomes({ kind: "known", annotation: "203.0.113.7,203.0.113.8" });
    const before = changes();
    // Heartbeats, labels and the other node are no news.
    await api.setNodeReady("h1", true);
    await api.setNodeLabels("h1", { pool: "edge" });
    await annotate("h2", "203.0.113.9");
    await annotate("h1", null);
    await becomes({ kind: "known" });
    expect(changes() - before).toBe(1);
  });

  test("a node that is deleted is missing, and one that comes in its place is read", async () => {
    await api.createNode({ name: "h3", providerID: "hcloud://3", region: "fsn1", ready: true });
    await annotate("h3", "203.0.113.7");
    const { node } = await ownNode("h3");
    expect(await node.read()).toEqual({ kind: "known", annotation: "203.0.113.7" });
    await api.deleteNode("h3");
    await expect.poll(() => node.read()).toEqual({ kind: "missing" });
    await api.createNode({ name: "h3", providerID: "hcloud://4", region: "fsn1", ready: true });
    await expect.poll(() => node.read()).toEqual({ kind: "known" });
    await api.deleteNode("h3");
  });

  test("its account may write nothing, and read nothing but nodes", async () => {
    const own = new API({ ...cluster, token: await api.serviceAccountToken("flipop-host", "flipop-host") });
    try {
      const patch = await own.request("PATCH", "/api/v1/nodes/h1", { metadata: { annotations: { x: "y" } } }, MERGE);
      const reads = ["pods", "secrets", "services", "configmaps"].map((kind) => own.request("GET", `/api/v1/${kind}`));
      expect([patch.status, ...(await Promise.all(reads)).map(({ status }) => status)]).toEqual([
        403, 403, 403, 403, 403,
      ]);
    } finally {
      own.close();
    }
  });

  test("its pod is admitted in its own namespace, and refused in that of flipop", async () => {
    const { template } = parse(shippedText("host/daemonset.yaml")).spec;
    const bare = { apiVersion: "v1", kind: "Pod", metadata: { ...template.metadata, name: "trial" } };
    const trial = async (namespace: string, serviceAccountName: string): Promise<number> => {
      const body = { ...bare, spec: { ...template.spec, serviceAccountName } };
      return (await api.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All&fieldValidation=Strict`, body))
        .status;
    };
    expect([await trial("flipop-host", "flipop-host"), await trial("flipop", "default")]).toEqual([201, 403]);
  });
});
