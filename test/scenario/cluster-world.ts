import { readFileSync } from "node:fs";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import type { SandboxReply, SandboxRequest } from "../../src/sandbox/http-server.ts";
import { API } from "../cluster/api.ts";
import type { ClusterFacts } from "../cluster/start.ts";
import { applyEarlierCRDs, applyPresentCRDs } from "../manifests/earlier-crd.ts";
import type { Backend } from "./backend.ts";
import type { LoggedCall } from "./call-log.ts";
import { httpAccount } from "./http-account.ts";
import { httpCluster } from "./http-cluster.ts";
import { httpFault } from "./operation-fault.ts";
import { sandboxCluster } from "./sandbox-world.ts";
import { VirtualClock } from "./virtual-clock.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1";

/** Applies the definitions the project ships, once for all scenarios, and takes away what tests before them left: pools want all nodes, whoever made them. */
export async function prepareCluster(facts: ClusterFacts): Promise<void> {
  const api = new API({ server: facts.server, caFile: facts.caFile, token: facts.adminToken });
  const directory = new URL("../../cronjob/crds/", import.meta.url);
  for (const file of ["floatingippools.yaml", "nodednsrecordsets.yaml", "routedips.yaml", "routedipissuers.yaml"])
    await api.applyManifests(readFileSync(new URL(file, directory), "utf8"));
  for (const resource of ["floatingippools", "nodednsrecordsets", "routedips", "routedipissuers"])
    await removeAll(api, resource);
  const nodes = await api.list<{ metadata: { name: string } }>("/api/v1/nodes");
  for (const { metadata } of nodes) await api.deleteNode(metadata.name);
  api.close();
}

/** As {@link prepareCluster}, with the definitions of an earlier release, so that runs meet specs which the present ones refuse. Returns what brings those back. */
export async function prepareEarlierCluster(facts: ClusterFacts): Promise<() => Promise<void>> {
  await prepareCluster(facts);
  const api = new API({ server: facts.server, caFile: facts.caFile, token: facts.adminToken });
  await applyEarlierCRDs(api);
  return async () => {
    await applyPresentCRDs(api);
    api.close();
  };
}

async function removeAll(api: API, resource: string): Promise<void> {
  if ((await api.request("GET", `${GROUP}/${resource}`)).status === 404) return;
  const objects = await api.list<{ metadata: { namespace: string; name: string } }>(`${GROUP}/${resource}`);
  for (const { metadata } of objects) {
    const path = `${GROUP}/namespaces/${metadata.namespace}/${resource}/${metadata.name}`;
    await api.call("PATCH", path, { metadata: { finalizers: null } }, contentType("PATCH"));
    await api.request("DELETE", path);
  }
}

/**
 * A real API server with the emulated DigitalOcean over HTTP. Between flipop and the server stands a proxy, for faults and
 * for the log. Names begin with a prefix of the scenario's own; only one scenario may play at a time, since a pool without a
 * selector would want the nodes of others.
 */
export async function clusterWorld(
  facts: ClusterFacts,
  number: number,
  prefix = `s${number}-${Date.now().toString(36).slice(-5)}-`,
): Promise<Backend> {
  const api = new API({ server: facts.server, caFile: facts.caFile, token: facts.adminToken });
  // Objects get real times from the server, so virtual time begins now.
  const clock = new VirtualClock(Math.ceil(Date.now() / 1000) * 1000);
  const calls: LoggedCall[] = [];
  const account = await httpAccount(clock, calls);
  const cluster = await httpCluster({ handle: (request) => forward(api, request), calls, prefix });
  return {
    kind: "cluster",
    prefix,
    clock,
    account: account.account,
    dns: account.dns,
    rest: (method, path, body) => api.call(method, path, body, contentType(method)),
    open: (processClock, life) => {
      const writer = cluster.open(processClock);
      const timed = withTime(writer, () => processClock.wallMs());
      return { cluster: timed, ...account.open(processClock, life), close: () => writer.close() };
    },
    beside: () => sandboxCluster({ clock, calls, account }),
    fail: (fault) => (fault.side === "cluster" ? cluster : account).faults.add(httpFault(fault, true)),
    clearFaults: () => {
      account.faults.clear();
      cluster.faults.clear();
    },
    log: () => calls,
    clearLog: () => {
      calls.length = 0;
    },
    close: async () => {
      await account.close();
      await cluster.close();
      api.close();
    },
  };
}

function contentType(method: string): string {
  return method === "PATCH" ? "application/merge-patch+json" : "application/json";
}

async function forward(api: API, { method, path, query, headers, body }: SandboxRequest): Promise<SandboxReply> {
  const target = path.split("/").map(encodeURIComponent).join("/");
  const suffix = query.size === 0 ? "" : `?${query}`;
  const reply = await api.request<unknown>(method, `${target}${suffix}`, body, headers["content-type"]);
  return { status: reply.status, body: reply.body };
}

/** The server's own clock cannot be moved; what flipop decides on can. */
function withTime(writer: ClusterWriter, nowMs: () => number): ClusterWriter {
  return new Proxy(writer, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key === "now") return nowMs;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
