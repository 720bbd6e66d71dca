import { afterEach, beforeEach, expect, test } from "vitest";
import { WorldDirectory } from "./world-directory.ts";

const RECORD_SET = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/shop/nodednsrecordsets/nodes";
const DNS = `# The names.
metadata:
  name: nodes
  namespace: shop
spec:
  dnsRecordSet: {zone: example.com, recordName: nodes}
`;

let world: WorldDirectory;
beforeEach(() => {
  world = new WorldDirectory();
  world.write("dns.yaml", DNS);
});
afterEach(() => world.remove());

test("a record set of dns.yaml is served with kind and apiVersion filled in", () => {
  expect(world.open().call("GET", RECORD_SET)).toMatchObject({
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "NodeDNSRecordSet",
    metadata: { generation: 1 },
    spec: { dnsRecordSet: { zone: "example.com", recordName: "nodes" } },
  });
});

test("its status goes through /status only, loses what the CRD does not know, and stands in the file, under its head comment", () => {
  const client = world.open();
  client.call("PATCH", RECORD_SET, { status: { state: "error" } });
  expect(client.call("GET", RECORD_SET)).not.toHaveProperty("status");
  const unreadyNodes = [{ nodeName: "worker-1", since: "2026-01-02T03:04:05Z" }];
  client.call("PATCH", `${RECORD_SET}/status`, { status: { state: "active", unreadyNodes, planted: 1 } });
  expect(client.call("GET", RECORD_SET)["status"]).toEqual({ state: "active", unreadyNodes });
  expect(world.read("dns.yaml")).toMatch(/^# The names\.\n/);
  expect(world.read("dns.yaml")).toContain("state: active");
  expect(world.open().call("GET", RECORD_SET)["status"]).toEqual({ state: "active", unreadyNodes });
});

test("a bad spec is refused with the field named", () => {
  const client = world.open();
  const refused = client.send("PATCH", RECORD_SET, { spec: { whenEmpty: "Drop" } });
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused)).toContain("spec.whenEmpty");
});

test("a misspelt field in the file is an error that names its place", () => {
  world.edit("dns.yaml", "spec:", "spec:\n  whenEmtpy: Keep");
  expect(() => world.open()).toThrow(/dns\.yaml:6:14: NodeDNSRecordSet shop\/nodes: unknown field "spec\.whenEmtpy"/);
});
