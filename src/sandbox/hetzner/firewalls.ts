import { type APIObject, Refusal, type Route } from "../provider.ts";
import { checked, fileSchema } from "../yaml-file.ts";
import { type Answer, actionJSON, bodyOf, type Call, listAnswer } from "./calls.ts";
import { startAction, takePlannedFailure } from "./floating-ips.ts";
import {
  type ActionState,
  type FirewallState,
  type ProjectState,
  RULE_SCHEMA,
  type RuleState,
  type ServerState,
} from "./project-state.ts";

/** How many firewalls a server can be behind (documented, read 2026-11-26). */
const MOST_PER_SERVER = 5;

/** The operations of firewalls. */
export const firewallRoutes: readonly Route<Call, Answer>[] = [
  ["GET", /^\/v1\/firewalls$/, listFirewalls],
  ["POST", /^\/v1\/firewalls$/, createFirewall],
  ["GET", /^\/v1\/firewalls\/(\d+)$/, readFirewall],
  ["PUT", /^\/v1\/firewalls\/(\d+)$/, editFirewall],
  ["DELETE", /^\/v1\/firewalls\/(\d+)$/, deleteFirewall],
  ["POST", /^\/v1\/firewalls\/(\d+)\/actions\/set_rules$/, setRules],
  ["POST", /^\/v1\/firewalls\/(\d+)\/actions\/apply_to_resources$/, applyTo],
  ["POST", /^\/v1\/firewalls\/(\d+)\/actions\/remove_from_resources$/, removeFrom],
];

/** Of the selectors only `key` and `key=value` are known, joined by commas. */
export function isSelected(labels: Readonly<Record<string, string>>, selector: string): boolean {
  return selector.split(",").every((term) => {
    const [key = "", value] = term.split(/==?/);
    return Object.hasOwn(labels, key) && (value === undefined || labels[key] === value);
  });
}

/** The firewalls that a server shows: `pending` while a change of one is carried out there, and where it ended in an error. */
export function firewallsOn(state: ProjectState, server: ServerState): readonly APIObject[] {
  return state.firewalls.flatMap((firewall) => {
    const isChanging =
      firewall.failed.includes(server.id) ||
      state.actions.some(
        (action) => action.status === "running" && action.firewall === firewall.id && action.server === server.id,
      );
    if (!isChanging && !isApplied(firewall, server)) return [];
    return [{ id: firewall.id, status: isChanging ? "pending" : "applied" }];
  });
}

/** A server without public network has nothing to which a firewall could apply. */
function isApplied({ servers, selectors }: FirewallState, { id, labels, ipv4 }: ServerState): boolean {
  return ipv4 !== null && (servers.includes(id) || selectors.some((selector) => isSelected(labels, selector)));
}

function listFirewalls(call: Call): Answer {
  const { state, request } = call;
  const name = request.query.get("name");
  const selector = request.query.get("label_selector");
  const found = state.firewalls
    .filter((one) => (name === null || one.name === name) && (selector === null || isSelected(one.labels, selector)))
    .toSorted((a, b) => a.id - b.id);
  return listAnswer(
    "firewalls",
    found.map((one) => firewallJSON(state, one)),
    call,
  );
}

function readFirewall({ state }: Call, id = ""): Answer {
  return { status: 200, body: { firewall: firewallJSON(state, firewallOf(state, id)) } };
}

function createFirewall(call: Call): Answer {
  const { state } = call;
  const { name, labels = {}, rules = [] } = bodyOf(call, ["name", "labels", "rules"]);
  if (typeof name !== "string" || name === "") throw invalid("name");
  if (state.firewalls.some((one) => one.name === name))
    throw new Refusal(409, "uniqueness_error", "name is already used");
  const made: FirewallState = {
    id: state.next.id,
    name,
    labels: { ...(labels as Record<string, string>) },
    rules: rulesOf(rules),
    ...{ servers: [], selectors: [], failed: [] },
  };
  state.next.id += 1;
  state.firewalls.push(made);
  return { status: 201, body: { firewall: firewallJSON(state, made), actions: [] } };
}

