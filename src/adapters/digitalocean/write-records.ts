// Address records, as they are written. The API has neither a batch call nor transactions: one request per record.

import { ProviderError } from "../../model/errors.ts";
import { setText } from "../../model/record-types.ts";
import type { DNSProvider, DNSProviderReader } from "../../ports/providers.ts";
import {
  type ChangeAttempt,
  type ChangeConflict,
  changeRecordSet,
  isSameSet,
  type ReadRecords,
  senderInParts,
  type Wanted,
} from "../dns/record-sets.ts";
import { AnswerFault, object, read } from "../http/answer.ts";
import { type Client, callTo, type DigitalOceanCall, expectedFailure, refused } from "./api.ts";
import {
  type AddressRecord,
  anyRecord,
  listRecords,
  missingZone,
  type RecordName,
  recordName,
  recordsOf,
} from "./records.ts";
import { TTL_RULES } from "./ttl.ts";

/** Returns the writing half of the port over DigitalOcean's API. It adds missing records, then sets the TTL, then removes records. Each request is about one record. */
export function recordWriter(client: Client): Omit<DNSProvider, keyof DNSProviderReader> {
  return {
    async writeRecords(zone, fqdn, change) {
      const doing = `write ${recordsOf(fqdn)} in the zone ${JSON.stringify(zone.id)}`;
      const call = callTo("records", fqdn, doing, "domain:update");
      const name = recordName(call, zone);
      return changeRecordSet(change, {
        fqdn: setText(name),
        ttlRules: TTL_RULES,
        refuse: (reason) => refused({ ...call, subject: setText(name) }, reason),
        read: (purpose) => listRecords(client.for(purpose), name),
        attempt: (wanted, records) => {
          const rest = client.for("rest");
          return attempt({ client: rest, send: senderInParts(rest), name, wanted, records });
        },
      });
    },
  };
}

/** The record calls of one write. */
interface RecordWrite {
  readonly client: Client;
  readonly name: RecordName;
  readonly wanted: Wanted;
  /** Sends one request of the change. */
  readonly send: <T>(call: DigitalOceanCall<T>) => Promise<T>;
  /** As they were read, by id. */
  readonly records: ReadRecords<AddressRecord>;
}

async function attempt(write: RecordWrite): Promise<ChangeAttempt<AddressRecord>> {
  const { name, wanted } = write;
  const { own: records } = write.records;
  const { kept, missing, surplus } = recordChanges(records, wanted.addresses);
  const added: AddressRecord[] = [];
  for (const ip of missing) {
    const made = await add(write, ip);
    if (made instanceof ProviderError) return refusedRecord([...records, ...added], made);
    added.push(made);
  }
  const settled = await settleTTL(write, { kept, added, surplus });
  if ("kind" in settled) return settled;
  for (const [at, record] of surplus.entries()) {
    const outcome = await write.send(removeCall(name, record));
    if (outcome !== "removed") return gone([...settled, ...surplus.slice(at)]);
  }
  return { kind: "written", own: settled };
}

/** The record made for an address, or the refusal, which may say that the record stands already. */
async function add(write: RecordWrite, ip: string): Promise<AddressRecord | ProviderError> {
  try {
    return await write.send(addCall(write.name, ip, write.wanted.ttlSeconds));
  } catch (error) {
    if (error instanceof ProviderError && error.failure === "refused") return error;
    throw error;
  }
}

/**
 * The kept and the added records once all have the TTL, or the conflict when one of them is not what it was.
 *
 * The records of one FQDN share their TTL: writing one rewrites the others without a word. So one write is enough, a new record
 * has done it already, and what became of the others is read before any of them is written.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/issues/1012 (verified 2026-08-07)
 */
async function settleTTL(
  write: RecordWrite,
  { kept, added, surplus }: Readonly<Record<"kept" | "added" | "surplus", readonly AddressRecord[]>>,
): Promise<readonly AddressRecord[] | ChangeConflict<AddressRecord>> {
  const { client, name } = write;
  const { ttlSeconds: ttl } = write.wanted;
  const staying = [...kept, ...added];
  const expected = [...staying, ...surplus];
  const first = staying.find((record) => record.ttlSeconds !== ttl);
  if (first === undefined) return staying;
  const isWritten = added.some((record) => record.ttlSeconds === ttl);
  const rewritten = isWritten ? first : await write.send(setTTLCall(name, first, ttl));
  if (rewritten === undefined) return gone(expected);
  const listed = await listRecords(client, name);
  // A list that does not show what was just made is late: the answer to its making is newer.
  const seen = [...listed, ...added.filter((item) => !listed.some(({ id }) => id === item.id))];
  if (!isSameSet(addressesOf(seen.filter(write.records.isOwn)), addressesOf(expected)))
    return { ...gone(expected), seen };
  return settleEach(write, staying, seen, expected);
}

