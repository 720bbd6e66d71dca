import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { IN_IMAGE } from "../programs/entry.ts";
import { type EmulatedAccount, type ProgramRun, startAccount } from "./cluster-run.ts";
import { runInPod } from "./pod-run.ts";
import { ServiceAccountFolder } from "./service-account-folder.ts";

const [A, B] = ["203.0.113.10", "203.0.113.11"] as const;
const POOLS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools";
/** Longer than the API server remembers that a token is good (10 s) and flipop what it read from the file (10 s). */
const COOL_OFF_SECONDS = 14;

describeCluster("flipop in a pod", () => {
  let cluster: Cluster;
  let api: API;
  let cloud: EmulatedAccount;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", ...shippedFiles("crds"), "rbac.yaml"])
      await api.applyManifests(shippedText(file));
    cloud = await startAccount([101, 102], [A, B]);
    for (const n of [1, 2])
      await api.createNode({ name: `n${n}`, providerID: `digitalocean://${100 + n}`, region: "nyc3", ready: true });
  });

  afterAll(async () => {
    await cloud?.close();
    api?.close();
    await cluster?.stop();
  });

  /** A token that is good for as long as a Secret exists; the kubelet binds its tokens to the pod in the same way. */
  const tokenOf = async (name: string): Promise<string> => {
    const made = await api.call("POST", "/api/v1/namespaces/flipop/secrets", { metadata: { name } });
    const boundObjectRef = { apiVersion: "v1", kind: "Secret", name, uid: made.metadata.uid };
    const path = "/api/v1/namespaces/flipop/serviceaccounts/flipop/token";
    const spec = { expirationSeconds: 600, boundObjectRef };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    return (await api.call<{ status: { token: string } }>("POST", path, body)).status.token;
  };
  const forget = (name: string): Promise<unknown> => api.call("DELETE", `/api/v1/namespaces/flipop/secrets/${name}`);
  const statusOf = async (token: string): Promise<number> => {
    const asPod = new API({ ...cluster, token });
    const { status } = await asPod.request("GET", "/api/v1/nodes");
    asPod.close();
    return status;
  };
  const run = (account: ServiceAccountFolder, ...args: readonly string[]): Promise<ProgramRun> => {
    const env = { DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN, DIGITALOCEAN_API_URL: cloud.url };
    return runInPod({ app: IN_IMAGE, args, env, mounts: new Map(), account: account.path, server: cluster.server });
  };
  const assigned = (): number =>
    cloud.sandbox.cloud().state.reserved_ips.filter(({ droplet_id }) => typeof droplet_id === "number").length;

  test("goes on with the next token when the kubelet replaces the one it started with", async () => {
    const first = await tokenOf("flipop-1");
    const account = new ServiceAccountFolder({ caFile: cluster.caFile, namespace: "flipop", token: first });
    await expect.poll(() => statusOf(first)).toBe(200);
    await api.call("POST", POOLS, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "web" },
      spec: { provider: "digitalocean", ips: [A, B], assignmentCoolOffSeconds: COOL_OFF_SECONDS, match: {} },
    });
    const running = run(account, "reconcile", "--settle", "--timeout", "60s", "--log-format", "json");
    await expect.poll(assigned, { interval: 50 }).toBe(1);
    account.rotate(await tokenOf("flipop-2"));
    await forget("flipop-1");
    const { code, stdout, stderr } = await running;
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: "" });
    expect(assigned()).toBe(2);
    expect(stderr).not.toContain(first);
    expect(await statusOf(first)).toBe(401);
    account.remove();
  });

  test("says that it is not let in when the token has run out and no other came, as one JSON line", async () => {
    const token = await tokenOf("flipop-3");
    const account = new ServiceAccountFolder({ caFile: cluster.caFile, namespace: "flipop", token });
    await forget("flipop-3");
    await expect.poll(() => statusOf(token)).toBe(401);
    const { code, stdout, stderr } = await run(account, "status", "--log-format", "json");
    expect({ code, stdout }).toEqual({ code: 77, stdout: "" });
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).not.toContain(token);
    account.remove();
  });
});
