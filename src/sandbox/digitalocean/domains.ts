import { canonicalIPv4, canonicalIPv6 } from "../../model/address.ts";
import { type APIObject, membersOf, type Route } from "../provider.ts";
import { type Caller, listAnswer, need, notFound, type RouteAnswer, type RouteCall, unprocessable } from "./calls.ts";
import { recordTypes } from "./cloud-schema.ts";
import { type CloudState, type DomainState, type RecordState, type RecordType, recordFQDN } from "./cloud-state.ts";

/** The operations on a domain's records that flipop asks for; domains themselves are made in the file. */
export const domainRoutes: readonly Route<RouteCall, RouteAnswer>[] = [
  ["GET", /^\/v2\/domains$/, listDomains],
  ["GET", /^\/v2\/domains\/([^/]+)$/, readDomain],
  ["GET", /^\/v2\/domains\/([^/]+)\/records$/, listRecords],
  ["POST", /^\/v2\/domains\/([^/]+)\/records$/, createRecord],
  ["PATCH", /^\/v2\/domains\/([^/]+)\/records\/(\d+)$/, updateRecord],
  ["DELETE", /^\/v2\/domains\/([^/]+)\/records\/(\d+)$/, deleteRecord],
];

function listDomains(call: RouteCall): RouteAnswer {
  need(call.caller, "domain:read");
  const domains = call.cloud.state.domains.map(({ name, ttl }) => ({ name, ttl, zone_file: null }));
  return listAnswer("domains", domains, call);
}

function readDomain({ cloud, caller }: RouteCall, name = ""): RouteAnswer {
  const { ttl, name: domain } = open(cloud.state, caller, name, "domain:read");
  return { status: 200, body: { domain: { name: domain, ttl, zone_file: null } } };
}

/** `name` is the whole name of a record; what is none fits none. */
function listRecords(call: RouteCall, domainName = ""): RouteAnswer {
  const domain = open(call.cloud.state, call.caller, domainName, "domain:read");
  const [fqdn, type] = [call.query.get("name")?.toLowerCase(), call.query.get("type")];
  const records = domain.records.filter(
    (record) => (fqdn === undefined || recordFQDN(domain, record) === fqdn) && (type === null || record.type === type),
  );
  return listAnswer("domain_records", records.map(recordJSON), call);
}

/** Makes a record; one that is there already is made again. Its TTL becomes that of its whole name. */
function createRecord({ cloud: { state }, caller, body }: RouteCall, name = ""): RouteAnswer {
  const domain = open(state, caller, name, "domain:create", "domain:update");
  const made: RecordState = { id: state.next.record_id, ...checkedRecord(domain, { ttl: 1800, ...fieldsOf(body) }) };
  state.next.record_id += 1;
  domain.records.push(made);
  spreadTTL(domain, made);
  return { status: 201, body: { domain_record: recordJSON(made) } };
}

/** Changes what the request names. The TTL becomes that of the whole name. */
function updateRecord({ cloud: { state }, caller, body }: RouteCall, name = "", id = ""): RouteAnswer {
  const domain = open(state, caller, name, "domain:update");
  const record = knownRecord(domain, id);
  Object.assign(record, checkedRecord(domain, { ...record, ...fieldsOf(body) }, record));
  spreadTTL(domain, record);
  return { status: 200, body: { domain_record: recordJSON(record) } };
}

function deleteRecord({ cloud: { state }, caller }: RouteCall, name = "", id = ""): RouteAnswer {
  const domain = open(state, caller, name, "domain:delete", "domain:update");
  const record = knownRecord(domain, id);
  domain.records = domain.records.filter((item) => item !== record);
  return { status: 204 };
}

function open(state: CloudState, caller: Caller, name: string, ...scopes: readonly string[]): DomainState {
  need(caller, ...scopes);
  const domain = state.domains.find((item) => item.name.toLowerCase() === name.toLowerCase());
  if (domain === undefined) throw notFound();
  return domain;
}

function knownRecord(domain: DomainState, id: string): RecordState {
  const record = domain.records.find((item) => item.id === Number(id));
  if (record === undefined) throw notFound();
  return record;
}

/**
 * All records of one FQDN share their TTL: the one written last wins, without a word in any answer.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/issues/1012 verified 2026-08-07
 */
function spreadTTL(domain: DomainState, from: RecordState): void {
  const fqdn = recordFQDN(domain, from);
  for (const record of domain.records) if (recordFQDN(domain, record) === fqdn) record.ttl = from.ttl;
}

/** A record as the API shows it, with null for what its type has no use for. */
function recordJSON({
  id,
  type,
  name,
  data,
  ttl,
  priority = null,
}: Omit<RecordState, "priority"> & { readonly priority?: number | null }): APIObject {
  return { id, type, name, data, priority, port: null, ttl, weight: null, flags: null, tag: null };
}

type RecordFields = Omit<RecordState, "id">;

/** What a request says about a record; null is as good as absent. @throws Refusal 422 for a wrong type */
function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  const fields = membersOf(body);
  if (fields === undefined) throw unprocessable("The request body must be a JSON object.");
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/**
 * The record as it would be kept. `self` is the record that is being changed.
 * @throws Refusal 422 when it cannot be; duplicates can. Of the texts only those of the TTL and of CNAME are known to be
 *   DigitalOcean's own.
 * @see https://github.com/kubernetes-sigs/external-dns/issues/4802 verified 2026-08-07
 */
function checkedRecord(
  domain: DomainState,
  { type: asked, name, data, ttl }: Readonly<Record<string, unknown>>,
  self?: RecordState,
): RecordFields {
  const type = recordTypes.find((item) => item === asked);
  if (type === undefined) throw unprocessable("Type is not included in the list");
  if (typeof name !== "string" || name === "") throw unprocessable("Name can't be blank");
  if (typeof data !== "string" || data === "") throw unprocessable("Data can't be blank");
  if (!Number.isSafeInteger(ttl) || Number(ttl) < 30) throw unprocessable("record ttl must be greater than 30");
  refuseName(name);
  refuseData(type, data);
  const record = { type, name, data, ttl: Number(ttl) };
  refuseCNAME(domain, record, self);
  return record;
}

function refuseName(name: string): void {
  if (name.endsWith(".")) throw unprocessable("Name must not end with a dot (.)");
  if (name !== "@" && !/^(?:\*|[\w-]+)(?:\.[\w-]+)*$/.test(name))
    throw unprocessable("Only valid hostname characters are allowed. (a-z, A-Z, 0-9, - and _)");
}

function refuseData(type: RecordType, data: string): void {
  if (type === "A" && canonicalIPv4(data) === undefined)
    throw unprocessable("IP address did not match IPv4 format (e.g. 127.0.0.1).");
  if (type === "AAAA" && canonicalIPv6(data) === undefined)
    throw unprocessable("IP address did not match IPv6 format (e.g. 2001:db8::ff00:42:8329).");
  if (["CNAME", "MX", "NS"].includes(type) && !data.endsWith("."))
    throw unprocessable("Data needs to end with a dot (.)");
}

function refuseCNAME(domain: DomainState, record: RecordFields, self: RecordState | undefined): void {
  const fqdn = recordFQDN(domain, record);
  const others = domain.records.filter((item) => item !== self && recordFQDN(domain, item) === fqdn);
  const isApex = record.type === "CNAME" && record.name === "@";
  const clashes = record.type === "CNAME" ? others.length > 0 : others.some((item) => item.type === "CNAME");
  if (isApex || clashes) throw unprocessable("CNAME records cannot share a name with other records");
}
