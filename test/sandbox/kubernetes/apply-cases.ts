import { type APICase, aPod, NODES, PODS, patch, post, type Step, WIDGETS } from "./api-case.ts";
import { aWidget } from "./widget-crd.ts";

const APPLY = "application/apply-patch+yaml";

/** A server-side apply of a widget by a manager. */
function applies(manager: string, spec: object, query = "", metadata: object = {}): Step {
  const widget = { apiVersion: "sandbox.test/v1", kind: "Widget", metadata: { name: "w", ...metadata }, spec };
  return patch(`${WIDGETS}/w?fieldManager=${manager}${query}`, widget, APPLY);
}

/** An apply of something else. */
function appliesTo(path: string, body: unknown, manager = "a"): Step {
  return patch(`${path}?fieldManager=${manager}`, body, APPLY);
}

const ENTRY = { manager: "a", operation: "Apply", apiVersion: "sandbox.test/v1", fieldsType: "FieldsV1" };

/** What kubectl stores when it applies a widget on its own side. */
function clientApply(spec: object): Step {
  const widget = { apiVersion: "sandbox.test/v1", kind: "Widget", metadata: { name: "w" }, spec };
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(widget) };
  return post(`${WIDGETS}?fieldManager=kubectl-client-side-apply`, { ...widget, metadata: { name: "w", annotations } });
}

const merges = (body: unknown, manager = "m"): Step => patch(`${WIDGETS}/w?fieldManager=${manager}`, body);
const service = (ports: unknown, more: object = {}): unknown => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "s" },
  spec: { clusterIP: "None", ports, ...more },
});
const SERVICE = "/api/v1/namespaces/NS/services/s";
const OWNERS = ["metadata.managedFields.0.fieldsV1", "metadata.managedFields.1.fieldsV1"];
const FACTS = ["manager", "operation", "apiVersion", "subresource", "fieldsType"];

