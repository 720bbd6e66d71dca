import type { Connection } from "../../../src/adapters/kube/call.ts";
import { createClusterReader } from "../../../src/adapters/kube/cluster-reader.ts";
import { createClusterWriter } from "../../../src/adapters/kube/cluster-writer.ts";
import type { ClusterReader, ClusterWriter, IdentityReader, NamespaceReader } from "../../../src/ports/cluster.ts";
import { fastClock } from "./fast-clock.ts";
import { type Asked, plainConnection, type Say, scriptedServer } from "./scripted-server.ts";

/** What a test with a scripted server works with. */
export interface Scene {
  readonly url: string;
  readonly reader: ClusterReader & NamespaceReader & IdentityReader;
  readonly writer: ClusterWriter;
  readonly asked: Asked[];
  /** Waits between repeats, milliseconds; none of them was really waited for. */
  readonly slept: number[];
}

/** Lends a reader and a writer of a scripted server to the work, and closes everything afterwards. */
export async function withServer(
  script: readonly Say[],
  work: (scene: Scene) => Promise<void>,
  options: { readonly connection?: Partial<Connection>; readonly requestTimeoutMs?: number } = {},
): Promise<void> {
  const server = await scriptedServer(script);
  const clock = fastClock();
  const connection = plainConnection(server.url, options.connection);
  const { requestTimeoutMs = 10_000 } = options;
  const reader = createClusterReader(connection, { version: "1.2.3", clock, requestTimeoutMs });
  const writer = createClusterWriter(connection, {
    version: "1.2.3",
    clock,
    requestTimeoutMs,
    reportingInstance: "pod-1",
  });
  try {
    await work({ url: server.url, reader, writer, asked: server.asked, slept: clock.slept });
  } finally {
    reader.close();
    writer.close();
    await server.close();
  }
}

/** What the promise was rejected with. @throws Error when it was fulfilled. */
export async function rejection(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error("it succeeded");
}
