import { canonicalIPv4 } from "../../model/address.ts";
import type { DesiredRecordSet, RecordSetState, Zone } from "../../ports/dns-provider.ts";
import type { Caller } from "./caller.ts";
import type { DNSRecord } from "./dns-record.ts";
import { listRecords } from "./list-records.ts";
import { type NameSubject, nameSubject } from "./name-subject.ts";
import { providerError } from "./provider-failure.ts";
import { type RecordBatch, recordBatches } from "./record-changes.ts";
import { recordSetState } from "./record-set-state.ts";
import { writeBatch, writeFacts } from "./write-batch.ts";

/**
 * Makes the A records of one name exactly the desired ones and returns the set as it then is: one list, and one batch for
 * each 200 changes. A batch that finds the records changed meanwhile is settled by reading again and one more try.
 * @throws ProviderError
 */
export async function writeRecords(
  caller: Caller,
  zone: Zone,
  fqdn: string,
  desired: DesiredRecordSet,
): Promise<RecordSetState> {
  const facts = writeFacts(fqdn);
  const subject = nameSubject(facts, zone, fqdn);
  const wrong = desired.addresses.find((address) => canonicalIPv4(address) === undefined);
  if (wrong !== undefined) {
    const reason = `${JSON.stringify(wrong)} is not an IPv4 address`;
    throw providerError(facts, { failure: "refused", status: 0, reason });
  }
  const records = (await attempt(caller, subject, desired, false)) ?? (await attempt(caller, subject, desired, true));
  return recordSetState(subject.fqdn, records ?? (await listRecords(caller, subject)));
}

/** The records after the change; undefined when somebody else changed them in between and this is not the last attempt. */
async function attempt(
  caller: Caller,
  subject: NameSubject,
  desired: DesiredRecordSet,
  isLast: boolean,
): Promise<readonly DNSRecord[] | undefined> {
  let records: readonly DNSRecord[] | undefined = await listRecords(caller, subject);
  for (const batch of recordBatches(subject.fqdn, records, desired)) {
    const outcome = await caller.call(writeBatch(subject, batch));
    if (outcome.kind === "stale") {
      if (isLast) throw outcome.error;
      return undefined;
    }
    if (outcome.kind === "misplaced") throw await removeStrays(caller, subject, outcome);
    records =
      records === undefined || outcome.changed === undefined ? undefined : after(records, batch, outcome.changed);
  }
  return records ?? listRecords(caller, subject);
}

function after(records: readonly DNSRecord[], batch: RecordBatch, changed: readonly DNSRecord[]): readonly DNSRecord[] {
  const byID = new Map(records.map((record) => [record.id, record]));
  for (const { id } of batch.deletes) byID.delete(id);
  for (const record of changed) byID.set(record.id, record);
  return [...byID.values()];
}

/** Takes back what landed under another name, which only the answer shows when the zone's name is not known. Returns the error to throw. */
async function removeStrays(
  caller: Caller,
  subject: NameSubject,
  { name, strays }: { readonly name: string; readonly strays: readonly string[] },
): Promise<Error> {
  const deletes = strays.map((id) => ({ id }));
  await caller.call(writeBatch(subject, { deletes, patches: [], posts: [] }));
  const reason = `it is not in that zone (Cloudflare made it ${name}, which was removed again)`;
  return providerError(writeFacts(subject.fqdn), { failure: "refused", status: 0, reason });
}
