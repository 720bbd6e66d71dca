import http, { type Agent, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
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

/** A request to any server. */
export interface Outgoing {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the exchange, headers and body alike. */
  readonly signal: AbortSignal;
}

/** Sends one request as {@link openRequest} does, through the proxy for its URL if there is one. TLS as Node has it (`NODE_EXTRA_CA_CERTS`). */
export type Send = (url: string, request: Outgoing) => Promise<IncomingMessage>;

/** Connections to one server or proxy: more than the calls that a provider may leave without an answer while others go on (limits.ts). */
const MAX_SOCKETS = 100;
const IDLE_MS = 4000;

/**
 * Returns what sends requests. Connections are kept for the next request; idle ones do not keep the process alive. The global `fetch` could do the same, but
 * loading it takes a quarter of the time and a tenth of the memory of a short run (Node 24.21, measured 2026-11-26), and it knows no proxy of one URL.
 */
export function sender(choose: ChooseProxy): Send {
  const agents = new Map<string, Promise<Agent>>();
  return async (text, { body, ...request }) => {
    const url = new URL(text);
    const { protocol } = url;
    const proxy = choose(url);
    const key = `${protocol} ${proxy?.url.href ?? ""}`;
    const agent =
      agents.get(key) ?? createAgent({ protocol, tls: {}, proxy, maxSockets: MAX_SOCKETS, idleMs: IDLE_MS });
    agents.set(key, agent);
    return await openRequest({ ...request, url, body, tls: {}, proxy, agent: await agent });
  };
}

/** The headers of an answer by their names in lower case. The values of one that came more than once are joined by `, `. */
export type AnswerHeaders = ReadonlyMap<string, string>;

/** Returns the headers of an answer. */
export function headersOf({ headersDistinct }: IncomingMessage): AnswerHeaders {
  return new Map(Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(", ")]));
}

/**
 * Reads the body of an answer whose head has come. It goes to `take`, piece by piece, where that is given, and the result is empty.
 * @throws Error with the code `ECONNRESET` when it breaks off; AbortError when its signal ends it
 */
export function readBody(answer: IncomingMessage, take?: (chunk: Buffer) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // It may have broken before anybody listened.
    if (answer.destroyed) reject(answer.errored ?? Object.assign(new Error("aborted"), { code: "ECONNRESET" }));
    const chunks: Buffer[] = [];
    answer.on("data", take ?? ((chunk: Buffer) => chunks.push(chunk)));
    answer.on("error", reject);
    answer.on("end", () => resolve(Buffer.concat(chunks)));
  });
}
