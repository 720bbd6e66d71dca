import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came in. */
export interface PushedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server on loopback that answers as a test says. */
export interface ScriptedGateway {
  readonly url: string;
  readonly requests: readonly PushedRequest[];
  close(): Promise<void>;
}

/** Starts a server; `answer` gets each response, and how many requests came before. */
export async function scriptedGateway(
  answer: (response: ServerResponse, before: number) => void = (response) => response.end(),
): Promise<ScriptedGateway> {
  const requests: PushedRequest[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    requests.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers, body });
    answer(response, requests.length - 1);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
