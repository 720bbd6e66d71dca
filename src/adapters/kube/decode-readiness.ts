import type { Readiness } from "../../model/node.ts";
import { asList, asRecord, asTimeMs } from "./json-value.ts";

/**
 * The `Ready` condition among a node's or a pod's `status.conditions`. Ready is exactly the text `True`; without the
 * condition it is not ready, since an unknown time.
 */
export function decodeReadiness(conditions: unknown): Readiness {
  for (const entry of asList(conditions)) {
    const condition = asRecord(entry);
    if (condition?.["type"] !== "Ready") continue;
    const sinceMs = asTimeMs(condition["lastTransitionTime"]);
    return { isReady: condition["status"] === "True", ...(sinceMs === undefined ? {} : { sinceMs }) };
  }
  return { isReady: false };
}
