// What Hetzner says of firewalls and of the servers behind them, and the rules that flipop writes.

import {
  EVERYBODY,
  FIREWALL_LABEL,
  type FirewallRule,
  familiesIn,
  type OtherFirewalls,
  type PortRange,
  portRange,
  portText,
} from "../../model/firewall.ts";
import { ANY, choose, type Fields, fieldsOf, list, map, maybe, object, type Schema, TEXT } from "../http/answer.ts";
import { ID } from "./api.ts";

/** The description of the rules that flipop writes. */
export const RULE_MARK = "flipop";

/** A rule as it is shown, and as it is written again. */
export interface Rule {
  /** Absent for one that flipop does not understand, or for what goes out. */
  readonly inbound?: FirewallRule;
  readonly written: Fields;
  /** A field of it that the API did not have when this was written (2026-11-26). */
  readonly unknownField?: string;
}

/** Returns the rules with one that lets everybody in on each of these ports. Pure. */
export function withPorts(rules: readonly Rule[], ports: readonly PortRange[]): readonly Rule[] {
  const open = new Set(rules.flatMap(({ inbound }) => (inbound?.isPlain ? portText(inbound.ports) : [])));
  return [...rules, ...ports.filter((one) => !open.has(portText(one))).map((one) => ({ written: openRule(one) }))];
}

/** Returns the rules without those of flipop for exactly these ports. Pure. */
export function withoutPorts(rules: readonly Rule[], ports: readonly PortRange[]): readonly Rule[] {
  const closing = new Set(ports.map(portText));
  return rules.filter(({ inbound }) => !(inbound?.isPlain === true && closing.has(portText(inbound.ports))));
}

/** The rule that lets everybody in on these ports. */
function openRule(ports: PortRange): Fields {
  const port = ports.protocol === "icmp" ? {} : { port: writtenPorts(ports) };
  return { direction: "in", protocol: ports.protocol, ...port, source_ips: EVERYBODY, description: RULE_MARK };
}

function writtenPorts({ from, to }: PortRange): string {
  return from === to ? String(from) : `${from}-${to}`;
}

const FIELDS_OF_RULES: ReadonlySet<string> = new Set([
  "direction",
  "protocol",
  "port",
  "source_ips",
  "destination_ips",
  "description",
]);

const SHOWN_RULE = object({
  direction: TEXT,
  protocol: TEXT,
  port: maybe(TEXT),
  source_ips: maybe(list(TEXT)),
  description: maybe(TEXT),
});

/** Reads a rule. What the API shows as null or empty is not written again. */
const RULE: Schema<Rule> = choose((fields) =>
  map(SHOWN_RULE, ({ direction, protocol, port = "", source_ips: sources = [], description }) => {
    const unknownField = Object.keys(fields).find((field) => !FIELDS_OF_RULES.has(field));
    const ports = direction === "in" ? portRange(protocol, port) : undefined;
    const isPlain =
      description === RULE_MARK &&
      sources.length === EVERYBODY.length &&
      EVERYBODY.every((one) => sources.includes(one));
    return {
      written: Object.fromEntries(Object.entries(fields).filter(([, value]) => !isNothing(value))),
      ...(ports === undefined ? {} : { inbound: { ports, openTo: familiesIn(new Set(sources)), isPlain } }),
      ...(unknownField === undefined ? {} : { unknownField }),
    };
  }),
);

function isNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** A firewall as the API shows it. */
export interface FirewallAnswer {
  readonly id: string;
  readonly name: string;
  readonly isLabelled: boolean;
  readonly rules: readonly Rule[];
  /** Servers that it names one by one, label selectors, and the servers that those select now. */
  readonly servers: readonly string[];
  readonly selectors: readonly string[];
  readonly selected: readonly string[];
}

const SERVER_ID = object({ id: ID });

interface Applied {
  readonly server?: string;
  readonly selector?: string;
  readonly selected: readonly string[];
}

/** Reads one entry of `applied_to`: a server, or a label selector with the servers that it selects now. What else there may be is none of both. */
const APPLIED: Schema<Applied> = choose<Applied>(({ type }) => {
  if (type === "server")
    return map(object({ server: SERVER_ID }), ({ server }) => ({ server: server.id, selected: [] }));
  if (type !== "label_selector") return map(object({ type: TEXT }), () => ({ selected: [] }));
  const resource = map(object({ server: maybe(SERVER_ID) }), ({ server }) => server?.id);
  return map(
    object({ label_selector: object({ selector: TEXT }), applied_to_resources: maybe(list(resource)) }),
    ({ label_selector: { selector }, applied_to_resources: selected = [] }) => ({
      selector,
      selected: selected.flatMap((id) => id ?? []),
    }),
  );
});

/** Reads a firewall. */
export const FIREWALL: Schema<FirewallAnswer> = map(
  object({ id: ID, name: TEXT, labels: maybe(ANY), rules: list(RULE), applied_to: list(APPLIED) }),
  ({ id, name, labels, rules, applied_to: applied }) => ({
    id,
    name,
    isLabelled: fieldsOf(labels)[FIREWALL_LABEL] === "true",
    rules,
    servers: applied.flatMap(({ server }) => server ?? []),
    selectors: applied.flatMap(({ selector }) => selector ?? []),
    selected: applied.flatMap(({ selected }) => selected),
  }),
);

/** What a server says of its firewalls. */
export interface Server {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Firewall id → `applied` or `pending`. */
  readonly firewalls: ReadonlyMap<string, string>;
}

/** Reads a server. */
export const SERVER: Schema<Server> = map(
  object({ id: ID, labels: maybe(ANY), public_net: object({ firewalls: list(object({ id: ID, status: TEXT })) }) }),
  ({ id, labels, public_net: { firewalls } }) => ({
    id,
    labels: fieldsOf(labels) as Readonly<Record<string, string>>,
    firewalls: new Map(firewalls.map((firewall) => [firewall.id, firewall.status])),
  }),
);

/** An action that this process has begun at a firewall, and where it is carried out; absent = at the firewall as a whole. */
export interface Begun {
  readonly actionID: string;
  readonly server?: string;
}

/** Returns how many firewalls a server is behind beside one. Pure. */
export function otherFirewalls({ firewalls }: Server, id: string): OtherFirewalls {
  const others = [...firewalls].filter(([other]) => other !== id);
  const inForce = others.filter(([, status]) => status === "applied").length;
  return { inForce, pending: others.length - inForce };
}

/** Reads an action that was begun, and the server that it is about. */
export const BEGUN: Schema<Begun> = map(
  object({ id: ID, resources: maybe(list(object({ id: ID, type: TEXT }))) }),
  ({ id: actionID, resources = [] }) => {
    const server = resources.find(({ type }) => type === "server");
    return { actionID, ...(server === undefined ? {} : { server: server.id }) };
  },
);
