import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

/** Writes a kubeconfig for a server behind a gate into a directory and returns its path. */
export function gatedKubeconfig(directory: string, server: string, token: string): string {
  const file = join(directory, `gated-${randomUUID()}.yaml`);
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "gated",
    clusters: [{ name: "gated", cluster: { server } }],
    users: [{ name: "gated", user: { token } }],
    contexts: [{ name: "gated", context: { cluster: "gated", user: "gated" } }],
  };
  writeFileSync(file, stringify(kubeconfig), { mode: 0o600 });
  return file;
}
