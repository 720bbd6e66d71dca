import type { AcquiredIP, PendingAcquisition, ReleasedIP } from "../../model/address.ts";
import type { IPState, IPStatus, PoolStatus } from "../../model/resource.ts";
import { decodeCommonStatus } from "./decode-common-status.ts";
import { asFlag, asInteger, asList, asRecord, asText, asTexts } from "./json-value.ts";
import { optional } from "./optional.ts";

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