/** What a server-side apply does, and who owns which field then. */
export const APPLIES: readonly APICase[] = [
  {
    title: "an apply creates what is not there",
    steps: [applies("a", { size: 1, tags: ["x"] })],
    show: ["spec", "metadata.generation", ...FACTS.map((fact) => `metadata.managedFields.0.${fact}`), ...OWNERS],
    expected:
      '201 spec={"colour":"red","size":1,"tags":["x"]} metadata.generation=1 metadata.managedFields.0.manager="a" metadata.managedFields.0.operation="Apply" metadata.managedFields.0.apiVersion="sandbox.test/v1" metadata.managedFields.0.subresource=undefined metadata.managedFields.0.fieldsType="FieldsV1" metadata.managedFields.0.fieldsV1={"f:spec":{"f:size":{},"f:tags":{"v:\\"x\\"":{}}}} metadata.managedFields.1.fieldsV1=undefined',
  },
  {
    title: "an apply owns what it names, not its defaults",
    steps: [applies("a", { size: 1, parts: [{ name: "p" }], limits: { cpu: "1" }, extra: {} })],
    show: OWNERS,
    expected:
      '201 metadata.managedFields.0.fieldsV1={"f:spec":{"f:extra":{},"f:limits":{"f:cpu":{}},"f:parts":{"k:{\\"name\\":\\"p\\"}":{".":{},"f:name":{}}},"f:size":{}}} metadata.managedFields.1.fieldsV1=undefined',
  },
  {
    title: "a creation is owned by its client, defaults included",
    steps: [
      post(`${WIDGETS}?fieldManager=m`, aWidget("w", { parts: [{ name: "p" }], tags: ["x"], limits: { cpu: "1" } })),
    ],
    show: OWNERS,
    expected:
      '201 metadata.managedFields.0.fieldsV1={"f:spec":{".":{},"f:colour":{},"f:limits":{".":{},"f:cpu":{}},"f:parts":{".":{},"k:{\\"name\\":\\"p\\"}":{".":{},"f:count":{},"f:name":{}}},"f:size":{},"f:tags":{".":{},"v:\\"x\\"":{}}}} metadata.managedFields.1.fieldsV1=undefined',
  },
  {
    title: "an apply with another value of a field that another manager applied is a conflict",
    steps: [applies("a", { size: 1, code: "aaa" }), applies("b", { size: 2, code: "aaa" })],
    expected: '409 Conflict: Apply failed with 1 conflict: conflict with "a": .spec.size',
  },
  {
    title: "a conflict names its field",
    steps: [applies("a", { size: 1 }), applies("b", { size: 2 })],
    show: ["status", "code", "details"],
    expected:
      '409 status="Failure" code=409 details={"causes":[{"field":".spec.size","message":"conflict with \\"a\\"","reason":"FieldManagerConflict"}]}',
  },
  {
    title: "all conflicts are named, manager by manager",
    steps: [
      applies("a", { size: 1, tags: ["x"], parts: [{ name: "p", count: 2 }] }),
      merges({ spec: { code: "abc" } }, "m"),
      applies("b", { size: 2, code: "xyz", parts: [{ name: "p", count: 3 }] }),
    ],
    expected:
      '409 Conflict: Apply failed with 3 conflicts: conflicts with "a":\n- .spec.size\n- .spec.parts[name="p"].count\nconflicts with "m" using sandbox.test/v1:\n- .spec.code',
  },
  {
    title: "the same value is owned by both, and stays until neither asks for it",
    steps: [
      applies("a", { size: 1, code: "abc" }),
      applies("b", { size: 1, code: "abc" }),
      applies("a", { size: 1 }),
      applies("b", { size: 1, isOn: true }),
    ],
    show: ["spec", ...OWNERS],
    expected:
      '200 spec={"colour":"red","isOn":true,"size":1} metadata.managedFields.0.fieldsV1={"f:spec":{"f:size":{}}} metadata.managedFields.1.fieldsV1={"f:spec":{"f:isOn":{},"f:size":{}}}',
  },
  {
    title: "a forced apply takes a field from its owner",
    steps: [applies("a", { size: 1, isOn: true }), applies("b", { size: 2 }, "&force=true")],
    show: ["spec", ...OWNERS],
    expected:
      '200 spec={"colour":"red","isOn":true,"size":2} metadata.managedFields.0.fieldsV1={"f:spec":{"f:isOn":{}}} metadata.managedFields.1.fieldsV1={"f:spec":{"f:size":{}}}',
  },
  {
    title: "what an apply no longer names goes",
    steps: [
      applies("a", {
        size: 1,
        code: "abc",
        tags: ["x", "y"],
        parts: [{ name: "p" }, { name: "q" }],
        limits: { cpu: "1" },
      }),
      applies("a", { size: 1, tags: ["y"], parts: [{ name: "q" }] }),
    ],
    show: ["spec"],
    expected: '200 spec={"colour":"red","parts":[{"count":1,"name":"q"}],"size":1,"tags":["y"]}',
  },
  {
    title: "what another manager owns stays though an apply no longer names it",
    steps: [
      applies("a", { size: 1, parts: [{ name: "p", count: 2 }], limits: { cpu: "1" } }),
      merges({ spec: { limits: { memory: "2" } } }),
      applies("b", { parts: [{ name: "p", count: 2 }, { name: "r" }], size: 1 }),
      applies("a", { size: 1 }),
    ],
    show: ["spec"],
    expected:
      '200 spec={"colour":"red","limits":{"memory":"2"},"parts":[{"count":2,"name":"p"},{"count":1,"name":"r"}],"size":1}',
  },
  {
    title: "an update takes a field from who applied it, and the next apply is a conflict",
    steps: [applies("a", { size: 1 }), merges({ spec: { size: 2 } }, "hand"), applies("a", { size: 3 })],
    show: ["message"],
    expected: '409 message="Apply failed with 1 conflict: conflict with \\"hand\\" using sandbox.test/v1: .spec.size"',
  },
  {
    title: "labels and annotations have owners one by one",
    steps: [
      applies("a", { size: 1 }, "", { labels: { x: "1" }, finalizers: ["x.test/a"] }),
      merges({ metadata: { labels: { y: "2" } } }, "hand"),
      applies("a", { size: 1 }, "", { annotations: { z: "3" } }),
    ],
    show: ["metadata.labels", "metadata.annotations", "metadata.finalizers", ...OWNERS],
    expected:
      '200 metadata.labels={"y":"2"} metadata.annotations={"z":"3"} metadata.finalizers=undefined metadata.managedFields.0.fieldsV1={"f:metadata":{"f:annotations":{"f:z":{}}},"f:spec":{"f:size":{}}} metadata.managedFields.1.fieldsV1={"f:metadata":{"f:labels":{"f:y":{}}}}',
  },
  {
    title: "an apply that changes nothing writes nothing",
    steps: [applies("a", { size: 1 }), applies("a", { size: 1 })],
    show: ["metadata.generation", "metadata.managedFields.1"],
    expected: "200 metadata.generation=1 metadata.managedFields.1=undefined",
  },
  {
    title: "a list is kept in the order of the apply, with what is there before it in between",
    steps: [
      applies("a", { size: 1, parts: [{ name: "p" }, { name: "q" }, { name: "r" }] }),
      applies("b", { size: 1, parts: [{ name: "r" }, { name: "s" }, { name: "p" }] }),
    ],
    show: ["spec.parts.0.name", "spec.parts.1.name", "spec.parts.2.name", "spec.parts.3.name", "spec.parts.4"],
    expected:
      '200 spec.parts.0.name="q" spec.parts.1.name="r" spec.parts.2.name="s" spec.parts.3.name="p" spec.parts.4=undefined',
  },
  {
    title: "an apply to the main endpoint leaves the status alone",
    steps: [
      patch(`${WIDGETS}/w?fieldManager=a`, { ...aWidget("w"), status: { phase: "x" } }, APPLY),
      patch(`${WIDGETS}/w/status?fieldManager=s`, { ...aWidget("w", { size: 5 }), status: { phase: "y" } }, APPLY),
    ],
    show: ["spec", "status", "metadata.managedFields.1.subresource", ...OWNERS],
    expected:
      '200 spec={"colour":"red","size":1} status={"phase":"y"} metadata.managedFields.1.subresource="status" metadata.managedFields.0.fieldsV1={"f:spec":{"f:size":{}}} metadata.managedFields.1.fieldsV1={"f:status":{"f:phase":{}}}',
  },
  {
    title: "an apply of the status of what is not there is not found",
    steps: [patch(`${WIDGETS}/w/status?fieldManager=s`, { ...aWidget("w"), status: { phase: "y" } }, APPLY)],
    expected: '404 NotFound: widgets.sandbox.test "w" not found',
  },
  {
    title: "an apply without a manager is refused",
    steps: [patch(`${WIDGETS}/w`, aWidget("w"), APPLY)],
    expected:
      '422 Invalid: PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  },
  {
    title: "force is for an apply alone",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w?force=true`, {})],
    expected:
      '422 Invalid: PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  },
  {
    title: "an apply of managedFields is refused",
    steps: [applies("a", { size: 1 }, "", { managedFields: [] })],
    expected: "400 BadRequest: metadata.managedFields must be nil",
  },
  {
    title: "an apply under another name is refused",
    steps: [applies("a", { size: 1 }, "", { name: "x" })],
    show: ["reason"],
    expected: '400 reason="BadRequest"',
  },
  {
    title: "an apply is checked like any other write",
    steps: [applies("a", { size: 100 })],
    show: ["reason", "details.causes.0.field"],
    expected: '422 reason="Invalid" details.causes.0.field="spec.size"',
  },
  {
    title: "an apply with an unknown field fails, however fields are checked",
    steps: [applies("a", { size: 1, sise: 2 }, "&fieldValidation=Ignore")],
    show: ["reason", "message"],
    expected:
      '500 reason=undefined message="failed to create typed patch object (/w; sandbox.test/v1, Kind=Widget): .spec.sise: field not declared in schema"',
  },
  {
    title: "an apply of an old version is a conflict",
    steps: [applies("a", { size: 1 }), applies("a", { size: 2 }, "", { resourceVersion: "1" })],
    show: ["reason"],
    expected: '409 reason="Conflict"',
  },
  {
    title: "managedFields that a client resets are none, and the next apply meets the time before",
    steps: [
      post(WIDGETS, aWidget("w", { code: "abc" })),
      patch(`${WIDGETS}/w`, { metadata: { managedFields: [{}] } }),
      applies("a", { size: 2 }),
    ],
    expected:
      '409 Conflict: Apply failed with 1 conflict: conflict with "before-first-apply" using sandbox.test/v1: .spec.size',
  },
  {
    title: "ports of a service are told apart by port and protocol",
    steps: [
      appliesTo(SERVICE, service([{ name: "a", port: 53 }])),
      appliesTo(SERVICE, service([{ name: "b", port: 53, protocol: "UDP" }]), "b"),
    ],
    show: ["spec.ports.0.name", "spec.ports.1.name", ...OWNERS],
    expected:
      '200 spec.ports.0.name="a" spec.ports.1.name="b" metadata.managedFields.0.fieldsV1={"f:spec":{"f:clusterIP":{},"f:ports":{"k:{\\"port\\":53,\\"protocol\\":\\"TCP\\"}":{".":{},"f:name":{},"f:port":{}}}}} metadata.managedFields.1.fieldsV1={"f:spec":{"f:clusterIP":{},"f:ports":{"k:{\\"port\\":53,\\"protocol\\":\\"UDP\\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{}}}}}',
  },
  {
    title: "the selector of a service is one value",
    steps: [
      appliesTo(SERVICE, service([{ port: 1 }], { selector: { a: "1" } })),
      appliesTo(SERVICE, service([{ port: 1 }], { selector: { b: "1" } }), "b"),
    ],
    expected: '409 Conflict: Apply failed with 1 conflict: conflict with "a": .spec.selector',
  },
  {
    title: "containers are told apart by their name",
    steps: [
      appliesTo(`${PODS}/p1`, aPod("p1")),
      appliesTo(
        `${PODS}/p1`,
        aPod("p1", { spec: { containers: [{ name: "main", image: "example.test/other" }] } }),
        "b",
      ),
    ],
    expected: '409 Conflict: Apply failed with 1 conflict: conflict with "a": .spec.containers[name="main"].image',
  },
  {
    title: "taints of a node are one value",
    steps: [
      post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID", labels: { a: "b" } } }),
      patch(`${NODES}/ID?fieldManager=t`, { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }),
      appliesTo(`${NODES}/ID`, {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: "ID" },
        spec: { taints: [{ key: "b", effect: "NoSchedule" }] },
      }),
    ],
    expected: '409 Conflict: Apply failed with 1 conflict: conflict with "t" using v1: .spec.taints',
  },
  {
    title: "what kubectl applied on its own side is no conflict when it comes to the server's, and is noted anew",
    steps: [clientApply({ size: 1, code: "abc" }), applies("kubectl", { size: 2 })],
    show: ["spec", "metadata.annotations", ...OWNERS],
    expected:
      '200 spec={"code":"abc","colour":"red","size":2} metadata.annotations={"kubectl.kubernetes.io/last-applied-configuration":"{\\"apiVersion\\":\\"sandbox.test/v1\\",\\"kind\\":\\"Widget\\",\\"metadata\\":{\\"name\\":\\"w\\"},\\"spec\\":{\\"size\\":2}}\\n"} metadata.managedFields.0.fieldsV1={"f:spec":{"f:size":{}}} metadata.managedFields.1.fieldsV1={"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:spec":{".":{},"f:code":{},"f:colour":{}}}',
  },
  {
    title: "what somebody changed after kubectl applied it on its own side is a conflict",
    steps: [
      clientApply({ size: 1, code: "abc" }),
      merges({ spec: { code: "xyz" } }),
      applies("kubectl", { size: 2, code: "def" }),
    ],
    expected: '409 Conflict: Apply failed with 1 conflict: conflict with "m" using sandbox.test/v1: .spec.code',
  },
  {
    title: "what kubectl applied on its own side is a conflict for another manager",
    steps: [clientApply({ size: 1 }), applies("b", { size: 2 })],
    expected:
      '409 Conflict: Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using sandbox.test/v1: .spec.size',
  },
  {
    title: "a manager that gives up all metadata leaves what is nobody's",
    steps: [
      applies("a", { size: 1 }, "", { labels: { x: "1" } }),
      merges(
        {
          metadata: {
            managedFields: [
              {
                ...ENTRY,
                fieldsV1: { "f:metadata": { "f:labels": { ".": {}, "f:x": {} } }, "f:spec": { ".": {}, "f:size": {} } },
              },
            ],
          },
        },
        "a",
      ),
      applies("a", { size: 1 }),
    ],
    show: ["metadata.name", "metadata.labels", "spec", ...OWNERS],
    expected:
      '200 metadata.name="w" metadata.labels=undefined spec={"colour":"red","size":1} metadata.managedFields.0.fieldsV1={"f:spec":{"f:size":{}}} metadata.managedFields.1.fieldsV1=undefined',
  },
];
