import { type Caller, need, needOneOf } from "./caller.ts";
import { notFound } from "./cloud-refusal.ts";
import type { CloudState } from "./cloud-state.ts";
import { type DomainState, type RecordState, recordFQDN } from "./domain-state.ts";
import { type RecordRequest, refuseRecord } from "./record-rules.ts";

/** Which records of a domain a list is asked for. */
export interface RecordFilter {
  /** Whole name; what is no whole name of a record fits none. */
  readonly fqdn?: string;
  readonly type?: string;
}

const defaultTTLSeconds = 1800;

/** All domains, in the order they were made. @throws CloudRefusal */
export function listDomains(state: CloudState, caller: Caller): readonly DomainState[] {
  need(caller, "domain:read");
  return state.domains;
}

/** One domain. @throws CloudRefusal */
export function readDomain(state: CloudState, caller: Caller, name: string): DomainState {
  need(caller, "domain:read");
  return knownDomain(state, name);
}

/** The records of a domain that fit, in the order they were made. @throws CloudRefusal */
export function listRecords(
  state: CloudState,
  caller: Caller,
  name: string,
  { fqdn, type }: RecordFilter,
): readonly RecordState[] {
  const domain = readDomain(state, caller, name);
  return domain.records.filter(
    (record) =>
      (fqdn === undefined || recordFQDN(domain, record) === fqdn.toLowerCase()) &&
      (type === undefined || record.type === type),
  );
}

/** One record. @throws CloudRefusal */
export function readRecord(state: CloudState, caller: Caller, name: string, id: number): RecordState {
  need(caller, "domain:read");
  return knownRecord(knownDomain(state, name), id);
}

/** Makes a record; one that is there already is made again. Its TTL becomes that of its whole name. @throws CloudRefusal */
export function createRecord(state: CloudState, caller: Caller, name: string, request: RecordRequest): RecordState {
  needOneOf(caller, ["domain:create", "domain:update"]);
  const domain = knownDomain(state, name);
  const record = refuseRecord(domain, { ttl: defaultTTLSeconds, ...request });
  const made: RecordState = { id: state.next.record_id, ...record };
  state.next.record_id += 1;
  domain.records.push(made);
  spreadTTL(domain, made);
  return made;
}

/** Changes what the request names, for PUT as for PATCH. The TTL becomes that of the whole name. @throws CloudRefusal */
export function updateRecord(
  state: CloudState,
  caller: Caller,
  name: string,
  { id, request }: { readonly id: number; readonly request: RecordRequest },
): RecordState {
  need(caller, "domain:update");
  const domain = knownDomain(state, name);
  const record = knownRecord(domain, id);
  Object.assign(record, refuseRecord(domain, { ...record, ...request }, record));
  spreadTTL(domain, record);
  return record;
}

/** Removes a record. @throws CloudRefusal */
export function deleteRecord(state: CloudState, caller: Caller, name: string, id: number): void {
  needOneOf(caller, ["domain:delete", "domain:update"]);
  const domain = knownDomain(state, name);
  const record = knownRecord(domain, id);
  domain.records = domain.records.filter((item) => item !== record);
}

/**
 * All records of one FQDN share their TTL: the one written last wins, without a word in any answer.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/issues/1012 verified 2026-08-07
 */
function spreadTTL(domain: DomainState, from: RecordState): void {
  const fqdn = recordFQDN(domain, from);
  for (const record of domain.records) if (recordFQDN(domain, record) === fqdn) record.ttl = from.ttl;
}

function knownDomain(state: CloudState, name: string): DomainState {
  const domain = state.domains.find((item) => item.name.toLowerCase() === name.toLowerCase());
  if (domain === undefined) throw notFound();
  return domain;
}

function knownRecord(domain: DomainState, id: number): RecordState {
  const record = domain.records.find((item) => item.id === id);
  if (record === undefined) throw notFound();
  return record;
}
