import type { KnownFacts } from "../model/observation.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Pass } from "../model/run.ts";

/**
 * What of the world as a pass left it is believed without another look. Where something did not go as planned the addresses are not, or the names: an address that the
 * provider is still at work on says nothing of names, and of those every look costs a call at a provider. Pure.
 */
export function believed({ result: { outcomes }, world }: Pass): KnownFacts {
  const doubts = outcomes.filter(({ outcome }) => outcome !== "applied");
  return {
    providers: doubts.every((doubt) => isAboutName(doubt) || isAboutFirewall(doubt)) ? world.providers : new Map(),
    firewalls: doubts.some(isAboutFirewall) ? new Map() : world.firewalls,
    dns: doubts.some(isAboutName) ? new Map() : world.dns,
  };
}

function isAboutFirewall({ action }: Outcome): boolean {
  return "firewall" in action;
}

function isAboutName({ action }: Outcome): boolean {
  return "dnsProvider" in action;
}
