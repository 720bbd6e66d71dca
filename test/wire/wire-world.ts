import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import { createWiring } from "../../src/cli/wiring.ts";
import type { AccountState } from "../../src/sandbox/cloudflare/account-state.ts";
import { type CloudflareSandbox, cloudflareSandbox } from "../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import type { CloudState } from "../../src/sandbox/digitalocean/cloud-state.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { kubernetesSandbox, shippedCRDs } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import type { JSONObject } from "../../src/sandbox/kubernetes/object-store.ts";
import { CLOUDFLARE_SECRET, SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { emptyAccount } from "../scenario/account.ts";
import type { Rest } from "../scenario/backend.ts";
import { sandboxRest } from "../scenario/memory-world.ts";
import { Wire, type WireCall } from "./wire.ts";

/** How a run of the command line ended. */
export interface WireRun {
  readonly code: number;
  readonly text: string;
  readonly ms: number;
}

/** The token for the emulated API server. */
const KUBE_SECRET = "kube-0123456789abcdefABCDEF0123456789";

/** Deadline of one call, to whatever server, milliseconds. */
const CALL_TIMEOUT_MS = 2500;

const CRDS = shippedCRDs();

/** A world at one moment. */
export interface Snapshot {
  readonly objects: readonly JSONObject[];
  readonly cloud: CloudState;
  readonly account: AccountState;
}

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1";
const LISTS = [
  ["/api/v1/namespaces", "Namespace"],
  ["/api/v1/nodes", "Node"],
  ["/api/v1/pods", "Pod"],
  [`${GROUP}/floatingippools`, "FloatingIPPool"],
  [`${GROUP}/nodednsrecordsets`, "NodeDNSRecordSet"],
] as const;

/** A cluster and two accounts, emulated in memory, with real HTTP between them and flipop's real command line, in this process. */
export class WireWorld {
  readonly digitalocean: DigitalOceanSandbox;
  readonly cloudflare: CloudflareSandbox;
  /** The administrator's requests; they do not pass the wire. */
  readonly rest: Rest;
  readonly wire: Wire;
  readonly directory: string;
  /** Called after the effect of every request of flipop's; the user agent of those to providers is the name of the run. */
  onEffect: (call: WireCall, status: number) => void = () => undefined;
  #aheadMs = 0;
  #runs = 0;

  private constructor(directory: string, snapshot: Snapshot | undefined) {
    const now = (): number => this.nowMs();
    const kubernetes = kubernetesSandbox({ now, crds: CRDS });
    for (const object of snapshot?.objects ?? []) kubernetes.write(structuredClone(object));
    this.directory = directory;
    this.digitalocean = emptyAccount({ now });
    if (snapshot !== undefined) this.digitalocean.cloud().state = structuredClone(snapshot.cloud);
    this.digitalocean.cloud().state.settings.action_delay_ms = 0;
    this.cloudflare = cloudflareSandbox({ now, state: structuredClone(snapshot?.account) });
    this.rest = sandboxRest(kubernetes);
    this.wire = new Wire({
      handlers: {
        kubernetes: kubernetes.handle,
        digitalocean: this.digitalocean.handle,
        cloudflare: this.cloudflare.handle,
      },
      now,
      onEffect: (call, status) => this.onEffect(call, status),
    });
  }

  /** Opens an empty world, or one as it was when the snapshot was taken. */
  static async open(snapshot?: Snapshot): Promise<WireWorld> {
    const world = new WireWorld(await mkdtemp(join(tmpdir(), "flipop-wire-")), snapshot);
    await world.wire.open();
    world.replaceToken(KUBE_SECRET);
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "wire",
      clusters: [{ name: "wire", cluster: { server: world.wire.url("kubernetes"), "insecure-skip-tls-verify": true } }],
      users: [{ name: "wire", user: { tokenFile: join(world.directory, "token") } }],
      contexts: [{ name: "wire", context: { cluster: "wire", user: "wire" } }],
    };
    writeFileSync(join(world.directory, "kubeconfig"), stringify(kubeconfig));
    return world;
  }

  /** The cluster's objects and both accounts as they are now. */
  async snapshot(): Promise<Snapshot> {
    const lists = await Promise.all(LISTS.map(async ([path, kind]) => ({ kind, list: await this.rest("GET", path) })));
    return {
      objects: lists.flatMap(({ kind, list }) => {
        const { apiVersion, items } = list as { apiVersion: string; items: readonly JSONObject[] };
        return items.map((item) => ({ ...item, apiVersion, kind }));
      }),
      cloud: structuredClone(this.digitalocean.cloud().state),
      account: structuredClone(this.cloudflare.account().state),
    };
  }

  /** The time of all its servers, and of flipop's process: milliseconds since the epoch. */
  nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  /** Writes another token to the file that the kubeconfig names. */
  replaceToken(token: string): void {
    writeFileSync(join(this.directory, "token"), token);
  }

  /** Runs `flipop reconcile`. @throws Error when a token is printed, or the run does not end by itself within 90 s */
  async reconcile(
    args: readonly string[] = [],
    callTimeoutMs: number = CALL_TIMEOUT_MS,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<WireRun> {
    const startMs = performance.now();
    const lines: string[] = [];
    const write = (text: string): void => {
      lines.push(text);
    };
    this.#runs += 1;
    const identity = `run-${this.#runs}`;
    const code = await inTime(
      runCommandLine({
        argv: ["reconcile", ...RUN_FLAGS, "--request-timeout", `${callTimeoutMs}ms`, ...args],
        env: { ...this.environment(), DIGITALOCEAN_USER_AGENT: identity, CLOUDFLARE_USER_AGENT: identity },
        streams: { stdout: { isTTY: false, write }, stderr: { isTTY: false, write } },
        signal,
        runID: `0000000${this.#runs}`,
        identity,
        wallMs: () => this.nowMs(),
        loadWiring: async () =>
          createWiring({
            clock: {
              monotonicMs: () => performance.now() + this.#aheadMs,
              wallMs: () => this.nowMs(),
              sleep: SYSTEM_CLOCK.sleep,
            },
            providerTimeoutMs: callTimeoutMs,
          }),
      }),
    );
    const text = lines.join("");
    if ([SECRET_TOKEN, CLOUDFLARE_SECRET, KUBE_SECRET].some((secret) => text.includes(secret)))
      throw new Error(`a token was printed:\n${text}`);
    return { code, text, ms: performance.now() - startMs };
  }

  /** What flipop needs to reach this world. */
  environment(): Readonly<Record<string, string>> {
    return {
      HOME: this.directory,
      KUBECONFIG: join(this.directory, "kubeconfig"),
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: this.wire.url("digitalocean"),
      CLOUDFLARE_TOKEN: CLOUDFLARE_SECRET,
      CLOUDFLARE_API_URL: `${this.wire.url("cloudflare")}/client/v4`,
    };
  }

  async close(): Promise<void> {
    await this.wire.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A Lease that a struck run could not give back is waited for, so it is a short one. */
const RUN_FLAGS = [
  ...["--timeout", "20s"],
  ...["--lease-duration", "8s", "--renew-deadline", "6s", "--retry-period", "1s"],
];

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the run has not ended after ten minutes")), 600_000);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
