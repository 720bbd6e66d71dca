import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { HOST_PODS } from "../../src/model/host-agent.ts";
import { invoke } from "../cli/invoke.ts";
import { FakeHost, FakeNode } from "../host/fake-host.ts";
import { documents, shippedFiles, shippedText } from "./shipped.ts";

interface Probe {
  readonly httpGet: { readonly host: string; readonly path: string; readonly port: number };
}

const { spec } = parse(shippedText("host/daemonset.yaml"));
const pod = spec.template.spec;
const [container] = pod.containers as readonly {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly valueFrom?: unknown }[];
  readonly securityContext: unknown;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}[];

describe("the DaemonSet of flipop host", () => {
  test("runs on every node in the host's network, as root with NET_ADMIN and no other right", () => {
    expect(pod).toMatchObject({
      hostNetwork: true,
      priorityClassName: "system-node-critical",
      tolerations: [{ operator: "Exists" }],
      securityContext: { runAsUser: 0, seccompProfile: { type: "RuntimeDefault" } },
    });
    for (const more of ["hostPID", "hostIPC", "volumes"]) expect(pod).not.toHaveProperty(more);
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"], add: ["NET_ADMIN"] },
    });
  });

  test("its pods and itself have the labels by which status and doctor find them", () => {
    const { labels } = parse(shippedText("host/daemonset.yaml")).metadata;
    for (const own of [labels, spec.template.metadata.labels])
      for (const pair of HOST_PODS.label.split(",")) {
        const [key = "", value] = pair.split("=");
        expect(own[key]).toBe(value);
      }
  });

  test("its account may read nodes, and nothing else", () => {
    const role = documents(shippedText("host/rbac.yaml")).find(({ kind }) => kind === "ClusterRole");
    expect(role).toMatchObject({ rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] }] });
    expect((role as unknown as { rules: readonly unknown[] }).rules).toHaveLength(1);
    expect(shippedText("host/rbac.yaml")).not.toContain("kind: Role\n");
  });

  test("its command line keeps the host of its node, and serves what its probes ask for on this machine alone", async () => {
    const args = container?.args ?? [];
    const address = args[args.indexOf("--metrics-addr") + 1] ?? "";
    for (const { httpGet } of [container?.readinessProbe, container?.livenessProbe].filter((one) => one !== undefined))
      expect(`${httpGet.host}:${httpGet.port}`).toBe(address);
    expect([container?.readinessProbe.httpGet.path, container?.livenessProbe.httpGet.path]).toEqual([
      "/readyz",
      "/healthz",
    ]);
    const name = container?.env.find(({ name: of }) => of === "FLIPOP_NODE_NAME");
    expect(name?.valueFrom).toEqual({ fieldRef: { fieldPath: "spec.nodeName" } });
    const network = new FakeHost();
    const node = new FakeNode();
    node.reading = { kind: "known", annotation: "203.0.113.7" };
    const stop = new AbortController();
    const local = args.map((arg) => (arg === address ? "127.0.0.1:0" : arg));
    const ended = invoke(local, {
      host: { network, node },
      env: { FLIPOP_NODE_NAME: "worker-1" },
      signal: stop.signal,
    });
    await expect.poll(() => network.calls).toContain("announce 203.0.113.7 eth0");
    stop.abort();
    const { exitCode, stdout, stderr } = await ended;
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(
      stderr
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).msg),
    ).toEqual([
      expect.stringMatching(/^serves \/metrics, \/healthz and \/readyz on port \d+$/),
      "keeps the addresses of worker-1 on this host",
      "added 203.0.113.7/32 on eth0",
      "stopped; addresses stay where they are",
    ]);
  });

  test("is told by one variable to give everything up, as its first lines say", async () => {
    expect(shippedText("host/daemonset.yaml")).toContain("set env daemonset/flipop-host FLIPOP_REMOVE=true");
    const network = new FakeHost();
    network.addresses = [{ ip: "203.0.113.7", prefix: 32, interface: "eth0", isOwn: true }];
    const stop = new AbortController();
    const ended = invoke(["host", "--log-format", "json"], {
      host: { network, node: new FakeNode() },
      env: { FLIPOP_NODE_NAME: "worker-1", FLIPOP_REMOVE: "true" },
      signal: stop.signal,
    });
    await expect.poll(() => network.calls).toContain("remove 203.0.113.7 eth0");
    stop.abort();
    expect((await ended).exitCode).toBe(0);
  });
});

test("host/kustomization.yaml holds every file beside it", () => {
  const { resources } = parse(shippedText("host/kustomization.yaml")) as { readonly resources: readonly string[] };
  const files = shippedFiles("host").filter((file) => !file.endsWith("kustomization.yaml"));
  expect(resources.map((file) => `host/${file}`).toSorted()).toEqual(files.toSorted());
});

test("flipop manifests --only host has a namespace of its own beside that of flipop, and no sidecar", async () => {
  const flags = [
    "--namespace",
    "networking",
    "--image",
    "registry.example.com/flipop:1.2.3",
    "--dns-webhook-image",
    "webhook:1",
  ];
  const { stdout, exitCode } = await invoke(["manifests", "--only", "host", ...flags]);
  expect(exitCode).toBe(0);
  const objects = documents(stdout) as unknown as readonly {
    readonly kind: string;
    readonly metadata: { readonly namespace?: string; readonly name: string };
  }[];
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`)).toEqual([
    "Namespace /networking-host",
    "ServiceAccount networking-host/flipop-host",
    "ClusterRole /flipop-host",
    "ClusterRoleBinding /flipop-host",
    "DaemonSet networking-host/flipop-host",
  ]);
  expect(stdout).toContain("image: registry.example.com/flipop:1.2.3\n");
  expect(stdout).toContain("kubectl -n networking-host set env");
  expect(stdout).not.toContain("initContainers");
  expect(stdout).not.toMatch(/namespace: flipop/);
});
