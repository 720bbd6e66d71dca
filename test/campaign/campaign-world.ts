import type { PoolStatus, RecordSetStatus } from "../../src/model/resource.ts";
import type { PassResult } from "../../src/model/run.ts";
import type { Backend } from "../scenario/backend.ts";
import type { StoredObject } from "../scenario/object-access.ts";
import { dropletOf, externalIP, externalIPv6, internalIP, ip, ipv6 } from "../scenario/scenario-names.ts";
import { World } from "../scenario/world.ts";
import { comeToRest, type Rest } from "./come-to-rest.ts";
import { BOTH, collectionPath, type Kind, type KindName } from "./kinds.ts";
import type { Spec } from "./spec-value.ts";

/** The object under test of each kind. */
export const NAMES: Readonly<Record<KindName, string>> = { FloatingIPPool: "web", NodeDNSRecordSet: "nodes" };

/** The namespace of every object. */
export const NAMESPACE = "shop";

/** Addresses outside the cluster, on a droplet that never was a node: one of each family. */
export const FOREIGN_IPS: readonly string[] = [ip(50), ipv6(50)];

/** The droplet they are on. */
export const FOREIGN_DROPLET = 900;

/** How many addresses of a family the account may have; at Hetzner both families count together. */
const ADDRESS_LIMIT = 12;

/** What differs from the world of every campaign. */
export interface WorldOptions {
  /** Those of {@link FOREIGN_IPS} that nobody outside the cluster has. */
  readonly free?: readonly string[];
  /** Addresses the account has beside the usual ones, with their region. */
  readonly addresses?: Readonly<Record<string, string>>;
}

/**
 * The world in which specs change: nine nodes that differ in all that a spec can select by, addresses of both families on three sides, two zones at both
 * DNS providers, and three objects of other people that nothing may happen to.
 */
export class CampaignWorld {
  readonly world: World;
  readonly #backend: Backend;

  private constructor(backend: Backend) {
    this.#backend = backend;
    this.world = new World(backend);
  }

  /** Makes the world on a backend without prefix, and lets it come to rest. */
  static async open(backend: Backend, options: WorldOptions = {}): Promise<CampaignWorld> {
    const campaign = new CampaignWorld(backend);
    await campaign.#namespaces();
    await campaign.#nodes();
    campaign.#cloud(options);
    await campaign.world.pools.create("other", {
      ips: [ip(8), ip(9)],
      match: { nodeLabel: "role=other" },
      dnsRecordSet: { zone: "example.com", recordName: "other" },
    });
    await campaign.world.pools.create("other6", {
      ipFamily: "IPv6",
      ips: [ipv6(8), ipv6(9)],
      match: { nodeLabel: "role=other" },
      dnsRecordSet: { zone: "example.com", recordName: "other" },
    });
    await campaign.world.recordSets.create("others", {
      provider: "cloudflare",
      ipFamilies: ["IPv4", "IPv6"],
      match: { nodeLabel: "role=other" },
      dnsRecordSet: { zone: "example.com", recordName: "others" },
    });
    await campaign.rest();
    return campaign;
  }

