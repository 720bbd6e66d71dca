import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../src/adapters/kube/config.ts";
import { createClusterWriter } from "../../../src/adapters/kube/create-cluster-writer.ts";
import { API } from "../../cluster/api.ts";
import { describeCluster } from "../../cluster/context.ts";
import { clusterContract } from "../../contract/cluster-contract.ts";
import type { Manifest } from "../../contract/cluster-world.ts";
import { REAL_CLOCK } from "./real-clock.ts";

const crds = join(import.meta.dirname, "../../../cronjob/crds");
const mergePatch = "application/merge-patch+json";

describeCluster("the HTTP adapter", (facts) => {
  clusterContract("HTTP adapter on a real API server", async () => {
    const api = new API({ ...facts, token: facts.adminToken });
    for (const file of readdirSync(crds).filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml")) {
      await api.applyManifests(readFileSync(join(crds, file), "utf8"));
    }
    const namespace = await api.createNamespace("contract");
    const connection = await loadConfig({ kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} });
    const cluster = createClusterWriter(connection, { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" });
    const create = async (path: string, manifest: Manifest): Promise<void> => {
      await api.call("POST", path, manifest);
      if (manifest.status === undefined) return;
      await api.call("PATCH", `${path}/${manifest.metadata.name}/status`, { status: manifest.status }, mergePatch);
    };
    return {
      cluster,
      seed: {
        pool: (manifest) =>
          create(`/apis/flipop.digitalocean.com/v1alpha1/namespaces/${namespace}/floatingippools`, manifest),
        node: async (manifest) => {
          await create("/api/v1/nodes", manifest);
          // Admission adds a taint to every new node.
          const taints = (manifest.spec as { taints?: unknown }).taints ?? null;
          await api.call("PATCH", `/api/v1/nodes/${manifest.metadata.name}`, { spec: { taints } }, mergePatch);
        },
        pod: (manifest) => create(`/api/v1/namespaces/${namespace}/pods`, manifest),
        namespace: () => namespace,
      },
      dispose: async () => {
        cluster.close();
        api.close();
      },
    };
  });
});
