import { expect, test } from "vitest";
import { failure } from "./scripted-server.ts";
import { withServer } from "./with-server.ts";

test.for([
  ["exists", { json: { kind: "Namespace", apiVersion: "v1", metadata: { name: "shop" } } }, true],
  ["does not exist", failure(404, "NotFound", 'namespaces "shop" not found'), false],
  ["may not be looked at", failure(403, "Forbidden", "namespaces is forbidden"), undefined],
  ["is asked for with a token that has expired", failure(401, "Unauthorized", "Unauthorized"), undefined],
] as const)("a namespace that %s is told apart", async ([, say, expected]) => {
  await withServer([say], async ({ reader, writer, asked }) => {
    expect(await reader.hasNamespace("shop")).toBe(expected);
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(["GET /api/v1/namespaces/shop"]);
    expect("hasNamespace" in writer).toBe(true);
  });
});

const LIST = { kind: "NamespaceList", apiVersion: "v1", metadata: { resourceVersion: "1" } };

test.for([
  [
    "shows the namespace",
    { json: { ...LIST, items: [{ metadata: { name: "kube-system", uid: "3f1c" } }] } },
    { uid: "3f1c" },
  ],
  ["shows no namespace", { json: { ...LIST, items: [] } }, { failure: "malformed" }],
  [
    "shows one without uid",
    { json: { ...LIST, items: [{ metadata: { name: "kube-system" } }] } },
    { failure: "malformed" },
  ],
  ["sends something else", { json: { kind: "Status" } }, { failure: "malformed" }],
  [
    "does not permit it",
    failure(403, "Forbidden", "namespaces is forbidden"),
    { failure: "forbidden", operation: "list namespaces" },
  ],
] as const)(
  "a cluster is told by the uid of kube-system, with the right to list: the server %s",
  async ([, say, expected]) => {
    await withServer([say], async ({ reader, asked }) => {
      const told = await reader.clusterUID().then(
        (uid) => ({ uid }),
        (error: unknown) => error,
      );
      expect(told).toMatchObject(expected);
      expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
        "GET /api/v1/namespaces?fieldSelector=metadata.name%3Dkube-system",
      ]);
    });
  },
);
