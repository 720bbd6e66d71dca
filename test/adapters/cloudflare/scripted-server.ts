import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { listenOnLoopback } from "../http/loopback-server.ts";
import { type ScriptedReply, sendReply } from "../http/scripted-reply.ts";

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
export type Reply = ScriptedReply;

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
    await sendReply(response, reply);
  }

  const server = createServer((message, response) => {
    serve(message, response).catch(() => response.destroy());
  });
  const url = await listenOnLoopback(server);
  return {
    url,
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
