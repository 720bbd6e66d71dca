import { isDeepStrictEqual } from "node:util";
import type { KubeError } from "../../model/errors.ts";
import { FINALIZER, type ObjectMeta, objectKey, type Pool, type PoolStatus } from "../../model/resource.ts";
import { answerJSON, malformed } from "./answer-json.ts";
import { type Call, RESOURCES, resourcePath } from "./call.ts";
import { kubeError } from "./call-failure.ts";
import { decodePool } from "./decode-pool.ts";
import { decodePoolStatus } from "./decode-pool-status.ts";
import { encodePoolStatus } from "./encode-pool-status.ts";
import type { Answer } from "./exchange.ts";
import { asRecord } from "./json-value.ts";
import type { WriteAccess } from "./write-access.ts";

/**
 * Replaces flipop's fields of a pool's status: one merge patch with the resourceVersion of `meta`, after a GET when `meta` is
 * not the one that was read. Idempotent: when a repeat meets a conflict and the status is already as sent, that is success.
 */
export async function patchPoolStatus(access: WriteAccess, meta: ObjectMeta, status: PoolStatus): Promise<Pool> {
  const stored = access.seen.poolOf(meta)?.object ?? (await readAt(access, meta));
  const patch = encodePoolStatus(status, asRecord(stored)?.["status"]);
  const body = { metadata: { resourceVersion: meta.resourceVersion }, status: patch };
  const sent = decodePoolStatus(status);
  const call = poolCall(meta, { method: "PATCH", verb: "patch", subresource: "status", body });
  const answer = await access.write(call, async (refusal) => {
    if (refusal.failure !== "conflict") return undefined;
    return await storedIf(access, meta, (pool) => isDeepStrictEqual(pool.status, sent));
  });
  return poolOf(access, call, answer);
}

/**
 * Adds or removes flipop's finalizer, keeping those of others: one merge patch with resourceVersion. Idempotent. When the
 * removal let the object go, the pool is returned as it last was.
 */
export async function setPoolFinalizer(access: WriteAccess, meta: ObjectMeta, isPresent: boolean): Promise<Pool> {
  const others = meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
  const finalizers = isPresent ? [...others, FINALIZER] : others;
  const body = { metadata: { resourceVersion: meta.resourceVersion, finalizers } };
  const call = poolCall(meta, { method: "PATCH", verb: "patch", body });
  const answer = await access.write(call, async (refusal) => {
    if (refusal.failure === "conflict") {
      return await storedIf(access, meta, (pool) => isDeepStrictEqual(pool.meta.finalizers, finalizers));
    }
    return isPresent ? undefined : lastSeen(access, meta, refusal, finalizers);
  });
  return poolOf(access, call, answer);
}

function poolCall(meta: ObjectMeta, rest: Pick<Call, "method" | "verb" | "subresource" | "body">): Call {
  const place = { namespace: meta.namespace, name: meta.name };
  const path = resourcePath(
    RESOURCES.pools,
    rest.subresource === undefined ? place : { ...place, subresource: "status" },
  );
  return { ...rest, path, resource: RESOURCES.pools, subject: objectKey(meta) };
}

/** The object as it is now. @throws KubeError `conflict` when it is no longer at the resourceVersion of `meta`. */
async function readAt(access: WriteAccess, meta: ObjectMeta): Promise<unknown> {
  const call = poolCall(meta, { method: "GET", verb: "get" });
  const object = answerJSON(call, await access.send(call), access.connection);
  if (decodePool(object)?.meta.resourceVersion === meta.resourceVersion) return object;
  const why = "the object has been modified since it was read";
  const patch = poolCall(meta, { method: "PATCH", verb: "patch", subresource: "status" });
  throw kubeError(patch, "conflict", { status: 409, why, fix: "Read it again." });
}

/** The stored object when the condition holds for it; a failing read proves nothing. */
async function storedIf(
  access: WriteAccess,
  meta: ObjectMeta,
  isAsSent: (pool: Pool) => boolean,
): Promise<Answer | undefined> {
  const call = poolCall(meta, { method: "GET", verb: "get" });
  try {
    const answer = await access.send(call);
    const pool = decodePool(answerJSON(call, answer, access.connection));
    return pool !== undefined && pool.meta.uid === meta.uid && isAsSent(pool) ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** The object whose last finalizer the lost try removed: it is gone, as it was meant to be. */
function lastSeen(
  access: WriteAccess,
  meta: ObjectMeta,
  refusal: KubeError,
  finalizers: readonly string[],
): Answer | undefined {
  const object = asRecord(access.seen.poolOf(meta)?.object);
  if (refusal.failure !== "not-found" || object === undefined) return undefined;
  const last = { ...object, metadata: { ...asRecord(object["metadata"]), finalizers } };
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(last)) };
}

function poolOf(access: WriteAccess, call: Call, answer: Answer): Pool {
  const object = answerJSON(call, answer, access.connection);
  const pool = decodePool(object);
  if (pool === undefined)
    throw malformed(call, access.connection, { status: answer.status, why: "the answer is not the pool" });
  access.seen.addPool(pool, object);
  return pool;
}
