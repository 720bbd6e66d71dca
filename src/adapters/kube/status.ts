import type { AcquiredIP, PendingAcquisition, ReleasedIP } from "../../model/address.ts";
import type { FirewallMemory, PendingFirewall } from "../../model/firewall.ts";
import { addressesOf, faultOf } from "../../model/reason.ts";
import type {
  Condition,
  IPState,
  IPStatus,
  IssuerMemory,
  PoolStatus,
  PublishedName,
  RecordSetStatus,
  RetryStatus,
  RoutedIPStatus,
  UnreadyNode,
} from "../../model/resource.ts";
import { optional } from "./call.ts";
import { asFlag, asInteger, asList, asRecord, asText, asTexts } from "./json.ts";

const STATES: readonly IPState[] = ["active", "in-progress", "error", "no-match", "unassigned", "disabled"];

/** `status` of a FloatingIPPool, read as leniently as {@link decodeCommonStatus} does. Never throws. */
export function decodePoolStatus(value: unknown): PoolStatus {
  const status = asRecord(value) ?? {};
  return {
    ...decodeCommonStatus(status),
    ips: decodeIPs(status["ips"]),
    assignableNodes: asTexts(status["assignableNodes"]),
    nodeErrors: asTexts(status["nodeErrors"]),
    acquired: asList(status["acquired"]).flatMap(decodeAcquired),
    pendingAcquisitions: asList(status["pendingAcquisitions"]).flatMap(decodePending),
    released: asList(status["released"]).flatMap(decodeReleased),
    ...optional("lastAssignmentTime", asText(status["lastAssignmentTime"])),
    ...optional("assignments", asInteger(status["assignments"])),
  };
}

function decodeIPs(value: unknown): Readonly<Record<string, IPStatus>> {
  const entries = Object.entries(asRecord(value) ?? {}).map(([ip, entry]) => [ip, decodeIP(asRecord(entry))] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, IPStatus] => entry[1] !== undefined));
}

function decodeIP(entry: Readonly<Record<string, unknown>> | undefined): IPStatus | undefined {
  const state = STATES.find((candidate) => candidate === entry?.["state"]);
  if (entry === undefined || state === undefined) return undefined;
  return {
    state,
    ...optional("nodeName", asText(entry["nodeName"])),
    ...optional("providerID", asText(entry["providerID"])),
    ...optional("previousProviderID", asText(entry["previousProviderID"])),
    ...optional("error", asText(entry["error"])),
    ...optional("reason", asText(entry["reason"])),
    ...optional("fault", faultOf(asText(entry["reason"]))),
    ...optional("notMatchingSince", asText(entry["notMatchingSince"])),
  };
}

function decodeAcquired(value: unknown): readonly AcquiredIP[] {
  const entry = asRecord(value);
  const ip = asText(entry?.["ip"]);
  const acquiredAt = asText(entry?.["acquiredAt"]) ?? "";
  return ip === undefined ? [] : [{ ip, acquiredAt, ...optional("adopted", asFlag(entry?.["adopted"])) }];
}

function decodePending(value: unknown): readonly PendingAcquisition[] {
  const entry = asRecord(value);
  // An intent without its time still stands for a call that may have bought something, so it is kept.
  if (entry === undefined) return [];
  return [
    {
      startedAt: asText(entry["startedAt"]) ?? "",
      ...optional("region", asText(entry["region"])),
      ...optional("providerID", asText(entry["providerID"])),
      ...optional("nodeName", asText(entry["nodeName"])),
      knownIPs: asTexts(entry["knownIPs"]),
      ...optional("restored", asFlag(entry["restored"])),
      ...optional("candidates", unlessNone(asTexts(entry["candidates"]))),
    },
  ];
}

function decodeReleased(value: unknown): readonly ReleasedIP[] {
  const entry = asRecord(value);
  const ip = asText(entry?.["ip"]);
  if (entry === undefined || ip === undefined) return [];
  return [
    {
      ip,
      ...optional("providerID", asText(entry["providerID"])),
      ...optional("nodeName", asText(entry["nodeName"])),
      ...optional("acquired", asFlag(entry["acquired"])),
    },
  ];
}

