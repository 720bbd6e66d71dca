import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LAST_SUCCESS_ANNOTATION } from "../../src/model/lease-annotations.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { realCommand } from "../cli/real-command.ts";

/** What `flipop doctor` printed, and every request it made. */
export interface Examined {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly calls: readonly RecordedCall[];
  readonly ms: number;
}

/** What `doctor -o json` prints, as far as tests look at it. */
export interface Checks {
  readonly summary: Readonly<Record<string, number>>;
  readonly groups: readonly {
    readonly checks: readonly { readonly code: string; readonly result: string; readonly message: string }[];
  }[];
}

/** An embedded world in which everything is fine, with the means to spoil it before it is examined. */
export class World {
  readonly faults: FaultList = new FaultList();
  readonly env: Record<string, string | undefined> = {};
  /** How far the API servers are ahead of this machine. */
  aheadMs = 0;
  readonly #cluster = readFileSync(new URL("../../src/sandbox/example/cluster.yaml", import.meta.url), "utf8");
  readonly #root = mkdtempSync(join(tmpdir(), "flipop-doctor-"));
  readonly dir: string = join(this.#root, "world");

  private constructor() {
    mkdirSync(this.dir);
  }

  /** Makes the world of the example, with a CronJob whose last run has just ended well. */
  static async open(): Promise<World> {
    const world = new World();
    await (await startSandbox({ dir: world.dir })).close();
    world.install(cronJobText(), leaseText(OWN_LEASE, "", 1000));
    return world;
  }

  /** Puts these documents into the cluster, beside its namespaces. */
  install(...documents: readonly string[]): void {
    this.write("cluster.yaml", [this.#cluster, ...documents].join("---\n"));
  }

  /** Adds a document to a file. */
  add(file: string, text: string): void {
    this.write(file, `${readFileSync(join(this.dir, file), "utf8")}---\n${text}`);
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.dir, file), text);
  }

  /** Replaces a text of a file, which must be there. */
  change(file: string, from: string, to: string): void {
    const text = readFileSync(join(this.dir, file), "utf8");
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    this.write(file, text.replace(from, to));
  }

  /** Answers requests to the cluster whose path fits with another body, for ever. */
  answer(path: string, body: unknown, status = 200, server: "kubernetes" | "digitalocean" = "kubernetes"): void {
    this.faults.add({ server, path, status, body, times: 0 });
  }

  /** Runs `flipop doctor` on the world; once more where this machine was too busy to answer itself in time. A world whose APIs are to hang is examined once. */
  async examine(...args: readonly string[]): Promise<Examined> {
    const mayHang = this.faults.remaining().some(({ delayMs }) => delayMs !== undefined);
    for (let more = mayHang ? 0 : 4; ; more--) {
      const found = await this.#examine(args);
      if (more === 0 || !/answer (from \S+ )?within|not answer in time/.test(found.stdout)) return found;
    }
  }

  async #examine(args: readonly string[]): Promise<Examined> {
    const calls: RecordedCall[] = [];
    const { aheadMs, faults, dir } = this;
    const onCall = (call: RecordedCall): void => void calls.push(call);
    const sandbox = await startSandbox({ dir, faults, onCall, now: () => Date.now() + aheadMs });
    try {
      return { ...(await run(["doctor", ...args], { ...envOf(sandbox), ...this.env })), calls };
    } finally {
      await sandbox.close();
    }
  }

  close(): void {
    rmSync(this.#root, { recursive: true });
  }
}

/** The environment in which commands use an embedded world. */
export function envOf({
  kubeconfig,
  digitaloceanURL,
  cloudflareURL,
  resolver,
  token,
}: Sandbox): Record<string, string> {
  return {
    KUBECONFIG: kubeconfig,
    DIGITALOCEAN_ACCESS_TOKEN: token,
    DIGITALOCEAN_API_URL: digitaloceanURL,
    CLOUDFLARE_TOKEN: token,
    CLOUDFLARE_API_URL: cloudflareURL,
    FLIPOP_RESOLVER: resolver,
  };
}

/** Runs a command line in this process against whatever the environment names. */
export async function run(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Omit<Examined, "calls">> {
  const startMs = performance.now();
  const printed = await realCommand(argv, { env, identity: "doctor" });
  return { ...printed, ms: performance.now() - startMs };
}

/** What an API server says of what it does not have. */
export const NOT_FOUND = {
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  reason: "NotFound",
  message: "not found",
  code: 404,
};

/** What checks of one code say: mark and text. */
export function saidOf({ stdout }: Examined, code: string): readonly string[] {
  const { groups } = JSON.parse(stdout) as Checks;
  return groups
    .flatMap(({ checks }) => checks)
    .filter((one) => one.code === code)
    .map(({ result, message }) => `${result} ${message}`);
}

/** A Lease as YAML, renewed so many milliseconds ago. One that is to be fresh lasts longer than a slow machine takes. */
export function leaseText(
  place: { readonly namespace: string; readonly name: string },
  holder: string,
  agoMs: number,
  durationSeconds: number = 15,
  /** Beside the time of the last success. */
  annotations: Readonly<Record<string, string>> = {},
): string {
  const at = new Date(Date.now() - agoMs);
  return `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: ${place.name}
  namespace: ${place.namespace}
  annotations: ${JSON.stringify({ [LAST_SUCCESS_ANNOTATION]: at.toISOString(), ...annotations })}
spec: { holderIdentity: "${holder}", leaseDurationSeconds: ${durationSeconds}, renewTime: "${at.toISOString().replace("Z", "000Z")}" }
`;
}

/** A CronJob as YAML. */
export function cronJobText(more = ""): string {
  return `apiVersion: batch/v1
kind: CronJob
metadata:
  name: flipop
  namespace: flipop
  labels: { app.kubernetes.io/part-of: flipop }
spec:
  schedule: "* * * * *"
  ${more}
  jobTemplate: { spec: { template: { spec: { containers: [{ name: flipop, image: example.com/flipop:main }] } } } }
`;
}

const OWN_LEASE = { namespace: "flipop", name: "flipop" };

/** The codes of what is wrong, each once. */
export function wrongOf({ stdout }: Examined): readonly string[] {
  const { groups } = JSON.parse(stdout) as Checks;
  const wrong = groups
    .flatMap(({ checks }) => checks)
    .filter(({ result }) => result === "error" || result === "warning");
  return [...new Set(wrong.map(({ code }) => code))];
}
