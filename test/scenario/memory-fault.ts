import { providerError as digitalOceanError } from "../../src/adapters/digitalocean/api.ts";
import { type Call, RESOURCES } from "../../src/adapters/kube/call.ts";
import { callFailure, kubeError } from "../../src/adapters/kube/failures.ts";
import type { KubeError } from "../../src/model/errors.ts";
import type { DNSName } from "../fake/dns-account.ts";
import { DNS_ERRORS, type MakeError } from "../fake/dns-error.ts";
import type { ClusterFault } from "../fake/memory-calls.ts";
import type { MemoryFault } from "../fake/memory-cloud-calls.ts";
import { faultBody, type OperationFault } from "./operation-fault.ts";

const FAILURES = {
  "500": "unavailable",
  "429": "rate-limited",
  "431": "refused",
  "422": "refused",
  "414": "refused",
  "400": "refused",
  "404": "not-found",
  "403": "forbidden",
  "401": "unauthorized",
  "409": "refused",
  timeout: "timeout",
  "lost-answer": "unavailable",
  cut: "unavailable",
  html: "malformed",
  "no-success": "refused",
} as const;

/** The call that fails. */
interface FailingCall {
  readonly operation: string;
  readonly subject: string;
  readonly nowMs: number;
}

const CLOUD_WRITES: ReadonlySet<string> = new Set([
  ...["assign", "unassign", "create", "delete"],
  ...["open-ports", "close-ports", "add-machines", "remove-machines"],
]);

/** A planned fault as the provider of addresses, or of firewalls, in memory throws it. */
export function cloudMemoryFault(fault: OperationFault, call: FailingCall): MemoryFault {
  const isWrite = CLOUD_WRITES.has(call.operation);
  return providerFault(fault, call, isWrite, digitalOceanError);
}

/** A planned fault as a DNS provider in memory throws it. */
export function dnsMemoryFault(provider: DNSName, fault: OperationFault, call: FailingCall): MemoryFault {
  const isWrite = !["zone", "records", "texts", "adjust"].includes(call.operation);
  return providerFault(fault, call, isWrite, DNS_ERRORS[provider]);
}

function providerFault(
  fault: OperationFault,
  { operation, subject, nowMs }: FailingCall,
  isWrite: boolean,
  makeError: MakeError,
): MemoryFault {
  const isBusy = fault.kind === "422" && /pending|locked/.test(fault.message ?? "");
  const failure = isBusy ? "busy" : FAILURES[fault.kind];
  const isAmbiguous = isWrite && ["unavailable", "timeout", "malformed"].includes(failure);
  const error = makeError(
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

const RESOURCE_OF: Readonly<Record<string, readonly [verb: string, resource: keyof typeof RESOURCES]>> = {
  listPools: ["list", "pools"],
  listRecordSets: ["list", "recordSets"],
  listRoutedIPs: ["list", "routedIPs"],
  listRoutedIPIssuers: ["list", "issuers"],
  listNamespaceGrants: ["list", "namespaces"],
  listServices: ["list", "services"],
  listEndpointSlices: ["list", "endpointSlices"],
  listNodes: ["list", "nodes"],
  listPods: ["list", "pods"],
  readPool: ["get", "pools"],
  patchPoolStatus: ["patch", "pools"],
  setPoolFinalizer: ["patch", "pools"],
  readRecordSet: ["get", "recordSets"],
  patchRecordSetStatus: ["patch", "recordSets"],
  setRecordSetFinalizer: ["patch", "recordSets"],
  readRoutedIP: ["get", "routedIPs"],
  patchRoutedIPStatus: ["patch", "routedIPs"],
  setRoutedIPFinalizer: ["patch", "routedIPs"],
  annotateNode: ["patch", "nodes"],
  createEvent: ["create", "events"],
  lease: ["update", "leases"],
};

/** The operation of the port that a call of the cluster in memory belongs to; `get nodes` and the like have none. */
export function clusterOperation(operation: string): string | undefined {
  const [verb = "", resource = ""] = operation.split(" ");
  const isStatus = resource.endsWith("/status");
  if (verb !== "get" && resource.startsWith("leases")) return "lease";
  return Object.entries(RESOURCE_OF).find(([name, [ownVerb, key]]) => {
    const isRightPart = isStatus === name.endsWith("Status");
    return isRightPart && ownVerb === verb && resource.split(/[./]/)[0] === RESOURCES[key].plural;
  })?.[0];
}

/** A planned fault as the cluster in memory throws it, with the texts of the adapter. */
export function clusterMemoryFault(fault: OperationFault, subject: string): ClusterFault {
  const error = clusterError(fault, subject);
  return fault.kind === "lost-answer" || fault.isDone === true ? { throwAfter: error } : { throw: error };
}

function clusterError(fault: OperationFault, subject: string): KubeError {
  const [verb = "", resource = "pools"] = RESOURCE_OF[fault.operation] ?? [];
  const subresource = fault.operation.endsWith("Status") ? { subresource: "status" as const } : {};
  const call: Call = { method: "GET", path: "", verb, resource: RESOURCES[resource], subject, ...subresource };
  switch (fault.kind) {
    case "timeout":
      return kubeError(call, "timeout", { status: 0, why: "no answer in time", fix: "" });
    case "cut":
    case "lost-answer":
      return kubeError(call, "unavailable", { status: 0, why: "the connection broke", fix: "" });
    case "html":
    case "no-success":
      return kubeError(call, "malformed", { status: 200, why: "the answer is text/html, not JSON", fix: "" });
    default: {
      const answer = { status: Number(fault.kind), headers: {}, body: Buffer.from(JSON.stringify(faultBody(fault))) };
      return callFailure(call, answer, {
        server: "memory",
        source: "the scenario",
        context: "",
        namespace: "shop",
        tls: { isInsecure: false },
        user: {},
        impersonation: { groups: [], extra: {} },
      });
    }
  }
}
