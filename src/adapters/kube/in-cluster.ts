import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { Connection } from "./connection.ts";

const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The connection of a pod: the API server its environment names and the mounted service account, whose token file is read
 * again while flipop runs. Undefined outside a pod, and in a pod whose token is not mounted. Reads files; calls no one.
 */
export async function inClusterConnection(place: {
  readonly host?: string;
  readonly port?: string;
  readonly folder?: string;
}): Promise<Connection | undefined> {
  const folder = place.folder ?? FOLDER;
  const tokenFile = join(folder, "token");
  if (!place.host || (await textOf(tokenFile)) === undefined) return undefined;
  const host = isIPv6(place.host) ? `[${place.host}]` : place.host;
  return {
    server: `https://${host}:${place.port || "443"}`,
    source: "the pod's service account",
    context: "",
    namespace: (await textOf(join(folder, "namespace"))) ?? "default",
    tls: { authorityFile: join(folder, "ca.crt"), isInsecure: false },
    user: { tokenFile },
    impersonation: { groups: [], extra: {} },
  };
}

/** The file's text without surrounding space; undefined when it cannot be read or is empty. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim() || undefined;
  } catch {
    return undefined;
  }
}
