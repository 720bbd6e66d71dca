import { membersOf, Refusal } from "../provider.ts";
import { unprocessable } from "./calls.ts";

/** The rules that a request is about. */
export interface RulesRequest {
  readonly inbound: readonly InboundState[];
  readonly outbound: readonly OutboundState[];
}

const targetKinds = ["addresses", "droplet_ids", "load_balancer_uids", "kubernetes_ids", "tags"] as const;
const protocols = ["tcp", "udp", "icmp"] as const;

/**
 * The rules in a body, `ports` as they are asked for.
 * @throws Refusal 400 for a body of another form, 422 for values that cannot be. Of the texts those of the ports and of
 *   addresses are known to be DigitalOcean's own.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/issues/367 verified 2026-11-21
 */
export function readRules(body: unknown): RulesRequest {
  const fields = objectOf(body);
  const inbound = listOf(fields["inbound_rules"]).map((rule) => ({
    ...readRule(rule),
    sources: readTarget(objectOf(rule)["sources"]),
  }));
  const outbound = listOf(fields["outbound_rules"]).map((rule) => ({
    ...readRule(rule),
    destinations: readTarget(objectOf(rule)["destinations"]),
  }));
  if (inbound.length + outbound.length === 0) throw unprocessable("Inbound or outbound rules must be given.");
  return { inbound, outbound };
}

/**
 * The droplets in a body.
 * @throws Refusal 400
 */
export function readDropletIDs(body: unknown): readonly number[] {
  const ids = listOf(objectOf(body)["droplet_ids"]);
  if (ids.length === 0 || !ids.every((id) => Number.isSafeInteger(id))) throw badRequest();
  return ids as readonly number[];
}

/** A rule as the account keeps it: `all`, and anything for icmp, becomes `0`. */
export function keptRule<R extends Pick<InboundState, "protocol" | "ports">>(rule: R): R {
  return rule.ports === "all" || rule.protocol === "icmp" ? { ...rule, ports: "0" } : rule;
}

/** What makes two rules the same: every value, lists as sets, spelled as it is; of icmp the ports do not count. */
export function ruleKey(rule: InboundState | OutboundState): string {
  const { protocol, ports, action = "allow" } = rule;
  const target = "sources" in rule ? rule.sources : rule.destinations;
  const sets = targetKinds.map((kind) => [...new Set((target[kind] ?? []).map(String))].sort());
  return JSON.stringify([protocol, protocol === "icmp" ? "0" : ports, action, sets]);
}

function readRule(value: unknown): Pick<InboundState, "protocol" | "ports" | "action"> {
  const { protocol: asked, ports = "", action } = objectOf(value);
  const protocol = protocols.find((name) => name === asked);
  if (typeof ports !== "string") throw badRequest();
  if (protocol === undefined) throw unprocessable("You must specify a valid protocol.");
  if (protocol !== "icmp" && !arePorts(ports)) throw unprocessable("You must specify a valid range for ports.");
  if (action === undefined) return { protocol, ports };
  if (action !== "allow" && action !== "deny") throw unprocessable("You must specify a valid action.");
  return { protocol, ports, action };
}

function arePorts(text: string): boolean {
  if (text === "all" || text === "0") return true;
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  return from !== undefined && Number(from) >= 1 && Number(from) <= Number(to) && Number(to) <= 65_535;
}

function readTarget(value: unknown): TargetState {
  const fields = objectOf(value);
  const lists = targetKinds.map((kind) => [kind, listOf(fields[kind])] as const).filter(([, list]) => list.length > 0);
  if (lists.length === 0) throw unprocessable("You must specify sources or destinations.");
  const target = Object.fromEntries(lists) as TargetState;
  for (const address of target.addresses ?? []) {
    if (!/^[\da-f.:]+(?:\/\d{1,3})?$/i.test(String(address))) throw unprocessable("invalid address");
  }
  return target;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const fields = membersOf(value);
  if (fields === undefined) throw badRequest();
  return fields;
}

/** null is as good as absent. */
function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw badRequest();
  return value;
}

function badRequest(): Refusal {
  return new Refusal(400, "bad_request", "error parsing request body");
}

/** Whom a rule is about; a list that is not there is empty. */
export interface TargetState {
  addresses?: string[];
  droplet_ids?: number[];
  load_balancer_uids?: string[];
  kubernetes_ids?: string[];
  tags?: string[];
}

interface RuleState {
  protocol: "tcp" | "udp" | "icmp";
  /** `80`, `8000-9000`, `0` for all ports, always so for icmp. */
  ports: string;
  /** Absent = allow. */
  action?: "allow" | "deny";
}

/** A rule for what comes in. */
export interface InboundState extends RuleState {
  sources: TargetState;
}

/** A rule for what goes out. */
export interface OutboundState extends RuleState {
  destinations: TargetState;
}

/** A change that is not carried out to a droplet yet. */
interface PendingChangeState {
  droplet_id: number;
  removing: boolean;
  /** `failed` = given up at this droplet, until its next change. Absent = `waiting`. */
  status?: "waiting" | "failed";
  /** RFC 3339. Absent = it never ends by itself, not even when its droplet is deleted. */
  completes_at?: string;
}

/** A cloud firewall of the emulated account. */
export interface FirewallState {
  id: string;
  name: string;
  inbound_rules: InboundState[];
  outbound_rules: OutboundState[];
  /** Droplets attached one by one. */
  droplet_ids: number[];
  tags: string[];
  /** Written by hand: the last change was given up, or is at work without naming a droplet. The next change takes it away. */
  status?: "waiting" | "failed";
  /** Absent = none. */
  pending_changes?: PendingChangeState[];
}
