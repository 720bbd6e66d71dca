import { canonicalIPv4 } from "../../model/address.ts";
import { ProviderError } from "../../model/errors.ts";
import type { DesiredRecordSet, DNSProvider, DNSProviderReader, Zone } from "../../ports/dns-provider.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import type { Caller } from "./caller.ts";
import type { AddressRecord } from "./decode-record.ts";
import { listRecords } from "./list-records.ts";
import { providerError } from "./provider-failure.ts";
import { addCall, removeCall, setTTLCall } from "./record-calls.ts";
import { recordChanges } from "./record-changes.ts";
import { type RecordName, recordName } from "./record-name.ts";
import { recordSetState } from "./record-set-state.ts";

/**
 * The writing half of the port over DigitalOcean's API, which has neither a batch call nor transactions: one request per record,
 * first what is missing, then the TTL, last what is too much, which goes only when all that is desired stands.
 */
export function dnsWriteOperations(
  caller: Caller,
  minimumTTLSeconds: number,
): Omit<DNSProvider, keyof DNSProviderReader> {
  return {
    async writeRecords(zone, fqdn, desired) {
      const name = checkedName(zone, fqdn, desired);
      const ttl = Math.max(desired.ttlSeconds, minimumTTLSeconds);
      const { kept, missing, surplus } = recordChanges(await listRecords(caller, name), desired.addresses);
      const added: AddressRecord[] = [];
      for (const ip of missing) added.push(await add(caller, name, ip, ttl));
      const standing = await settleTTL(caller, name, { kept, added, ttl });
      const isComplete = desired.addresses.every((ip) => standing.some((record) => record.ip === ip));
      if (!isComplete) return recordSetState(name.fqdn, [...standing, ...surplus]);
      for (const record of surplus) await caller.call(removeCall(name, record));
      return recordSetState(name.fqdn, standing);
    },
  };
}

/** Makes the record of an address; when that is refused because it stands already, the one that stands. */
async function add(caller: Caller, name: RecordName, ip: string, ttl: number): Promise<AddressRecord> {
  try {
    return await caller.call(addCall(name, ip, ttl));
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure !== "refused") throw error;
    const records = await listRecords(caller, name);
    const standing = records.find((record) => record.ip === ip);
    if (standing === undefined) throw error;
    return standing;
  }
}

/**
 * The kept and the added records once all have the TTL; a kept one that is gone meanwhile is left out.
 *
 * The records of one FQDN share their TTL: writing one rewrites the others without a word. So one write is enough, a new record
 * has done it already, and what became of the others is read before any of them is written.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/issues/1012 (verified 2026-08-07)
 */
async function settleTTL(
  caller: Caller,
  name: RecordName,
  { kept, added, ttl }: { kept: readonly AddressRecord[]; added: readonly AddressRecord[]; ttl: number },
): Promise<readonly AddressRecord[]> {
  const first = [...kept, ...added].find((record) => record.ttlSeconds !== ttl);
  if (first === undefined) return [...kept, ...added];
  if (!added.some((record) => record.ttlSeconds === ttl)) await caller.call(setTTLCall(name, first, ttl));
  const current = new Map((await listRecords(caller, name)).map((record) => [record.id, record]));
  // A list that does not show what was just made is late: the answer to its making is newer.
  const now = [
    ...kept.flatMap(({ id }) => current.get(id) ?? []),
    ...added.map((item) => current.get(item.id) ?? item),
  ];
  const settled: AddressRecord[] = [];
  for (const record of now) {
    const written = record.ttlSeconds === ttl ? record : await caller.call(setTTLCall(name, record, ttl));
    if (written !== undefined) settled.push(written);
  }
  return settled;
}

/** @throws ProviderError `refused`, before anything is sent, when the name or an address could not stand in a record */
function checkedName(zone: Zone, fqdn: string, { addresses }: DesiredRecordSet): RecordName {
  const doing = `write the A records of ${JSON.stringify(fqdn)} in the zone ${JSON.stringify(zone.id)}`;
  const facts: Omit<CallFacts, "subject"> = { operation: "records", doing, scope: "domain:update", isWrite: true };
  const name = recordName(facts, zone, fqdn);
  const wrong = addresses.find((ip) => canonicalIPv4(ip) === undefined);
  if (wrong === undefined) return name;
  const reason = `${JSON.stringify(wrong)} is not an IPv4 address`;
  throw providerError({ ...facts, subject: name.fqdn }, { failure: "refused", status: 0, reason });
}
