import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, FaultSource, SandboxServerName } from "./faults.ts";
import type { Exclusively } from "./one-at-a-time.ts";

/** A running emulated API. */
export interface SandboxServer {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  /** Ends every stream and connection. Idempotent. */
  close(): Promise<void>;
}

/** One call as the server saw it. */
export interface RecordedCall {
  readonly server: string;
  readonly method: string;
  readonly path: string;
  /** Without `?`; `""` when there is none. */
  readonly query: string;
  readonly body: unknown;
  /** The status sent; 0 when the connection was cut before an answer. */
  readonly status: number;
}

/** What {@link serve} needs. */
export interface ServeOptions {
  readonly server: SandboxServerName;
  /** What the API does. What it throws is answered with status 500 and the error's message. */
  readonly handle: (request: SandboxRequest) => SandboxReply | Promise<SandboxReply>;
  readonly faults: FaultSource;
  /** Called once per request, after its effect and before its answer. */
  readonly onCall?: ((call: RecordedCall) => void) | undefined;
  /** Runs `handle` and waits its turn for that; default: at once. */
  readonly exclusively?: Exclusively | undefined;
  /** Called with what `handle` throws: a file a person broke, or a bug. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Milliseconds since the epoch for the `Date` header; default: the machine's clock. */
  readonly now?: () => number;
}

/** More answers 431, as at a kube-apiserver 1.35.4 (measured 2026-11-22); Node's own limit is 16 KiB. */
const MOST_HEAD_BYTES = 1024 * 1024 + 8192;

/** Serves one emulated API on a free loopback port; every answer carries a `Date` header. Faults are applied around `handle`. */
export async function serve(options: ServeOptions): Promise<SandboxServer> {
  const closing = new AbortController();
  const server = createServer({ maxHeaderSize: MOST_HEAD_BYTES }, (message, response) => {
    respond(options, closing.signal, message, response).catch(() => response.destroy());
  });
  // A client may reuse an idle connection at any time; the server never closes it first.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => close(server, closing) };
}

async function close(server: Server, closing: AbortController): Promise<void> {
  closing.abort();
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function respond(
  options: ServeOptions,
  closing: AbortSignal,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const request = await readRequest(message);
  const fault = await takeFault(options, request);
  if (fault?.delayMs !== undefined) await sleep(fault.delayMs, undefined, { signal: closing });
  const reply = fault?.cut === "before" ? undefined : withFault(fault, await effect(options, request, fault));
  const isAnswered = reply !== undefined && fault?.cut !== "after";
  options.onCall?.(record(options.server, request, isAnswered ? reply.status : 0));
  if (!isAnswered) {
    response.destroy();
    return;
  }
  if (options.now !== undefined) response.setHeader("Date", new Date(options.now()).toUTCString());
  await answer(response, reply, { closing, isCut: fault?.cut === "middle" });
}

/** The fault for this request; faults that cannot be read are a fault themselves, until a person corrects them. */
async function takeFault(options: ServeOptions, request: SandboxRequest): Promise<Fault | undefined> {
  const { server } = options;
  try {
    return await options.faults.take({ server, method: request.method, path: request.path });
  } catch (error) {
    const { status, body } = failure(options, error);
    return { server, status, body };
  }
}

/** Lets the request take effect, unless the fault answers in its place. */
async function effect(
  options: ServeOptions,
  request: SandboxRequest,
  fault: Fault | undefined,
): Promise<SandboxReply | undefined> {
  if (fault?.status !== undefined && fault.effect !== true) return undefined;
  // Kubernetes reads other forms than JSON, and refuses in its own words what it cannot read.
  if (request.malformed !== undefined && options.server !== "kubernetes")
    return complaint(options.server, 400, request.malformed);
  try {
    const { exclusively = async (work) => await work() } = options;
    return await exclusively(() => options.handle(request));
  } catch (error) {
    return failure(options, error);
  }
}

function failure(options: ServeOptions, error: unknown): { readonly status: number; readonly body: unknown } {
  options.onError?.(error);
  return complaint(options.server, 500, error instanceof Error ? error.message : String(error));
}

/** An error of the sandbox itself in the words of the API it stands for. */
function complaint(server: SandboxServerName, code: 400 | 500, message: string): { status: number; body: unknown } {
  const id = code < 500 ? "bad_request" : "server_error";
  const reason = { 400: "BadRequest", 500: "InternalError" }[code];
  const bodies: Readonly<Record<SandboxServerName, unknown>> = {
    digitalocean: { id, message },
    kubernetes: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code },
    cloudflare: { success: false, errors: [{ code, message }], messages: [], result: null },
    hetzner: { error: { code: code < 500 ? "json_error" : "server_error", message, details: null } },
    webhook: message,
  };
  return { status: code, body: bodies[server] };
}

