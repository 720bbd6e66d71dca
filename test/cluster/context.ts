// How a test file reaches a cluster that the global setup has started for the whole run.
import { beforeAll, describe, inject, test } from "vitest";
import { API } from "./api.ts";
import type { ClusterFacts } from "./start.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A cluster for each worker; none where etcd and kube-apiserver are missing. */
    clusters: readonly ClusterFacts[];
  }
}

/**
 * Declares a group of tests that needs a cluster. No other file uses it meanwhile, and what another file left there is gone: an object anywhere in the cluster may own the
 * address or the name of a test. Where there is no cluster, one skipped test says so.
 */
export function describeCluster(title: string, body: (cluster: ClusterFacts) => void): void {
  const clusters = inject("clusters");
  // Vitest numbers its workers from 1, and gives a worker's number to its successor.
  const cluster = clusters[Number(process.env["VITEST_POOL_ID"] ?? 1) - 1];
  if (cluster !== undefined)
    describe(title, () => {
      beforeAll(async () => await clear(cluster));
      body(cluster);
    });
  else if (clusters.length > 0) throw new Error("there are more workers than clusters");
  else describe(title, () => test.skip("needs etcd and kube-apiserver", () => undefined));
}

/** What a plan of one file would see of another one. */
const CLUSTER_WIDE = [
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
  ...["floatingippools", "nodednsrecordsets", "routedips", "routedipissuers"].map(
    (plural) => `/apis/flipop.digitalocean.com/v1alpha1/${plural}`,
  ),
  "/api/v1/nodes",
];

type Item = { readonly metadata: { readonly name: string; readonly namespace?: string } };

/** Deletes everything of these kinds, whatever its finalizers. A kind that the cluster does not know yet is passed over. */
async function clear(cluster: ClusterFacts): Promise<void> {
  const api = new API({ ...cluster, token: cluster.adminToken });
  for (const path of CLUSTER_WIDE) {
    const { body } = await api.request<{ readonly items?: readonly Item[] }>("GET", path);
    for (const { metadata } of body.items ?? []) {
      const [root, plural] = [path.slice(0, path.lastIndexOf("/")), path.slice(path.lastIndexOf("/") + 1)];
      const scope = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
      const object = `${root}${scope}/${plural}/${metadata.name}`;
      await api.request("PATCH", object, { metadata: { finalizers: null } }, "application/merge-patch+json");
      await api.request("DELETE", object);
    }
  }
  api.close();
}
