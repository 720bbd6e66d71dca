import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { ConfigError } from "../model/errors.ts";
import { cloudflareSandbox } from "./cloudflare/cloudflare-sandbox.ts";
import { digitaloceanSandbox } from "./digitalocean/digitalocean-sandbox.ts";
import { type FaultList, type FaultSource, faultFile } from "./faults.ts";
import { type RecordedCall, type SandboxServer, serve } from "./http-server.ts";
import { kubernetesSandbox } from "./kubernetes/kubernetes-sandbox.ts";

/** What a sandbox is started with. */
export interface SandboxOptions {
  /** Where the world's files are kept; a new or empty one is filled with the example. Default: a temporary one, removed at the end. */
  readonly dir?: string;
  /** Milliseconds since the epoch: the time of all its APIs. Default: the machine's. */
  readonly now?: () => number;
  /** Faults asked before those of `faults.yaml`. */
  readonly faults?: FaultList;
  /** Called once per request to any of its APIs, after its effect and before its answer. */
  readonly onCall?: (call: RecordedCall) => void;
  /** Called with what went wrong inside: a file that a person broke while the sandbox ran, or a bug. */
  readonly onError?: (error: unknown) => void;
}

/** A running sandbox. */
export interface Sandbox {
  /** Path of a kubeconfig for its cluster; it is there until {@link close}. */
  readonly kubeconfig: string;
  /** Base URL of its DigitalOcean API, without `/v2`. */
  readonly digitaloceanURL: string;
  /** Base URL of its Cloudflare API, with `/client/v4`. */
  readonly cloudflareURL: string;
  /** A token its DigitalOcean and its Cloudflare accept. No secret: it opens nothing else. */
  readonly token: string;
  readonly dir: string;
  /** Ends its APIs. Idempotent. */
  close(): Promise<void>;
}

const TOKEN = "sandbox";

/**
 * Starts the embedded world: the APIs of Kubernetes, DigitalOcean and Cloudflare on loopback, kept in the YAML files of a directory.
 *
 * @throws ConfigError naming file and line when a file cannot be read, or when the directory holds something else.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), "flipop-sandbox-"));
  const removeTemporary = (): void => {
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
  };
  try {
    const { digitalocean, cloudflare, kubernetes } = await serveWorld(dir, options);
    const kubeconfig = join(dir, KUBECONFIG);
    writeFileSync(kubeconfig, stringify(kubeconfigFor(kubernetes.url)), { mode: 0o600 });
    const close = async (): Promise<void> => {
      await Promise.all([kubernetes.close(), digitalocean.close(), cloudflare.close()]);
      rmSync(kubeconfig, { force: true });
      removeTemporary();
    };
    const cloudflareURL = `${cloudflare.url}/client/v4`;
    return { kubeconfig, digitaloceanURL: digitalocean.url, cloudflareURL, token: TOKEN, dir, close };
  } catch (error) {
    removeTemporary();
    throw error;
  }
}

const KUBECONFIG = "kubeconfig";

/** Every file is read before anything listens. */
async function serveWorld(
  dir: string,
  options: SandboxOptions,
): Promise<Readonly<Record<"digitalocean" | "cloudflare" | "kubernetes", SandboxServer>>> {
  prepareDirectory(dir);
  const shared = surroundings(dir, options);
  const account = digitaloceanSandbox({ file: join(dir, "digitalocean.yaml"), ...shared });
  const zones = cloudflareSandbox({ file: join(dir, "cloudflare.yaml"), ...shared });
  const cluster = kubernetesSandbox({ directory: dir, ...shared });
  const digitalocean = await account.serve();
  const cloudflare = await zones.serve();
  const kubernetes = await serve({ server: "kubernetes", handle: cluster.handle, ...shared });
  return { digitalocean, cloudflare, kubernetes };
}

interface Surroundings {
  readonly now: () => number;
  readonly faults: FaultSource;
  readonly onCall?: (call: RecordedCall) => void;
  readonly onError?: (error: unknown) => void;
}

function surroundings(dir: string, { now = Date.now, faults, onCall, onError }: SandboxOptions): Surroundings {
  const written = faultFile(join(dir, "faults.yaml"));
  return {
    now,
    faults: { take: (call) => faults?.take(call) ?? written.take(call) },
    ...(onCall === undefined ? {} : { onCall }),
    ...(onError === undefined ? {} : { onError }),
  };
}

function kubeconfigFor(server: string): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "sandbox",
    clusters: [{ name: "sandbox", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "sandbox", user: {} }],
    contexts: [{ name: "sandbox", context: { cluster: "sandbox", user: "sandbox" } }],
  };
}

/** The example world, as it is copied. */
const EXAMPLE = new URL("./example/", import.meta.url);

/**
 * Makes a directory the home of a world: a new or empty one is filled with the example, one that has a world is left alone.
 *
 * @throws ConfigError when it cannot be made or read, or when it holds files but no world.
 */
function prepareDirectory(dir: string): void {
  const present = listVisible(dir);
  const files = readdirSync(EXAMPLE).filter((name) => name.endsWith(".yaml"));
  if (files.some((name) => present.includes(name))) return;
  if (present.length > 0) {
    const shown = present.slice(0, 3).join(", ");
    throw new ConfigError(
      "usage",
      `cannot use ${dir} as a sandbox: it holds other files (${shown}); name a new or an empty directory`,
    );
  }
  for (const name of files) copyFileSync(new URL(name, EXAMPLE), join(dir, name));
}

function listVisible(dir: string): readonly string[] {
  try {
    mkdirSync(dir, { recursive: true });
    return readdirSync(dir).filter((name) => !name.startsWith("."));
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? "it is a file" : message;
    throw new ConfigError("usage", `cannot use ${dir} as a sandbox: ${why}; name a directory that can be written`, {
      cause: error,
    });
  }
}
