import { randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { canonicalAddress } from "../model/address.ts";
import { AUTOMATIC_TTL_SECONDS } from "../model/dns.ts";
import { ConfigError } from "../model/errors.ts";
import { nearest } from "../model/nearest.ts";
import { RECORD_TYPES } from "../model/record-types.ts";
import type { AccountState } from "./cloudflare/account-state.ts";
import { cloudflareSandbox } from "./cloudflare/cloudflare-sandbox.ts";
import { type CloudState, recordFQDN } from "./digitalocean/cloud-state.ts";
import { digitaloceanSandbox } from "./digitalocean/digitalocean-sandbox.ts";
import { type AnswerRecord, type DNSServer, serveDNS } from "./dns-server.ts";
import { type FaultList, type FaultSource, faultFile, type SandboxServerName } from "./faults.ts";
import { hetznerSandbox } from "./hetzner/hetzner-sandbox.ts";
import type { ProjectState } from "./hetzner/project-state.ts";
import { type RecordedCall, type SandboxServer, serve } from "./http-server.ts";
import { kubernetesSandbox } from "./kubernetes/kubernetes-sandbox.ts";
import { WORLD_FILES } from "./kubernetes/world-files.ts";
import { SharedFiles } from "./one-at-a-time.ts";
import { SANDBOX_TOKEN } from "./token.ts";
import { webhookSandbox } from "./webhook/webhook-sandbox.ts";
import type { WebhookState } from "./webhook/webhook-state.ts";

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
  /** Called for what the directory holds beside the files of a world. */
  readonly warn?: (text: string) => void;
  /** Other programs are to use it: the kubeconfig has a name that a person can write down, and no second process may serve the directory so. */
  readonly isServed?: boolean;
}

/** A running sandbox. */
export interface Sandbox {
  /** Path of a kubeconfig for its cluster; it is there until {@link close}. */
  readonly kubeconfig: string;
  /** Base URL of its DigitalOcean API, without `/v2`. */
  readonly digitaloceanURL: string;
  /** Base URL of its Cloudflare API, with `/client/v4`. */
  readonly cloudflareURL: string;
  /** Base URL of its Hetzner Cloud API, with `/v1`. */
  readonly hetznerURL: string;
  /** Base URL of its DNS webhook. */
  readonly webhookURL: string;
  /** `127.0.0.1:PORT` of a DNS server that answers with the A records of all of them. */
  readonly resolver: string;
  /** A token that its DigitalOcean, its Cloudflare and its Hetzner Cloud accept. No secret: it opens nothing else. */
  readonly token: string;
  readonly dir: string;
  /** Ends its APIs. Idempotent. */
  close(): Promise<void>;
}

/** The file in the directory of a served world that a shell reads to use it. */
export const EXPORTS = "exports.sh";

/**
 * Starts the embedded world: the APIs of Kubernetes, DigitalOcean, Cloudflare, Hetzner Cloud and a DNS webhook on loopback, kept in the YAML files of a directory.
 *
 * Several processes may do so with one directory at a time.
 *
 * @throws ConfigError naming file and line when a file cannot be read, or when the directory holds something else or is served by another process.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), "flipop-sandbox-"));
  const removeTemporary = (): void => {
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
  };
  try {
    const told = new Set<string>();
    prepareDirectory(dir, told, options.warn);
    const kubeconfig = join(dir, options.isServed === true ? KUBECONFIG : `.${KUBECONFIG}.${randomUUID()}`);
    if (options.isServed === true && (await isAnswering(kubeconfig))) throw servedAlready(dir);
    const files = new SharedFiles(dir, options.onError);
    const { kubernetes, dns, ...providers } = await serveWorld(dir, files, options);
    const { digitalocean, cloudflare, hetzner, webhook } = providers;
    writeFileSync(kubeconfig, stringify(kubeconfigFor(kubernetes.url)), { mode: 0o600 });
    const looking = setInterval(() => tellOfOthers(dir, told, options.warn), LOOK_MS).unref();
    const close = async (): Promise<void> => {
      clearInterval(looking);
      await Promise.all([kubernetes, dns, ...Object.values(providers)].map((server) => server.close()));
      await files.close();
      rmSync(kubeconfig, { force: true });
      removeTemporary();
    };
    const cloudflareURL = `${cloudflare.url}/client/v4`;
    const own = { digitaloceanURL: digitalocean.url, cloudflareURL, hetznerURL: `${hetzner.url}/v1` };
    const urls = { ...own, webhookURL: webhook.url, resolver: dns.address };
    return { kubeconfig, ...urls, token: SANDBOX_TOKEN, dir, close };
  } catch (error) {
    removeTemporary();
    throw error;
  }
}

const KUBECONFIG = "kubeconfig";

/** How often a file that is none of a world's is looked for. */
const LOOK_MS = 1000;

