import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createClusterReader } from "../../../src/adapters/kube/create-cluster-reader.ts";
import { hasOpenSSL, makeCertificates } from "./certificates.ts";
import { fastClock } from "./fast-clock.ts";
import { list, plainConnection, scriptedServer } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const ok = list("NodeList", [{ metadata: { name: "a" } }]);

/** An HTTP proxy that only tunnels; remembers where to. */
async function tunnel(): Promise<{ url: string; targets: string[]; close: () => Promise<void> }> {
  const targets: string[] = [];
  const open = new Set<Socket>();
  const proxy = createServer();
  proxy.on("connect", (request: IncomingMessage, socket: Socket) => {
    targets.push(request.url ?? "");
    const [host, port] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) open.add(end.on("error", () => end.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      for (const socket of open) socket.destroy();
      proxy.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, targets, close };
}

describe("what client-node does for us", () => {
  test.skipIf(!hasOpenSSL())("proxy-url tunnels to the server, whose certificate is checked all the same", async () => {
    const { ca, server, elsewhere } = makeCertificates();
    const proxy = await tunnel();
    for (const [pair, isTrusted] of [
      [server, true],
      [elsewhere, false],
    ] as const) {
      const target = await scriptedServer([ok], pair);
      const connection = plainConnection(target.url, {
        proxyURL: proxy.url,
        tls: { authority: ca, isInsecure: false },
        user: { token: "t" },
      });
      const reader = createClusterReader(connection, { version: "0", clock: fastClock(), requestTimeoutMs: 5000 });
      if (isTrusted) expect(await reader.listNodes()).toHaveLength(1);
      else expect(await rejection(reader.listNodes())).toMatchObject({ name: "ConfigError" });
      expect(proxy.targets.at(-1)).toBe(target.url.replace("https://", ""));
      if (isTrusted) expect(target.asked[0]?.headers.authorization).toBe("Bearer t");
      await target.close();
    }
    await proxy.close();
  });

  test("a legacy auth-provider gives its token, to a server over http, too", async () => {
    const authProvider = { name: "gcp", config: { "access-token": "legacy" } };
    await withServer(
      [ok],
      async ({ reader, asked }) => {
        await reader.listNodes();
        expect(asked[0]?.headers.authorization).toBe("Bearer legacy");
      },
      { connection: { user: { authProvider } } },
    );
  });

  test("a legacy auth-provider without a token is a ConfigError that names it", async () => {
    await withServer(
      [ok],
      async ({ reader }) => {
        const error = await rejection(reader.listNodes());
        expect(error).toMatchObject({ name: "ConfigError", kind: "invalid" });
        expect(error.message).toBe(
          'Cannot use "gcp" of context "test" of test.yaml. Log in again, or replace the auth-provider by an exec plugin.',
        );
      },
      { connection: { user: { authProvider: { name: "gcp", config: {} } } } },
    );
  });
});
