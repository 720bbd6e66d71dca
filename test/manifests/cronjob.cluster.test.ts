import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { invoke } from "../cli/invoke.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { BAD_SCHEDULES, GOOD_SCHEDULES } from "./schedules.ts";
import { type CronJobOnWire, shippedText } from "./shipped.ts";

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
