import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { type EmulatedAccount, type ProgramRun, runProgram, startAccount } from "./cluster-run.ts";

const [A, B] = ["203.0.113.10", "203.0.113.11"] as const;

describeCluster("flipop plan --save and reconcile --plan with the rights of the shipped ServiceAccount", () => {
  const root = mkdtempSync(join(tmpdir(), "flipop-saved-"));
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let flipop: (...args: readonly string[]) => Promise<ProgramRun>;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", ...shippedFiles("crds"), "rbac.yaml"])
      await api.applyManifests(shippedText(file));
    account = await startAccount([101, 102], [A, B]);
    for (const n of [1, 2])
      await api.createNode({ name: `n${n}`, providerID: `digitalocean://${100 + n}`, region: "nyc3", ready: true });
    await api.call("POST", "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools", {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "web" },
      spec: { provider: "digitalocean", ips: [A, B], match: {} },
    });
    const env = {
      KUBECONFIG: cluster.kubeconfigFor(await api.serviceAccountToken("flipop", "flipop")),
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: account.url,
    };
    flipop = (...args) => runProgram(args, env);
  });

  afterAll(async () => {
    await account?.close();
    api?.close();
    await cluster?.stop();
    rmSync(root, { recursive: true });
  });

  test("refuse the address of a node that has been cordoned since, and assign the other", async () => {
    const file = join(root, "plan.json");
    const saved = await flipop("plan", "--save", file);
    expect(saved.code, saved.stderr).toBe(0);
    const taints = [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }];
    await api.setNodeTaints("n2", taints);
    const done = await flipop("reconcile", "--plan", file);
    expect({ code: done.code, stdout: done.stdout }).toEqual({
      code: 4,
      stdout: expect.stringContaining(`! refused: assign ${B} to n2\n      n2 does not match now: cordoned.`),
    });
    const holders = account.sandbox.cloud().state.reserved_ips.map(({ droplet_id }) => droplet_id ?? null);
    expect(holders).toEqual([101, null]);
  });
});
