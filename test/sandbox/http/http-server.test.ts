import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type Fault, FaultList } from "../../../src/sandbox/faults.ts";
import {
  type RecordedCall,
  type SandboxReply,
  type SandboxRequest,
  type SandboxServer,
  type ServeOptions,
  serve,
} from "../../../src/sandbox/http-server.ts";

const servers: SandboxServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

interface Running {
  readonly url: string;
  readonly seen: SandboxRequest[];
  readonly calls: RecordedCall[];
}

/** A server that answers `{"n": COUNT}` and remembers what it saw. */
async function run(faults: readonly Omit<Fault, "server">[] = [], more: Partial<ServeOptions> = {}): Promise<Running> {
  const seen: SandboxRequest[] = [];
  const calls: RecordedCall[] = [];
  const server = await serve({
    server: "digitalocean",
    faults: new FaultList(faults.map((fault) => ({ server: "digitalocean", ...fault }))),
    handle: (request): SandboxReply => {
      seen.push(request);
      return { status: 200, headers: { "x-real": "yes" }, body: { n: seen.length } };
    },
    onCall: (call) => calls.push(call),
    ...more,
  });
  servers.push(server);
  return { url: server.url, seen, calls };
}

describe("a request", () => {
  test("arrives decoded, with lower-case headers, query and parsed body, and is recorded with its status", async () => {
    const { url, seen, calls } = await run();
    const response = await fetch(`${url}/v2/a%20b?page=2&x=%C3%A9`, {
      method: "POST",
      headers: { "X-Token": "T" },
      body: '{"type":"assign","droplet_id":1,"type":"unassign"}',
    });
    expect(await response.json()).toEqual({ n: 1 });
    expect(seen[0]).toMatchObject({ method: "POST", path: "/v2/a b", headers: { "x-token": "T" } });
    expect(seen[0]?.query.get("x")).toBe("é");
    expect(seen[0]?.body).toEqual({ type: "unassign", droplet_id: 1 });
    expect(calls).toEqual([
      {
        server: "digitalocean",
        method: "POST",
        path: "/v2/a b",
        query: "page=2&x=%C3%A9",
        body: { type: "unassign", droplet_id: 1 },
        status: 200,
      },
    ]);
  });

  test("keeps a path that begins with two slashes", async () => {
    const { url, seen } = await run();
    await fetch(`${url}//v2/account`);
    expect(seen[0]?.path).toBe("//v2/account");
  });

  test("with broken JSON is answered 400 and does not reach the API", async () => {
    const { url, seen } = await run();
    const response = await fetch(url, { method: "POST", body: "{" });
    expect([response.status, seen.length]).toEqual([400, 0]);
    expect(await response.json()).toEqual({ id: "bad_request", message: "The request body is not valid JSON." });
  });
});

describe("an answer", () => {
  test("carries a Date header of the server's own clock", async () => {
    const { url } = await run([], { now: () => Date.UTC(2031, 4, 6, 7, 8, 9) });
    expect((await fetch(url)).headers.get("date")).toBe("Tue, 06 May 2031 07:08:09 GMT");
  });

  test("carries a Date header of the machine's clock without one", async () => {
    const { url } = await run();
    const askedMs = Date.now();
    const date = Date.parse((await fetch(url)).headers.get("date") ?? "");
    // The header knows no parts of a second.
    expect(date).toBeGreaterThan(askedMs - 1000);
    expect(date).toBeLessThanOrEqual(Date.now());
  });

  test.for([
    ["an object", { status: 201, body: { a: 1 } }, 201, "application/json", '{"a":1}'],
    ["text", { status: 200, body: "<p>", contentType: "text/html" }, 200, "text/html", "<p>"],
    ["bytes", { status: 200, body: Buffer.from("xyz"), contentType: "a/b" }, 200, "a/b", "xyz"],
    ["nothing", { status: 204 }, 204, null, ""],
  ] as const)("may be %s", async ([, reply, status, type, text]) => {
    const { url } = await run([], { handle: () => reply });
    const response = await fetch(url);
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      status,
      type,
      text,
    ]);
  });

  test("is 500 with the message when the API throws, and the error is told", async () => {
    const errors: unknown[] = [];
    const handle = (): never => {
      throw new Error("cannot read world.yaml:3:1");
    };
    const { url } = await run([], { handle, onError: (error) => errors.push(error) });
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ id: "server_error", message: "cannot read world.yaml:3:1" });
    expect(errors).toEqual([new Error("cannot read world.yaml:3:1")]);
  });

  test.for([
    ["digitalocean", { id: "server_error", message: "broken" }],
    ["kubernetes", { kind: "Status", status: "Failure", reason: "InternalError", message: "broken", code: 500 }],
    ["cloudflare", { success: false, errors: [{ code: 500, message: "broken" }] }],
  ] as const)("is 500 in the words of %s when the faults cannot be read", async ([server, body]) => {
    const errors: unknown[] = [];
    const take = (): never => {
      throw new Error("broken");
    };
    const { url, seen } = await run([], { server, faults: { take }, onError: (error) => errors.push(error) });
    const response = await fetch(url);
    expect([response.status, seen.length, errors.length]).toEqual([500, 0, 1]);
    expect(await response.json()).toMatchObject(body);
  });

  test("may be a stream that ends by itself", async () => {
    const { url } = await run([], { handle: () => streamOf(["a\n", "b\n"]) });
    expect(await (await fetch(url)).text()).toBe("a\nb\n");
  });

  test("that streams is told when the client goes", async () => {
    const ended = Promise.withResolvers<string>();
    const { url } = await run([], {
      handle: () => ({
        status: 200,
        contentType: "application/json",
        stream: async (write, signal) => {
          write("a\n");
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          ended.resolve("ended");
        },
      }),
    });
    const client = new AbortController();
    const response = await fetch(url, { signal: client.signal });
    expect(new TextDecoder().decode((await response.body?.getReader().read())?.value)).toBe("a\n");
    client.abort();
    expect(await ended.promise).toBe("ended");
  });
});

