import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";

/** A request as it came over the wire. */
export interface Received {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  /** Decoded, in the order they came. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  /** The parsed body; undefined when there was none. */
  readonly body: unknown;
}

/** What the server does with one request. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is, with the content type of `headers`. */
  readonly text?: string;
  /** `drop`: closes without a byte; `cut`: closes in the middle of the body; the others never end. */
  readonly fault?: "drop" | "cut" | "stall" | "stall-body";
  /** Waited for before anything is sent. */
  readonly after?: Promise<void>;
}

/** An HTTP server on loopback that answers by script. */
export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly Received[];
  close(): Promise<void>;
}

/** Starts a server; `script` is asked once for each request, `at` counts them from 0. */
export async function startScriptedServer(script: (request: Received, at: number) => Reply): Promise<ScriptedServer> {
  const requests: Received[] = [];

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await receive(message);
    requests.push(request);
    const reply = script(request, requests.length - 1);
    await reply.after;
    send(response, reply);
  }

  const server = createServer((message, response) => {
    serve(message, response).catch(() => response.destroy());
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function receive(message: IncomingMessage): Promise<Received> {
  const text = await readText(message);
  const { method = "", headers } = message;
  const url = new URL(message.url ?? "/", "http://localhost");
  const query = Object.fromEntries(url.searchParams);
  return { method, path: url.pathname, query, headers, body: text === "" ? undefined : JSON.parse(text) };
}

function send(response: ServerResponse, { status = 200, headers = {}, json, text, fault }: Reply): void {
  if (fault === "stall") return;
  if (fault === "drop") {
    response.destroy();
    return;
  }
  const body = text ?? (json === undefined ? "" : JSON.stringify(json));
  const type = json === undefined ? {} : { "content-type": "application/json; charset=utf-8" };
  if (fault === undefined) {
    response.writeHead(status, { ...type, ...headers }).end(body);
    return;
  }
  response.writeHead(status, { ...type, "content-length": String(body.length), ...headers });
  response.write(body.slice(0, Math.ceil(body.length / 2)), () => {
    if (fault === "cut") response.destroy();
  });
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
