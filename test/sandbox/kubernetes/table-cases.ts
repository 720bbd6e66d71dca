import {
  type APICase,
  aLease,
  anEvent,
  aPod,
  EVENTS,
  get,
  LEASES,
  NODES,
  PODS,
  patch,
  post,
  type Step,
  WIDGETS,
} from "./api-case.ts";
import { aWidget } from "./widget-crd.ts";

/** What kubectl says that it accepts. */
export const AS_TABLE: string =
  "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

const table = (path: string): Step => ({ ...get(path), accept: AS_TABLE });
/** Cells of the first row; the age is left out, since it passes. */
const cells = (...places: readonly number[]): string[] => places.map((place) => `rows.0.cells.${place}`);
const shown = (places: readonly number[], values: readonly unknown[]): string =>
  `200 ${places.map((place, at) => `rows.0.cells.${place}=${JSON.stringify(values[at])}`).join(" ")}`;

/** A case about the cells of one object. */
function row(title: string, steps: readonly Step[], places: readonly number[], values: readonly unknown[]): APICase {
  return { title, steps, show: cells(...places), expected: shown(places, values) };
}

const POOLS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/NS/floatingippools";
const aPool = {
  apiVersion: "flipop.digitalocean.com/v1alpha1",
  kind: "FloatingIPPool",

  metadata: { name: "web" },
  spec: { provider: "digitalocean", region: "nyc3", ips: ["203.0.113.1"], match: {} },
};
const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i:1" }] } };
const slices = "/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices";

