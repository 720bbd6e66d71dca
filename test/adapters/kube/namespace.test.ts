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
