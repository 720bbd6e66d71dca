import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseListenAddress } from "../../src/cli/endpoints.ts";
import type { WatchRequest } from "../../src/cli/wiring.ts";
import { invoke } from "../cli/invoke.ts";
import { steady } from "../report/runs.ts";
import { type CronJobOnWire, documents, type PodSpecOnWire, shippedFiles, shippedText } from "./shipped.ts";

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface DeploymentOnWire {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: PodSpecOnWire;
    };
  };
}

const { spec } = parse(shippedText("watch/deployment.yaml")) as DeploymentOnWire;
const { template } = spec;
const [container] = template.spec.containers;
const cronjob = (parse(shippedText("cronjob.yaml")) as CronJobOnWire).spec.jobTemplate.spec.template.spec;
const bytes = (quantity: string | undefined): number => Number(/^(\d+)Mi$/.exec(quantity ?? "")?.[1]) * 2 ** 20;

describe("the watching Deployment", () => {
  test("differs from the CronJob's pod only where watching does", () => {
    const [other] = cronjob.containers;
    const common = ({ env, image, envFrom, volumeMounts }: NonNullable<typeof container>): unknown => ({
      env: env.filter(({ name }) => name !== "NODE_OPTIONS"),
      image,
      envFrom,
      volumeMounts,
    });
    if (container === undefined || other === undefined) expect.fail("a pod has no container");
    expect(common(container)).toEqual(common(other));
    expect(container).toMatchObject({ securityContext: (other as { securityContext?: unknown }).securityContext });
    const { serviceAccountName, securityContext, volumes } = template.spec;
    expect({ serviceAccountName, securityContext, volumes }).toEqual({
      serviceAccountName: cronjob.serviceAccountName,
      securityContext: cronjob.securityContext,
      volumes: cronjob.volumes,
    });
  });

  test("its command line watches with the Lease, and serves what its probes ask for on the port they name", async () => {
    const requests: WatchRequest[] = [];
    const watch = async (request: WatchRequest): Promise<{ readonly kind: "stopped" }> => {
      requests.push(request);
      return { kind: "stopped" };
    };
    const args = container?.args ?? [];
    const address = args[args.indexOf("--metrics-addr") + 1] ?? "";
    const local = args.map((arg) => (arg === address ? "127.0.0.1:0" : arg));
    expect((await invoke(local, { observation: steady(), watch })).exitCode).toBe(0);
    expect(requests[0]).toMatchObject({ lock: { onLocked: "wait" } });
    const { ports, readinessProbe, livenessProbe } = container as unknown as {
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
      readonly readinessProbe: Probe;
      readonly livenessProbe: Probe;
    };
    expect(ports).toEqual([{ name: "metrics", containerPort: parseListenAddress(address).port }]);
    expect([readinessProbe.httpGet, livenessProbe.httpGet]).toEqual([
      { path: "/readyz", port: "metrics" },
      { path: "/healthz", port: "metrics" },
    ]);
  });

  test("the heap that Node may fill fits into the memory limit, with room for its buffers and code", () => {
    const options = container?.env.find(({ name }) => name === "NODE_OPTIONS")?.value ?? "";
    const [, old, semi] = /^--max-old-space-size=(\d+) --max-semi-space-size=(\d+)$/.exec(options) ?? [];
    const heap = (Number(old) + 3 * Number(semi)) * 2 ** 20;
    const tmp = template.spec.volumes.find(({ name }) => name === "tmp")?.emptyDir?.sizeLimit;
    expect(heap + bytes(tmp) + 80 * 2 ** 20).toBeLessThanOrEqual(bytes(container?.resources.limits.memory));
  });

  test("keeps one replica through every drain and update", () => {
    expect(spec).toMatchObject({
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    expect(parse(shippedText("watch/poddisruptionbudget.yaml"))).toMatchObject({ spec: { maxUnavailable: 1 } });
  });
});

test.for([
  ["deployment.yaml", "spec.selector.matchLabels"],
  ["poddisruptionbudget.yaml", "spec.selector.matchLabels"],
  ["service.yaml", "spec.selector"],
  ["networkpolicy.yaml", "spec.podSelector.matchLabels"],
] as const)("%s selects the watcher's pods, and never a CronJob's", ([file, path]) => {
  const selector = at(parse(shippedText(`watch/${file}`)), path) as Readonly<Record<string, string>>;
  expect(Object.keys(selector)).not.toEqual([]);
  expect(template.metadata.labels).toMatchObject(selector);
  const { labels } = (parse(shippedText("cronjob.yaml")) as CronJobOnWire).spec.jobTemplate.spec.template
    .metadata as unknown as { readonly labels: object };
  expect(labels).not.toMatchObject(selector);
});

test("the ServiceMonitor finds the Service and its port", () => {
  const monitor = parse(shippedText("watch/servicemonitor.yaml"));
  const service = parse(shippedText("watch/service.yaml"));
  expect(at(service, "metadata.labels")).toMatchObject(at(monitor, "spec.selector.matchLabels") as object);
  const ports = at(service, "spec.ports") as readonly { readonly name: string }[];
  const endpoints = at(monitor, "spec.endpoints") as readonly { readonly port: string }[];
  expect(endpoints.map(({ port }) => port)).toEqual(ports.map(({ name }) => name));
});

test("watch/kustomization.yaml holds every file beside it except the one that not every cluster knows", () => {
  const { resources } = parse(shippedText("watch/kustomization.yaml")) as { readonly resources: readonly string[] };
  const others = ["kustomization.yaml", "servicemonitor.yaml"];
  const files = shippedFiles("watch").map((file) => file.replace("watch/", ""));
  expect([...resources].sort()).toEqual(files.filter((file) => !others.includes(file)).sort());
});

describe("manifests --mode watch", () => {
  test("prints what the CronJob's mode prints, with what watches in place of the CronJob", async () => {
    const kindsOf = async (...args: readonly string[]): Promise<readonly string[]> =>
      documents((await invoke(["manifests", ...args])).stdout).map(({ kind }) => String(kind));
    const watcher = [
      "ClusterRole",
      "ClusterRoleBinding",
      "Deployment",
      "PodDisruptionBudget",
      "NetworkPolicy",
      "Service",
    ];
    const shared = (await kindsOf()).filter((kind) => kind !== "CronJob");
    expect([...(await kindsOf("--mode", "watch"))].sort()).toEqual([...shared, ...watcher].sort());
  });

  test("permits to watch with what else is permitted, also where the parts are applied one by one", async () => {
    const rolesOf = async (only: string): Promise<readonly unknown[]> =>
      documents((await invoke(["manifests", "--mode", "watch", `--only=${only}`])).stdout)
        .filter(({ kind }) => kind === "ClusterRole")
        .map(({ metadata }) => (metadata as { name: string }).name);
    expect(await rolesOf("rbac")).toContain("flipop-watcher");
    expect((await rolesOf("rbac,watcher")).filter((name) => name === "flipop-watcher")).toHaveLength(1);
  });

  test("moves all of it to another namespace", async () => {
    const { stdout } = await invoke(["manifests", "--mode", "watch", "--only=watcher,servicemonitor", "-n", "ops"]);
    const namespaced = documents(stdout).filter(({ kind }) => !/^Cluster/.test(String(kind)));
    expect(namespaced.map(({ metadata }) => (metadata as { namespace: string }).namespace)).toEqual(
      namespaced.map(() => "ops"),
    );
    expect(stdout).not.toMatch(/namespace: flipop$/m);
  });
});

/** What stands at a path of field names. */
function at(object: unknown, path: string): unknown {
  return path.split(".").reduce((value, key) => (value as Readonly<Record<string, unknown>>)[key], object);
}
