import type { ClusterReader, NamespaceReader } from "../../ports/cluster.ts";
import { KubeClusterReader } from "./cluster-reader.ts";
import type { Connection } from "./connection.ts";
import { optional } from "./optional.ts";
import { Transport, type TransportOptions } from "./transport.ts";

/**
 * A reader of the connection's cluster: no write method, and whatever it is made to send leaves as a GET without a body. No
 * call is made before its first method is called. `close` lets idle connections go.
 */
export function createClusterReader(
  connection: Connection,
  options: TransportOptions,
): ClusterReader & NamespaceReader & { readonly close: () => void } {
  const transport = new Transport(connection, options);
  return new KubeClusterReader({
    connection,
    send: ({ path, verb, resource, subject, accept }) =>
      transport.send({ method: "GET", path, verb, resource, subject, ...optional("accept", accept) }),
    nowMs: () => transport.nowMs(),
    close: () => transport.close(),
  });
}
