import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { openAPIValidator } from "../../openapi/validator.ts";
import { listenOnLoopback } from "../http/loopback-server.ts";
import { type ScriptedReply, sendReply } from "../http/scripted-reply.ts";

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
export interface Reply extends ScriptedReply {
  /** The JSON is checked against the API description unless this is true. */
  readonly isOffSpec?: boolean;
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
    const request = await receive(message);
    faults.push(...validator.checkRequest(request.method, request.path, request.body));
    requests.push(request);
    const reply = script(request, requests.length - 1);
    if (reply.json !== undefined && reply.isOffSpec !== true) {
      const body: unknown = JSON.parse(JSON.stringify(reply.json));
      faults.push(...validator.checkResponse(request.method, request.path, reply.status ?? 200, body));
    }
    await sendReply(response, reply);
  }

  const server = createServer(async (message, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    try {
      await serve(message, response);
    } catch (error) {
      faults.push(String(error));
      response.destroy();
    }
    // Before the client can have seen the answer, and begun another request.
    open -= 1;
  });
  const url = await listenOnLoopback(server);
  return {
    url,
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
