import { type ManifestPart, manifestText } from "../../src/cli/manifests.ts";
import { parseShard, SHARD_LABEL, type Shard, shardName } from "../../src/model/shard.ts";
import { type EmulatedAccount, type ProgramRun, runProgram, startAccount } from "../cli/cluster-run.ts";
import { API } from "../cluster/api.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { Gate, type GateCall } from "./gate.ts";
import { gatedKubeconfig } from "./gated-kubeconfig.ts";
import { startWatch, type WatchProcess } from "./watch-process.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1/namespaces";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases";
const MERGE = "application/merge-patch+json";

/** Periods within which a request may be held up for a while. */
export const PATIENT: readonly string[] = [
  "--lease-duration",
  "60s",
  "--renew-deadline",
  "40s",
  "--retry-period",
  "500ms",
];

/** What is installed. Namespace `ingress` falls to 1/2 and 3/4, namespace `shop` to 2/2 and 2/4. */
const INSTALLED = ["1/2", "2/4", "4/4", "vip"];
const PARTS: readonly ManifestPart[] = ["namespace", "crds", "rbac", "watcher"];
/** A Lease short enough to wait for a takeover. A machine that stands still for seconds costs nobody its Lease: whoever loses it ends. */
const QUICK = ["--lease-duration", "15s", "--renew-deadline", "12s", "--retry-period", "500ms"];

/** One object with one address and one name, and whose it is. */
export interface Owned {
  readonly shard: string;
  readonly namespace: string;
  readonly name: string;
  readonly ip: string;
}

/** The objects in the beginning: each shard has one. */
export const OWNED: readonly Owned[] = [
  { shard: "1/2", namespace: "ingress", name: "web", ip: "203.0.113.11" },
  { shard: "2/4", namespace: "shop", name: "cart", ip: "203.0.113.12" },
  { shard: "vip", namespace: "ingress", name: "login", ip: "203.0.113.13" },
];

export const NODES: readonly string[] = ["n1", "n2", "n3", "n4", "n5"];

/** A process, and what it was seen to write. */
export interface Shardly<P> {
  readonly process: P;
  readonly cluster: Gate;
  readonly cloud: Gate;
}

/** A Lease as stored. */
export interface StoredLease {
  readonly holder: string;
  readonly transitions: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A cluster with the Role of certain shards and nothing more, five nodes, and an account that all shards share. */
export class ShardWorld {
  readonly api: API;
  /** What a resolver or a client would have noticed: a name without a record, an address that is on no machine any more. */
  readonly noticed: string[] = [];
  readonly #cluster: Cluster;
  readonly #account: EmulatedAccount;
  readonly #token: string;
  readonly #open: Gate[] = [];
  readonly #watching: WatchProcess[] = [];

  private constructor(cluster: Cluster, api: API, account: EmulatedAccount, token: string) {
    this.#cluster = cluster;
    this.api = api;
    this.#account = account;
    this.#token = token;
  }

  static async open(): Promise<ShardWorld> {
    const cluster = await startCluster();
    const api = new API({ ...cluster, token: cluster.adminToken });
    const shard = INSTALLED.flatMap((text): readonly Shard[] => [parseShard(text) ?? []].flat());
    await api.applyManifests(manifestText(PARTS, { shard }));
    const droplets = NODES.map((_, at) => 101 + at);
    const look = (): void => world.#look();
    const account = await startAccount(
      droplets,
      OWNED.map(({ ip }) => ip),
      () => look(),
    );
    account.sandbox.setDomain({ name: "example.com" });
    const { settings } = account.sandbox.cloud().state;
    settings.action_delay_ms = 0;
    settings.rate_limit = { per_hour: 1_000_000, per_minute: 1_000_000 };
    const world: ShardWorld = new ShardWorld(cluster, api, account, await api.serviceAccountToken("flipop", "flipop"));
    for (const [at, name] of NODES.entries())
      await api.createNode({ name, providerID: `digitalocean://${101 + at}`, region: "nyc3" });
    for (const namespace of ["ingress", "shop"])
      await api.call("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    for (const owned of OWNED) await world.create(owned);
    return world;
  }

  async create({ shard, namespace, name, ip }: Owned): Promise<void> {
    const labels = shard.includes("/") ? {} : { [SHARD_LABEL]: shard };
    await this.api.call("POST", `${GROUP}/${namespace}/floatingippools`, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name, labels },
      spec: {
        provider: "digitalocean",
        ips: [ip],
        match: { podNamespace: "", nodeLabel: "" },
        dnsRecordSet: { zone: "example.com", recordName: `r${ip.split(".").at(-1)}` },
      },
    });
  }

