import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Lets a server listen on a free port of loopback. Returns its URL. */
export async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** A URL on which nothing listens any more. */
export async function deafURL(): Promise<string> {
  const server = createServer();
  const url = await listenOnLoopback(server);
  await new Promise((resolve) => server.close(resolve));
  return url;
}
