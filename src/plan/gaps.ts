import type { DNSFacts } from "../model/dns.ts";
import type { FirewallFacts } from "../model/firewall.ts";
import { putOffAt } from "../model/lease-notes.ts";
import type { Observation, ProviderFacts } from "../model/observation.ts";
import { GAP_SUBJECTS, type Gap, type GapSubject } from "../model/plan.ts";
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
  const all: readonly Gap[] = [
    ...about("address", [...providers.values()].flatMap(addressGaps)),
    ...about("name", sortedByName(dns).flatMap(dnsGaps)),
    ...about("firewall", sortedByName(firewalls).flatMap(firewallGaps)),
  ];
  // One account that does not answer is one gap, whatever was asked of it.
  const same = Map.groupBy(all, ({ provider, subject, error }) => `${provider} ${subject} ${error}`);
  const gaps = [...same.values()].flatMap((alike) => {
    const subjects = GAP_SUBJECTS.filter((subject) => alike.some((gap) => gap.about.includes(subject)));
    return alike.slice(0, 1).map((gap) => ({ ...gap, about: subjects }));
  });
  return [...clusterGaps(observation), ...gaps];
}

/** A gap of one provider, before it is told what it is about. */
type Unread = Omit<Gap, "about">;

function about(subject: GapSubject, gaps: readonly Unread[]): readonly Gap[] {
  return gaps.map((gap) => ({ ...gap, about: [subject] }));
}

function clusterGaps({ missingKinds, nodes, pods }: Observation): readonly Gap[] {
  const missing = missingKinds.map(({ resource, error }) => ({ subject: resource, error }));
  const broken = nodes
    .filter((node) => node.unreadable !== undefined)
    .map((node) => ({ subject: node.name, error: undecidedText(node, `${node.unreadable} cannot be read`) }));
  const served = [...pods.values()].flatMap((reading) =>
    [...(reading.kind === "read" ? reading.byNode.values() : [])].flatMap(({ unreadable }) => unreadable ?? []),
  );
  const serving = [...new Set(served)].map((subject) => ({ subject, error: `${subject} cannot be read` }));
  const all = [...sorted(broken), ...sorted(serving)];
  const rest = all.length - NAMED;
  const more = rest > 0 ? [{ subject: "", error: `${rest} more nodes, pods or EndpointSlices cannot be read` }] : [];
  return [...missing, ...all.slice(0, NAMED), ...more].map((gap) => ({
    provider: "kubernetes",
    about: GAP_SUBJECTS,
    ...gap,
  }));
}

function sortedByName<T extends { readonly name: string }>(facts: ReadonlyMap<string, T>): readonly T[] {
  return [...facts.values()].toSorted((a, b) => compareText(a.name, b.name));
}

function firewallGaps({ name, unusable, firewalls }: FirewallFacts): readonly Unread[] {
  if (unusable !== undefined) return [{ provider: name, subject: "", error: unusable.message }];
  return sorted(
    [...firewalls].flatMap(([subject, fact]) =>
      fact.kind === "gap" ? [{ provider: name, subject: `firewall ${subject}`, error: fact.error }] : [],
    ),
  );
}

function addressGaps({ name, unusable, addresses }: ProviderFacts): readonly Unread[] {
  if (unusable !== undefined) return [{ provider: name, subject: "", error: unusable.message }];
  return sorted(
    [...addresses].flatMap(([subject, fact]) =>
      fact.kind === "gap" ? [{ provider: name, subject, error: fact.error }] : [],
    ),
  );
}

function dnsGaps(facts: DNSFacts): readonly Unread[] {
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
function putOffGaps(facts: DNSFacts): readonly Unread[] {
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
