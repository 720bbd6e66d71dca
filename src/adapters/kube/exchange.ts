import http, { type Agent, type IncomingMessage } from "node:http";
import https from "node:https";
import type { TLSMaterial } from "./tls-material.ts";

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** One request, ready to be sent. */
export interface Exchange {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | undefined;
  readonly agent: Agent;
  readonly tls: TLSMaterial;
  /** Ends the exchange, headers and body alike. */
  readonly signal: AbortSignal;
}

/**
 * Sends one request and reads its whole answer, whatever the status. Never follows a redirect, never repeats.
 * @throws Error of node:http or node:tls, with its `code`, when there is no complete answer.
 */
export async function exchange(request: Exchange): Promise<Answer> {
  return await readAnswer(await openExchange(request));
}

/** Sends one request and resolves with its answer's head; the body is for the caller to read. Errors as {@link exchange}. */
export function openExchange(request: Exchange): Promise<IncomingMessage> {
  const { url, method, headers, body, agent, tls, signal } = request;
  const { request: open } = url.protocol === "http:" ? http : https;
  const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = open(url, { ...tls, method, agent, signal, headers: { ...headers, ...length } }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
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
