import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { kubernetesSandbox } from "../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { type Answer, SandboxClient } from "./sandbox-client.ts";

const PODS = "/api/v1/namespaces/default/pods";

interface Event {
  readonly type: string;
  readonly object: Answer;
}

function aPod(name: string, labels: Readonly<Record<string, string>> = {}): unknown {
  const spec = { containers: [{ name: "main", image: "example.test/none" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, labels }, spec };
}

/** Watches until the test ends; the events so far, as `TYPE name`. */
function watching(client: SandboxClient, query: string): { readonly seen: string[]; readonly over: Promise<void> } {
  const seen: string[] = [];
  const over = client.watch(`${PODS}?watch=true&${query}`)((chunk) => {
    for (const line of chunk.trimEnd().split("\n")) {
      const { type, object } = JSON.parse(line) as Event;
      seen.push(`${type} ${object.metadata?.name ?? object.kind}`);
    }
  }, ended.signal);
  return { seen, over };
}

let ended = new AbortController();
beforeEach(() => {
  vi.useFakeTimers();
  ended = new AbortController();
});
afterEach(() => {
  ended.abort();
  vi.useRealTimers();
});

function aClient(): SandboxClient {
  return new SandboxClient(kubernetesSandbox({ crds: [], bookmarkMs: 10_000 }));
}

test("a watch shows what happened after its resourceVersion, then what happens", () => {
  const client = aClient();
  client.call("POST", PODS, aPod("a"));
  const { metadata } = client.call("GET", PODS);
  client.call("POST", PODS, aPod("b"));
  const { seen } = watching(client, `resourceVersion=${metadata.resourceVersion}`);
  client.call("PATCH", `${PODS}/a`, { metadata: { labels: { x: "1" } } });
  client.call("PATCH", `${PODS}/a`, { metadata: { labels: { x: "1" } } });
  client.call("DELETE", `${PODS}/b`);
  client.call("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
  expect(seen).toEqual(["ADDED b", "MODIFIED a", "DELETED b"]);
});

test("a watch without resourceVersion begins with what is there", () => {
  const client = aClient();
  client.call("POST", PODS, aPod("a"));
  expect(watching(client, "").seen).toEqual(["ADDED a"]);
});

test("to a watch with a selector a pod is added when it begins to fit, and deleted when it no longer fits", () => {
  const client = aClient();
  client.call("POST", PODS, aPod("a"));
  const { seen } = watching(client, "labelSelector=x%3D1");
  for (const labels of [{ x: "1" }, { x: "1", y: "2" }, { x: null }]) {
    client.call("PATCH", `${PODS}/a`, { metadata: { labels } });
  }
  expect(seen).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
});

test("a streaming list ends with a marked bookmark", async () => {
  const client = aClient();
  client.call("POST", PODS, aPod("a"));
  const lines: string[] = [];
  const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  client.watch(`${PODS}?${query}`)((chunk) => lines.push(chunk), ended.signal);
  expect(lines.map((line) => (JSON.parse(line) as Event).type)).toEqual(["ADDED", "BOOKMARK"]);
  expect(lines[1]).toContain('"k8s.io/initial-events-end":"true"');
});

test("bookmarks come every 10 s when asked for, and at the end after timeoutSeconds", async () => {
  const client = aClient();
  const { seen, over } = watching(client, "allowWatchBookmarks=true&timeoutSeconds=25");
  await vi.advanceTimersByTimeAsync(24_999);
  expect(seen).toEqual(["BOOKMARK Pod", "BOOKMARK Pod"]);
  await vi.advanceTimersByTimeAsync(1);
  await over;
  expect(seen).toHaveLength(3);
  client.call("POST", PODS, aPod("a"));
  expect(seen).toHaveLength(3);
});

test("a watch that asked for no bookmarks gets none", async () => {
  const { seen, over } = watching(aClient(), "timeoutSeconds=25");
  await vi.advanceTimersByTimeAsync(25_000);
  await over;
  expect(seen).toEqual([]);
});

test("a watch of a resourceVersion that is too old is one ERROR event with code 410", async () => {
  const client = aClient();
  const { metadata } = client.call("GET", PODS);
  client.call("POST", PODS, aPod("a"));
  client.sandbox.api.store.compact();
  const lines: string[] = [];
  await client.watch(`${PODS}?watch=true&resourceVersion=${metadata.resourceVersion}`)(
    (chunk) => lines.push(chunk),
    ended.signal,
  );
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } },
  ]);
});

test("a watch ends when the client goes away", async () => {
  const { over } = watching(aClient(), "");
  ended.abort();
  await expect(over).resolves.toBeUndefined();
});