  async remove({ namespace, name }: Owned): Promise<void> {
    await this.api.call("DELETE", poolPath({ namespace, name }));
  }

  async label({ namespace, name }: Owned, shard: string | null): Promise<void> {
    await this.api.call(
      "PATCH",
      poolPath({ namespace, name }),
      { metadata: { labels: { [SHARD_LABEL]: shard } } },
      MERGE,
    );
  }

  /** Runs `flipop reconcile` once to its end, as the account of the manifests. */
  async run(
    shard: string | undefined,
    { args = [], gates }: { readonly args?: readonly string[]; readonly gates?: Gates } = {},
  ): Promise<Shardly<ProgramRun>> {
    const own = gates ?? (await this.gates());
    const process = await runProgram(["reconcile", "--settle", ...flags(shard), ...args], this.#environment(own));
    return { process, ...own };
  }

  /** Starts `flipop reconcile --watch`. */
  async watch(
    shard: string | undefined,
    { args = QUICK, gates }: { readonly args?: readonly string[]; readonly gates?: Gates } = {},
  ): Promise<Shardly<WatchProcess>> {
    const own = gates ?? (await this.gates());
    const process = startWatch([...flags(shard), ...args], this.#environment(own));
    this.#watching.push(process);
    return { process, ...own };
  }

  /** Gates for a process that is still to be started. */
  async gates(): Promise<Gates> {
    const { server, caFile } = this.#cluster;
    const gates = {
      cluster: await Gate.open({ url: server, caFile }),
      cloud: await Gate.open({ url: this.#account.url }),
    };
    this.#open.push(gates.cluster, gates.cloud);
    return gates;
  }

  /** The node that has an address. */
  holder({ ip }: Pick<Owned, "ip">): string | undefined {
    const cloud = this.#account.sandbox.cloud();
    cloud.settle(Date.now());
    const id = cloud.state.reserved_ips.find((one) => one.ip === ip)?.droplet_id;
    return typeof id === "number" ? NODES[id - 101] : undefined;
  }

  /** Which addresses the name of an address shows. */
  published({ ip }: Pick<Owned, "ip">): readonly string[] {
    const records = this.#account.sandbox.cloud().state.domains[0]?.records ?? [];
    return records.flatMap(({ type, name, data }) =>
      type === "A" && name === `r${ip.split(".").at(-1)}` ? [data] : [],
    );
  }

  /** How many assignments the account has accepted. */
  assigns(): number {
    return this.#account.sandbox.cloud().state.actions.filter(({ type }) => type === "assign_ip").length;
  }

  /** `STATE NODE` of the address of an object, as its status has it. */
  async status({ namespace, name, ip }: Owned): Promise<string> {
    const { body } = await this.api.request<PoolOnWire>("GET", poolPath({ namespace, name }));
    const { state, nodeName } = body.status?.ips?.[ip] ?? {};
    return `${state} ${nodeName}`;
  }

  /** What the annotations of a node show, as `IP of NAMESPACE/NAME`; undefined where there is none. */
  async annotated(node: string): Promise<string | undefined> {
    const { body } = await this.api.request<NodeOnWire>("GET", `/api/v1/nodes/${node}`);
    const { [`${PREFIX}/ipv4-reserved-ip`]: ip, [`${PREFIX}/pool`]: pool } = body.metadata?.annotations ?? {};
    return ip === undefined ? undefined : `${ip} of ${pool}`;
  }

  /** The Lease of a shard, or of the process without one. */
  async lease(shard?: string): Promise<StoredLease> {
    const { body } = await this.api.request<LeaseOnWire>("GET", `${LEASES}/${leaseOf(shard)}`);
    const { holderIdentity = "", leaseTransitions = 0 } = body.spec ?? {};
    return { holder: holderIdentity, transitions: leaseTransitions, annotations: body.metadata?.annotations ?? {} };
  }

  async annotateBase(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    await this.api.call("PATCH", `${LEASES}/flipop`, { metadata: { annotations } }, MERGE);
  }

  async deleteLease(shard?: string): Promise<void> {
    await this.api.request("DELETE", `${LEASES}/${leaseOf(shard)}`);
  }

  /** What those that watched have printed, of all that ended although nobody ended them. */
  ended(): readonly string[] {
    return this.#watching.flatMap(({ child, stderr }) => (child.exitCode === null ? [] : stderr()));
  }

  /** Ends all that watches, as somebody does who stops it. */
  async endAll(): Promise<void> {
    for (const { child } of this.#watching) child.kill("SIGTERM");
    await Promise.all(this.#watching.splice(0).map(({ end }) => end));
  }

  async close(): Promise<void> {
    for (const { child, end } of this.#watching) {
      child.kill("SIGKILL");
      await end;
    }
    for (const gate of this.#open) await gate.close();
    await this.#account.close();
    this.api.close();
    await this.#cluster.stop();
  }

  #environment({ cluster, cloud }: Gates): Readonly<Record<string, string>> {
    return {
      KUBECONFIG: gatedKubeconfig(this.#cluster.directory, cluster.url, this.#token),
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: cloud.url,
    };
  }

  readonly #seen = new Set<string>();

  /** Looks at every name and address at each call of anybody: what was there once must stay. */
  #look(): void {
    for (const owned of OWNED) {
      for (const [what, isThere] of [
        [`the name of ${owned.ip}`, this.published(owned).length > 0],
        [`the machine of ${owned.ip}`, this.holder(owned) !== undefined],
      ] as const) {
        if (isThere) this.#seen.add(what);
        else if (this.#seen.has(what)) this.noticed.push(`${what} is gone`);
      }
    }
  }
}

/** What stands before a process. */
export interface Gates {
  readonly cluster: Gate;
  readonly cloud: Gate;
}

/** Writes at objects and addresses that are not of these, of all that a process wrote. */
export function foreignWrites({ cluster, cloud }: Gates, own: readonly Owned[]): readonly GateCall[] {
  const objects = own.map(({ namespace, name }) => poolPath({ namespace, name }));
  const isForeign = ({ path }: GateCall): boolean =>
    (path.startsWith(`${GROUP}/`) && !objects.some((object) => path === object || path.startsWith(`${object}/`))) ||
    (path.startsWith("/v2/reserved_ips/") && !own.some(({ ip }) => path.startsWith(`/v2/reserved_ips/${ip}/`)));
  return [...cluster.writes, ...cloud.writes].filter(isForeign);
}

function leaseOf(shard: string | undefined): string {
  const parsed = shard === undefined ? undefined : parseShard(shard);
  return parsed === undefined ? "flipop" : shardName("flipop", parsed);
}

function flags(shard: string | undefined): readonly string[] {
  return shard === undefined ? [] : ["--shard", shard];
}

function poolPath({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${GROUP}/${namespace}/floatingippools/${name}`;
}

interface PoolOnWire {
  readonly status?: { readonly ips?: Readonly<Record<string, { readonly state: string; readonly nodeName?: string }>> };
}

const PREFIX = "flipop.digitalocean.com";

interface NodeOnWire {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

interface LeaseOnWire {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: { readonly holderIdentity?: string; readonly leaseTransitions?: number };
}
