import type { KubernetesAPI } from "./kubernetes-api.ts";
import { arrayAt, isObject, type JSONObject, type KubeObject, objectAt, textAt, valueAt } from "./object-store.ts";
import type { ResourceType } from "./resource-types.ts";

/** The columns of a Table as kubectl prints it. */
interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** Above 0 = only with `-o wide`. */
  readonly priority: number;
  readonly cell: (object: KubeObject, nowMs: number) => unknown;
}

/** Media types of a Table, as `Accept` asks for it. */
const AS_TABLE = /^application\/json;(?=.*\bas=Table\b)(?=.*\bg=meta\.k8s\.io\b)/;

/** True when the first format that a client accepts is a Table. */
export function wantsTable(accept: string | undefined): boolean {
  return AS_TABLE.test((accept ?? "").split(",")[0]?.replaceAll(" ", "") ?? "");
}

/** The list, or the one object, as a Table: a row for each object. `includeObject` says what of it is in its row. */
export function tableOf(
  api: KubernetesAPI,
  type: ResourceType,
  shown: JSONObject,
  { includeObject, hasColumns = true }: { readonly includeObject: string | null; readonly hasColumns?: boolean },
): JSONObject {
  const isList = Array.isArray(shown["items"]);
  const objects = (isList ? arrayAt(shown, "items") : [shown]) as readonly KubeObject[];
  const columns = columnsOf(type);
  const { resourceVersion, remainingItemCount, continue: next } = objectAt(shown, "metadata");
  const more = isList
    ? { ...(next ? { continue: next } : {}), ...(remainingItemCount ? { remainingItemCount } : {}) }
    : {};
  const nowMs = api.origins.now();
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion, ...more },
    columnDefinitions: hasColumns ? columns.map(({ cell: _, ...definition }) => definition) : null,
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, nowMs) ?? null),
      ...rowObject(object, includeObject ?? "Metadata"),
    })),
  };
}

function rowObject(object: KubeObject, include: string): JSONObject {
  if (include === "None") return { object: null };
  const { metadata } = object;
  const partial = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
  return { object: include === "Object" ? object : partial };
}

function columnsOf(type: ResourceType): readonly Column[] {
  if (type.schema === undefined) return COLUMNS.get(type.kind) ?? [NAME, AGE];
  const own = type.columns ?? [];
  return [NAME, ...(own.length === 0 ? [{ ...AGE, type: "date" }] : own.map(customColumn))];
}

function column(
  name: string,
  cell: Column["cell"],
  { type = "string", format = "", priority = 0, description = "" } = {},
): Column {
  return { name, type, format, description, priority, cell };
}

function wide(name: string, cell: Column["cell"]): Column {
  return column(name, cell, { priority: 1 });
}

const NAME = column("Name", ({ metadata }) => metadata.name, { format: "name" });
const AGE = column("Age", ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs));
const NONE = "<none>";

const WORKLOAD: readonly Column[] = [
  wide("Containers", (object) =>
    templateContainers(object)
      .map((one) => textAt(one, "name"))
      .join(","),
  ),
  wide("Images", (object) =>
    templateContainers(object)
      .map((one) => textAt(one, "image"))
      .join(","),
  ),
];

