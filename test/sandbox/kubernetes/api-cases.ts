import { aWidget } from "./widget-crd.ts";

/** One request; `NS` in paths and bodies stands for the test's namespace, `ID` for a name no other test uses. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Default: JSON, a merge patch for PATCH. */
  readonly contentType?: string;
}

/** Some requests, and what the last one is answered: status, reason and message, or the fields that `show` names. */
export interface APICase {
  readonly title: string;
  readonly steps: readonly Step[];
  /** Dotted paths into the last answer. */
  readonly show?: readonly string[];
  readonly expected: string;
}

const WIDGETS = "/apis/sandbox.test/v1/namespaces/NS/widgets";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/NS/leases";
const EVENTS = "/apis/events.k8s.io/v1/namespaces/NS/events";
const PODS = "/api/v1/namespaces/NS/pods";
const NODES = "/api/v1/nodes";

function post(path: string, body: unknown): Step {
  return { method: "POST", path, body };
}
function get(path: string): Step {
  return { method: "GET", path };
}
function put(path: string, body: unknown): Step {
  return { method: "PUT", path, body };
}
function patch(path: string, body: unknown, contentType?: string): Step {
  return { method: "PATCH", path, body, ...(contentType === undefined ? {} : { contentType }) };
}
function remove(path: string, body?: unknown): Step {
  return { method: "DELETE", path, ...(body === undefined ? {} : { body }) };
}

function aLease(spec: Readonly<Record<string, unknown>> = {}, metadata: Readonly<Record<string, unknown>> = {}): unknown {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "lock", ...metadata }, spec };
}

function anEvent(fields: Readonly<Record<string, unknown>> = {}): unknown {
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "e1" },
    eventTime: "2026-01-02T03:04:05.000000Z",
    reportingController: "flipop.digitalocean.com/flipop",
    reportingInstance: "test",
    action: "AssignIP",
    reason: "Assigned",
    type: "Normal",
    note: "hello",
    regarding: { apiVersion: "v1", kind: "Pod", namespace: "NS", name: "p" },
    ...fields,
  };
}