function unlessNone(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list;
}

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
  } satisfies Record<Exclude<keyof IPStatus, "fault">, unknown>;
}

/** `status` of a RoutedIP, read as leniently as {@link decodePoolStatus} does. Never throws. */
export function decodeRoutedIPStatus(value: unknown): RoutedIPStatus {
  const status = asRecord(value) ?? {};
  const firewalls = asList(status["firewalls"]).flatMap(decodeFirewall);
  const pendingFirewalls = asList(status["pendingFirewalls"]).flatMap(decodePendingFirewall);
  return {
    ...decodePoolStatus(value),
    ...optional("address", asText(status["address"])),
    ...optional("nodeName", asText(status["nodeName"])),
    ...(firewalls.length === 0 ? {} : { firewalls }),
    ...(pendingFirewalls.length === 0 ? {} : { pendingFirewalls }),
    ...optional("issuer", decodeIssuer(status["issuer"])),
  };
}

/** A firewall that cannot be found again is dropped. */
function decodeFirewall(value: unknown): readonly FirewallMemory[] {
  const entry = asRecord(value);
  const provider = asText(entry?.["provider"]);
  const id = asText(entry?.["id"]);
  if (entry === undefined || provider === undefined || id === undefined) return [];
  const name = asText(entry["name"]) ?? "";
  return [{ provider, id, name, ports: asTexts(entry["ports"]), machineIDs: asTexts(entry["machineIDs"]) }];
}

/** An entry without its time means nothing: the change counts as pending from when it is seen again. */
function decodePendingFirewall(value: unknown): readonly PendingFirewall[] {
  const entry = asRecord(value);
  const id = asText(entry?.["id"]);
  const since = asText(entry?.["since"]);
  if (entry === undefined || id === undefined || since === undefined) return [];
  const name = asText(entry["name"]) ?? "";
  return [{ id, name, ...optional("machineID", asText(entry["machineID"])), since }];
}

/** Half of it would be worse than none: nothing is deleted on a policy that was not read. */
function decodeIssuer(value: unknown): IssuerMemory | undefined {
  const entry = asRecord(value);
  const provider = asText(entry?.["provider"]);
  const reclaimPolicy = entry?.["reclaimPolicy"];
  const isPolicy = reclaimPolicy === "Retain" || reclaimPolicy === "Delete";
  return provider === undefined || !isPolicy ? undefined : { provider, reclaimPolicy };
}

/** The `status` of a JSON merge patch that turns the stored status of a RoutedIP into this one, see {@link encodePoolStatus}. */
export function encodeRoutedIPStatus(status: RoutedIPStatus, stored: unknown): Readonly<Record<string, unknown>> {
  const own = {
    address: status.address ?? null,
    nodeName: status.nodeName ?? null,
    firewalls: unlessEmpty(status.firewalls ?? []),
    pendingFirewalls: unlessEmpty(status.pendingFirewalls ?? []),
    issuer: status.issuer ?? null,
  } satisfies Record<Exclude<keyof RoutedIPStatus, keyof PoolStatus>, unknown>;
  return { ...encodePoolStatus(status, stored), ...own };
}

const RECORD_SET_STATES: readonly Exclude<RecordSetStatus["state"], undefined>[] = ["active", "in-progress", "error"];

/** `status` of a NodeDNSRecordSet, read as leniently as {@link decodeCommonStatus} does. Never throws. */
export function decodeRecordSetStatus(value: unknown): RecordSetStatus {
  const status = asRecord(value) ?? {};
  const state = RECORD_SET_STATES.find((candidate) => candidate === status["state"]);
  return {
    ...decodeCommonStatus(status),
    ...optional("state", state),
    unreadyNodes: asList(status["unreadyNodes"]).flatMap(decodeUnready),
  };
}

/** A grace period that lost its beginning starts afresh. */
function decodeUnready(value: unknown): readonly UnreadyNode[] {
  const entry = asRecord(value);
  const nodeName = asText(entry?.["nodeName"]);
  const since = asText(entry?.["since"]);
  return nodeName === undefined || since === undefined ? [] : [{ nodeName, since }];
}