/** `labels` replaces all of them. */
function editFirewall(call: Call, id = ""): Answer {
  const firewall = firewallOf(call.state, id);
  const { name, labels } = bodyOf(call, ["name", "labels"]);
  if (typeof name === "string") firewall.name = name;
  if (labels !== undefined) firewall.labels = { ...(labels as Record<string, string>) };
  return { status: 200, body: { firewall: firewallJSON(call.state, firewall) } };
}

function deleteFirewall({ state }: Call, id = ""): Answer {
  const firewall = firewallOf(state, id);
  if (firewall.servers.length > 0 || firewall.selectors.length > 0)
    throw new Refusal(422, "resource_in_use", "firewall is still applied to a resource");
  state.firewalls = state.firewalls.filter((one) => one !== firewall);
  return { status: 204 };
}

/** All rules are replaced at once; the servers have them when their actions end. */
function setRules(call: Call, id = ""): Answer {
  const { state, nowMs } = call;
  const firewall = firewallOf(state, id);
  refuseLocked(state, firewall);
  const { rules } = bodyOf(call, ["rules"]);
  firewall.rules = rulesOf(rules);
  const servers = state.servers.filter((server) => isApplied(firewall, server)).map((server) => server.id);
  const whole = startAction(state, nowMs, { command: "set_firewall_rules", firewall: firewall.id, outcome: "success" });
  // That the rules are stored takes no time; that the servers have them does.
  Object.assign(whole, { status: "success", ends: whole.started });
  return answerOf([whole, ...servers.map((server) => change(call, firewall, "apply_firewall", server))]);
}

function applyTo(call: Call, id = ""): Answer {
  const { state } = call;
  const firewall = firewallOf(state, id);
  refuseLocked(state, firewall);
  const { servers, selectors } = resourcesOf(call, "apply_to");
  for (const server of servers) {
    if (server.ipv4 === null)
      throw new Refusal(422, "private_net_only_server", "the server has no public network interface");
    if (firewall.servers.includes(server.id))
      throw new Refusal(422, "firewall_already_applied", "firewall is already applied to a resource");
    if (firewallsOn(state, server).length >= MOST_PER_SERVER)
      throw new Refusal(403, "resource_limit_exceeded", `server ${server.id} has ${MOST_PER_SERVER} firewalls`);
  }
  firewall.servers.push(...servers.map((server) => server.id));
  firewall.selectors.push(...selectors.filter((selector) => !firewall.selectors.includes(selector)));
  return answerOf(servers.map((server) => change(call, firewall, "apply_firewall", server.id)));
}

function removeFrom(call: Call, id = ""): Answer {
  const { state } = call;
  const firewall = firewallOf(state, id);
  refuseLocked(state, firewall);
  const { servers, selectors } = resourcesOf(call, "remove_from");
  for (const server of servers) {
    if (firewall.servers.includes(server.id)) continue;
    if (isApplied(firewall, server))
      throw new Refusal(422, "firewall_managed_by_label_selector", "firewall is applied by a label selector");
    throw new Refusal(404, "firewall_resource_not_found", `firewall is not applied to server ${server.id}`);
  }
  const leaving = new Set(servers.map((server) => server.id));
  firewall.servers = firewall.servers.filter((server) => !leaving.has(server));
  firewall.selectors = firewall.selectors.filter((selector) => !selectors.includes(selector));
  return answerOf(servers.map((server) => change(call, firewall, "remove_firewall", server.id)));
}

/** Accepts that a change of a firewall is carried out at a server. */
function change({ state, nowMs }: Call, firewall: FirewallState, command: string, server: number): ActionState {
  firewall.failed = firewall.failed.filter((one) => one !== server);
  const outcome = takePlannedFailure(state) ? "error" : "success";
  return startAction(state, nowMs, { command, firewall: firewall.id, server, outcome });
}

