import type { IPStatus, PoolStatus } from "../../model/resource.ts";
import { encodeCommonStatus, unlessEmpty } from "./encode-common-status.ts";
import { asRecord } from "./json-value.ts";

/**
 * The `status` of a JSON merge patch (RFC 7396) that turns the stored status into this one: every field flipop owns is in it,
 * `null` where it is absent or empty, so that the server removes it; fields of others are not mentioned and stay. `ips` is
 * a map, which a merge patch would only add to, so addresses that are stored and no longer wanted are `null` too.
 *
 * @param stored `status` as the server has it, at the resourceVersion the patch will carry.
 */
export function encodePoolStatus(status: PoolStatus, stored: unknown): Readonly<Record<string, unknown>> {
  return {
    ...encodeCommonStatus(status),
    ips: encodeIPs(status.ips, asRecord(asRecord(stored)?.["ips"]) ?? {}),
    assignableNodes: unlessEmpty(status.assignableNodes),
    nodeErrors: unlessEmpty(status.nodeErrors),
    acquired: unlessEmpty(status.acquired),
    pendingAcquisitions: unlessEmpty(status.pendingAcquisitions),
    released: unlessEmpty(status.released),
    lastAssignmentTime: status.lastAssignmentTime || null,
    assignments: status.assignments ?? null,
  } satisfies Record<keyof PoolStatus, unknown>;
}

function encodeIPs(ips: PoolStatus["ips"], stored: Readonly<Record<string, unknown>>): unknown {
  const wanted = Object.keys(ips);
  if (wanted.length === 0) return null;
  const removed = Object.keys(stored).map((ip): [string, unknown] => [ip, null]);
  const written = Object.entries(ips).map(([ip, entry]): [string, unknown] => [ip, encodeIP(entry)]);
  return Object.fromEntries([...removed, ...written]);
}

function encodeIP(entry: IPStatus): unknown {
  return {
    state: entry.state,
    nodeName: entry.nodeName || null,
    providerID: entry.providerID || null,
    previousProviderID: entry.previousProviderID || null,
    error: entry.error || null,
    reason: entry.reason || null,
    notMatchingSince: entry.notMatchingSince || null,
  } satisfies Record<keyof IPStatus, unknown>;
}
