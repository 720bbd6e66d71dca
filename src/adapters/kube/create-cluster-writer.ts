import type { ClusterWriter, NamespaceReader } from "../../ports/cluster.ts";
import { KubeClusterWriter } from "./cluster-writer.ts";
import type { Connection } from "./connection.ts";
import { SeenObjects } from "./seen-objects.ts";
import { Transport, type TransportOptions } from "./transport.ts";

/**
 * A reader of the connection's cluster that may also change it. No call is made before its first method is called. `close`
 * lets idle connections go.
 */
export function createClusterWriter(
  connection: Connection,
  options: TransportOptions & {
    /** Who reports Events: the pod's or the host's name. */
    readonly reportingInstance: string;
  },
): ClusterWriter & NamespaceReader & { readonly close: () => void } {
  const transport = new Transport(connection, options);
  const seen = new SeenObjects();
  const access = {
    connection,
    send: transport.send.bind(transport),
    write: transport.send.bind(transport),
    nowMs: () => transport.nowMs(),
    close: () => transport.close(),
    seen,
    onObject: seen.add.bind(seen),
    onLease: seen.addLease.bind(seen),
  };
  return new KubeClusterWriter(access, options.reportingInstance);
}
