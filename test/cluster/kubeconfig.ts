import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

/** What a kubeconfig needs to know about a cluster. */
export type Endpoint = { readonly server: string; readonly caFile: string; readonly directory: string };

/**
 * Writes a kubeconfig for the bearer of `token` into the directory of the cluster and returns its path. The file goes
 * away with the cluster.
 */
export function writeKubeconfig(
  endpoint: Endpoint,
  token: string,
  options: { readonly namespace?: string } = {},
): string {
  const file = join(endpoint.directory, `kubeconfig-${randomUUID()}.yaml`);
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server: endpoint.server, "certificate-authority": endpoint.caFile } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test", ...options } }],
  };
  writeFileSync(file, stringify(kubeconfig), { mode: 0o600 });
  return file;
}
