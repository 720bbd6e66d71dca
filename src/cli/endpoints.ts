import { createServer, type Server, type ServerResponse } from "node:http";
import { ConfigError } from "../model/errors.ts";
import { plain } from "../model/text.ts";
import type { ListenAddress } from "./listen-address.ts";

/** Whether something is as it should be; `why` is for people. */
export interface Check {
  readonly isOK: boolean;
  readonly why: string;
}

/** What is asked of a watching process. */
export interface EndpointSources {
  /** Prometheus' text format. */
  readonly metrics: () => Promise<string>;
  /** Whether the process makes progress; if not, it is to be started anew. */
  readonly health: () => Check;
  /** Whether it knows the cluster as it is now. */
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
      else send(response, 405, TEXT, "Only GET and HEAD are answered.\n", { Allow: "GET, HEAD" });
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
      return send(response, 404, TEXT, "There are /metrics, /healthz and /readyz.\n");
  }
}

async function sendMetrics(response: ServerResponse, { metrics }: EndpointSources): Promise<void> {
  try {
    send(response, 200, METRICS_TEXT, await metrics());
  } catch (error) {
    send(
      response,
      500,
      TEXT,
      `${plain(`The metrics could not be written: ${error instanceof Error ? error.message : "unknown"}`)}\n`,
    );
  }
}

function sendCheck(response: ServerResponse, { isOK, why }: Check): void {
  send(response, isOK ? 200 : 503, TEXT, `${plain(why)}\n`);
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  more: Readonly<Record<string, string>> = {},
): void {
  const headers = {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
    "X-Content-Type-Options": "nosniff",
  };
  // Node itself leaves the body of an answer to HEAD away.
  response.writeHead(status, { ...headers, ...more }).end(body);
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