/** What `kubectl get` is shown. */
export const TABLES: readonly APICase[] = [
  row(
    "a node's row tells of its state, roles and addresses",
    [
      post(NODES, {
        metadata: { name: "ID", labels: { "node-role.kubernetes.io/edge": "" } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: "Ready", status: "True" }],
          addresses: [{ type: "ExternalIP", address: "192.0.2.1" }],
          nodeInfo: { kubeletVersion: "v1.35.0" },
        },
      }),
      table(`${NODES}/ID`),
    ],
    [0, 1, 2, 4, 5, 6, 7],
    ["ID", "Ready,SchedulingDisabled", "edge", "v1.35.0", "<none>", "192.0.2.1", "<unknown>"],
  ),
  row(
    "a node's row tells that it is not ready",
    [
      post(NODES, { metadata: { name: "ID" }, status: { conditions: [{ type: "Ready", status: "Unknown" }] } }),
      table(`${NODES}/ID`),
    ],
    [1, 2],
    ["NotReady", "<none>"],
  ),
  row(
    "a node of which nothing is known",
    [post(NODES, { metadata: { name: "ID" } }), table(`${NODES}/ID`)],
    [1],
    ["Unknown"],
  ),
  row(
    "a pod that waits",
    [post(PODS, aPod("p1")), table(PODS)],
    [0, 1, 2, 3, 5, 6, 7, 8],
    ["p1", "0/1", "Pending", "0", "<none>", "<none>", "<none>", "<none>"],
  ),
  row(
    "a pod that runs",
    [
      post(PODS, aPod("p1", { spec: { nodeName: "ID", containers: [{ name: "main", image: "i" }] } })),
      patch(`${PODS}/p1/status`, {
        status: {
          phase: "Running",
          podIP: "10.0.0.9",
          podIPs: [{ ip: "10.0.0.9" }],
          containerStatuses: [
            { name: "main", ready: true, restartCount: 0, image: "i", imageID: "", state: { running: {} } },
          ],
        },
      }),
      table(`${PODS}/p1`),
    ],
    [1, 2, 3, 5, 6],
    ["1/1", "Running", "0", "10.0.0.9", "ID"],
  ),
  row(
    "a service",
    [
      post("/api/v1/namespaces/NS/services", {
        metadata: { name: "s" },
        spec: {
          clusterIP: "None",
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 53, protocol: "UDP" },
          ],
          selector: { b: "2", a: "1" },
        },
      }),
      table("/api/v1/namespaces/NS/services/s"),
    ],
    [0, 1, 2, 3, 4, 6],
    ["s", "ClusterIP", "None", "<none>", "80/TCP,53/UDP", "a=1,b=2"],
  ),
  row(
    "a deployment",
    [
      post("/apis/apps/v1/namespaces/NS/deployments", {
        metadata: { name: "d" },
        spec: { replicas: 2, selector: { matchLabels: { app: "a" } }, template },
      }),
      table("/apis/apps/v1/namespaces/NS/deployments"),
    ],
    [0, 1, 2, 3, 5, 6, 7],
    ["d", "0/2", 0, 0, "c", "i:1", "app=a"],
  ),
  row(
    "a CronJob",
    [
      post("/apis/batch/v1/namespaces/NS/cronjobs", {
        metadata: { name: "j" },
        spec: {
          schedule: "* * * * *",
          suspend: false,
          jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } },
        },
      }),
      table("/apis/batch/v1/namespaces/NS/cronjobs"),
    ],
    [0, 1, 2, 3, 4, 5, 7, 8, 9],
    ["j", "* * * * *", "<none>", "False", 0, "<none>", "c", "i:1", "<none>"],
  ),
  row("a Lease", [post(LEASES, aLease({ holderIdentity: "me" })), table(LEASES)], [0, 1], ["lock", "me"]),
  row("a Lease that nobody holds", [post(LEASES, aLease()), table(LEASES)], [1], [""]),
  row(
    "an EndpointSlice",
    [
      post(slices, {
        metadata: { name: "e" },
        addressType: "IPv4",
        ports: [{ port: 80 }],
        endpoints: ["1", "2", "3", "4"].map((last) => ({ addresses: [`10.0.0.${last}`] })),
      }),
      table(slices),
    ],
    [0, 1, 2, 3],
    ["e", "IPv4", "80", "10.0.0.1,10.0.0.2,10.0.0.3 + 1 more..."],
  ),
  row(
    "an Event",
    [post(EVENTS, anEvent()), table(EVENTS)],
    [1, 2, 3, 4, 5, 6, 8, 9],
    ["Normal", "Assigned", "pod/p", "", "flipop.digitalocean.com/flipop, test", "hello", 1, "e1"],
  ),
  row(
    "an Event in the core group",
    [
      post(EVENTS, anEvent()),
      table("/api/v1/namespaces/NS/events?fieldSelector=involvedObject.name=p,involvedObject.kind=Pod"),
    ],
    [1, 2, 3, 5, 6, 9],
    ["Normal", "Assigned", "pod/p", "flipop.digitalocean.com/flipop, test", "hello", "e1"],
  ),
  {
    title: "an Event is shown by the core group in its own words",
    steps: [post(EVENTS, anEvent()), get("/api/v1/namespaces/NS/events/e1")],
    show: [
      "apiVersion",
      "involvedObject.name",
      "message",
      "reportingComponent",
      "reportingInstance",
      "firstTimestamp",
      "source",
    ],
    expected:
      '200 apiVersion="v1" involvedObject.name="p" message="hello" reportingComponent="flipop.digitalocean.com/flipop" reportingInstance="test" firstTimestamp=null source={}',
  },
  {
    title: "the core group shows no Event of another object",
    steps: [post(EVENTS, anEvent()), get("/api/v1/namespaces/NS/events?fieldSelector=involvedObject.name=q")],
    show: ["kind", "items"],
    expected: '200 kind="EventList" items=[]',
  },
  row(
    "a pool has the columns of its definition",
    [
      post(POOLS, aPool),
      patch(`${POOLS}/web/status`, {
        status: {
          conditions: [
            { type: "Stalled", status: "False", reason: "A", message: "", lastTransitionTime: "2026-01-02T03:04:05Z" },
            { type: "Ready", status: "True", reason: "B", message: "", lastTransitionTime: "2026-01-02T03:04:05Z" },
          ],
          summary: { addresses: "1/1" },
        },
      }),
      table(`${POOLS}/web`),
    ],
    [0, 1, 2, 3, 6, 7],
    ["web", "True", "1/1", null, "B", "digitalocean"],
  ),
  {
    title: "what a row holds of its object is metadata, unless it is asked for more or less",
    steps: [post(WIDGETS, aWidget("w")), table(WIDGETS)],
    show: ["kind", "apiVersion", "rows.0.object.kind", "rows.0.object.metadata.name", "rows.0.object.spec"],
    expected:
      '200 kind="Table" apiVersion="meta.k8s.io/v1" rows.0.object.kind="PartialObjectMetadata" rows.0.object.metadata.name="w" rows.0.object.spec=undefined',
  },
  {
    title: "a row holds the whole object where that is asked for",
    steps: [post(WIDGETS, aWidget("w")), table(`${WIDGETS}?includeObject=Object`)],
    show: ["rows.0.object.kind", "rows.0.object.spec.size"],
    expected: '200 rows.0.object.kind="Widget" rows.0.object.spec.size=1',
  },
  {
    title: "a row holds no object where none is asked for",
    steps: [post(WIDGETS, aWidget("w")), table(`${WIDGETS}?includeObject=None`)],
    show: ["rows.0.cells.0", "rows.0.object"],
    expected: '200 rows.0.cells.0="w" rows.0.object=null',
  },
  {
    title: "a page of a Table leads to the next",
    steps: [post(WIDGETS, aWidget("a")), post(WIDGETS, aWidget("b")), table(`${WIDGETS}?limit=1`)],
    show: ["rows.0.cells.0", "rows.1", "metadata.remainingItemCount"],
    expected: '200 rows.0.cells.0="a" rows.1=undefined metadata.remainingItemCount=1',
  },
  {
    title: "what is not there is no Table",
    steps: [table(`${WIDGETS}/none`)],
    expected: '404 NotFound: widgets.sandbox.test "none" not found',
  },
];
