import { isDeepStrictEqual } from "node:util";
import type { LeaseRecord } from "../../ports/cluster.ts";
import type { WriteAccess } from "./access.ts";
import { type Answer, type Call, RESOURCES, resourcePath } from "./call.ts";
import { answerJSON, malformed } from "./failures.ts";
import { asNumber, asRecord, asText, asTextMap, asTimeMs, microTime } from "./json.ts";
import { decodeMeta } from "./metadata.ts";

/** Creates a Lease: one POST, never repeated. @throws KubeError `already-exists`; `not-found` without its namespace. */
export async function createLease(
  access: WriteAccess,
  lease: Omit<LeaseRecord, "resourceVersion">,
): Promise<LeaseRecord> {
  const path = resourcePath(RESOURCES.leases, { namespace: lease.namespace });
  const call: Call = { method: "POST", path, verb: "create", ...about(lease), body: encodeLease(lease, undefined) };
  return leaseOf(access, call, await access.write(call));
}

/**
 * Replaces a Lease at its resourceVersion: one PUT. Idempotent: when a repeat meets a conflict and the stored Lease carries
 * exactly what was sent, the lost try had taken effect, and that is success.
 * @throws KubeError `conflict` when somebody else changed it.
 */
export async function replaceLease(access: WriteAccess, lease: LeaseRecord): Promise<LeaseRecord> {
  const { metadata, ...rest } = encodeLease(lease, access.seen.leaseOf(lease));
  const body = { ...rest, metadata: { ...(metadata as object), resourceVersion: lease.resourceVersion } };
  const path = resourcePath(RESOURCES.leases, { namespace: lease.namespace, name: lease.name });
  const call: Call = { method: "PUT", path, verb: "update", ...about(lease), body };
  const answer = await access.write(call, async (refusal) => {
    if (refusal.failure !== "conflict") return undefined;
    return await storedIfSame(access, { method: "GET", path, verb: "get", ...about(lease) }, lease);
  });
  return leaseOf(access, call, answer);
}

function about(lease: Pick<LeaseRecord, "namespace" | "name">): Pick<Call, "resource" | "subject"> {
  return { resource: RESOURCES.leases, subject: `${lease.namespace}/${lease.name}` };
}

/** A failing read proves nothing. */
async function storedIfSame(access: WriteAccess, call: Call, sent: LeaseRecord): Promise<Answer | undefined> {
  try {
    const answer = await access.send(call);
    const stored = decodeLease(answerJSON(call, answer, access.connection));
    return isDeepStrictEqual({ ...stored, resourceVersion: "" }, { ...sent, resourceVersion: "" }) ? answer : undefined;
  } catch {
    return undefined;
  }
}

function leaseOf(access: WriteAccess, call: Call, answer: Answer): LeaseRecord {
  const object = answerJSON(call, answer, access.connection);
  const lease = decodeLease(object);
  if (lease === undefined)
    throw malformed(call, access.connection, { status: answer.status, why: "the answer is no Lease" });
  access.seen.addLease(lease, object);
  return lease;
}

/** A Lease as flipop uses it; undefined only for something without a name. Never throws. */
export function decodeLease(object: unknown): LeaseRecord | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const spec = asRecord(asRecord(object)?.["spec"]);
  return {
    namespace: meta.namespace,
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    holder: asText(spec?.["holderIdentity"]) ?? "",
    durationSeconds: asNumber(spec?.["leaseDurationSeconds"]) ?? 0,
    acquireTimeMs: asTimeMs(spec?.["acquireTime"]) ?? 0,
    renewTimeMs: asTimeMs(spec?.["renewTime"]) ?? 0,
    transitions: asNumber(spec?.["leaseTransitions"]) ?? 0,
    annotations: asTextMap(asRecord(asRecord(object)?.["metadata"])?.["annotations"]),
  };
}

/**
 * The Lease object to send. What flipop does not know of is taken from `stored`, the object as last read at the same
 * resourceVersion: a PUT replaces everything, and labels or owners set by others must stay.
 */
export function encodeLease(lease: Omit<LeaseRecord, "resourceVersion">, stored: unknown): Record<string, unknown> {
  const { managedFields: _, ...metadata } = asRecord(asRecord(stored)?.["metadata"]) ?? {};
  const spec = asRecord(asRecord(stored)?.["spec"]) ?? {};
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...metadata, namespace: lease.namespace, name: lease.name, annotations: lease.annotations },
    spec: {
      ...spec,
      holderIdentity: lease.holder,
      leaseDurationSeconds: lease.durationSeconds,
      acquireTime: timeOrNull(lease.acquireTimeMs),
      renewTime: timeOrNull(lease.renewTimeMs),
      leaseTransitions: lease.transitions,
    },
  };
}

function timeOrNull(ms: number): string | null {
  return ms === 0 ? null : microTime(ms);
}
