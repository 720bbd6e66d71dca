import { type APICase, aPod, NODES, PODS, patch, post, type Step, WIDGETS } from "./api-case.ts";
import { aWidget } from "./widget-crd.ts";

const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

const aNode = (
  fields: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
): Step => post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID", ...metadata }, ...fields });
const strategic = (body: unknown, path = `${NODES}/ID`): Step => patch(path, body, STRATEGIC);
const steps = (body: unknown, path = `${NODES}/ID`): Step => patch(path, body, JSON_PATCH);

const condition = (type: string, status: string): unknown => ({ type, status });
const twoConditions = { status: { conditions: [condition("A", "True"), condition("B", "True")] } };
const twoTaints = { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } };
const finalizers = { finalizers: ["x.test/a", "x.test/b", "x.test/c"] };
const twoContainers = aPod("p1", {
  spec: {
    containers: [
      { name: "a", image: "one" },
      { name: "b", image: "two" },
    ],
  },
});
const INVALID = "422 Invalid: the server rejected our request due to an error in our request";

/** What the kinds of PATCH do. */
export const PATCHES: readonly APICase[] = [
  {
    title: "a strategic merge patch merges conditions by their type, and puts a new one first",
    steps: [
      aNode(twoConditions),
      strategic({ status: { conditions: [condition("C", "False"), condition("B", "False")] } }, `${NODES}/ID/status`),
    ],
    show: [
      "status.conditions.0.type",
      "status.conditions.1.type",
      "status.conditions.2.type",
      "status.conditions.2.status",
    ],
    expected:
      '200 status.conditions.0.type="C" status.conditions.1.type="A" status.conditions.2.type="B" status.conditions.2.status="False"',
  },
  {
    title: "a strategic merge patch replaces taints as a whole",
    steps: [
      aNode(twoTaints),
      strategic({ spec: { taints: [{ key: "b", effect: "NoSchedule" }], unschedulable: true } }),
    ],
    show: ["spec"],
    expected: '200 spec={"taints":[{"effect":"NoSchedule","key":"b"}],"unschedulable":true}',
  },
  {
    title: "a strategic merge patch with null removes a member",
    steps: [
      aNode({}, { labels: { a: "1", b: "2" } }),
      strategic({ metadata: { labels: { a: null, c: "3" } }, spec: { taints: null } }),
    ],
    show: ["metadata.labels", "spec"],
    expected: '200 metadata.labels={"b":"2","c":"3"} spec={}',
  },
  {
    title: "a strategic merge patch deletes an item of a list",
    steps: [
      aNode(twoConditions),
      strategic({ status: { conditions: [{ $patch: "delete", type: "A" }] } }, `${NODES}/ID/status`),
    ],
    show: ["status.conditions.0.type", "status.conditions.1"],
    expected: '200 status.conditions.0.type="B" status.conditions.1=undefined',
  },
  {
    title: "a strategic merge patch replaces a list that says so",
    steps: [
      aNode(twoConditions),
      strategic({ status: { conditions: [{ $patch: "replace" }, condition("C", "True")] } }, `${NODES}/ID/status`),
    ],
    show: ["status.conditions.0.type", "status.conditions.1"],
    expected: '200 status.conditions.0.type="C" status.conditions.1=undefined',
  },
  {
    title: "a strategic merge patch replaces an object that says so",
    steps: [aNode({}, { labels: { a: "1" } }), strategic({ metadata: { labels: { $patch: "replace", b: "2" } } })],
    show: ["metadata.labels"],
    expected: '200 metadata.labels={"b":"2"}',
  },
  {
    title: "a strategic merge patch keeps only the members that it retains",
    steps: [
      aNode({}, { labels: { a: "1" } }),
      strategic({ metadata: { labels: { $retainKeys: ["b"], b: "2" } } }),
      strategic({ metadata: { labels: { $retainKeys: ["c"], c: "3" } } }),
    ],
    show: ["metadata.labels"],
    expected: '200 metadata.labels={"c":"3"}',
  },
  {
    title: "a strategic merge patch removes and adds finalizers",
    steps: [
      aNode({}, finalizers),
      strategic({ metadata: { "$deleteFromPrimitiveList/finalizers": ["x.test/b"], finalizers: ["x.test/d"] } }),
    ],
    show: ["metadata.finalizers"],
    expected: '200 metadata.finalizers=["x.test/d","x.test/a","x.test/c"]',
  },
  {
    title: "a strategic merge patch orders a list as it says",
    steps: [
      aNode({}, finalizers),
      strategic({ metadata: { "$setElementOrder/finalizers": ["x.test/c", "x.test/a"] } }),
    ],
    show: ["metadata.finalizers"],
    expected: '200 metadata.finalizers=["x.test/b","x.test/c","x.test/a"]',
  },
  {
    title: "a strategic merge patch finds a container by its name",
    steps: [
      post(PODS, twoContainers),
      strategic({ spec: { containers: [{ name: "b", image: "three" }] } }, `${PODS}/p1`),
    ],
    show: ["spec.containers.0.image", "spec.containers.1.image", "spec.containers.2"],
    expected: '200 spec.containers.0.image="one" spec.containers.1.image="three" spec.containers.2=undefined',
  },
  {
    title: "a strategic merge patch finds a port of a service by its number",
    steps: [
      post("/api/v1/namespaces/NS/services", {
        metadata: { name: "s" },
        spec: {
          clusterIP: "None",
          ports: [
            { name: "a", port: 1 },
            { name: "b", port: 2 },
          ],
        },
      }),
      strategic({ spec: { ports: [{ port: 2, name: "c" }] } }, "/api/v1/namespaces/NS/services/s"),
    ],
    show: ["spec.ports.0.name", "spec.ports.1.name", "spec.ports.2"],
    expected: '200 spec.ports.0.name="a" spec.ports.1.name="c" spec.ports.2=undefined',
  },
  {
    title: "a strategic merge patch of a custom object is refused",
    steps: [post(WIDGETS, aWidget("w")), strategic({ spec: { size: 2 } }, `${WIDGETS}/w`)],
    expected:
      "415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
  },
  {
    title: "a patch of no known kind is refused",
    steps: [aNode(), patch(`${NODES}/ID`, {}, "application/json")],
    show: ["reason"],
    expected: '415 reason="UnsupportedMediaType"',
  },
  {
    title: "a JSON patch adds, replaces, removes, moves, copies and tests",
    steps: [
      aNode({}, { labels: { a: "1", b: "2", "x/y": "3" }, finalizers: ["x.test/a", "x.test/b"] }),
      steps([
        { op: "test", path: "/metadata/labels/x~1y", value: "3" },
        { op: "replace", path: "/metadata/labels/a", value: "9" },
        { op: "remove", path: "/metadata/labels/b" },
        { op: "add", path: "/metadata/labels/c", value: "4" },
        { op: "copy", from: "/metadata/labels/c", path: "/metadata/labels/d" },
        { op: "move", from: "/metadata/labels/x~1y", path: "/metadata/labels/e" },
        { op: "add", path: "/metadata/finalizers/1", value: "x.test/c" },
        { op: "add", path: "/metadata/finalizers/-", value: "x.test/d" },
        { op: "remove", path: "/metadata/finalizers/0" },
      ]),
    ],
    show: ["metadata.labels", "metadata.finalizers"],
    expected:
      '200 metadata.labels={"a":"9","c":"4","d":"4","e":"3"} metadata.finalizers=["x.test/c","x.test/b","x.test/d"]',
  },
  {
    title: "a JSON patch of a custom object is checked like any other write",
    steps: [
      post(WIDGETS, aWidget("w")),
      steps([{ op: "replace", path: "/spec/colour", value: "green" }], `${WIDGETS}/w`),
    ],
    show: ["reason", "details.causes.0.field"],
    expected: '422 reason="Invalid" details.causes.0.field="spec.colour"',
  },
  {
    title: "a JSON patch whose test fails changes nothing",
    steps: [
      aNode({}, { labels: { a: "1" } }),
      steps([
        { op: "add", path: "/metadata/labels/b", value: "2" },
        { op: "test", path: "/metadata/labels/a", value: "2" },
      ]),
    ],
    expected: INVALID,
  },
  ...[
    { op: "remove", path: "/metadata/labels/none" },
    { op: "replace", path: "/metadata/none/a", value: "1" },
    { op: "add", path: "/metadata/finalizers/7", value: "x.test/z" },
    { op: "twist", path: "/metadata/labels/a", value: "1" },
  ].map((step) => ({
    title: `a JSON patch that does not fit is refused: ${JSON.stringify(step)}`,
    steps: [aNode({}, { labels: { a: "1" }, ...finalizers }), steps([step])],
    expected: INVALID,
  })),
  {
    title: "a JSON patch that is no list is refused",
    steps: [aNode(), steps({ metadata: {} })],
    show: ["reason"],
    expected: '400 reason="BadRequest"',
  },
  {
    title: "an unknown field is refused where the client wants it so",
    steps: [post(`${WIDGETS}?fieldValidation=Strict`, aWidget("w", { sise: 1 }))],
    expected:
      '400 BadRequest: Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.sise"',
  },
  {
    title: "an unknown field of a patch is refused where the client wants it so",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w?fieldValidation=Strict`, { spec: { sise: 1 } })],
    show: ["reason", "details.causes.0.field"],
    expected: '422 reason="Invalid" details.causes.0.field="patch"',
  },
  {
    title: "an unknown field is left out where the client does not mind",
    steps: [post(`${WIDGETS}?fieldValidation=Ignore`, aWidget("w", { sise: 1 }))],
    show: ["spec.size", "spec.sise"],
    expected: "201 spec.size=1 spec.sise=undefined",
  },
  {
    title: "a check of fields that nobody knows is refused",
    steps: [post(`${WIDGETS}?fieldValidation=Hard`, aWidget("w"))],
    show: ["reason"],
    expected: '422 reason="Invalid"',
  },
];