function aPod(name: string, fields: Readonly<Record<string, unknown>> = {}): unknown {
  const spec = { containers: [{ name: "main", image: "example.test/none" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec, ...fields };
}

const boundPod = aPod("p1", { spec: { nodeName: "ID", containers: [{ name: "main", image: "example.test/none" }] } });

/** Refusals and their words. */
export const REFUSALS: readonly APICase[] = [
  { title: "a missing node is not found", steps: [get(`${NODES}/ID`)], expected: "" },
  { title: "a missing custom object is not found", steps: [get(`${WIDGETS}/none`)], expected: "" },
  { title: "an unknown group is no page", steps: [get("/apis/no.such.group/v1/things")], expected: "" },
  { title: "an unknown resource of a known group is no page", steps: [get("/apis/sandbox.test/v1/things")], expected: "" },
  { title: "an unknown core resource is no resource", steps: [get("/api/v1/things")], expected: "" },
  { title: "an unknown subresource is no resource", steps: [post(WIDGETS, aWidget("w")), get(`${WIDGETS}/w/scale`)], expected: "" },
  { title: "a name that is taken already exists", steps: [post(WIDGETS, aWidget("w")), post(WIDGETS, aWidget("w"))], expected: "" },
  { title: "a lease name that is taken already exists", steps: [post(LEASES, aLease()), post(LEASES, aLease())], expected: "" },
  {
    title: "an object in a missing namespace finds no namespace",
    steps: [post("/apis/coordination.k8s.io/v1/namespaces/missing-ID/leases", aLease())],
    expected: "",
  },
  {
    title: "a custom object in a missing namespace finds no namespace",
    steps: [post("/apis/sandbox.test/v1/namespaces/missing-ID/widgets", aWidget("w"))],
    expected: "",
  },
  { title: "an object without a name is invalid", steps: [post(LEASES, { metadata: {} })], expected: "" },
  { title: "a custom object without a name is invalid", steps: [post(WIDGETS, { ...aWidget("x"), metadata: {} })], expected: "" },
  { title: "a name in upper case is invalid", steps: [post(LEASES, aLease({}, { name: "Lock" }))], expected: "" },
  {
    title: "a label value with a space is invalid",
    steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", labels: { a: "b c" } } })],
    expected: "",
  },
  {
    title: "an annotation key with a space is invalid",
    steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", annotations: { "a b": "c" } } })],
    expected: "",
  },
  {
    title: "a label that is a number is a bad request",
    steps: [post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID", labels: { a: 1 } } })],
    expected: "",
  },
  { title: "a body of another kind is a bad request", steps: [post(LEASES, { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } })], expected: "" },
  { title: "a body of another version is a bad request", steps: [post(WIDGETS, { ...aWidget("w"), apiVersion: "sandbox.test/v2" })], expected: "" },
  {
    title: "a body with another namespace is a bad request",
    steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", namespace: "other" } })],
    expected: "",
  },
  {
    title: "a new object with a resourceVersion is refused",
    steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", resourceVersion: "5" } })],
    expected: "",
  },
  { title: "a POST to a name is not allowed", steps: [post(`${WIDGETS}/w`, aWidget("w"))], expected: "" },
  { title: "a POST to all namespaces is not allowed", steps: [post("/api/v1/pods", aPod("p"))], expected: "" },
  { title: "a PUT with a stale resourceVersion conflicts", steps: [post(LEASES, aLease()), put(`${LEASES}/lock`, aLease({ holderIdentity: "a" }, { resourceVersion: "1" }))], expected: "" },
  { title: "a PUT of a lease without resourceVersion is invalid", steps: [post(LEASES, aLease()), put(`${LEASES}/lock`, aLease({ holderIdentity: "a" }))], expected: "" },
  { title: "a PUT of a custom object without resourceVersion is invalid", steps: [post(WIDGETS, aWidget("w")), put(`${WIDGETS}/w`, aWidget("w"))], expected: "" },
  { title: "a PUT of a missing custom object is not found", steps: [put(`${WIDGETS}/w`, { ...aWidget("w"), metadata: { name: "w", resourceVersion: "1" } })], expected: "" },
  { title: "a PUT of a missing lease is not found", steps: [put(`${LEASES}/lock`, aLease({}, { resourceVersion: "1" }))], expected: "" },
  { title: "a PUT with another name is a bad request", steps: [post(LEASES, aLease()), put(`${LEASES}/lock`, aLease({}, { name: "b" }))], expected: "" },
  { title: "a patch with a stale resourceVersion conflicts", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, { metadata: { resourceVersion: "1", annotations: { a: "b" } } })], expected: "" },
  { title: "a status patch with a stale resourceVersion conflicts", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w/status`, { metadata: { resourceVersion: "1" }, status: { phase: "b" } })], expected: "" },
  { title: "a patch of a missing object is not found", steps: [patch(`${NODES}/ID`, { metadata: {} })], expected: "" },
  { title: "a patch with another uid conflicts", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, { metadata: { uid: "other" } })], expected: "" },
  { title: "a strategic merge patch of a custom object is an unsupported media type", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, {}, "application/strategic-merge-patch+json")], expected: "" },
  { title: "a patch without a patch content type is an unsupported media type", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, {}, "application/json")], expected: "" },
  { title: "a merge patch that is a list is a bad request", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, [])], expected: "" },
  {
    title: "a new finalizer on an object that is being deleted is forbidden",
    steps: [
      post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", finalizers: ["a.test/x"] } }),
      remove(`${WIDGETS}/w`),
      patch(`${WIDGETS}/w`, { metadata: { finalizers: ["a.test/x", "a.test/y"] } }),
    ],
    expected: "",
  },
  { title: "a DELETE with another uid conflicts", steps: [post(LEASES, aLease()), remove(`${LEASES}/lock`, { preconditions: { uid: "other" } })], expected: "" },
  { title: "a DELETE of a missing object is not found", steps: [remove(`${LEASES}/lock`)], expected: "" },
  { title: "a providerID cannot change", steps: [post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID" }, spec: { providerID: "digitalocean://1" } }), patch(`${NODES}/ID`, { spec: { providerID: "digitalocean://2" } })], expected: "" },
  { title: "a pod without containers is invalid", steps: [post(PODS, { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: {} })], expected: "" },
  { title: "a label selector that cannot be parsed is a bad request", steps: [get(`${PODS}?labelSelector=a%20in%20b`)], expected: "" },
  { title: "a field selector on an unknown node field is a bad request", steps: [get(`${NODES}?fieldSelector=spec.providerID%3Dx`)], expected: "" },
  { title: "a field selector on an unknown custom field is a bad request", steps: [get(`${WIDGETS}?fieldSelector=spec.size%3D1`)], expected: "" },
  { title: "a field selector that cannot be read is a bad request", steps: [get(`${PODS}?fieldSelector=abc`)], expected: "" },
  { title: "a malformed continue token is a bad request", steps: [get(`${PODS}?limit=1&continue=abc`)], expected: "" },
  { title: "a limit that is no number is a bad request", steps: [get(`${PODS}?limit=abc`)], expected: "" },
  { title: "a resourceVersion of the future times out", steps: [get(`${PODS}?resourceVersion=99999999`)], expected: "" },
  { title: "a resourceVersion that is no number is a bad request", steps: [get(`${PODS}?resourceVersion=abc`)], expected: "" },
  { title: "a watch resourceVersion that is no number is a bad request", steps: [get(`${PODS}?watch=true&resourceVersion=abc`)], expected: "" },
];

/** Validation, by the schema of a definition and of the built-in kinds. */
export const VALIDATION: readonly APICase[] = [
  ...(
    [
      ["a missing field", { size: undefined }],
      ["a wrong type", { size: "big" }],
      ["a fraction for an integer", { size: 1.5 }],
      ["a number below the minimum", { size: -1 }],
      ["a number above the maximum", { size: 11 }],
      ["a number at an exclusive minimum", { weight: 0 }],
      ["a number off the step", { weight: 0.7 }],
      ["a word outside the enumeration", { colour: "green" }],
      ["a text against the pattern", { code: "AB" }],
      ["a text that is too short", { code: "a" }],
      ["a text that is too long", { code: "abcdef" }],
      ["a text that is no time", { when: "yesterday" }],
      ["a text that is no IPv4 address", { address: "1.2.3" }],
      ["a list that is too long", { tags: ["a", "b", "c"] }],
      ["a duplicate in a set", { tags: ["a", "a"] }],
      ["a duplicate in a list map", { parts: [{ name: "a" }, { name: "a", count: 2 }] }],
      ["a missing field in a list", { parts: [{ count: 2 }] }],
      ["a map that is too big", { limits: { a: "1", b: "2", c: "3" } }],
      ["a map value of a wrong type", { limits: { a: 1 } }],
      ["a flag for a number or text", { port: true }],
      ["null where it is not allowed", { code: null }],
      ["a list for an object", { extra: [] }],
      ["a text for a flag", { isOn: "yes" }],
      ["two mistakes", { size: -1, colour: "green" }],
    ] as const
  ).map(([what, spec]) => ({ title: `${what} is invalid`, steps: [post(WIDGETS, aWidget("w", spec))], expected: "" })),
  { title: "a missing spec is invalid", steps: [post(WIDGETS, { ...aWidget("w"), spec: undefined })], expected: "" },
  { title: "an unknown field is refused with strict validation", steps: [post(`${WIDGETS}?fieldValidation=Strict`, aWidget("w", { sise: 1, parts: [{ name: "a", cout: 1 }] }))], expected: "" },
  { title: "an unknown value of fieldValidation is refused", steps: [post(`${WIDGETS}?fieldValidation=Hard`, aWidget("w"))], expected: "" },
  { title: "an invalid status is invalid", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w/status`, { status: { seen: "x" } })], expected: "" },
  { title: "a lease with no duration is invalid", steps: [post(LEASES, aLease({ leaseDurationSeconds: 0 }))], expected: "" },
  { title: "a lease with negative transitions is invalid", steps: [post(LEASES, aLease({ leaseTransitions: -1 }))], expected: "" },
  { title: "a lease time with three decimals is a bad request", steps: [post(LEASES, aLease({ renewTime: "2026-01-02T03:04:05.123Z" }))], expected: "" },
  { title: "a lease time without decimals is a bad request", steps: [post(LEASES, aLease({ renewTime: "2026-01-02T03:04:05Z" }))], expected: "" },
  { title: "an event time with three decimals is a bad request", steps: [post(EVENTS, anEvent({ eventTime: "2026-01-02T03:04:05.123Z" }))], expected: "" },
  { title: "an event about an object of another namespace is invalid", steps: [post(EVENTS, anEvent({ regarding: { kind: "Pod", namespace: "other", name: "p" } }))], expected: "" },
  { title: "an event about a cluster-scoped object belongs into default", steps: [post(EVENTS, anEvent({ regarding: { kind: "Node", name: "n" } }))], expected: "" },
  ...["eventTime", "reportingController", "reportingInstance", "action", "reason", "type"].map((field) => ({
    title: `an event without ${field} is invalid`,
    steps: [post(EVENTS, anEvent({ [field]: undefined }))],
    expected: "",
  })),
  { title: "an event of an unknown type is invalid", steps: [post(EVENTS, anEvent({ type: "Odd" }))], expected: "" },
  { title: "an event with a note of 1,025 characters is invalid", steps: [post(EVENTS, anEvent({ note: "n".repeat(1025) }))], expected: "" },
  { title: "an event with a controller of two slashes is invalid", steps: [post(EVENTS, anEvent({ reportingController: "a/b/c" }))], expected: "" },
];

