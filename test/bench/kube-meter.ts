import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import type { ClusterFacts } from "../cluster/start.ts";

/** One call to the Kubernetes API. */
export interface KubeCall {
  readonly method: string;
  /** Without query. */
  readonly path: string;
}

/** A proxy in front of an API server that writes down what passes. It costs time: for counting, not for timing. */
export interface KubeMeter {
  readonly url: string;
  readonly calls: KubeCall[];
  close(): void;
}

/** Starts a proxy on loopback; credentials are passed on as they come. */
export async function openKubeMeter({ server, caFile }: ClusterFacts): Promise<KubeMeter> {
  const calls: KubeCall[] = [];
  const agent = new Agent({ keepAlive: true, ca: readFileSync(caFile) });
  const proxy = createServer((incoming, outgoing) => {
    const { method = "GET", url = "/", headers } = incoming;
    calls.push({ method, path: new URL(url, server).pathname });
    const passed = request(new URL(url, server), { method, headers, agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, outgoing, () => undefined);
    });
    passed.on("error", () => outgoing.destroy());
    pipeline(incoming, passed, () => undefined);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    calls,
    close: () => {
      proxy.close();
      proxy.closeAllConnections();
      agent.destroy();
    },
  };
}

/** True for a call that changes something other than a Lease. */
export function isWrite({ method, path }: KubeCall): boolean {
  return method !== "GET" && !isLeaseCall({ method, path });
}

/** True for a call about a Lease. */
export function isLeaseCall({ path }: KubeCall): boolean {
  return path.startsWith("/apis/coordination.k8s.io/");
}
