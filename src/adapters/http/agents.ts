// Kept-alive connections to a server, directly or through a proxy.
import http, { type Agent, type AgentOptions } from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, getCACertificates } from "node:tls";
import { type ProxyServer, proxyText } from "./proxy-choice.ts";

/** The certificates and rules for TLS with one server; PEM. */
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

/** A request failed at a proxy: flipop could not reach it, it refused to connect, or it broke the connection. */
export class ProxyFailure extends Error {
  override readonly name: string = "ProxyFailure";
  /** A code of node:net or node:tls for a proxy that cannot be reached, else `ERR_PROXY_REFUSED`. */
  readonly code: string;
  /** The HTTP status that the proxy answered with; 0 when it did not answer. */
  readonly status: number;
  /** True if certainly no part of the request reached the server. */
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
 * Returns an agent for requests to servers of one protocol:
 *
 *   proxy                https: servers                     http: servers
 *   none                 connects to the server             connects to the server
 *   http:, https:        opens a tunnel with CONNECT        connects to the proxy, which forwards the request
 *   socks5:, socks5h:    connects by the SOCKS protocol     the same
 *
 * Checks the certificate of an `https:` proxy against the usual authorities and that of the server.
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

/** True if the proxy forwards requests to servers of this protocol: then the request names the whole URL. */
export function isForwarded(protocol: string, proxy: ProxyServer | undefined): proxy is ProxyServer {
  return protocol === "http:" && proxy !== undefined && !proxy.url.protocol.startsWith("socks");
}

/** Returns the header with the proxy's user and password; an empty object if its URL has none. */
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

/** Returns how to check the proxy's certificate: as the server's, like Go. The client certificate is not for the proxy. */
function proxyTLS({ ca, rejectUnauthorized }: TLSFacts): https.AgentOptions {
  return {
    ...(ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  };
}

/** Options that a request passes to its agent. Node keeps the option `signal` back (24.21, tried 2026-11-22). */
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

/** Returns where a proxy listens, as options of a request. Without `servername` Node would check its certificate for the name in the header `Host`. */
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

/** Leaves the proxy's own words out: they may repeat its password. */
function refusedTunnel(proxy: ProxyServer, target: string, status: number): ProxyFailure {
  const why = status === 407 ? "wants another user and password (407)" : `does not connect to ${target} (${status})`;
  return new ProxyFailure(proxy, why, { status, isUnsent: true });
}
