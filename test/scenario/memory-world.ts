import { providerError } from "../../src/adapters/digitalocean/provider-failure.ts";
import type { Call } from "../../src/adapters/kube/call.ts";
import { callFailure, kubeError } from "../../src/adapters/kube/call-failure.ts";
import { KubeClusterWriter } from "../../src/adapters/kube/cluster-writer.ts";
import type { Connection } from "../../src/adapters/kube/connection.ts";
import type { Answer } from "../../src/adapters/kube/exchange.ts";
import { SeenObjects } from "../../src/adapters/kube/seen-objects.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { type Fault, FaultList } from "../../src/sandbox/faults.ts";
import { type KubernetesSandbox, kubernetesSandbox } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { shippedCRDs } from "../../src/sandbox/kubernetes/preinstalled.ts";
import { type MemoryFault, MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { emptyAccount } from "./account.ts";
import type { Backend, Ports, Rest } from "./backend.ts";
import { type LoggedCall, loggedClusterRequest, loggedMemoryCall } from "./call-log.ts";
import { httpFault, type OperationFault } from "./operation-fault.ts";
import { VirtualClock } from "./virtual-clock.ts";

const CRDS = shippedCRDs();

/** A world of function calls: no network, no real time. */
export function memoryWorld(): Backend {
  const clock = new VirtualClock(Date.UTC(2026, 0, 2, 3, 4, 5));
  const account = emptyAccount({ now: () => clock.nowMs() });
  const kubernetes = kubernetesSandbox({ now: () => clock.nowMs(), crds: CRDS });
  const calls: LoggedCall[] = [];
  const clusterFaults = new FaultList();
  const cloudFaults = new CloudFaults();
  return {
    kind: "memory",
    prefix: "",
    clock,
    account,
    rest: sandboxRest(kubernetes),
    open: (processClock) => {
      const provider = memoryProvider(account, processClock, cloudFaults, calls);
      return {
        cluster: memoryCluster(kubernetes, processClock, clusterFaults, calls),
        provider,
        close: () => undefined,
      };
    },
    fail: (fault) => (fault.side === "cloud" ? cloudFaults.add(fault) : clusterFaults.add(httpFault(fault, false))),
    clearFaults: () => {
      clusterFaults.clear();
      cloudFaults.clear();
    },
    log: () => calls,
    clearLog: () => {
      calls.length = 0;
    },
    close: async () => undefined,
  };
}

/** The administrator's requests, answered by the emulated API itself. */
export function sandboxRest(kubernetes: KubernetesSandbox): Rest {
  return async (method, path, body) => {
    const url = new URL(`http://localhost${path}`);
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const reply = kubernetes.handle({
      method,
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      headers: body === undefined ? {} : { "content-type": type },
      body: structuredClone(body),
    });
    if (!("body" in reply) || reply.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
    return structuredClone(reply.body);
  };
}

function memoryProvider(
  account: ReturnType<typeof emptyAccount>,
  clock: Clock,
  faults: CloudFaults,
  calls: LoggedCall[],
): Ports["provider"] {
  let closed: OperationFault | undefined;
  const provider: MemoryIPProvider = new MemoryIPProvider({
    cloud: account.cloud(),
    clock,
    beforeCall: (operation, subject) => {
      // A planned 429 does not pass the provider's own gate; no pass lasts longer than what it asked for.
      if (closed !== undefined) return memoryFault(closed, { operation, subject, nowMs: clock.wallMs() });
      const call = provider.recorded.at(-1);
      if (call !== undefined) calls.push(loggedMemoryCall(call));
      const fault = faults.take(operation, subject);
      if (fault?.kind === "429") closed = fault;
      return fault === undefined ? undefined : memoryFault(fault, { operation, subject, nowMs: clock.wallMs() });
    },
  });
  return provider;
}

class CloudFaults {
  #entries: { readonly fault: OperationFault; skip: number; times: number }[] = [];

  add(fault: OperationFault): void {
    const times = fault.times === 0 ? Number.POSITIVE_INFINITY : (fault.times ?? 1);
    this.#entries.push({ fault, skip: fault.skip ?? 0, times });
  }

  clear(): void {
    this.#entries = [];
  }

  take(operation: string, subject: string): OperationFault | undefined {
    for (const entry of this.#entries) {
      const { fault } = entry;
      if (fault.operation !== operation || (fault.subject !== undefined && fault.subject !== subject)) continue;
      if (entry.skip > 0) {
        entry.skip -= 1;
        continue;
      }
      entry.times -= 1;
      this.#entries = this.#entries.filter(({ times }) => times > 0);
      return fault;
    }
    return undefined;
  }
}

const FAILURES = {
  "500": "unavailable",
  "429": "rate-limited",
  "422": "refused",
  "404": "not-found",
  "403": "forbidden",
  "401": "unauthorized",
  "409": "refused",
  timeout: "timeout",
  "lost-answer": "unavailable",
  cut: "unavailable",
  html: "malformed",
} as const;

function memoryFault(
  fault: OperationFault,
  { operation, subject, nowMs }: { readonly operation: string; readonly subject: string; readonly nowMs: number },
): MemoryFault {
  const isWrite = ["assign", "unassign", "create", "delete"].includes(operation);
  const isBusy = fault.kind === "422" && /pending|locked/.test(fault.message ?? "");
  const failure = isBusy ? "busy" : FAILURES[fault.kind];
  const isAmbiguous = isWrite && ["unavailable", "timeout", "malformed"].includes(failure);
  const error = providerError(
    { operation, subject, doing: `${operation} ${subject}`.trim(), scope: "reserved_ip:read", isWrite },
    {
      failure,
      status: Number(fault.kind) || 0,
      reason: fault.message ?? fault.kind,
      isAmbiguous,
      ...(fault.kind === "429" ? { notBeforeMs: nowMs + (fault.retryAfter ?? 60) * 1000 } : {}),
    },
  );
  return fault.kind === "lost-answer" || fault.isDone === true ? { throwAfter: error } : { throw: error };
}

const CONNECTION: Connection = {
  server: "https://memory.example",
  source: "the scenario",
  context: "scenario",
  namespace: "shop",
  tls: { isInsecure: false },
  user: {},
  impersonation: { groups: [], extra: {} },
};

function memoryCluster(
  kubernetes: KubernetesSandbox,
  clock: Clock,
  faults: FaultList,
  calls: LoggedCall[],
): KubeClusterWriter {
  const seen = new SeenObjects();
  const send = async (call: Call): Promise<Answer> => {
    const url = new URL(`http://localhost${call.path}`);
    const path = decodeURIComponent(url.pathname);
    const { method, body } = call;
    const logged = loggedClusterRequest({ server: "kubernetes", method, path, query: "", body, status: 0 }, "");
    if (logged !== undefined) calls.push(logged);
    const fault = faults.take({ server: "kubernetes", method, path });
    if (fault?.delayMs !== undefined)
      throw kubeError(call, "timeout", { status: 0, why: "no answer in time", fix: "" });
    const answer =
      fault === undefined || fault.cut === "after" || fault.effect === true
        ? request(kubernetes, call, url)
        : faultAnswer(fault);
    if (fault?.cut !== undefined)
      throw kubeError(call, "unavailable", { status: 0, why: "the connection broke", fix: "" });
    if (answer.status >= 400) throw callFailure(call, answer, CONNECTION);
    return answer;
  };
  return new KubeClusterWriter(
    {
      connection: CONNECTION,
      send,
      write: send,
      nowMs: () => clock.wallMs(),
      close: () => undefined,
      seen,
      onPool: seen.addPool.bind(seen),
      onLease: seen.addLease.bind(seen),
    },
    "scenario",
  );
}

function request(kubernetes: KubernetesSandbox, { method, body }: Call, url: URL): Answer {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const reply = kubernetes.handle({
    method,
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    headers: { "content-type": type },
    body: body === undefined ? undefined : JSON.parse(JSON.stringify(body)),
  });
  return toAnswer(reply.status, "body" in reply ? reply.body : undefined, "application/json");
}

function faultAnswer(fault: Fault): Answer {
  return toAnswer(fault.status ?? 200, fault.body, fault.contentType ?? "application/json");
}

function toAnswer(status: number, body: unknown, type: string): Answer {
  const text = typeof body === "string" ? body : JSON.stringify(body ?? {});
  return { status, headers: { "content-type": type }, body: Buffer.from(text) };
}
