import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigError } from "../../../src/model/errors.ts";
import { NODES, POOLS, WorldDirectory } from "./world-directory.ts";

let world: WorldDirectory;
beforeEach(() => {
  world = new WorldDirectory();
});
afterEach(() => world.remove());

const rows: readonly (readonly [what: string, file: string, text: string, error: RegExp])[] = [
  ["a syntax error", "nodes.yaml", "metadata:\n  name: [a\n", /^cannot read FILE:\d+:\d+: .*correct the YAML there$/],
  [
    "a text in place of an object",
    "nodes.yaml",
    `${NODES}---\nhello\n`,
    /^cannot read FILE: document 3 is not a Kubernetes object; begin it with "metadata:"$/,
  ],
  [
    "an object without a name",
    "nodes.yaml",
    "metadata: {}\n",
    /^cannot read FILE: document 1 \(Node\) has no metadata.name$/,
  ],
  [
    "an object of another file",
    "nodes.yaml",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
    /^cannot read FILE: document 1 is a Pod, which belongs into pods.yaml; move it there$/,
  ],
  [
    "an object without a kind",
    "cluster.yaml",
    "metadata: {name: a}\n",
    /^cannot read FILE: document 1 has no apiVersion or kind$/,
  ],
  [
    "an unknown kind",
    "cluster.yaml",
    "\napiVersion: a.test/v1\nkind: Thing\nmetadata: {name: a}\n",
    /^cannot read FILE:2:1: Thing a: no matches for kind "Thing" in version "a.test\/v1"; correct it there$/,
  ],
  [
    "a value of a wrong type",
    "pools.yaml",
    POOLS.replace("match: {}", "match: {}\n  desiredIPs: two"),
    /^cannot read FILE:9:15: FloatingIPPool ingress\/web: .*spec\.desiredIPs: Invalid value: must be integer; correct it there$/,
  ],
  [
    "a misspelt field",
    "pools.yaml",
    POOLS.replace("provider:", "provder:"),
    /^cannot read FILE:\d+:\d+: FloatingIPPool ingress\/web: .*; correct it there$/,
  ],
  [
    "an unknown field",
    "pools.yaml",
    POOLS.replace("match: {}", "match: {}\n  suspended: true"),
    /^cannot read FILE:9:14: FloatingIPPool ingress\/web: unknown field "spec.suspended"; correct it there$/,
  ],
  [
    "the same object twice",
    "nodes.yaml",
    `${NODES}---\nmetadata: {name: worker-1}\n`,
    /^cannot read FILE:9:1: Node worker-1: there is another document for it; correct it there$/,
  ],
  [
    "a label that is a number",
    "nodes.yaml",
    "metadata: {name: a, labels: {x: 1}}\n",
    /^cannot read FILE:1:1: Node a: .*cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string; correct it there$/,
  ],
  [
    "a lease time without microseconds",
    "cluster.yaml",
    'apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}\nspec: {renewTime: "2026-01-02T03:04:05Z"}\n',
    /^cannot read FILE:1:1: Lease a: .*parsing time.*; correct it there$/,
  ],
];

test.for(rows)("%s is an error that names the file and the place", ([, file, text, error]) => {
  world.write(file, text);
  const message = messageOf(() => world.open()).replaceAll(join(world.path, file), "FILE");
  expect(message).toMatch(error);
});

test("a field of a status that the definition does not know is no error", () => {
  world.write("pools.yaml", `${POOLS}status: {fromAnotherVersion: 1}\n`);
  expect(world.open().names("/apis/flipop.digitalocean.com/v1alpha1/floatingippools")).toEqual(["web"]);
});

test("a file that is broken meanwhile fails every request with its place, keeps everything as it was, and then goes on", () => {
  world.write("nodes.yaml", NODES);
  const client = world.open();
  client.call("GET", "/api/v1/nodes");
  const bad = `${NODES}---\nmetadata: {name: worker-3}\n---\nmetadata: {name: Worker_4}\n`;
  world.write("nodes.yaml", bad);
  for (const path of ["/api/v1/nodes", "/api/v1/pods"]) {
    const { status, body } = client.send("GET", path);
    expect(status).toBe(500);
    expect(body).toMatchObject({ kind: "Status", reason: "InternalError" });
    expect(body.message).toContain(`${join(world.path, "nodes.yaml")}:11:18: Node Worker_4:`);
  }
  expect(client.send("POST", "/api/v1/nodes", { metadata: { name: "n" } }).status).toBe(500);
  expect(world.errors).toHaveLength(3);
  expect(world.read("nodes.yaml")).toBe(bad);
  world.edit("nodes.yaml", "Worker_4", "worker-4");
  expect(client.names("/api/v1/nodes")).toEqual(["worker-1", "worker-2", "worker-3", "worker-4"]);
});

test("nothing of a file is taken over when one of its documents is wrong", () => {
  world.write("nodes.yaml", NODES);
  const client = world.open();
  world.write("nodes.yaml", "metadata: {name: worker-9}\n---\nmetadata: {name: NO}\n");
  client.send("GET", "/api/v1/nodes");
  const keys = client.sandbox.api.store.all("/nodes").map((node) => node.metadata.name);
  expect(keys).toEqual(["worker-1", "worker-2"]);
});

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error("it succeeded");
}