/** How long another process has to say that it is there. */
const ANSWER_MS = 1000;

/** True when the cluster of a kubeconfig answers. A file that a process left behind when it was killed leads nowhere. */
async function isAnswering(kubeconfig: string): Promise<boolean> {
  if (!existsSync(kubeconfig)) return false;
  const [, server] = /^ *server: (http:\/\/127\.0\.0\.1:\d+)$/m.exec(readFileSync(kubeconfig, "utf8")) ?? [];
  if (server === undefined) return false;
  return await fetch(`${server}/version`, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

function servedAlready(dir: string): ConfigError {
  const text = `cannot serve ${dir}: another process serves it (${KUBECONFIG} leads there); use that one, or end it`;
  return new ConfigError("usage", text);
}

/** Every file is read before anything listens. */
async function serveWorld(
  dir: string,
  files: SharedFiles,
  options: SandboxOptions,
): Promise<Readonly<Record<SandboxServerName, SandboxServer>> & { readonly dns: DNSServer }> {
  const shared = await surroundings(dir, options, files);
  const [account, zones, project, names, cluster] = await files.exclusively(
    () =>
      [
        digitaloceanSandbox({ file: join(dir, DIGITALOCEAN), ...shared }),
        cloudflareSandbox({ file: join(dir, CLOUDFLARE), ...shared }),
        hetznerSandbox({ file: join(dir, HETZNER), ...shared }),
        webhookSandbox({ file: join(dir, WEBHOOK), ...shared }),
        kubernetesSandbox({ directory: dir, ...shared }),
      ] as const,
  );
  const digitalocean = await account.serve();
  const cloudflare = await zones.serve();
  const hetzner = await project.serve();
  const webhook = await names.serve();
  const kubernetes = await serve({ server: "kubernetes", handle: cluster.handle, ...shared });
  const dns = await serveDNS(
    () => answersOf(account.cloud().state, zones.account().state, project.project().state, names.webhook().state),
    options.onError,
  );
  return { digitalocean, cloudflare, hetzner, webhook, kubernetes, dns };
}

/** The address records of all accounts, as DNS tells them. */
function answersOf(
  { domains }: CloudState,
  { zones }: AccountState,
  { zones: hetznerZones }: ProjectState,
  { records }: WebhookState,
): readonly AnswerRecord[] {
  return [
    ...domains.flatMap((domain) =>
      domain.records
        .filter(({ type }) => isAddressType(type))
        .map((record) => ({
          fqdn: recordFQDN(domain, record),
          address: canonicalAddress(record.data) ?? record.data,
          ttl: record.ttl,
        })),
    ),
    ...zones.flatMap(({ dns_records }) =>
      dns_records
        .filter(({ type }) => isAddressType(type))
        .map(({ name, content, ttl }) => ({ fqdn: name, address: canonicalAddress(content) ?? content, ttl })),
    ),
    ...hetznerZones.flatMap(({ name: zone, ttl: usual, rrsets }) =>
      rrsets
        .filter(({ type }) => isAddressType(type))
        .flatMap(({ name, ttl, records: own }) =>
          own.map(({ value }) => ({
            fqdn: recordFQDN({ name: zone }, { name }),
            address: canonicalAddress(value) ?? value,
            ttl: ttl ?? usual,
          })),
        ),
    ),
    ...records
      .filter(({ recordType }) => isAddressType(recordType))
      .flatMap(({ dnsName, targets, recordTTL: ttl = AUTOMATIC_TTL_SECONDS }) =>
        targets.map((target) => ({ fqdn: dnsName, address: canonicalAddress(target) ?? target, ttl })),
      ),
  ];
}

function isAddressType(type: string): boolean {
  return Object.hasOwn(RECORD_TYPES, type);
}

interface Surroundings extends Pick<SharedFiles, "exclusively" | "save"> {
  readonly now: () => number;
  readonly faults: FaultSource;
  readonly onCall?: (call: RecordedCall) => void;
  readonly onError?: (error: unknown) => void;
}

const DIGITALOCEAN = "digitalocean.yaml";
const CLOUDFLARE = "cloudflare.yaml";
const HETZNER = "hetzner.yaml";
const WEBHOOK = "webhook.yaml";
const FAULTS = "faults.yaml";

async function surroundings(
  dir: string,
  { now = Date.now, faults, onCall, onError }: SandboxOptions,
  { exclusively, save }: SharedFiles,
): Promise<Surroundings> {
  const written = await exclusively(() => faultFile(join(dir, FAULTS)));
  return {
    now,
    exclusively,
    save,
    faults: { take: async (call) => faults?.take(call) ?? (await exclusively(() => written.take(call))) },
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
 * Makes a directory the home of a world: a new or empty one is filled with the example, one that has a world is left alone, and
 * what is no part of it is told of.
 *
 * @throws ConfigError when it cannot be made or read, or when it holds files but no world.
 */
function prepareDirectory(dir: string, told: Set<string>, warn: SandboxOptions["warn"]): void {
  makeUsable(dir);
  const present = listVisible(dir);
  const others = present.filter(isOther);
  const hasWorld = present.some((name) => READ.includes(name));
  if (!hasWorld && others.length > 0) {
    const shown = others
      .slice(0, MOST_NAMED)
      .map((name) => name + meant(name))
      .join(", ");
    throw new ConfigError(
      "usage",
      `cannot use ${dir} as a sandbox: it holds other files (${shown}); name a new or an empty directory`,
    );
  }
  tellOfOthers(dir, told, warn);
  if (hasWorld) return;
  const files = readdirSync(EXAMPLE).filter((name) => name.endsWith(".yaml"));
  for (const name of files) copyFileSync(new URL(name, EXAMPLE), join(dir, name));
}

/** Names the files that are no part of a world, each once. */
function tellOfOthers(dir: string, told: Set<string>, warn: SandboxOptions["warn"] = () => undefined): void {
  const others = listVisible(dir).filter((name) => isOther(name) && !told.has(name));
  for (const name of others) told.add(name);
  for (const name of others.slice(0, MOST_NAMED))
    warn(`${join(dir, name)} is no file of a sandbox and is not read${meant(name)}`);
  const more = others.length - MOST_NAMED;
  if (more > 0) warn(`${dir} holds ${more} more that ${more === 1 ? "is" : "are"} not read`);
}

/** The files that a world is read from. */
const READ = [...WORLD_FILES.map(({ name }) => name), DIGITALOCEAN, CLOUDFLARE, HETZNER, WEBHOOK, FAULTS];
/** Read or written. */
const KNOWN_NAMES: readonly string[] = [...READ, KUBECONFIG, EXPORTS];
const MOST_NAMED = 3;

function isOther(name: string): boolean {
  return !KNOWN_NAMES.includes(name);
}

/** Which name a person may have meant, as the end of a sentence. */
function meant(name: string): string {
  const taken = name.replace(/\.[^.]*$/, "").toLowerCase();
  const word = nearest(
    taken,
    READ.map((file) => file.replace(".yaml", "")),
  );
  return word === undefined || !/\.ya?ml$|^[^.]*$/i.test(name) ? "" : `; do you mean ${word}.yaml?`;
}

/** Nothing where there is no directory, or no longer one that can be read. */
function listVisible(dir: string): readonly string[] {
  try {
    return readdirSync(dir).filter((name) => !/^\.|~$|\.tmp$/.test(name));
  } catch {
    return [];
  }
}

/** @throws ConfigError when the directory cannot be made, read or written */
function makeUsable(dir: string): void {
  try {
    makeDirectory(dir);
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? "it is a file" : message;
    throw new ConfigError("usage", `cannot use ${dir} as a sandbox: ${why}; name a directory that can be written`, {
      cause: error,
    });
  }
}

/** Makes a directory and those above it. `recursive` of Node never ends below /proc, which answers as if it were not there itself (seen on Node 24.21, 2026-11-24). */
function makeDirectory(dir: string): void {
  if (!existsSync(dirname(dir))) makeDirectory(dirname(dir));
  try {
    mkdirSync(dir);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST" && statSync(dir).isDirectory();
    if (!isThere) throw error;
  }
}
