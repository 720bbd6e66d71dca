import type { WarmCluster } from "../../ports/cluster.ts";
import type { Connection } from "./connection.ts";
import { SeenObjects } from "./seen-objects.ts";
import { Transport, type TransportOptions } from "./transport.ts";
import { KubeWarmCluster } from "./warm-cluster.ts";

/**
 * A cluster whose lists are read once and then watched, until `close`, which ends all watches and lets connections go: nothing of it keeps the process alive then. No
 * call is made before its first method is called. It takes the verb `watch` beside `list`.
 */
export function createWarmCluster(
  connection: Connection,
  options: TransportOptions & {
    /** Who reports Events: the pod's or the host's name. */
    readonly reportingInstance: string;
    /** From 0 to 1, anew at each call; default: chance. */
    readonly random?: () => number;
  },
): WarmCluster {
  const transport = new Transport(connection, options);
  const seen = new SeenObjects();
  const access = {
    connection,
    clock: options.clock,
    random: options.random ?? Math.random,
    send: transport.send.bind(transport),
    write: transport.send.bind(transport),
    open: transport.open.bind(transport),
    nowMs: () => transport.nowMs(),
    close: () => transport.close(),
    seen,
    onObject: seen.add.bind(seen),
    onLease: seen.addLease.bind(seen),
  };
  return new KubeWarmCluster(access, options.reportingInstance);
}
