import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTLSServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import type { Connection } from "../../../src/adapters/kube/call.ts";

// An API server that says what a test tells it to say, answer by answer, and remembers what it was asked.

/** A request as it arrived. */
export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  /** Parsed JSON; undefined when there is none. */
  readonly body: unknown;
  /** Number of the connection it came on, from 0. */
  readonly socket: number;
}

/** What to answer: JSON with a status, or anything a handler does to the response. */
export type Say =
  | { readonly status?: number; readonly json: unknown; readonly headers?: Readonly<Record<string, string>> }
  | ((response: ServerResponse, asked: Asked) => void);

/** A running scripted server. */
export interface ScriptedServer {
  readonly url: string;
  /** In order of arrival. */
  readonly asked: Asked[];
  readonly close: () => Promise<void>;
}

/** Serves the answers in turn, the last one for ever. @param atPort - default: any that is free */
export async function scriptedServer(script: readonly Say[], tls?: ServerOptions, atPort = 0): Promise<ScriptedServer> {
  const asked: Asked[] = [];
  const sockets: unknown[] = [];
  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const say = script[Math.min(asked.length, script.length - 1)];
    const { method = "", url = "", headers, socket } = message;
    if (!sockets.includes(socket)) sockets.push(socket);
    const index = asked.length;
    asked.push({ method, url, headers, body: undefined, socket: sockets.indexOf(socket) });
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const whole = {
      method,
      url,
      headers,
      body: text === "" ? undefined : JSON.parse(text),
      socket: sockets.indexOf(socket),
    };
    asked[index] = whole;
    if (typeof say === "function") say(response, whole);
    else respond(response, say);
  };
  const listener = (message: IncomingMessage, response: ServerResponse): void => {
    handle(message, response).catch(() => response.destroy());
  };
  const server: Server = tls === undefined ? createServer(listener) : createTLSServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(atPort, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function respond(response: ServerResponse, say: Exclude<Say, (...args: never[]) => void> | undefined): void {
  response.writeHead(say?.status ?? 200, { "Content-Type": "application/json", ...say?.headers });
  response.end(JSON.stringify(say?.json));
}

/** Sends headers that promise more than the body that follows, then breaks the connection. */
export function cutOff(response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
  response.write('{"kind":"NodeList","items":[', () => response.destroy());
}

/** Breaks the connection without an answer. */
export function hangUp(response: ServerResponse): void {
  response.destroy();
}

/** A Kubernetes `Status` failure. */
export function failure(status: number, reason: string, message: string, headers: Record<string, string> = {}): Say {
  return {
    status,
    headers,
    json: { kind: "Status", apiVersion: "v1", status: "Failure", message, reason, code: status },
  };
}

/** A list of built-in objects, in the key order of the real server. */
export function list(kind: string, items: readonly unknown[], token = ""): Say {
  const metadata = { resourceVersion: "1", ...(token === "" ? {} : { continue: token }) };
  return { json: { kind, apiVersion: "v1", metadata, items } };
}

/** A connection without credentials. */
export function plainConnection(server: string, rest: Partial<Connection> = {}): Connection {
  return {
    server,
    source: 'context "test" of test.yaml',
    context: "test",
    namespace: "default",
    tls: { isInsecure: false },
    user: {},
    impersonation: { groups: [], extra: {} },
    ...rest,
  };
}
