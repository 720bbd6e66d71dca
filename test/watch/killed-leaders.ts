import { ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import { type EmulatedAccount, startAccount } from "../cli/cluster-run.ts";
import { API } from "../cluster/api.ts";
import type { ClusterFacts } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { Gate } from "./gate.ts";
import { gatedKubeconfig } from "./gated-kubeconfig.ts";
import { startWatch, type WatchProcess } from "./watch-process.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop";
const LABEL = { "test-of": "killed-leaders" };
const NODES = ["k1", "k2", "k3"] as const;
const ADDRESSES = ["203.0.113.10", "203.0.113.11"] as const;
/** Short enough to wait for a takeover. A machine that stands still for seconds costs nobody its Lease: whoever loses it ends. */
const FLAGS = ["--lease-duration", "15s", "--renew-deadline", "12s", "--retry-period", "500ms"];

/** A process with a gate of its own before the cluster, and one before the account. */
export interface GatedProcess {
  readonly watcher: WatchProcess;
  readonly cluster: Gate;
  readonly cloud: Gate;
}

/** What is so in the end. */
export interface Truth {
  /** The nodes that have the addresses, in the addresses' order. */
  readonly holders: readonly (string | undefined)[];
  /** What nodes are annotated with. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Node names behind the records of the record set, sorted. */
  readonly published: readonly string[];
  /** `STATE NODE` of each address, as status has it. */
  readonly status: readonly string[];
}

/** Three nodes and two addresses on the shared cluster; a record set publishes the nodes. */
export class KilledLeaders {
  readonly #facts: ClusterFacts;
  readonly #api: API;
  readonly #account: EmulatedAccount;
  readonly #processes: GatedProcess[] = [];

  private constructor(facts: ClusterFacts, account: EmulatedAccount) {
    this.#facts = facts;
    this.#api = new API({ server: facts.server, caFile: facts.caFile, token: facts.adminToken });
    this.#account = account;
  }

  static async open(facts: ClusterFacts): Promise<KilledLeaders> {
    const account = await startAccount([101, 102, 103], ADDRESSES);
    account.sandbox.cloud().state.settings.action_delay_ms = 0;
    account.sandbox.setDomain({ name: "example.com" });
    const world = new KilledLeaders(facts, account);
    await world.#populate();
    return world;
  }

  /** Starts a watcher; resolves when it says that it waits for the Lease. */
  async start(): Promise<GatedProcess> {
    const { server, caFile, adminToken, directory } = this.#facts;
    const cluster = await Gate.open({ url: server, caFile });
    const cloud = await Gate.open({ url: this.#account.url });
    const watcher = startWatch(FLAGS, {
      KUBECONFIG: gatedKubeconfig(directory, cluster.url, adminToken),
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: cloud.url,
    });
    const gated = { watcher, cluster, cloud };
    this.#processes.push(gated);
    return gated;
  }

  async setReady(node: string, isReady: boolean): Promise<void> {
    await this.#api.setNodeReady(node, isReady);
  }

  /** How many assignments the account has accepted. */
  assigns(): number {
    return this.#account.sandbox.cloud().state.actions.filter(({ type }) => type === "assign_ip").length;
  }

  async truth(): Promise<Truth> {
    const cloud = this.#account.sandbox.cloud();
    cloud.settle(Date.now());
    const nodeOf = (id: number | null): string | undefined => (id === null ? undefined : NODES[id - 101]);
    const find = (ip: string): number | null =>
      cloud.state.reserved_ips.find((one) => one.ip === ip)?.droplet_id ?? null;
    const nodes = await this.#api.list<NodeObject>("/api/v1/nodes");
    const { body } = await this.#api.request<PoolObject>("GET", `${GROUP}/floatingippools/killed`);
    const records = cloud.state.domains[0]?.records ?? [];
    return {
      holders: ADDRESSES.map((ip) => nodeOf(find(ip))),
      annotations: Object.fromEntries(
        nodes.flatMap(({ metadata: { name, annotations } }) => {
          const address = annotations?.[ADDRESS_ANNOTATION];
          return address === undefined ? [] : [[name, address] as const];
        }),
      ),
      published: records.flatMap(({ type, data }) => (type === "A" ? [`k${data.split(".").at(-1)}`] : [])).toSorted(),
      status: ADDRESSES.map((ip) => {
        const { state, nodeName } = body.status?.ips?.[ip] ?? {};
        return `${state} ${nodeName}`;
      }),
    };
  }

  /** The addresses by the nodes that have them. */
  static annotated(holders: Truth["holders"]): Readonly<Record<string, string>> {
    return Object.fromEntries(holders.map((node, at) => [node, ADDRESSES[at] ?? ""]));
  }

  async close(): Promise<void> {
    for (const { watcher, cluster, cloud } of this.#processes) {
      watcher.child.kill("SIGKILL");
      await watcher.end;
      await cluster.close();
      await cloud.close();
    }
    for (const path of [`${GROUP}/floatingippools/killed`, `${GROUP}/nodednsrecordsets/killed`, LEASE])
      await this.#api.request("DELETE", path);
    for (const node of NODES) await this.#api.deleteNode(node);
    this.#api.close();
    await this.#account.close();
  }

  async #populate(): Promise<void> {
    for (const file of ["namespace.yaml", ...shippedFiles("crds")]) await this.#api.applyManifests(shippedText(file));
    for (const [at, name] of NODES.entries()) {
      const addresses = [{ type: "ExternalIP", address: `100.64.1.${at + 1}` }];
      const providerID = `digitalocean://${101 + at}`;
      await this.#api.createNode({ name, providerID, region: "nyc3", labels: LABEL, addresses });
    }
    const [apiVersion, metadata] = ["flipop.digitalocean.com/v1alpha1", { name: "killed" }] as const;
    const match = { podNamespace: "", nodeLabel: "test-of=killed-leaders" };
    await this.#api.call("POST", `${GROUP}/floatingippools`, {
      apiVersion,
      kind: "FloatingIPPool",
      metadata,
      spec: { provider: "digitalocean", ips: ADDRESSES, match },
    });
    await this.#api.call("POST", `${GROUP}/nodednsrecordsets`, {
      apiVersion,
      kind: "NodeDNSRecordSet",
      metadata,
      spec: { provider: "digitalocean", dnsRecordSet: { zone: "example.com", recordName: "nodes" }, match },
    });
  }
}

interface NodeObject {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}

interface PoolObject {
  readonly status?: { readonly ips?: Readonly<Record<string, { readonly state: string; readonly nodeName?: string }>> };
}
