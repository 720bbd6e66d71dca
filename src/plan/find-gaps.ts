import type { DNSFacts } from "../model/dns.ts";
import type { FirewallFacts } from "../model/firewall.ts";
import type { Observation, ProviderFacts } from "../model/observation.ts";
import type { Gap } from "../model/plan.ts";
import { compareText } from "./object-order.ts";

/** Everything that could not be read: kinds the cluster does not know, whole providers, addresses, zones, names and firewalls. Addresses first, then DNS, then firewalls; sorted within each provider. Pure. */
export function findGaps({ providers, dns, firewalls, missingKinds }: Observation): readonly Gap[] {
  const missing = missingKinds.map(({ resource, error }) => ({ provider: "kubernetes", subject: resource, error }));
  const gaps = [...providers.values()].flatMap(addressGaps);
  const known = new Set(gaps.map(({ provider, subject, error }) => `${provider} ${subject} ${error}`));
  const named = [...sortedByName(dns).flatMap(dnsGaps), ...sortedByName(firewalls).flatMap(firewallGaps)].filter(
    ({ provider, subject, error }) => !known.has(`${provider} ${subject} ${error}`),
  );
  return [...missing, ...gaps, ...named];
}

function sortedByName<T extends { readonly name: string }>(facts: ReadonlyMap<string, T>): readonly T[] {
  return [...facts.values()].toSorted((a, b) => compareText(a.name, b.name));
}

function firewallGaps({ name, unusable, firewalls }: FirewallFacts): readonly Gap[] {
  if (unusable !== undefined) return [{ provider: name, subject: "", error: unusable.message }];
  return sorted(
    [...firewalls].flatMap(([subject, fact]) =>
      fact.kind === "gap" ? [{ provider: name, subject: `firewall ${subject}`, error: fact.error }] : [],
    ),
  );
}

function addressGaps({ name, unusable, addresses }: ProviderFacts): readonly Gap[] {
  if (unusable !== undefined) return [{ provider: name, subject: "", error: unusable.message }];
  return sorted(
    [...addresses].flatMap(([subject, fact]) =>
      fact.kind === "gap" ? [{ provider: name, subject, error: fact.error }] : [],
    ),
  );
}

function dnsGaps({ name, unusable, zones, records }: DNSFacts): readonly Gap[] {
  if (unusable !== undefined) return [{ provider: name, subject: "", error: unusable.message }];
  const unread = [
    ...[...zones].map(([zone, fact]) => ({ subject: zone, fact })),
    ...[...records].map(([key, fact]) => ({ subject: key.slice(key.indexOf(" ") + 1), fact })),
  ];
  return sorted(
    unread.flatMap(({ subject, fact }) =>
      fact.kind === "gap" ? [{ provider: name, subject, error: fact.error }] : [],
    ),
  );
}

function sorted(gaps: readonly Gap[]): readonly Gap[] {
  return gaps.toSorted((a, b) => compareText(a.subject, b.subject));
}
