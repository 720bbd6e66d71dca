import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { invoke } from "../cli/invoke.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { BAD_SCHEDULES, GOOD_SCHEDULES } from "./schedules.ts";
import { type CronJobOnWire, documents, shippedText } from "./shipped.ts";

const PODS = "/api/v1/namespaces/flipop/pods?dryRun=All&fieldValidation=Strict";

describeCluster("what cronjob/ holds, on a real API server", (cluster) => {
  const api = new API({ ...cluster, token: cluster.adminToken });
  const shipped = parse(shippedText("cronjob.yaml")) as CronJobOnWire;
  const { template } = shipped.spec.jobTemplate.spec;

  beforeAll(async () => {
    await api.applyManifests((await invoke(["manifests"])).stdout);
  });

  const versions = (objects: readonly { readonly metadata: object }[]): readonly unknown[] =>
    objects.map(({ metadata }) => ("resourceVersion" in metadata ? metadata.resourceVersion : undefined));

  test("applies as a whole with every field known, and again without a change", async () => {
    const { stdout } = await invoke(["manifests"]);
    const first = await api.applyManifests(stdout);
    expect(first.map(({ kind }) => kind)).toContain("CronJob");
    expect(versions(await api.applyManifests(stdout))).toEqual(versions(first));
  });

  test("applies into another namespace", async () => {
    const namespace = `ops-${crypto.randomUUID().slice(0, 8)}`;
    const { stdout } = await invoke([
      "manifests",
      "-n",
      namespace,
      "--only=namespace,cronjob,networkpolicy,secret,configmap",
    ]);
    const stored = await api.applyManifests(stdout);
    expect(stored.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ["Namespace", undefined],
      ["CronJob", namespace],
      ["NetworkPolicy", namespace],
      ["Secret", namespace],
      ["ConfigMap", namespace],
    ]);
  });

  test("an unknown field of the CronJob is refused, so that none can be shipped", async () => {
    const planted = shippedText("cronjob.yaml").replace("concurrencyPolicy:", "concurencyPolicy:");
    await expect(api.applyManifests(planted)).rejects.toThrow("concurencyPolicy");
  });

  test("the CronJob's Job and pod are admitted in the restricted namespace", async () => {
    const { spec, metadata } = shipped.spec.jobTemplate;
    const job = { apiVersion: "batch/v1", kind: "Job", metadata: { ...metadata, name: "flipop-1" }, spec };
    const path = "/apis/batch/v1/namespaces/flipop/jobs?dryRun=All&fieldValidation=Strict";
    expect((await api.request("POST", path, job)).status).toBe(201);
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "flipop-1" }, spec: template.spec };
    expect((await api.request("POST", PODS, pod)).status).toBe(201);
  });

  /** The spec of the pod that `manifests` prints with these flags, of a CronJob or a Deployment. */
  const podSpec = async (...flags: readonly string[]): Promise<object> => {
    const { stdout } = await invoke(["manifests", ...flags]);
    const found = documents(stdout).find(({ kind }) => kind === "CronJob" || kind === "Deployment");
    const { jobTemplate, template: own } = (found?.["spec"] ?? {}) as {
      readonly jobTemplate?: CronJobOnWire["spec"]["jobTemplate"];
      readonly template?: { readonly spec: object };
    };
    return jobTemplate?.spec.template.spec ?? own?.spec ?? {};
  };

  test.for(["cronjob", "watch"])(
    "the pod of --mode %s is admitted there as critical for the cluster, though that is not kube-system",
    async (mode) => {
      const spec = await podSpec("--mode", mode, "--priority-class", "system-cluster-critical");
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "flipop-critical" }, spec };
      const reply = await api.request("POST", PODS, pod);
      expect([reply.status, (reply.body as { spec?: object }).spec]).toEqual([
        201,
        expect.objectContaining({ priorityClassName: "system-cluster-critical", priority: 2_000_000_000 }),
      ]);
    },
  );

  test("a pod of a class that the cluster does not have is not admitted: the class comes first", async () => {
    const spec = await podSpec("--priority-class", "failover");
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "flipop-failover" }, spec };
    const refused = await api.request("POST", PODS, pod);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining("no PriorityClass with name failover was found"),
    ]);
  });

  test("a ResourceQuota of the namespace that allows no critical pods keeps it out, and says so", async () => {
    const quotas = "/api/v1/namespaces/flipop/resourcequotas";
    const scopeSelector = {
      matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["system-cluster-critical"] }],
    };
    await api.call("POST", quotas, {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "none" },
      spec: { hard: { pods: "0" }, scopeSelector },
    });
    try {
      const critical = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "x" },
        spec: await podSpec("--priority-class", "system-cluster-critical"),
      };
      const usual = { ...critical, spec: await podSpec() };
      // What the controller of quotas would write.
      const status = { hard: { pods: "0" }, used: { pods: "0" } };
      await api.request("PATCH", `${quotas}/none/status`, { status }, "application/merge-patch+json");
      // The quota is known to admission a moment later.
      await expect.poll(async () => (await api.request("POST", PODS, critical)).status).toBe(403);
      expect((await api.request("POST", PODS, critical)).body.message).toMatch(/quota/);
      expect((await api.request("POST", PODS, usual)).status).toBe(201);
    } finally {
      await api.call("DELETE", `${quotas}/none`);
    }
  });

  test("a pod that may gain privileges is not admitted there", async () => {
    const containers = template.spec.containers.map((container) => ({ ...container, securityContext: {} }));
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "bad" }, spec: { ...template.spec, containers } };
    const reply = await api.request("POST", PODS, pod);
    expect([reply.status, reply.body.message]).toEqual([
      403,
      expect.stringContaining('violates PodSecurity "restricted'),
    ]);
  });

  const statusWith = async (schedule: string): Promise<number> => {
    const body = { ...shipped, metadata: { name: `s-${crypto.randomUUID()}` }, spec: { ...shipped.spec, schedule } };
    return (await api.request("POST", "/apis/batch/v1/namespaces/flipop/cronjobs?dryRun=All", body)).status;
  };

  test.for(GOOD_SCHEDULES)("the schedule %s, which manifests takes, is taken", async (schedule) => {
    expect(await statusWith(schedule)).toBe(201);
  });

  test.for(BAD_SCHEDULES)("the schedule %s, which manifests refuses, is refused", async (schedule) => {
    expect(await statusWith(schedule)).toBe(422);
  });
});
