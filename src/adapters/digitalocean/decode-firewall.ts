import { type Firewall, type FirewallRule, portRange, portText } from "../../model/firewall.ts";
import type { AnswerValue } from "../provider-http/answer-value.ts";
import { answeredID } from "./answered-id.ts";
import { ANYBODY, writtenPorts } from "./open-rule.ts";

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Returns the firewall in a `firewall` object. Every list may be null. Its progress is what `status` and `pending_changes` say
 * (DigitalOcean's OpenAPI, 2026-08-07: a change is pending per droplet):
 * 1. A droplet that a pending change names is pending, or failed where that change is `failed`. An entry that `succeeded` is over.
 * 2. The whole firewall is waiting while a pending change names no droplet (absent, or 0), or the status is `waiting` and no
 *    change is pending.
 * 3. A status that is not known yet counts as `waiting`. With `failed` the provider has given up, so nothing is waited for.
 * @throws AnswerFault
 */
export function decodeFirewall(value: AnswerValue): Firewall {
  const inbound = listAt(value, "inbound_rules");
  return {
    id: value.at("id").textLike(uuid, "a UUID").toLowerCase(),
    name: value.at("name").text(),
    rules: inbound.flatMap((rule) => decodeRule(rule) ?? []).sort(byPorts),
    ruleCount: inbound.length + listAt(value, "outbound_rules").length,
    machineIDs: sortedTexts(listAt(value, "droplet_ids").map(answeredID)),
    tags: sortedTexts(listAt(value, "tags").map((tag) => tag.text())),
    ...decodeProgress(value),
  };
}

function decodeProgress(value: AnswerValue): Pick<Firewall, "isWaiting" | "pendingMachineIDs" | "failedMachineIDs"> {
  const changes = listAt(value, "pending_changes").map((change) => {
    const droplet = change.at("droplet_id");
    const isNamed = !droplet.isAbsent && droplet.raw !== 0;
    return { ids: isNamed ? [answeredID(droplet)] : [], status: statusAt(change) };
  });
  const pending = changes.filter(({ status }) => status !== "failed" && status !== "succeeded");
  const status = statusAt(value);
  const isAtRest = status === undefined || status === "succeeded" || status === "failed";
  const pendingMachineIDs = sortedTexts(pending.flatMap(({ ids }) => ids));
  const failed = sortedTexts(changes.flatMap((change) => (change.status === "failed" ? change.ids : [])));
  return {
    isWaiting: pending.some(({ ids }) => ids.length === 0) || (!isAtRest && pending.length === 0),
    pendingMachineIDs,
    failedMachineIDs: failed.filter((id) => !pendingMachineIDs.includes(id)),
  };
}

function statusAt(value: AnswerValue): string | undefined {
  const status = value.at("status");
  return status.isAbsent ? undefined : status.text();
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
