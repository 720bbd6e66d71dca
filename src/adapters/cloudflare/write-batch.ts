import type { BatchPatchParam } from "cloudflare/resources/dns/records";
import type { ProviderError } from "../../model/errors.ts";
import { AnswerFault, type AnswerValue } from "../provider-http/answer-value.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import { answeredID } from "./answered-id.ts";
import { answeredName } from "./answered-name.ts";
import type { Call } from "./call.ts";
import { type DNSRecord, decodeRecord } from "./dns-record.ts";
import type { NameSubject } from "./name-subject.ts";
import type { RecordBatch } from "./record-changes.ts";

/** What became of a batch. */
export type BatchOutcome =
  /** Carried out; `changed` are the patched and created records as answered, absent when the answer does not say. */
  | { readonly kind: "done"; readonly changed?: readonly DNSRecord[] }
  /** Carried out, but Cloudflare put the created records under another name: `strays` are their ids. */
  | { readonly kind: "misplaced"; readonly name: string; readonly strays: readonly string[] }
  /** Not carried out, because the records are not what they were when read. */
  | { readonly kind: "stale"; readonly error: ProviderError };

/** The record exists already, the identical record exists already, the record does not exist. */
const staleCodes: readonly number[] = [81_057, 81_058, 81_044];

/** What to say about a change of the A records of a name. */
export function writeFacts(fqdn: string): CallFacts {
  const doing = `change the A records of ${fqdn}`;
  return { operation: "write", subject: fqdn, doing, scope: "Zone / DNS / Edit", isWrite: true };
}

/**
 * One batch as a call: all of it or nothing.
 * @see https://developers.cloudflare.com/dns/manage-dns-records/how-to/batch-record-changes/ (verified 2026-11-21)
 */
export function writeBatch(
  { zoneID, fqdn }: NameSubject,
  { deletes, patches, posts }: RecordBatch,
): Call<BatchOutcome> {
  return {
    ...writeFacts(fqdn),
    send: (client) =>
      client.dns.records
        .batch({
          zone_id: zoneID,
          ...(deletes.length === 0 ? {} : { deletes: [...deletes] }),
          // The SDK's type asks for name, type and ttl as well; a patch that names them would change more than it has to.
          ...(patches.length === 0 ? {} : { patches: patches.map((patch) => patch as BatchPatchParam.ARecord) }),
          ...(posts.length === 0 ? {} : { posts: [...posts] }),
        })
        .asResponse(),
    decode(envelope) {
      const result = envelope.at("result");
      return misplaced(result, fqdn) ?? { kind: "done", ...changedBy(result, fqdn, { patches, posts }) };
    },
    expected: ({ codes, error }) =>
      codes.some((code) => staleCodes.includes(code)) ? { value: { kind: "stale", error } } : undefined,
  };
}

/** The created records that are not where they were to be: a name outside the zone is taken for one relative to it. */
function misplaced(result: AnswerValue, fqdn: string): BatchOutcome | undefined {
  try {
    const created = result.at("posts").items();
    const elsewhere = created.filter((record) => answeredName(record.at("name")) !== fqdn);
    const [name] = elsewhere.map((record) => answeredName(record.at("name")));
    return name === undefined
      ? undefined
      : { kind: "misplaced", name, strays: elsewhere.map((record) => answeredID(record.at("id"))) };
  } catch (error) {
    if (error instanceof AnswerFault) return undefined;
    throw error;
  }
}

/** `success: true` says that the batch is carried out; records that cannot be read from the answer are read again. */
function changedBy(
  result: AnswerValue,
  fqdn: string,
  { patches, posts }: Pick<RecordBatch, "patches" | "posts">,
): { readonly changed?: readonly DNSRecord[] } {
  try {
    const listed = (key: "patches" | "posts", count: number): readonly DNSRecord[] => {
      const field = result.at(key);
      const items = field.isAbsent ? [] : field.items();
      if (items.length !== count) throw field.fault(`a list of ${count}`);
      return items.map((record) => decodeRecord(record, fqdn));
    };
    return { changed: [...listed("patches", patches.length), ...listed("posts", posts.length)] };
  } catch (error) {
    if (error instanceof AnswerFault) return {};
    throw error;
  }
}
