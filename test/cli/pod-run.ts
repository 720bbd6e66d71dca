import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { type ProgramRun, runCommand } from "./cluster-run.ts";

/** Where a pod finds its service account. */
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** What a container is run with. */
export interface PodRun {
  /** The built package, as the image holds it. */
  readonly app: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folders that stand for volumes, by the path they are mounted at. */
  readonly mounts: ReadonlyMap<string, string>;
  /** Folder of the service account: token, ca.crt, namespace. */
  readonly account: string;
  /** URL of the API server. */
  readonly server: string;
}

/** Makes the mounts of `MOUNT=FOLDER` arguments up to `--` below a /var/run of its own, then becomes the rest of the arguments. */
const SCRIPT = `mount -t tmpfs tmpfs /var/run
while [ "$1" != -- ]; do
  mkdir -p "\${1%%=*}" && mount --bind "\${1#*=}" "\${1%%=*}" || exit 97
  shift
done
shift
cd / && exec "$@"`;

/** Runs a script that may mount what only it and its children see. */
const OWN_MOUNTS = ["unshare", "-rm", "sh", "-c"] as const;

/**
 * Runs the image's program as the kubelet would: exactly the environment given, volumes and service account where a pod has
 * them, in mounts that only this process sees. Where the system allows no such mounts a kubeconfig stands for the service account and
 * the variables name the folders themselves.
 */
export async function runInPod({ app, args, env, mounts, account, server }: PodRun): Promise<ProgramRun> {
  const program = [process.execPath, join(app, "bin/start.js"), ...args];
  if (!hasOwnMounts()) {
    return await runCommand(program, { ...withFolders(env, mounts), KUBECONFIG: kubeconfigOf(account, server) });
  }
  const { hostname, port } = new URL(server);
  const volumes = [[ACCOUNT, account] as const, ...mounts].map((pair) => pair.join("="));
  const command = [...OWN_MOUNTS, SCRIPT, "sh", ...volumes, "--", ...program];
  return await runCommand(command, { ...env, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port });
}

function hasOwnMounts(): boolean {
  const [program, ...args] = OWN_MOUNTS;
  return spawnSync(program, [...args, "mount -t tmpfs tmpfs /var/run"]).status === 0;
}

function withFolders(env: PodRun["env"], mounts: PodRun["mounts"]): Readonly<Record<string, string>> {
  const replaced = Object.entries(env).map(([name, value]) => {
    const [path, folder] = [...mounts].find(([mount]) => value.startsWith(`${mount}/`)) ?? ["", ""];
    return [name, value.replace(path, folder)];
  });
  return Object.fromEntries(replaced);
}

function kubeconfigOf(account: string, server: string): string {
  const file = join(account, "kubeconfig.yaml");
  const cluster = { server, "certificate-authority": join(account, "ca.crt") };
  const kubeconfig = {
    "current-context": "pod",
    clusters: [{ name: "pod", cluster }],
    users: [{ name: "pod", user: { tokenFile: join(account, "token") } }],
    contexts: [{ name: "pod", context: { cluster: "pod", user: "pod" } }],
  };
  writeFileSync(file, stringify(kubeconfig));
  return file;
}
