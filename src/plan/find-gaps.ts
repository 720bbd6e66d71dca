import type { DNSFacts } from "../model/dns.ts";
import type { Observation, ProviderFacts } from "../model/observation.ts";
import type { Gap } from "../model/plan.ts";
import { compareText } from "./object-order.ts";

/** Everything that could not be read: a kind the cluster does not know, whole providers, addresses, zones and names. Addresses first, then DNS; sorted within each provider. Pure. */
export function findGaps({ providers, dns, recordSetsMissing }: Observation): readonly Gap[] {
  const missing =
    recordSetsMissing === undefined
      ? []
      : [{ provider: "kubernetes", subject: "nodednsrecordsets", error: recordSetsMissing }];
  const gaps = [...providers.values()].flatMap(addressGaps);
  const known = new Set(gaps.map(({ provider, subject, error }) => `${provider} ${subject} ${error}`));
  const named = [...dns.values()]
    .toSorted((a, b) => compareText(a.name, b.name))
    .flatMap(dnsGaps)
    .filter(({ provider, subject, error }) => !known.has(`${provider} ${subject} ${error}`));
  return [...missing, ...gaps, ...named];
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
