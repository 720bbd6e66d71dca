import type { ServerResponse } from "node:http";

/** A true answer that is about to go wrong on its way. */
export interface Leaving {
  readonly response: ServerResponse;
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  /** Somebody else's server, which must never hear of the request. */
  readonly elsewhere: string;
}

/** How long the dripping answer waits between two bytes, milliseconds: never long enough to look dead. */
const DRIP_MS = 60;

/** The request has had its effect, or not: that is for the caller to decide. */
const WAYS = {
  "a reset without a byte": ({ response }: Leaving): void => {
    response.socket?.resetAndDestroy();
  },
  "a reset in the middle of the body": (leaving: Leaving): void => {
    const { response, body } = leaving;
    begin(leaving, { "Content-Length": body.length });
    response.write(half(body), () => response.socket?.resetAndDestroy());
  },
  "an orderly end before the body's length": (leaving: Leaving): void => {
    const { response, body } = leaving;
    begin(leaving, { "Content-Length": body.length + 1 });
    response.write(body, () => response.socket?.end());
  },
  "chunks that end early": (leaving: Leaving): void => {
    const { response, body } = leaving;
    begin(leaving, { "Transfer-Encoding": "chunked" });
    response.write(half(body), () => response.socket?.end());
  },
  "half of the JSON": (leaving: Leaving): void => {
    const part = half(leaving.body);
    begin(leaving, { "Content-Length": part.length });
    leaving.response.end(part);
  },
  "a page of HTML": ({ response }: Leaving): void => {
    response.writeHead(200, { "Content-Type": "text/html" });
    response.end("<!doctype html><title>Sign in</title><p>Please sign in to the hotel's network.</p>");
  },
  "an empty body": ({ response }: Leaving): void => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": 0 });
    response.end();
  },
  "JSON of another shape": ({ response }: Leaving): void => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end('{"ok":[null]}');
  },
  "another content type": (leaving: Leaving): void => {
    leaving.response.writeHead(leaving.status, { "Content-Type": "text/plain; charset=latin1" });
    leaving.response.end(leaving.body);
  },
  "what is called gzip and is none": (leaving: Leaving): void => {
    begin(leaving, { "Content-Encoding": "gzip" });
    leaving.response.end(Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), leaving.body]));
  },
  "a redirect to somebody else": ({ response, elsewhere }: Leaving): void => {
    response.writeHead(307, { Location: `${elsewhere}${response.req.url}` });
    response.end();
  },
  "an error page of a gateway": ({ response }: Leaving): void => {
    response.writeHead(502, { "Content-Type": "text/html" });
    response.end("<html><h1>502 Bad Gateway</h1></html>");
  },
  "another protocol": ({ response }: Leaving): void => {
    response.socket?.end("220 mail.example.com ESMTP ready\r\n");
  },
  "a second answer that nobody asked for": (leaving: Leaving): void => {
    const { response, body } = leaving;
    const { socket } = response;
    begin(leaving, { "Content-Length": body.length });
    response.end(body, () => socket?.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
  },
  silence: (): void => undefined,
  "silence in the middle of the body": (leaving: Leaving): void => {
    begin(leaving, { "Content-Length": leaving.body.length + 1 });
    leaving.response.write(half(leaving.body));
  },
  "a body byte by byte": (leaving: Leaving): void => {
    const { response, body } = leaving;
    begin(leaving, { "Content-Length": body.length + 100_000 });
    let at = 0;
    const timer = setInterval(() => {
      response.write(body.subarray(at, at + 1).length === 0 ? " " : body.subarray(at, at + 1));
      at += 1;
    }, DRIP_MS);
    response.once("close", () => clearInterval(timer));
  },
};

/** The name of a way to go wrong; reads on from "the answer is …". */
export type BrokenAnswer = keyof typeof WAYS;

/** Every way to go wrong, carried out. */
export const BROKEN_ANSWERS: Readonly<Record<BrokenAnswer, (leaving: Leaving) => void>> = WAYS;

/** Ways in which the true answer arrives whole all the same. */
export const WHOLE_ANSWERS: ReadonlySet<BrokenAnswer> = new Set([
  "another content type",
  "a second answer that nobody asked for",
]);

function begin({ response, status, contentType }: Leaving, headers: Readonly<Record<string, string | number>>): void {
  response.writeHead(status, { "Content-Type": contentType, ...headers });
}

function half(body: Buffer): Buffer {
  return body.subarray(0, body.length >> 1);
}
