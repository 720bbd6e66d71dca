import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import { nodeBody } from "../cluster/objects.ts";
import { DNS_ZONES, type DNSZone, ZONE } from "./dns-zone.ts";
import { isWrite } from "./kube-meter.ts";
import { runProgram } from "./program.ts";
import type { RunOptions } from "./scene.ts";
import { createNodes, createRecordSets, emptyCluster, nodeName, type World } from "./world.ts";

/** Nodes of the cluster; every name publishes all of them, but the last node can leave some. */
const NODES = 3;

/** What one run asked of the DNS provider and of the cluster. */
export interface DNSRun {
  readonly reads: number;
  readonly writes: number;
  /** Records that are there, gone or different afterwards. */
  readonly changedRecords: number;
  /** Writes to the Kubernetes API, the Lease aside; counted in metered runs only. */
  readonly kubeWrites: number;
  readonly wallMs: number;
}

/** A cluster with nodes and record sets, and a zone in which these have no records yet. */
export interface DNSScene {
  /** Runs flipop once. */
  run(how?: Pick<RunOptions, "isMetered">): Promise<DNSRun>;
  /** Takes the last node out of the first `count` names, or brings it back. */
  setLastNode(where: "out" | "in", count: number): Promise<void>;
}

/** Empties the cluster, sets a scene with `names` record sets up, lends it to the work and takes its zone down again. */
export async function withDNSScene<T>(
  world: World,
  { provider, names }: { readonly provider: string; readonly names: number },
  work: (scene: DNSScene) => Promise<T>,
): Promise<T> {
  const { api } = world;
  await emptyCluster(api);
  await createNodes(api, { from: 1, to: NODES, body: (droplet) => nodeOf(droplet, names) });
  await createRecordSets(
    api,
    numbers(names).map((index) => ({ name: nameOf(index), spec: specOf(provider, index) })),
  );
  const open = DNS_ZONES[provider];
  if (open === undefined) throw new Error(`no emulated DNS provider ${provider}`);
  const zone = await open();
  try {
    return await work({
      run: ({ isMetered = false } = {}) => countedRun(world, zone, isMetered),
      setLastNode: async (where, count) => {
        const labels = numbers(count).map((index) => [labelOf(index), where === "in" ? "yes" : null] as const);
        await api.setNodeLabels(nodeName(NODES), Object.fromEntries(labels));
      },
    });
  } finally {
    await zone.close();
  }
}

async function countedRun(world: World, zone: DNSZone, isMetered: boolean): Promise<DNSRun> {
  zone.forgetCalls();
  world.meter.calls.length = 0;
  const before = zone.records();
  const kubeconfig = isMetered ? world.meteredKubeconfig : world.kubeconfig;
  const { wallMs } = await runProgram(["reconcile"], { KUBECONFIG: kubeconfig, ...zone.environment });
  // How a webhook would store a set is asked by POST.
  const isRead = ({ method, path }: RecordedCall): boolean => method === "GET" || path === "/adjustendpoints";
  const reads = zone.calls.filter(isRead).length;
  return {
    reads,
    writes: zone.calls.length - reads,
    changedRecords: differences(before, zone.records()),
    kubeWrites: world.meter.calls.filter(isWrite).length,
    wallMs,
  };
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): number {
  return [...new Set([...before.keys(), ...after.keys()])].filter((id) => before.get(id) !== after.get(id)).length;
}

function nodeOf(droplet: number, names: number): ReturnType<typeof nodeBody> {
  return nodeBody({
    name: nodeName(droplet),
    providerID: `digitalocean://${droplet}`,
    labels: Object.fromEntries(numbers(names).map((index) => [labelOf(index), "yes"])),
    addresses: [{ type: "ExternalIP", address: `198.18.0.${droplet}` }],
  });
}

function specOf(provider: string, index: number): Readonly<Record<string, unknown>> {
  const dnsRecordSet = { zone: ZONE, recordName: nameOf(index), ttl: 60 };
  return { provider, addressType: "ExternalIP", dnsRecordSet, match: { nodeLabel: labelOf(index) } };
}

function nameOf(index: number): string {
  return `nodes-${index}`;
}

/** The label by which a name chooses its nodes. */
function labelOf(index: number): string {
  return `bench/${nameOf(index)}`;
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
