// Bodies of nodes and pods as a kubelet would report them.
import type { KubeObject } from "./transport.ts";

/** `Unknown` is what the node controller writes when a kubelet has gone silent. */
export type Readiness = boolean | "Unknown";

type Taint = { readonly key: string; readonly value?: string; readonly effect: string };

export type NodeOptions = {
  readonly name: string;
  readonly providerID?: string;
  readonly labels?: Record<string, string>;
  /** Exactly the taints the node has afterwards; none when not given. */
  readonly taints?: readonly Taint[];
  /** True when not given. Sets the condition only: the taints of an unready node are up to the test. */
  readonly ready?: Readiness;
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  /** Becomes the label `topology.kubernetes.io/region`. */
  readonly region?: string;
};

export type PodOptions = {
  readonly namespace: string;
  readonly name: string;
  /** Without a node the pod stays Pending. */
  readonly nodeName?: string;
  readonly labels?: Record<string, string>;
  /** True when not given. */
  readonly ready?: boolean;
};

/** Returns the body that creates a node; the server keeps the `status` of a new node. Pure but for the time. */
export function nodeBody(options: NodeOptions): Partial<KubeObject> {
  const { name, providerID, region } = options;
  const regionLabel = region === undefined ? undefined : { "topology.kubernetes.io/region": region };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...regionLabel, ...options.labels } },
    spec: { ...(providerID === undefined ? {} : { providerID }), taints: options.taints ?? [] },
    status: {
      addresses: options.addresses ?? [{ type: "Hostname", address: name }],
      conditions: [nodeReadyCondition(options.ready ?? true, now())],
    },
  };
}

/** Returns the condition `Ready` of a node. */
export function nodeReadyCondition(ready: Readiness, lastTransitionTime: string): Record<string, string> {
  const [status, reason, message] = {
    true: ["True", "KubeletReady", "kubelet is posting ready status"],
    false: ["False", "KubeletNotReady", "container runtime is down"],
    Unknown: ["Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."],
  }[String(ready) as `${Readiness}`] as [string, string, string];
  return { type: "Ready", status, reason, message, lastHeartbeatTime: now(), lastTransitionTime };
}

/** Returns the body that creates a pod; the server drops the `status` of a new pod. Pure. */
export function podBody({ namespace, name, nodeName, labels = {} }: PodOptions): Partial<KubeObject> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name, labels },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      containers: [{ name: "main", image: "example.test/none" }],
    },
  };
}

/** Returns the `status` of a pod that runs, and is ready or not. */
export function podStatus(ready: boolean): Record<string, unknown> {
  const lastTransitionTime = now();
  const status = ready ? "True" : "False";
  return {
    phase: "Running",
    conditions: [
      { type: "PodScheduled", status: "True", lastTransitionTime },
      { type: "Initialized", status: "True", lastTransitionTime },
      { type: "ContainersReady", status, lastTransitionTime },
      { type: "Ready", status, lastTransitionTime },
    ],
  };
}

/** Returns the time of this moment as the API writes it: whole seconds. */
export function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}
