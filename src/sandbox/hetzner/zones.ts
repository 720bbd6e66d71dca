import { isIPv4, isIPv6 } from "node:net";
import { type APIObject, membersOf, Refusal, type Route } from "../provider.ts";
import { type Answer, actionJSON, bodyOf, type Call, listAnswer } from "./calls.ts";
import { startAction } from "./floating-ips.ts";
import type { RRsetState, ZoneState } from "./project-state.ts";

/** Zones and their sets of records. A change is seen at once; its action runs until the name servers have it. */
export const zoneRoutes: readonly Route<Call, Answer>[] = [
  ["GET", /^\/v1\/zones$/, listZones],
  ["GET", /^\/v1\/zones\/([^/]+)$/, readZone],
  ["GET", /^\/v1\/zones\/([^/]+)\/rrsets$/, listRRsets],
  ["POST", /^\/v1\/zones\/([^/]+)\/rrsets$/, createRRset],
  ["GET", /^\/v1\/zones\/([^/]+)\/rrsets\/([^/]+)\/([A-Z]+)$/, readRRset],
  ["DELETE", /^\/v1\/zones\/([^/]+)\/rrsets\/([^/]+)\/([A-Z]+)$/, deleteRRset],
  ["POST", /^\/v1\/zones\/([^/]+)\/rrsets\/([^/]+)\/([A-Z]+)\/actions\/set_records$/, setRecords],
  ["POST", /^\/v1\/zones\/([^/]+)\/rrsets\/([^/]+)\/([A-Z]+)\/actions\/change_ttl$/, changeTTL],
];

function listZones(call: Call): Answer {
  const name = call.request.query.get("name");
  const found = call.state.zones.filter((zone) => name === null || zone.name === name);
  return listAnswer("zones", found.map(zoneJSON), call);
}

function readZone(call: Call, key = ""): Answer {
  return { status: 200, body: { zone: zoneJSON(zoneOf(call, key)) } };
}

function listRRsets(call: Call, key = ""): Answer {
  const zone = zoneOf(call, key);
  const { query } = call.request;
  const name = query.get("name");
  const types = query.getAll("type");
  const found = zone.rrsets.filter(
    (set) => (name === null || set.name === name) && (types.length === 0 || types.includes(set.type)),
  );
  return listAnswer(
    "rrsets",
    found.map((set) => rrsetJSON(zone, set)),
    call,
    100,
  );
}

function readRRset(call: Call, key = "", name = "", type = ""): Answer {
  const zone = zoneOf(call, key);
  return { status: 200, body: { rrset: rrsetJSON(zone, rrsetOf(zone, name, type)) } };
}

function createRRset(call: Call, key = ""): Answer {
  const zone = writableZone(call, key);
  const { name, type, ttl = null, labels = {}, records } = bodyOf(call, ["name", "type", "ttl", "labels", "records"]);
  if (typeof name !== "string" || typeof type !== "string") throw invalid("name");
  if (!/^[^.A-Z](.*[^.])?$/.test(name) || name.endsWith(`.${zone.name}`)) throw invalid("name");
  if (zone.rrsets.some((set) => set.name === name && set.type === type))
    throw new Refusal(409, "uniqueness_error", `there is already an RRSet with name '${name}' and type '${type}'`);
  const isBeside = zone.rrsets.some((set) => set.name === name && (set.type === "CNAME") !== (type === "CNAME"));
  if (isBeside) throw new Refusal(422, "invalid_input", "a CNAME record cannot stand beside others of its name");
  const set: RRsetState = {
    name,
    type,
    ttl: checkedTTL(ttl),
    labels: { ...(labels as Record<string, string>) },
    protected: false,
    records: checkedRecords(records, type),
  };
  zone.rrsets.push(set);
  return changed(call, zone, "create_rrset", { rrset: rrsetJSON(zone, set) });
}

