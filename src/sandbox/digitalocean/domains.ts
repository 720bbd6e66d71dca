import { canonicalIPv4 } from "../../model/address.ts";
import {
  type CloudState,
  type DomainState,
  type RecordState,
  type RecordType,
  recordFQDN,
  recordTypes,
} from "./cloud-state.ts";
import { type Caller, need, needOneOf, notFound, unprocessable } from "./refusals.ts";
import { ok, pageOf, type Route, type RouteAnswer, type RouteCall, readRecordRequest } from "./requests.ts";
import type { APIObject } from "./routes.ts";

/** Which records of a domain a list is asked for. */
interface RecordFilter {
  /** Whole name; what is no whole name of a record fits none. */
  readonly fqdn?: string;
  readonly type?: string;
}

const defaultTTLSeconds = 1800;

/** All domains, in the order they were made. @throws CloudRefusal */
function listDomains(state: CloudState, caller: Caller): readonly DomainState[] {
  need(caller, "domain:read");
  return state.domains;
}

/** One domain. @throws CloudRefusal */
function readDomain(state: CloudState, caller: Caller, name: string): DomainState {
  need(caller, "domain:read");
  return knownDomain(state, name);
}

/** The records of a domain that fit, in the order they were made. @throws CloudRefusal */
function listRecords(
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
function readRecord(state: CloudState, caller: Caller, name: string, id: number): RecordState {
  need(caller, "domain:read");
  return knownRecord(knownDomain(state, name), id);
}

/** Makes a record; one that is there already is made again. Its TTL becomes that of its whole name. @throws CloudRefusal */
function createRecord(state: CloudState, caller: Caller, name: string, request: RecordRequest): RecordState {
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
function updateRecord(
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
function deleteRecord(state: CloudState, caller: Caller, name: string, id: number): void {
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

const domainPath = /^\/v2\/domains\/([^/]+)$/;
const recordsPath = /^\/v2\/domains\/([^/]+)\/records$/;
const recordPath = /^\/v2\/domains\/([^/]+)\/records\/(\d+)$/;

/** The operations on domains and their records; domains themselves are made in the file. */
export const domainRoutes: readonly Route[] = [
  ["GET", /^\/v2\/domains$/, domains],
  ["GET", domainPath, domain],
  ["GET", recordsPath, records],
  ["POST", recordsPath, create],
  ["GET", recordPath, record],
  ["PUT", recordPath, update],
  ["PATCH", recordPath, update],
  ["DELETE", recordPath, remove],
];

function domains(call: RouteCall): RouteAnswer {
  return ok(pageOf("domains", listDomains(call.cloud.state, call.caller).map(domainJSON), call));
}

function domain({ cloud, caller, parts }: RouteCall): RouteAnswer {
  return ok({ domain: domainJSON(readDomain(cloud.state, caller, parts[0] ?? "")) });
}

function records(call: RouteCall): RouteAnswer {
  const fqdn = call.query.get("name");
  const type = call.query.get("type");
  const filter = { ...(fqdn === null ? {} : { fqdn }), ...(type === null ? {} : { type }) };
  const items = listRecords(call.cloud.state, call.caller, call.parts[0] ?? "", filter);
  return ok(pageOf("domain_records", items.map(recordJSON), call));
}

function record({ cloud, caller, parts }: RouteCall): RouteAnswer {
  return ok({ domain_record: recordJSON(readRecord(cloud.state, caller, parts[0] ?? "", Number(parts[1]))) });
}

function create({ cloud, caller, parts, body }: RouteCall): RouteAnswer {
  const made = createRecord(cloud.state, caller, parts[0] ?? "", readRecordRequest(body));
  return { status: 201, body: { domain_record: recordJSON(made) } };
}

function update({ cloud, caller, parts, body }: RouteCall): RouteAnswer {
  const change = { id: Number(parts[1]), request: readRecordRequest(body) };
  return ok({ domain_record: recordJSON(updateRecord(cloud.state, caller, parts[0] ?? "", change)) });
}

function remove({ cloud, caller, parts }: RouteCall): RouteAnswer {
  deleteRecord(cloud.state, caller, parts[0] ?? "", Number(parts[1]));
  return { status: 204 };
}

/** `domain`; the zone file shows the records in the usual notation. */
function domainJSON(domain: DomainState): APIObject {
  const lines = domain.records.map(
    (record) => `${recordFQDN(domain, record)}. ${record.ttl} IN ${record.type} ${record.data}\n`,
  );
  const soa = `IN SOA ns1.digitalocean.com. hostmaster.${domain.name}. 1415982609 10800 3600 604800 1800\n`;
  const zoneFile = `$ORIGIN ${domain.name}.\n$TTL ${domain.ttl}\n${domain.name}. ${soa}${lines.join("")}`;
  return { name: domain.name, ttl: domain.ttl, zone_file: zoneFile };
}

/** `domain_record`, with null for what its type has no use for. */
function recordJSON(record: RecordState): APIObject {
  const { id, type, name, data, priority = null, port = null, ttl, weight = null, flags = null, tag = null } = record;
  return { id, type, name, data, priority, port, ttl, weight, flags, tag };
}

/** What a request says about a record. */
export type RecordRequest = Partial<Omit<RecordState, "id" | "type">> & { readonly type?: string };

const leastTTLSeconds = 30;
const pointsAtName: readonly string[] = ["CNAME", "MX", "NS", "SRV"];

/**
 * The record as it would be kept. `self` is the record that is being changed.
 * @throws CloudRefusal 422 when it cannot be; duplicates can. Of the texts only those of the TTL and of CNAME are known to be
 *   DigitalOcean's own.
 * @see https://github.com/kubernetes-sigs/external-dns/issues/4802 verified 2026-08-07
 */
function refuseRecord(domain: DomainState, request: RecordRequest, self?: RecordState): Omit<RecordState, "id"> {
  const { name, data, ttl } = request;
  const type = recordTypes.find((item) => item === request.type);
  if (type === undefined) throw unprocessable("Type is not included in the list");
  if (name === undefined || name === "") throw unprocessable("Name can't be blank");
  if (data === undefined || data === "") throw unprocessable("Data can't be blank");
  if (ttl === undefined || ttl < leastTTLSeconds) throw unprocessable("record ttl must be greater than 30");
  refuseName(name);
  refuseData(type, data);
  const record = { ...request, type, name, data, ttl };
  refuseCNAME(domain, record, self);
  return record;
}

function refuseName(name: string): void {
  if (name.endsWith(".")) throw unprocessable("Name must not end with a dot (.)");
  if (name !== "@" && !/^(?:\*|[\w-]+)(?:\.[\w-]+)*$/.test(name)) {
    throw unprocessable("Only valid hostname characters are allowed. (a-z, A-Z, 0-9, - and _)");
  }
}

function refuseData(type: RecordType, data: string): void {
  if (type === "A" && canonicalIPv4(data) === undefined) {
    throw unprocessable("IP address did not match IPv4 format (e.g. 127.0.0.1).");
  }
  if (pointsAtName.includes(type) && !data.endsWith(".")) throw unprocessable("Data needs to end with a dot (.)");
}

function refuseCNAME(domain: DomainState, record: Omit<RecordState, "id">, self: RecordState | undefined): void {
  const fqdn = recordFQDN(domain, record);
  const others = domain.records.filter((item) => item !== self && recordFQDN(domain, item) === fqdn);
  const isApex = record.type === "CNAME" && record.name === "@";
  const clashes = record.type === "CNAME" ? others.length > 0 : others.some((item) => item.type === "CNAME");
  if (isApex || clashes) throw unprocessable("CNAME records cannot share a name with other records");
}
