// Starts a real control plane, etcd and kube-apiserver, on loopback. No kubelet, no controllers, no scheduler: nothing
// happens to an object unless a test does it. Namespaces stay Terminating, so a test takes a new one and leaves it.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { API } from "./api.ts";
import { type Assets, ensureAssets } from "./assets.ts";
import { type Child, startChild } from "./child.ts";
import { guardChildren } from "./guard.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { freePorts } from "./ports.ts";

const readyTimeoutMs = 60_000;
const attempts = 3;

/** What a test needs to reach a cluster; plain strings, so it can be handed to another process. */
export type ClusterFacts = {
  /** The URL of the API server, without a slash at the end. */
  readonly server: string;
  /** The certificate to trust, a PEM file. */
  readonly caFile: string;
  /** The bearer token of a member of `system:masters`. */
  readonly adminToken: string;
  /** The path of a kubeconfig for that administrator. */
  readonly kubeconfig: string;
  /** The directory of the cluster: certificates, logs, kubeconfigs. Removed by `stop`. */
  readonly directory: string;
};

/** A running cluster. `pids` are of this moment: a restarted API server has another. */
export type Cluster = ClusterFacts & {
  readonly pids: () => { readonly etcd: number; readonly kubeAPIServer: number };
  /** Writes a kubeconfig for another token and returns its path. */
  readonly kubeconfigFor: (token: string, options?: { readonly namespace?: string }) => string;
  /** Stops the API server and starts it again on the same port with the same keys; resolves when it is ready. */
  readonly restartAPIServer: () => Promise<void>;
  /** Freezes etcd: writes and uncached reads hang until `resumeEtcd`. */
  readonly pauseEtcd: () => void;
  readonly resumeEtcd: () => void;
  /** Ends both programs and removes the directory. Repeatable. */
  readonly stop: () => Promise<void>;
};

/**
 * Starts a cluster and resolves when it is ready, after about 5 s. Its processes end with this process at the latest,
 * whatever ends it.
 * @throws AssetsError when the programs are missing; Error with the end of the log when one does not start.
 */
export async function startCluster(): Promise<Cluster> {
  const assets = await ensureAssets();
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(assets);
    } catch (error) {
      // The ports were free a moment ago, which is all one can know.
      const isPortTaken = error instanceof Error && error.message.includes("address already in use");
      if (!isPortTaken || attempt === attempts) throw error;
    }
  }
}

async function startOnce(assets: Assets): Promise<Cluster> {
  const directory = mkdtempSync(join(tmpdir(), "flipop-cluster-"));
  const release = guardChildren(directory);
  const children: { etcd?: Child; kubeAPIServer?: Child } = {};
  const stop = async (): Promise<void> => {
    // A frozen etcd does not hear SIGTERM, and the API server waits for etcd before it ends.
    children.etcd?.signal("SIGCONT");
    await children.kubeAPIServer?.stop();
    await children.etcd?.stop();
    release();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const [port = 0, etcdPort = 0, peerPort = 0] = await freePorts(3);
    const adminToken = randomBytes(16).toString("hex");
    writeCredentials(directory, adminToken);
    const etcd = await startEtcd(assets.etcd, directory, etcdPort, peerPort);
    children.etcd = etcd;
    const endpoint = { server: `https://127.0.0.1:${port}`, caFile: join(directory, "apiserver.crt"), directory };
    const startAPIServer = async (): Promise<Child> => {
      const child = startChild("kube-apiserver", assets.kubeAPIServer, flags(directory, port, etcdPort), directory);
      children.kubeAPIServer = child;
      await untilReady(child, "kube-apiserver", () => isServing({ ...endpoint, token: adminToken }));
      return child;
    };
    let kubeAPIServer = await startAPIServer();
    return {
      ...endpoint,
      adminToken,
      kubeconfig: writeKubeconfig(endpoint, adminToken),
      pids: () => ({ etcd: etcd.pid, kubeAPIServer: kubeAPIServer.pid }),
      kubeconfigFor: (token, options) => writeKubeconfig(endpoint, token, options),
      restartAPIServer: async () => {
        await kubeAPIServer.stop();
        kubeAPIServer = await startAPIServer();
      },
      pauseEtcd: () => etcd.signal("SIGSTOP"),
      resumeEtcd: () => etcd.signal("SIGCONT"),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function writeCredentials(directory: string, adminToken: string): void {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  writeFileSync(join(directory, "sa.pub"), publicKey);
  writeFileSync(join(directory, "sa.key"), privateKey, { mode: 0o600 });
  writeFileSync(join(directory, "tokens.csv"), `${adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });
}

async function startEtcd(program: string, directory: string, port: number, peerPort: number): Promise<Child> {
  const url = `http://127.0.0.1:${port}`;
  const child = startChild(
    "etcd",
    program,
    [
      `--data-dir=${join(directory, "etcd")}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      // The data is worth nothing after the test.
      "--unsafe-no-fsync=true",
    ],
    directory,
  );
  await untilReady(child, "etcd", async () => (await fetch(`${url}/health`)).ok);
  return child;
}

function flags(directory: string, port: number, etcdPort: number): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    // Needed where the machine has no default route.
    "--advertise-address=127.0.0.1",
    // The server writes its own certificate here: apiserver.crt, kept over a restart.
    `--cert-dir=${directory}`,
    "--authorization-mode=RBAC",
    // The plugin would refuse pods until somebody makes the service account "default" of each namespace.
    "--disable-admission-plugins=ServiceAccount",
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${join(directory, "sa.pub")}`,
    `--service-account-signing-key-file=${join(directory, "sa.key")}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    "--allow-privileged=true",
    `--token-auth-file=${join(directory, "tokens.csv")}`,
    "--profiling=false",
  ];
}

/** The namespace "default" is made a moment after `/readyz` says yes, and tests rely on it. */
async function isServing(options: ConstructorParameters<typeof API>[0]): Promise<boolean> {
  const api = new API(options);
  try {
    const ready = await api.request("GET", "/readyz");
    return ready.status === 200 && (await api.request("GET", "/api/v1/namespaces/default")).status === 200;
  } finally {
    api.close();
  }
}

async function untilReady(child: Child, name: string, isReady: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + readyTimeoutMs;
  for (;;) {
    const ready = await isReady().catch(() => false);
    // Asked also after a yes: it may come from another program that has taken the port.
    if (!child.isRunning()) throw new Error(`${name} ended while starting:\n${child.log()}`);
    if (ready) return;
    if (Date.now() > deadlineMs) throw new Error(`${name} is not ready after ${readyTimeoutMs} ms:\n${child.log()}`);
    await sleep(100);
  }
}
