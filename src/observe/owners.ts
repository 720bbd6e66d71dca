import { type OwnerFact, recordsKey, type UnreadDNS, type Zone } from "../model/dns.ts";
import { ProviderError, type Refusal } from "../model/errors.ts";
import { externalOwner, plainMarks, type ZoneTexts } from "../model/external-dns.ts";
import type { WantedOwner } from "../model/plan.ts";
import type { DNSProviderReader } from "../ports/providers.ts";
import { type AskOptions, concernsWholeProvider, refusalOf } from "./asking.ts";
import type { Enter } from "./looking.ts";
import { guarded } from "./names.ts";

/**
 * A zone is read whole where that takes so many calls, or no more than there are names to look at. In a longer one only those marks are read that a name has without
 * prefix and suffix.
 */
const LEAST_LIST_CALLS = 5;

/** What is asked of one DNS provider about names, as a text; undefined when nothing is. Pure. */
export function askedOfOwners(provider: string, wanted: readonly WantedOwner[]): string | undefined {
  const keys = wanted.flatMap((one) => (one.provider === provider ? [recordsKey(one.zone, one.fqdn)] : []));
  return keys.length === 0 ? undefined : JSON.stringify([...new Set(keys)]);
}

/**
 * Looks whose names are: by the texts of their zones, a list for each. What cannot be read is a gap of its names. Returns what enters it into what is known of the
 * provider. Never throws for a provider's failure.
 */
export async function readOwners(
  { name, access, skewMs }: Pick<AskOptions<DNSProviderReader>, "name" | "access" | "skewMs">,
  wanted: readonly WantedOwner[],
): Promise<Enter> {
  const own = wanted.filter(({ provider }) => provider === name);
  if (access.kind === "no-token" || own.length === 0) return (observation) => observation;
  const zones = await Promise.all(
    [...Map.groupBy(own, ({ zone }) => zone.id).values()].map((names) => ownersIn(access.provider, names, skewMs)),
  );
  const unusable = zones.find((zone) => zone.unusable !== undefined)?.unusable;
  const found = zones.flatMap(({ owners }) => owners);
  return (observation) => {
    const facts = observation.dns.get(name);
    if (facts === undefined) return observation;
    const owners = new Map([...(facts.owners ?? []), ...found]);
    const known = { ...facts, owners, ...(unusable === undefined ? {} : { unusable }) };
    return { ...observation, dns: new Map([...observation.dns, [name, known]]) };
  };
}

/** Enters that somebody has been looking for long whose names of a provider are. */
export function ownersLate(name: string): Enter {
  return (observation) => {
    const facts = observation.dns.get(name);
    if (facts === undefined) return observation;
    return { ...observation, dns: new Map([...observation.dns, [name, { ...facts, isOwnerLate: true }]]) };
  };
}

/** What was found out about names of one zone. */
interface ZoneOwners {
  /** By {@link recordsKey}. */
  readonly owners: readonly (readonly [string, OwnerFact])[];
  /** Set where the provider failed as a whole. */
  readonly unusable?: Refusal;
}

/** Whose the names of one zone are. */
async function ownersIn(
  provider: DNSProviderReader,
  names: readonly WantedOwner[],
  skewMs: () => number,
): Promise<ZoneOwners> {
  try {
    return { owners: await lookInto(provider, names, skewMs) };
  } catch (error) {
    if (!(error instanceof ProviderError) || !concernsWholeProvider(error)) throw error;
    const gap: UnreadDNS = { kind: "gap", error: error.message, isRefused: false };
    const owners = names.map(({ zone, fqdn }) => [recordsKey(zone, fqdn), gap] as const);
    return { owners, unusable: refusalOf(error, skewMs()) };
  }
}

/** Whose the names of one zone are, by {@link recordsKey}. @throws ProviderError about the provider as a whole */
async function lookInto(
  provider: DNSProviderReader,
  names: readonly WantedOwner[],
  skewMs: () => number,
): Promise<readonly (readonly [string, OwnerFact])[]> {
  const [first] = names;
  if (first === undefined) return [];
  const { zone } = first;
  const mostCalls = Math.max(LEAST_LIST_CALLS, names.length);
  const list = await guarded(async () => ({ texts: await provider.listTexts(zone, mostCalls) }), skewMs);
  if ("error" in list) return names.map(({ fqdn }) => [recordsKey(zone, fqdn), list]);
  const { texts } = list;
  const facts: (readonly [string, OwnerFact])[] = [];
  for (const { fqdn, hasRecords } of names) {
    const fact =
      texts === undefined
        ? await guarded(async () => factOf(fqdn, await plainTexts(provider, zone, fqdn), hasRecords), skewMs)
        : factOf(fqdn, texts, hasRecords);
    facts.push([recordsKey(zone, fqdn), fact]);
  }
  return facts;
}

/** The texts of those marks that a name has without prefix and suffix. */
async function plainTexts(provider: DNSProviderReader, zone: Zone, fqdn: string): Promise<ZoneTexts> {
  const inZone = plainMarks(fqdn).filter(
    (mark) => zone.name === undefined || mark === zone.name || mark.endsWith(`.${zone.name}`),
  );
  const texts = await Promise.all(inZone.map(async (mark) => provider.readTexts(zone, mark)));
  return { texts: texts.flat(), names: new Map() };
}

function factOf(fqdn: string, texts: ZoneTexts, hasRecords: boolean): OwnerFact {
  const owner = externalOwner(fqdn, texts, hasRecords);
  return owner === undefined ? { kind: "known" } : { kind: "known", owner };
}
