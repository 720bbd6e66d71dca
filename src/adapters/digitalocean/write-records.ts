import { canonicalIPv4 } from "../../model/address.ts";
import { acceptedTTL, type TTLRules, type Zone } from "../../model/dns.ts";
import { ProviderError } from "../../model/errors.ts";
import type { DNSProvider, DNSProviderReader, RecordSetResult } from "../../ports/providers.ts";
import { type Answer, AnswerFault, jsonOf } from "../provider-http/answer.ts";
import type { CallFacts } from "../provider-http/provider-caller.ts";
import { type ChangeAttempt, type ChangeConflict, changeRecordSet, isSameSet } from "../provider-http/record-sets.ts";
import { type Call, type Caller, expectedFailure, providerError } from "./api.ts";
import {
  type AddressRecord,
  decodeRecord,
  listRecords,
  missingZone,
  type RecordName,
  recordName,
  recordSetState,
} from "./read-records.ts";

/** The record calls of one write: what is wanted, and with which TTL in seconds. */
interface RecordWrite {
  readonly caller: Caller;
  readonly name: RecordName;
  readonly addresses: readonly string[];
  readonly ttl: number;
  readonly mayWrite: () => boolean;
}

/**
 * The writing half of the port over DigitalOcean's API, which has neither a batch call nor transactions: one request per record,
 * first what is missing, then the TTL, last what is too much, which goes only when all that is desired stands.
 */
export function dnsWriteOperations(caller: Caller, ttlRules: TTLRules): Omit<DNSProvider, keyof DNSProviderReader> {
  return {
    async writeRecords(zone, fqdn, change) {
      const { addresses, ttlSeconds } = change.after;
      const name = checkedName(zone, fqdn, addresses);
      const { mayWrite = (): boolean => true } = change;
      const write: RecordWrite = {
        caller: caller.for("rest"),
        name,
        addresses,
        ttl: acceptedTTL(ttlSeconds, ttlRules),
        mayWrite,
      };
      return changeRecordSet(change, {
        ttlRules,
        read: (purpose) => listRecords(caller.for(purpose), name),
        stateOf: (records) => recordSetState(name.fqdn, records),
        attempt: (records) => attempt(write, records),
      });
    },
  };
}

async function attempt(write: RecordWrite, records: readonly AddressRecord[]): Promise<ChangeAttempt<AddressRecord>> {
  const { caller, name } = write;
  const { kept, missing, surplus } = recordChanges(records, write.addresses);
  const added: AddressRecord[] = [];
  for (const ip of missing) {
    if (!write.mayWrite()) return stopped(write, [...records, ...added]);
    const made = await add(write, ip);
    if (made instanceof ProviderError) return refused([...records, ...added], made);
    added.push(made);
  }
  const settled = await settleTTL(write, { kept, added, surplus });
  if ("kind" in settled) return settled;
  for (const [at, record] of surplus.entries()) {
    if (!write.mayWrite()) return stopped(write, [...settled, ...surplus.slice(at)]);
    if ((await caller.call(removeCall(name, record))) === "gone") return gone([...settled, ...surplus.slice(at)]);
  }
  return { kind: "written", records: recordSetState(name.fqdn, settled) };
}

