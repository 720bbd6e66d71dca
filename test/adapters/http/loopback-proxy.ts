// A forward proxy on loopback that resolves every name to loopback, so that names that exist nowhere can be reached through it.
import http, { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTLSServer, type ServerOptions } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";

/** What the proxy does. */
export interface LoopbackProxyOptions {
  /** With a certificate it is an HTTPS proxy. */
  readonly tls?: ServerOptions;
  /** `USER:PASSWORD` that it demands. */
  readonly login?: string;
  /** Answers every request with this status, or never. */
  readonly refuse?: number | "never";
  /** The body and the reason phrase of a refusal. */
  readonly says?: string;
}

/** A running proxy. */
export interface LoopbackProxy {
  /** Without user and password. */
  readonly url: string;
  readonly port: number;
  /** `CONNECT kube.example.test:6443`, `GET http://gateway.example.test/x`, in order of arrival. */
  readonly asked: string[];
  readonly headers: IncomingMessage["headers"][];
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>;
  /** Breaks all connections, tunnels too. */
  readonly hangUp: () => void;
  readonly close: () => Promise<void>;
}

/** Starts a proxy that takes a request for any host to loopback, to the port asked for, or to the one that `ports` has for it. */
export async function loopbackProxy(
  options: LoopbackProxyOptions = {},
  ports: Readonly<Record<number, number>> = {},
): Promise<LoopbackProxy> {
  const asked: string[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const open = new Set<Socket>();
  const portOf = (port: number): number => ports[port] ?? port;
  const refusal = (request: IncomingMessage): number | "never" | undefined => {
    asked.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    const login = `Basic ${Buffer.from(options.login ?? "").toString("base64")}`;
    const isLetIn = options.login === undefined || request.headers["proxy-authorization"] === login;
    return options.refuse ?? (isLetIn ? undefined : 407);
  };
  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const status = refusal(request);
    if (status === "never") return;
    if (status !== undefined) return void response.writeHead(status, options.says).end(options.says ?? "no");
    const { hostname, port, pathname, search } = new URL(request.url ?? "");
    const { "proxy-authorization": _, ...rest } = request.headers;
    const upstream = http.request(
      {
        host: "127.0.0.1",
        port: portOf(Number(port || 80)),
        path: pathname + search,
        method: request.method,
        headers: rest,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 0, { ...answer.headers, "x-was-for": hostname });
        answer.on("error", () => response.destroy()).pipe(response);
      },
    );
    upstream.on("error", () => response.destroy());
    response.on("close", () => upstream.destroy());
    request.pipe(upstream);
  };
  const server: Server = options.tls === undefined ? createServer(forward) : createTLSServer(options.tls, forward);
  server.on("connection", (socket: Socket) => {
    open.add(socket.once("close", () => open.delete(socket)).on("error", () => socket.destroy()));
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const status = refusal(request);
    socket.on("error", () => socket.destroy());
    if (status === "never") return void socket.resume().on("end", () => socket.destroy());
    if (status !== undefined) {
      const says = options.says ?? "no";
      return void socket.end(`HTTP/1.1 ${status} ${says}\r\nContent-Length: ${says.length}\r\n\r\n${says}`);
    }
    const upstream = connect(portOf(Number(/\d+$/.exec(request.url ?? "")?.[0])), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
    upstream.on("close", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const hangUp = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    asked,
    headers,
    open,
    hangUp,
    close: () =>
      new Promise((resolve) => {
        hangUp();
        server.close(() => resolve());
      }),
  };
}
