import { domainJSON, recordJSON } from "./domain-json.ts";
import {
  createRecord,
  deleteRecord,
  listDomains,
  listRecords,
  readDomain,
  readRecord,
  updateRecord,
} from "./domains.ts";
import { pageOf } from "./paging.ts";
import { readRecordRequest } from "./request-body.ts";
import { ok, type Route, type RouteAnswer, type RouteCall } from "./route.ts";

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
