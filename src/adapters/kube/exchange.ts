import type { IncomingMessage } from "node:http";
import { openRequest, type Request } from "../http/request.ts";

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/**
 * Sends one request and reads its whole answer, whatever the status. Never follows a redirect, never repeats.
 * @throws Error of node:http or node:tls, with its `code`, when there is no complete answer; ProxyFailure.
 */
export async function exchange(request: Request): Promise<Answer> {
  return await readAnswer(await openRequest(request));
}

/** The whole of an answer whose head has come. */
export function readAnswer(response: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
    });
  });
}
