import { expect, test } from "vitest";
import { kubernetesSandbox } from "../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { SandboxClient } from "./sandbox-client.ts";

const NODES = "/api/v1/nodes";

function clientWithNodes(count: number): SandboxClient & { passMs(ms: number): void } {
  let nowMs = Date.UTC(2026, 0, 2);
  const sandbox = kubernetesSandbox({ crds: [], now: () => nowMs });
  for (let index = 1; index <= count; index += 1) {
    sandbox.write({ apiVersion: "v1", kind: "Node", metadata: { name: `n${index}`, labels: { odd: `${index % 2}` } } });
  }
  return Object.assign(new SandboxClient(sandbox), {
    passMs: (ms: number) => {
      nowMs += ms;
    },
  });
}

test("pages of 2 of 5 nodes are all nodes in order, and the last page has no token", () => {
  const client = clientWithNodes(5);
  const pages: string[][] = [];
  let token = "";
  do {
    const page = client.call("GET", `${NODES}?limit=2&continue=${token}`);
    pages.push((page.items ?? []).map((item) => item.metadata.name));
    token = page.metadata.continue ?? "";
  } while (token !== "");
  expect(pages).toEqual([["n1", "n2"], ["n3", "n4"], ["n5"]]);
});

test("the second page shows the world of the first although nodes came, went and changed between", () => {
  const client = clientWithNodes(4);
  const first = client.call("GET", `${NODES}?limit=2`);
  client.call("DELETE", `${NODES}/n3`);
  client.call("PATCH", `${NODES}/n4`, { metadata: { labels: { odd: "changed" } } });
  client.call("POST", NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "n5" } });
  const second = client.call("GET", `${NODES}?limit=2&continue=${first.metadata.continue}`);
  expect(second.items?.map(({ metadata }) => [metadata.name, metadata.labels?.["odd"]])).toEqual([
    ["n3", "1"],
    ["n4", "0"],
  ]);
  expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
});

test("a page holds as many selected nodes as its limit, however far apart they are", () => {
  const client = clientWithNodes(6);
  const page = client.call("GET", `${NODES}?limit=2&labelSelector=odd%3D0`);
  expect(page.items?.map(({ metadata }) => metadata.name)).toEqual(["n2", "n4"]);
});

test("a token is still good 4 minutes after a later change, and gone 6 minutes after it", () => {
  const client = clientWithNodes(3);
  const { metadata } = client.call("GET", `${NODES}?limit=1`);
  client.call("DELETE", `${NODES}/n1`);
  client.passMs(240_000);
  expect(client.send("GET", `${NODES}?limit=1&continue=${metadata.continue}`).status).toBe(200);
  client.passMs(120_000);
  expect(client.send("GET", `${NODES}?limit=1&continue=${metadata.continue}`)).toMatchObject({
    status: 410,
    body: { reason: "Expired", message: expect.stringMatching(/^The provided continue parameter is too old/) },
  });
});

test("an expired token is answered with one that goes on with what is there now", () => {
  const client = clientWithNodes(3);
  const { metadata } = client.call("GET", `${NODES}?limit=1`);
  client.call("DELETE", `${NODES}/n2`);
  client.sandbox.api.store.compact();
  const refusal = client.send("GET", `${NODES}?limit=1&continue=${metadata.continue}`);
  expect(refusal.status).toBe(410);
  expect(client.names(`${NODES}?limit=5&continue=${refusal.body.metadata.continue}`)).toEqual(["n3"]);
});

test("without any change a token never expires", () => {
  const client = clientWithNodes(2);
  const { metadata } = client.call("GET", `${NODES}?limit=1`);
  client.passMs(86_400_000);
  expect(client.names(`${NODES}?limit=1&continue=${metadata.continue}`)).toEqual(["n2"]);
});

test("an exact resourceVersion shows the past, and is too old once its history is gone", () => {
  const client = clientWithNodes(2);
  const { metadata } = client.call("GET", NODES);
  client.call("DELETE", `${NODES}/n1`);
  const path = `${NODES}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`;
  expect(client.names(path)).toEqual(["n1", "n2"]);
  client.sandbox.api.store.compact();
  expect(client.send("GET", path)).toMatchObject({ status: 410, body: { reason: "Expired" } });
});
