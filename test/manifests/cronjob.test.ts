import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { invoke } from "../cli/invoke.ts";
import { manualTables } from "../readme/tables.ts";
import { aQuietRun, steady } from "../report/runs.ts";
import { type CronJobOnWire, documents, shippedFiles, shippedText } from "./shipped.ts";

const { spec } = parse(shippedText("cronjob.yaml")) as CronJobOnWire;
const job = spec.jobTemplate.spec;
const pod = job.template.spec;
const [container] = pod.containers;
const bytes = (quantity: string | undefined): number => Number(/^(\d+)Mi$/.exec(quantity ?? "")?.[1]) * 2 ** 20;

test("a pod is not tried again exactly after the exit codes that a retry does not help", () => {
  const rows = (manualTables()["exit-codes"] ?? "").matchAll(/^\| (\d+) \| .* \| no \|$/gm);
  const rule = job.podFailurePolicy.rules.find(({ action }) => action === "FailJob");
  expect(rule?.onExitCodes).toEqual({
    containerName: container?.name,
    operator: "In",
    values: [...rows].map(([, code]) => Number(code)),
  });
});

test("a drained pod is no failure, and the rule for it comes first", () => {
  expect(job.podFailurePolicy.rules[0]).toEqual({
    action: "Ignore",
    onPodConditions: [{ type: "DisruptionTarget", status: "True" }],
  });
});

test("the image has the version of this program", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(container?.image).toBe(`flipop:${version}`);
});

test("the run ends by itself before its Job is ended, and before the next one starts", async () => {
  const scene = { observation: steady(), answer: async () => ({ kind: "done" as const, value: aQuietRun() }) };
  const { requests } = await invoke(container?.args ?? [], scene);
  const deadlineMs = requests[0]?.deadlineMs ?? Number.POSITIVE_INFINITY;
  expect(deadlineMs).toBeLessThan(60_000);
  expect(deadlineMs + pod.terminationGracePeriodSeconds * 1000).toBeLessThan(job.activeDeadlineSeconds * 1000);
});

test("a pod that never ends keeps no later run from starting, and runs that start together work one at a time", () => {
  expect(spec.concurrencyPolicy).toBe("Allow");
  expect(container?.args.join(" ")).toContain("--on-locked skip");
  expect(container?.args).not.toContain("--no-lock");
  // Each minute one more, until the first is ended.
  expect(job.activeDeadlineSeconds / 60).toBeLessThanOrEqual(5);
});

test("a Job's tries fit before it is ended", async () => {
  const backoffSeconds = Array.from({ length: job.backoffLimit }, (_, at) => 10 * 2 ** at);
  const seconds = (job.backoffLimit + 1) * 50 + backoffSeconds.reduce((a, b) => a + b, 0);
  expect(container?.args.join(" ")).toContain("--timeout 50s");
  expect(seconds).toBeLessThan(job.activeDeadlineSeconds);
});

test("the heap that Node may fill fits into the memory limit, with room for its buffers and code", () => {
  const options = container?.env.find(({ name }) => name === "NODE_OPTIONS")?.value ?? "";
  const [, old, semi] = /^--max-old-space-size=(\d+) --max-semi-space-size=(\d+)$/.exec(options) ?? [];
  const heap = (Number(old) + 3 * Number(semi)) * 2 ** 20;
  const tmp = pod.volumes.find(({ name }) => name === "tmp")?.emptyDir?.sizeLimit;
  expect(heap + bytes(tmp) + 80 * 2 ** 20).toBeLessThanOrEqual(bytes(container?.resources.limits.memory));
});

test("every token's file is a key of the Secret's volume, and the example Secret has these keys and no token", () => {
  const [mount] = (container?.volumeMounts ?? []).filter(({ name }) => name === "tokens");
  const files = (container?.env ?? []).filter(({ name }) => name.endsWith("_FILE"));
  expect(files.map(({ name, value }) => `${name} ${value}`)).toEqual([
    `DIGITALOCEAN_ACCESS_TOKEN_FILE ${mount?.mountPath}/DIGITALOCEAN_ACCESS_TOKEN`,
    `CLOUDFLARE_TOKEN_FILE ${mount?.mountPath}/CLOUDFLARE_TOKEN`,
    `HCLOUD_TOKEN_FILE ${mount?.mountPath}/HCLOUD_TOKEN`,
  ]);
  const volume = pod.volumes.find(({ name }) => name === "tokens")?.secret;
  expect(volume).toEqual({ secretName: "flipop", optional: true, defaultMode: 0o440 });
  const [secret] = documents(shippedText("secret.yaml"));
  expect(secret).toMatchObject({
    metadata: { name: "flipop" },
    stringData: { DIGITALOCEAN_ACCESS_TOKEN: "", CLOUDFLARE_TOKEN: "", HCLOUD_TOKEN: "" },
  });
});

test("kustomization.yaml holds every file beside it except Secret and ConfigMap", () => {
  const { resources } = parse(shippedText("kustomization.yaml")) as { readonly resources: readonly string[] };
  const files = [...shippedFiles("."), ...shippedFiles("crds")].map((file) => file.replace("./", ""));
  const others = ["kustomization.yaml", "secret.yaml", "configmap.yaml"];
  expect([...resources].sort()).toEqual(
    files.filter((file) => file.endsWith(".yaml") && !others.includes(file)).sort(),
  );
});
