import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedText } from "../manifests/shipped.ts";
import { type EmulatedAccount, runProgram, startAccount } from "./cluster-run.ts";

const IP = "203.0.113.10";
const ADVICE = "kubectl apply -f cronjob/crds/nodednsrecordsets.yaml";

describeCluster("flipop on a cluster that does not know record sets", () => {
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let env: Record<string, string>;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    await api.applyManifests(shippedText("crds/floatingippools.yaml"));
    account = await startAccount([101], [IP]);
    env = {
      KUBECONFIG: cluster.kubeconfig,
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: account.url,
    };
    await api.createNode({ name: "n1", providerID: "digitalocean://101", region: "nyc3", ready: true });
    await api.call("POST", "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools", {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "web" },
      spec: { provider: "digitalocean", ips: [IP], match: {} },
    });
  });

  afterAll(async () => {
    await account?.close();
    api?.close();
    await cluster?.stop();
  });

  test("serves the pools, and says in every command what is missing where it is asked for", async () => {
    const plan = await runProgram(["plan", "web"], env);
    expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining(ADVICE) });
    const run = await runProgram(["reconcile", "--no-lock"], env);
    expect(run, run.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(ADVICE) });
    expect(account.sandbox.cloud().state.reserved_ips).toMatchObject([{ ip: IP, droplet_id: 101 }]);
    expect(await runProgram(["status"], env)).toMatchObject({ code: 0 });
    const named = await runProgram(["plan", "dns/web"], env);
    expect(named.code).not.toBe(0);
    expect(named.stderr).toContain(ADVICE);
  });
});
