import type { Action, WriteDNS } from "../../model/action.ts";
import { nameKey, publishedKey } from "./name-claims.ts";
import type { ObjectNames } from "./plan-dns.ts";

/**
 * The actions, each write of a name with those of the addresses leaving it that no object has on record there: flipop did not write them. What an object manages counts as
 * its own even where its record is lost. Pure.
 */
export function withUnrecorded(actions: readonly Action[], names: readonly ObjectNames[]): readonly Action[] {
  const recorded = new Map<string, Set<string>>();
  const enter = (key: string, addresses: readonly string[]): void => {
    recorded.set(key, new Set([...(recorded.get(key) ?? []), ...addresses]));
  };
  for (const { publisher } of names) {
    const { memory, target, managed } = publisher;
    for (const name of [...(memory.publishedDNS === undefined ? [] : [memory.publishedDNS]), ...memory.formerDNS])
      enter(publishedKey(name), [...name.addresses, ...managed]);
    if (target.kind !== "none" && target.name !== undefined) enter(nameKey(target.name), managed);
  }
  return actions.map((action) => {
    if (!("fqdn" in action)) return action;
    const known = recorded.get(nameKey({ provider: action.dnsProvider, fqdn: action.fqdn }));
    const unrecorded = leaving(action).filter((address) => known?.has(address) !== true);
    return unrecorded.length === 0 ? action : { ...action, unrecorded };
  });
}

function leaving({ before, after }: WriteDNS): readonly string[] {
  return before.addresses.filter((address) => !after.addresses.includes(address));
}
