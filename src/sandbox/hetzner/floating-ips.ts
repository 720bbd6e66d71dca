import { Refusal, timeText } from "../provider.ts";
import {
  type ActionState,
  type FloatingIPState,
  newAddress,
  newNetwork,
  type ProjectState,
  type ServerState,
} from "./project-state.ts";

/** How many actions that have ended stay readable. */
const KEPT_ACTIONS = 100;

/** What a request for a floating IP says. */
export interface FloatingIPRequest {
  readonly type: "ipv4" | "ipv6";
  readonly server?: number;
  readonly home_location?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Makes a floating IP; for a server it is assigned by an action. @throws Refusal */
export function createFloatingIP(
  state: ProjectState,
  request: FloatingIPRequest,
  nowMs: number,
): { readonly made: FloatingIPState; readonly action?: ActionState } {
  const { server: target, home_location: home, name } = request;
  if ((target === undefined) === (home === undefined))
    throw new Refusal(422, "invalid_input", "either home_location or server must be given");
  const server = target === undefined ? undefined : serverOf(state, target);
  const location = server?.location ?? home ?? "";
  if (!Object.hasOwn(state.settings.locations, location))
    throw new Refusal(422, "invalid_input", `invalid input in field 'home_location': ${location} does not exist`);
  if (name !== undefined && state.floating_ips.some((one) => one.name === name))
    throw new Refusal(409, "uniqueness_error", "name is already used");
  if (state.floating_ips.length >= state.settings.floating_ip_limit)
    throw new Refusal(403, "resource_limit_exceeded", "floating_ip limit exceeded");
  const id = state.next.id;
  state.next.id += 1;
  const ip = request.type === "ipv6" ? newNetwork(state) : newAddress(state);
  const made: FloatingIPState = {
    id,
    name: name ?? `floating-ip-${id}`,
    type: request.type,
    ip,
    server: null,
    home_location: location,
    blocked: false,
    protected: false,
    labels: { ...request.labels },
  };
  state.floating_ips.push(made);
  return server === undefined ? { made } : { made, action: startMove(state, made, server.id, nowMs) };
}

/** Accepts that a floating IP goes to a server, from wherever it is. @throws Refusal */
export function assign(state: ProjectState, id: number, target: number, nowMs: number): ActionState {
  const floatingIP = floatingIPOf(state, id);
  refuseLocked(state, floatingIP, target);
  serverOf(state, target);
  if (floatingIP.server === target)
    throw new Refusal(422, "floating_ip_assigned", "floating IP is already assigned to this server");
  return startMove(state, floatingIP, target, nowMs);
}

/** Accepts that a floating IP leaves its server. @throws Refusal */
export function unassign(state: ProjectState, id: number, nowMs: number): ActionState {
  const floatingIP = floatingIPOf(state, id);
  refuseLocked(state, floatingIP);
  if (floatingIP.server === null)
    throw new Refusal(422, "service_error", "cannot unassign Floating IP because it is not assigned to a server");
  return startMove(state, floatingIP, null, nowMs);
}

/** Gives a floating IP back. @throws Refusal */
export function deleteFloatingIP(state: ProjectState, id: number): void {
  const floatingIP = floatingIPOf(state, id);
  refuseLocked(state, floatingIP);
  if (floatingIP.protected) throw new Refusal(423, "protected", "floating IP is protected against deletion");
  if (floatingIP.server !== null)
    throw new Refusal(422, "must_be_unassigned", "floating IP must be unassigned before it is deleted");
  state.floating_ips = state.floating_ips.filter((one) => one !== floatingIP);
}

/** @throws Refusal 404 */
export function floatingIPOf(state: ProjectState, id: number): FloatingIPState {
  const found = state.floating_ips.find((one) => one.id === id);
  if (found === undefined) throw new Refusal(404, "not_found", `floating IP with ID '${id}' not found`);
  return found;
}

/** @throws Refusal 404 */
export function serverOf(state: ProjectState, id: number): ServerState {
  const found = state.servers.find((one) => one.id === id);
  if (found === undefined) throw new Refusal(404, "not_found", `server with ID '${id}' not found`);
  return found;
}

/** While an action runs, what it is about takes no other. @throws Refusal 423 */
function refuseLocked(state: ProjectState, { id, server, locked }: FloatingIPState, target?: number): void {
  const involved = new Set([server, target].filter((one) => one !== null && one !== undefined));
  const isBusy = state.actions.some(
    (action) =>
      action.status === "running" &&
      action.firewall === undefined &&
      (action.floating_ip === id ||
        [action.server, action.from_server].some((one) => one != null && involved.has(one))),
  );
  if (isBusy || locked === true) throw new Refusal(423, "locked", "there is already an action running");
}

function startMove(
  state: ProjectState,
  floatingIP: FloatingIPState,
  target: number | null,
  nowMs: number,
): ActionState {
  const command = target === null ? "unassign_floating_ip" : "assign_floating_ip";
  const isPlannedToFail = state.settings.fail_actions_of.includes(floatingIP.ip);
  return startAction(state, nowMs, {
    command,
    floating_ip: floatingIP.id,
    server: target,
    from_server: floatingIP.server,
    outcome: takePlannedFailure(state) || isPlannedToFail ? "error" : "success",
  });
}

/** True if the next action is to end in an error; then one less is. */
export function takePlannedFailure({ settings }: ProjectState): boolean {
  if (settings.fail_next_actions === 0) return false;
  settings.fail_next_actions -= 1;
  return true;
}

/** Accepts an action; it has its effect when {@link settle} sees its time come. */
export function startAction(
  state: ProjectState,
  nowMs: number,
  facts: Pick<ActionState, "command" | "floating_ip" | "server" | "from_server" | "zone" | "firewall" | "outcome">,
): ActionState {
  const started = timeText(nowMs);
  const ends = timeText(nowMs + state.settings.action_delay_ms);
  const action: ActionState = { id: state.next.id, status: "running", started, ends, ...facts };
  state.next.id += 1;
  state.actions.push(action);
  return action;
}

/** Carries out every action whose time has come, in the order they end, and forgets the oldest. */
export function settle(state: ProjectState, nowMs: number): void {
  const due = state.actions.filter(({ status, ends }) => status === "running" && Date.parse(ends) <= nowMs);
  for (const action of due.toSorted((a, b) => Date.parse(a.ends) - Date.parse(b.ends) || a.id - b.id)) {
    action.status = action.outcome;
    const changed = state.firewalls.find(({ id }) => id === action.firewall);
    if (changed !== undefined && action.server != null && action.outcome === "error")
      changed.failed.push(action.server);
    const moved = state.floating_ips.find(({ id }) => id === action.floating_ip);
    if (moved === undefined || action.outcome === "error") continue;
    const isThere = action.server === null || state.servers.some(({ id }) => id === action.server);
    if (isThere) moved.server = action.server ?? null;
    else action.status = "error";
  }
  const ended = state.actions.filter(({ status }) => status !== "running");
  const old = new Set(ended.slice(0, Math.max(0, ended.length - KEPT_ACTIONS)));
  state.actions = state.actions.filter((action) => !old.has(action));
}

/** The server that a floating IP reads: some say the new one while their action runs. */
export function shownServer(state: ProjectState, { id, server }: FloatingIPState): number | null {
  const running = state.actions.find((action) => action.status === "running" && action.floating_ip === id);
  return state.settings.shows_target_early && running !== undefined ? (running.server ?? null) : server;
}
