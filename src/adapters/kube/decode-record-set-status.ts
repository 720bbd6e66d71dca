import type { RecordSetStatus, UnreadyNode } from "../../model/resource.ts";
import { decodeCommonStatus } from "./decode-common-status.ts";
import { asList, asRecord, asText } from "./json-value.ts";
import { optional } from "./optional.ts";

const STATES: readonly Exclude<RecordSetStatus["state"], undefined>[] = ["active", "in-progress", "error"];

/** `status` of a NodeDNSRecordSet, read as leniently as {@link decodeCommonStatus} does. Never throws. */
export function decodeRecordSetStatus(value: unknown): RecordSetStatus {
  const status = asRecord(value) ?? {};
  const state = STATES.find((candidate) => candidate === status["state"]);
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
