import type { SandboxReply, SandboxRequest } from "../http-server.ts";
import { type APIObject, answerByRoute, bearerToken, membersOf, Refusal, type Route } from "../provider.ts";
import type { AddressView } from "./actions.ts";
import type { CreationRequest } from "./address-rules.ts";
import { actionJSON, dropletJSON, regionJSON, startedAction } from "./api-json.ts";
import { listAnswer, notFound, type RouteAnswer, type RouteCall, unprocessable } from "./calls.ts";
import type { Cloud } from "./cloud.ts";
import type { CloudState } from "./cloud-state.ts";
import { domainRoutes } from "./domains.ts";
import { firewallRoutes } from "./firewalls.ts";
import { ipv6Routes } from "./reserved-ipv6.ts";

const routes: readonly Route<RouteCall, RouteAnswer>[] = [
  ["GET", /^\/v2\/account$/, ({ cloud, caller }) => ok({ account: accountJSON(cloud.account(caller)) })],
  ["GET", /^\/v2\/droplets$/, listDroplets],
  ["GET", /^\/v2\/droplets\/(\d+)$/, readDroplet],
  ["GET", /^\/v2\/reserved_ips$/, listAddresses],
  ["POST", /^\/v2\/reserved_ips$/, createAddress],
  ["GET", /^\/v2\/reserved_ips\/([\d.]+)$/, readAddress],
  ["DELETE", /^\/v2\/reserved_ips\/([\d.]+)$/, deleteAddress],
  ["POST", /^\/v2\/reserved_ips\/([\d.]+)\/actions$/, startedAction],
  ["GET", /^\/v2\/reserved_ips\/([\d.]+)\/actions\/(\d+)$/, readAction],
  ["GET", /^\/v2\/actions\/(\d+)$/, readAnyAction],
  ...ipv6Routes,
  ...domainRoutes,
  ...firewallRoutes,
];

/**
 * Answers one request to the emulated API: token, rate limit, route, scope, then the operation, in that order. Carries
 * rate-limit headers like the real one. The API has what flipop asks for; everything else is 404.
 */
export function answerRequest(
  cloud: Cloud,
  request: SandboxRequest,
  { nowMs, requestID }: { readonly nowMs: number; readonly requestID: string },
): SandboxReply {
  const token = bearerToken(request);
  const headers = (): Readonly<Record<string, string>> => ({
    "x-request-id": requestID,
    ...(token === undefined ? {} : cloud.rateHeaders(token, nowMs)),
  });
  try {
    const caller = cloud.admit(token, nowMs);
    const url = `http://${request.headers["host"] ?? "127.0.0.1"}${request.path}`;
    const { body, query } = request;
    const answer = answerByRoute(routes, request, { cloud, caller, body, query, url });
    if (answer === undefined) throw notFound();
    return { ...answer, headers: headers() };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const body = { id: error.code, message: error.message, request_id: requestID };
    return { status: error.status, headers: { ...headers(), ...error.headers }, body };
  }
}

function ok(body: APIObject): RouteAnswer {
  return { status: 200, body };
}

function listAddresses(call: RouteCall): RouteAnswer {
  return listAnswer("reserved_ips", call.cloud.listAddresses(call.caller).map(addressJSON), call);
}

function readAddress({ cloud, caller }: RouteCall, ip = ""): RouteAnswer {
  return ok({ reserved_ip: addressJSON(cloud.address(caller, ip)) });
}

function createAddress({ cloud, caller, body, url }: RouteCall): RouteAnswer {
  const { address, action } = cloud.create(caller, creationIn(body));
  const reserved = addressJSON(address);
  if (action === undefined) return { status: 202, body: { reserved_ip: reserved, links: {} } };
  const href = `${url}/${action.ip}/actions/${action.id}`;
  return {
    status: 202,
    body: { reserved_ip: reserved, links: { actions: [{ id: action.id, rel: action.type, href }] } },
  };
}

/** @throws Refusal 422 for a wrong type; what goes together is decided by the account */
function creationIn(body: unknown): CreationRequest {
  const fields = membersOf(body);
  if (fields === undefined) throw unprocessable("The request body must be a JSON object.");
  const { droplet_id: dropletID, region, project_id: projectID } = fields;
  if (dropletID !== undefined && !Number.isSafeInteger(dropletID))
    throw unprocessable("droplet_id must be an integer.");
  if (region !== undefined && typeof region !== "string") throw unprocessable("region must be a string.");
  if (projectID !== undefined && typeof projectID !== "string") throw unprocessable("project_id must be a string.");
  return {
    ...(dropletID === undefined ? {} : { droplet_id: Number(dropletID) }),
    ...(region === undefined ? {} : { region }),
    ...(projectID === undefined ? {} : { project_id: projectID }),
  };
}

function deleteAddress({ cloud, caller }: RouteCall, ip = ""): RouteAnswer {
  cloud.delete(caller, ip);
  return { status: 204 };
}

function readAction({ cloud, caller }: RouteCall, ip = "", id = ""): RouteAnswer {
  return ok({ action: actionJSON(cloud.addressAction(caller, ip, Number(id))) });
}

function readAnyAction({ cloud, caller }: RouteCall, id = ""): RouteAnswer {
  return ok({ action: actionJSON(cloud.action(caller, Number(id))) });
}

function listDroplets(call: RouteCall): RouteAnswer {
  const tag = call.query.get("tag_name");
  return listAnswer("droplets", call.cloud.droplets(call.caller, tag ?? undefined).map(dropletJSON), call);
}

function readDroplet({ cloud, caller }: RouteCall, id = ""): RouteAnswer {
  return ok({ droplet: dropletJSON(cloud.droplet(caller, Number(id))) });
}

function accountJSON({ reserved_ip_limit: limit, droplet_limit, email, uuid }: CloudState["account"]): APIObject {
  return { droplet_limit, floating_ip_limit: limit, reserved_ip_limit: limit, email, uuid, status: "active" };
}

/** `reserved_ip`, with its droplet; BYOIP addresses have no project. */
function addressJSON({ ip, region, droplet, locked, projectID }: AddressView): APIObject {
  return {
    ip,
    region: regionJSON(region),
    droplet:
      droplet === null ? null : dropletJSON({ droplet, isBusy: locked, reservedIP: ip, reservedIPv6: undefined }),
    locked,
    ...(projectID === "" ? {} : { project_id: projectID }),
  };
}
