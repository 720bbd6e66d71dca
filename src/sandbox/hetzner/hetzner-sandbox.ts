import type { SandboxReply, SandboxRequest, SandboxServer } from "../http-server.ts";
import {
  Account,
  type APIObject,
  answerByRoute,
  bearerToken,
  type ProviderOptions,
  Refusal,
  type Route,
  serveProvider,
  timeText,
} from "../provider.ts";
import { type Answer, actionJSON, bodyOf, type Call, listAnswer } from "./calls.ts";
import { firewallRoutes, firewallsOn, isSelected } from "./firewalls.ts";
import {
  assign,
  createFloatingIP,
  deleteFloatingIP,
  floatingIPOf,
  serverOf,
  settle,
  shownServer,
  unassign,
} from "./floating-ips.ts";
import {
  type ActionState,
  completeProject,
  type FloatingIPState,
  PROJECT_HEADER,
  type ProjectState,
  type ServerState,
} from "./project-state.ts";
import { zoneRoutes } from "./zones.ts";

/** The emulated Hetzner Cloud: its API, and the project behind it. */
export interface HetznerSandbox {
  /** Answers one request. @throws ConfigError when the file was edited into something invalid. */
  handle(request: SandboxRequest): SandboxReply;
  /** Serves the API on loopback, with the faults; the base URL of a client is `url` and `/v1`. */
  serve(): Promise<SandboxServer>;
  /** The project as it is now, the file's newest edit included; changes to the state are saved with the next request or {@link save}. */
  project(): { readonly state: ProjectState };
  /** Carries out the actions that are due. */
  settle(): void;
  /** Writes the project to its file. */
  save(): void;
  /** Changes the project behind everybody's back. @throws BadValue, and then changes nothing */
  edit(change: (state: ProjectState) => void): void;
}

/**
 * Opens or makes an emulated project. The file is read again before a request when a person changed it, and written after each request that changed something.
 *
 * Its API has what flipop asks for: floating IPs, servers, firewalls, actions, zones and their records. Everything else is the router's 404.
 * @throws ConfigError naming the file when it cannot be read; BadValue when `state` is invalid.
 */
export function hetznerSandbox(options: ProviderOptions): HetznerSandbox {
  const account = new Account<ProjectState>(options, { header: PROJECT_HEADER, complete: completeProject });
  const bucket = new RateBucket();
  let requests = 0;

  function handle(request: SandboxRequest): SandboxReply {
    requests += 1;
    account.refresh();
    settle(account.state, options.now());
    const reply = answerRequest(account.state, bucket, request, options.now());
    // An action that takes no time has had its effect before anyone can look; its answer still says that it runs.
    settle(account.state, options.now());
    account.save();
    return { ...reply, headers: { ...reply.headers, "x-correlation-id": requests.toString(16).padStart(16, "0") } };
  }

  return {
    handle,
    serve: () => serveProvider("hetzner", options, handle),
    project: () => {
      account.refresh();
      return account;
    },
    settle: () => settle(account.state, options.now()),
    save: () => account.save(),
    edit: (change) => {
      settle(account.state, options.now());
      account.edit(change);
    },
  };
}

const routes: readonly Route<Call, Answer>[] = [
  ["GET", /^\/v1\/floating_ips$/, listFloatingIPs],
  ["POST", /^\/v1\/floating_ips$/, create],
  ["GET", /^\/v1\/floating_ips\/(\d+)$/, readFloatingIP],
  ["PUT", /^\/v1\/floating_ips\/(\d+)$/, editFloatingIP],
  ["DELETE", /^\/v1\/floating_ips\/(\d+)$/, remove],
  ["GET", /^\/v1\/floating_ips\/(\d+)\/actions$/, listOwnActions],
  ["POST", /^\/v1\/floating_ips\/(\d+)\/actions\/assign$/, startAssignment],
  ["POST", /^\/v1\/floating_ips\/(\d+)\/actions\/unassign$/, startUnassignment],
  ["GET", /^\/v1\/actions$/, listActions],
  ["GET", /^\/v1\/actions\/(\d+)$/, readAction],
  ["GET", /^\/v1\/servers$/, listServers],
  ["GET", /^\/v1\/servers\/(\d+)$/, readServer],
  ...firewallRoutes,
  ...zoneRoutes,
];