/** What writes and reads do. */
export const EFFECTS: readonly APICase[] = [
  { title: "a created object has generation 1 and defaults, and no status", steps: [post(WIDGETS, { ...aWidget("w", { parts: [{ name: "a" }] }), status: { phase: "x" } })], show: ["metadata.generation", "spec", "status"], expected: "" },
  { title: "unknown fields are pruned, preserved ones stay", steps: [post(WIDGETS, aWidget("w", { sise: 1, extra: { a: { b: 1 } } }))], show: ["spec"], expected: "" },
  { title: "null is kept where it is allowed", steps: [post(WIDGETS, aWidget("w", { note: null, colour: null }))], show: ["spec"], expected: "" },
  { title: "a generated name has five more letters", steps: [post(WIDGETS, { ...aWidget("x"), metadata: { generateName: "w-" } })], show: ["metadata.generateName", "metadata.name.length"], expected: "" },
  { title: "a change of spec counts the generation on", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, { spec: { size: 2 } })], show: ["metadata.generation", "spec.size"], expected: "" },
  { title: "a change of metadata does not count the generation on", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, { metadata: { annotations: { a: "b" } } })], show: ["metadata.generation", "metadata.annotations"], expected: "" },
  { title: "a status sent to the main endpoint is ignored", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, { spec: { size: 3 }, status: { phase: "x" } })], show: ["spec.size", "status"], expected: "" },
  { title: "only the status counts at /status", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w/status`, { metadata: { annotations: { a: "b" } }, spec: { size: 3 }, status: { phase: "x" } })], show: ["spec.size", "status", "metadata.annotations", "metadata.generation"], expected: "" },
  { title: "an unknown status field is pruned", steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w/status`, { status: { phase: "x", colour: "y" } })], show: ["status"], expected: "" },
  { title: "a merge patch with null removes a field", steps: [post(WIDGETS, aWidget("w", { code: "abc" })), patch(`${WIDGETS}/w`, { spec: { code: null } })], show: ["spec"], expected: "" },
  { title: "labels of a node can be written through its status", steps: [post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID" } }), patch(`${NODES}/ID/status`, { metadata: { labels: { a: "b" } }, spec: { unschedulable: true }, status: { phase: "Running" } })], show: ["metadata.labels", "spec.unschedulable", "status.phase"], expected: "" },
  { title: "a new node keeps its status and gets the not-ready taint", steps: [post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID" }, status: { phase: "Running" } })], show: ["spec.taints", "status.phase"], expected: "" },
  { title: "taints of a node are removed by a null", steps: [post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID" } }), patch(`${NODES}/ID`, { spec: { taints: null } })], show: ["spec.taints"], expected: "" },
  { title: "a new pod is pending whatever status was sent", steps: [post(PODS, aPod("p1", { status: { phase: "Running" } }))], show: ["status.phase", "metadata.generation"], expected: "" },
  { title: "a pod's status is patched", steps: [post(PODS, boundPod), patch(`${PODS}/p1/status`, { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } })], show: ["status.phase", "status.conditions.0.status"], expected: "" },
  { title: "a deleted pod on a node is terminating for 30 s", steps: [post(PODS, boundPod), remove(`${PODS}/p1`), get(`${PODS}/p1`)], show: ["kind", "metadata.deletionGracePeriodSeconds"], expected: "" },
  { title: "a terminating pod is gone when it is deleted with grace 0", steps: [post(PODS, boundPod), remove(`${PODS}/p1`), remove(`${PODS}/p1?gracePeriodSeconds=0`), get(`${PODS}/p1`)], expected: "" },
  { title: "a deleted pod without a node is gone", steps: [post(PODS, aPod("p1")), remove(`${PODS}/p1`), get(`${PODS}/p1`)], expected: "" },
  { title: "a deleted pod without a node is answered with itself", steps: [post(PODS, aPod("p1")), remove(`${PODS}/p1`)], show: ["kind", "metadata.name"], expected: "" },
  { title: "a deleted custom object is answered with a Status", steps: [post(WIDGETS, aWidget("w")), remove(`${WIDGETS}/w`)], show: ["kind", "status", "details.name", "details.group", "details.kind"], expected: "" },
  { title: "a deleted lease is answered with a Status", steps: [post(LEASES, aLease()), remove(`${LEASES}/lock`)], show: ["kind", "status", "details.name", "details.group", "details.kind"], expected: "" },
  { title: "a deleted node is answered with a Status", steps: [post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID" } }), remove(`${NODES}/ID`)], show: ["kind", "status", "details.name", "details.group", "details.kind"], expected: "" },
  { title: "a deleted object with a finalizer stays and is marked", steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", finalizers: ["a.test/x"] } }), remove(`${WIDGETS}/w`)], show: ["kind", "metadata.generation", "metadata.deletionGracePeriodSeconds", "metadata.finalizers"], expected: "" },
  { title: "an object is gone when its last finalizer is removed", steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", finalizers: ["a.test/x"] } }), remove(`${WIDGETS}/w`), patch(`${WIDGETS}/w`, { metadata: { finalizers: null } }), get(`${WIDGETS}/w`)], expected: "" },
  { title: "removing the last finalizer answers the object", steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", finalizers: ["a.test/x"] } }), remove(`${WIDGETS}/w`), patch(`${WIDGETS}/w`, { metadata: { finalizers: null } })], show: ["kind", "metadata.finalizers", "metadata.generation"], expected: "" },
  { title: "a dry run stores nothing", steps: [post(`${WIDGETS}?dryRun=All`, aWidget("w")), get(`${WIDGETS}/w`)], expected: "" },
  { title: "a lease is released with an empty holder", steps: [post(LEASES, aLease({ holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:05.000000Z" })), patch(`${LEASES}/lock`, { spec: { holderIdentity: "" } })], show: ["spec"], expected: "" },
  { title: "a list of custom objects names their kind in each item", steps: [post(WIDGETS, aWidget("w")), get(WIDGETS)], show: ["kind", "apiVersion", "items.0.kind", "items.0.metadata.name"], expected: "" },
  { title: "a list of pods does not name their kind in each item", steps: [post(PODS, aPod("p1")), get(PODS)], show: ["kind", "apiVersion", "items.0.kind", "items.0.metadata.name"], expected: "" },
  { title: "a list is sorted by name", steps: [post(PODS, aPod("b")), post(PODS, aPod("a")), post(PODS, aPod("c")), get(PODS)], show: ["items.0.metadata.name", "items.1.metadata.name", "items.2.metadata.name"], expected: "" },
  { title: "a page tells how many items remain", steps: [post(PODS, aPod("b")), post(PODS, aPod("a")), post(PODS, aPod("c")), get(`${PODS}?limit=2`)], show: ["items.length", "metadata.remainingItemCount"], expected: "" },
  { title: "a page of a selection does not tell how many items remain", steps: [post(PODS, aPod("b")), post(PODS, aPod("a")), get(`${PODS}?limit=1&labelSelector=!x`)], show: ["items.length", "metadata.remainingItemCount"], expected: "" },
  { title: "resourceVersion 0 ignores the limit", steps: [post(PODS, aPod("b")), post(PODS, aPod("a")), get(`${PODS}?limit=1&resourceVersion=0`)], show: ["items.length", "metadata.continue"], expected: "" },
  { title: "pods are selected by their node and phase", steps: [post(PODS, boundPod), post(PODS, aPod("p2")), get(`${PODS}?fieldSelector=spec.nodeName%3DID%2Cstatus.phase%21%3DRunning`)], show: ["items.length", "items.0.metadata.name"], expected: "" },
  { title: "custom objects are selected by a selectable field", steps: [post(WIDGETS, aWidget("w")), post(WIDGETS, aWidget("v", { colour: "blue" })), get(`${WIDGETS}?fieldSelector=spec.colour%3Dblue`)], show: ["items.length", "items.0.metadata.name"], expected: "" },
  { title: "a namespace is active and labelled with its name", steps: [get("/api/v1/namespaces/NS")], show: ["status.phase", "metadata.labels"], expected: "" },
  { title: "a review of one's own access is allowed", steps: [post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes: { verb: "list", resource: "nodes" } } })], show: ["kind", "status.allowed"], expected: "" },
  { title: "the version is 1.35", steps: [get("/version")], show: ["major", "minor"], expected: "" },
  { title: "the server is ready", steps: [get("/readyz")], expected: "" },
];
