import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedText } from "../manifests/shipped.ts";
import { type EmulatedAccount, type ProgramRun, runProgram, startAccount } from "./cluster-run.ts";

const IP = "203.0.113.10";
const ROOT = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop";

interface Stored {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>>; readonly generation?: number };
  readonly spec: unknown;
}

describeCluster("flipop suspend and resume", () => {
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let flipop: (...args: readonly string[]) => Promise<ProgramRun>;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const kind of ["floatingippools", "nodednsrecordsets", "routedips", "routedipissuers"])
      await api.applyManifests(shippedText(`crds/${kind}.yaml`));
    account = await startAccount([101], [IP]);
    await api.createNode({ name: "n1", providerID: "digitalocean://101", region: "nyc3", ready: true });
    await api.call("POST", ROOT, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "web" },
      spec: { provider: "digitalocean", ips: [IP], match: {} },
    });
    const env = {
      KUBECONFIG: cluster.kubeconfig,
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: account.url,
      USER: "ana",
    };
    flipop = (...args) => runProgram(args, env);
  });

  afterAll(async () => {
    await account?.close();
    api?.close();
    await cluster?.stop();
  });

  const holder = (): unknown => account.sandbox.cloud().state.reserved_ips[0]?.droplet_id ?? null;

  test("stop one object, then all of them, and let them go on", async () => {
    const before = (await api.call("GET", `${ROOT}/web`)) as Stored;
    const missing = await flipop("suspend", "--all", "--reason", "x");
    expect(missing.code, missing.stderr).not.toBe(0);
    expect(missing.stderr).toContain("flipop");
    await api.call("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "flipop" },
    });
    const one = await flipop("suspend", "pool/default/web", "--reason", "maintenance 4711", "--for", "1h");
    expect(one, one.stderr).toMatchObject({ code: 0 });
    const stored = (await api.call("GET", `${ROOT}/web`)) as Stored;
    expect(stored.spec).toEqual(before.spec);
    expect(stored.metadata.generation).toBe(before.metadata.generation);
    expect(stored.metadata.annotations?.["flipop.digitalocean.com/suspend"]).toContain('"reason":"maintenance 4711"');
    expect(await flipop("reconcile")).toMatchObject({ code: 0 });
    expect(holder()).toBeNull();

    expect(await flipop("suspend", "--all", "--reason", "incident")).toMatchObject({ code: 0 });
    expect(await flipop("resume", "web")).toMatchObject({ code: 0 });
    expect(await flipop("reconcile")).toMatchObject({ code: 0 });
    expect(holder()).toBeNull();
    const lease = (await api.call("GET", LEASE)) as Stored;
    expect(lease.metadata.annotations?.["flipop.digitalocean.com/suspend"]).toContain("incident");
    expect(lease.metadata.annotations?.["flipop.digitalocean.com/last-run"]).toBeDefined();
    expect((await flipop("status")).stdout).toContain("suspended:      all objects by ana (incident)");

    expect(await flipop("resume", "--all")).toMatchObject({ code: 0 });
    expect(await flipop("reconcile")).toMatchObject({ code: 0 });
    expect(holder()).toBe(101);
  });
});
