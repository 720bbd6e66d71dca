import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readRequest, type SandboxReply, type SandboxRequest } from "../../src/sandbox/http-server.ts";
import { BROKEN_ANSWERS, type BrokenAnswer } from "./broken-answer.ts";

/** The servers that flipop talks to. */
export type ServerName = "kubernetes" | "digitalocean" | "cloudflare";

/** One request as it arrived. */
export interface WireCall {
  readonly server: ServerName;
  readonly method: string;
  readonly path: string;
  /** The field selector of a list; absent = none. */
  readonly fieldSelector?: string;
  /** `server METHOD path #n`: the n-th request of this kind since {@link Wire.begin}. */
  readonly key: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** `performance.now()` when it had arrived. */
  readonly atMs: number;
}

/** What befalls a request. */
export interface Strike {
  /** Waited for before anything else happens. */
  readonly before?: () => Promise<unknown>;
  /** The request never reaches the API. */
  readonly isLost?: boolean;
  /** Waited for between the effect and the answer. */
  readonly after?: () => Promise<unknown>;
  /** What is sent; absent = the true answer. */
  readonly answer?: BrokenAnswer | Extract<SandboxReply, { readonly body?: unknown }>;
}

/** What a wire is made of. */
export interface WireOptions {
  readonly handlers: Readonly<Record<ServerName, (request: SandboxRequest) => SandboxReply | Promise<SandboxReply>>>;
  /** Milliseconds since the epoch, for the `Date` header. */
  readonly now: () => number;
  /** Called after the effect of every request. */
  readonly onEffect?: (call: WireCall, status: number) => void;
}

/** The network between flipop and its servers on loopback: every request passes here, and may be struck. */
export class Wire {
  readonly #options: WireOptions;
  readonly #servers = new Map<ServerName, Server>();
  readonly #ports = new Map<ServerName, number>();
  readonly #stray: Server;
  readonly #isCutOff = new Set<ServerName>();
  #calls: WireCall[] = [];
  readonly #strays: string[] = [];
  #seen = new Map<string, number>();
  #strike: (call: WireCall) => Strike | undefined = () => undefined;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#stray = createServer((message, response) => {
      this.#strays.push(`${message.method} ${message.url} ${message.headers.authorization ?? "without a token"}`);
      response.end("{}");
    });
  }

  /** Begins to listen. */
  async open(): Promise<void> {
    for (const name of ["kubernetes", "digitalocean", "cloudflare"] as const) {
      this.#ports.set(name, await this.#listen(name));
    }
    await listen(this.#stray, 0);
  }

  /** `http://127.0.0.1:PORT`; the same after {@link cutOff} and {@link reconnect}. */
  url(server: ServerName): string {
    return `http://127.0.0.1:${this.#ports.get(server)}`;
  }

  /** Forgets the calls before, and lets `strike` decide from now on. */
  begin(strike: (call: WireCall) => Strike | undefined = () => undefined): void {
    this.#calls = [];
    this.#seen = new Map();
    this.#strike = strike;
  }

  /** The requests since {@link begin}, in the order in which they arrived. */
  calls(): readonly WireCall[] {
    return this.#calls;
  }

  /** Requests that went to somebody else, with their tokens. */
  strays(): readonly string[] {
    return this.#strays;
  }

  /** Breaks all connections to a server, and every new one at once. The port stays taken: another program could get it meanwhile. */
  cutOff(name: ServerName): void {
    this.#isCutOff.add(name);
    this.#servers.get(name)?.closeAllConnections();
  }

  /** Ends {@link cutOff}. */
  reconnect(name: ServerName): void {
    this.#isCutOff.delete(name);
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    for (const server of [...this.#servers.values(), this.#stray]) {
      server.close();
      server.closeAllConnections();
    }
    await Promise.resolve();
  }

  async #listen(name: ServerName): Promise<number> {
    const server = createServer((message, response) => {
      this.#respond(name, message, response).catch(() => response.destroy());
    });
    server.keepAliveTimeout = 0;
    server.on("connection", (socket) => {
      if (this.#isCutOff.has(name)) socket.resetAndDestroy();
    });
    this.#servers.set(name, server);
    return await listen(server, this.#ports.get(name) ?? 0);
  }

  async #respond(server: ServerName, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(message);
    const call = this.#note(server, request);
    const strike = this.#strike(call) ?? {};
    await strike.before?.();
    const reply = strike.isLost === true ? undefined : await this.#effect(call, request);
    await strike.after?.();
    this.#send(response, strike.answer ?? reply ?? "a reset without a byte", reply);
  }

  async #effect(call: WireCall, request: SandboxRequest): Promise<SandboxReply> {
    const reply = await this.#options.handlers[call.server](request);
    this.#options.onEffect?.(call, reply.status);
    return reply;
  }

  #note(server: ServerName, { method, path, query, headers }: SandboxRequest): WireCall {
    const kind = `${server} ${method} ${path}`;
    const count = (this.#seen.get(kind) ?? 0) + 1;
    this.#seen.set(kind, count);
    const fieldSelector = query.get("fieldSelector");
    const part = fieldSelector === null ? {} : { fieldSelector };
    const call = { server, method, path, ...part, headers, key: `${kind} #${count}`, atMs: performance.now() };
    this.#calls.push(call);
    return call;
  }

  #send(response: ServerResponse, answer: BrokenAnswer | SandboxReply, reply: SandboxReply | undefined): void {
    response.setHeader("Date", new Date(this.#options.now()).toUTCString());
    const whole = typeof answer === "string" ? reply : answer;
    const status = whole?.status ?? 200;
    const body = whole === undefined || !("body" in whole) ? Buffer.from("{}") : encode(whole.body);
    const contentType = (whole !== undefined && "contentType" in whole && whole.contentType) || "application/json";
    if (typeof answer === "string") {
      const { port } = this.#stray.address() as AddressInfo;
      BROKEN_ANSWERS[answer]({ response, status, contentType, body, elsewhere: `http://127.0.0.1:${port}` });
      return;
    }
    const headers = "headers" in answer ? answer.headers : {};
    response.writeHead(status, { "Content-Type": contentType, "Content-Length": body.length, ...headers });
    response.end(body);
  }
}

/** True for a request that may change something. */
export function isWrite({ method }: Pick<WireCall, "method">): boolean {
  return method !== "GET";
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

function encode(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
}
