import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cloudflareSandbox } from "../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { API } from "../cluster/api.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { CLOUDFLARE_SECRET, SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { FLIPOP } from "../programs/entry.ts";
import { emptyAccount } from "../scenario/account.ts";
import { isWrite, type Strike, Wire, type WireCall } from "./wire.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop";
const MERGE = "application/merge-patch+json";
/** More nodes than any test wants addresses: one that is given back is waited for as long as resolvers may know it. */
const NUMBERS = [1, 2, 3, 4, 5, 6, 7] as const;

/** A process of flipop's. */
export interface RealRun {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly text: string; readonly ms: number }>;
}

/** A real API server of its own, emulated accounts behind a wire, and real processes. */
export class RealWorld {
  readonly cluster: Cluster;
  readonly api: API;
  readonly wire: Wire;
  /** Writes to providers by a process that did not hold the Lease when they arrived; one sentence each. */
  readonly intruders: string[] = [];
  readonly #digitalocean: DigitalOceanSandbox;
  readonly #names: () => readonly string[];

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
    this.api = new API({ ...cluster, token: cluster.adminToken });
    this.#digitalocean = emptyAccount({ now: Date.now });
    this.#digitalocean.cloud().state.settings.action_delay_ms = 0;
    this.#digitalocean.setDomain({ name: "example.com" });
    const cloudflare = cloudflareSandbox({ now: Date.now, state: { zones: [{ name: "example.net" }] } });
    this.#names = () =>
      (cloudflare.account().state.zones[0]?.dns_records ?? []).map(({ content }) => content).toSorted();
    const handlers = { digitalocean: this.#digitalocean.handle, cloudflare: cloudflare.handle };
    this.wire = new Wire({ handlers: { ...handlers, kubernetes: () => ({ status: 500 }) }, now: Date.now });
  }

  /** Starts a cluster with seven nodes, a pool without addresses and a record set. */
  static async open(): Promise<RealWorld> {
    const world = new RealWorld(await startCluster());
    await world.wire.open();
    for (const file of ["namespace.yaml", ...shippedFiles("crds")]) await world.api.applyManifests(shippedText(file));
    for (const number of NUMBERS) {
      world.#digitalocean.addDroplet({ id: 100 + number, region: "nyc3" });
      const addresses = [{ type: "ExternalIP", address: `100.64.1.${number}` }];
      const facts = { name: `n${number}`, providerID: `digitalocean://${100 + number}`, region: "nyc3", addresses };
      await world.api.createNode(facts);
    }
    const [apiVersion, metadata] = ["flipop.digitalocean.com/v1alpha1", { name: "web" }] as const;
    // An address that is given back leaves the name a TTL before: the lowest one that DigitalOcean takes.
    const zone = { zone: "example.com", recordName: "www", ttl: 30 };
    const common = { provider: "digitalocean", region: "nyc3", reclaimPolicy: "Delete", dnsRecordSet: zone };
    const spec = { ...common, desiredIPs: 1, match: { podNamespace: "", nodeLabel: "" } };
    await world.api.call("POST", `${GROUP}/floatingippools`, { apiVersion, kind: "FloatingIPPool", metadata, spec });
    const set = { provider: "cloudflare", dnsRecordSet: { zone: "example.net", recordName: "nodes" } };
    const object = { apiVersion, kind: "NodeDNSRecordSet", metadata, spec: set };
    await world.api.call("POST", `${GROUP}/nodednsrecordsets`, object);
    return world;
  }

  /** Sets how many addresses the pool should hold, and which node cannot serve (0 = all can). */
  async change(desiredIPs: number, unready = 0): Promise<void> {
    await Promise.all(NUMBERS.map((number) => this.api.setNodeReady(`n${number}`, number !== unready)));
    await this.api.call("PATCH", `${GROUP}/floatingippools/web`, { spec: { desiredIPs } }, MERGE);
  }

  /** Lets requests to the providers be struck, and looks at the Lease whenever one of them is a write. */
  guard(strike: (call: WireCall) => Strike | undefined, isReadable: () => boolean = () => true): void {
    this.wire.begin((call) => {
      const struck = strike(call);
      if (!isWrite(call)) return struck;
      const before = async (): Promise<void> => {
        if (isReadable()) await this.#checkHolder(call);
        await struck?.before?.();
      };
      return { ...struck, before };
    });
  }

  /** Starts a process whose wall clock is wrong by so much; its requests to providers carry its process id. */
  start(args: readonly string[] = [], skewMs = 0): RealRun {
    const startMs = performance.now();
    const preload = join(this.cluster.directory, "skewed-clock.mjs");
    writeFileSync(preload, SKEWED_CLOCK);
    const child = spawn("/bin/sh", ["-c", START, FLIPOP, "reconcile", ...args], {
      env: {
        PATH: process.env["PATH"],
        HOME: this.cluster.directory,
        KUBECONFIG: this.cluster.kubeconfig,
        DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
        DIGITALOCEAN_API_URL: this.wire.url("digitalocean"),
        CLOUDFLARE_TOKEN: CLOUDFLARE_SECRET,
        CLOUDFLARE_API_URL: `${this.wire.url("cloudflare")}/client/v4`,
        ...(skewMs === 0 ? {} : { NODE_OPTIONS: `--import=${preload}`, SKEW_MS: String(skewMs) }),
      },
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
    const ended = new Promise<{ code: number | null; text: string; ms: number }>((resolve, reject) => {
      child.on("error", reject).on("close", (code) => resolve({ code, text, ms: performance.now() - startMs }));
    });
    return { child, ended };
  }

  /** The addresses held, with those published, and the nodes published. */
  truth(): { readonly held: readonly string[]; readonly www: readonly string[]; readonly nodes: readonly string[] } {
    const { reserved_ips, domains } = this.#digitalocean.cloud().state;
    const www = (domains[0]?.records ?? []).flatMap(({ type, data }) => (type === "A" ? [data] : []));
    return { held: reserved_ips.map(({ ip }) => ip).toSorted(), www: www.toSorted(), nodes: this.#names() };
  }

  async close(): Promise<void> {
    await this.wire.close();
    this.api.close();
    await this.cluster.stop();
  }

  async #checkHolder(call: WireCall): Promise<void> {
    const { spec } = await this.api.call<{ spec: { holderIdentity?: string } }>("GET", LEASE);
    const sender = call.headers["user-agent"] ?? "";
    if (spec.holderIdentity?.includes(`_${sender}_`) !== true)
      this.intruders.push(
        `${call.key} was sent by process ${sender} while ${spec.holderIdentity || "nobody"} held the Lease`,
      );
  }
}

/** The shell's process id is flipop's: both `exec`. */
const START = 'export DIGITALOCEAN_USER_AGENT=$$ CLOUDFLARE_USER_AGENT=$$; exec "$0" "$@"';

/** A machine whose clock is wrong. */
const SKEWED_CLOCK = `
const skewMs = Number(process.env.SKEW_MS);
const RightDate = Date;
globalThis.Date = class Date extends RightDate {
  constructor(...args) {
    if (args.length === 0) super(RightDate.now() + skewMs);
    else super(...args);
  }
  static now() {
    return RightDate.now() + skewMs;
  }
};
`;
