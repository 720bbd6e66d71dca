import { textAt, valueAt } from "./json-object.ts";
import { type KubeObject, timestamp } from "./kube-object.ts";
import type { ResourceType } from "./resource-type.ts";

const POD_GRACE_SECONDS = 30;

/** What becomes of an object that somebody asked to delete. */
export type Deletion =
  | { readonly kind: "removed" }
  | { readonly kind: "unchanged" }
  /** It stays, marked, until its finalizers are gone or its kubelet has ended it. */
  | { readonly kind: "marked"; readonly object: KubeObject };

/**
 * Decides a DELETE: objects with finalizers are marked; so are pods that run on a node, for their grace period, until they
 * are deleted with `gracePeriodSeconds` 0. Pure.
 */
export function decideDeletion(
  type: ResourceType,
  object: KubeObject,
  options: { readonly gracePeriodSeconds?: number; readonly nowMs: number },
): Deletion {
  const graceSeconds = gracePeriod(type, object, options.gracePeriodSeconds);
  const isHeld = (object.metadata.finalizers ?? []).length > 0;
  if (graceSeconds === 0 && !isHeld) return { kind: "removed" };
  const { metadata } = object;
  const isMarked = metadata.deletionTimestamp !== undefined;
  if (isMarked && graceSeconds >= (metadata.deletionGracePeriodSeconds ?? 0)) return { kind: "unchanged" };
  const generation = metadata.generation === undefined || isMarked ? {} : { generation: metadata.generation + 1 };
  const marks = {
    deletionTimestamp: timestamp(options.nowMs + graceSeconds * 1000),
    deletionGracePeriodSeconds: graceSeconds,
  };
  return { kind: "marked", object: { ...object, metadata: { ...metadata, ...marks, ...generation } } };
}

function gracePeriod(type: ResourceType, object: KubeObject, asked: number | undefined): number {
  if (type.kind !== "Pod" || textAt(object, "spec", "nodeName") === "") return 0;
  const phase = textAt(object, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed") return 0;
  const own = valueAt(object, "spec", "terminationGracePeriodSeconds");
  return asked ?? (typeof own === "number" ? own : POD_GRACE_SECONDS);
}

/** True when an object that is marked for deletion has nothing left to wait for. Pure. */
export function isDeletionDue(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  return deletionTimestamp !== undefined && (deletionGracePeriodSeconds ?? 0) === 0 && (finalizers ?? []).length === 0;
}
