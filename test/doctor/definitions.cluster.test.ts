import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { olderCRD } from "../contract/older-crd.ts";
import { documents, shippedFiles, shippedText } from "../manifests/shipped.ts";
import { run } from "./world.ts";

const GROUP = "flipop.digitalocean.com";
const PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FILES = shippedFiles("crds");
const NAMES = FILES.map((file) => `${file.slice("crds/".length, -".yaml".length)}.${GROUP}`);
const MERGE = "application/merge-patch+json";

describeCluster("the doctor looks at the definitions of a real API server", () => {
  let cluster: Cluster;
  let api: API;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
  });

  afterAll(async () => {
    api?.close();
    await cluster?.stop();
  });

  /** What the checks of definitions say, besides what is fine: code, mark and text. */
  const found = async (): Promise<readonly string[]> => {
    const { stdout } = await run(["doctor", "--only", "crds", "-o", "wide"], { KUBECONFIG: cluster.kubeconfig });
    return [...stdout.matchAll(/([!~?.]) (FLP11\d) (.*)/g)]
      .map(([, mark, code, text]) => `${mark} ${code} ${text}`)
      .toSorted();
  };

  const skipped = (code: string): string => `. ${code} not looked at, because of FLP111`;

  test("each that is missing is named, then each that is not established, each that is too old, and each bad object", async () => {
    const missing = (names: readonly string[]): readonly string[] => [
      ...names.map((name) => `! FLP111 there is no definition ${name}`).toSorted(),
      skipped("FLP112"),
      skipped("FLP113"),
    ];
    expect(await found()).toEqual(missing(NAMES));
    for (const file of FILES.slice(1)) await api.applyManifests(shippedText(file));
    expect(await found()).toEqual(missing(NAMES.slice(0, 1)));

    // A stranger's definition has the name of our kind: the API server takes ours, and does not establish it.
    await api.call("POST", PATH, rival());
    await expect.poll(async () => await established(`rivals.${GROUP}`)).toBe(true);
    const [first] = documents(shippedText(FILES[0] ?? ""));
    await api.call("POST", PATH, first);
    await expect
      .poll(found)
      .toEqual([`! FLP111 the definition ${NAMES[0]} is not established`, skipped("FLP112"), skipped("FLP113")]);
    await api.call("DELETE", `${PATH}/rivals.${GROUP}`);
    await expect.poll(found).toEqual([]);

    for (const field of ["acquired", "lastAssignmentTime"]) {
      const { older, shipped } = olderCRD(NAMES[0] ?? "", field);
      await api.call("PATCH", `${PATH}/${NAMES[0]}`, { spec: specOf(older) }, MERGE);
      expect(await found()).toEqual([`! FLP112 ${NAMES[0]} drops ${field} of status`]);
      await api.call("PATCH", `${PATH}/${NAMES[0]}`, { spec: specOf(shipped) }, MERGE);
    }
    expect(await found()).toEqual([]);
    await api.applyManifests(`apiVersion: ${GROUP}/v1alpha1
kind: FloatingIPPool
metadata: { name: web, namespace: default }
spec: { provider: digitalocean, ips: [203.0.113.10], match: { podLabel: "app in (" } }
`);
    expect(await found()).toEqual([
      "! FLP113 pool/default/web is invalid: Error parsing pod selector: unable to parse requirement: found '', expected: ')'",
    ]);
  });

  const established = async (name: string): Promise<boolean> => {
    const { body } = await api.request<{ status?: { conditions?: readonly { type: string; status: string }[] } }>(
      "GET",
      `${PATH}/${name}`,
    );
    return (body.status?.conditions ?? []).some(({ type, status }) => type === "Established" && status === "True");
  };
});

function specOf(definition: unknown): unknown {
  return (definition as { readonly spec: unknown }).spec;
}

function rival(): unknown {
  const { spec } = parse(shippedText(FILES[0] ?? ""));
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `rivals.${GROUP}` },
    spec: { ...spec, names: { ...spec.names, plural: "rivals", singular: "rival", shortNames: [] } },
  };
}
