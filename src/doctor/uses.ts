import { recordedProvider } from "../model/acquisition-memory.ts";
import { sourceNamed } from "../model/address-source.ts";
import { GAP_SUBJECTS, type GapSubject } from "../model/plan.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import type { Objects } from "./facts.ts";

/** What objects want of one provider. */
export interface ProviderUse {
  readonly provider: string;
  /** The sources of its addresses, as `sourceText` names them; sorted. */
  readonly sources: readonly string[];
  readonly hasFirewalls: boolean;
  /** Sorted. */
  readonly zones: readonly string[];
  /** True where nobody knows yet which names and firewalls are wanted. */
  readonly isGuess?: true;
}

/** What of a provider is looked at: where it does not answer, that is not known. Pure. */
export function subjectsOf({ sources, hasFirewalls, zones }: ProviderUse): readonly GapSubject[] {
  const isUsed = { address: sources.length > 0, name: zones.length > 0, firewall: hasFirewalls };
  return GAP_SUBJECTS.filter((subject) => isUsed[subject]);
}

/** Returns what objects want of each provider that flipop knows, sorted by name. Pure. */
export function providerUses(objects: Objects, registry: ProviderRegistry): readonly ProviderUse[] {
  const { pools, routedIPs, recordSets, issuers } = objects;
  const used = issuers.filter(({ meta }) =>
    routedIPs.some((one) => one.spec.issuer === meta.name && one.meta.namespace === meta.namespace),
  );
  const named = [
    ...[...pools, ...routedIPs].flatMap(({ spec }) => spec.dnsRecordSet ?? []),
    ...recordSets.map(({ spec }) => ({ ...spec.dnsRecordSet, provider: spec.provider || spec.dnsRecordSet.provider })),
  ].map(({ provider, zone }) => ({ provider: provider || registry.defaultDNS, zone }));
  const nameOf = (source: string): string => sourceNamed(source).provider;
  const stated = [...pools, ...used].map(({ spec }) => spec.provider);
  // An object that names another provider by now is cleaned up where it acquired its addresses.
  const recorded = [...pools, ...routedIPs].flatMap(({ status }) => recordedProvider(status) ?? []);
  const addressed = [...stated, ...recorded.filter((provider) => !stated.map(nameOf).includes(provider))];
  const guarded = used.filter(({ spec }) => spec.firewallName !== "").map(({ spec }) => nameOf(spec.provider));
  const all = [...new Set([...addressed.map(nameOf), ...named.map(({ provider }) => provider)])].toSorted();
  return all
    .filter((provider) => registry.get(provider) !== undefined)
    .map((provider) => ({
      provider,
      sources: [...new Set(addressed.filter((source) => nameOf(source) === provider))].toSorted(),
      hasFirewalls: guarded.includes(provider),
      zones: [...new Set(named.filter((one) => one.provider === provider).map(({ zone }) => zone))].toSorted(),
    }));
}
