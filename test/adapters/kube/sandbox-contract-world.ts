import type { Connection } from "../../../src/adapters/kube/call.ts";
import type { ClusterWriter } from "../../../src/ports/cluster.ts";
import { serve } from "../../../src/sandbox/http-server.ts";
import { kubernetesSandbox } from "../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import type { JSONObject } from "../../../src/sandbox/kubernetes/object-store.ts";
import type { ContractWorld, Manifest } from "../../contract/cluster-world.ts";
import { olderCRD } from "../../contract/older-crd.ts";
import { plainConnection } from "./scripted-server.ts";

/** The world of the cluster contract on the sandbox over HTTP, reached by whatever `open` makes of the connection. */
export async function sandboxContractWorld(
  open: (connection: Connection) => ClusterWriter & { readonly close: () => void },
): Promise<ContractWorld> {
  const sandbox = kubernetesSandbox();
  const faults = { take: () => undefined };
  const server = await serve({ server: "kubernetes", handle: (request) => sandbox.handle(request), faults });
  const cluster = open(plainConnection(server.url));
  const write = async (manifest: Manifest): Promise<void> => sandbox.write(manifest as unknown as JSONObject);
  await write({ apiVersion: "v1", kind: "Namespace", metadata: { name: "contract" } });
  return {
    cluster,
    seed: {
      object: write,
      node: write,
      pod: write,
      service: write,
      namespace: () => "contract",
      olderCRD: async (name, field) => {
        const { older, shipped } = olderCRD(name, field);
        await write(older);
        return () => write(shipped);
      },
    },
    dispose: async () => {
      cluster.close();
      await server.close();
    },
  };
}
