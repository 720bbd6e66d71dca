import type { Condition, PoolStatus, PublishedName, RecordSetStatus, RetryStatus } from "../../model/resource.ts";
import { asInteger, asList, asRecord, asText, asTexts } from "./json-value.ts";
import { optional } from "./optional.ts";

/** The status fields that both kinds have, with the same meaning. */
export type CommonStatus = Pick<PoolStatus, keyof PoolStatus & keyof RecordSetStatus>;

/**
 * What both kinds have in `status`, read leniently: it is what earlier runs left, perhaps the Go operator's, perhaps edited by
 * hand, so whatever has the wrong shape is dropped, entry by entry. Absent means empty. Never throws.
 */
export function decodeCommonStatus(status: Readonly<Record<string, unknown>>): CommonStatus {
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
  return [
    {
      type,
      status,
      observedGeneration: asInteger(entry["observedGeneration"]) ?? 0,
      lastTransitionTime: asText(entry["lastTransitionTime"]) ?? "",
      reason: asText(entry["reason"]) ?? "",
      message: asText(entry["message"]) ?? "",
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
