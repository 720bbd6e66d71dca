import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { type Granted, grantedToTheServiceAccount, type RoleOnWire, without } from "../manifests/granted.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { run } from "./world.ts";

const ROLES = `${shippedText("rbac.yaml")}---\n${shippedText("watch/rbac.yaml")}`;
const GRANTED = grantedToTheServiceAccount(ROLES);
const MERGE = "application/merge-patch+json";

interface Finding {
  readonly code: string;
  readonly result: string;
  readonly message: string;
  readonly consequence?: string;
}

/** What a check says of permissions, besides what is fine. */
async function found(kubeconfig: string, ...args: readonly string[]): Promise<readonly Finding[]> {
  const argv = ["doctor", "--only", "permissions", "--mode", "watch", "-o", "json", ...args];
  const { stdout, stderr } = await run(argv, { KUBECONFIG: kubeconfig });
  expect(stderr).toBe("");
  const { groups } = JSON.parse(stdout) as { readonly groups: readonly { readonly checks: readonly Finding[] }[] };
  return groups
    .flatMap(({ checks }) => checks)
    .filter(({ result }) => result !== "success")
    .map(({ code, result, message, consequence }) => ({
      code,
      result,
      message,
      ...(consequence === undefined ? {} : { consequence }),
    }));
}

/** What is missing, as the doctor says it. */
function lack({ verb, resource, namespace }: Granted): string {
  const name = resource === "leases" && verb !== "create" ? " flipop" : "";
  return `may not ${verb} ${resource}${name}${namespace === undefined ? "" : ` in ${namespace}`}`;
}

function codeOf({ verb, resource }: Granted): string {
  if (verb === "watch") return "FLP124";
  if (resource === "leases") return "FLP123";
  return (verb === "get" || verb === "list") && resource !== "events" ? "FLP121" : "FLP122";
}

describeCluster("the doctor asks a real API server what the ServiceAccount may do", () => {
  let cluster: Cluster;
  let api: API;
  let own: string;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", ...shippedFiles("crds")]) await api.applyManifests(shippedText(file));
    await api.applyManifests(ROLES);
    own = cluster.kubeconfigFor(await api.serviceAccountToken("flipop", "flipop"));
  });

  afterAll(async () => {
    api?.close();
    await cluster?.stop();
  });

  const account = async (name: string): Promise<string> => {
    await api.call("POST", "/api/v1/namespaces/flipop/serviceaccounts", { metadata: { name } });
    return cluster.kubeconfigFor(await api.serviceAccountToken("flipop", name));
  };

  test("nothing is missing with the whole manifest, whoever asks", async () => {
    await expect.poll(() => found(own)).toEqual([]);
    expect(await found(cluster.kubeconfig, "--as-service-account")).toEqual([]);
  });

  test.for(GRANTED)("without $verb of $resource exactly that is named, with what follows", async (granted) => {
    const { rules } = await api.call<RoleOnWire>("GET", granted.path);
    await api.call("PATCH", granted.path, { rules: without(rules, granted) }, MERGE);
    const missing = (asker: string): readonly unknown[] => [
      {
        code: codeOf(granted),
        result: "error",
        message: `${asker} ${lack(granted)}`,
        consequence: expect.stringMatching(/^[A-Z].+\.$/),
      },
    ];
    try {
      await expect.poll(() => found(own)).toEqual(missing("you"));
      const asked = await found(cluster.kubeconfig, "--as-service-account");
      expect(asked).toEqual(missing("serviceaccount flipop/flipop"));
    } finally {
      await api.call("PATCH", granted.path, { rules }, MERGE);
      await expect.poll(() => found(own)).toEqual([]);
    }
  });

  test("without any role everything is named, each permission once", async () => {
    const nobody = await account("nobody");
    const all = await found(nobody);
    const watched = GRANTED.filter(({ verb }) => verb === "watch").map(({ resource }) => resource);
    const own = GRANTED.filter(({ verb }) => verb !== "watch");
    // What follows is the same for each of them.
    const [together = ""] = all.flatMap(({ code, message }) => (code === "FLP124" ? [message] : []));
    expect(together.replace("you may not watch ", "").split(", ").toSorted()).toEqual(watched.toSorted());
    expect(all.flatMap(({ code, message }) => (code === "FLP124" ? [] : [`${code} ${message}`])).toSorted()).toEqual(
      own.map((granted) => `${codeOf(granted)} you ${lack(granted)}`).toSorted(),
    );
    expect(all.length).toBe(own.length + 1);
  });

  test("who may not speak for the ServiceAccount cannot tell, and who may needs nothing else", async () => {
    const auditor = await account("auditor");
    const asked = await found(auditor, "--as-service-account");
    expect(asked.map(({ code, result }) => `${code} ${result}`)).toEqual(
      ["FLP121", "FLP122", "FLP123", "FLP124"].map((code) => `${code} unknown`),
    );
    const [first, ...others] = asked;
    expect(first?.message).toContain("impersonate");
    for (const { message } of others) expect(message).toBe("for the same reason as FLP121");
    await api.applyManifests(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: auditor }
rules: [{ apiGroups: [""], resources: [serviceaccounts], resourceNames: [flipop], verbs: [impersonate] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: auditor }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: auditor }
subjects: [{ kind: ServiceAccount, name: auditor, namespace: flipop }]
`);
    await expect.poll(() => found(auditor, "--as-service-account")).toEqual([]);
  });
});
