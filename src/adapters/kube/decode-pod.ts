import type { PodFacts } from "../../model/node.ts";
import { decodeMeta } from "./decode-meta.ts";
import { decodeReadiness } from "./decode-readiness.ts";
import { asNumber, asRecord, asText, asTimeMs } from "./json-value.ts";

/** What flipop needs of a `v1` Pod; undefined when it is not bound to a node yet. Never throws. */
export function decodePod(object: unknown): PodFacts | undefined {
  const meta = decodeMeta(object);
  const pod = asRecord(object);
  const nodeName = asText(asRecord(pod?.["spec"])?.["nodeName"]);
  if (meta === undefined || nodeName === undefined) return undefined;
  const status = asRecord(pod?.["status"]);
  const deletedAtMs = deletionMs(asRecord(pod?.["metadata"]));
  return {
    namespace: meta.namespace,
    name: meta.name,
    nodeName,
    phase: asText(status?.["phase"]) ?? "",
    ready: decodeReadiness(status?.["conditions"]),
    ...(deletedAtMs === undefined ? {} : { deletedAtMs }),
  };
}

/** `deletionTimestamp` lies in the future by the grace period: it is when the pod must be gone, not when it was deleted. */
function deletionMs(metadata: Readonly<Record<string, unknown>> | undefined): number | undefined {
  const goneByMs = asTimeMs(metadata?.["deletionTimestamp"]);
  if (goneByMs === undefined) return undefined;
  return goneByMs - (asNumber(metadata?.["deletionGracePeriodSeconds"]) ?? 0) * 1000;
}
