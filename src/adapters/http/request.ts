import http, { type Agent, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import {
  type ConnectOptions,
  createAgent,
  isForwarded,
  proxyAddress,
  proxyAuthorization,
  type TLSFacts,
  unreachable,
} from "./agents.ts";
import type { ChooseProxy, ProxyServer } from "./proxy-choice.ts";

/** One request, ready to be sent. */
export interface Request {
  readonly url: URL;
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array | undefined;
  /** Of {@link createAgent}, for the protocol of the URL and the same proxy. */
  readonly agent: Agent;
  readonly tls: TLSFacts;
  readonly proxy: ProxyServer | undefined;
  /** Ends the exchange, headers and body alike. */
  readonly signal: AbortSignal;
}

/**
 * Sends one request and resolves with its answer's head; the body is for the caller to read. Never follows a redirect, never repeats.
 * @throws ProxyFailure when no connection through the proxy came about; Error of node:http or node:tls, with its `code`, when there is no answer.
 */
export function openRequest({ url, body, tls, proxy, ...rest }: Request): Promise<IncomingMessage> {
  const { signal } = rest;
  const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  const isViaProxy = isForwarded(url.protocol, proxy);
  const own: OutgoingHttpHeaders = isViaProxy ? { Host: url.host, ...proxyAuthorization(proxy) } : {};
  const options = { ...rest, headers: { ...rest.headers, ...length, ...own }, connectSignal: signal };
  return new Promise((resolve, reject) => {
    const sent = isViaProxy ? forward(url, proxy, options) : direct(url, { ...options, ...tls });
    sent.once("response", resolve);
    sent.on("error", (error) => reject(isViaProxy && !signal.aborted ? unreachable(proxy, error, false) : error));
    sent.end(body);
  });
}

function direct(url: URL, options: https.RequestOptions & ConnectOptions): http.ClientRequest {
  return (url.protocol === "http:" ? http : https).request(url, options);
}

/** Asks the proxy for the whole URL. */
function forward(url: URL, proxy: ProxyServer, options: https.RequestOptions): http.ClientRequest {
  const path = `${url.origin}${url.pathname}${url.search}`;
  const { request: open } = proxy.url.protocol === "https:" ? https : http;
  return open({ ...options, ...proxyAddress(proxy), path });
}

/** The part of the global `fetch` that flipop uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Connections to one proxy; a provider has at most five calls in flight. */
const MAX_SOCKETS = 8;
const IDLE_MS = 4000;
/** Statuses of a `Response` without a body. */
const BODILESS: readonly number[] = [204, 205, 304];
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Returns a `fetch` that uses the proxy of each URL. Without a proxy it is the global `fetch`. It reads `method`, `headers`, `body`, `signal` and
 * `redirect`, and never follows a redirect. Idle connections do not keep the process alive.
 */
export function proxiedFetch(choose: ChooseProxy): Fetch {
  const agents = new Map<string, Promise<Agent>>();
  return async (url, init) => {
    const target = new URL(url);
    const proxy = choose(target);
    if (proxy === undefined) return await fetch(url, init);
    const key = `${target.protocol} ${proxy.url.href}`;
    const { protocol } = target;
    const agent =
      agents.get(key) ?? createAgent({ protocol, tls: {}, proxy, maxSockets: MAX_SOCKETS, idleMs: IDLE_MS });
    agents.set(key, agent);
    return await send(target, init, { agent: await agent, proxy });
  };
}

async function send(url: URL, init: RequestInit, over: Pick<Request, "agent" | "proxy">): Promise<Response> {
  const { method = "GET", signal, redirect } = init;
  const body = init.body == null ? undefined : new Uint8Array(await new Response(init.body).arrayBuffer());
  const headers = Object.fromEntries(new Headers(init.headers));
  const request = { url, method, headers, tls: {}, signal: signal ?? new AbortController().signal, ...over };
  const answer = await openRequest({ ...request, body }).catch((error: unknown) => {
    throw new TypeError("fetch failed", { cause: error });
  });
  const status = answer.statusCode ?? 0;
  if (redirect === "error" && REDIRECTS.includes(status)) {
    answer.destroy();
    throw new TypeError("fetch failed", { cause: new Error("unexpected redirect") });
  }
  const stream = BODILESS.includes(status) ? null : (Readable.toWeb(answer) as ReadableStream);
  if (stream === null) answer.resume();
  return new Response(stream, { status, headers: headersOf(answer) });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}
