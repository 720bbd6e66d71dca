import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { GROUP } from "../../src/model/resource.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { grantedToTheServiceAccount, type RoleOnWire, without } from "../manifests/granted.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { type EmulatedAccount, type ProgramRun, runProgram, startAccount } from "./cluster-run.ts";
import { changeRoutes, createRoutes, editRoutes } from "./permission-routes.ts";

const [A, B, C, D] = ["203.0.113.10", "203.0.113.11", "203.0.113.12", "203.0.113.13"] as const;
const CUSTOM = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases";
const LEASE = `${LEASES}/flipop`;

const GRANTED = grantedToTheServiceAccount(shippedText("rbac.yaml"));
/** What a run knows another way of, a second later: it lists a node that it may not read alone. */
const [SPARED, NEEDED] = [true, false].map((isSpared) =>
  GRANTED.filter(({ resource, verb }) => (resource === "nodes" && verb === "get") === isSpared),
);

describeCluster("every permission of the shipped ServiceAccount is used", () => {
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let env: Record<string, string>;
  let isOdd = false;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", ...shippedFiles("crds"), "rbac.yaml"])
      await api.applyManifests(shippedText(file));
    account = await startAccount([101, 102, 103, 104, 105, 106], [A, B, C, D]);
    account.sandbox.setDomain({ name: "example.com" });
    // The runs of this file follow one another faster than any schedule: no limit on calls is what is looked at here.
    account.sandbox.cloud().state.settings.rate_limit = { per_hour: 1_000_000, per_minute: 1_000_000 };
    env = {
      KUBECONFIG: cluster.kubeconfigFor(await api.serviceAccountToken("flipop", "flipop")),
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: account.url,
    };
    for (const n of [1, 2, 3]) {
      await api.createNode({ name: `n${n}`, providerID: `digitalocean://${100 + n}`, region: "nyc3", ready: true });
      await api.createPod({ namespace: "default", name: `p${n}`, nodeName: `n${n}`, labels: {}, ready: true });
    }
    const object = (kind: string, spec: object) => ({
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind,
      metadata: { name: "web" },
      spec: { provider: "digitalocean", match: { podNamespace: "default" }, ...spec },
    });
    const named = (recordName: string) => ({ zone: "example.com", recordName });
    await api.call(
      "POST",
      `${CUSTOM}/floatingippools`,
      object("FloatingIPPool", { ips: [A, B], dnsRecordSet: named("www") }),
    );
    const addressType = "flipop.digitalocean.com/ipv4-reserved-ip";
    await api.call(
      "POST",
      `${CUSTOM}/nodednsrecordsets`,
      object("NodeDNSRecordSet", { addressType, dnsRecordSet: named("nodes") }),
    );
    await createRoutes(api, C, D);
    await vi.waitFor(async () => expect((await runProgram(["reconcile", "--settle"], env)).code).toBe(0), {
      timeout: 60_000,
      interval: 500,
    });
  });

  afterAll(async () => {
    await account?.close();
    api?.close();
    await cluster?.stop();
  });

  /** Changes the world so that one run needs every permission, and ends it after so long, or once it has said what is wanted. */
  const runWithWork = async (seconds: number, wanted: string, isDisturbed: boolean): Promise<ProgramRun> => {
    isOdd = !isOdd;
    await api.setNodeReady("n3", !isOdd);
    await api.setNodeReady("n1", isOdd);
    await changeRoutes(api, isOdd);
    const reclaimPolicy = isOdd ? "Delete" : "Retain";
    const edit = (resource: string, body: object): Promise<unknown> =>
      api.call("PATCH", `${CUSTOM}/${resource}/web`, body, "application/merge-patch+json");
    for (const resource of ["floatingippools", "nodednsrecordsets"]) await edit(resource, { spec: { reclaimPolicy } });
    const args = ["reconcile", "--settle", "--grants", "warn", "--timeout", `${seconds}s`, "-v"];
    const run = runProgram(args, env, wanted);
    if (!isDisturbed) return run;
    let isOver = false;
    const ended = run.finally(() => {
      isOver = true;
    });
    for (let count = 0; !isOver; count++) {
      const annotations = { "example.com/count": String(count) };
      for (const resource of ["floatingippools", "nodednsrecordsets"])
        await edit(resource, { metadata: { annotations } });
      await editRoutes(api, count);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return ended;
  };

  /** Without it a run that could not give the Lease back would keep the next ones out for longer than they wait. */
  const freeLease = async (): Promise<void> => {
    await api.request("DELETE", LEASE);
    await api.call("POST", LEASES, { metadata: { name: "flipop" }, spec: {} });
  };

  /** A record set whose name the provider refuses to write, each time with the same words. */
  const failAgain = async (): Promise<void> => {
    account.faults.clear();
    account.faults.add({
      server: "digitalocean",
      method: "POST",
      path: "^/v2/domains/refused.example.com/",
      times: 0,
      status: 500,
      body: { id: "server_error", message: "it was refused" },
    });
    account.sandbox.setDomain({ name: "refused.example.com" });
    await api.request("DELETE", `${CUSTOM}/nodednsrecordsets/refused`);
    const addresses = [{ type: "InternalIP", address: "10.0.0.2" }];
    await api.call("PATCH", "/api/v1/nodes/n2/status", { status: { addresses } }, "application/merge-patch+json");
    await api.call("POST", `${CUSTOM}/nodednsrecordsets`, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "NodeDNSRecordSet",
      metadata: { name: "refused" },
      spec: {
        provider: "digitalocean",
        addressType: "InternalIP",
        dnsRecordSet: { zone: "refused.example.com", recordName: "www" },
      },
    });
  };

  test("with all of them a run with every kind of work ends well", async () => {
    await expect.poll(async () => (await runProgram(["reconcile", "--settle"], env)).code).toBe(0);
  });

  test.for(SPARED ?? [])("without $role's $verb on $resource a run does all there is to do", async (permission) => {
    const { rules } = await api.call<RoleOnWire>("GET", permission.path);
    await api.call("PATCH", permission.path, { rules: without(rules, permission) }, "application/merge-patch+json");
    try {
      await freeLease();
      const { code, stderr } = await runWithWork(30, "Nothing else is to be waited for.", false);
      expect(code, stderr).toBe(0);
    } finally {
      await api.call("PATCH", permission.path, { rules }, "application/merge-patch+json");
    }
  });

  test.for(NEEDED ?? [])(
    "without $role's $verb on $resource of group '$group' the run says which is missing",
    async (permission) => {
      const { path, verb, group, resource } = permission;
      const { rules } = await api.call<RoleOnWire>("GET", path);
      const reduced = without(rules, permission);
      expect(reduced).not.toEqual(rules);
      const [name, sub] = resource.split("/");
      const wanted = `Grant the verb "${verb}" on "${name}${group === "" ? "" : `.${group}`}${sub === undefined ? "" : `/${sub}`}"`;
      await api.call("PATCH", path, { rules: reduced }, "application/merge-patch+json");
      // Only a failure that repeats has an Event to read and to count in.
      const isRepeated = resource === "events" && verb !== "create";
      if (isRepeated) await failAgain();
      // An object is read again only where somebody else has edited it. Elsewhere edits hold the run up.
      const isDisturbed = group === GROUP && verb === "get";
      // Some failures are told at the end of a run: a short one finds most of them, a long one also what is needed late, or on a busy machine.
      let seconds = 2;
      try {
        await expect
          .poll(
            async () => {
              seconds = Math.min(20, seconds * 2);
              if (resource === "leases" && verb === "create") await api.request("DELETE", LEASE);
              else await freeLease();
              const { stdout, stderr } = await runWithWork(seconds, wanted, isDisturbed);
              return stdout + stderr;
            },
            { timeout: 120_000, interval: 200 },
          )
          .toContain(wanted);
      } finally {
        if (isRepeated) await api.request("DELETE", `${CUSTOM}/nodednsrecordsets/refused`);
        await api.call("PATCH", path, { rules }, "application/merge-patch+json");
      }
    },
  );
});
