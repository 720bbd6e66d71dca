import { createClusterWriter } from "../../../src/adapters/kube/create-cluster-writer.ts";
import { serve } from "../../../src/sandbox/http-server.ts";
import type { JSONObject } from "../../../src/sandbox/kubernetes/json-object.ts";
import { kubernetesSandbox } from "../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { clusterContract } from "../../contract/cluster-contract.ts";
import type { Manifest } from "../../contract/cluster-world.ts";
import { olderCRD } from "../../contract/older-crd.ts";
import { REAL_CLOCK } from "./real-clock.ts";
import { plainConnection } from "./scripted-server.ts";

clusterContract("HTTP adapter on the sandbox", async () => {
  const sandbox = kubernetesSandbox();
  const faults = { take: () => undefined };
  const server = await serve({ server: "kubernetes", handle: (request) => sandbox.handle(request), faults });
  const cluster = createClusterWriter(plainConnection(server.url), {
    version: "0.0.0",
    clock: REAL_CLOCK,
    reportingInstance: "test",
  });
  const write = async (manifest: Manifest): Promise<void> => sandbox.write(manifest as unknown as JSONObject);
  await write({ apiVersion: "v1", kind: "Namespace", metadata: { name: "contract" } });
  return {
    cluster,
    seed: {
      object: write,
      node: write,
      pod: write,
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
});