/** What `kubectl get` shows of the built-in kinds: kube-apiserver 1.35.4 prints the same. */
const COLUMNS: ReadonlyMap<string, readonly Column[]> = new Map(
  Object.entries({
    Namespace: [NAME, column("Status", (object) => textAt(object, "status", "phase")), AGE],
    Node: [
      NAME,
      column("Status", nodeStatus),
      column("Roles", nodeRoles),
      AGE,
      column("Version", (node) => textAt(node, "status", "nodeInfo", "kubeletVersion")),
      wide("Internal-IP", (node) => nodeAddress(node, "InternalIP")),
      wide("External-IP", (node) => nodeAddress(node, "ExternalIP")),
      wide("OS-Image", (node) => textAt(node, "status", "nodeInfo", "osImage") || "<unknown>"),
      wide("Kernel-Version", (node) => textAt(node, "status", "nodeInfo", "kernelVersion") || "<unknown>"),
      wide("Container-Runtime", (node) => textAt(node, "status", "nodeInfo", "containerRuntimeVersion") || "<unknown>"),
    ],
    Pod: [
      NAME,
      column(
        "Ready",
        (pod) =>
          `${statusesOf(pod).filter((one) => valueAt(one, "ready") === true).length}/${arrayAt(pod, "spec", "containers").length}`,
      ),
      column("Status", podStatus),
      column("Restarts", (pod) =>
        String(statusesOf(pod).reduce<number>((sum, one) => sum + Number(valueAt(one, "restartCount") ?? 0), 0)),
      ),
      AGE,
      wide("IP", (pod) => textAt(pod, "status", "podIP") || NONE),
      wide("Node", (pod) => textAt(pod, "spec", "nodeName") || NONE),
      wide("Nominated Node", (pod) => textAt(pod, "status", "nominatedNodeName") || NONE),
      wide("Readiness Gates", readinessGates),
    ],
    Service: [
      NAME,
      column("Type", serviceType),
      column("Cluster-IP", (service) => textAt(service, "spec", "clusterIP") || NONE),
      column("External-IP", serviceExternalIP),
      column("Port(s)", (service) => joined(arrayAt(service, "spec", "ports").map(servicePort))),
      AGE,
      wide("Selector", (service) => labelsText(objectAt(service, "spec", "selector"))),
    ],
    Deployment: [
      NAME,
      column("Ready", (one) => `${count(one, "status", "readyReplicas")}/${valueAt(one, "spec", "replicas") ?? 1}`),
      column("Up-to-date", (one) => count(one, "status", "updatedReplicas")),
      column("Available", (one) => count(one, "status", "availableReplicas")),
      AGE,
      ...WORKLOAD,
      wide("Selector", (one) => labelsText(objectAt(one, "spec", "selector", "matchLabels"))),
    ],
    CronJob: [
      NAME,
      column("Schedule", (job) => textAt(job, "spec", "schedule")),
      column("Timezone", (job) => textAt(job, "spec", "timeZone") || NONE),
      column("Suspend", (job) => (valueAt(job, "spec", "suspend") === true ? "True" : "False"), { type: "boolean" }),
      column("Active", (job) => arrayAt(job, "status", "active").length, { type: "integer" }),
      column("Last Schedule", (job, nowMs) => since(job, nowMs, "status", "lastScheduleTime") ?? NONE),
      AGE,
      ...WORKLOAD,
      wide("Selector", () => NONE),
    ],
    CustomResourceDefinition: [
      NAME,
      column("Created At", ({ metadata }) => metadata.creationTimestamp, { type: "date" }),
    ],
    Lease: [NAME, column("Holder", (lease) => textAt(lease, "spec", "holderIdentity")), AGE],
    EndpointSlice: [
      NAME,
      column("AddressType", (slice) => textAt(slice, "addressType")),
      column("Ports", (slice) => shortened(arrayAt(slice, "ports").map((one) => String(valueAt(one, "port") ?? "*")))),
      column("Endpoints", (slice) =>
        shortened(arrayAt(slice, "endpoints").flatMap((one) => arrayAt(one, "addresses").map(String))),
      ),
      AGE,
    ],
    Event: [
      column(
        "Last Seen",
        (event, nowMs) => since(event, nowMs, "series", "lastObservedTime") ?? lastSeen(event, nowMs),
      ),
      column("Type", (event) => textAt(event, "type")),
      column("Reason", (event) => textAt(event, "reason")),
      column("Object", (event) => subjectOf(event)),
      wide(
        "Subobject",
        (event) => textAt(event, "regarding", "fieldPath") || textAt(event, "involvedObject", "fieldPath"),
      ),
      wide("Source", (event) =>
        [
          textAt(event, "reportingController") || textAt(event, "reportingComponent"),
          textAt(event, "reportingInstance"),
        ]
          .filter((part) => part !== "")
          .join(", "),
      ),
      column("Message", (event) => (textAt(event, "note") || textAt(event, "message")).trim()),
      wide("First Seen", (event, nowMs) => since(event, nowMs, "eventTime") ?? lastSeen(event, nowMs)),
      wide("Count", (event) => valueAt(event, "series", "count") ?? valueAt(event, "count") ?? 1),
      column("Name", ({ metadata }) => metadata.name, { format: "name", priority: 1 }),
    ],
  } satisfies Record<string, readonly Column[]>),
);

