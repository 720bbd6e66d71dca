import type { ObjectRef } from "../../model/action.ts";
import type { ReleasedIP } from "../../model/address.ts";
import type { HostAgent } from "../../model/host-agent.ts";
import { readSkipped } from "../../model/node-phrase.ts";
import { memoryOf, rememberedNames } from "../../model/record-types.ts";
import type { DNSMemory, ObjectMeta, RetryStatus } from "../../model/resource.ts";
import type { Suspension } from "../../model/suspension.ts";
import { plain } from "../../model/text.ts";
import { parseTime } from "../../model/time.ts";
import {
  type AddressRow,
  addressRows,
  type NodeTrouble,
  type Overview,
  type PoolRow,
  type Readiness,
  type RecordSetRow,
  type RoutedIPRow,
} from "../overview.ts";
import { rfc3339 } from "../text/times.ts";
import { formerNames, type WrittenName } from "../text/written-name.ts";
import {
  API_VERSION,
  firewallField,
  foreignField,
  type JSONObject,
  nameField,
  pendingFirewallField,
} from "./document.ts";
import { liveFields } from "./live.ts";

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
      ...lastRunFields(reconciler.lastResult),
      workloads:
        reconciler.workloads?.map(({ kind, name, schedule, timeZone = null, isSuspended }) => {
          return { kind, name, schedule, timeZone, isSuspended };
        }) ?? null,
      notBefore: reconciler.notBefore.map((one) => ({ ...one })),
      putOff: reconciler.putOff.map((one) => ({ ...one })),
      suspension: reconciler.suspension === undefined ? null : suspensionFields(reconciler.suspension),
      grants: reconciler.grants ?? null,
      error: reconciler.error || undefined,
    },
    problems: problems.map(plain),
    nodesError: overview.nodesError === undefined ? undefined : plain(overview.nodesError),
    hostsError: overview.hostsError === undefined ? undefined : plain(overview.hostsError),
    ...(overview.live === undefined ? {} : { live: liveFields(overview.live) }),
  };
}

/** The last result in its two parts: `0 done` is the exit code 0 and the outcome `done`. */
function lastRunFields(lastResult: string): JSONObject {
  const [, code, outcome] = /^(\d+) (.+)$/.exec(lastResult) ?? [];
  return { lastExitCode: code === undefined ? null : Number(code), lastOutcome: outcome ?? null };
}

function poolField(row: PoolRow): JSONObject {
  const { pool, name, active, unread, desired, addresses } = row;
  return {
    ...readinessFields("pool", pool.meta, row),
    active,
    unread,
    desired,
    ...addressFields(pool, addresses),
    retries: retriesField(pool.status.retries),
    ...namesFields(name, pool.status),
  };
}

function routedIPField(row: RoutedIPRow): JSONObject {
  const { routedIP, name, address, status: entry } = row;
  const { meta, spec, status } = routedIP;
  return {
    ...readinessFields("routedip", meta, row),
    error: status.error === undefined ? undefined : plain(status.error),
    issuer: spec.issuer,
    serviceName: spec.serviceName,
    address: address || null,
    nodeName: entry?.nodeName ?? null,
    providerID: entry?.providerID ?? null,
    state: entry?.state ?? null,
    ...addressFields(routedIP, addressRows(status)),
    firewalls: (status.firewalls ?? []).map(firewallField),
    pendingFirewalls: (status.pendingFirewalls ?? []).map(pendingFirewallField),
    retries: retriesField(status.retries),
    nodeTrouble: troubleField(row.trouble),
    hostAgent: agentField(row.hostAgent),
    ...namesFields(name, status),
  };
}

function recordSetField(row: RecordSetRow): JSONObject {
  const { recordSet, name, ipv6, retry } = row;
  const { meta, status } = recordSet;
  const other = name.type === "A" ? "AAAA" : "A";
  const hasOther = ipv6 !== undefined || rememberedNames(memoryOf(status, other)).length > 0;
  return {
    ...readinessFields("dns", meta, row),
    state: status.state ?? null,
    error: status.error === undefined ? undefined : plain(status.error),
    ...namesFields(name, memoryOf(status, name.type)),
    ...(hasOther ? { [other === "AAAA" ? "ipv6" : "ipv4"]: namesFields(ipv6, memoryOf(status, other)) } : {}),
    createdAt: createdAt(meta),
    retry: retryField(retry),
  };
}

/** What every object begins with. */
function readinessFields(kind: ObjectRef["kind"], meta: ObjectMeta, row: Readiness): JSONObject {
  const { ready, reason, message, since, stalled, suspended, notGranted } = row;
  return {
    object: { kind, namespace: meta.namespace, name: meta.name },
    ready,
    reason: reason || null,
    message: plain(message),
    since: since ?? null,
    stalled:
      stalled === undefined
        ? null
        : {
            reason: stalled.reason,
            message: plain(stalled.message),
            since: stalled.since,
            problems: stalled.problems.map((problem) => ({ reason: problem.reason, message: plain(problem.message) })),
          },
    notGranted:
      notGranted === undefined
        ? null
        : { since: notGranted.since, reason: notGranted.reason, message: plain(notGranted.message) },
    suspended: suspended !== undefined,
    suspension: suspended === undefined ? null : { source: suspended.source, ...suspensionFields(suspended) },
  };
}

