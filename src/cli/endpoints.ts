import { createServer, type OutgoingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { ConfigError } from "../model/errors.ts";
import { plain } from "../model/text.ts";
import { durationText } from "../model/time.ts";
import type { Staleness } from "../ports/cluster.ts";
import type { Clock } from "../ports/system.ts";

/** The answer to a probe; `why` is for people. */
interface Check {
  readonly isOK: boolean;
  readonly why: string;
}

/** The answers of a watching process. */
interface EndpointSources {
  /** Prometheus' text format. */
  readonly metrics: () => Promise<string>;
  /** OK while the process makes progress; if not, it must be started anew. */
  readonly health: () => Check;
  /** OK while it knows the cluster as it is now. */
  readonly readiness: () => Check;
}

/** A server that listens. */
export interface Endpoints {
  readonly port: number;
  /** Ends it with all its connections. */
  close(): Promise<void>;
}

const TEXT = "text/plain; charset=utf-8";
const METRICS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Serves `/metrics`, `/healthz` and `/readyz` to GET and HEAD; everything else is 404 or 405.
 * @throws ConfigError when the address cannot be listened on
 */
export async function serveEndpoints({ host, port }: ListenAddress, sources: EndpointSources): Promise<Endpoints> {
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 5000, keepAliveTimeout: 30_000 },
    (request, response) => {
      request.resume();
      if (request.method === "GET" || request.method === "HEAD") void answer(request.url ?? "", response, sources);
      else send(response, 405, "Only GET and HEAD are answered.\n", { Allow: "GET, HEAD" });
    },
  );
  server.maxConnections = 100;
  await listen(server, host, port);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(url: string, response: ServerResponse, sources: EndpointSources): Promise<void> {
  switch (url.split("?")[0]) {
    case "/metrics":
      return await sendMetrics(response, sources);
    case "/healthz":
      return sendCheck(response, sources.health());
    case "/readyz":
      return sendCheck(response, sources.readiness());
    default:
      return send(response, 404, "There are /metrics, /healthz and /readyz.\n");
  }
}

async function sendMetrics(response: ServerResponse, { metrics }: EndpointSources): Promise<void> {
  try {
    send(response, 200, await metrics(), { "Content-Type": METRICS_TEXT });
  } catch (error) {
    const why = error instanceof Error ? error.message : "unknown";
    send(response, 500, `${plain(`The metrics could not be written: ${why}`)}\n`);
  }
}

function sendCheck(response: ServerResponse, { isOK, why }: Check): void {
  send(response, isOK ? 200 : 503, `${plain(why)}\n`);
}

/** Node itself leaves out the body of an answer to HEAD. */
function send(response: ServerResponse, status: number, body: string, more: OutgoingHttpHeaders = {}): void {
  const length = { "Content-Length": Buffer.byteLength(body), "X-Content-Type-Options": "nosniff" };
  response.writeHead(status, { "Content-Type": TEXT, ...length, ...more }).end(body);
}

function listen(server: Server, host: string | undefined, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const where = `${host ?? ""}:${port}`;
      const text = `Could not listen on ${where} for --metrics-addr: ${cause.code ?? cause.message}. Choose another address, or end what listens there.`;
      reject(new ConfigError("invalid", text, { cause }));
    });
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => resolve());
  });
}

/** Time that a pass may take beyond what its parts are allowed, milliseconds. */
const MARGIN_MS = 60_000;

interface WatchHealthOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** The most that one pass may take, milliseconds. */
  readonly passMs: number;
  readonly staleness: () => Staleness | undefined;
}

/** Judges a watching process: does it make progress, and does it know the cluster as it is now? */
export class WatchHealth {
  readonly #options: WatchHealthOptions;
  #beatMs: number;
  #hasRead = false;
  #isLeading = false;

  constructor(options: WatchHealthOptions) {
    this.#options = options;
    this.#beatMs = options.clock.monotonicMs();
  }

  /** A pass has ended. */
  beat(hasRead: boolean): void {
    this.#beatMs = this.#options.clock.monotonicMs();
    this.#hasRead ||= hasRead;
  }

  lead(): void {
    this.#isLeading = true;
    this.beat(false);
  }

  /** A standby only waits for the Lease, which has deadlines of its own. */
  health(): Check {
    const { clock, intervalMs, passMs } = this.#options;
    const agoMs = clock.monotonicMs() - this.#beatMs;
    const why = this.#isLeading ? `the last pass ended ${durationText(agoMs)} ago` : "waiting for the Lease";
    return { isOK: !this.#isLeading || agoMs <= intervalMs + passMs + MARGIN_MS, why };
  }

  readiness(): Check {
    const stale = this.#options.staleness();
    if (stale !== undefined) return { isOK: false, why: stale.error.message };
    return this.#hasRead
      ? { isOK: true, why: "the cluster is known" }
      : { isOK: false, why: "the cluster has not been read yet" };
  }
}

/** An address to listen on; no host means every address of the machine. */
export interface ListenAddress {
  readonly host?: string;
  readonly port: number;
}

/**
 * Reads `:8080`, `127.0.0.1:8080` or `[::1]:8080`.
 * @throws ConfigError `usage` for anything else
 */
export function parseListenAddress(text: string): ListenAddress {
  const [, ipv6, name, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535)
    throw new ConfigError(
      "usage",
      `--metrics-addr '${text}' is no address to listen on. Write it like :8080 or 127.0.0.1:8080.`,
    );
  const host = ipv6 ?? name ?? "";
  return host === "" ? { port } : { host, port };
}
