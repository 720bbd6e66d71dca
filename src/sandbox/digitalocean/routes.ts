import type { SandboxReply, SandboxRequest } from "../http-exchange.ts";
import { accountJSON, actionJSON, addressJSON, dropletActionsJSON, dropletJSON } from "./api-json.ts";
import type { Caller } from "./caller.ts";
import type { Cloud } from "./cloud.ts";
import { CloudRefusal, notFound } from "./cloud-refusal.ts";
import type { ActionState } from "./cloud-state.ts";
import { domainRoutes } from "./domain-routes.ts";
import { firewallRoutes } from "./firewall-routes.ts";
import { pageOf } from "./paging.ts";
import { readAction, readCreation } from "./request-body.ts";
import { ok, type Route, type RouteAnswer, type RouteCall } from "./route.ts";

const routes: readonly Route[] = [
  ["GET", /^\/v2\/account$/, ({ cloud, caller }) => ok({ account: accountJSON(cloud.account(caller)) })],
  ["GET", /^\/v2\/actions\/(\d+)$/, ({ cloud, caller, parts }) => action(cloud.action(caller, Number(parts[0])))],
  ["GET", /^\/v2\/droplets$/, listDroplets],
  ["GET", /^\/v2\/droplets\/(\d+)$/, getDroplet],
  ["GET", /^\/v2\/droplets\/(\d+)\/actions$/, listDropletActions],
  ["GET", /^\/v2\/reserved_ips$/, listAddresses],
  ["POST", /^\/v2\/reserved_ips$/, createAddress],
  ["GET", /^\/v2\/reserved_ips\/([\d.]+)$/, getAddress],
  ["DELETE", /^\/v2\/reserved_ips\/([\d.]+)$/, deleteAddress],
  ["GET", /^\/v2\/reserved_ips\/([\d.]+)\/actions$/, listAddressActions],
  ["POST", /^\/v2\/reserved_ips\/([\d.]+)\/actions$/, startAction],
  ["GET", /^\/v2\/reserved_ips\/([\d.]+)\/actions\/(\d+)$/, getAddressAction],
  ...domainRoutes,
  ...firewallRoutes,
];

/**
 * Answers one request to the emulated API: token, rate limit, route, scope, then the operation, in that order. Carries
 * rate-limit headers and `x-request-id` like the real one; a request that is not in its description is 404.
 */
export function answerRequest(
  cloud: Cloud,
  request: SandboxRequest,
  context: { readonly nowMs: number; readonly requestID: string },
): SandboxReply {
  const token = /^Bearer +(\S+)$/i.exec(request.headers["authorization"] ?? "")?.[1];
  const requestID = { "x-request-id": context.requestID };
  try {
    const caller = cloud.admit(token, context.nowMs);
    const { status, body } = route(cloud, caller, request);
    const headers = { ...requestID, ...rateHeaders(cloud, token, context.nowMs) };
    return body === undefined ? { status, headers } : { status, headers, body };
  } catch (error) {
    if (!(error instanceof CloudRefusal)) throw error;
    const wait = error.retryAfterSeconds;
    const headers = {
      ...requestID,
      ...rateHeaders(cloud, token, context.nowMs),
      ...(wait === undefined ? {} : { "retry-after": String(wait) }),
    };
    const body = { id: error.id, message: error.message, request_id: context.requestID };
    return { status: error.status, headers, body };
  }
}

function route(cloud: Cloud, caller: Caller, request: SandboxRequest): RouteAnswer {
  const { path, method, query, body } = request;
  const origin = `http://${request.headers["host"] ?? "127.0.0.1"}`;
  for (const [routeMethod, pattern, answer] of routes) {
    const found = routeMethod === method ? pattern.exec(path) : null;
    if (found === null) continue;
    return answer({ cloud, caller, parts: found.slice(1), body, query, origin, url: `${origin}${path}` });
  }
  if (path.startsWith("/v2/floating_ips")) {
    throw new CloudRefusal(404, "not_found", "The old name /v2/floating_ips is not served here; use /v2/reserved_ips.");
  }
  throw notFound();
}

function rateHeaders(cloud: Cloud, token: string | undefined, nowMs: number): Record<string, string> {
  if (token === undefined) return {};
  const { limit, remaining, resetSeconds } = cloud.rateFacts(token, nowMs);
  return {
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(resetSeconds),
  };
}

function listAddresses(call: RouteCall): RouteAnswer {
  const items = call.cloud.listAddresses(call.caller).map(addressJSON);
  return ok(pageOf("reserved_ips", items, call));
}

function getAddress({ cloud, caller, parts }: RouteCall): RouteAnswer {
  return ok({ reserved_ip: addressJSON(cloud.address(caller, parts[0] ?? "")) });
}

function createAddress({ cloud, caller, body, origin }: RouteCall): RouteAnswer {
  const request = readCreation(body);
  const { address, action: started } = cloud.create(caller, request);
  const reserved = addressJSON(address);
  if (started === undefined) return { status: 202, body: { reserved_ip: reserved, links: {} } };
  const droplet = started.droplet_id;
  const links = {
    droplets: [{ id: droplet, rel: "droplet", href: `${origin}/v2/droplets/${droplet}` }],
    actions: [{ id: started.id, rel: started.type, href: `${origin}/v2/actions/${started.id}` }],
  };
  return { status: 202, body: { reserved_ip: reserved, links } };
}

function deleteAddress({ cloud, caller, parts }: RouteCall): RouteAnswer {
  cloud.delete(caller, parts[0] ?? "");
  return { status: 204 };
}

function startAction({ cloud, caller, parts, body }: RouteCall): RouteAnswer {
  const ip = parts[0] ?? "";
  const request = readAction(body);
  const started = request.type === "assign" ? cloud.assign(caller, ip, request.droplet_id) : cloud.unassign(caller, ip);
  return { status: 201, body: { action: actionJSON(started) } };
}

function listAddressActions(call: RouteCall): RouteAnswer {
  const items = call.cloud.addressActions(call.caller, call.parts[0] ?? "").map(actionJSON);
  return ok(pageOf("actions", items, call));
}

function getAddressAction({ cloud, caller, parts }: RouteCall): RouteAnswer {
  return action(cloud.addressAction(caller, parts[0] ?? "", Number(parts[1])));
}

function listDroplets(call: RouteCall): RouteAnswer {
  const tag = call.query.get("tag_name");
  return ok(pageOf("droplets", call.cloud.droplets(call.caller, tag ?? undefined).map(dropletJSON), call));
}

function getDroplet({ cloud, caller, parts }: RouteCall): RouteAnswer {
  return ok({ droplet: dropletJSON(cloud.droplet(caller, Number(parts[0]))) });
}

function listDropletActions(call: RouteCall): RouteAnswer {
  const { view, actions } = call.cloud.dropletActions(call.caller, Number(call.parts[0]));
  return ok(pageOf("actions", dropletActionsJSON(view, actions, call.caller.nowMs), call));
}

function action(state: ActionState): RouteAnswer {
  return ok({ action: actionJSON(state) });
}
