import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { openAPIValidator } from "../../openapi/validator.ts";

/** A request as it came over the wire. */
export interface Received {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The parsed body; undefined when there was none. */
  readonly body: unknown;
}

/** What the server does with one request. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, and checked against the API description unless `isOffSpec`. */
  readonly json?: unknown;
  readonly isOffSpec?: boolean;
  /** Sent as it is, with the content type of `headers`. */
  readonly text?: string;
  /** `drop`: closes without a byte; `cut`: closes in the middle of the body; the others never end. */
  readonly fault?: "drop" | "cut" | "stall" | "stall-body";
  /** Waited for before anything is sent. */
  readonly after?: Promise<void>;
}

/** A DigitalOcean API on loopback that answers by script. */
export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly Received[];
  /** The most requests that were open at the same time. */
  readonly mostOpen: () => number;
  /** Ends every connection. @throws Error with every request or answer that does not follow the API description */
  close(): Promise<void>;
}

const validator = openAPIValidator();

/** Starts a server; `script` is asked once for each request, `at` counts them from 0. */
export async function startScriptedServer(script: (request: Received, at: number) => Reply): Promise<ScriptedServer> {
  const requests: Received[] = [];
  const faults: string[] = [];
  let open = 0;
  let mostOpen = 0;

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once("close", () => {
      open -= 1;
    });
    const request = await receive(message);
    faults.push(...validator.checkRequest(request.method, request.path, request.body));
    requests.push(request);
    const reply = script(request, requests.length - 1);
    if (reply.json !== undefined && reply.isOffSpec !== true) {
      const body: unknown = JSON.parse(JSON.stringify(reply.json));
      faults.push(...validator.checkResponse(request.method, request.path, reply.status ?? 200, body));
    }
    await reply.after;
    send(response, reply);
  }

  const server = createServer((message, response) => {
    serve(message, response).catch((error: unknown) => {
      faults.push(String(error));
      response.destroy();
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    mostOpen: () => mostOpen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (faults.length > 0) throw new Error(`Not as the API description says:\n${faults.join("\n")}`);
    },
  };
}

async function receive(message: IncomingMessage): Promise<Received> {
  const text = await readText(message);
  const { method = "", url: path = "", headers } = message;
  return { method, path, headers, text, body: text === "" ? undefined : JSON.parse(text) };
}

function send(response: ServerResponse, { status = 200, headers = {}, json, text, fault }: Reply): void {
  if (fault === "stall") return;
  if (fault === "drop") {
    response.destroy();
    return;
  }
  const body = text ?? (json === undefined ? "" : JSON.stringify(json));
  const type = json === undefined ? {} : { "content-type": "application/json; charset=utf-8" };
  if (fault === undefined) {
    response.writeHead(status, { ...type, ...headers }).end(body);
    return;
  }
  response.writeHead(status, { ...type, "content-length": String(body.length), ...headers });
  response.write(body.slice(0, Math.ceil(body.length / 2)), () => {
    if (fault === "cut") response.destroy();
  });
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
