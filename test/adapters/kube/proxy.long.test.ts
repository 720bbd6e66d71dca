import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type ProxyServer, readProxy } from "../../../src/adapters/http/proxy-choice.ts";
import type { Connection } from "../../../src/adapters/kube/call.ts";
import { createClusterReader } from "../../../src/adapters/kube/cluster-reader.ts";
import { createWarmCluster } from "../../../src/adapters/kube/warm-cluster.ts";
import { type LoopbackProxy, type LoopbackProxyOptions, loopbackProxy } from "../http/loopback-proxy.ts";
import { hasOpenSSL, makeCertificates } from "./certificates.ts";
import { fastClock } from "./fast-clock.ts";
import { REAL_CLOCK } from "./real-clock.ts";
import { list, plainConnection, type Say, type ScriptedServer, scriptedServer } from "./scripted-server.ts";
import { rejection } from "./with-server.ts";

const ok = list("NodeList", [{ metadata: { name: "a" } }]);
const HOST = "elsewhere.example.test";
const certificates = hasOpenSSL() ? makeCertificates() : undefined;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Scene {
  readonly server: ScriptedServer;
  readonly proxy: LoopbackProxy;
  readonly connection: Connection;
}

/** A server that answers as `script` says, under a name that only a proxy can resolve. */
async function scene(
  script: readonly Say[],
  options: { readonly isPlain?: boolean; readonly proxy?: LoopbackProxyOptions; readonly login?: string } = {},
): Promise<Scene> {
  const server = await scriptedServer(script, options.isPlain ? undefined : certificates?.elsewhere);
  closing.push(server.close);
  const proxy = await loopbackProxy(options.proxy);
  closing.push(proxy.close);
  const { protocol, port } = new URL(server.url);
  const url = options.login === undefined ? proxy.url : proxy.url.replace("://", `://${options.login}@`);
  const connection = plainConnection(`${protocol}//${HOST}:${port}`, {
    proxy: readProxy(url, "HTTPS_PROXY"),
    tls: certificates === undefined ? { isInsecure: false } : { authority: certificates.ca, isInsecure: false },
    user: { token: "t0ken-t0ken" },
  });
  return { server, proxy, connection };
}

function reader(connection: Connection, requestTimeoutMs = 5000): ReturnType<typeof createClusterReader> {
  const made = createClusterReader(connection, { version: "0", clock: fastClock(), requestTimeoutMs });
  closing.push(() => made.close());
  return made;
}

