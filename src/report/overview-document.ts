import { API_VERSION, type JSONObject } from "./document.ts";
import { oneLine } from "./one-line.ts";
import type { AddressRow, Overview, PoolRow } from "./overview.ts";
import { rfc3339 } from "./time-text.ts";

/**
 * Returns the document `Status`; `null` = nobody or never. This version knows pools only, so the lists of record sets and
 * routed IPs are empty. Schema: `schema/status.json`.
 */
export function overviewDocument({ cluster, nowMs, pools, reconciler, problems }: Overview): JSONObject {
  return {
    apiVersion: API_VERSION,
    kind: "Status",
    cluster,
    observedAt: rfc3339(nowMs),
    pools: pools.map(poolField),
    recordSets: [],
    routedIPs: [],
    reconciler: {
      lease: reconciler.lease,
      heldBy: reconciler.heldBy || null,
      renewed: reconciler.renewed || null,
      lastRun: reconciler.lastRun || null,
      lastSuccess: reconciler.lastSuccess || null,
      lastResult: reconciler.lastResult || null,
      error: reconciler.error || undefined,
    },
    problems: problems.map(oneLine),
  };
}

function poolField({ pool, ready, reason, message, active, desired, addresses }: PoolRow): JSONObject {
  const { namespace, name, createdAtMs } = pool.meta;
  return {
    object: { kind: "pool", namespace, name },
    ready,
    reason: reason || null,
    message: oneLine(message),
    active,
    desired,
    waitingNodes: pool.status.assignableNodes,
    nodeErrors: pool.status.nodeErrors.map(oneLine),
    suspended: pool.spec.suspend,
    createdAt: createdAtMs === 0 ? null : rfc3339(createdAtMs),
    lastAssignmentTime: pool.status.lastAssignmentTime ?? null,
    addresses: addresses.map(addressField),
  };
}

function addressField({ ip, status, retry }: AddressRow): JSONObject {
  return {
    ip,
    state: status.state,
    nodeName: status.nodeName ?? null,
    providerID: status.providerID ?? null,
    reason: status.reason,
    error: status.error === undefined ? undefined : oneLine(status.error),
    notMatchingSince: status.notMatchingSince,
    retry: retry === undefined ? undefined : { attempts: retry.attempts, nextAttemptTime: retry.nextAttemptTime },
  };
}
