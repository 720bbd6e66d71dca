import { kubernetesSandbox, shippedCRDs } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { MemoryCluster } from "../fake/memory-cluster.ts";
import type { Backend } from "./backend.ts";
import type { LoggedCall } from "./call-log.ts";
import { followed } from "./followed.ts";
import { type HTTPAccount, httpAccount } from "./http-account.ts";
import { httpCluster } from "./http-cluster.ts";
import { sandboxRest } from "./memory-world.ts";
import { httpFault, LEAST_TIMEOUT_MS } from "./operation-fault.ts";
import { VirtualClock } from "./virtual-clock.ts";

const CRDS = shippedCRDs();

/** The emulated APIs over HTTP, with the real adapters. */
export async function sandboxWorld(where: { readonly isAtHetzner?: boolean } = {}): Promise<Backend> {
  const clock = new VirtualClock(Date.UTC(2026, 0, 2, 3, 4, 5));
  const calls: LoggedCall[] = [];
  const account = await httpAccount(clock, calls, where);
  const backend = await sandboxCluster({ clock, calls, account });
  return {
    ...backend,
    close: async () => {
      await account.close();
      await backend.close();
    },
  };
}

/** What all clusters of a world have in common. */
export interface HTTPAccounts {
  readonly clock: VirtualClock;
  readonly calls: LoggedCall[];
  readonly account: HTTPAccount;
}

/** One emulated cluster behind HTTP; the accounts outlive it. */
export async function sandboxCluster(accounts: HTTPAccounts): Promise<Backend> {
  const { clock, calls, account } = accounts;
  const kubernetes = kubernetesSandbox({ now: () => clock.nowMs(), crds: CRDS });
  const cluster = await httpCluster({ handle: kubernetes.handle, calls, prefix: "", now: () => clock.nowMs() });
  return {
    kind: "sandbox",
    prefix: "",
    clock,
    account: account.account,
    ...(account.hetzner === undefined ? {} : { hetzner: account.hetzner }),
    dns: account.dns,
    rest: sandboxRest(kubernetes),
    open: (processClock, life) => {
      const writer = cluster.open(processClock);
      return { cluster: writer, ...account.open(processClock, life), close: () => writer.close() };
    },
    openWatch: (processClock, life) => {
      const warm = cluster.openWatch();
      const { lists, caughtUp } = followed(warm, new MemoryCluster({ sandbox: kubernetes }), () =>
        processClock.wallMs(),
      );
      // Faults may come while it watches.
      const ports = account.open(processClock, life, LEAST_TIMEOUT_MS);
      return { cluster: lists, ...ports, close: () => warm.close(), caughtUp };
    },
    beside: () => sandboxCluster(accounts),
    fail: (fault) => (fault.side === "cluster" ? cluster : account).faults.add(httpFault(fault, true)),
    clearFaults: () => {
      account.faults.clear();
      cluster.faults.clear();
    },
    log: () => calls,
    clearLog: () => {
      calls.length = 0;
    },
    close: () => cluster.close(),
  };
}
