import { readFileSync } from "node:fs";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";

/** Where requests go on to. */
export interface Upstream {
  readonly url: string;
  /** The certificate to trust, a PEM file. */
  readonly caFile?: string;
}

/** A request that is to go no further, or whose answer is not to come back. */
export interface Stop {
  readonly method: string;
  readonly path: RegExp;
  readonly moment: "before" | "after";
  /** How many that fit pass first; default 0. */
  readonly skip?: number;
}

/** One request of the process behind a gate. */
export interface GateCall {
  readonly method: string;
  readonly path: string;
}

/** A write of a Lease, as the server answered it. */
export interface LeaseAnswer extends GateCall {
  readonly status: number;
}

interface Waiting {
  readonly stop: Stop;
  left: number;
  /** `goOn` lets the request go on after all. */
  readonly reached: (goOn: () => void) => void;
}

/** Connection-bound headers, which are each side's own. */
const OWN: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding", "host"]);

/**
 * Stands between one process and a server, and lets everything through, watches included, until a request comes that a test wants to stop. What is stopped stays so: the
 * process is to be killed then. What is held goes on when the test says so.
 */
export class Gate {
  /** Everything that changed something, or was to. */
  readonly writes: GateCall[] = [];
  /** Shown each of these before it goes on. */
  onWrite: ((call: GateCall) => void) | undefined;
  /** The answers to writes of Leases. */
  readonly leaseAnswers: LeaseAnswer[] = [];
  readonly #upstream: Upstream;
  readonly #agent: http.Agent;
  readonly #server: http.Server;
  #waiting: Waiting | undefined;

  private constructor(upstream: Upstream) {
    this.#upstream = upstream;
    this.#agent = upstream.url.startsWith("https:")
      ? new https.Agent({
          keepAlive: true,
          ...(upstream.caFile === undefined ? {} : { ca: readFileSync(upstream.caFile) }),
        })
      : new http.Agent({ keepAlive: true });
    this.#server = http.createServer((request, response) => this.#pass(request, response));
  }

  static async open(upstream: Upstream): Promise<Gate> {
    const gate = new Gate(upstream);
    await new Promise<void>((resolve) => gate.#server.listen(0, "127.0.0.1", resolve));
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stops the first request that fits; resolves when it has come so far. */
  stopAt(stop: Stop): Promise<void> {
    return new Promise((reached) => {
      this.#waiting = { stop, left: stop.skip ?? 0, reached: () => reached() };
    });
  }

  /** Holds the first request that fits; resolves when it has come so far, with what lets it go on. */
  holdAt(held: Omit<Stop, "moment">): Promise<() => void> {
    return new Promise((reached) => {
      this.#waiting = { stop: { ...held, moment: "before" }, left: held.skip ?? 0, reached };
    });
  }

  /** Breaks all connections, as a load balancer does that is replaced. */
  dropAll(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "" } = request;
    const path = url.split("?")[0] ?? "";
    if (method !== "GET" && !path.includes("/leases/")) {
      this.writes.push({ method, path });
      this.onWrite?.({ method, path });
    }
    const waiting = this.#take(method, path);
    if (waiting?.stop.moment === "before") waiting.reached(() => this.#send(request, response));
    else this.#send(request, response, waiting);
  }

  #send(request: IncomingMessage, response: ServerResponse, waiting?: Waiting): void {
    const { method = "", url = "" } = request;
    const { request: open } = this.#upstream.url.startsWith("https:") ? https : http;
    const headers = kept(request.headers);
    const onward = open(new URL(url, this.#upstream.url), { method, headers, agent: this.#agent }, (answer) => {
      const path = url.split("?")[0] ?? "";
      if (method !== "GET" && /\/leases(\/|$)/.test(path))
        this.leaseAnswers.push({ method, path, status: answer.statusCode ?? 0 });
      if (waiting !== undefined) {
        answer.resume().on("end", () => waiting.reached(() => undefined));
        return;
      }
      response.writeHead(answer.statusCode ?? 502, kept(answer.headers));
      response.flushHeaders();
      answer.on("error", () => response.destroy()).pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => {
      if (waiting === undefined) onward.destroy();
    });
    request.on("error", () => onward.destroy()).pipe(onward);
  }

  #take(method: string, path: string): Waiting | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined || method !== waiting.stop.method || !waiting.stop.path.test(path)) return undefined;
    waiting.left -= 1;
    if (waiting.left >= 0) return undefined;
    this.#waiting = undefined;
    return waiting;
  }
}

function kept(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name)));
}
