import type { FirewallMemory, PendingFirewall } from "../../model/firewall.ts";
import type { IssuerMemory, RoutedIPStatus } from "../../model/resource.ts";
import { decodePoolStatus } from "./decode-pool-status.ts";
import { asList, asRecord, asText, asTexts } from "./json-value.ts";
import { optional } from "./optional.ts";

/** `status` of a RoutedIP, read as leniently as {@link decodePoolStatus} does. Never throws. */
export function decodeRoutedIPStatus(value: unknown): RoutedIPStatus {
  const status = asRecord(value) ?? {};
  const firewalls = asList(status["firewalls"]).flatMap(decodeFirewall);
  const pendingFirewalls = asList(status["pendingFirewalls"]).flatMap(decodePending);
  return {
    ...decodePoolStatus(value),
    ...optional("address", asText(status["address"])),
    ...optional("nodeName", asText(status["nodeName"])),
    ...(firewalls.length === 0 ? {} : { firewalls }),
    ...(pendingFirewalls.length === 0 ? {} : { pendingFirewalls }),
    ...optional("issuer", decodeIssuer(status["issuer"])),
  };
}

/** A firewall that cannot be found again is dropped. */
function decodeFirewall(value: unknown): readonly FirewallMemory[] {
  const entry = asRecord(value);
  const provider = asText(entry?.["provider"]);
  const id = asText(entry?.["id"]);
  if (entry === undefined || provider === undefined || id === undefined) return [];
  const name = asText(entry["name"]) ?? "";
  return [{ provider, id, name, ports: asTexts(entry["ports"]), machineIDs: asTexts(entry["machineIDs"]) }];
}

/** An entry without its time means nothing: the change counts as pending from when it is seen again. */
function decodePending(value: unknown): readonly PendingFirewall[] {
  const entry = asRecord(value);
  const id = asText(entry?.["id"]);
  const since = asText(entry?.["since"]);
  if (entry === undefined || id === undefined || since === undefined) return [];
  const name = asText(entry["name"]) ?? "";
  return [{ id, name, ...optional("machineID", asText(entry["machineID"])), since }];
}

/** Half of it would be worse than none: nothing is deleted on a policy that was not read. */
function decodeIssuer(value: unknown): IssuerMemory | undefined {
  const entry = asRecord(value);
  const provider = asText(entry?.["provider"]);
  const reclaimPolicy = entry?.["reclaimPolicy"];
  const isPolicy = reclaimPolicy === "Retain" || reclaimPolicy === "Delete";
  return provider === undefined || !isPolicy ? undefined : { provider, reclaimPolicy };
}
