import type { FirewallFact, FirewallFacts } from "../../model/firewall.ts";
import type { LearnedFirewall, Outcome } from "../../model/run.ts";
import { rateLimitIn } from "../rate-limit-in.ts";

/**
 * The firewalls as they are known after these outcomes.
 * @param skewMs - how far the API server's clock is ahead of the local one
 */
export function foldFirewalls(
  firewalls: ReadonlyMap<string, FirewallFacts>,
  outcomes: readonly Outcome[],
  skewMs: number,
): ReadonlyMap<string, FirewallFacts> {
  return new Map(
    [...firewalls].map(([name, facts]) => {
      const own = outcomes.filter(({ action }) => "firewall" in action && action.provider === name);
      const limit = rateLimitIn(own, skewMs);
      const entered = own.reduce(
        (known, { firewall }) => (firewall === undefined ? known : enter(known, firewall)),
        facts,
      );
      return [name, limit === undefined ? entered : { ...entered, unusable: limit }] as const;
    }),
  );
}

/** A reading replaces what was known of that firewall, under whatever name it was asked for. */
function enter(facts: FirewallFacts, { id, fact }: LearnedFirewall): FirewallFacts {
  const entries = [...facts.firewalls].map(([key, known]): [string, FirewallFact] => {
    const isSame = known.kind === "known" ? known.firewall.id === id : key === id;
    return [key, isSame ? learned(known, fact) : known];
  });
  return { ...facts, firewalls: new Map(entries) };
}

function learned(known: FirewallFact, fact: LearnedFirewall["fact"]): FirewallFact {
  if (fact.kind !== "known") return fact;
  const taggedMachineIDs = known.kind === "known" ? known.taggedMachineIDs : new Set<string>();
  return { ...fact, taggedMachineIDs };
}