describe.skipIf(!hasOpenSSL())("an API server behind a proxy", () => {
  test.for([
    ["an HTTP proxy", {}],
    ["an HTTPS proxy", { tls: certificates?.server ?? {} }],
  ] as const)("is reached in a tunnel of %s, which sees nothing of the request", async ([, options]) => {
    const { server, proxy, connection } = await scene([ok], { proxy: options });
    const cluster = reader(connection);
    expect(await cluster.listNodes()).toHaveLength(1);
    expect(await cluster.listNodes()).toHaveLength(1);
    expect(proxy.asked).toEqual([`CONNECT ${HOST}:${new URL(connection.server).port}`]);
    expect(JSON.stringify(proxy.headers)).not.toContain("t0ken");
    expect(server.asked.map(({ headers }) => [headers.authorization, headers.host])).toEqual([
      ["Bearer t0ken-t0ken", new URL(connection.server).host],
      ["Bearer t0ken-t0ken", new URL(connection.server).host],
    ]);
    expect(server.asked.map(({ headers }) => headers["proxy-authorization"])).toEqual([undefined, undefined]);
  });

  test("has its certificate checked all the same", async () => {
    const { connection } = await scene([ok]);
    const error = await rejection(reader({ ...connection, tls: { isInsecure: false } }).listNodes());
    expect(error).toMatchObject({
      name: "ConfigError",
      message: expect.stringContaining("is signed by an unknown authority"),
    });
  });

  test.for(["http", "https"])(
    "of an %s proxy that demands a user gets it from the proxy's URL, which is decoded",
    async (kind) => {
      const tls = kind === "https" ? { tls: certificates?.server ?? {} } : {};
      const { proxy, connection } = await scene([ok], {
        proxy: { login: "us@er:p:ä%ss", ...tls },
        login: "us%40er:p%3A%C3%A4%25ss",
      });
      expect(await reader(connection).listNodes()).toHaveLength(1);
      expect(proxy.asked).toHaveLength(1);
    },
  );

  test("without TLS is asked for through the proxy itself, by its whole URL", async () => {
    const { server, proxy, connection } = await scene([ok], { isPlain: true, proxy: { login: "a:b" }, login: "a:b" });
    expect(await reader(connection).listNodes()).toHaveLength(1);
    expect(proxy.asked).toEqual([`GET ${connection.server}${server.asked[0]?.url}`]);
    expect(server.asked[0]?.headers).toMatchObject({
      authorization: "Bearer t0ken-t0ken",
      host: new URL(connection.server).host,
    });
  });

  test("is watched through the proxy: changes arrive as they come, and a broken tunnel is opened again", async () => {
    const watches: ServerResponse[] = [];
    const node = (name: string, version: string): object => ({
      kind: "Node",
      apiVersion: "v1",
      metadata: { name, resourceVersion: version },
    });
    const nodes = [node("a", "1")];
    const add = (watch: ServerResponse | undefined, name: string): void => {
      const object = node(name, String(nodes.length + 1));
      nodes.push(object);
      watch?.write(`${JSON.stringify({ type: "ADDED", object })}\n`);
    };
    const say: Say = (response, { url }) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      if (!url.includes("watch="))
        return void response.end(
          JSON.stringify({
            kind: "NodeList",
            apiVersion: "v1",
            metadata: { resourceVersion: String(nodes.length) },
            items: nodes,
          }),
        );
      watches.push(response);
      response.flushHeaders();
    };
    const { proxy, connection } = await scene([say]);
    const cluster = createWarmCluster(connection, {
      version: "0",
      clock: REAL_CLOCK,
      reportingInstance: "x",
      random: () => 0,
    });
    closing.push(() => cluster.close());
    const names = async (): Promise<string> => (await cluster.listNodes()).map(({ name }) => name).join();
    await expect.poll(names).toBe("a");
    await expect.poll(() => watches.length).toBe(1);
    add(watches[0], "b");
    await expect.poll(names).toBe("a,b");
    proxy.hangUp();
    await expect.poll(() => watches.length).toBe(2);
    add(watches[1], "c");
    await expect.poll(names).toBe("a,b,c");
    expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${HOST}:${new URL(connection.server).port}`]));
  });
});

describe.skipIf(!hasOpenSSL())("a proxy that", () => {
  const failureOf = async (options: LoopbackProxyOptions, login?: string): Promise<Record<string, unknown>> => {
    const { connection, proxy, server } = await scene([ok], {
      proxy: options,
      ...(login === undefined ? {} : { login }),
    });
    const error = await rejection(reader(connection, 1000).listNodes());
    expect(server.asked).toEqual([]);
    const { name, kind, failure } = error;
    const message = error.message.replaceAll(proxy.url, "PROXY").replaceAll(new URL(connection.server).port, "PORT");
    return { name, why: kind ?? failure, message };
  };

  test.for([
    [
      "wants another password",
      { login: "user:other" },
      "ConfigError",
      "invalid",
      "Cannot reach the API server https://elsewhere.example.test:PORT: the proxy PROXY of HTTPS_PROXY wants another user and password (407). " +
        "Correct its user and password, have it allow the server, or put the server into NO_PROXY.",
    ],
    [
      "does not allow the server",
      { refuse: 403 },
      "ConfigError",
      "invalid",
      "Cannot reach the API server https://elsewhere.example.test:PORT: the proxy PROXY of HTTPS_PROXY does not connect to elsewhere.example.test:PORT (403). " +
        "Correct its user and password, have it allow the server, or put the server into NO_PROXY.",
    ],
    [
      "cannot reach the server",
      { refuse: 502 },
      "KubeError",
      "unavailable",
      "Cannot list nodes: the proxy PROXY of HTTPS_PROXY does not connect to elsewhere.example.test:PORT (502). " +
        "Check that it runs and that its URL is right, or put the server into NO_PROXY.",
    ],
    [
      "never answers",
      { refuse: "never" },
      "KubeError",
      "timeout",
      "Cannot list nodes: no complete answer from https://elsewhere.example.test:PORT within 1 s. Try again, or allow more with --request-timeout.",
    ],
  ] as const)("%s is told of, without its password and without its words", async ([, options, name, why, message]) => {
    expect(await failureOf({ ...options, says: "hunter2 t0ken-t0ken" }, "user:hunter2")).toEqual({
      name,
      why,
      message,
    });
  });

  test("nothing listens at is told of", async () => {
    const free = createServer().listen(0, "127.0.0.1");
    const port = await new Promise<number>((resolve) =>
      free.once("listening", () => resolve((free.address() as { port: number }).port)),
    );
    await new Promise((resolve) => free.close(resolve));
    for (const server of ["https://kube.example.test", "http://kube.example.test"]) {
      const proxy: ProxyServer = readProxy(`http://u:hunter2@127.0.0.1:${port}`, "proxy-url of X");
      const error = await rejection(reader(plainConnection(server, { proxy })).listNodes());
      expect(error).toMatchObject({ name: "KubeError", failure: "unavailable" });
      expect(error.message).toBe(
        `Cannot list nodes: the proxy http://127.0.0.1:${port} of proxy-url of X cannot be reached (ECONNREFUSED). ` +
          "Check that it runs and that its URL is right, or put the server into NO_PROXY.",
      );
    }
  });

  test("has a certificate that nobody vouches for is told of", async () => {
    const { connection } = await scene([ok], { proxy: { tls: certificates?.expired ?? {} } });
    expect((await rejection(reader(connection).listNodes())).message).toMatch(
      /the proxy https:.* cannot be trusted \(CERT_HAS_EXPIRED\)/,
    );
  });

  test("never answers is left alone once nobody waits for it", async () => {
    const { connection, proxy } = await scene([ok], { proxy: { refuse: "never" } });
    await rejection(reader(connection, 300).listNodes());
    await expect.poll(() => proxy.open.size).toBe(0);
  });
});
