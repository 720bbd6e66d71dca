// Kept-alive connections to a server, directly or through a proxy.
import http, { type Agent, type AgentOptions } from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, getCACertificates } from "node:tls";
import { type ProxyServer, proxyText } from "./proxy-choice.ts";

/** What TLS with a server needs, PEM. */
export interface TLSFacts {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: false;
}

/** How connections to one server are made and kept. */
export interface AgentFacts {
  /** Of the server: `http:` or `https:`. */
  readonly protocol: string;
  readonly tls: TLSFacts;
  readonly proxy: ProxyServer | undefined;
  readonly maxSockets: number;
  /** Idle connections are closed after this long. */
  readonly idleMs: number;
}

/** A proxy that could not be reached, or did not connect, or broke the connection to it. */
export class ProxyFailure extends Error {
  override readonly name: string = "ProxyFailure";
  /** A code of node:net or node:tls for a proxy that cannot be reached, else `ERR_PROXY_REFUSED`. */
  readonly code: string;
  /** What the proxy answered; 0 when it did not answer. */
  readonly status: number;
  /** True when nothing of a request has been sent to its server for certain. */
  readonly isUnsent: boolean;

  /** The text names the proxy without its user and password: one clause, without a full stop. */
  constructor(proxy: ProxyServer, why: string, facts: ProxyFailureFacts) {
    super(`the proxy ${proxyText(proxy)} of ${proxy.source} ${why}`, { cause: facts.cause });
    this.code = facts.code ?? "ERR_PROXY_REFUSED";
    this.status = facts.status ?? 0;
    this.isUnsent = facts.isUnsent;
  }
}

interface ProxyFailureFacts {
  readonly isUnsent: boolean;
  readonly code?: string;
  readonly status?: number;
  readonly cause?: unknown;
}

/**
 * Returns an agent for requests to servers of one protocol. Through an HTTP proxy `https:` goes in a tunnel (CONNECT), and the agent for `http:` connects to the
 * proxy itself, which is asked for the whole URL; through a SOCKS proxy both go in its own way. The proxy's certificate is checked against the usual authorities and
 * that of the server.
 * @throws Error of node:tls when a certificate or key cannot be used
 */
export async function createAgent({ protocol, tls, proxy, maxSockets, idleMs }: AgentFacts): Promise<Agent> {
  const options = { keepAlive: true, maxSockets, timeout: idleMs };
  const secure = (): https.AgentOptions => ({ ...options, ...tls, secureContext: createSecureContext(tls) });
  if (proxy === undefined) return protocol === "https:" ? new https.Agent(secure()) : new http.Agent(options);
  if (proxy.url.protocol.startsWith("socks")) {
    const { SocksProxyAgent } = await import("socks-proxy-agent");
    return new SocksProxyAgent(proxy.url, options);
  }
  if (protocol === "https:") return new TunnelAgent(proxy, secure(), proxyTLS(tls));
  return proxy.url.protocol === "https:" ? new https.Agent({ ...options, ...proxyTLS(tls) }) : new http.Agent(options);
}

/** True when requests to servers of this protocol are sent to the proxy itself, with the whole URL. */
export function isForwarded(protocol: string, proxy: ProxyServer | undefined): proxy is ProxyServer {
  return protocol === "http:" && proxy !== undefined && !proxy.url.protocol.startsWith("socks");
}

/** Returns the header that lets in at the proxy; none where its URL has no user. */
export function proxyAuthorization({ url }: ProxyServer): { readonly "Proxy-Authorization"?: string } {
  if (url.username === "" && url.password === "") return {};
  const login = `${decoded(url.username)}:${decoded(url.password)}`;
  return { "Proxy-Authorization": `Basic ${Buffer.from(login).toString("base64")}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Go checks the proxy's certificate as it does the server's; the client's own certificate is the server's business alone. */
function proxyTLS({ ca, rejectUnauthorized }: TLSFacts): https.AgentOptions {
  return {
    ...(ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  };
}

/** What a request tells its agent of itself; Node's own `signal` does not get there. */
export interface ConnectOptions {
  /** Ends the making of a connection. */
  readonly connectSignal?: AbortSignal;
}

/** TLS inside a tunnel that an HTTP proxy opens. */
class TunnelAgent extends https.Agent {
  readonly #proxy: ProxyServer;
  readonly #proxyTLS: https.AgentOptions;

  constructor(proxy: ProxyServer, options: https.AgentOptions, proxyOptions: https.AgentOptions) {
    super(options);
    this.#proxy = proxy;
    this.#proxyTLS = proxyOptions;
  }

  override createConnection(
    options: AgentOptions & ConnectOptions & { readonly host?: string; readonly port?: number | string },
    callback: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const secure = super.createConnection.bind(this);
    openTunnel(this.#proxy, this.#proxyTLS, options).then(
      (socket) => callback(null, secure({ ...options, socket } as typeof options) as Duplex),
      (error: Error) => callback(error, undefined as never),
    );
  }
}

/** Asks the proxy for a connection to a server. @throws ProxyFailure */
function openTunnel(
  proxy: ProxyServer,
  proxyOptions: https.AgentOptions,
  {
    host = "",
    port = 443,
    connectSignal,
  }: ConnectOptions & { readonly host?: string; readonly port?: number | string },
): Promise<Duplex> {
  const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const { request: open } = proxy.url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const request = open({
      ...proxyAddress(proxy),
      ...proxyOptions,
      method: "CONNECT",
      path: target,
      headers: { Host: target, ...proxyAuthorization(proxy) },
      agent: false,
      ...(connectSignal === undefined ? {} : { signal: connectSignal }),
    });
    request.once("connect", ({ statusCode = 0 }, socket, head) => {
      if (statusCode >= 200 && statusCode <= 299 && head.length === 0) return resolve(socket);
      socket.destroy();
      reject(refusedTunnel(proxy, target, statusCode));
    });
    request.once("error", (error) => reject(unreachable(proxy, error, true)));
    request.end();
  });
}

/** Returns where a proxy listens, as options of a request to it. Without its own name Node would look for that of the request's `Host` in its certificate. */
export function proxyAddress({ url }: ProxyServer): {
  readonly host: string;
  readonly port: number;
  readonly servername: string;
} {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  return { host, port, servername: isIP(host) === 0 ? host : "" };
}

/** Returns the failure of a proxy that could not be reached, or that broke the connection. */
export function unreachable(proxy: ProxyServer, cause: Error, isUnsent: boolean): ProxyFailure {
  const { code = cause.name } = cause as NodeJS.ErrnoException;
  const isTLS = /^(CERT|ERR_TLS|ERR_SSL|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)/.test(code);
  const isBroken = code === "ECONNRESET" || code === "EPIPE";
  const what = isBroken ? "broke the connection" : "cannot be reached";
  return new ProxyFailure(proxy, `${isTLS ? "cannot be trusted" : what} (${code})`, { code, cause, isUnsent });
}

/** The proxy's own words are left out: they may repeat what it was sent. */
function refusedTunnel(proxy: ProxyServer, target: string, status: number): ProxyFailure {
  const why = status === 407 ? "wants another user and password (407)" : `does not connect to ${target} (${status})`;
  return new ProxyFailure(proxy, why, { status, isUnsent: true });
}
