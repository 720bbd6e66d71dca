import { externalIP, internalIP, ip } from "../scenario/scenario-names.ts";
import type { WireWorld } from "./wire-world.ts";

/** One change of the world, and the single run that should make everything right again. */
export interface WireStory {
  readonly name: string;
  /** The world before is one in which flipop has done its work; else one in which it never worked. */
  readonly isFilled: boolean;
  readonly change: (world: WireWorld) => Promise<unknown>;
  /** Numbers of the nodes that can serve then. */
  readonly serving: readonly number[];
  /** Every object is deleted, with `reclaimPolicy: Delete`. */
  readonly isEnd?: boolean;
}

/** The objects of every story. */
export const POOLS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/shop/floatingippools";
const RECORD_SETS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/shop/nodednsrecordsets";
/** The addresses that the pool may hold: one of the account's own, two bought. */
export const MOST_BOUGHT = 2;

/** The stories that are played with a fault at every call. */
export const WIRE_STORIES: readonly WireStory[] = [
  { name: "the first fill", isFilled: false, change: async () => undefined, serving: [1, 2, 3] },
  { name: "a failover", isFilled: true, change: failNode, serving: [2, 3, 4] },
  { name: "the deletion of everything", isFilled: true, change: deleteAll, serving: [1, 2, 3], isEnd: true },
];

/** The story of this name. */
export function wireStory(name: "the first fill" | "a failover" | "the deletion of everything"): WireStory {
  const story = WIRE_STORIES.find((one) => one.name === name);
  if (story === undefined) throw new Error(`there is no story ${name}`);
  return story;
}

/** Makes what every story begins with. */
export async function populate({ rest, digitalocean, cloudflare }: WireWorld): Promise<void> {
  for (const name of ["flipop", "shop"]) await rest("POST", "/api/v1/namespaces", { metadata: { name } });
  for (const id of [101, 102, 103, 104]) digitalocean.addDroplet({ id, region: "nyc3" });
  digitalocean.addAddress({ ip: ip(1), region: "nyc3" });
  digitalocean.setDomain({ name: "example.com" });
  cloudflare.addZone({ name: "example.net" });
  for (const number of [1, 2, 3]) await createNode(rest, number);
  await rest("POST", POOLS, pool());
  await rest("POST", RECORD_SETS, recordSet("outside", "cloudflare", "example.net", "ExternalIP"));
  await rest("POST", RECORD_SETS, recordSet("inside", "digitalocean", "example.com", "InternalIP"));
}

async function failNode({ rest }: WireWorld): Promise<void> {
  await createNode(rest, 4);
  await rest("PATCH", "/api/v1/nodes/n1/status", { status: { conditions: [readiness(false)] } });
}

async function deleteAll({ rest }: WireWorld): Promise<void> {
  for (const path of [`${POOLS}/web`, `${RECORD_SETS}/outside`, `${RECORD_SETS}/inside`]) await rest("DELETE", path);
}

async function createNode(rest: WireWorld["rest"], number: number): Promise<void> {
  const name = `n${number}`;
  await rest("POST", "/api/v1/nodes", {
    metadata: { name, labels: { "topology.kubernetes.io/region": "nyc3" } },
    spec: { providerID: `digitalocean://${100 + number}` },
    status: {
      conditions: [readiness(true)],
      addresses: [
        { type: "ExternalIP", address: externalIP(number) },
        { type: "InternalIP", address: internalIP(number) },
      ],
    },
  });
  await rest("PATCH", `/api/v1/nodes/${name}`, { spec: { taints: null } });
  const pod = { metadata: { name: `web-${name}`, labels: { app: "web" } } };
  const containers = [{ name: "main", image: "example.test/none" }];
  await rest("POST", "/api/v1/namespaces/shop/pods", { ...pod, spec: { nodeName: name, containers } });
  const conditions = [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }];
  await rest("PATCH", `/api/v1/namespaces/shop/pods/${pod.metadata.name}/status`, {
    status: { phase: "Running", conditions },
  });
}

function readiness(isReady: boolean): object {
  const time = "2026-01-01T00:00:00Z";
  const status = isReady ? "True" : "False";
  return { type: "Ready", status, reason: "Kubelet", message: "", lastHeartbeatTime: time, lastTransitionTime: time };
}

function pool(): object {
  return {
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "FloatingIPPool",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      provider: "digitalocean",
      region: "nyc3",
      ips: [ip(1)],
      desiredIPs: 1 + MOST_BOUGHT,
      reclaimPolicy: "Delete",
      match: { podNamespace: "shop", podLabel: "app=web" },
      dnsRecordSet: { zone: "example.com", recordName: "www" },
    },
  };
}

function recordSet(name: string, provider: string, zone: string, addressType: string): object {
  return {
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "NodeDNSRecordSet",
    metadata: { name, namespace: "shop" },
    spec: { provider, addressType, reclaimPolicy: "Delete", dnsRecordSet: { zone, recordName: name } },
  };
}
