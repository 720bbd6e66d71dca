import { now } from "../cluster/objects.ts";
import { REGION } from "./cloud.ts";
import { nodeName } from "./world.ts";

/** The namespace of all pods of a benchmark. */
export const POD_NAMESPACE = "bench";
/** The label that only the pods of the ingress carry. */
export const INGRESS_LABEL = "app.kubernetes.io/name=ingress-nginx";

/** A node about as big as a real one: labels, conditions, capacity, addresses and the images it has pulled. */
export function bigNode(droplet: number): unknown {
  const name = nodeName(droplet);
  const condition = (type: string, status: string): object => ({
    type,
    status,
    reason: `Kubelet${type}`,
    message: `kubelet reports ${type} as ${status}`,
    lastHeartbeatTime: now(),
    lastTransitionTime: now(),
  });
  const resources = { cpu: "4", "ephemeral-storage": "165065208Ki", "hugepages-2Mi": "0", memory: "8Gi", pods: "110" };
  return {
    metadata: {
      name,
      labels: {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "doks.digitalocean.com/node-id": `6e2f1c9a-0000-4000-8000-${String(droplet).padStart(12, "0")}`,
        "doks.digitalocean.com/node-pool": "workers",
        "doks.digitalocean.com/version": "1.35.4-do.0",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "s-4vcpu-8gb",
        "topology.kubernetes.io/region": REGION,
      },
      annotations: { "node.alpha.kubernetes.io/ttl": "0", "csi.volume.kubernetes.io/nodeid": `{"dobs":"${droplet}"}` },
    },
    spec: { providerID: `digitalocean://${droplet}`, podCIDR: `10.${droplet >> 8}.${droplet & 255}.0/24` },
    status: {
      addresses: [
        { type: "Hostname", address: name },
        { type: "InternalIP", address: `10.110.${droplet >> 8}.${droplet & 255}` },
        { type: "ExternalIP", address: `198.18.${droplet >> 8}.${droplet & 255}` },
      ],
      allocatable: resources,
      capacity: resources,
      conditions: [
        ...["NetworkUnavailable", "MemoryPressure", "DiskPressure", "PIDPressure"].map((it) => condition(it, "False")),
        condition("Ready", "True"),
      ],
      images: Array.from({ length: 25 }, (_, index) => image(index)),
    },
  };
}

function image(index: number): object {
  const name = `registry.example.com/team-${index % 5}/service-${index}`;
  return { names: [`${name}@sha256:${digest(index)}`, `${name}:v1.${index}.0`], sizeBytes: 50_000_000 + index };
}

/** A pod as a Deployment makes them: owner, several containers with resources, probes, environment and volumes. */
export function bigPod(
  index: number,
  droplet: number,
  isIngress: boolean,
): { readonly name: string; readonly [field: string]: unknown } {
  const app = isIngress ? "ingress-nginx" : `service-${index % 200}`;
  const hash = digest(index).slice(0, 10);
  const name = `${app}-${hash}-${index}`;
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${app}-${hash}`, controller: true };
  return {
    name,
    metadata: {
      name,
      generateName: `${app}-${hash}-`,
      labels: {
        "app.kubernetes.io/name": app,
        "app.kubernetes.io/instance": `${app}-production`,
        "app.kubernetes.io/version": "1.14.3",
        "app.kubernetes.io/managed-by": "Helm",
        "pod-template-hash": hash,
        team: `team-${index % 12}`,
      },
      annotations: {
        "checksum/config": digest(index % 200),
        "prometheus.io/scrape": "true",
        "prometheus.io/port": "9090",
      },
      ownerReferences: [{ ...owner, uid: `0b0f9f0e-0000-4000-8000-${String(index % 200).padStart(12, "0")}` }],
    },
    spec: {
      nodeName: nodeName(droplet),
      serviceAccountName: app,
      containers: ["main", "sidecar"].map((container) => bigContainer(app, container)),
      volumes: [
        { name: "config", configMap: { name: `${app}-config` } },
        { name: "tls", secret: { secretName: `${app}-tls` } },
        { name: "cache", emptyDir: { sizeLimit: "1Gi" } },
      ],
      tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" }],
    },
  };
}

function bigContainer(app: string, name: string): object {
  const probe = { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10, timeoutSeconds: 2 };
  return {
    name,
    image: `registry.example.com/${app}/${name}:1.14.3`,
    args: [`--name=${app}`, "--config=/etc/config/main.yaml", "--log-format=json", "--metrics-addr=:9090"],
    ports: [{ name: `http-${name}`.slice(0, 15), containerPort: 8080 }],
    env: [
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "DATABASE_URL", valueFrom: { secretKeyRef: { name: `${app}-database`, key: "url" } } },
      { name: "LOG_LEVEL", value: "info" },
    ],
    resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "256Mi" } },
    livenessProbe: probe,
    readinessProbe: probe,
    volumeMounts: [
      { name: "config", mountPath: "/etc/config", readOnly: true },
      { name: "cache", mountPath: "/var/cache" },
    ],
  };
}

/** The status a kubelet reports for such a pod while it runs and is ready. */
export function bigPodStatus(index: number): object {
  const at = now();
  const ip = `10.244.${(index >> 8) & 255}.${index & 255}`;
  const conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
  return {
    phase: "Running",
    conditions: conditions.map((type) => ({ type, status: "True", lastTransitionTime: at })),
    hostIP: "10.110.0.1",
    podIP: ip,
    podIPs: [{ ip }],
    startTime: at,
    containerStatuses: ["main", "sidecar"].map((name) => ({
      name,
      image: `registry.example.com/service/${name}:1.14.3`,
      imageID: `registry.example.com/service/${name}@sha256:${digest(index % 200)}`,
      containerID: `containerd://${digest(index)}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    })),
  };
}

/** 64 hexadecimal digits that differ from index to index. */
function digest(index: number): string {
  return ((index + 1) * 2_654_435_761).toString(16).padStart(16, "0").repeat(4).slice(0, 64);
}