/** The reply that is sent: the real one with what the fault replaces, or the fault's own. */
function withFault(fault: Fault | undefined, reply: SandboxReply | undefined): SandboxReply {
  const real = reply ?? { status: 200 };
  if (fault === undefined) return real;
  const headers = { ...("headers" in real ? real.headers : {}), ...fault.headers };
  const isReplaced = fault.status !== undefined || fault.body !== undefined;
  if ("stream" in real && !isReplaced) return { ...real, contentType: fault.contentType ?? real.contentType };
  const body = isReplaced ? fault.body : "body" in real ? real.body : undefined;
  return {
    status: fault.status ?? real.status,
    headers,
    body,
    ...(fault.contentType === undefined ? {} : { contentType: fault.contentType }),
  };
}

function record(server: string, request: SandboxRequest, status: number): RecordedCall {
  const { method, path, query, body } = request;
  return { server, method, path, query: query.toString(), body, status };
}

/** Reads a whole request. @throws Error when the connection breaks before its end. */
export async function readRequest(message: IncomingMessage): Promise<SandboxRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const url = new URL(`http://localhost${message.url ?? "/"}`);
  const head = {
    method: (message.method ?? "GET").toUpperCase(),
    path: decode(url.pathname),
    query: url.searchParams,
    headers: headersOf(message),
  };
  if (bytes.length === 0) return { ...head, body: undefined };
  try {
    return { ...head, body: JSON.parse(bytes.toString("utf8")) };
  } catch {
    return { ...head, body: bytes, malformed: "The request body is not valid JSON." };
  }
}

/**
 * Sends a reply; with `isCut` the connection is destroyed halfway through the body. Resolves when everything is written
 * or the client has gone.
 */
async function answer(
  response: ServerResponse,
  reply: SandboxReply,
  options: { readonly closing: AbortSignal; readonly isCut: boolean },
): Promise<void> {
  if ("stream" in reply) {
    await answerStream(response, reply, options);
    return;
  }
  const body = encode(reply.body);
  response.statusCode = reply.status;
  if (body !== undefined) response.setHeader("Content-Type", reply.contentType ?? "application/json");
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  if (options.isCut) {
    response.setHeader("Content-Length", Math.max(2, body?.length ?? 0));
    await flush(response, (body ?? Buffer.from("{")).subarray(0, Math.max(1, (body?.length ?? 0) >> 1)));
    response.destroy();
    return;
  }
  if (body !== undefined) response.setHeader("Content-Length", body.length);
  response.end(body);
}

async function answerStream(
  response: ServerResponse,
  reply: Extract<SandboxReply, { stream: unknown }>,
  options: { readonly closing: AbortSignal; readonly isCut: boolean },
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.writeHead(reply.status, { "Content-Type": reply.contentType });
  response.flushHeaders();
  const write = (chunk: string): void => {
    if (gone.signal.aborted) return;
    if (!options.isCut) {
      response.write(chunk);
      return;
    }
    const whole = Buffer.from(chunk);
    gone.abort();
    response.write(whole.subarray(0, Math.max(1, whole.length >> 1)), () => response.destroy());
  };
  await reply.stream(write, AbortSignal.any([gone.signal, options.closing]));
  if (!options.isCut) response.end();
}

/** Writes a part of the body and waits until it has left or the client has gone, so that a cut comes after it. */
async function flush(response: ServerResponse, part: Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    response.once("close", resolve);
    response.write(part, () => resolve());
  });
}

function encode(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function headersOf(message: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(message.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}

/** The path with its escapes resolved; as it came when they are broken. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** One request as an emulated API sees it. */
export interface SandboxRequest {
  /** Upper-case. */
  readonly method: string;
  /** Decoded, without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; a Buffer when it is none; undefined when there is no body. */
  readonly body: unknown;
  /** Why the body could not be parsed; such a request is answered 400 before it reaches the API, unless that is Kubernetes. */
  readonly malformed?: string;
}

/** One answer: a whole body, or a stream of chunks. */
export type SandboxReply =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** JSON-encoded unless it is a string or Buffer; undefined = no body. */
      readonly body?: unknown;
      /** Default `application/json` when there is a body. */
      readonly contentType?: string;
    }
  | {
      readonly status: number;
      readonly contentType: string;
      /** Writes chunks until the stream is over; `ended` is aborted when the client or the server goes away. */
      readonly stream: (write: (chunk: string) => void, ended: AbortSignal) => Promise<void>;
    };
