import type { Connection } from "../../src/adapters/kube/call.ts";
import { createClusterWriter } from "../../src/adapters/kube/cluster-writer.ts";
import { createWarmCluster } from "../../src/adapters/kube/warm-cluster.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import type { WarmCluster } from "../../src/ports/cluster.ts";
import type { Clock } from "../../src/ports/system.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { type SandboxReply, type SandboxRequest, serve } from "../../src/sandbox/http-server.ts";
import { type LoggedCall, loggedClusterRequest } from "./call-log.ts";
import { LEAST_TIMEOUT_MS, timeoutAmong } from "./operation-fault.ts";

/** An API server on loopback with faults before it, and the real adapter for it. */
export interface HTTPCluster {
  readonly faults: FaultList;
  open(clock: Clock): ReturnType<typeof createClusterWriter>;
  /** The same for a process that watches; what it waits for, it waits for in real time. */
  openWatch(): WarmCluster;
  close(): Promise<void>;
}

/** Serves what `handle` answers; every request is entered into the log. `now` is for the Date header; absent = real time. */
export async function httpCluster(options: {
  readonly handle: (request: SandboxRequest) => SandboxReply | Promise<SandboxReply>;
  readonly calls: LoggedCall[];
  readonly prefix: string;
  readonly now?: () => number;
}): Promise<HTTPCluster> {
  const faults = new FaultList();
  const server = await serve({
    server: "kubernetes",
    handle: options.handle,
    faults,
    onCall: (call) => {
      const logged = loggedClusterRequest(call, options.prefix);
      if (logged !== undefined) options.calls.push(logged);
    },
    ...(options.now === undefined ? {} : { now: options.now }),
  });
  const connection: Connection = {
    server: server.url,
    source: "the scenario",
    context: "scenario",
    namespace: "shop",
    tls: { isInsecure: false },
    user: {},
    impersonation: { groups: [], extra: {} },
  };
  return {
    faults,
    open: (clock) =>
      createClusterWriter(connection, {
        version: "0.0.0",
        clock,
        requestTimeoutMs: timeoutAmong(faults),
        reportingInstance: "scenario",
      }),
    openWatch: () =>
      createWarmCluster(connection, {
        version: "0.0.0",
        clock: SYSTEM_CLOCK,
        requestTimeoutMs: LEAST_TIMEOUT_MS,
        reportingInstance: "scenario",
      }),
    close: () => server.close(),
  };
}
