import type { LeaseRecord } from "../../ports/cluster.ts";
import { decodeMeta } from "./decode-builtin.ts";
import { asNumber, asRecord, asText, asTextMap, asTimeMs, microTime } from "./json.ts";

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
