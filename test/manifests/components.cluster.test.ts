// What is put into flipop's pod on demand: what `flipop manifests` prints, what kustomize makes of the component, and what the API server takes.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { type ManifestChanges, manifestText } from "../../src/cli/manifests.ts";
import { parseShard } from "../../src/model/shard.ts";
import { API } from "../cluster/api.ts";
import { toolOrSkip } from "../cluster/assets.ts";
import { describeCluster } from "../cluster/context.ts";
import { documents } from "./shipped.ts";

const kubectl = await toolOrSkip("kubectl");
const IMAGE = "registry.k8s.io/external-dns/external-dns:v0.22.0";
const folder = mkdtempSync(join(tmpdir(), "flipop-kustomize-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The workloads among objects, by kind. */
function workloads(text: string): Readonly<Record<string, unknown>> {
  const all = documents(text).filter((object) => object !== null && /^(CronJob|Deployment)$/.test(`${object["kind"]}`));
  return Object.fromEntries(all.map((object) => [`${object["kind"]}`, object]));
}

/** What is put into the pod: by `flipop manifests`, by the component of kustomize with the same name, and as it is stored. */
interface Addition {
  readonly changes: ManifestChanges;
  readonly images: readonly object[];
  readonly stored: object;
}

const [newName, newTag] = IMAGE.split(/:(?=[^:]*$)/);
const ADDITIONS: Readonly<Record<string, Addition>> = {
  "dns-webhook": {
    changes: { dnsWebhookImage: IMAGE },
    images: [{ name: "dns-webhook", newName, newTag }],
    // Kubernetes puts no token where something is mounted.
    stored: {
      initContainers: [
        {
          restartPolicy: "Always",
          volumeMounts: [{ name: "no-token", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }],
        },
      ],
    },
  },
  notify: {
    changes: { notifySecretName: "flipop-notify", notifySecretFileKey: "secret" },
    images: [],
    stored: {
      volumes: expect.arrayContaining([
        expect.objectContaining({
          name: "notify",
          secret: expect.objectContaining({ secretName: "flipop-notify", optional: true }),
        }),
      ]),
    },
  },
};

test.skipIf(kubectl === undefined).for(["dns-webhook", "notify", "dns-webhook and notify"])(
  "what kustomize makes of %s is what flipop manifests prints",
  (title) => {
    const names = title.split(" and ");
    const additions = names.flatMap((name) => ADDITIONS[name] ?? []);
    cpSync(fileURLToPath(new URL("../../cronjob", import.meta.url)), join(folder, "cronjob"), { recursive: true });
    mkdirSync(join(folder, "overlay"), { recursive: true });
    const overlay = {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: ["../cronjob", "../cronjob/watch"],
      components: names.map((name) => `../cronjob/${name}`),
      images: additions.flatMap(({ images }) => images),
    };
    writeFileSync(join(folder, "overlay", "kustomization.yaml"), stringify(overlay));
    const { stdout, stderr } = spawnSync(kubectl ?? "", ["kustomize", join(folder, "overlay")], { encoding: "utf8" });
    expect(stderr).toBe("");
    const changes = Object.assign({}, ...additions.map((addition) => addition.changes));
    expect(workloads(stdout)).toEqual(workloads(manifestText(["cronjob", "watcher"], changes)));
  },
);

test.skipIf(kubectl === undefined)(
  "kustomize changes what flipop manifests prints for shards as it changes the files, in each shard's pod",
  () => {
    const shard = ["1/2", "2/2", "vip"].flatMap((text) => parseShard(text) ?? []);
    const parts = ["namespace", "crds", "rbac", "cronjob", "watcher", "networkpolicy"] as const;
    cpSync(fileURLToPath(new URL("../../cronjob", import.meta.url)), join(folder, "cronjob"), { recursive: true });
    mkdirSync(join(folder, "shards"), { recursive: true });
    writeFileSync(join(folder, "shards", "shards.yaml"), manifestText(parts, { shard }));
    const overlay = {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: ["shards.yaml"],
      components: ["../cronjob/notify", "../cronjob/dns-webhook"],
      namespace: "ops",
      images: [
        { name: "flipop", newName: "ghcr.io/acme/flipop", newTag: "1.2.3" },
        { name: "dns-webhook", newName, newTag },
      ],
    };
    writeFileSync(join(folder, "shards", "kustomization.yaml"), stringify(overlay));
    const { stdout, stderr } = spawnSync(kubectl ?? "", ["kustomize", join(folder, "shards")], { encoding: "utf8" });
    expect(stderr).toBe("");
    const changes = Object.assign({}, ...Object.values(ADDITIONS).map((addition) => addition.changes));
    const wanted = manifestText(parts, { ...changes, shard, namespace: "ops", image: "ghcr.io/acme/flipop:1.2.3" });
    const [made, printed] = [stdout, wanted].map(withoutOrder);
    expect(Object.keys(made ?? {})).toEqual(expect.arrayContaining(["CronJob/flipop-1-of-2", "Deployment/flipop-vip"]));
    expect(made).toEqual(printed);
  },
);

/** Objects by kind and name. Variables of a container may stand in any order. */
function withoutOrder(text: string): Readonly<Record<string, unknown>> {
  const all = documents(text).filter((object) => object !== null);
  const sorted = (_: string, value: unknown): unknown =>
    Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null && "name" in one)
      ? value.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      : value;
  return Object.fromEntries(
    all.map((object) => [
      `${object["kind"]}/${(object["metadata"] as { readonly name: string }).name}`,
      JSON.parse(JSON.stringify(object, sorted)),
    ]),
  );
}

describeCluster("what is put into flipop's pod, on a real API server,", (cluster) => {
  const api = new API({ ...cluster, token: cluster.adminToken });
  afterAll(() => api.close());

  test.for(Object.keys(ADDITIONS))(
    "is taken with every field known, and its pods are admitted in the restricted namespace: %s",
    async (name) => {
      const { changes, stored } = ADDITIONS[name] ?? {};
      await api.applyManifests(manifestText(["namespace"]));
      const own = workloads(manifestText(["cronjob", "watcher"], changes));
      // Nothing stays: other files of tests look at what runs, and at what may be done.
      for (const [kind, path] of [
        ["CronJob", "/apis/batch/v1/namespaces/flipop/cronjobs"],
        ["Deployment", "/apis/apps/v1/namespaces/flipop/deployments"],
      ] as const) {
        const object = { ...(own[kind] as object), metadata: { name: "tried", namespace: "flipop" } };
        expect((await api.request("POST", `${path}?dryRun=All&fieldValidation=Strict`, object)).status).toBe(201);
      }
      const all = own as {
        readonly CronJob: { readonly spec: { readonly jobTemplate: { readonly spec: Templated } } };
        readonly Deployment: { readonly spec: Templated };
      };
      for (const { template } of [all.CronJob.spec.jobTemplate.spec, all.Deployment.spec]) {
        const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "flipop-1" }, spec: template.spec };
        const path = "/api/v1/namespaces/flipop/pods?dryRun=All&fieldValidation=Strict";
        const { status, body } = await api.request<{ readonly spec: object }>("POST", path, pod);
        expect([status, body.spec]).toMatchObject([201, stored]);
      }
    },
  );
});

interface Templated {
  readonly template: { readonly spec: object };
}