  /** Gives an object this very spec; creates it when there is none. @throws Error with the API server's refusal */
  async apply(kind: Kind, spec: Spec): Promise<void> {
    const name = NAMES[kind.name];
    const collection = collectionPath(kind, NAMESPACE);
    const stored = await this.read(kind);
    const meta = { name, ...(stored === undefined ? {} : { resourceVersion: versionOf(stored) }) };
    const body = { apiVersion: "flipop.digitalocean.com/v1alpha1", kind: kind.name, metadata: meta, spec };
    if (stored === undefined) await this.#backend.rest("POST", collection, body);
    else
      await this.#backend.rest("PUT", `${collection}/${name}`, {
        ...body,
        metadata: { ...stored.metadata, ...meta },
        status: stored.status,
      });
  }

  /** The object under test of a kind; undefined when there is none. */
  async read(kind: Kind): Promise<StoredObject | undefined> {
    const objects = kind.name === "FloatingIPPool" ? this.world.pools : this.world.recordSets;
    return await objects.read(NAMES[kind.name]);
  }

  /** Its status; undefined when there is no such object. */
  async status(kind: Kind): Promise<PoolStatus | RecordSetStatus | undefined> {
    if ((await this.read(kind)) === undefined) return undefined;
    const objects = kind.name === "FloatingIPPool" ? this.world.pools : this.world.recordSets;
    return await objects.status(NAMES[kind.name]);
  }

  /** Passes until nothing is done and nothing is waited for, or (`mayFail`) something failed a few times. @throws Error when that takes too many */
  async rest(mayFail = false): Promise<Rest> {
    return await comeToRest(this.world, { isBrief: this.world.kind === "cluster", ...(mayFail ? { retries: 6 } : {}) });
  }

  /** One pass. */
  async pass(): Promise<PassResult> {
    return await this.world.pass();
  }

  /** Takes everything away. */
  async close(): Promise<void> {
    for (const kind of BOTH) {
      const path = `${collectionPath(kind, NAMESPACE)}/${NAMES[kind.name]}`;
      if ((await this.read(kind)) === undefined) continue;
      await this.#backend.rest("PATCH", path, { metadata: { finalizers: null } });
      await this.#backend.rest("DELETE", path);
    }
    await this.world.close();
  }

  async #namespaces(): Promise<void> {
    for (const name of [NAMESPACE, "back"]) {
      // On a real API server a namespace outlives the test that made it.
      await this.world.namespace(name).catch((error: unknown) => {
        if (!String(error).includes("AlreadyExists") && !String(error).includes("already exists")) throw error;
      });
    }
  }

  async #nodes(): Promise<void> {
    const { nodes, pods, cloud } = this.world;
    for (const [name, options] of Object.entries(NODES)) {
      cloud.droplet(name, { region: options.region ?? "nyc3" });
      await nodes.create(name, {
        ...options,
        ...timed(options.taints, this.world.nowMs()),
        addresses: addressesOf(name),
      });
      if (options.pod === undefined) continue;
      const [namespace, app] = options.pod;
      await pods.create(`on-${name}`, { node: name, namespace, labels: { app } });
    }
  }

  #cloud({ free = [], addresses = {} }: WorldOptions): void {
    const { cloud, dns } = this.world;
    const isAtHetzner = this.#backend.hetzner !== undefined;
    cloud.state.account.reserved_ip_limit = isAtHetzner ? 2 * ADDRESS_LIMIT : ADDRESS_LIMIT;
    cloud.state.account.reserved_ipv6_limit = ADDRESS_LIMIT;
    cloud.droplet(FOREIGN_DROPLET);
    for (const address of USUAL_IPS) cloud.address(address);
    for (const [address, region] of Object.entries(addresses)) cloud.address(address, { region });
    for (const address of FOREIGN_IPS) cloud.address(address, free.includes(address) ? {} : { on: FOREIGN_DROPLET });
    for (const provider of ["digitalocean", "cloudflare"] as const)
      for (const zone of ["example.com", "example.net"]) dns.zone(provider, zone);
  }
}

/** The addresses that the account has in every world, and that are on no machine at first. */
export const USUAL_IPS: readonly string[] = [1, 2, 3, 8, 9].flatMap((number) => [ip(number), ipv6(number)]);

type NodePlan = NonNullable<Parameters<World["nodes"]["create"]>[1]> & {
  readonly pod?: readonly [namespace: string, app: string];
};

const DEDICATED = { key: "dedicated", value: "edge", effect: "NoSchedule" };

const NODES: Readonly<Record<string, NodePlan>> = {
  n1: { labels: { role: "edge" }, pod: ["shop", "web"] },
  n2: { labels: { role: "edge" }, pod: ["back", "api"] },
  n3: { labels: { role: "core" }, pod: ["back", "web"] },
  n4: { labels: { role: "edge" }, taints: [DEDICATED], pod: ["shop", "api"] },
  n5: { labels: { role: "edge" }, region: "ams3", pod: ["shop", "web"] },
  n6: { labels: { role: "edge", draining: "yes" }, taints: [{ key: "gpu", value: "", effect: "NoExecute" }] },
  n7: { labels: { role: "edge" }, ready: false },
  n8: { labels: { role: "other" } },
  n9: { labels: { role: "other" } },
};

/** What a node shows of itself: the IPv6 address of n2 in another form than flipop writes, none on n4, and an internal one on n1 alone. */
function addressesOf(name: string): NonNullable<NodePlan["addresses"]> {
  const number = dropletOf(name) - dropletOf("n0");
  const six = number === 2 ? externalIPv6(number).toUpperCase() : externalIPv6(number);
  return [
    { type: "ExternalIP", address: externalIP(number) },
    ...(number === 4 ? [] : [{ type: "ExternalIP", address: six } as const]),
    { type: "InternalIP", address: internalIP(number) },
    ...(number === 1 ? [{ type: "InternalIP", address: "fd00:9::1" } as const] : []),
  ];
}

/** Taints as of now, as the API server stores those that end pods. */
function timed(taints: NodePlan["taints"], nowMs: number): Pick<NodePlan, "taints"> {
  const timeAdded = new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  return taints === undefined ? {} : { taints: taints.map((taint) => ({ ...taint, timeAdded })) };
}

function versionOf({ metadata }: StoredObject): string {
  return (metadata as { readonly resourceVersion?: string }).resourceVersion ?? "";
}
