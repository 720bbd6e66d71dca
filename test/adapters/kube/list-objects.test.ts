import { describe, expect, test } from "vitest";
import { failure, list, type Say } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const named = (...names: string[]): unknown[] => names.map((name) => ({ metadata: { name } }));
const expired = failure(410, "Expired", "The provided continue parameter is too old.");

describe("paged lists", () => {
  test("nodes are read in pages of 500 until there is no token, an empty page in between included", async () => {
    const script = [list("NodeList", named("c"), "t1"), list("NodeList", [], "t2"), list("NodeList", named("b", "a"))];
    await withServer(script, async ({ reader, asked }) => {
      expect((await reader.listNodes()).map(({ name }) => name)).toEqual(["a", "b", "c"]);
      expect(asked.map(({ url }) => url)).toEqual([
        "/api/v1/nodes?limit=500",
        "/api/v1/nodes?limit=500&continue=t1",
        "/api/v1/nodes?limit=500&continue=t2",
      ]);
    });
  });

  test("pools are read in pages, too, though their token stands at the end of the page", async () => {
    const page = (name: string, token: string): Say => ({
      json: { items: [{ metadata: { name, namespace: "n" } }], metadata: { continue: token } },
    });
    await withServer([page("b", 'odd "token"\\'), page("a", "")], async ({ reader, asked }) => {
      expect((await reader.listPools()).map(({ meta }) => meta.name)).toEqual(["a", "b"]);
      const [, second] = asked.map(({ url }) => new URL(url, "http://x").searchParams.get("continue"));
      expect(second).toBe('odd "token"\\');
    });
  });

  test("a list that expires between two pages starts again, and nothing is counted twice", async () => {
    const script = [
      list("NodeList", named("a", "gone"), "t1"),
      expired,
      list("NodeList", named("a"), "t2"),
      list("NodeList", named("b")),
    ];
    await withServer(script, async ({ reader, asked }) => {
      expect((await reader.listNodes()).map(({ name }) => name)).toEqual(["a", "b"]);
      expect(asked.map(({ url }) => url.includes("continue"))).toEqual([false, true, false, true]);
    });
  });

  test("a list that expires a second time fails as gone", async () => {
    const script = [list("NodeList", [], "t1"), expired, list("NodeList", [], "t2"), expired];
    await withServer(script, async ({ reader, asked }) => {
      expect(await rejection(reader.listNodes())).toMatchObject({ failure: "gone", status: 410 });
      expect(asked).toHaveLength(4);
    });
  });

  test("a page that cannot be read fails the whole list", async () => {
    const script = [list("NodeList", named("a"), "t1"), failure(403, "Forbidden", "no")];
    await withServer(script, async ({ reader }) => {
      expect(await rejection(reader.listNodes())).toMatchObject({ failure: "forbidden" });
    });
  });

  test("a broken page fails the list although the next page is already on its way and refused", async () => {
    const broken: Say = (response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end('{"kind":"NodeList","metadata":{"continue":"t1"},"items":[{"metadata":');
    };
    await withServer([broken, failure(403, "Forbidden", "no")], async ({ reader }) => {
      expect(await rejection(reader.listNodes())).toMatchObject({ failure: "malformed" });
    });
  });

  test("items that are null are an empty list", async () => {
    await withServer([{ json: { metadata: {}, items: null } }], async ({ reader }) => {
      expect(await reader.listPools()).toEqual([]);
    });
  });

  test("pods are selected by the server: namespace, label and unfinished phases; unbound ones are dropped", async () => {
    const pods = [
      { metadata: { name: "a", namespace: "web" }, spec: { nodeName: "n" }, status: { phase: "Running" } },
      { metadata: { name: "b", namespace: "web" }, spec: {}, status: { phase: "Pending" } },
    ];
    await withServer([list("PodList", pods)], async ({ reader, asked }) => {
      expect(await reader.listPods({ namespace: "web", label: "app in (a,b),!x" })).toEqual([
        { namespace: "web", name: "a", nodeName: "n", phase: "Running", ready: { isReady: false } },
      ]);
      await reader.listPods({ namespace: "", label: "app=a" });
      const urls = asked.map(({ url }) => new URL(url, "http://x"));
      expect(urls.map(({ pathname }) => pathname)).toEqual(["/api/v1/namespaces/web/pods", "/api/v1/pods"]);
      expect(Object.fromEntries(urls[0]?.searchParams ?? [])).toEqual({
        fieldSelector: "status.phase!=Succeeded,status.phase!=Failed",
        labelSelector: "app in (a,b),!x",
        limit: "500",
      });
    });
  });
});
