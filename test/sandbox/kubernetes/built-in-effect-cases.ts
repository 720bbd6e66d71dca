import {
  type APICase,
  aLease,
  anEvent,
  aPod,
  boundPod,
  EVENTS,
  get,
  LEASES,
  NODES,
  PODS,
  patch,
  post,
  remove,
  WIDGETS,
} from "./api-case.ts";
import { aWidget } from "./widget-crd.ts";

/** What built-in kinds, deletions and lists do. */
export const BUILT_IN_EFFECTS: readonly APICase[] = [
  {
    title: "labels of a node can be written through its status",
    steps: [
      post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID" } }),
      patch(`${NODES}/ID/status`, {
        metadata: { labels: { a: "b" } },
        spec: { unschedulable: true },
        status: { phase: "Running" },
      }),
    ],
    show: ["metadata.labels", "spec.unschedulable", "status.phase"],
    expected: '200 metadata.labels={"a":"b"} spec.unschedulable=undefined status.phase="Running"',
  },
  {
    title: "a new node keeps its status and gets the not-ready taint",
    steps: [post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID" }, status: { phase: "Running" } })],
    show: ["spec.taints", "status.phase"],
    expected: '201 spec.taints=[{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}] status.phase="Running"',
  },
  {
    title: "taints of a node are removed by a null",
    steps: [
      post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID" } }),
      patch(`${NODES}/ID`, { spec: { taints: null } }),
    ],
    show: ["spec.taints"],
    expected: "200 spec.taints=undefined",
  },
  {
    title: "a new pod is pending whatever status was sent",
    steps: [post(PODS, aPod("p1", { status: { phase: "Running" } }))],
    show: ["status.phase", "metadata.generation"],
    expected: '201 status.phase="Pending" metadata.generation=1',
  },
  {
    title: "a pod's status is patched",
    steps: [
      post(PODS, boundPod),
      patch(`${PODS}/p1/status`, { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } }),
    ],
    show: ["status.phase", "status.conditions.0.status"],
    expected: '200 status.phase="Running" status.conditions.0.status="True"',
  },
  {
    title: "a deleted pod on a node is terminating for 30 s",
    steps: [post(PODS, boundPod), remove(`${PODS}/p1`), get(`${PODS}/p1`)],
    show: ["kind", "metadata.deletionGracePeriodSeconds"],
    expected: '200 kind="Pod" metadata.deletionGracePeriodSeconds=30',
  },
  {
    title: "a terminating pod is gone when it is deleted with grace 0",
    steps: [post(PODS, boundPod), remove(`${PODS}/p1`), remove(`${PODS}/p1?gracePeriodSeconds=0`), get(`${PODS}/p1`)],
    expected: '404 NotFound: pods "p1" not found',
  },
  {
    title: "a deleted pod without a node is gone",
    steps: [post(PODS, aPod("p1")), remove(`${PODS}/p1`), get(`${PODS}/p1`)],
    expected: '404 NotFound: pods "p1" not found',
  },
  {
    title: "a deleted pod without a node is answered with itself",
    steps: [post(PODS, aPod("p1")), remove(`${PODS}/p1`)],
    show: ["kind", "metadata.name"],
    expected: '200 kind="Pod" metadata.name="p1"',
  },
  {
    title: "a deleted custom object is answered with a Status",
    steps: [post(WIDGETS, aWidget("w")), remove(`${WIDGETS}/w`)],
    show: ["kind", "status", "details.name", "details.group", "details.kind"],
    expected: '200 kind="Status" status="Success" details.name="w" details.group="sandbox.test" details.kind="widgets"',
  },
  {
    title: "a deleted lease is answered with a Status",
    steps: [post(LEASES, aLease()), remove(`${LEASES}/lock`)],
    show: ["kind", "status", "details.name", "details.group", "details.kind"],
    expected:
      '200 kind="Status" status="Success" details.name="lock" details.group="coordination.k8s.io" details.kind="leases"',
  },
  {
    title: "a deleted node is answered with a Status",
    steps: [post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID" } }), remove(`${NODES}/ID`)],
    show: ["kind", "status", "details.name", "details.group", "details.kind"],
    expected: '200 kind="Status" status="Success" details.name="ID" details.group=undefined details.kind="nodes"',
  },
  {
    title: "a deleted object with a finalizer stays and is marked",
    steps: [
      post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", finalizers: ["a.test/x"] } }),
      remove(`${WIDGETS}/w`),
    ],
    show: ["kind", "metadata.generation", "metadata.deletionGracePeriodSeconds", "metadata.finalizers"],
    expected:
      '200 kind="Widget" metadata.generation=2 metadata.deletionGracePeriodSeconds=0 metadata.finalizers=["a.test/x"]',
  },
  {
    title: "an object is gone when its last finalizer is removed",
    steps: [
      post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", finalizers: ["a.test/x"] } }),
      remove(`${WIDGETS}/w`),
      patch(`${WIDGETS}/w`, { metadata: { finalizers: null } }),
      get(`${WIDGETS}/w`),
    ],
    expected: '404 NotFound: widgets.sandbox.test "w" not found',
  },
  {
    title: "removing the last finalizer answers the object",
    steps: [
      post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", finalizers: ["a.test/x"] } }),
      remove(`${WIDGETS}/w`),
      patch(`${WIDGETS}/w`, { metadata: { finalizers: null } }),
    ],
    show: ["kind", "metadata.finalizers", "metadata.generation"],
    expected: '200 kind="Widget" metadata.finalizers=undefined metadata.generation=2',
  },
  {
    title: "a lease is released with an empty holder",
    steps: [
      post(LEASES, aLease({ holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:05.000000Z" })),
      patch(`${LEASES}/lock`, { spec: { holderIdentity: "" } }),
    ],
    show: ["spec"],
    expected: '200 spec={"holderIdentity":"","leaseDurationSeconds":15,"renewTime":"2026-01-02T03:04:05.000000Z"}',
  },
  {
    title: "a list of custom objects names their kind in each item",
    steps: [post(WIDGETS, aWidget("w")), get(WIDGETS)],
    show: ["kind", "apiVersion", "items.0.kind", "items.0.metadata.name"],
    expected: '200 kind="WidgetList" apiVersion="sandbox.test/v1" items.0.kind="Widget" items.0.metadata.name="w"',
  },
  {
    title: "a list of pods does not name their kind in each item",
    steps: [post(PODS, aPod("p1")), get(PODS)],
    show: ["kind", "apiVersion", "items.0.kind", "items.0.metadata.name"],
    expected: '200 kind="PodList" apiVersion="v1" items.0.kind=undefined items.0.metadata.name="p1"',
  },
  {
    title: "a list is sorted by name",
    steps: [post(PODS, aPod("b")), post(PODS, aPod("a")), post(PODS, aPod("c")), get(PODS)],
    show: ["items.0.metadata.name", "items.1.metadata.name", "items.2.metadata.name"],
    expected: '200 items.0.metadata.name="a" items.1.metadata.name="b" items.2.metadata.name="c"',
  },
  {
    title: "a page tells how many items remain",
    steps: [post(PODS, aPod("b")), post(PODS, aPod("a")), post(PODS, aPod("c")), get(`${PODS}?limit=2`)],
    show: ["items.length", "metadata.remainingItemCount"],
    expected: "200 items.length=2 metadata.remainingItemCount=1",
  },
  {
    title: "a page of a selection does not tell how many items remain",
    steps: [post(PODS, aPod("b")), post(PODS, aPod("a")), get(`${PODS}?limit=1&labelSelector=!x`)],
    show: ["items.length", "metadata.remainingItemCount"],
    expected: "200 items.length=1 metadata.remainingItemCount=undefined",
  },
  {
    title: "resourceVersion 0 ignores the limit",
    // The list between waits until the server's cache has both pods: version 0 takes the cache as it is.
    steps: [post(PODS, aPod("b")), post(PODS, aPod("a")), get(PODS), get(`${PODS}?limit=1&resourceVersion=0`)],
    show: ["items.length", "metadata.continue"],
    expected: "200 items.length=2 metadata.continue=undefined",
  },
  {
    title: "pods are selected by their node and phase",
    steps: [
      post(PODS, boundPod),
      post(PODS, aPod("p2")),
      get(`${PODS}?fieldSelector=spec.nodeName%3DID%2Cstatus.phase%21%3DRunning`),
    ],
    show: ["items.length", "items.0.metadata.name"],
    expected: '200 items.length=1 items.0.metadata.name="p1"',
  },
  ...(
    [
      ["the version of what they are about", "regarding.apiVersion%3Da.test%2Fv1"],
      ["the kind of what they are about", "regarding.kind%3DWidget"],
      ["the name of what they are about", "regarding.name%3Dw"],
    ] as const
  ).map(([what, selector]) => ({
    title: `Events are selected by ${what}`,
    steps: [
      post(EVENTS, anEvent()),
      post(
        EVENTS,
        anEvent({
          metadata: { name: "e2" },
          regarding: { apiVersion: "a.test/v1", kind: "Widget", namespace: "NS", name: "w" },
        }),
      ),
      get(`${EVENTS}?fieldSelector=${selector}`),
    ],
    show: ["items.length", "items.0.metadata.name", "items.0.regarding.name"],
    expected: '200 items.length=1 items.0.metadata.name="e2" items.0.regarding.name="w"',
  })),
  {
    title: "a namespace is active and labelled with its name",
    steps: [get("/api/v1/namespaces/NS")],
    show: ["status.phase", "metadata.labels"],
    expected: '200 status.phase="Active" metadata.labels={"kubernetes.io/metadata.name":"NS"}',
  },
  {
    title: "null where it is not allowed counts as absent",
    steps: [post(WIDGETS, aWidget("w", { code: null }))],
    show: ["spec"],
    expected: '201 spec={"colour":"red","size":1}',
  },
  {
    title: "a dry deletion deletes nothing",
    steps: [post(PODS, aPod("p1")), remove(`${PODS}/p1?dryRun=All`), get(`${PODS}/p1`)],
    show: ["metadata.name", "metadata.deletionTimestamp"],
    expected: '200 metadata.name="p1" metadata.deletionTimestamp=undefined',
  },
  {
    title: "a deletion whose body says that it is dry deletes nothing",
    steps: [post(PODS, boundPod), remove(`${PODS}/p1`, { dryRun: ["All"] }), get(`${PODS}/p1`)],
    show: ["metadata.name", "metadata.deletionTimestamp"],
    expected: '200 metadata.name="p1" metadata.deletionTimestamp=undefined',
  },
  {
    title: "a dry deletion of what is not there is not found",
    steps: [remove(`${PODS}/p1?dryRun=All`)],
    expected: '404 NotFound: pods "p1" not found',
  },
  {
    title: "an eviction deletes a pod",
    steps: [
      post(PODS, aPod("p1")),
      post(`${PODS}/p1/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p1" } }),
      get(`${PODS}/p1`),
    ],
    expected: '404 NotFound: pods "p1" not found',
  },
  {
    title: "an eviction that is dry evicts nothing, and is answered as one that is not",
    steps: [
      post(PODS, aPod("p1")),
      post(`${PODS}/p1/eviction?dryRun=All`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p1" } }),
    ],
    show: ["kind", "status", "code"],
    expected: '201 kind="Status" status="Success" code=201',
  },
  {
    title: "an eviction of what is not there is not found",
    steps: [post(`${PODS}/p1/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p1" } })],
    expected: '404 NotFound: pods "p1" not found',
  },
  {
    title: "a name may be left to the server",
    steps: [post(PODS, { ...(aPod("x") as object), metadata: { generateName: "web-" } })],
    show: ["metadata.generateName", "status.phase"],
    expected: '201 metadata.generateName="web-" status.phase="Pending"',
  },
  {
    title: "a review says what one may do",
    steps: [
      post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { verb: "delete", resource: "nodes" } },
      }),
    ],
    show: ["kind", "spec", "status.allowed"],
    expected:
      '201 kind="SelfSubjectAccessReview" spec={"resourceAttributes":{"resource":"nodes","verb":"delete"}} status.allowed=true',
  },
];
