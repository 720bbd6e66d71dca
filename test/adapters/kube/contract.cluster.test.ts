import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClusterWriter } from "../../../src/adapters/kube/cluster-writer.ts";
import { loadConfig } from "../../../src/adapters/kube/config.ts";
import { API } from "../../cluster/api.ts";
import { describeCluster } from "../../cluster/context.ts";
import { clusterContract } from "../../contract/cluster-contract.ts";
import type { Manifest } from "../../contract/cluster-world.ts";
import { olderCRD } from "../../contract/older-crd.ts";
import { REAL_CLOCK } from "./real-clock.ts";
import { rejection } from "./with-server.ts";

const crds = join(import.meta.dirname, "../../../cronjob/crds");
const mergePatch = "application/merge-patch+json";

describeCluster("the HTTP adapter", (facts) => {
  clusterContract("HTTP adapter on a real API server", async () => {
    const api = new API({ ...facts, token: facts.adminToken });
    for (const file of readdirSync(crds).filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml")) {
      await api.applyManifests(readFileSync(join(crds, file), "utf8"));
    }
    const namespace = await api.createNamespace("contract");
    const cluster = await openCluster(facts.kubeconfig);
    const create = async (path: string, manifest: Manifest): Promise<void> => {
      await api.call("POST", path, manifest);
      if (manifest.status === undefined) return;
      await api.call("PATCH", `${path}/${manifest.metadata.name}/status`, { status: manifest.status }, mergePatch);
    };
    return {
      cluster,
      seed: {
        object: (manifest) => {
          const plural = `${manifest.kind.toLowerCase()}s`;
          return create(`/apis/flipop.digitalocean.com/v1alpha1/namespaces/${namespace}/${plural}`, manifest);
        },
        node: async (manifest) => {
          await create("/api/v1/nodes", manifest);
          // Admission adds a taint to every new node.
          const taints = (manifest.spec as { taints?: unknown }).taints ?? null;
          await api.call("PATCH", `/api/v1/nodes/${manifest.metadata.name}`, { spec: { taints } }, mergePatch);
        },
        pod: (manifest) => create(`/api/v1/namespaces/${namespace}/pods`, manifest),
        service: (manifest) => {
          const root = manifest.kind === "Service" ? "/api/v1" : "/apis/discovery.k8s.io/v1";
          return create(`${root}/namespaces/${namespace}/${manifest.kind.toLowerCase()}s`, manifest);
        },
        namespace: () => namespace,
        olderCRD: async (name, field) => {
          const { older, shipped } = olderCRD(name, field);
          await api.applyManifests(JSON.stringify(older));
          return async () => {
            await api.applyManifests(JSON.stringify(shipped));
          };
        },
      },
      dispose: async () => {
        cluster.close();
        api.close();
      },
    };
  });

  test("a Lease that was deleted is not brought back by the one who had read it", async () => {
    const api = new API({ ...facts, token: facts.adminToken });
    const namespace = await api.createNamespace("lease");
    const cluster = await openCluster(facts.kubeconfig);
    const lease = { namespace, name: "l", holder: "me", durationSeconds: 15, transitions: 0, annotations: {} };
    const created = await cluster.createLease({ ...lease, acquireTimeMs: 1, renewTimeMs: 1 });
    await api.call("DELETE", `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/l`);
    const error = await rejection(cluster.replaceLease({ ...created, renewTimeMs: 2 }));
    expect(error).toMatchObject({ name: "KubeError", failure: "conflict" });
    expect(await cluster.readLease(namespace, "l")).toBeUndefined();
    cluster.close();
    api.close();
  });

  test("a wrong token is unauthorized, and its text does not show it", async () => {
    const connection = await loadConfig({ kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} });
    const wrong = { ...connection, user: { token: "hunter2" } };
    const cluster = createClusterWriter(wrong, { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" });
    const error = await rejection(cluster.listNodes());
    expect(error).toMatchObject({ failure: "unauthorized", status: 401 });
    expect(error.message).not.toContain("hunter2");
    cluster.close();
  });

  test("an impersonated stranger is forbidden, and the text names verb and resource", async () => {
    const cluster = await openCluster(facts.kubeconfig, "stranger");
    const error = await rejection(cluster.listNodes());
    expect(error.message).toBe(
      'Cannot list nodes: nodes is forbidden: User "stranger" cannot list resource "nodes" in API group "" at the cluster scope (403). ' +
        'Grant the verb "list" on "nodes" (see cronjob/rbac.yaml).',
    );
    cluster.close();
  });
});

async function openCluster(kubeconfig: string, as?: string): Promise<ReturnType<typeof createClusterWriter>> {
  const inputs = { kubeconfig, home: "", inCluster: {}, environment: {}, ...(as === undefined ? {} : { as }) };
  const connection = await loadConfig(inputs);
  return createClusterWriter(connection, { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" });
}
