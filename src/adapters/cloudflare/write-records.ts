import { canonicalIPv4 } from "../../model/address.ts";
import type { Zone } from "../../model/dns.ts";
import type { RecordSetChange, RecordSetResult } from "../../ports/providers.ts";
import { type ChangeAttempt, changeRecordSet } from "../provider-http/change-record-set.ts";
import type { Caller } from "./caller.ts";
import type { DNSRecord } from "./dns-record.ts";
import { listRecords } from "./list-records.ts";
import { type NameSubject, nameSubject } from "./name-subject.ts";
import { providerError } from "./provider-failure.ts";
import { type RecordBatch, recordBatches } from "./record-changes.ts";
import { recordSetState } from "./record-set-state.ts";
import { CLOUDFLARE_TTL_RULES } from "./ttl-rules.ts";
import { writeBatch, writeFacts } from "./write-batch.ts";

/**
 * Makes the A records of one name the wanted ones when they are those that the change was planned on: one list, and one batch for
 * each 200 changes. A batch that finds the records changed meanwhile is settled by {@link changeRecordSet}.
 * @throws ProviderError
 */
export async function writeRecords(
  caller: Caller,
  zone: Zone,
  fqdn: string,
  change: RecordSetChange,
): Promise<RecordSetResult> {
  const facts = writeFacts(fqdn);
  const subject = nameSubject(facts, zone, fqdn);
  const wrong = change.after.addresses.find((address) => canonicalIPv4(address) === undefined);
  if (wrong !== undefined) {
    const reason = `${JSON.stringify(wrong)} is not an IPv4 address`;
    throw providerError(facts, { failure: "refused", status: 0, reason });
  }
  return changeRecordSet(change, {
    ttlRules: CLOUDFLARE_TTL_RULES,
    read: (purpose) => listRecords(caller.for(purpose), subject),
    stateOf: (records) => recordSetState(subject.fqdn, records),
    attempt: (records) => attempt(caller.for("rest"), subject, records, change),
  });
}

async function attempt(
  caller: Caller,
  subject: NameSubject,
  records: readonly DNSRecord[],
  { after: desired, mayWrite }: RecordSetChange,
): Promise<ChangeAttempt<DNSRecord>> {
  let current = records;
  for (const batch of recordBatches(subject.fqdn, records, desired)) {
    if (mayWrite?.() === false) return { kind: "stopped", records: recordSetState(subject.fqdn, current) };
    const outcome = await caller.call(writeBatch(subject, batch));
    if (outcome.kind === "stale") {
      const expected = current.map((record) => record.address);
      return { kind: "conflict", expected, error: outcome.error, isRepeatable: true };
    }
    if (outcome.kind === "misplaced") throw await removeStrays(caller, subject, outcome, mayWrite?.() !== false);
    const { changed } = outcome;
    current = changed === undefined ? await listRecords(caller, subject) : after(current, batch, changed);
  }
  return { kind: "written", records: recordSetState(subject.fqdn, current) };
}

function after(records: readonly DNSRecord[], batch: RecordBatch, changed: readonly DNSRecord[]): readonly DNSRecord[] {
  const byID = new Map(records.map((record) => [record.id, record]));
  for (const { id } of batch.deletes) byID.delete(id);
  for (const record of changed) byID.set(record.id, record);
  return [...byID.values()];
}

/** Takes back what landed under another name, which only the answer shows when the zone's name is not known; if it still may. Returns the error to throw. */
async function removeStrays(
  caller: Caller,
  subject: NameSubject,
  { name, strays }: { readonly name: string; readonly strays: readonly string[] },
  mayWrite: boolean,
): Promise<Error> {
  const deletes = strays.map((id) => ({ id }));
  if (mayWrite) await caller.call(writeBatch(subject, { deletes, patches: [], posts: [] }));
  const end = mayWrite ? "was removed again" : "stands there, because this run may change nothing more: remove it";
  const reason = `it is not in that zone (Cloudflare made it ${name}, which ${end})`;
  return providerError(writeFacts(subject.fqdn), { failure: "refused", status: 0, reason });
}
