import type { Readiness } from "../../model/node.ts";
import { asRecord, asTimeMs, isCutOff, isPresent } from "./json-value.ts";

/**
 * The `Ready` condition among a node's or a pod's `status.conditions`. Ready is exactly the text `True`; without the
 * condition it is not ready, since an unknown time. Undefined if that condition, or a condition of unreadable type, cannot be read.
 */
export function decodeReadiness(conditions: unknown): Readiness | undefined {
  if (!isPresent(conditions)) return { isReady: false };
  if (!Array.isArray(conditions)) return undefined;
  for (const entry of conditions) {
    const condition = asRecord(entry);
    if (condition?.["type"] !== "Ready") continue;
    const status = condition["status"];
    if (typeof status !== "string" && (isPresent(status) || isCutOff(condition))) return undefined;
    const sinceMs = asTimeMs(condition["lastTransitionTime"]);
    return { isReady: status === "True", ...(sinceMs === undefined ? {} : { sinceMs }) };
  }
  return conditions.some(mayBeReady) ? undefined : { isReady: false };
}

/** True for an entry whose type cannot be read. */
function mayBeReady(entry: unknown): boolean {
  const condition = asRecord(entry);
  const type = condition?.["type"];
  return condition === undefined || (typeof type !== "string" && (isPresent(type) || isCutOff(condition)));
}
