// A DNS webhook beside flipop: what `flipop manifests` prints, what kustomize makes of the component, and what the API server takes.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { manifestText } from "../../src/cli/manifests.ts";
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

test.skipIf(kubectl === undefined)("the component of kustomize is what flipop manifests prints", () => {
  cpSync(fileURLToPath(new URL("../../cronjob", import.meta.url)), join(folder, "cronjob"), { recursive: true });
  mkdirSync(join(folder, "overlay"));
  const [newName, newTag] = IMAGE.split(/:(?=[^:]*$)/);
  const overlay = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: ["../cronjob", "../cronjob/watch"],
    components: ["../cronjob/dns-webhook"],
    images: [{ name: "dns-webhook", newName, newTag }],
  };
  writeFileSync(join(folder, "overlay", "kustomization.yaml"), stringify(overlay));
  const { stdout, stderr } = spawnSync(kubectl ?? "", ["kustomize", join(folder, "overlay")], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(workloads(stdout)).toEqual(workloads(manifestText(["cronjob", "watcher"], { dnsWebhookImage: IMAGE })));
});

describeCluster("a DNS webhook beside flipop, on a real API server,", (cluster) => {
  const api = new API({ ...cluster, token: cluster.adminToken });

  test("is taken with every field known, and its pods are admitted in the restricted namespace", async () => {
    await api.applyManifests(manifestText(["namespace"]));
    const own = workloads(manifestText(["cronjob", "watcher"], { dnsWebhookImage: IMAGE }));
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
      // Kubernetes puts no token where something is mounted.
      const mount = { name: "no-token", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" };
      const sidecar = { restartPolicy: "Always", volumeMounts: [mount] };
      expect([status, body.spec]).toMatchObject([201, { initContainers: [sidecar] }]);
    }
  });
});

interface Templated {
  readonly template: { readonly spec: object };
}
