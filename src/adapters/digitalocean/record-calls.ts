import { type Answer, jsonOf } from "../provider-http/answer.ts";
import { AnswerFault } from "../provider-http/answer-value.ts";
import type { Call } from "./call.ts";
import { type AddressRecord, decodeRecord } from "./decode-record.ts";
import { expectedFailure } from "./expected-failure.ts";
import { missingZone } from "./list-records.ts";
import type { RecordName } from "./record-name.ts";

/** Makes an A record. Not idempotent: a second call makes a second record. */
export function addCall(name: RecordName, ip: string, ttl: number): Call<AddressRecord> {
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
export function setTTLCall(name: RecordName, { id, ip }: AddressRecord, ttl: number): Call<AddressRecord | undefined> {
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
export function removeCall(name: RecordName, { id, ip }: AddressRecord): Call<"removed" | "gone"> {
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