function deleteRRset(call: Call, key = "", name = "", type = ""): Answer {
  const zone = writableZone(call, key);
  const set = writableRRset(zone, name, type);
  zone.rrsets = zone.rrsets.filter((other) => other !== set);
  return changed(call, zone, "delete_rrset");
}

function setRecords(call: Call, key = "", name = "", type = ""): Answer {
  const zone = writableZone(call, key);
  const set = writableRRset(zone, name, type);
  set.records = checkedRecords(bodyOf(call, ["records"])["records"], type);
  return changed(call, zone, "set_rrset_records");
}

function changeTTL(call: Call, key = "", name = "", type = ""): Answer {
  const zone = writableZone(call, key);
  const set = writableRRset(zone, name, type);
  set.ttl = checkedTTL(bodyOf(call, ["ttl"])["ttl"] ?? null);
  return changed(call, zone, "change_rrset_ttl");
}

function changed({ state, nowMs }: Call, zone: ZoneState, command: string, more: APIObject = {}): Answer {
  const action = startAction(state, nowMs, { command, zone: zone.id, outcome: "success" });
  return { status: 201, body: { ...more, action: actionJSON(action) } };
}

/** By its id or its name. @throws Refusal 404 */
function zoneOf({ state }: Call, key: string): ZoneState {
  const found = state.zones.find((zone) => zone.name === key || String(zone.id) === key);
  if (found === undefined) throw new Refusal(404, "not_found", `zone '${key}' not found`);
  return found;
}

function writableZone(call: Call, key: string): ZoneState {
  const zone = zoneOf(call, key);
  if (zone.mode === "primary") return zone;
  throw new Refusal(422, "incorrect_zone_mode", "this operation is not supported for zones in secondary mode");
}

function rrsetOf(zone: ZoneState, name: string, type: string): RRsetState {
  const found = zone.rrsets.find((set) => set.name === name && set.type === type);
  if (found === undefined) throw new Refusal(404, "not_found", `RRSet '${name}/${type}' not found`);
  return found;
}

function writableRRset(zone: ZoneState, name: string, type: string): RRsetState {
  const set = rrsetOf(zone, name, type);
  if (!set.protected) return set;
  throw new Refusal(423, "protected", "the RRSet is protected against changes");
}

function checkedTTL(ttl: unknown): number | null {
  if (ttl === null) return null;
  if (!Number.isSafeInteger(ttl) || Number(ttl) < 60 || Number(ttl) > 2_147_483_647) throw invalid("ttl");
  return Number(ttl);
}

/** A set has 1 to 50 records, all of them different. */
function checkedRecords(records: unknown, type: string): RRsetState["records"] {
  if (!Array.isArray(records) || records.length === 0 || records.length > 50) throw invalid("records");
  const read = records.map((record) => {
    const { value, comment } = membersOf(record) ?? {};
    const isWrong = (type === "A" && !isIPv4(String(value))) || (type === "AAAA" && !isIPv6(String(value)));
    if (typeof value !== "string" || isWrong) throw invalid("records");
    return { value, ...(typeof comment === "string" ? { comment } : {}) };
  });
  if (new Set(read.map(({ value }) => value)).size < read.length) throw invalid("records");
  return read;
}

function invalid(field: string): Refusal {
  return new Refusal(422, "invalid_input", `invalid input in field '${field}'`);
}

function zoneJSON({ id, name, mode, status, ttl, rrsets }: ZoneState): APIObject {
  return {
    ...{ id, name, mode, status, ttl, labels: {}, created: "2026-01-01T00:00:00Z" },
    record_count: rrsets.reduce((sum, { records }) => sum + records.length, 0),
    authoritative_nameservers: {
      assigned: [],
      delegated: [],
      delegation_last_check: null,
      delegation_status: "unknown",
    },
    protection: { delete: false },
    registrar: "other",
  };
}

function rrsetJSON(zone: ZoneState, { name, type, ttl, labels, records, ...rest }: RRsetState): APIObject {
  const id = `${name}/${type}`;
  return { id, name, type, ttl, labels, protection: { change: rest.protected }, records, zone: zone.id };
}
