import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { type SandboxServer, serve } from "../../src/sandbox/http-server.ts";
import { kubernetesSandbox, shippedCRDs } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { emptyAccount } from "../scenario/account.ts";
import { sandboxRest } from "../scenario/memory-world.ts";
import { dropletOf, ip } from "../scenario/scenario-names.ts";
import { WorldNodes } from "../scenario/world-nodes.ts";
import { WorldPods } from "../scenario/world-pods.ts";
import { WorldPools } from "../scenario/world-pools.ts";
import { WorldRecordSets } from "../scenario/world-record-sets.ts";
import { Gate } from "./gate.ts";
import { gatedKubeconfig } from "./gated-kubeconfig.ts";
import { type Holdings, Probe } from "./probe.ts";
import { startWatch, type WatchProcess } from "./watch-process.ts";

const NODES = Array.from({ length: 50 }, (_, at) => `n${at + 1}`);
const ADDRESSES = [1, 2, 3, 4, 5].map(ip);
/** Longer than a look at the heap stops the process: on a machine with ten others at work, each of its four parts takes ten seconds. */
const LEASE = ["--lease-duration", "10m", "--renew-deadline", "9m"] as const;
/** So many events come at once, before the process may run. */
const BATCH = 8;

/** Fifty nodes with a pod each, five addresses and a name on the embedded world, and one real process that watches them. */
export class SoakWorld {
  readonly #directory = mkdtempSync(join(tmpdir(), "flipop-soak-"));
  readonly #probe = new Probe(this.#directory);
  readonly #account: DigitalOceanSandbox = emptyAccount({ now: Date.now });
  readonly #rest;
  readonly #kubernetes;
  readonly #nodes: WorldNodes;
  readonly #pods: WorldPods;
  readonly #pools: WorldPools;
  readonly #recordSets: WorldRecordSets;
  readonly #servers: SandboxServer[] = [];
  #gate: Gate | undefined;
  #process: WatchProcess | undefined;
  #events = 0;

  constructor() {
    this.#kubernetes = kubernetesSandbox({ now: Date.now, crds: shippedCRDs() });
    this.#rest = sandboxRest(this.#kubernetes);
    const access = { rest: this.#rest, clock: { nowMs: Date.now }, prefix: "", provider: "digitalocean" };
    this.#nodes = new WorldNodes(access);
    this.#pods = new WorldPods(access);
    this.#pools = new WorldPools(access);
    this.#recordSets = new WorldRecordSets(access);
  }

  /** Makes everything, and starts the process; resolves when all addresses are served. */
  async open(): Promise<void> {
    await this.#rest("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await this.#rest("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "flipop" },
    });
    this.#account.cloud().state.settings.action_delay_ms = 0;
    this.#account.setDomain({ name: "example.com" });
    for (const name of NODES) {
      this.#account.addDroplet({ id: dropletOf(name), region: "nyc3" });
      await this.#nodes.create(name);
      await this.#pods.create(`p-${name}`, { node: name, labels: { app: "web" } });
    }
    for (const address of ADDRESSES) this.#account.addAddress({ ip: address, region: "nyc3" }, "reserved");
    const match = { podNamespace: "shop", podLabel: "app=web" };
    await this.#pools.create("web", { ips: ADDRESSES, match });
    const dnsRecordSet = { zone: "example.com", recordName: "nodes" };
    await this.#recordSets.create("nodes", { dnsRecordSet, match });
    await this.#start();
    await this.untilCalm();
  }

  /** Lets so many things happen in the cluster, with a look at the metrics and broken watches in between. */
  async happen(events: number): Promise<void> {
    const until = this.#events + events;
    while (this.#events < until) {
      for (let at = 0; at < BATCH; at += 1) await this.#event();
      if (this.#events % 400 === 0) await this.#scrape();
      if (this.#events % 1000 === 0) this.#gate?.dropAll();
      await pause(2);
    }
  }

  /** Makes all pods ready, and waits until the addresses are on five nodes, all nodes are published and nothing is written any more. */
  async untilCalm(): Promise<void> {
    for (const name of NODES) await this.#pods.setReady(`p-${name}`, true);
    for (let quiet = 0, seen = -1; quiet < 8; await pause(100)) {
      const { actions, reserved_ips, domains } = this.#account.cloud().state;
      const isServed = new Set(reserved_ips.map(({ droplet_id }) => droplet_id)).size === ADDRESSES.length;
      const isPublished = domains[0]?.records.filter(({ type }) => type === "A").length === NODES.length;
      quiet = isServed && isPublished && actions.length === seen ? quiet + 1 : 0;
      seen = actions.length;
      if (this.#process?.child.exitCode !== null) throw new Error(`the process ended: ${this.#process?.stderr()}`);
    }
  }

  /** How many writes the process has made to the cluster, the Lease aside. */
  writes(): number {
    return this.#gate?.writes.length ?? 0;
  }

  async holdings(): Promise<Holdings> {
    if (this.#process === undefined) throw new Error("no process");
    return await this.#probe.ask(this.#process);
  }

  /** Ends the process as SIGTERM does. Returns its exit code. */
  async close(): Promise<number | string | undefined> {
    this.#process?.child.kill("SIGTERM");
    const code = await this.#process?.end;
    await this.#gate?.close();
    for (const server of this.#servers) await server.close();
    rmSync(this.#directory, { recursive: true, force: true });
    return code;
  }

  async #start(): Promise<void> {
    const server = await serve({ server: "kubernetes", handle: this.#kubernetes.handle, faults: new FaultList() });
    const cloud = await this.#account.serve();
    this.#servers.push(server, cloud);
    this.#gate = await Gate.open({ url: server.url });
    this.#process = startWatch(["--interval", "2s", "--metrics-addr", "127.0.0.1:0", ...LEASE], {
      ...this.#probe.env,
      KUBECONFIG: gatedKubeconfig(this.#directory, this.#gate.url, "t"),
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: cloud.url,
    });
  }

  /** The next of an endless row: heartbeats, pods that flap or are replaced, labels, edits of the objects. */
  async #event(): Promise<void> {
    this.#events += 1;
    const turn = this.#events;
    const round = Math.floor(turn / 5);
    const name = nodeAt(round);
    switch (turn % 5) {
      case 0:
        return await this.#pods.setReady(`p-${name}`, false);
      case 1:
        return await this.#pods.setReady(`p-${nodeAt(round + NODES.length / 2)}`, true);
      case 2:
        return await this.#nodes.patch(`${name}/status`, { status: { nodeInfo: { kernelVersion: String(turn) } } });
      case 3:
        return await this.#nodes.patch(name, { metadata: { labels: { turn: String(turn) } } });
      default:
        return await this.#pools.edit("web", { assignmentCoolOffSeconds: turn % 2 === 0 ? 0 : 0.001 });
    }
  }

  async #scrape(): Promise<void> {
    const port = /port (\d+)/.exec(this.#process?.stderr() ?? "")?.[1];
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    await answer.text();
    if (answer.status !== 200) throw new Error(`/metrics answers ${answer.status}`);
  }
}

function nodeAt(place: number): string {
  return NODES[place % NODES.length] ?? "";
}
