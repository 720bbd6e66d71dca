import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { ProxyFailure } from "../../../src/adapters/http/agents.ts";
import { proxyChoice } from "../../../src/adapters/http/proxy-choice.ts";
import { type AnswerHeaders, headersOf, type Outgoing, readBody, sender } from "../../../src/adapters/http/request.ts";
import { resolveProxies } from "../../../src/cli/environment.ts";
import { type LoopbackProxy, type LoopbackProxyOptions, loopbackProxy } from "./loopback-proxy.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Seen {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** An answer with its body read. */
interface Read {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
}

/** Sends a GET, unless told otherwise, and reads the answer. */
type SendAndRead = (url: string, request?: Partial<Outgoing>) => Promise<Read>;

/** What sends and reads with these variables of the environment. */
function reading(env: Readonly<Record<string, string>>): SendAndRead {
  const send = sender(proxyChoice(resolveProxies(env)));
  return async (url, request) => {
    const answer = await send(url, { method: "GET", headers: {}, signal: new AbortController().signal, ...request });
    const text = (await readBody(answer)).toString();
    return { status: answer.statusCode ?? 0, headers: headersOf(answer), text };
  };
}

/** A server on loopback; returns its port and what it was asked. */
async function serve(answer: RequestListener): Promise<{ readonly port: number; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server: Server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    seen.push({ request, body });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

async function behind(
  options: LoopbackProxyOptions = {},
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly proxy: LoopbackProxy; readonly send: SendAndRead }> {
  const proxy = await loopbackProxy(options);
  closing.push(proxy.close);
  const url = options.login === undefined ? proxy.url : proxy.url.replace("://", `://${options.login}@`);
  return { proxy, send: reading({ HTTP_PROXY: url, HTTPS_PROXY: url, ...env }) };
}

async function errorOf(promise: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error(`no error: ${String(error)}`);
  return error;
}

/** The ways that requests take, by what is said of them. */
const WAYS: Readonly<Record<string, () => Promise<{ readonly send: SendAndRead; readonly host: string }>>> = {
  directly: async () => ({ send: reading({}), host: "127.0.0.1" }),
  "through a proxy": async () => ({ send: (await behind()).send, host: "api.example.test" }),
};

describe.for(Object.entries(WAYS))("a request sent %s", ([, open]) => {
  test.for([204, 205, 304])("is answered with the status %i, which has no body", async (status) => {
    const { port } = await serve((_, response) => response.writeHead(status).end());
    const { send, host } = await open();
    const answer = await send(`http://${host}:${port}/`, { method: "DELETE" });
    expect([answer.status, answer.text]).toEqual([status, ""]);
  });

  test("follows no redirect: that is the answer", async () => {
    const { port, seen } = await serve((_, response) => response.writeHead(302, { Location: "/elsewhere" }).end());
    const { send, host } = await open();
    const answer = await send(`http://${host}:${port}/`);
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/elsewhere"]);
    expect(seen).toHaveLength(1);
  });

  test("keeps its connection for the next one, and sends the length of a body in bytes", async () => {
    const { port, seen } = await serve((_, response) => response.end("ok"));
    const { send, host } = await open();
    for (const body of ["é", "e"]) await send(`http://${host}:${port}/`, { method: "PUT", body });
    expect(seen.map(({ body, request }) => [body, request.headers["content-length"]])).toEqual([
      ["é", "2"],
      ["e", "1"],
    ]);
    expect(new Set(seen.map(({ request }) => request.socket.remotePort)).size).toBe(1);
  });

  test("has its headers once each: the values of one that came twice are joined", async () => {
    const { port } = await serve((_, response) => response.writeHead(200, { "X-Twice": ["a", "b"] }).end());
    const { send, host } = await open();
    expect((await send(`http://${host}:${port}/`)).headers.get("x-twice")).toBe("a, b");
  });

  test("delivers a large answer whole", async () => {
    const text = "x".repeat(5_000_000);
    const { port } = await serve((_, response) => response.end(text));
    const { send, host } = await open();
    expect((await send(`http://${host}:${port}/`)).text.length).toBe(text.length);
  });

  test.for(["before the answer", "in the middle of it"])("ends when its signal does, %s", async (moment) => {
    const { port, seen } = await serve((_, response) => {
      if (moment === "in the middle of it") response.writeHead(200, { "Content-Length": "10" }).write("begin");
    });
    const { send, host } = await open();
    await expect(send(`http://${host}:${port}/`, { signal: AbortSignal.timeout(200) })).rejects.toThrow();
    await expect.poll(() => seen.every(({ request }) => request.socket.destroyed)).toBe(true);
  });

  test("is not sent once its signal has ended", async () => {
    const { port, seen } = await serve((_, response) => response.end("ok"));
    const { send, host } = await open();
    await expect(send(`http://${host}:${port}/`, { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(seen).toEqual([]);
  });

  test("fails where the answer breaks off", async () => {
    const { port } = await serve((_, response) => {
      response.writeHead(200, { "Content-Length": "10" }).write("begin", () => response.destroy());
    });
    const { send, host } = await open();
    expect(await errorOf(send(`http://${host}:${port}/`))).toMatchObject({ code: "ECONNRESET" });
  });
});

test("a server that does not listen is named by its code, and nothing was sent", async () => {
  expect(await errorOf(reading({})("http://127.0.0.1:1/"))).toMatchObject({ code: "ECONNREFUSED" });
});

describe("a request through a proxy", () => {
  test("sends method, headers and body as they are, and returns status, headers and body", async () => {
    const { port, seen } = await serve((_, response) => {
      response.writeHead(201, { "X-Twice": ["a", "b"], "Content-Type": "application/json" }).end('{"ü":1}');
    });
    const { proxy, send } = await behind({ login: "me:s3cret-s3cret" });
    const answer = await send(`http://api.example.test:${port}/v2/things?page=1`, {
      method: "POST",
      headers: { Authorization: "Bearer x", "Content-Type": "application/json" },
      body: '{"é":2}',
    });
    expect([answer.status, answer.headers.get("x-twice"), answer.text]).toEqual([201, "a, b", '{"ü":1}']);
    expect(proxy.asked).toEqual([`POST http://api.example.test:${port}/v2/things?page=1`]);
    expect(seen[0]?.request.method).toBe("POST");
    expect(seen[0]?.request.url).toBe("/v2/things?page=1");
    expect(seen[0]?.body).toBe('{"é":2}');
    expect(seen[0]?.request.headers).toMatchObject({
      host: `api.example.test:${port}`,
      authorization: "Bearer x",
      "content-length": "8",
    });
    expect(seen[0]?.request.headers).not.toHaveProperty("proxy-authorization");
  });

  test("keeps its connection to the proxy for the next request", async () => {
    const { port } = await serve((_, response) => response.end("ok"));
    const { proxy, send } = await behind();
    for (const path of ["a", "b", "c"]) await send(`http://api.example.test:${port}/${path}`);
    expect(proxy.asked).toHaveLength(3);
    expect(proxy.open.size).toBe(1);
  });

  test("does not go there for what is excepted, nor for loopback", async () => {
    const { port } = await serve((_, response) => response.end("direct"));
    const { proxy, send } = await behind({}, { NO_PROXY: "*" });
    expect((await send(`http://127.0.0.1:${port}/`)).text).toBe("direct");
    const always = await behind();
    expect((await always.send(`http://localhost:${port}/`)).text).toBe("direct");
    expect([proxy.asked, always.proxy.asked]).toEqual([[], []]);
  });
});

describe("what goes wrong at the proxy", () => {
  test("is told apart from what goes wrong behind it: a tunnel that is refused has sent nothing", async () => {
    const { send } = await behind({ refuse: 502, says: "hunter2" });
    const cause = await errorOf(send("https://api.example.test/", { method: "POST", body: "{}" }));
    expect(cause).toBeInstanceOf(ProxyFailure);
    expect(cause).toMatchObject({ isUnsent: true, status: 502 });
    expect(cause.message).toMatch(
      /^the proxy http:\/\/127\.0\.0\.1:\d+ of HTTPS_PROXY does not connect to api\.example\.test:443 \(502\)$/,
    );
  });

  test("may have happened after the request was sent, where the proxy itself sends it on", async () => {
    const { port } = await serve((request) => request.socket.destroy());
    const { send } = await behind();
    const cause = await errorOf(send(`http://api.example.test:${port}/`, { method: "POST", body: "{}" }));
    expect(cause).toMatchObject({ name: "ProxyFailure", isUnsent: false, code: "ECONNRESET" });
    expect(cause.message).toContain("broke the connection (ECONNRESET)");
  });
});

/** A SOCKS5 proxy without authentication that takes every name to loopback. */
async function socksProxy(): Promise<{ readonly port: number; readonly names: string[] }> {
  const names: string[] = [];
  const server = createSocketServer((socket: Socket) => {
    socket.once("data", () => {
      socket.write(Buffer.from([5, 0]));
      socket.once("data", (request: Buffer) => {
        const length = request[4] ?? 0;
        names.push(request.subarray(5, 5 + length).toString());
        const upstream = connect(request.readUInt16BE(5 + length), "127.0.0.1", () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          upstream.pipe(socket).pipe(upstream);
        });
        upstream.on("error", () => socket.destroy());
        socket.on("error", () => upstream.destroy()).on("close", () => upstream.destroy());
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, names };
}

test("a SOCKS proxy is told the name of the server and resolves it", async () => {
  const { port, seen } = await serve((_, response) => response.end("ok"));
  const proxy = await socksProxy();
  const send = reading({ HTTP_PROXY: `socks5h://127.0.0.1:${proxy.port}` });
  const answer = await send(`http://api.example.test:${port}/`, { headers: { Connection: "close" } });
  expect(answer.text).toBe("ok");
  expect(proxy.names).toEqual(["api.example.test"]);
  expect(seen[0]?.request.headers.host).toBe(`api.example.test:${port}`);
});
