import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { shippedText } from "../manifests/shipped.ts";
import { type EmulatedAccount, runProgram, SECRET_TOKEN, startAccount } from "./cluster-run.ts";

const [A, B] = ["203.0.113.10", "203.0.113.11"] as const;
const POOLS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools";
const ROLES = "/apis/rbac.authorization.k8s.io/v1";

describeCluster("flipop as the shipped ServiceAccount", () => {
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let env: Record<string, string>;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", "crds/floatingippools.yaml", "crds/nodednsrecordsets.yaml", "rbac.yaml"])
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
      timeout: 20_000,
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
      expect(events.map(({ note }) => note)).toContain(`Done: move ${A} from n1 to n3.`);
      const status3 = await runProgram(["status", "--check"], env);
      expect(status3.code).toBe(0);
    });

    describe("without one permission", () => {
      const WITHOUT: readonly [role: string, group: string, resource: string, verb: string, text: string][] = [
        ["flipop", "", "nodes", "list", 'Grant the verb "list" on "nodes"'],
        ["flipop", "flipop.digitalocean.com", "floatingippools", "list", 'Grant the verb "list" on "floatingippools'],
        ["flipop", "", "pods", "list", 'Grant the verb "list" on "pods"'],
        ["flipop", "", "nodes", "get", 'Grant the verb "get" on "nodes"'],
        ["flipop-writer", "", "nodes", "patch", 'Grant the verb "patch" on "nodes"'],
        [
          "flipop-writer",
          "flipop.digitalocean.com",
          "floatingippools/status",
          "patch",
          'Grant the verb "patch" on "floatingippools.flipop.digitalocean.com/status"',
        ],
        ["flipop-writer", "events.k8s.io", "events", "create", 'Grant the verb "create" on "events'],
      ];

      test.for(WITHOUT)(
        "%s %s/%s %s: the run says which one is missing",
        async ([role, group, resource, verb, text]) => {
          const path = `${ROLES}/clusterroles/${role}`;
          const { rules } = await api.call<RoleOnWire>("GET", path);
          const reduced = rules.flatMap((rule) =>
            rule.apiGroups.includes(group) && rule.resources.includes(resource)
              ? [{ ...rule, verbs: rule.verbs.filter((other) => other !== verb) }].filter(
                  ({ verbs }) => verbs.length > 0,
                )
              : [rule],
          );
          await flip();
          await api.call("PATCH", path, { rules: reduced }, "application/merge-patch+json");
          try {
            await expect
              .poll(
                async () => {
                  await flip();
                  const run = await runProgram(["reconcile", "-v"], env);
                  return run.stdout + run.stderr;
                },
                { timeout: 20_000 },
              )
              .toContain(text);
          } finally {
            await api.call("PATCH", path, { rules }, "application/merge-patch+json");
          }
        },
      );
    });
  });

  /** Makes work for every permission: the address must move, pods are asked for. */
  async function flip(): Promise<void> {
    const onN3 = holder(A) === 103;
    await api.setNodeReady(onN3 ? "n1" : "n3", true);
    await api.setNodeReady(onN3 ? "n3" : "n1", false);
    await writePool({ match: { podNamespace: "default" } });
    await api.createPod({
      namespace: "default",
      name: `p-${crypto.randomUUID()}`,
      nodeName: onN3 ? "n1" : "n3",
      labels: {},
      ready: true,
    });
    await api.createPod({
      namespace: "default",
      name: `p-${crypto.randomUUID()}`,
      nodeName: "n2",
      labels: {},
      ready: true,
    });
  }
});

interface PoolOnWire {
  readonly metadata: { readonly finalizers?: readonly string[] };
  readonly status: { readonly acquired: readonly { readonly ip: string }[] };
}

interface RoleOnWire {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}
