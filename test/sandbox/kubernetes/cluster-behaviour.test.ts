import { expect, test } from "vitest";
import { kubernetesSandbox } from "../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { SandboxClient } from "./sandbox-client.ts";
import { aWidget, widgetCRD } from "./widget-crd.ts";

const WIDGETS = "/apis/sandbox.test/v1/namespaces/shop/widgets";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

function aClient(now: () => number = Date.now): SandboxClient {
  const client = new SandboxClient(kubernetesSandbox({ crds: [widgetCRD], now }));
  client.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  return client;
}

test("all resources count one resourceVersion, and a change of nothing does not count", () => {
  const client = aClient();
  const widget = client.call("POST", WIDGETS, aWidget("w"));
  const node = client.call("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
  expect(Number(node.metadata.resourceVersion)).toBe(Number(widget.metadata.resourceVersion) + 1);
  expect(client.call("PATCH", `${WIDGETS}/w`, { spec: { size: 1 } })).toEqual(widget);
  expect(client.call("PUT", `${WIDGETS}/w`, widget)).toEqual(widget);
  expect(client.call("PATCH", `${WIDGETS}/w/status`, { status: null })).toEqual(widget);
});

test("a status patch of what is there already changes nothing", () => {
  const client = aClient();
  client.call("POST", WIDGETS, aWidget("w"));
  const first = client.call("PATCH", `${WIDGETS}/w/status`, { status: { phase: "x", seen: 1 } });
  expect(client.call("PATCH", `${WIDGETS}/w/status`, { status: { seen: 1, phase: "x" } })).toEqual(first);
});

test("a deleted namespace takes its objects along", () => {
  const client = aClient();
  client.call("POST", WIDGETS, aWidget("w"));
  client.call("DELETE", "/api/v1/namespaces/shop");
  expect(client.send("GET", "/api/v1/namespaces/shop").status).toBe(404);
  expect(client.names("/apis/sandbox.test/v1/widgets")).toEqual([]);
});

test("a namespace is Terminating and takes nothing new until the last finalizer in it is gone", () => {
  const client = aClient();
  client.call("POST", WIDGETS, { ...aWidget("w"), metadata: { name: "w", finalizers: ["a.test/x"] } });
  expect(client.call("DELETE", "/api/v1/namespaces/shop").status).toEqual({ phase: "Terminating" });
  expect(client.send("POST", WIDGETS, aWidget("v"))).toMatchObject({
    status: 403,
    body: {
      message:
        'widgets.sandbox.test "v" is forbidden: unable to create new content in namespace shop because it is being terminated',
      details: { causes: [{ reason: "NamespaceTerminating" }] },
    },
  });
  client.call("PATCH", `${WIDGETS}/w`, { metadata: { finalizers: null } });
  expect(client.send("GET", "/api/v1/namespaces/shop").status).toBe(404);
});

test("a posted definition is served at once, and deleting it takes its objects along", () => {
  const client = new SandboxClient(kubernetesSandbox({ crds: [] }));
  expect(client.send("GET", "/apis/sandbox.test/v1/widgets")).toMatchObject({ status: 404 });
  const crd = client.call("POST", CRDS, widgetCRD);
  expect(crd.status).toMatchObject({ storedVersions: ["v1"], acceptedNames: { kind: "Widget" } });
  client.call("POST", "/apis/sandbox.test/v1/namespaces/default/widgets", aWidget("w"));
  expect(client.names("/apis/sandbox.test/v1/widgets")).toEqual(["w"]);
  client.call("DELETE", `${CRDS}/widgets.sandbox.test`);
  expect(client.send("GET", "/apis/sandbox.test/v1/widgets").status).toBe(404);
  client.call("POST", CRDS, widgetCRD);
  expect(client.names("/apis/sandbox.test/v1/widgets")).toEqual([]);
});

test("an older definition put in place of a newer one prunes what is stored when it is read", () => {
  const client = aClient();
  client.call("POST", WIDGETS, aWidget("w", { code: "abc" }));
  const older = structuredClone(widgetCRD) as unknown as {
    spec: {
      versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } } }[];
    };
  };
  for (const version of older.spec.versions) {
    delete version.schema.openAPIV3Schema.properties.spec.properties["code"];
  }
  client.call("PATCH", `${CRDS}/widgets.sandbox.test`, { spec: older.spec });
  expect(client.call("GET", `${WIDGETS}/w`).spec).toEqual({ size: 1, colour: "red" });
  expect(client.call("GET", WIDGETS).items?.[0]?.spec).toEqual({ size: 1, colour: "red" });
});

test("an unknown field is named in a Warning header", () => {
  const reply = aClient().sandbox.handle({
    method: "POST",
    path: WIDGETS,
    query: new URLSearchParams(),
    headers: { "content-type": "application/json" },
    body: aWidget("a", { sise: 1 }),
  });
  expect(reply).toHaveProperty("headers", { Warning: '299 - "unknown field \\"spec.sise\\""' });
});

test("events are forgotten an hour after they were written, when another is written", () => {
  let nowMs = Date.UTC(2026, 0, 2);
  const client = aClient(() => nowMs);
  const path = "/apis/events.k8s.io/v1/namespaces/shop/events";
  const anEvent = (name: string): unknown => ({
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name },
    eventTime: "2026-01-02T03:04:05.000000Z",
    reportingController: "a.test/b",
    reportingInstance: "c",
    action: "Act",
    reason: "Why",
    type: "Normal",
    regarding: { kind: "Widget", namespace: "shop", name: "w" },
  });
  client.call("POST", path, anEvent("old"));
  nowMs += 3_599_000;
  client.call("POST", path, anEvent("young"));
  expect(client.names(path)).toEqual(["old", "young"]);
  nowMs += 2_000;
  client.call("POST", path, anEvent("new"));
  expect(client.names(path)).toEqual(["new", "young"]);
});

test("a pod's own grace period is kept, and a deletion may shorten it", () => {
  let nowMs = Date.UTC(2026, 0, 2);
  const client = aClient(() => nowMs);
  const spec = { nodeName: "n", terminationGracePeriodSeconds: 60, containers: [{ name: "c", image: "i" }] };
  client.call("POST", "/api/v1/namespaces/shop/pods", { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
  const deleted = { deletionTimestamp: "2026-01-02T00:01:00Z", deletionGracePeriodSeconds: 60 };
  expect(client.call("DELETE", "/api/v1/namespaces/shop/pods/p").metadata).toMatchObject(deleted);
  nowMs += 10_000;
  expect(client.call("DELETE", "/api/v1/namespaces/shop/pods/p").metadata).toMatchObject(deleted);
  const shorter = { deletionTimestamp: "2026-01-02T00:00:15Z", deletionGracePeriodSeconds: 5 };
  expect(client.call("DELETE", "/api/v1/namespaces/shop/pods/p?gracePeriodSeconds=5").metadata).toMatchObject(shorter);
});