function joined(texts: readonly string[]): string {
  return texts.length === 0 ? NONE : texts.join(",");
}

const MOST_SHOWN = 3;

function shortened(texts: readonly string[]): string {
  if (texts.length === 0) return "<unset>";
  const more = texts.length > MOST_SHOWN ? ` + ${texts.length - MOST_SHOWN} more...` : "";
  return `${texts.slice(0, MOST_SHOWN).join(",")}${more}`;
}

function count(object: KubeObject, ...path: readonly string[]): number {
  return Number(valueAt(object, ...path) ?? 0);
}

function templateContainers(object: KubeObject): readonly unknown[] {
  const spec = objectAt(object, "spec", "jobTemplate", "spec");
  return arrayAt(Object.keys(spec).length === 0 ? objectAt(object, "spec") : spec, "template", "spec", "containers");
}

function labelsText(labels: JSONObject): string {
  return joined(
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .sort(),
  );
}

function nodeStatus(node: KubeObject): string {
  const ready = arrayAt(node, "status", "conditions").find((one) => valueAt(one, "type") === "Ready");
  const status = ready === undefined ? "Unknown" : valueAt(ready, "status") === "True" ? "Ready" : "NotReady";
  return valueAt(node, "spec", "unschedulable") === true ? `${status},SchedulingDisabled` : status;
}

const ROLE = "node-role.kubernetes.io/";

function nodeRoles({ metadata: { labels = {} } }: KubeObject): string {
  const named = Object.keys(labels)
    .filter((key) => key.startsWith(ROLE))
    .map((key) => key.slice(ROLE.length));
  const own = labels["kubernetes.io/role"];
  return joined([...new Set([...named, ...(own === undefined ? [] : [own])])].filter((role) => role !== "").sort());
}

function nodeAddress(node: KubeObject, kind: string): string {
  const found = arrayAt(node, "status", "addresses").find((one) => valueAt(one, "type") === kind);
  return textAt(found, "address") || NONE;
}

function statusesOf(pod: KubeObject): readonly unknown[] {
  return arrayAt(pod, "status", "containerStatuses");
}

function podStatus(pod: KubeObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) return "Terminating";
  const reasons = statusesOf(pod).map(
    (one) => textAt(one, "state", "waiting", "reason") || textAt(one, "state", "terminated", "reason"),
  );
  const [reason] = reasons.filter((text) => text !== "");
  return reason ?? (textAt(pod, "status", "reason") || textAt(pod, "status", "phase"));
}

function readinessGates(pod: KubeObject): string {
  const gates = arrayAt(pod, "spec", "readinessGates").map((gate) => textAt(gate, "conditionType"));
  const conditions = arrayAt(pod, "status", "conditions");
  const open = gates.filter((gate) =>
    conditions.some((one) => valueAt(one, "type") === gate && valueAt(one, "status") === "True"),
  );
  return gates.length === 0 ? NONE : `${open.length}/${gates.length}`;
}

function serviceType(service: KubeObject): string {
  return textAt(service, "spec", "type") || "ClusterIP";
}

