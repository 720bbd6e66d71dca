import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "../../../../src/adapters/kube/call.ts";
import { createWarmCluster } from "../../../../src/adapters/kube/warm-cluster.ts";
import type { WarmCluster } from "../../../../src/ports/cluster.ts";
import { FakeClock } from "../../../fake/fake-clock.ts";
import { type Asked, plainConnection, type Say, scriptedServer } from "../scripted-server.ts";

/** The server's side of one watch, which goes on until the test ends it. */
export class ScriptedWatch {
  readonly #open: Promise<ServerResponse>;
  readonly say: (response: ServerResponse) => void;
  /** Resolves when the client has gone. */
  readonly left: Promise<void>;

  constructor(type = "application/json") {
    const opened = Promise.withResolvers<ServerResponse>();
    const left = Promise.withResolvers<void>();
    this.#open = opened.promise;
    this.left = left.promise;
    this.say = (response) => {
      response.writeHead(200, { "Content-Type": type });
      response.flushHeaders();
      response.on("close", () => left.resolve());
      opened.resolve(response);
    };
  }

  /** Sends bytes as they are. */
  async send(bytes: string | Buffer): Promise<void> {
    (await this.#open).write(bytes);
  }

  /** Sends one event in JSON. */
  async tell(type: string, object: unknown): Promise<void> {
    await this.send(`${JSON.stringify({ type, object })}\n`);
  }

  /** Ends the answer in good order. */
  async end(): Promise<void> {
    (await this.#open).end();
  }

  /** Breaks the connection. */
  async cut(): Promise<void> {
    (await this.#open).destroy();
  }
}

/** What a test with a scripted watch works with. */
export interface WarmScene {
  readonly cluster: WarmCluster;
  readonly asked: Asked[];
  readonly clock: FakeClock;
  /** The changes that were announced, as `KIND SUBJECT`. */
  readonly heard: string[];
}

/** Lends a warm cluster on a scripted server, whose time stands still and whom nothing happens by chance, and closes everything afterwards. */
export async function withWarm(
  script: readonly Say[],
  work: (scene: WarmScene) => Promise<void>,
  rest: Partial<Connection> = {},
): Promise<void> {
  const server = await scriptedServer(script);
  const clock = new FakeClock();
  const connection = plainConnection(server.url, rest);
  const options = { version: "1.2.3", clock, reportingInstance: "pod-1", random: () => 0, requestTimeoutMs: 5_000 };
  const cluster = createWarmCluster(connection, options);
  const heard: string[] = [];
  cluster.onChange(({ kind, subject }) => heard.push(`${kind} ${subject}`));
  try {
    await work({ cluster, asked: server.asked, clock, heard });
  } finally {
    cluster.close();
    await clock.advance(1);
    await server.close();
  }
}

/** Resolves when the condition holds, in real time. @throws Error when that takes over 4 s */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2_000; tries++) {
    if (await condition()) return;
    await delay(2);
  }
  throw new Error("it did not happen within 4 s");
}

/** A node at a resourceVersion. */
export function aNode(name: string, version: number, labels: Readonly<Record<string, string>> = {}): unknown {
  return { kind: "Node", apiVersion: "v1", metadata: { name, resourceVersion: String(version), labels } };
}

/** A list of nodes at a resourceVersion. */
export function nodeList(version: number, ...items: readonly unknown[]): Say {
  return { json: { kind: "NodeList", apiVersion: "v1", metadata: { resourceVersion: String(version) }, items } };
}
