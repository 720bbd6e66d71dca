import type { IncomingMessage, ServerResponse } from "node:http";
import type { SandboxReply, SandboxRequest } from "./http-exchange.ts";

/** Reads a whole request. @throws Error when the connection breaks before its end. */
export async function readRequest(message: IncomingMessage): Promise<SandboxRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  const url = new URL(`http://localhost${message.url ?? "/"}`);
  const head = {
    method: (message.method ?? "GET").toUpperCase(),
    path: decode(url.pathname),
    query: url.searchParams,
    headers: headersOf(message),
  };
  if (text === "") return { ...head, body: undefined };
  try {
    return { ...head, body: JSON.parse(text) };
  } catch {
    return { ...head, body: text, malformed: "The request body is not valid JSON." };
  }
}

/**
 * Sends a reply; with `isCut` the connection is destroyed halfway through the body. Resolves when everything is written
 * or the client has gone.
 */
export async function answer(
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
