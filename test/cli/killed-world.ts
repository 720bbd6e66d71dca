import { type CloudflareSandbox, cloudflareSandbox } from "../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import { API } from "../cluster/api.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { CLOUDFLARE_SECRET, SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { CallClock } from "./call-clock.ts";
import { type EmulatedAccount, runProgram, startAccount } from "./cluster-run.ts";
import type { Round, RunEnding } from "./killed-run.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop";
const NUMBERS = [1, 2, 3, 4] as const;
const MERGE = "application/merge-patch+json";

/** A cluster of its own, where a pool buys addresses and publishes them at DigitalOcean, and a record set publishes nodes at Cloudflare. */
export class KilledWorld {
  /** Addresses bought and deleted since the world began. */
  readonly changes: { bought: number; deleted: number } = { bought: 0, deleted: 0 };
  /** Counts what the providers were asked. */
  readonly clock: CallClock;
  readonly #cluster: Cluster;
  readonly #api: API;
  readonly #account: EmulatedAccount;
  readonly #zones: CloudflareSandbox;
  readonly #env: Readonly<Record<string, string>>;
  readonly #closeZones: () => Promise<void>;
  #desired = 3;
  #isDeleting = false;
  #held: readonly string[] = [];
  #shown: readonly string[] = [];

  private constructor(
    cluster: Cluster,
    account: EmulatedAccount,
    clock: CallClock,
    zones: { readonly sandbox: CloudflareSandbox; readonly url: string; readonly close: () => Promise<void> },
  ) {
    this.#cluster = cluster;
    this.clock = clock;
    this.#api = new API({ ...cluster, token: cluster.adminToken });
    this.#account = account;
    this.#zones = zones.sandbox;
    this.#closeZones = zones.close;
    this.#env = {
      KUBECONFIG: cluster.kubeconfig,
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: account.url,
      CLOUDFLARE_TOKEN: CLOUDFLARE_SECRET,
      CLOUDFLARE_API_URL: `${zones.url}/client/v4`,
    };
  }

  /** Starts cluster and accounts; nothing has run yet. */
  static async open(): Promise<KilledWorld> {
    const cluster = await startCluster();
    const clock = new CallClock();
    const droplets = NUMBERS.map((number) => 100 + number);
    const account = await startAccount(droplets, [], clock.tick);
    const { settings } = account.sandbox.cloud().state;
    Object.assign(settings, { action_delay_ms: 100, creations_per_minute: 1000 });
    // More runs a minute than a CronJob makes in hours.
    Object.assign(settings.rate_limit, { per_hour: 1_000_000, per_minute: 1_000_000 });
    account.sandbox.setDomain({ name: "example.com" });
    const sandbox = cloudflareSandbox({
      now: Date.now,
      onCall: clock.tick,
      state: { zones: [{ name: "example.net" }] },
    });
    const server = await sandbox.serve();
    const world = new KilledWorld(cluster, account, clock, { sandbox, url: server.url, close: server.close });
    await world.#populate();
    return world;
  }

  /** What flipop needs to reach this world. */
  get env(): Readonly<Record<string, string>> {
    return this.#env;
  }

  /** The first fill, in order. Returns how long a whole run takes, milliseconds. */
  async firstRun(): Promise<number> {
    const startMs = performance.now();
    const { code, stderr } = await runProgram(["reconcile"], this.#env);
    if (code !== 0) throw new Error(`the first run ended with ${code}: ${stderr}`);
    this.#held = this.#addresses();
    this.#shown = this.#published();
    return performance.now() - startMs;
  }

  /** Makes what the round says true of the cluster. */
  async prepare({
    unready,
    desiredIPs,
    isDeleted,
  }: Pick<Round, "unready" | "desiredIPs" | "isDeleted">): Promise<void> {
    if (this.#isDeleting) await this.#makeAgain();
    await Promise.all(NUMBERS.map((number) => this.#api.setNodeReady(`n${number}`, number !== unready)));
    this.#desired = desiredIPs;
    this.#isDeleting = isDeleted;
    if (isDeleted) await this.#api.call("DELETE", `${GROUP}/floatingippools/web`);
    else await this.#api.call("PATCH", `${GROUP}/floatingippools/web`, { spec: { desiredIPs } }, MERGE);
  }

  /** The promises that do not hold after a run, whatever ended it: one sentence each. */
  async broken({ endedBy, code }: RunEnding): Promise<readonly string[]> {
    const before = this.#held;
    const now = this.#addresses();
    this.#held = now;
    this.changes.bought += now.filter((ip) => !before.includes(ip)).length;
    this.changes.deleted += before.filter((ip) => !now.includes(ip)).length;
    const wanted = this.#isDeleting ? 0 : this.#desired;
    const [shown, www, nodes] = [this.#shown, this.#published(), this.#publishedNodes()];
    this.#shown = www;
    return [
      ...(now.length > Math.max(before.length, wanted)
        ? [`${now.length} addresses are held, ${wanted} are wanted`]
        : []),
      ...(now.length < Math.min(before.length, wanted) ? [`${now.length} addresses are left of ${before.length}`] : []),
      ...(www.length === 0 && shown.length > 0 && !this.#isDeleting
        ? [`www, which showed ${shown.join(", ")}, was emptied`]
        : []),
      ...(nodes.length === 0 ? ["nodes was emptied"] : []),
      ...www.filter((ip) => !now.includes(ip)).map((ip) => `www shows ${ip}, which is no longer held`),
      ...(await this.#forgotten(now)),
      ...(await this.#lockAfter(endedBy, code)),
    ];
  }

  /** Makes everything servable, runs to the end, and once more. Returns what that last run printed. */
  async finish(): Promise<string> {
    await this.prepare({ unready: 0, desiredIPs: 3, isDeleted: false });
    const settled = await runProgram(["reconcile", "--settle", "--timeout", "60s"], this.#env);
    if (settled.code !== 0) throw new Error(`the last run ended with ${settled.code}: ${settled.stderr}`);
    return (await runProgram(["reconcile"], this.#env)).stdout;
  }

  /** The addresses held, known by status, published, and those of the nodes as published; each sorted. */
  async truth(): Promise<Readonly<Record<"held" | "attached" | "acquired" | "www" | "nodes", readonly string[]>>> {
    const { reserved_ips } = this.#account.sandbox.cloud().state;
    const attached = reserved_ips.flatMap(({ ip, droplet_id }) => (typeof droplet_id === "number" ? [ip] : []));
    const acquired = (await this.#status()).acquired?.map(({ ip }) => ip) ?? [];
    return {
      held: this.#addresses(),
      attached: attached.toSorted(),
      acquired: acquired.toSorted(),
      www: this.#published(),
      nodes: this.#publishedNodes(),
    };
  }

  async close(): Promise<void> {
    await this.#account.close();
    await this.#closeZones();
    this.#api.close();
    await this.#cluster.stop();
  }

  async #populate(): Promise<void> {
    for (const file of ["namespace.yaml", ...shippedFiles("crds")]) await this.#api.applyManifests(shippedText(file));
    for (const number of NUMBERS) {
      const addresses = [{ type: "ExternalIP", address: `100.64.1.${number}` }];
      await this.#api.createNode({
        name: `n${number}`,
        providerID: `digitalocean://${100 + number}`,
        region: "nyc3",
        addresses,
      });
    }
    await this.#createPool();
    await this.#api.call("POST", `${GROUP}/nodednsrecordsets`, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "NodeDNSRecordSet",
      metadata: { name: "nodes" },
      spec: { provider: "cloudflare", dnsRecordSet: { zone: "example.net", recordName: "nodes" } },
    });
  }

  async #createPool(): Promise<void> {
    await this.#api.call("POST", `${GROUP}/floatingippools`, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "web" },
      spec: {
        provider: "digitalocean",
        region: "nyc3",
        desiredIPs: this.#desired,
        reclaimPolicy: "Delete",
        // What leaves the name is given back once no resolver has it: as soon as DigitalOcean allows.
        dnsRecordSet: { zone: "example.com", recordName: "www", ttl: 30 },
        match: { podNamespace: "", nodeLabel: "" },
      },
    });
  }

  /** One run to the end finishes a deletion that was interrupted anywhere; then the pool begins anew. */
  async #makeAgain(): Promise<void> {
    const { code, stdout, stderr } = await runProgram(["reconcile", "--settle"], this.#env);
    const { status } = await this.#api.request("GET", `${GROUP}/floatingippools/web`);
    const left = [...this.#addresses(), ...this.#published()];
    if (status !== 404 || left.length > 0)
      throw new Error(
        `after the deletion, which ended with ${code}: pool ${status}, left ${left.join(", ")}\n${stdout}${stderr}`,
      );
    this.#isDeleting = false;
    await this.#createPool();
    await this.firstRun();
  }

  #addresses(): readonly string[] {
    return this.#account.sandbox
      .cloud()
      .state.reserved_ips.map(({ ip }) => ip)
      .toSorted();
  }

  #published(): readonly string[] {
    const records = this.#account.sandbox.cloud().state.domains[0]?.records ?? [];
    return records.flatMap(({ type, data }) => (type === "A" ? [data] : [])).toSorted();
  }

  #publishedNodes(): readonly string[] {
    const records = this.#zones.account().state.zones[0]?.dns_records ?? [];
    return records.map(({ content }) => content).toSorted();
  }

  async #status(): Promise<PoolStatus> {
    const { body } = await this.#api.request<{ status?: PoolStatus }>("GET", `${GROUP}/floatingippools/web`);
    return body.status ?? {};
  }

  /** Held addresses that status knows nothing of, unless it knows that one is being bought. */
  async #forgotten(held: readonly string[]): Promise<readonly string[]> {
    const { acquired = [], pendingAcquisitions = [] } = await this.#status();
    const unknown = held.filter((ip) => !acquired.some((one) => one.ip === ip));
    return unknown.length <= pendingAcquisitions.length ? [] : unknown.map((ip) => `${ip} is held and forgotten`);
  }

  /** A run that could say goodbye has given the Lease back; that of a killed one is taken from it, so that nobody waits for its end. */
  async #lockAfter(endedBy: RunEnding["endedBy"], code: number | null): Promise<readonly string[]> {
    const { body } = await this.#api.request<{ spec?: { holderIdentity?: string } }>("GET", LEASE);
    const holder = body.spec?.holderIdentity ?? "";
    if (holder === "") return [];
    await this.#api.call("PATCH", LEASE, { spec: { holderIdentity: "" } }, MERGE);
    return endedBy === "SIGKILL" || code === null ? [] : [`the run ended by ${endedBy} still holds the Lease`];
  }
}

interface PoolStatus {
  readonly acquired?: readonly { readonly ip: string }[];
  readonly pendingAcquisitions?: readonly unknown[];
}
