import type { SandboxReply, SandboxRequest } from "../http-server.ts";
import type { AddressView } from "./actions.ts";
import type { Cloud, DropletView } from "./cloud.ts";
import type { ActionState, CloudState } from "./cloud-state.ts";
import { domainRoutes } from "./domains.ts";
import { firewallRoutes } from "./firewalls.ts";
import { type Caller, CloudRefusal, notFound } from "./refusals.ts";
import { ok, pageOf, type Route, type RouteAnswer, type RouteCall, readAction, readCreation } from "./requests.ts";

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

/** JSON as the API sends it. */
export type APIObject = Readonly<Record<string, unknown>>;

const sizes = ["s-1vcpu-1gb", "s-1vcpu-2gb", "s-2vcpu-2gb", "s-2vcpu-4gb", "s-4vcpu-8gb"];
const createdAt = "2026-01-01T00:00:00Z";

/** `account` of `GET /v2/account`. */
function accountJSON(account: CloudState["account"]): APIObject {
  return {
    droplet_limit: account.droplet_limit,
    floating_ip_limit: account.reserved_ip_limit,
    reserved_ip_limit: account.reserved_ip_limit,
    volume_limit: 100,
    email: account.email,
    name: "Sandbox",
    uuid: account.uuid,
    email_verified: true,
    status: "active",
    status_message: "",
    team: { uuid: account.uuid, name: "Sandbox" },
  };
}

/** `reserved_ip`, with its droplet in full; BYOIP addresses have no project. */
function addressJSON(view: AddressView): APIObject {
  const droplet = view.droplet;
  return {
    ip: view.ip,
    region: regionJSON(view.region),
    droplet: droplet === null ? null : dropletJSON({ droplet, isBusy: view.locked, reservedIP: view.ip }),
    locked: view.locked,
    ...(view.projectID === "" ? {} : { project_id: view.projectID }),
  };
}

/** `action` of an address: the resource is the address, as a number. */
function actionJSON(action: ActionState): APIObject {
  return {
    id: action.id,
    status: action.status,
    type: action.type,
    started_at: action.started_at,
    completed_at: action.completed_at,
    resource_id: action.ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0),
    resource_type: "reserved_ip",
    region: regionJSON(action.region),
    region_slug: action.region,
  };
}

/** `actions[]` of a droplet: the address actions it takes part in, then the event it has of its own. */
function dropletActionsJSON(view: DropletView, actions: readonly ActionState[], nowMs: number): APIObject[] {
  const { droplet } = view;
  const list = actions.map((action) => ({ ...actionJSON(action), resource_id: droplet.id, resource_type: "droplet" }));
  const until = droplet.pending_event_until;
  if (until === undefined) return list;
  const isOver = Date.parse(until) <= nowMs;
  const event = {
    id: 1_000_000_000 + droplet.id,
    status: isOver ? "completed" : "in-progress",
    type: "power_cycle",
    started_at: createdAt,
    completed_at: isOver ? until : null,
    resource_id: droplet.id,
    resource_type: "droplet",
    region: regionJSON(droplet.region),
    region_slug: droplet.region,
  };
  return [...list, event];
}

/** `droplet`; its reserved address is one of `networks.v4`, in no documented order. */
function dropletJSON(view: DropletView): APIObject {
  const { droplet } = view;
  return {
    id: droplet.id,
    name: droplet.name,
    memory: 1024,
    vcpus: 1,
    disk: 25,
    disk_info: [{ type: "local", size: { amount: 25, unit: "gib" } }],
    locked: view.isBusy,
    status: droplet.status,
    kernel: null,
    created_at: createdAt,
    features: ["droplet_agent", "private_networking"],
    backup_ids: [],
    next_backup_window: null,
    snapshot_ids: [],
    image: imageJSON(droplet.region),
    volume_ids: [],
    size: sizeJSON(droplet.region),
    size_slug: "s-1vcpu-1gb",
    networks: { v4: dropletAddresses(view).map(networkJSON), v6: [] },
    region: regionJSON(droplet.region),
    tags: droplet.tags ?? [],
    vpc_uuid: "760e09ef-dc84-11e8-981e-3cfdfeaae000",
  };
}

function networkJSON({ ip, type }: DropletAddress): APIObject {
  const netmask = type === "private" ? "255.255.0.0" : "255.255.240.0";
  return { ip_address: ip, netmask, gateway: ip.replace(/\d+$/, "1"), type };
}

function regionJSON(slug: string): APIObject {
  const [, city = "", number = ""] = /^([a-z]+)(\d*)$/.exec(slug) ?? [];
  const name = `${city.toUpperCase()} ${number}`.trim();
  return { name, slug, features: ["backups", "ipv6", "metadata"], available: true, sizes };
}

function sizeJSON(region: string): APIObject {
  return {
    slug: "s-1vcpu-1gb",
    memory: 1024,
    vcpus: 1,
    disk: 25,
    transfer: 1,
    price_monthly: 6,
    price_hourly: 0.00893,
    regions: [region],
    available: true,
    description: "Basic",
  };
}

function imageJSON(region: string): APIObject {
  return {
    id: 7_555_620,
    name: "24.04 (LTS) x64",
    type: "base",
    distribution: "Ubuntu",
    slug: "ubuntu-24-04-x64",
    public: true,
    regions: [region],
    created_at: createdAt,
    min_disk_size: 7,
    size_gigabytes: 2.34,
    description: "",
    tags: [],
    status: "available",
  };
}

/** One IPv4 address a droplet carries. */
interface DropletAddress {
  readonly ip: string;
  readonly type: "public" | "private";
}

/** The IPv4 addresses a droplet shows, its reserved one among them; the anchor address is not shown. In no documented order. */
export function dropletAddresses({ droplet, reservedIP }: DropletView): readonly DropletAddress[] {
  const reserved: readonly DropletAddress[] = reservedIP === undefined ? [] : [{ ip: reservedIP, type: "public" }];
  return [{ ip: droplet.private_ip, type: "private" }, ...reserved, { ip: droplet.public_ip, type: "public" }];
}
