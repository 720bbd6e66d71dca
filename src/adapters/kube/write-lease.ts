import { isDeepStrictEqual } from "node:util";
import type { LeaseRecord } from "../../ports/cluster.ts";
import { answerJSON, malformed } from "./answer-json.ts";
import { type Call, RESOURCES, resourcePath } from "./call.ts";
import type { Answer } from "./exchange.ts";
import { decodeLease, encodeLease } from "./lease-codec.ts";
import type { WriteAccess } from "./write-access.ts";

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