/**
 * The `status` of a JSON merge patch that turns the stored status of a record set into this one, see
 * {@link encodeCommonStatus}. It has no maps, so what is stored does not matter.
 */
export function encodeRecordSetStatus(status: RecordSetStatus): Readonly<Record<string, unknown>> {
  return {
    ...encodeCommonStatus(status),
    state: status.state ?? null,
    unreadyNodes: unlessEmpty(status.unreadyNodes),
  } satisfies Record<keyof RecordSetStatus, unknown>;
}

/** The status fields that both kinds have, with the same meaning. */
type CommonStatus = Pick<PoolStatus, keyof PoolStatus & keyof RecordSetStatus>;

/**
 * What both kinds have in `status`, read leniently: it is what earlier runs left, perhaps the Go operator's, perhaps edited by
 * hand, so whatever has the wrong shape is dropped, entry by entry. Absent means empty. Never throws.
 */
function decodeCommonStatus(status: Readonly<Record<string, unknown>>): CommonStatus {
  const [publishedDNS] = decodeName(status["publishedDNS"]);
  return {
    ...optional("observedGeneration", asInteger(status["observedGeneration"])),
    conditions: asList(status["conditions"]).flatMap(decodeCondition),
    ...optional("error", asText(status["error"])),
    ...optional("publishedDNS", publishedDNS),
    formerDNS: asList(status["formerDNS"]).flatMap(decodeName),
    retries: asList(status["retries"]).flatMap(decodeRetry),
  };
}

function decodeCondition(value: unknown): readonly Condition[] {
  const entry = asRecord(value);
  const type = asText(entry?.["type"]);
  const status = entry?.["status"];
  const isStatus = status === "True" || status === "False" || status === "Unknown";
  if (entry === undefined || type === undefined || !isStatus) return [];
  const reason = asText(entry["reason"]) ?? "";
  return [
    {
      type,
      status,
      observedGeneration: asInteger(entry["observedGeneration"]) ?? 0,
      lastTransitionTime: asText(entry["lastTransitionTime"]) ?? "",
      reason,
      message: asText(entry["message"]) ?? "",
      ...addressesOf(type, reason),
    },
  ];
}

/** A name whose place is not whole cannot be found again, so it is dropped. */
function decodeName(value: unknown): readonly PublishedName[] {
  const entry = asRecord(value);
  const provider = asText(entry?.["provider"]);
  const zone = asText(entry?.["zone"]);
  const name = asText(entry?.["name"]);
  if (provider === undefined || zone === undefined || name === undefined) return [];
  return [{ provider, zone, name, addresses: asTexts(entry?.["addresses"]) }];
}

function decodeRetry(value: unknown): readonly RetryStatus[] {
  const entry = asRecord(value);
  const subject = asText(entry?.["subject"]);
  if (entry === undefined || subject === undefined) return [];
  const attempts = Math.max(1, asInteger(entry["attempts"]) ?? 1);
  const nextAttemptTime = asText(entry["nextAttemptTime"]) ?? "";
  return [{ subject, attempts, nextAttemptTime, error: asText(entry["error"]) ?? "" }];
}

/**
 * What both kinds have in `status`, for a JSON merge patch (RFC 7396): every field is in it, `null` where it is absent or empty,
 * so that the server removes it.
 */
function encodeCommonStatus(status: CommonStatus): Readonly<Record<keyof CommonStatus, unknown>> {
  return {
    observedGeneration: status.observedGeneration ?? null,
    conditions: unlessEmpty(status.conditions.map(({ hasAddresses: _told, ...condition }) => condition)),
    error: status.error || null,
    publishedDNS: status.publishedDNS === undefined ? null : encodeName(status.publishedDNS),
    formerDNS: unlessEmpty(status.formerDNS.map(encodeName)),
    retries: unlessEmpty(status.retries),
  };
}

/** The list; `null` for an empty one. Pure. */
function unlessEmpty<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

function encodeName({ provider, zone, name, addresses }: PublishedName): Required<PublishedName> {
  return { provider, zone, name, addresses };
}