/** `since` and `until` are null where the annotation does not say them. */
function suspensionFields({ by, why, sinceMs, untilMs, problem }: Suspension): JSONObject {
  return {
    by,
    reason: why,
    since: sinceMs === undefined ? null : rfc3339(sinceMs),
    until: untilMs === undefined ? null : rfc3339(untilMs),
    problem,
  };
}

/** What pools and routed IPs say of nodes and addresses. */
function addressFields(
  { meta, status }: PoolRow["pool"] | RoutedIPRow["routedIP"],
  addresses: readonly AddressRow[],
): JSONObject {
  return {
    waitingNodes: status.assignableNodes,
    waiting: status.assignableNodes,
    nodeErrors: status.nodeErrors.map(plain),
    skipped: status.nodeErrors.flatMap((error) => skippedField(error, status.retries)),
    createdAt: createdAt(meta),
    lastAssignmentTime: status.lastAssignmentTime ?? null,
    addresses: addresses.map(addressField),
    released: status.released.map(releasedField),
  };
}

/** An address that the object does not use any more. */
function releasedField({ ip, nodeName, providerID, acquired, drainingUntil, releasedAt }: ReleasedIP): JSONObject {
  return {
    ip,
    nodeName: nodeName ?? null,
    providerID: providerID ?? null,
    isAcquired: acquired === true,
    releasedAt: timeField(releasedAt),
    drainingUntil: timeField(drainingUntil),
  };
}

/** What a person wrote there and is no time counts as none. */
function timeField(text: string | undefined): string | null {
  const ms = parseTime(text ?? "");
  return ms === undefined ? null : rfc3339(ms);
}

/** A node that can take no address, as a plan tells of it, or a change for it has failed; nothing for an error that is of no node. */
function skippedField(sentence: string, retries: readonly RetryStatus[]): readonly JSONObject[] {
  const skipped = readSkipped(plain(sentence));
  if (skipped === undefined) return [];
  const { nodeName, message, reason } = skipped;
  const hasFailed = retries.some(({ error }) => error === sentence);
  return [{ nodeName, reason: reason ?? (hasFailed ? "Failed" : null), message }];
}

function createdAt({ createdAtMs }: ObjectMeta): string | null {
  return createdAtMs === 0 ? null : rfc3339(createdAtMs);
}

function namesFields(wanted: WrittenName | undefined, memory: DNSMemory): JSONObject {
  return {
    dns: wanted === undefined ? null : nameFields(wanted, memory),
    formerDNS: formerNames(wanted ?? { isPublished: false }, memory).map(nameField),
  };
}

/** `addresses` are those that its records had when last seen; none while they are not on record. */
function nameFields({ provider, zone, recordName, fqdn, isPublished }: WrittenName, memory: DNSMemory): JSONObject {
  const addresses = isPublished ? (memory.publishedDNS?.addresses ?? []) : [];
  const foreign = isPublished ? foreignField(memory.publishedDNS ?? {}) : {};
  return { provider, zone, recordName, name: fqdn ?? null, isPublished, addresses, published: addresses, ...foreign };
}

/** Absent while the node can serve, or nobody knows. */
function troubleField(trouble: NodeTrouble | undefined): JSONObject | undefined {
  if (trouble === undefined) return undefined;
  const { kind, sinceMs } = trouble;
  return { kind, since: sinceMs === undefined ? null : rfc3339(sinceMs) };
}

/** Absent where the node is not to put the address on its host. */
function agentField(agent: HostAgent | undefined): JSONObject | undefined {
  if (agent === undefined) return undefined;
  const { kind, sinceMs } = agent;
  return { kind, since: sinceMs === undefined ? null : rfc3339(sinceMs) };
}

function retriesField(retries: readonly RetryStatus[]): JSONObject[] {
  return retries.map(({ subject, attempts, nextAttemptTime, error }) => {
    return { subject, attempts, nextAttemptTime, error: plain(error) };
  });
}

function retryField(retry: RetryStatus | undefined): JSONObject | undefined {
  return retry === undefined ? undefined : { attempts: retry.attempts, nextAttemptTime: retry.nextAttemptTime };
}

function addressField({ ip, status, retry, trouble, hostAgent }: AddressRow): JSONObject {
  return {
    ip,
    state: status.state,
    nodeName: status.nodeName ?? null,
    providerID: status.providerID ?? null,
    reason: status.reason,
    error: status.error === undefined ? undefined : plain(status.error),
    notMatchingSince: status.notMatchingSince,
    retry: retryField(retry),
    nodeTrouble: troubleField(trouble),
    hostAgent: agentField(hostAgent),
  };
}
