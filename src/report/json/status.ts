import type { DNSMemory, RetryStatus } from "../../model/resource.ts";
import { plain } from "../../model/text.ts";
import {
  type AddressRow,
  addressRows,
  type Overview,
  type PoolRow,
  type RecordSetRow,
  type RoutedIPRow,
} from "../overview.ts";
import { rfc3339 } from "../text/times.ts";
import { formerNames, type WrittenName } from "../text/written-name.ts";
import { API_VERSION, firewallField, type JSONObject, nameField, pendingFirewallField } from "./document.ts";

/**
 * Returns the document `Status`; `null` = nobody, never, none or unknown.
 * Schema: `schema/status.json`.
 */
export function overviewDocument(overview: Overview): JSONObject {
  const { cluster, nowMs, pools, routedIPs, recordSets, reconciler, problems } = overview;
  return {
    apiVersion: API_VERSION,
    kind: "Status",
    cluster,
    observedAt: rfc3339(nowMs),
    pools: pools.map(poolField),
    recordSets: recordSets.map(recordSetField),
    routedIPs: routedIPs.map(routedIPField),
    reconciler: {
      lease: reconciler.lease,
      heldBy: reconciler.heldBy || null,
      renewed: reconciler.renewed || null,
      lastRun: reconciler.lastRun || null,
      lastSuccess: reconciler.lastSuccess || null,
      lastResult: reconciler.lastResult || null,
      putOff: reconciler.putOff.map((one) => ({ ...one })),
      error: reconciler.error || undefined,
    },
    problems: problems.map(plain),
  };
}

function poolField({
  pool,
  name: wanted,
  ready,
  reason,
  message,
  stalled,
  active,
  unread,
  desired,
  addresses,
}: PoolRow): JSONObject {
  const { namespace, name, createdAtMs } = pool.meta;
  return {
    object: { kind: "pool", namespace, name },
    ready,
    reason: reason || null,
    message: plain(message),
    stalled: stalled === undefined ? null : { reason: stalled.reason, message: plain(stalled.message) },
    active,
    unread,
    desired,
    waitingNodes: pool.status.assignableNodes,
    nodeErrors: pool.status.nodeErrors.map(plain),
    suspended: pool.spec.suspend,
    createdAt: createdAtMs === 0 ? null : rfc3339(createdAtMs),
    lastAssignmentTime: pool.status.lastAssignmentTime ?? null,
    addresses: addresses.map(addressField),
    dns: wanted === undefined ? null : nameFields(wanted, pool.status),
    formerDNS: formerNames(wanted ?? { isPublished: false }, pool.status).map(nameField),
  };
}

function routedIPField({
  routedIP,
  name: wanted,
  ready,
  reason,
  message,
  stalled,
  address,
  status: entry,
}: RoutedIPRow): JSONObject {
  const { meta, spec, status } = routedIP;
  const { namespace, name, createdAtMs } = meta;
  return {
    object: { kind: "routedip", namespace, name },
    ready,
    reason: reason || null,
    message: plain(message),
    stalled: stalled === undefined ? null : { reason: stalled.reason, message: plain(stalled.message) },
    error: status.error === undefined ? undefined : plain(status.error),
    issuer: spec.issuer,
    serviceName: spec.serviceName,
    address: address || null,
    nodeName: entry?.nodeName ?? null,
    providerID: entry?.providerID ?? null,
    state: entry?.state ?? null,
    waitingNodes: status.assignableNodes,
    nodeErrors: status.nodeErrors.map(plain),
    suspended: spec.suspend,
    createdAt: createdAtMs === 0 ? null : rfc3339(createdAtMs),
    lastAssignmentTime: status.lastAssignmentTime ?? null,
    addresses: addressRows(status).map(addressField),
    ...firewallFields(status),
    retries: status.retries.map(({ subject, attempts, nextAttemptTime, error }) => {
      return { subject, attempts, nextAttemptTime, error: plain(error) };
    }),
    dns: wanted === undefined ? null : nameFields(wanted, status),
    formerDNS: formerNames(wanted ?? { isPublished: false }, status).map(nameField),
  };
}

function firewallFields({ firewalls = [], pendingFirewalls = [] }: RoutedIPRow["routedIP"]["status"]): JSONObject {
  return { firewalls: firewalls.map(firewallField), pendingFirewalls: pendingFirewalls.map(pendingFirewallField) };
}

function recordSetField({ recordSet, name, ready, reason, message, stalled, retry }: RecordSetRow): JSONObject {
  const { meta, spec, status } = recordSet;
  const { namespace, createdAtMs } = meta;
  return {
    object: { kind: "dns", namespace, name: meta.name },
    ready,
    reason: reason || null,
    message: plain(message),
    stalled: stalled === undefined ? null : { reason: stalled.reason, message: plain(stalled.message) },
    state: status.state ?? null,
    error: status.error === undefined ? undefined : plain(status.error),
    dns: nameFields(name, status),
    formerDNS: formerNames(name, status).map(nameField),
    suspended: spec.suspend,
    createdAt: createdAtMs === 0 ? null : rfc3339(createdAtMs),
    retry: retryField(retry),
  };
}

/** `addresses` are those that its records had when last seen; none while they are not on record. */
function nameFields({ provider, zone, recordName, fqdn, isPublished }: WrittenName, memory: DNSMemory): JSONObject {
  const addresses = isPublished ? (memory.publishedDNS?.addresses ?? []) : [];
  return { provider, zone, recordName, name: fqdn ?? null, isPublished, addresses };
}

function retryField(retry: RetryStatus | undefined): JSONObject | undefined {
  return retry === undefined ? undefined : { attempts: retry.attempts, nextAttemptTime: retry.nextAttemptTime };
}

function addressField({ ip, status, retry }: AddressRow): JSONObject {
  return {
    ip,
    state: status.state,
    nodeName: status.nodeName ?? null,
    providerID: status.providerID ?? null,
    reason: status.reason,
    error: status.error === undefined ? undefined : plain(status.error),
    notMatchingSince: status.notMatchingSince,
    retry: retryField(retry),
  };
}
