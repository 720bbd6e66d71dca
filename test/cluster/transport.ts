import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";

/** A Kubernetes object as far as tests look into one; also `Status` (code, reason, message) and lists (items). */
export type KubeObject = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
    readonly deletionTimestamp?: string;
    readonly continue?: string;
  };
  readonly spec?: Record<string, unknown>;
  readonly status?: Record<string, unknown>;
  readonly items?: readonly KubeObject[];
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
};

/** An answer of the server, whatever its status. `body` is what a caller says it is; text when it is not JSON. */
export type Reply<T> = { readonly status: number; readonly body: T };

export type TransportOptions = {
  readonly server: string;
  readonly caFile: string;
  /** Without a token the request is anonymous. */
  readonly token?: string;
  /** The longest time for one request; 30 s when not given. */
  readonly timeoutMs?: number;
};

/** JSON over HTTPS on connections that stay open: 200 requests cost one handshake, not 200. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #agent: Agent;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 8, ca: readFileSync(options.caFile) });
  }

  /**
   * Sends one request and returns the answer, also when its status is an error.
   * @throws Error when no answer comes: no connection, or `TimeoutError`.
   */
  async send<T>(
    method: string,
    path: string,
    body?: unknown,
    contentType = "application/json",
    accept = "application/json",
  ): Promise<Reply<T>> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    try {
      return await this.#once<T>(method, path, text, { contentType, accept });
    } catch (error) {
      // The server closed an idle connection just as we took it: the request never arrived, so a new one is no repeat.
      if (!(error instanceof StaleConnection)) throw error;
      return await this.#once<T>(method, path, text, { contentType, accept });
    }
  }

  /** Closes the idle connections. Not needed at the end of a process. */
  close(): void {
    this.#agent.destroy();
  }

  async #once<T>(
    method: string,
    path: string,
    text: string | undefined,
    { contentType, accept }: { readonly contentType: string; readonly accept: string },
  ): Promise<Reply<T>> {
    const { server, token, timeoutMs = 30_000 } = this.#options;
    const headers = {
      accept,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(text === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(text) }),
    };
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(`${server}${path}`, { method, headers, agent: this.#agent, signal }, resolve);
      outgoing.on("error", (error) => {
        if (signal.aborted) return reject(signal.reason);
        const isStale = outgoing.reusedSocket && "code" in error && error.code === "ECONNRESET";
        return reject(isStale ? new StaleConnection(error.message, { cause: error }) : error);
      });
      outgoing.end(text);
    });
    const answer = Buffer.concat(await response.toArray()).toString("utf8");
    const isJSON = response.headers["content-type"]?.startsWith("application/json") ?? false;
    return { status: response.statusCode ?? 0, body: isJSON ? JSON.parse(answer) : answer };
  }
}

class StaleConnection extends Error {}