describe("a fault", () => {
  test("answers its status, headers and body in place of the API, without effect", async () => {
    const body = "<html>Bad Gateway</html>";
    const { url, seen, calls } = await run([
      { status: 502, headers: { "x-a": "1" }, body, contentType: "text/html", path: "^/v2/" },
    ]);
    const response = await fetch(`${url}/v2/account`);
    expect([response.status, response.headers.get("x-a"), response.headers.get("content-type")]).toEqual([
      502,
      "1",
      "text/html",
    ]);
    expect(await response.text()).toBe(body);
    expect(seen).toEqual([]);
    expect(calls).toMatchObject([{ status: 502 }]);
    expect((await fetch(`${url}/v2/account`)).status).toBe(200);
  });

  test("with effect answers its status although the request took effect", async () => {
    const { url, seen } = await run([{ status: 500, effect: true, body: { id: "server_error", message: "oops" } }]);
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ id: "server_error", message: "oops" });
    expect(seen).toHaveLength(1);
  });

  test("without status changes only what it names of the real answer", async () => {
    const { url, seen } = await run([{ headers: { date: "Tue, 06 May 2031 07:08:09 GMT" } }, { body: "garbage" }]);
    const first = await fetch(url);
    expect([first.headers.get("date"), first.headers.get("x-real")]).toEqual(["Tue, 06 May 2031 07:08:09 GMT", "yes"]);
    expect(await first.json()).toEqual({ n: 1 });
    const second = await fetch(url);
    expect([second.status, await second.text(), seen.length]).toEqual([200, "garbage", 2]);
  });

  test("with an empty status answers no body at all", async () => {
    const { url } = await run([{ status: 503 }]);
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([503, ""]);
  });

  test.for([
    ["before", 0],
    ["after", 1],
  ] as const)("cuts the connection %s the effect, without an answer", async ([cut, effects]) => {
    const { url, seen, calls } = await run([{ cut, method: "POST" }]);
    await expect(fetch(url, { method: "POST", body: "{}" })).rejects.toThrow("fetch failed");
    expect(seen).toHaveLength(effects);
    expect(calls).toMatchObject([{ status: 0 }]);
  });

  test("cuts the connection in the middle of the body, after the effect", async () => {
    const { url, seen } = await run([{ cut: "middle" }]);
    const response = await fetch(url);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
    expect(seen).toHaveLength(1);
  });

  test.for([200, 204])("cuts an answer %i without a body in the middle too", async (status) => {
    const { url } = await run([{ cut: "middle" }], { handle: () => ({ status }) });
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
  });

  test("cuts a stream in the middle of its first chunk", async () => {
    const { url } = await run([{ cut: "middle" }], { handle: () => streamOf(["abcdef\n", "never\n"]) });
    const response = await fetch(url);
    await expect(response.text()).rejects.toThrow("terminated");
  });

  test("delays the effect, and a client that gives up meanwhile does not undo it", async () => {
    const recorded = Promise.withResolvers<RecordedCall>();
    const { url, seen } = await run([{ delayMs: 120 }], { onCall: (call) => recorded.resolve(call) });
    await expect(fetch(url, { signal: AbortSignal.timeout(30) })).rejects.toThrow("timeout");
    expect(seen).toEqual([]);
    await recorded.promise;
    expect(seen).toHaveLength(1);
  });
});

describe("a server", () => {
  test("listens on loopback, keeps connections, and ends them and its streams when it is closed", async () => {
    const ended: string[] = [];
    const server = await serve({
      server: "kubernetes",
      faults: new FaultList(),
      handle: () => ({
        status: 200,
        contentType: "application/json",
        stream: async (_write, signal) => {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          ended.push("stream");
        },
      }),
    });
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const response = await fetch(server.url);
    await server.close();
    await server.close();
    await expect(response.text()).rejects.toThrow("terminated");
    expect(ended).toEqual(["stream"]);
    await expect(fetch(server.url)).rejects.toThrow("fetch failed");
  });

  test("survives a connection that breaks in the middle of a request", async () => {
    const { url } = await run();
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    await new Promise<void>((resolve) => socket.once("connect", resolve));
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
    socket.destroy();
    expect((await fetch(url)).status).toBe(200);
  });
});

function streamOf(chunks: readonly string[]): SandboxReply {
  return {
    status: 200,
    contentType: "application/json",
    stream: async (write) => {
      for (const chunk of chunks) write(chunk);
      await Promise.resolve();
    },
  };
}
