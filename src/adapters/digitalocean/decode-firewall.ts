import type { Firewall, FirewallRule } from "../../model/firewall.ts";
import { portRange, portText } from "../../model/port-range.ts";
import type { AnswerValue } from "../provider-http/answer-value.ts";
import { answeredID } from "./answered-id.ts";
import { ANYBODY, writtenPorts } from "./open-rule.ts";

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The firewall in a `firewall` object. Every list may be null. It is settled when no change is pending and its status is
 * `succeeded`, `failed` or absent: after `failed` the provider has given up, and waiting would never end; a status that is not
 * known yet is waited for like `waiting`.
 * @throws AnswerFault
 */
export function decodeFirewall(value: AnswerValue): Firewall {
  const inbound = listAt(value, "inbound_rules");
  const status = value.at("status");
  const isAtRest = status.isAbsent || ["succeeded", "failed"].includes(status.text());
  return {
    id: value.at("id").textLike(uuid, "a UUID").toLowerCase(),
    name: value.at("name").text(),
    rules: inbound.flatMap((rule) => decodeRule(rule) ?? []).sort(byPorts),
    ruleCount: inbound.length + listAt(value, "outbound_rules").length,
    machineIDs: sortedTexts(listAt(value, "droplet_ids").map(answeredID)),
    tags: sortedTexts(listAt(value, "tags").map((tag) => tag.text())),
    isSettled: isAtRest && listAt(value, "pending_changes").length === 0,
  };
}

/** True when a text could be the id of a firewall. */
export function isFirewallID(text: string): boolean {
  return uuid.test(text);
}

/** Undefined for a protocol that the model does not know. */
function decodeRule(value: AnswerValue): FirewallRule | undefined {
  const protocol = value.at("protocol").text();
  if (portRange(protocol, "") === undefined) return undefined;
  const written = value.at("ports");
  const text = written.isAbsent ? "" : written.text();
  const ports = portRange(protocol, text);
  if (ports === undefined) throw written.fault("a port or a range of ports");
  const action = value.at("action");
  const isAllowing = action.isAbsent || action.text() === "allow";
  const { addresses, hasOthers } = sourcesOf(value.at("sources"));
  const isExactly = ANYBODY.length === addresses.size && ANYBODY.every((address) => addresses.has(address));
  const isOurForm = ports.protocol === "icmp" || text === writtenPorts(ports);
  return {
    ports,
    isOpenToAll: isAllowing && addresses.has("0.0.0.0/0"),
    isPlain: isAllowing && isExactly && !hasOthers && isOurForm,
  };
}

/** The addresses of a rule's sources, and whether it has sources of any other kind. */
function sourcesOf(value: AnswerValue): { readonly addresses: ReadonlySet<string>; readonly hasOthers: boolean } {
  if (value.isAbsent) return { addresses: new Set(), hasOthers: false };
  const addresses = new Set(listAt(value, "addresses").map((address) => address.text()));
  const { addresses: _, ...others } = value.raw as Readonly<Record<string, unknown>>;
  return { addresses, hasOthers: Object.values(others).some((sources) => !isNothing(sources)) };
}

function isNothing(sources: unknown): boolean {
  return sources === null || (Array.isArray(sources) && sources.length === 0);
}

function listAt(value: AnswerValue, field: string): readonly AnswerValue[] {
  const list = value.at(field);
  return list.isAbsent ? [] : list.items();
}

/** Rules of the same ports in one order, too, whatever order they came in. */
function byPorts(a: FirewallRule, b: FirewallRule): number {
  const [one, other] = [portText(a.ports), portText(b.ports)];
  if (one !== other) return one < other ? -1 : 1;
  return Number(b.isPlain) - Number(a.isPlain) || Number(b.isOpenToAll) - Number(a.isOpenToAll);
}

function sortedTexts(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
