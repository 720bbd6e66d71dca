import type { FirewallFact, FirewallFacts } from "../../model/firewall.ts";

/** What is known of the firewall with that id, under whatever name it was asked for; undefined when it was not read. Pure. */
export function factByID(facts: FirewallFacts | undefined, id: string): FirewallFact | undefined {
  if (facts === undefined || facts.unusable !== undefined) return undefined;
  const named = [...facts.firewalls.values()].find((fact) => fact.kind === "known" && fact.firewall.id === id);
  return named ?? facts.firewalls.get(id);
}