function answerOf(actions: readonly ActionState[]): Answer {
  return { status: 201, body: { actions: actions.map(actionJSON) } };
}

interface Resources {
  readonly servers: readonly ServerState[];
  readonly selectors: readonly string[];
}

/** @throws Refusal 404 for a server that is not there */
function resourcesOf(call: Call, key: string): Resources {
  const { [key]: all } = bodyOf(call, [key]);
  if (!Array.isArray(all) || all.length === 0) throw invalid(key);
  const resources = all as readonly Resource[];
  const selectors = resources.flatMap(({ type, label_selector: by }) =>
    type === "label_selector" && typeof by?.selector === "string" ? by.selector : [],
  );
  const ids = resources.flatMap(({ type, server }) => (type === "server" ? (server?.id ?? []) : []));
  if (selectors.length + ids.length < resources.length) throw invalid(key);
  const servers = ids.map((id) => {
    const found = call.state.servers.find((one) => one.id === id);
    if (found === undefined) throw new Refusal(404, "firewall_resource_not_found", "a resource was not found");
    return found;
  });
  return { servers, selectors };
}

interface Resource {
  readonly type?: unknown;
  readonly server?: { readonly id?: number };
  readonly label_selector?: { readonly selector?: unknown };
}

const validateRules = fileSchema({
  type: "object",
  properties: { rules: { type: "array", maxItems: 50, items: RULE_SCHEMA } },
  required: ["rules"],
});

/** @throws Refusal 422 */
function rulesOf(given: unknown): RuleState[] {
  const { rules } = readRules(given);
  for (const [at, { direction, protocol, port, source_ips: sources, destination_ips: targets }] of rules.entries()) {
    const hasPorts = protocol === "tcp" || protocol === "udp";
    if (hasPorts === (port === null)) throw invalid(`rules[${at}].port`);
    const [own, others] = direction === "in" ? [sources, targets] : [targets, sources];
    if (own.length === 0 || others.length > 0)
      throw invalid(`rules[${at}].${direction === "in" ? "source" : "destination"}_ips`);
  }
  return rules;
}

function readRules(rules: unknown): { readonly rules: RuleState[] } {
  try {
    return checked<{ rules: RuleState[] }>(validateRules, { rules });
  } catch (error) {
    throw new Refusal(
      422,
      "invalid_input",
      `invalid input in field 'rules': ${error instanceof Error ? error.message : ""}`,
    );
  }
}

function invalid(field: string): Refusal {
  return new Refusal(422, "invalid_input", `invalid input in field '${field}'`);
}

/** @throws Refusal 423 */
function refuseLocked({ settings, actions }: ProjectState, { id, locked }: FirewallState): void {
  const isBusy =
    settings.locks_firewalls && actions.some(({ status, firewall }) => status === "running" && firewall === id);
  if (isBusy || locked === true) throw new Refusal(423, "locked", "there is already an action running");
}

/** @throws Refusal 404 */
function firewallOf(state: ProjectState, id: string): FirewallState {
  const found = state.firewalls.find((one) => one.id === Number(id));
  if (found === undefined) throw new Refusal(404, "not_found", `firewall with ID '${id}' not found`);
  return found;
}

function firewallJSON(state: ProjectState, { id, name, labels, rules, servers, selectors }: FirewallState): APIObject {
  const bySelector = selectors.map((selector) => ({
    type: "label_selector",
    label_selector: { selector },
    applied_to_resources: state.servers
      .filter((server) => server.ipv4 !== null && isSelected(server.labels, selector))
      .map((server) => ({ type: "server", server: { id: server.id } })),
  }));
  const present = servers.filter((server) => state.servers.some((one) => one.id === server));
  return {
    ...{ id, name, labels, created: "2026-01-01T00:00:00Z", rules },
    applied_to: [...present.map((server) => ({ type: "server", server: { id: server } })), ...bySelector],
  };
}
