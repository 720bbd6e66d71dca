import type { Action } from "../model/action.ts";
import { ACTIONS, changesName, providerOf } from "../model/action-kinds.ts";
import type { DNSFacts } from "../model/dns.ts";
import { addressesWithout } from "../model/dns.ts";
import type { Observation } from "../model/observation.ts";
import type { ProviderBudget } from "../model/plan.ts";
import type { AddressTraits } from "../model/provider.ts";
import { compareText } from "../model/resource.ts";

/** How many assignments one confirming read covers: they are confirmed together, from a page of the list. */
const CONFIRMED_PER_READ = 200;

/** Calls the actions will take when nothing is slow, and the account's quota; one entry per provider that was read, in order of name. */
export function providerBudgets(observation: Observation, actions: readonly Action[]): readonly ProviderBudget[] {
  const names = [...new Set([...observation.providers.keys(), ...observation.dns.keys()])];
  return names.toSorted(compareText).map((provider) => {
    const { addressCount, addressLimit } = observation.providers.get(provider) ?? {};
    const { allowance, addresses: traits } = observation.registry.get(provider) ?? {};
    return {
      provider,
      calls: addressCalls(provider, actions) + dnsCalls(observation.dns.get(provider), actions),
      ...(allowance === undefined ? {} : { allowance }),
      ...(addressCount === undefined ? {} : countOf(addressCount, traits)),
      ...(addressLimit === undefined ? {} : { addressLimit }),
      ...(addressCount !== undefined && traits?.needsHost === true ? hostsOf(provider, observation) : {}),
    };
  });
}

function countOf(
  addressCount: number,
  traits: AddressTraits | undefined,
): Pick<ProviderBudget, "addressCount" | "isFloating"> {
  return traits?.isFloating === true ? { addressCount, isFloating: true } : { addressCount };
}

/** Whether `flipop host` puts the addresses of a provider's objects on the hosts, which nothing shows. */
function hostsOf(name: string, { pools }: Observation): Pick<ProviderBudget, "isHostUnseen" | "managedHosts"> {
  const own = pools.filter(({ spec: { provider } }) => provider === name);
  const managed = own.filter(({ spec: { hostAddress } }) => hostAddress === "Managed");
  const managedHosts = { areAll: managed.length === own.length };
  return { isHostUnseen: true, ...(managed.length === 0 ? {} : { managedHosts }) };
}

function addressCalls(provider: string, actions: readonly Action[]): number {
  const own = actions.filter((action) => providerOf(action) === provider);
  const direct = own.reduce((sum, { kind }) => sum + ACTIONS[kind].calls, 0);
  const confirming = own.filter(({ kind }) => ACTIONS[kind].isConfirmed).length;
  return direct + Math.ceil(confirming / CONFIRMED_PER_READ);
}

/** One read of the name, then one batch, or one call per record that ends up different. */
function dnsCalls(facts: DNSFacts | undefined, actions: readonly Action[]): number {
  return actions.reduce((sum, action) => {
    if (!changesName(action) || facts === undefined || action.dnsProvider !== facts.name) return sum;
    const { before, after } = action;
    const added = addressesWithout(after.addresses, before.addresses).length;
    const removed = addressesWithout(before.addresses, after.addresses).length;
    // A record that leaves is turned into one that comes, or deleted; a new TTL takes one write.
    return sum + 1 + (facts.isBatched ? 1 : Math.max(added + removed, 1));
  }, 0);
}
