import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

/** A way to a server that can be closed: connections through it break, and new ones are refused, until it is opened. */
export interface TCPGate {
  readonly url: string;
  shut(): void;
  open(): void;
  close(): void;
}

/** Opens a gate on loopback before a server. */
export async function tcpGate(serverURL: string): Promise<TCPGate> {
  const { hostname, port, protocol } = new URL(serverURL);
  const sockets = new Set<Socket>();
  let isShut = false;
  const server = createServer((near) => {
    if (isShut) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut: () => {
      isShut = true;
      breakAll();
    },
    open: () => {
      isShut = false;
    },
    close: () => {
      server.close();
      breakAll();
    },
  };
}