function serviceExternalIP(service: KubeObject): string {
  const external = arrayAt(service, "spec", "externalIPs").map(String);
  const given = arrayAt(service, "status", "loadBalancer", "ingress").map(
    (one) => textAt(one, "ip") || textAt(one, "hostname"),
  );
  const type = serviceType(service);
  if (type === "ExternalName") return textAt(service, "spec", "externalName");
  const all = type === "LoadBalancer" ? [...given, ...external] : external;
  return all.length === 0 && type === "LoadBalancer" ? "<pending>" : joined(all);
}

function servicePort(port: unknown): string {
  const node = Number(valueAt(port, "nodePort") ?? 0);
  const protocol = textAt(port, "protocol") || "TCP";
  return `${valueAt(port, "port")}${node > 0 ? `:${node}` : ""}/${protocol}`;
}

function subjectOf(event: KubeObject): string {
  const about = event["regarding"] ?? event["involvedObject"];
  const [kind, name] = [textAt(about, "kind").toLowerCase(), textAt(about, "name")];
  return kind === "" ? name : `${kind}/${name}`;
}

function lastSeen(event: KubeObject, nowMs: number): string {
  const paths = ["deprecatedLastTimestamp", "lastTimestamp", "eventTime"];
  return paths.map((path) => since(event, nowMs, path)).find((text) => text !== undefined) ?? "<unknown>";
}

function since(object: KubeObject, nowMs: number, ...path: readonly string[]): string | undefined {
  const time = textAt(object, ...path);
  return time === "" ? undefined : ageOf(time, nowMs);
}

/** How long ago a time was, as kubectl writes it: `45s`, `2m30s`, `3d4h`; `<unknown>` for what is no time. */
function ageOf(time: string, nowMs: number): string {
  const seconds = Math.trunc((nowMs - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) return "<unknown>";
  if (seconds < 0) return seconds < -1 ? "<invalid>" : "0s";
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  const [days, years] = [Math.floor(hours / 24), Math.floor(hours / (24 * 365))];
  const two = (whole: string, rest: number, unit: string): string => (rest === 0 ? whole : `${whole}${rest}${unit}`);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(`${minutes}m`, seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return two(`${hours}h`, minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (hours < 192) return two(`${days}d`, hours % 24, "h");
  if (years < 2) return `${days}d`;
  return years < 8 ? two(`${years}y`, days % 365, "d") : `${years}y`;
}

/** A column of a CustomResourceDefinition. */
function customColumn(written: unknown): Column {
  const [name, type, path] = [textAt(written, "name"), textAt(written, "type"), textAt(written, "jsonPath")];
  const priority = Number(valueAt(written, "priority") ?? 0);
  const cell = (object: KubeObject, nowMs: number): unknown => cellOf(type, firstAt(object, path), nowMs);
  return column(name, cell, {
    type,
    format: textAt(written, "format"),
    description: textAt(written, "description"),
    priority,
  });
}

function cellOf(type: string, value: unknown, nowMs: number): unknown {
  if (value === undefined || value === null) return null;
  if (type === "date") return typeof value === "string" ? ageOf(value, nowMs) : "<unknown>";
  if (type !== "string") return value;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const STEP = /\.([\w-]+)|\[(\d+|\*)\]|\['([^']+)'\]|\[\?\(@\.([\w-]+)\s*==\s*["']([^"']*)["']\)\]/gy;

/** The first value that a JSONPath of a column leads to: names, places, `[*]` and one equality are known. */
function firstAt(object: KubeObject, path: string): unknown {
  let found: readonly unknown[] = [object];
  for (const [, name, place, quoted, field, wanted] of path.matchAll(STEP)) {
    const key = name ?? quoted;
    if (key !== undefined) found = found.map((value) => valueAt(value, key));
    else if (field !== undefined)
      found = found.flatMap((value) => itemsOf(value).filter((item) => valueAt(item, field) === wanted));
    else found = found.flatMap((value) => (place === "*" ? itemsOf(value) : [itemsOf(value)[Number(place)]]));
    found = found.filter((value) => value !== undefined);
  }
  return found[0];
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}
