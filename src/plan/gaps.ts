import type { DNSFacts } from "../model/dns.ts";
import type { FirewallFacts } from "../model/firewall.ts";
import { putOffAt } from "../model/lease-notes.ts";
import type { Observation, ProviderFacts } from "../model/observation.ts";
import type { Gap } from "../model/plan.ts";
import { compareText } from "../model/resource.ts";
import { timestamp } from "../model/time.ts";
import { undecidedText } from "./holds.ts";

/** So many unreadable objects of the cluster are named; the others are counted. */
const NAMED = 20;

/**
 * Everything that could not be read: kinds the cluster does not know, its nodes, pods and EndpointSlices, whole providers, addresses, zones, names and firewalls. The cluster
 * first, then addresses, DNS, firewalls; sorted within each provider. Pure.
 */
export function findGaps(observation: Observation): readonly Gap[] {
  const { providers, dns, firewalls } = observation;
  const gaps = [...providers.values()].flatMap(addressGaps);
  const known = new Set(gaps.map(({ provider, subject, error }) => `${provider} ${subject} ${error}`));
  const named = [...sortedByName(dns).flatMap(dnsGaps), ...sortedByName(firewalls).flatMap(firewallGaps)].filter(
    ({ provider, subject, error }) => !known.has(`${provider} ${subject} ${error}`),
  );
  return [...clusterGaps(observation), ...gaps, ...named];
}

function clusterGaps({ missingKinds, nodes, pods }: Observation): readonly Gap[] {
  const missing = missingKinds.map(({ resource, error }) => ({ subject: resource, error }));
  const broken = nodes.flatMap((node) =>
    node.unreadable === undefined
      ? []
      : [{ subject: node.name, error: undecidedText(node, `${node.unreadable} cannot be read`) }],
  );
  const served = [...pods.values()].flatMap((reading) =>
    [...(reading.kind === "read" ? reading.byNode.values() : [])].flatMap(({ unreadable }) => unreadable ?? []),
  );
  const serving = [...new Set(served)].map((subject) => ({ subject, error: `${subject} cannot be read` }));
  const all = [...sorted(broken), ...sorted(serving)];
  const rest = all.length - NAMED;
  const more = rest > 0 ? [{ subject: "", error: `${rest} more nodes, pods or EndpointSlices cannot be read` }] : [];
  return [...missing, ...all.slice(0, NAMED), ...more].map((gap) => ({ provider: "kubernetes", ...gap }));
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

function dnsGaps(facts: DNSFacts): readonly Gap[] {
  const { name, unusable, zones, records } = facts;
  if (unusable !== undefined) return [{ provider: name, subject: "", error: unusable.message }];
  const unread = [
    ...[...zones].map(([zone, fact]) => ({ subject: zone, fact })),
    ...[...records].map(([key, fact]) => ({ subject: key.slice(key.indexOf(" ") + 1), fact })),
  ];
  return [
    ...sorted(
      unread.flatMap(({ subject, fact }) =>
        fact.kind === "gap" && fact.putOffUntilMs === undefined ? [{ provider: name, subject, error: fact.error }] : [],
      ),
    ),
    ...putOffGaps(facts),
  ];
}

/** Names that were not looked at are told of together. */
function putOffGaps(facts: DNSFacts): readonly Gap[] {
  const putOff = putOffAt(facts);
  if (putOff === undefined) return [];
  const { names, untilMs } = putOff;
  const many = names === 1 ? "1 name was" : `${names} names were`;
  const error = `${many} not looked at, because the calls that are left are kept for what is more urgent; the next look is due at ${timestamp(untilMs)}`;
  return [{ provider: facts.name, subject: "", error, putOff: { names, untilMs } }];
}

function sorted<T extends Pick<Gap, "subject">>(gaps: readonly T[]): readonly T[] {
  return gaps.toSorted((a, b) => compareText(a.subject, b.subject));
}