/** The staying records one by one as they were just listed, each with the TTL. */
async function settleEach(
  write: RecordWrite,
  staying: readonly AddressRecord[],
  seen: readonly AddressRecord[],
  expected: readonly AddressRecord[],
): Promise<readonly AddressRecord[] | ChangeConflict<AddressRecord>> {
  const { name } = write;
  const { ttlSeconds: ttl } = write.wanted;
  const settled: AddressRecord[] = [];
  for (const { id, address } of staying) {
    const record = seen.find((item) => item.id === id && item.address === address);
    if (record === undefined) return { ...gone(expected), seen };
    const written = record.ttlSeconds === ttl ? record : await write.send(setTTLCall(name, record, ttl));
    if (written?.address !== address) return gone(expected);
    settled.push(written);
  }
  return settled;
}

/** A record is gone or another: somebody else changed the set, or made the record anew. */
function gone(expected: readonly AddressRecord[]): ChangeConflict<AddressRecord> {
  return { kind: "conflict", expected: addressesOf(expected), isRepeatable: true };
}

/** A record is refused, because it stands already or for any other reason. */
function refusedRecord(expected: readonly AddressRecord[], error: ProviderError): ChangeConflict<AddressRecord> {
  return { kind: "conflict", expected: addressesOf(expected), error, isRepeatable: false };
}

function addressesOf(records: readonly AddressRecord[]): readonly string[] {
  return records.map((record) => record.address);
}

/** Makes a record. Not idempotent: a second call makes a second record. */
function addCall(name: RecordName, ip: string, ttl: number): DigitalOceanCall<AddressRecord> {
  const { zone, fqdn, type, relative } = name;
  return {
    ...callTo(
      "add-record",
      setText(name),
      `add ${ip} to the ${type} records of ${fqdn} in the zone ${zone}`,
      "domain:create",
    ),
    notFoundAdvice: missingZone(zone),
    send: ({ domains }) => domains.byDomain_name(zone).records.post({ type, name: relative, data: ip, ttl }),
    read: (body) => {
      const record = readRecord(body, name);
      if (record.address !== ip) throw new AnswerFault(`domain_record.data is ${record.address}, not ${ip}`);
      return record;
    },
  };
}

/** Sets the TTL of a record, and with it that of all records of its name; undefined when the record is gone. Idempotent. */
function setTTLCall(
  name: RecordName,
  { id, address }: AddressRecord,
  ttl: number,
): DigitalOceanCall<AddressRecord | undefined> {
  const { zone, type } = name;
  const doing = `set the TTL of ${setText(name)} in the zone ${zone} to ${ttl} s (record ${id}, ${address})`;
  return {
    ...callTo("set-ttl", setText(name), doing, "domain:update"),
    send: ({ domains }) => domains.byDomain_name(zone).records.byDomain_record_id(id).patch({ type, ttl }),
    read: (body) => {
      const record = readRecord(body, name);
      if (record.id !== id) throw new AnswerFault(`domain_record.id is ${record.id}, not ${id}`);
      return record;
    },
    expected: expectedFailure("not-found", undefined),
  };
}

/** Removes a record, or finds that it is gone. Idempotent. */
function removeCall(name: RecordName, { id, address }: AddressRecord): DigitalOceanCall<"removed" | "gone"> {
  const { zone, fqdn, type } = name;
  const doing = `remove ${address} from the ${type} records of ${fqdn} in the zone ${zone} (record ${id})`;
  return {
    ...callTo("remove-record", setText(name), doing, "domain:delete"),
    send: ({ domains }) => domains.byDomain_name(zone).records.byDomain_record_id(id).delete(),
    read: () => "removed",
    otherwise: { value: "removed" },
    expected: expectedFailure("not-found", "gone"),
  };
}

function readRecord(body: unknown, name: RecordName): AddressRecord {
  const { record } = read(object({ domain_record: anyRecord(name) }), body).domain_record;
  if (record === undefined) throw new AnswerFault(`domain_record is not an ${name.type} record named ${name.relative}`);
  return record;
}

/** How the records of a name differ from the desired addresses. */
interface RecordChanges {
  /** One record per desired address that has one: the oldest. By id. */
  readonly kept: readonly AddressRecord[];
  /** Desired addresses without a record, in the given order. */
  readonly missing: readonly string[];
  /** Records of addresses that are not desired, and second ones of those that are. By id. */
  readonly surplus: readonly AddressRecord[];
}

/** Compares the records of a name, which come by id, with the desired addresses. */
function recordChanges(records: readonly AddressRecord[], desired: readonly string[]): RecordChanges {
  const kept = records.filter(
    (record) =>
      desired.includes(record.address) && records.find((other) => other.address === record.address) === record,
  );
  const missing = [...new Set(desired)].filter((ip) => !kept.some((record) => record.address === ip));
  return { kept, missing, surplus: records.filter((record) => !kept.includes(record)) };
}
