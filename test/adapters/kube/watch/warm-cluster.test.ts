import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { WarmCluster } from "../../../../src/ports/cluster.ts";
import { failure, hangUp, type Say } from "../scripted-server.ts";
import { rejection } from "../with-server.ts";
import { aNode, nodeList, ScriptedWatch, until, withWarm } from "./scripted-watch.ts";

const bookmark = (version: number): unknown => ({ kind: "Node", metadata: { resourceVersion: String(version) } });
const queryOf = (url: string | undefined): Record<string, string> =>
  Object.fromEntries(new URL(url ?? "", "http://x").searchParams);

/** Empty lists, a node, and watches that say nothing and never end. */
const endless = ((response, { url }) => {
  response.writeHead(200, { "Content-Type": "application/json" });
  if (url.includes("watch=true")) response.flushHeaders();
  else response.end(JSON.stringify({ metadata: { resourceVersion: "7", name: "n" }, items: [] }));
}) satisfies Say;

/** A refusal without a reason. */
function no(status: number): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { "Content-Type": "text/plain" });
    response.end("no");
  };
}

const NO_RECORD_SETS: Say = { json: { metadata: { resourceVersion: "7" }, items: [] } };

describe("a watch over HTTP", () => {
  test("begins at the version of the list, asks for bookmarks and an end, and for protobuf of nodes", async () => {
    const watch = new ScriptedWatch();
    await withWarm([nodeList(7, aNode("a", 3)), watch.say], async ({ cluster, asked, heard }) => {
      expect((await cluster.listNodes()).map(({ name }) => name)).toEqual(["a"]);
      expect(asked.map(({ url }) => new URL(url, "http://x").pathname)).toEqual(["/api/v1/nodes", "/api/v1/nodes"]);
      expect(queryOf(asked[0]?.url)).toEqual({ limit: "500" });
      expect(queryOf(asked[1]?.url)).toEqual({
        watch: "true",
        allowWatchBookmarks: "true",
        timeoutSeconds: "300",
        resourceVersion: "7",
      });
      expect(asked[1]?.headers.accept).toBe("application/vnd.kubernetes.protobuf;stream=watch, application/json");
      await watch.tell("ADDED", aNode("b", 8));
      await watch.tell("DELETED", aNode("a", 9));
      await until(() => heard.length === 2);
      expect(heard).toEqual(["node b", "node a"]);
      expect((await cluster.listNodes()).map(({ name }) => name)).toEqual(["b"]);
    });
  });

  test.for([
    ["broken within an event", (watch: ScriptedWatch) => watch.cut()],
    ["ended within an event", (watch: ScriptedWatch) => watch.end()],
  ] as const)("that is %s goes on from the last whole event", async ([, stop]) => {
    const [first, second] = [new ScriptedWatch(), new ScriptedWatch()];
    await withWarm([nodeList(7), first.say, second.say, nodeList(8)], async ({ cluster, asked, clock, heard }) => {
      await cluster.listNodes();
      await first.tell("ADDED", aNode("b", 8));
      await first.send('{"type":"ADDED","object":{"metadata":{"na');
      await until(() => heard.length === 1);
      await stop(first);
      await until(async () => {
        await clock.advance(800);
        return asked.length >= 3;
      });
      expect(queryOf(asked[2]?.url)["resourceVersion"]).toBe("8");
      await second.tell("ADDED", aNode("c", 9));
      await until(() => heard.length === 2);
      expect(await cluster.listNodes()).toHaveLength(2);
    });
  });

  test("of namespaces follows one list: what they grant is in memory from then on", async () => {
    const watch = new ScriptedWatch();
    const list: Say = (response) => {
      const annotations = { "flipop.digitalocean.com/purchases": "3" };
      const items = [{ metadata: { name: "shop", resourceVersion: "6", annotations } }];
      response.end(JSON.stringify({ metadata: { resourceVersion: "7" }, items }));
    };
    await withWarm([list, watch.say], async ({ cluster, asked }) => {
      const purchases = async (): Promise<readonly number[]> =>
        (await cluster.listNamespaceGrants()).map((granted) => granted.purchases);
      for (let pass = 0; pass < 5; pass += 1) expect(await purchases()).toEqual([3]);
      const annotations = { "flipop.digitalocean.com/purchases": "4" };
      await watch.tell("MODIFIED", {
        kind: "Namespace",
        metadata: { name: "shop", resourceVersion: "8", annotations },
      });
      await until(async () => (await purchases())[0] === 4);
      expect(asked.map(({ url }) => queryOf(url)["watch"] ?? "a list")).toEqual(["a list", "true"]);
    });
  });

  test("that says nothing for 150 s, not even a bookmark, is given up and asked for again", async () => {
    const [first, second] = [new ScriptedWatch(), new ScriptedWatch()];
    await withWarm([NO_RECORD_SETS, first.say, second.say], async ({ cluster, asked, clock }) => {
      await cluster.listRecordSets();
      await clock.advance(149_000);
      await first.tell("BOOKMARK", bookmark(20));
      await until(() => clock.sleeping() > 0);
      await clock.advance(2_000);
      await first.tell("BOOKMARK", bookmark(30));
      await clock.advance(0);
      expect(asked).toHaveLength(2);
      await until(async () => {
        await clock.advance(1_000);
        return asked.length >= 3;
      });
      await first.left;
      expect(queryOf(asked[2]?.url)["resourceVersion"]).toBe("30");
    });
  });

  test("that the server ends at its time is asked for again at once", async () => {
    const [first, second] = [new ScriptedWatch(), new ScriptedWatch()];
    await withWarm([NO_RECORD_SETS, first.say, second.say], async ({ cluster, asked, clock }) => {
      await cluster.listRecordSets();
      await first.tell("BOOKMARK", bookmark(30));
      await clock.advance(100_000);
      await first.end();
      await until(() => asked.length === 4);
      expect(queryOf(asked[2]?.url)["resourceVersion"]).toBe("30");
      expect(queryOf(asked[3]?.url)).toEqual({ limit: "1" });
      expect(asked[2]?.socket).toBe(asked[1]?.socket);
    });
  });

  test.for([
    ["status", failure(410, "Expired", "too old resource version: 7 (9)")],
    [
      "event",
      ((response) => {
        response.writeHead(200, { "Content-Type": "application/json" });
        const object = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 7 (9)" };
        response.write(`${JSON.stringify({ type: "ERROR", object })}\n`);
      }) satisfies Say,
    ],
  ] as const)("that is too old, said as %s, makes the list be read anew", async ([, tooOld]) => {
    const last = new ScriptedWatch();
    const script = [nodeList(7, aNode("a", 3)), tooOld, nodeList(9, aNode("b", 8)), last.say];
    await withWarm(script, async ({ cluster, asked, clock }) => {
      await cluster.listNodes();
      await until(async () => {
        await clock.advance(0);
        return asked.length === 4;
      });
      expect((await cluster.listNodes()).map(({ name }) => name)).toEqual(["b"]);
      expect(queryOf(asked[3]?.url)["resourceVersion"]).toBe("9");
    });
  });

  test("that is forbidden is the answer to the first call, with the verb to grant", async () => {
    const message = 'nodes is forbidden: User "x" cannot watch resource "nodes" in API group "" at the cluster scope';
    await withWarm([nodeList(7), failure(403, "Forbidden", message)], async ({ cluster }) => {
      const error = await rejection(cluster.listNodes());
      expect(error).toMatchObject({ name: "KubeError", failure: "forbidden", operation: "watch nodes", status: 403 });
      expect(error.message).toBe(
        `Cannot watch nodes: ${message} (403). Grant the verb "watch" on "nodes" (see cronjob/watch/rbac.yaml).`,
      );
      expect(cluster.staleness()).toMatchObject({ sinceMs: 0, error: { failure: "forbidden" } });
    });
  });

  test("of a kind that the cluster does not know fails as the list does", async () => {
    const unknown: Say = (response) => {
      response.writeHead(404, { "Content-Type": "text/plain" });
      response.end("404 page not found\n");
    };
    await withWarm([unknown], async ({ cluster }) => {
      const error = await rejection(cluster.listRecordSets());
      for (const failed of [
        error,
        await rejection(cluster.listRoutedIPs()),
        await rejection(cluster.listRoutedIPIssuers()),
      ])
        expect(failed).toMatchObject({ failure: "missing-resource" });
      expect(cluster.staleness()).toBeUndefined();
      expect(await rejection(cluster.listPools())).toMatchObject({ failure: "missing-resource" });
      expect(cluster.staleness()).toMatchObject({ error: { failure: "missing-resource" } });
      expect(error.message).toContain("kubectl apply -f cronjob/crds/nodednsrecordsets.yaml");
    });
  });

  test("whose kind is taken away fails as the list does, too", async () => {
    const watch = new ScriptedWatch();
    const unknown = failure(404, "NotFound", "the server could not find the requested resource");
    await withWarm([NO_RECORD_SETS, watch.say, unknown], async ({ cluster, clock }) => {
      expect(await cluster.listRecordSets()).toEqual([]);
      await clock.advance(20_000);
      await watch.end();
      await until(
        async () =>
          await cluster
            .listRecordSets()
            .then(() => false)
            .catch(() => true),
      );
      expect(await rejection(cluster.listRecordSets())).toMatchObject({ failure: "missing-resource" });
    });
  });

  test.for([
    ["a page of a proxy", "text/html", "<html>log in</html>", "the answer is text/html"],
    ["garbage", "application/json", "{]\n", "the answer is not a watch"],
    ["another document", "application/json", '{"kind":"NodeList","items":[]}\n', "the answer is not a watch"],
  ] as const)("that is answered by %s is malformed", async ([, type, text, why]) => {
    const odd: Say = (response, { url }) => {
      const isWatch = url.includes("watch=true");
      response.writeHead(200, { "Content-Type": isWatch ? type : "application/json" });
      response.end(isWatch ? text : JSON.stringify({ metadata: { resourceVersion: "7" }, items: [] }));
    };
    await withWarm([odd], async ({ cluster, clock }) => {
      await cluster.listNodes();
      await until(async () => {
        await clock.advance(700);
        return cluster.staleness() !== undefined;
      });
      const { error } = cluster.staleness() ?? {};
      expect(error).toMatchObject({ failure: "malformed" });
      expect(error?.message).toContain(why);
      expect(await cluster.listNodes()).toEqual([]);
    });
  });

  test("that is refused for an old token is asked for with the new one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "flipop-token-"));
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, "old");
    const [first, second] = [new ScriptedWatch(), new ScriptedWatch()];
    const script: readonly Say[] = [nodeList(7), first.say, failure(401, "Unauthorized", "Unauthorized"), second.say];
    try {
      await withWarm(
        script,
        async ({ cluster, asked, clock }) => {
          await cluster.listNodes();
          // Credentials are kept for ten seconds.
          await clock.advance(5_000);
          await writeFile(tokenFile, "new");
          await first.end();
          await until(() => asked.length >= 4);
          expect(asked.slice(1, 4).map(({ headers }) => headers.authorization)).toEqual([
            "Bearer old",
            "Bearer old",
            "Bearer new",
          ]);
          expect(await cluster.listNodes()).toEqual([]);
          expect(cluster.staleness()).toBeUndefined();
        },
        { user: { tokenFile } },
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("leaves no connection of ordinary calls waiting, however many there are", async () => {
    await withWarm([endless], async ({ cluster, asked }) => {
      const selectors = Array.from({ length: 20 }, (_, index) => ({ namespace: "", label: `app=${index}` }));
      await Promise.all(selectors.map((selector) => cluster.listPods(selector)));
      expect((await cluster.readNode("n"))?.name).toBe("n");
      expect(asked.filter(({ url }) => url.includes("watch=true"))).toHaveLength(20);
    });
  });

  test.for([
    ["pods", (cluster: WarmCluster, namespace: string) => cluster.listPods({ namespace, label: "" })],
    [
      "endpointslices",
      (cluster: WarmCluster, namespace: string) => cluster.listEndpointSlices({ namespace, name: "s" }),
    ],
  ] as const)(
    "of %s that nobody has listed for ten minutes is given up; that of such that are listed goes on",
    async ([plural, list]) => {
      await withWarm([endless], async ({ cluster, asked, clock }) => {
        const about = (namespace: string): number =>
          asked.filter(({ url }) => url.includes(`/${namespace}/${plural}`)).length;
        const pass = async (minutes: number): Promise<void> => {
          for (let minute = 0; minute < minutes; minute++) {
            list(cluster, "used").catch(() => undefined);
            await clock.advance(60_000);
            await delay(5);
          }
        };
        await list(cluster, "unused");
        await pass(11);
        const before = [about("used"), about("unused")];
        await pass(20);
        expect(about("unused")).toBe(before[1]);
        // Silent for so long, this one is asked for again and again.
        expect(about("used")).toBeGreaterThan(before[0] ?? 0);
      });
    },
  );

  test.for([
    ["pods", 400, (cluster: WarmCluster) => cluster.listPods({ namespace: "shop", label: "app=web" })],
    ["pods", 404, (cluster: WarmCluster) => cluster.listPods({ namespace: "shop", label: "" })],
    ["pods", 431, (cluster: WarmCluster) => cluster.listPods({ namespace: "", label: "app=web" })],
    ["endpointslices", 414, (cluster: WarmCluster) => cluster.listEndpointSlices({ namespace: "shop", name: "web" })],
  ] as const)(
    "of %s that is refused (%i) keeps nobody from being ready, and is asked for again with growing waits, and when an object changes",
    async ([plural, status, list]) => {
      let isRefused = true;
      const pools = new ScriptedWatch();
      const say: Say = (response, asked) => {
        if (isRefused && asked.url.includes(`/${plural}?`)) no(status)(response);
        else if (/floatingippools\?.*watch=true/.test(asked.url)) pools.say(response);
        else endless(response, asked);
      };
      await withWarm([say], async ({ cluster, asked, clock, heard }) => {
        const requests = (): number => asked.filter(({ url }) => url.includes(`/${plural}?`)).length;
        await cluster.listNodes();
        await cluster.listPools();
        for (let second = 0; second < 60; second += 1) {
          expect(await rejection(list(cluster))).toMatchObject({ name: "KubeError", status });
          expect(cluster.staleness()).toBeUndefined();
          await clock.advance(1_000);
          await delay(1);
        }
        // Nothing is under way once this is answered, since time stands still.
        await rejection(list(cluster));
        expect(requests()).toBeGreaterThan(3);
        expect(requests()).toBeLessThan(10);
        isRefused = false;
        const before = requests();
        await pools.tell("ADDED", { metadata: { namespace: "shop", name: "web", resourceVersion: "9" } });
        await until(() => heard.length > 0);
        expect(await list(cluster)).toEqual([]);
        // One list, and its watch.
        await until(() => requests() >= before + 2);
        expect(requests()).toBe(before + 2);
      });
    },
  );

  test("of all pods that is not found, which no API server answers, fails as any other", async () => {
    const say: Say = (response, asked) =>
      asked.url.startsWith("/api/v1/pods?") ? no(404)(response) : endless(response, asked);
    await withWarm([say], async ({ cluster, clock }) => {
      expect(await rejection(cluster.listPods({ namespace: "", label: "app=web" }))).toMatchObject({ status: 404 });
      await clock.advance(2_000);
      expect(cluster.staleness()).toMatchObject({ error: { failure: "not-found" } });
    });
  });

  test("ends with close, and nothing is left that waits", async () => {
    const watch = new ScriptedWatch();
    await withWarm([nodeList(7), watch.say, hangUp], async ({ cluster, clock }) => {
      await cluster.listNodes();
      cluster.close();
      await watch.left;
      await clock.advance(1);
      expect(clock.sleeping()).toBe(0);
    });
  });
});