/** Token, rate limit, route, permission, then the operation, in that order. */
function answerRequest(
  state: ProjectState,
  bucket: RateBucket,
  request: SandboxRequest,
  nowMs: number,
): Answer & { readonly headers: Readonly<Record<string, string>> } {
  const token = bearerToken(request) ?? "";
  try {
    const permission = permissionOf(state, token);
    bucket.take(token, state.settings.rate_limit, nowMs);
    if (permission === "read" && request.method !== "GET")
      throw new Refusal(401, "token_readonly", "the token is only allowed to perform GET requests");
    const answer = answerByRoute(routes, request, { state, request, nowMs });
    if (answer === undefined) throw new Refusal(404, "not_found", "api route not found");
    return { ...answer, headers: bucket.headers(token, state.settings.rate_limit, nowMs) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const body = { error: { code: error.code, message: error.message, details: null } };
    return { status: error.status, headers: bucket.headers(token, state.settings.rate_limit, nowMs), body };
  }
}

function permissionOf({ tokens }: ProjectState, token: string): "read" | "read_write" {
  if (token === "") throw new Refusal(401, "unauthorized", "token is required");
  if (Object.keys(tokens).length === 0) return "read_write";
  const known = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
  if (known === undefined) throw new Refusal(401, "unauthorized", "the token you have provided is invalid");
  return known;
}

function listFloatingIPs(call: Call): Answer {
  const { state, request } = call;
  const name = request.query.get("name");
  const selector = request.query.get("label_selector");
  const found = state.floating_ips
    .filter((one) => (name === null || one.name === name) && (selector === null || isSelected(one.labels, selector)))
    .toSorted((a, b) => a.id - b.id);
  return listAnswer(
    "floating_ips",
    found.map((one) => floatingIPJSON(state, one)),
    call,
  );
}

function readFloatingIP({ state }: Call, id = ""): Answer {
  return { status: 200, body: { floating_ip: floatingIPJSON(state, floatingIPOf(state, Number(id))) } };
}

function create(call: Call): Answer {
  const { state, nowMs } = call;
  const body = bodyOf(call, ["type", "server", "home_location", "name", "description", "labels"]);
  const { type, server, home_location: home, name, labels } = body;
  if (type !== "ipv4" && type !== "ipv6") throw new Refusal(422, "invalid_input", "invalid input in field 'type'");
  if (server !== undefined && !Number.isSafeInteger(server))
    throw new Refusal(422, "invalid_input", "invalid input in field 'server'");
  const { made, action } = createFloatingIP(
    state,
    {
      type,
      ...(server === undefined ? {} : { server: Number(server) }),
      ...(home === undefined ? {} : { home_location: String(home) }),
      ...(name === undefined ? {} : { name: String(name) }),
      labels: (labels ?? {}) as Record<string, string>,
    },
    nowMs,
  );
  const shown = { floating_ip: floatingIPJSON(state, made) };
  return { status: 201, body: action === undefined ? shown : { ...shown, action: actionJSON(action) } };
}

/** `labels` replaces all of them. */
function editFloatingIP(call: Call, id = ""): Answer {
  const floatingIP = floatingIPOf(call.state, Number(id));
  const { name, labels } = bodyOf(call, ["name", "description", "labels"]);
  if (typeof name === "string") floatingIP.name = name;
  if (labels !== undefined) floatingIP.labels = { ...(labels as Record<string, string>) };
  return { status: 200, body: { floating_ip: floatingIPJSON(call.state, floatingIP) } };
}

function remove({ state }: Call, id = ""): Answer {
  deleteFloatingIP(state, Number(id));
  return { status: 204 };
}

function startAssignment(call: Call, id = ""): Answer {
  const { server } = bodyOf(call, ["server"]);
  if (!Number.isSafeInteger(server)) throw new Refusal(422, "invalid_input", "invalid input in field 'server'");
  const action = assign(call.state, Number(id), Number(server), call.nowMs);
  return { status: 201, body: { action: actionJSON(action) } };
}

function startUnassignment({ state, nowMs }: Call, id = ""): Answer {
  return { status: 201, body: { action: actionJSON(unassign(state, Number(id), nowMs)) } };
}

function listOwnActions(call: Call, id = ""): Answer {
  const { state, request, nowMs } = call;
  const floatingIP = floatingIPOf(state, Number(id));
  const statuses = request.query.getAll("status");
  const others = floatingIP.locked === true ? [workOfOthers(floatingIP, nowMs)] : [];
  const own = state.actions.filter((action) => action.floating_ip === floatingIP.id);
  const found = [...others, ...own].filter(({ status }) => statuses.length === 0 || statuses.includes(status));
  return listAnswer("actions", found.map(actionJSON), call);
}

/** What goes on with a floating IP that a person has locked in the file. */
function workOfOthers({ id }: FloatingIPState, nowMs: number): ActionState {
  const started = timeText(nowMs);
  return {
    id: 1,
    command: "change_dns_ptr",
    status: "running",
    floating_ip: id,
    started,
    ends: started,
    outcome: "success",
  };
}

/** Actions can be listed by their ids only, since 2025-01-30. */
function listActions(call: Call): Answer {
  const ids = new Set(call.request.query.getAll("id").map(Number));
  if (ids.size === 0) throw new Refusal(422, "invalid_input", "invalid input in field 'id': is required");
  return listAnswer("actions", call.state.actions.filter(({ id }) => ids.has(id)).map(actionJSON), call);
}

function readAction({ state }: Call, id = ""): Answer {
  const action = state.actions.find((one) => one.id === Number(id));
  if (action === undefined) throw new Refusal(404, "not_found", `action with ID '${id}' not found`);
  return { status: 200, body: { action: actionJSON(action) } };
}

function listServers(call: Call): Answer {
  const { state, request } = call;
  const name = request.query.get("name");
  const selector = request.query.get("label_selector");
  const found = state.servers
    .filter((one) => (name === null || one.name === name) && (selector === null || isSelected(one.labels, selector)))
    .toSorted((a, b) => a.id - b.id);
  return listAnswer(
    "servers",
    found.map((one) => serverJSON(state, one)),
    call,
  );
}

function readServer({ state }: Call, id = ""): Answer {
  return { status: 200, body: { server: serverJSON(state, serverOf(state, Number(id))) } };
}

function floatingIPJSON(state: ProjectState, one: FloatingIPState): APIObject {
  const { id, name, type, ip, home_location: home, blocked, labels } = one;
  return {
    ...{ id, name, description: null, type, ip, server: shownServer(state, one), dns_ptr: [] },
    home_location: locationJSON(state, home),
    ...{ blocked, protection: { delete: one.protected }, labels, created: CREATED },
  };
}

const CREATED = "2026-01-01T00:00:00Z";

function locationJSON({ settings }: ProjectState, name: string): APIObject {
  const places = { description: name, country: "DE", city: name, latitude: 50.4, longitude: 12.3 };
  const id = Object.keys(settings.locations).indexOf(name) + 1;
  return { id, name, ...places, network_zone: settings.locations[name] ?? "" };
}

function serverJSON(state: ProjectState, server: ServerState): APIObject {
  const { id, name, status, location, ipv4, labels } = server;
  const floating = state.floating_ips.filter((one) => one.server === id).map((one) => one.id);
  return {
    ...{ id, name, status, locked: false, created: CREATED, labels },
    location: locationJSON(state, location),
    public_net: {
      ipv4:
        ipv4 === null ? null : { id: id + 1_000_000, ip: ipv4, blocked: false, dns_ptr: `server-${id}.example.com` },
      ipv6: ownNetworkJSON(server),
      floating_ips: floating,
      firewalls: firewallsOn(state, server),
    },
    private_net: [],
    protection: { delete: false, rebuild: false },
  };
}

/** The network of a server's own IPv6 addresses. */
function ownNetworkJSON({ id, ipv6 }: ServerState): APIObject | null {
  if (ipv6 === null) return null;
  const ip = ipv6 ?? `2001:db8:5e:${(id & 0xffff).toString(16)}::/64`;
  return { id: id + 2_000_000, ip, blocked: false, dns_ptr: [] };
}

/** The calls that each token has left: one comes back each second. Lives in memory only: a new process starts afresh. */
class RateBucket {
  readonly #left = new Map<string, { calls: number; atMs: number }>();

  /** Counts one call. @throws Refusal 429 when none is left */
  take(token: string, most: number, nowMs: number): void {
    const left = this.#refilled(token, most, nowMs);
    if (left.calls < 1) throw new Refusal(429, "rate_limit_exceeded", `limit of ${most} requests per hour reached`);
    left.calls -= 1;
  }

  /** The headers of an answer. The reset is when all calls are there again, not when the next one is allowed. */
  headers(token: string, most: number, nowMs: number): Readonly<Record<string, string>> {
    const { calls } = this.#refilled(token, most, nowMs);
    return {
      "ratelimit-limit": String(most),
      "ratelimit-remaining": String(Math.floor(calls)),
      "ratelimit-reset": String(Math.ceil(nowMs / 1000 + most - calls)),
    };
  }

  #refilled(token: string, most: number, nowMs: number): { calls: number; atMs: number } {
    const left = this.#left.get(token) ?? { calls: most, atMs: nowMs };
    const seconds = Math.max(0, nowMs - left.atMs) / 1000;
    const refilled = { calls: Math.min(most, left.calls + seconds), atMs: nowMs };
    this.#left.set(token, refilled);
    return refilled;
  }
}
