import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { type EmulatedAccount, runProgram, startAccount } from "./cluster-run.ts";

const [A, B] = ["203.0.113.10", "203.0.113.11"] as const;
const POOLS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools";

describeCluster("flipop as the shipped ServiceAccount", () => {
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let env: Record<string, string>;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", ...shippedFiles("crds"), "rbac.yaml"])
      await api.applyManifests(shippedText(file));
    account = await startAccount([101, 102, 103], [A, B]);
    env = {
      KUBECONFIG: cluster.kubeconfigFor(await api.serviceAccountToken("flipop", "flipop")),
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: account.url,
    };
    for (const n of [1, 2, 3]) {
      await api.createNode({ name: `n${n}`, providerID: `digitalocean://${100 + n}`, region: "nyc3", ready: true });
    }
    await vi.waitFor(async () => expect((await runProgram(["reconcile"], env)).code).toBe(0), {
      timeout: 60_000,
      interval: 500,
    });
  });

  afterAll(async () => {
    await account?.close();
    api?.close();
    await cluster?.stop();
  });

  const writePool = (spec: object): Promise<unknown> =>
    api.call("PATCH", `${POOLS}/web`, { spec }, "application/merge-patch+json");
  const readPool = (): Promise<PoolOnWire> => api.call<PoolOnWire>("GET", `${POOLS}/web`);
  const holder = (ip: string): number | null | undefined =>
    account.sandbox.cloud().state.reserved_ips.find((address) => address.ip === ip)?.droplet_id;

  describe("in order", { shuffle: false }, () => {
    test("does everything it promises: fill, acquire, fail over, give back, clean up", async () => {
      const spec = {
        provider: "digitalocean",
        region: "nyc3",
        ips: [A, B],
        match: { podNamespace: "", nodeLabel: "" },
      };
      await api.call("POST", POOLS, {
        apiVersion: "flipop.digitalocean.com/v1alpha1",
        kind: "FloatingIPPool",
        metadata: { name: "web" },
        spec,
      });
      expect((await runProgram(["plan", "--detailed-exitcode"], env)).code).toBe(2);
      expect((await runProgram(["reconcile"], env)).code).toBe(0);
      expect([holder(A), holder(B)]).toEqual([101, 102]);

      await writePool({ desiredIPs: 3, reclaimPolicy: "Delete" });
      expect((await runProgram(["reconcile"], env)).code).toBe(0);
      const { metadata, status } = await readPool();
      expect(metadata.finalizers).toEqual(["flipop.digitalocean.com/cleanup"]);
      const [bought] = status.acquired;
      expect(holder(bought?.ip ?? "")).toBe(103);

      await writePool({ desiredIPs: 2 });
      expect((await runProgram(["reconcile"], env)).code).toBe(0);
      expect(account.sandbox.cloud().state.reserved_ips.map(({ ip }) => ip)).toEqual([A, B]);

      await api.setNodeReady("n1", false);
      expect((await runProgram(["reconcile"], env)).code).toBe(0);
      expect(holder(A)).toBe(103);
      const again = await runProgram(["reconcile"], env);
      expect(again).toMatchObject({ code: 0, stdout: "Nothing to do: 1 pool, 2 of 2 addresses active.\n" });

      const events = await api.list<{ note: string; regarding: { name: string } }>(
        "/apis/events.k8s.io/v1/namespaces/default/events",
      );
      expect(events.map(({ note }) => note)).toContain(
        `Moved ${A} from n1 to n3: n1 no longer matches (not ready), and n3 waits for an address.`,
      );
      const status3 = await runProgram(["status", "--check"], env);
      expect(status3.code).toBe(0);
    });
  });
});

interface PoolOnWire {
  readonly metadata: { readonly finalizers?: readonly string[] };
  readonly status: { readonly acquired: readonly { readonly ip: string }[] };
}
