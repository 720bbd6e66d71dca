import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type EmulatedAccount, runProgram, startAccount } from "../cli/cluster-run.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { PATIENT_LOCK, startWatch, type WatchProcess } from "./watch-process.ts";

const POOLS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools";
const NODES = ["n1", "n2", "n3"] as const;
const IP = "203.0.113.10";
const WAIT = { interval: 50 };

describeCluster("flipop reconcile --watch on a real API server", () => {
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let env: Record<string, string>;
  let running: WatchProcess[] = [];

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", ...shippedFiles("crds"), "rbac.yaml", "watch/rbac.yaml"])
      await api.applyManifests(shippedText(file));
    for (const [at, name] of NODES.entries()) {
      await api.createNode({ name, providerID: `digitalocean://${101 + at}`, region: "nyc3", ready: true });
      await api.createPod({
        namespace: "default",
        name: `p-${name}`,
        nodeName: name,
        labels: { app: "web" },
        ready: true,
      });
    }
  });

  afterAll(async () => {
    api?.close();
    await cluster?.stop();
  });

  beforeEach(async () => {
    account = await startAccount([101, 102, 103], [IP]);
    account.sandbox.cloud().state.settings.action_delay_ms = 50;
    env = {
      KUBECONFIG: cluster.kubeconfigFor(await api.serviceAccountToken("flipop", "flipop")),
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: account.url,
    };
    for (const name of NODES) await api.setPodReady({ namespace: "default", name: `p-${name}`, ready: true });
    await api.call("POST", POOLS, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "web" },
      spec: { provider: "digitalocean", ips: [IP], match: { podNamespace: "default", podLabel: "app=web" } },
    });
  });

  afterEach(async () => {
    for (const { child, end } of running) {
      child.kill("SIGKILL");
      await end;
    }
    running = [];
    await api.request("PATCH", `${POOLS}/web`, { metadata: { finalizers: null } }, "application/merge-patch+json");
    await api.request("DELETE", `${POOLS}/web`);
    await api.request("DELETE", "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop");
    await account.close();
  });

  /** Takes the permission to watch a resource away while `work` is done. */
  const withoutPermission = async (resource: string, work: () => Promise<void>): Promise<void> => {
    const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/flipop-watcher";
    const { rules } = await api.call<{ rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] }>(
      "GET",
      role,
    );
    const less = rules.map((rule) => ({ ...rule, resources: rule.resources.filter((name) => name !== resource) }));
    const left = { rules: less.filter(({ resources }) => resources.length > 0) };
    await api.call("PATCH", role, left, "application/merge-patch+json");
    try {
      await work();
    } finally {
      await api.call("PATCH", role, { rules }, "application/merge-patch+json");
    }
  };

  const start = (...args: readonly string[]): WatchProcess => {
    const watcher = startWatch(args, env);
    running.push(watcher);
    return watcher;
  };

  /** The node that has the address; undefined while none has it. */
  const holder = (): string | undefined => {
    const cloud = account.sandbox.cloud();
    cloud.settle(Date.now());
    const id = cloud.state.reserved_ips[0]?.droplet_id;
    return typeof id === "number" ? NODES[id - 101] : undefined;
  };

  /** A node without the address, after the one that has it. */
  const served = async (): Promise<string> => {
    await expect.poll(holder, WAIT).toBeDefined();
    return holder() ?? "";
  };

  const unready = (node: string): Promise<unknown> =>
    api.setPodReady({ namespace: "default", name: `p-${node}`, ready: false });

  const assigns = (): number => account.sandbox.cloud().state.actions.filter(({ type }) => type === "assign_ip").length;

  test("follows a pod that stops being ready, and tells it in one line with time and reason", async () => {
    const watcher = start();
    const first = await served();
    await unready(first);
    await expect.poll(holder, WAIT).not.toBe(first);
    await expect
      .poll(watcher.stdout, WAIT)
      .toMatch(new RegExp(`^\\S+Z > pool/default/web: moved ${IP} from ${first} to ${holder()}: `, "m"));
    watcher.child.kill("SIGTERM");
    expect(await watcher.end).toBe(143);
  });

  test("a standby finishes what a leader that is killed in the middle of a failover began, and the address is moved once", async () => {
    const flags = ["--lease-duration", "15s", "--renew-deadline", "12s", "--retry-period", "500ms"];
    const leader = start(...flags);
    const first = await served();
    await expect.poll(leader.isLeading, WAIT).toBe(true);
    const standby = start(...flags);
    await expect.poll(standby.stderr, WAIT).toContain("waiting for the Lease");
    account.sandbox.cloud().state.settings.action_delay_ms = 3000;
    const before = assigns();
    await unready(first);
    await expect.poll(assigns, WAIT).toBe(before + 1);
    leader.child.kill("SIGKILL");
    await expect.poll(standby.isLeading, WAIT).toBe(true);
    await expect.poll(holder, WAIT).not.toBe(first);
    const node = holder();
    await expect
      .poll(async () => {
        const { status } = await api.call<{ status: { ips: Record<string, { state: string; nodeName?: string }> } }>(
          "GET",
          `${POOLS}/web`,
        );
        return status.ips[IP];
      }, WAIT)
      .toMatchObject({ state: "active", nodeName: node });
    expect(assigns()).toBe(before + 1);
  });

  test("a leader that is asked to end hands over to the standby", async () => {
    const leader = start();
    const first = await served();
    const standby = start();
    await expect.poll(standby.stderr, WAIT).toContain("waiting for the Lease");
    leader.child.kill("SIGTERM");
    expect(await leader.end).toBe(143);
    await expect.poll(standby.isLeading, WAIT).toBe(true);
    await unready(first);
    await expect.poll(holder, WAIT).not.toBe(first);
  });

  test("a watcher and a single run respect each other", async () => {
    const watcher = start();
    await served();
    await expect.poll(watcher.isLeading, WAIT).toBe(true);
    expect(await runProgram(["reconcile"], env)).toMatchObject({ code: 5 });
    expect(await runProgram(["reconcile", "--on-locked", "skip"], env)).toMatchObject({ code: 0 });
  });

  test.for(["nodes", "floatingippools", "nodednsrecordsets"])(
    "without the permission to watch %s it ends, and names the verb",
    async (resource) => {
      await withoutPermission(resource, async () => {
        // The authorizer learns of a changed role a moment later.
        await expect
          .poll(
            async () => {
              const watcher = start();
              const end = await Promise.race([
                watcher.end,
                new Promise((resolve) => setTimeout(resolve, 20_000, "goes on")),
              ]);
              watcher.child.kill("SIGKILL");
              return `${end} ${watcher.stderr()}`;
            },
            { interval: 500, timeout: 300_000 },
          )
          .toMatch(new RegExp(`^77 [^]*watch[^]*${resource}`));
      });
    },
  );

  test("without the permission to watch pods of a namespace it goes on, and who asks for them is told the verb", async () => {
    await withoutPermission("pods", async () => {
      const stalled = async (): Promise<string | undefined> => {
        const { status } = await api.call<{
          status: { conditions: { type: string; reason: string; message: string }[] };
        }>("GET", `${POOLS}/web`);
        return status.conditions.flatMap(({ type, reason, message }) =>
          type === "Stalled" ? [`${reason}: ${message}`] : [],
        )[0];
      };
      // The authorizer learns of a changed role a moment later.
      await expect
        .poll(
          async () => {
            const watcher = start();
            const untilMs = Date.now() + 10_000;
            let told = await stalled();
            while (told === undefined && Date.now() < untilMs) {
              await new Promise((resolve) => setTimeout(resolve, 200));
              told = await stalled();
            }
            const isThere = watcher.child.exitCode === null;
            watcher.child.kill("SIGTERM");
            await watcher.end;
            return `${isThere ? "goes on" : "has ended"}, ${told}`;
          },
          { interval: 500, timeout: 300_000 },
        )
        .toMatch(/^goes on, PodsForbidden: .*watch.*pods/s);
    });
  });

  test("goes on after a restart of the API server", async () => {
    const watcher = start(...PATIENT_LOCK);
    const first = await served();
    await cluster.restartAPIServer();
    await unready(first);
    await expect.poll(holder, WAIT).not.toBe(first);
    expect(watcher.child.exitCode).toBe(null);
    expect(assigns()).toBe(2);
  });
});
