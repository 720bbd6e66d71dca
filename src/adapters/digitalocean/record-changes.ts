import type { AddressRecord } from "./decode-record.ts";

/** How the records of a name differ from the desired addresses. */
export interface RecordChanges {
  /** One record per desired address that has one: the oldest. By id. */
  readonly kept: readonly AddressRecord[];
  /** Desired addresses without a record, in the given order. */
  readonly missing: readonly string[];
  /** Records of addresses that are not desired, and second ones of those that are. By id. */
  readonly surplus: readonly AddressRecord[];
}

/** Compares the records of a name, which come by id, with the desired addresses. Pure. */
export function recordChanges(records: readonly AddressRecord[], desired: readonly string[]): RecordChanges {
  const kept = records.filter(
    (record) => desired.includes(record.ip) && records.find((other) => other.ip === record.ip) === record,
  );
  const missing = [...new Set(desired)].filter((ip) => !kept.some((record) => record.ip === ip));
  return { kept, missing, surplus: records.filter((record) => !kept.includes(record)) };
}
