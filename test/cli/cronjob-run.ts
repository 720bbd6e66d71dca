import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { API } from "../cluster/api.ts";
import type { ClusterFacts } from "../cluster/start.ts";
import type { CronJobOnWire, PodSpecOnWire } from "../manifests/shipped.ts";
import type { ProgramRun } from "./cluster-run.ts";
import { runInPod } from "./pod-run.ts";
import { ServiceAccountFolder } from "./service-account-folder.ts";

/** What the pod of the CronJob would run, and with which environment. */
interface ContainerCall {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  /** Folders that hold what the Secrets hold, by the path they are mounted at. */
  readonly mounts: ReadonlyMap<string, string>;
}

/**
 * Runs what the pod of the CronJob stored in a cluster would, as its ServiceAccount.
 * @param app - the built package, as the image holds it
 * @param env - what stands in the place of the clouds
 * @param more - arguments that come last
 */
export async function runCronJob(
  api: API,
  cluster: Pick<ClusterFacts, "caFile" | "server">,
  {
    namespace,
    app,
    env,
    more = [],
  }: { namespace: string; app: string; env: ContainerCall["env"]; more?: readonly string[] },
): Promise<ProgramRun> {
  const call = await containerCall(api, namespace);
  const token = await api.serviceAccountToken(namespace, call.serviceAccount);
  const account = new ServiceAccountFolder({ caFile: cluster.caFile, namespace, token });
  try {
    const place = { app, mounts: call.mounts, account: account.path, server: cluster.server };
    return await runInPod({ ...place, args: [...call.args, ...more], env: { ...call.env, ...env } });
  } finally {
    account.remove();
    for (const folder of call.mounts.values()) rmSync(folder, { recursive: true });
  }
}

/**
 * Returns what the pod of the CronJob stored in a cluster would run, its Secret mounted into a folder as the kubelet would. The
 * Secret is read as it is now; where there is none the folder is empty, as with `optional`.
 */
async function containerCall(api: API, namespace: string): Promise<ContainerCall> {
  const path = `/apis/batch/v1/namespaces/${namespace}/cronjobs/flipop`;
  const { spec } = (await api.call<CronJobOnWire>("GET", path)).spec.jobTemplate.spec.template;
  const [container] = spec.containers;
  if (container === undefined) throw new Error("the CronJob has no container");
  const folders = new Map<string, string>();
  for (const { name, mountPath } of container.volumeMounts) {
    const secret = spec.volumes.find((volume) => volume.name === name)?.secret;
    if (secret !== undefined) folders.set(mountPath, await mountedSecret(api, namespace, secret));
  }
  const env = container.env.map(({ name, value, valueFrom }): readonly [string, string] => {
    if (value !== undefined) return [name, value];
    if (valueFrom?.fieldRef.fieldPath === "metadata.namespace") return [name, namespace];
    throw new Error(`${name} has a value that this test does not understand`);
  });
  const maps = await Promise.all(container.envFrom.map((from) => settings(api, namespace, from.configMapRef.name)));
  return {
    args: container.args,
    env: Object.assign({}, ...maps, Object.fromEntries(env)),
    serviceAccount: spec.serviceAccountName,
    mounts: folders,
  };
}

/** The data of a ConfigMap; nothing where there is none. */
async function settings(api: API, namespace: string, name: string): Promise<Readonly<Record<string, string>>> {
  const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  const { status, body } = await api.request<{ data?: Readonly<Record<string, string>> }>("GET", path);
  return status === 404 ? {} : (body.data ?? {});
}

/** All keys, or those that are listed, each under its path. */
async function mountedSecret(api: API, namespace: string, { secretName, items }: MountedSecret): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "flipop-secret-"));
  const path = `/api/v1/namespaces/${namespace}/secrets/${secretName}`;
  const { status, body } = await api.request<{ data?: Readonly<Record<string, string>> }>("GET", path);
  if (status === 404) return folder;
  for (const [key, value] of Object.entries(body.data ?? {})) {
    const name = items === undefined ? key : items.find((item) => item.key === key)?.path;
    if (name !== undefined) writeFileSync(join(folder, name), Buffer.from(value, "base64"));
  }
  return folder;
}

type MountedSecret = NonNullable<PodSpecOnWire["volumes"][number]["secret"]>;
