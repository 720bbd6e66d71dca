import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { run } from "../doctor/world.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";

const ROOT = mkdtempSync(join(tmpdir(), "flipop-trial-"));
const POOLS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools";
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/floatingippools.flipop.digitalocean.com";
const MERGE = "application/merge-patch+json";
const MANIFEST = `apiVersion: flipop.digitalocean.com/v1alpha1
kind: FloatingIPPool
metadata: { name: web, namespace: default }
spec:
  provider: digitalocean
  ips: [203.0.113.10]
  maxUnavailable: 50%
`;

describeCluster("flipop validate --cluster asks a real API server by dry runs", () => {
  let cluster: Cluster;
  let api: API;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", ...shippedFiles("crds"), "rbac.yaml"])
      await api.applyManifests(shippedText(file));
    writeFileSync(join(ROOT, "web.yaml"), MANIFEST);
  });

  afterAll(async () => {
    rmSync(ROOT, { recursive: true });
    api?.close();
    await cluster?.stop();
  });

  /** What is found of the file, and what is said beside it. Without a token a provider is missing, which is none of this. */
  const validated = async (
    kubeconfig: string,
  ): Promise<{ readonly found: readonly string[]; readonly stderr: string }> => {
    const argv = ["validate", "--cluster", "-o", "json", join(ROOT, "web.yaml")];
    const { stdout, stderr } = await run(argv, { KUBECONFIG: kubeconfig });
    const { findings } = JSON.parse(stdout) as {
      readonly findings: readonly { code: string; line: number; path: string; message: string }[];
    };
    const refused = findings.filter(({ code }) => code === "FLP241");
    return { found: refused.map(({ line, path, message }) => `${line} ${path}: ${message}`), stderr };
  };

  const stored = async (): Promise<readonly string[]> =>
    (await api.list<{ metadata: { name: string; resourceVersion: string } }>(POOLS)).map(
      ({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`,
    );

  test("a good object is taken, and not stored; as little is one that is there", async () => {
    expect(await validated(cluster.kubeconfig)).toEqual({ found: [], stderr: "" });
    expect(await stored()).toEqual([]);
    await api.applyManifests(MANIFEST);
    const before = await stored();
    writeFileSync(join(ROOT, "web.yaml"), MANIFEST.replace("50%", "25%"));
    expect(await validated(cluster.kubeconfig)).toEqual({ found: [], stderr: "" });
    expect([await stored(), before.length]).toEqual([before, 1]);
  });

  test("what an older definition refuses is told at its field", async () => {
    const { spec } = await api.call<{ spec: { versions: [{ schema: { openAPIV3Schema: Schema } }] } }>("GET", CRD);
    const older = structuredClone(spec);
    delete older.versions[0].schema.openAPIV3Schema.properties.spec.properties["maxUnavailable"];
    await api.call("PATCH", CRD, { spec: { versions: older.versions } }, MERGE);
    try {
      await expect
        .poll(async () => (await validated(cluster.kubeconfig)).found)
        .toEqual([expect.stringMatching(/^7 spec\.maxUnavailable: .*unknown field "spec\.maxUnavailable" \(400\)$/)]);
    } finally {
      await api.call("PATCH", CRD, { spec: { versions: spec.versions } }, MERGE);
      await expect.poll(async () => (await validated(cluster.kubeconfig)).found).toEqual([]);
    }
  });

  test("who may not create objects is told that nobody knows", async () => {
    const reader = cluster.kubeconfigFor(await api.serviceAccountToken("flipop", "flipop"));
    const { found, stderr } = await validated(reader);
    expect(found).toEqual([]);
    expect(stderr).toMatch(
      /whether the API server would take 1 object is not known: .*Grant the verb "create" on "floatingippools/,
    );
  });
});

interface Schema {
  readonly properties: { readonly spec: { readonly properties: Record<string, unknown> } };
}