/** The record made for an address, or the refusal, which may say that the record stands already. */
async function add({ caller, name, ttl }: RecordWrite, ip: string): Promise<AddressRecord | ProviderError> {
  try {
    return await caller.call(addCall(name, ip, ttl));
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
): Promise<readonly AddressRecord[] | ChangeConflict<AddressRecord> | RecordSetResult> {
  const { caller, name, ttl } = write;
  const wanted = [...kept, ...added];
  const expected = [...wanted, ...surplus];
  const first = wanted.find((record) => record.ttlSeconds !== ttl);
  if (first === undefined) return wanted;
  const isWritten = added.some((record) => record.ttlSeconds === ttl);
  if (!isWritten && !write.mayWrite()) return stopped(write, expected);
  if (!isWritten && (await caller.call(setTTLCall(name, first, ttl))) === undefined) return gone(expected);
  const listed = await listRecords(caller, name);
  // A list that does not show what was just made is late: the answer to its making is newer.
  const seen = [...listed, ...added.filter((item) => !listed.some(({ id }) => id === item.id))];
  if (!isSameSet(addressesOf(seen), addressesOf(expected))) return { ...gone(expected), seen };
  return settleEach(write, wanted, seen, expected);
}

/** The wanted records one by one as they were just listed, each with the TTL. */
async function settleEach(
  write: RecordWrite,
  wanted: readonly AddressRecord[],
  seen: readonly AddressRecord[],
  expected: readonly AddressRecord[],
): Promise<readonly AddressRecord[] | ChangeConflict<AddressRecord> | RecordSetResult> {
  const { caller, name, ttl } = write;
  const settled: AddressRecord[] = [];
  for (const { id, ip } of wanted) {
    const record = seen.find((item) => item.id === id && item.ip === ip);
    if (record === undefined) return { ...gone(expected), seen };
    if (record.ttlSeconds !== ttl && !write.mayWrite()) return stopped(write, expected);
    const written = record.ttlSeconds === ttl ? record : await caller.call(setTTLCall(name, record, ttl));
    if (written?.ip !== ip) return gone(expected);
    settled.push(written);
  }
  return settled;
}

/** The change ends where it is. */
function stopped({ name }: RecordWrite, records: readonly AddressRecord[]): RecordSetResult {
  return { kind: "stopped", records: recordSetState(name.fqdn, records) };
}

/** A record is gone or another: somebody else changed the set, or made the record anew. */
function gone(expected: readonly AddressRecord[]): ChangeConflict<AddressRecord> {
  return { kind: "conflict", expected: addressesOf(expected), isRepeatable: true };
}

/** A record is refused, because it stands already or for any other reason. */
function refused(expected: readonly AddressRecord[], error: ProviderError): ChangeConflict<AddressRecord> {
  return { kind: "conflict", expected: addressesOf(expected), error, isRepeatable: false };
}

function addressesOf(records: readonly AddressRecord[]): readonly string[] {
  return records.map((record) => record.ip);
}

/** @throws ProviderError `refused`, before anything is sent, when the name or an address could not stand in a record */
function checkedName(zone: Zone, fqdn: string, addresses: readonly string[]): RecordName {
  const doing = `write the A records of ${JSON.stringify(fqdn)} in the zone ${JSON.stringify(zone.id)}`;
  const facts: Omit<CallFacts, "subject"> = { operation: "records", doing, scope: "domain:update", isWrite: true };
  const name = recordName(facts, zone, fqdn);
  const wrong = addresses.find((ip) => canonicalIPv4(ip) === undefined);
  if (wrong === undefined) return name;
  const reason = `${JSON.stringify(wrong)} is not an IPv4 address`;
  throw providerError({ ...facts, subject: name.fqdn }, { failure: "refused", status: 0, reason });
}

/** Makes an A record. Not idempotent: a second call makes a second record. */
function addCall(name: RecordName, ip: string, ttl: number): Call<AddressRecord> {
  return {
    operation: "add-record",
    subject: name.fqdn,
    doing: `add ${ip} to the A records of ${name.fqdn} in the zone ${name.zone}`,
    scope: "domain:create",
    isWrite: true,
    notFoundAdvice: missingZone(name.zone),
    send: (client, configuration) =>
      client.domains
        .byDomain_name(name.zone)
        .records.post({ type: "A", name: name.relative, data: ip, ttl }, configuration),
    decode(answer) {
      const record = recordIn(answer, name);
      if (record.ip !== ip) throw new AnswerFault(`domain_record.data is ${record.ip}, not ${ip}`);
      return record;
    },
  };
}

/** Sets the TTL of a record, and with it that of all records of its name; undefined when the record is gone. Idempotent. */
function setTTLCall(name: RecordName, { id, ip }: AddressRecord, ttl: number): Call<AddressRecord | undefined> {
  return {
    operation: "set-ttl",
    subject: name.fqdn,
    doing: `set the TTL of ${name.fqdn} in the zone ${name.zone} to ${ttl} s (record ${id}, ${ip})`,
    scope: "domain:update",
    isWrite: true,
    send: (client, configuration) =>
      client.domains.byDomain_name(name.zone).records.byDomain_record_id(id).patch({ type: "A", ttl }, configuration),
    decode(answer) {
      const record = recordIn(answer, name);
      if (record.id !== id) throw new AnswerFault(`domain_record.id is ${record.id}, not ${id}`);
      return record;
    },
    expected: expectedFailure("not-found", undefined),
  };
}

/** Removes a record, or finds that it is gone. Idempotent. */
function removeCall(name: RecordName, { id, ip }: AddressRecord): Call<"removed" | "gone"> {
  return {
    operation: "remove-record",
    subject: name.fqdn,
    doing: `remove ${ip} from the A records of ${name.fqdn} in the zone ${name.zone} (record ${id})`,
    scope: "domain:delete",
    isWrite: true,
    send: (client, configuration) =>
      client.domains.byDomain_name(name.zone).records.byDomain_record_id(id).delete(configuration),
    decode: () => "removed",
    expected: expectedFailure("not-found", "gone"),
  };
}

function recordIn(answer: Answer, name: RecordName): AddressRecord {
  const value = jsonOf(answer).at("domain_record");
  const record = decodeRecord(value, name.relative);
  if (record === undefined) throw new AnswerFault(`domain_record is not an A record named ${name.relative}`);
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

/** Compares the records of a name, which come by id, with the desired addresses. Pure. */
function recordChanges(records: readonly AddressRecord[], desired: readonly string[]): RecordChanges {
  const kept = records.filter(
    (record) => desired.includes(record.ip) && records.find((other) => other.ip === record.ip) === record,
  );
  const missing = [...new Set(desired)].filter((ip) => !kept.some((record) => record.ip === ip));
  return { kept, missing, surplus: records.filter((record) => !kept.includes(record)) };
}
