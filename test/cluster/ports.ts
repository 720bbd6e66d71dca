import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** The highest port that `fetch` refuses to talk to (the "bad ports" of the WHATWG fetch standard). */
const highestBadPort = 10_080;

/**
 * Returns `count` different loopback ports that are free now and that `fetch` accepts. They are not reserved: another
 * program can take one before it is used, so a caller must be ready to ask again.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const server = createServer();
    // All stay open until the end, otherwise the system may hand out the same port twice.
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address !== null && typeof address === "object" && address.port > highestBadPort) ports.push(address.port);
  }
  await Promise.all(
    servers.map(async (server) => {
      server.close();
      await once(server, "close");
    }),
  );
  return ports;
}
