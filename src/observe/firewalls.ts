import { ProviderError } from "../model/errors.ts";
import {
  type Firewall,
  type FirewallFact,
  type FirewallFacts,
  type FirewallMemory,
  shownPorts,
} from "../model/firewall.ts";
import { compareText, type Pool } from "../model/resource.ts";
import type { FirewallProviderReader, IPProviderReader } from "../ports/providers.ts";
import { withTrueMachines } from "../ports/true-holder.ts";
import { type AskOptions, refusalOf, unusableWhy } from "./asking.ts";
import { factKey } from "./reusable-facts.ts";

/** What one provider of firewalls is asked for. */
export interface ReadFirewallsOptions extends AskOptions<FirewallProviderReader> {
  readonly pools: readonly Pool[];
  /** Reads machines of the same account. Absent = nothing can. */
  readonly machines?: Pick<IPProviderReader, "machineAddresses">;
}

const NO_LIMITS = { rules: 0, machines: 0 };

/** What objects ask a provider of firewalls, as a text; undefined when none names it. Pure. */
export function askedOfFirewalls({ name, pools }: Pick<ReadFirewallsOptions, "name" | "pools">): string | undefined {
  const { wished, changed } = wantedFirewalls(name, pools);
  const all = [...wished, ...changed.keys()];
  return all.length === 0 ? undefined : JSON.stringify([...new Set(all)].toSorted(compareText));
}

/**
 * Reads the firewalls that objects name, or that were changed for them, or why that cannot be done; undefined when no object does. One call per page of the list, more where machines say what is in force, and
 * one per tag of those that are named. A list may lag behind: one that was changed is gone only when the list and a single read say so, and where a list lacks
 * something on record the single read counts. Never throws for a provider's failure.
 */
export async function readFirewalls(options: ReadFirewallsOptions): Promise<FirewallFacts | undefined> {
  const { name, access } = options;
  const asked = wantedFirewalls(name, options.pools);
  const wanted = [...asked.wished, ...asked.changed.keys()];
  if (wanted.length === 0) return undefined;
  const none = { name, limits: NO_LIMITS, firewalls: new Map() };
  const why = unusableWhy(options);
  if (why !== undefined || access.kind === "no-token") return why === undefined ? none : { ...none, unusable: why };
  const known = stillKnown(options, wanted);
  if (known !== undefined) return known;
  const { provider } = access;
  const facts = { ...none, limits: provider.firewallLimits };
  try {
    return { ...facts, firewalls: await findAll(provider, asked, options.machines) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.concernsProvider) return { ...facts, unusable: refusalOf(error, options.skewMs()) };
    return { ...facts, firewalls: new Map(wanted.map((one) => [one, { kind: "gap", error: error.message }])) };
  }
}

/** What earlier passes left, where it says all that is wanted and nothing of it is to be read again. */
function stillKnown({ name, reusable }: ReadFirewallsOptions, wanted: readonly string[]): FirewallFacts | undefined {
  const known = reusable?.facts.firewalls.get(name);
  if (reusable === undefined || known === undefined) return undefined;
  const { unusable } = known;
  // The time of a rate limit is over: else nobody would ask.
  if (unusable?.kind === "rate-limited") return undefined;
  if (unusable !== undefined) return reusable.isDue(factKey("firewalls", name)) ? undefined : known;
  return wanted.every((one) => known.firewalls.has(one) && !reusable.isDue(factKey("firewall", name, one)))
    ? known
    : undefined;
}

/** What objects name, by name or id, and what was changed for them: by id, what they have on record there. */
interface WantedFirewalls {
  readonly wished: readonly string[];
  readonly changed: ReadonlyMap<string, readonly FirewallMemory[]>;
}

function wantedFirewalls(provider: string, pools: readonly Pool[]): WantedFirewalls {
  const wished = pools.flatMap(({ firewall }) => (firewall?.provider === provider ? [firewall.firewall] : []));
  const memories = pools.flatMap(({ status }) => status.firewalls ?? []).filter((one) => one.provider === provider);
  return { wished: [...new Set(wished)], changed: Map.groupBy(memories, ({ id }) => id) };
}

async function findAll(
  provider: FirewallProviderReader,
  { wished, changed }: WantedFirewalls,
  machinesOfAccount: ReadFirewallsOptions["machines"],
): Promise<ReadonlyMap<string, FirewallFact>> {
  const listed = await provider.listFirewalls();
  const shownIn = new Map(listed.map((firewall) => [firewall.id, firewall]));
  const doubted = [...changed].filter(([id, memories]) => !showsAll(shownIn.get(id), memories)).map(([id]) => id);
  const readSingle = async (id: string): Promise<Firewall | undefined> => {
    const [onRecord] = changed.get(id)?.flatMap(({ machineIDs }) => machineIDs) ?? [];
    return await withTrueMachines(machinesOfAccount, await provider.getFirewall(id), onRecord);
  };
  const single = new Map(await Promise.all(doubted.map(async (id) => [id, await readSingle(id)] as const)));
  const others = listed.filter(({ id }) => single.get(id) === undefined);
  const all = [...others, ...[...single.values()].filter((firewall) => firewall !== undefined)];
  const wanted = [...new Set([...wished, ...changed.keys()])];
  const found = wanted.map((one) => ({ one, matches: all.filter(({ id, name }) => id === one || name === one) }));
  const tags = [...new Set(found.flatMap(({ matches }) => matches.flatMap((firewall) => firewall.tags)))];
  const machines = new Map<string, ReadonlySet<string>>();
  for (const tag of tags) machines.set(tag, await provider.machinesWithTag(tag));
  return new Map(
    found.map(({ one, matches }) => {
      const fact = factOf(one, matches, machines);
      const isDisputed = fact.kind === "known" && single.has(fact.firewall.id) && !single.get(fact.firewall.id);
      return [one, isDisputed ? DISPUTED : fact];
    }),
  );
}

const DISPUTED: FirewallFact = { kind: "gap", error: "the list of firewalls shows it, and by itself it is not there" };

/** True when a firewall shows everything that was added to it. */
function showsAll(firewall: Firewall | undefined, memories: readonly FirewallMemory[]): boolean {
  if (firewall === undefined) return false;
  const shown = new Set([...shownPorts(firewall), ...firewall.machineIDs]);
  return memories.every(({ ports, machineIDs }) => [...ports, ...machineIDs].every((part) => shown.has(part)));
}

function factOf(
  wanted: string,
  matches: readonly Firewall[],
  machines: ReadonlyMap<string, ReadonlySet<string>>,
): FirewallFact {
  const [first, ...others] = matches;
  const firewall = matches.find(({ id }) => id === wanted) ?? (others.length === 0 ? first : undefined);
  if (first === undefined) return { kind: "gone" };
  if (firewall === undefined) return { kind: "ambiguous", ids: matches.map(({ id }) => id).toSorted() };
  const tagged = firewall.tags.flatMap((tag) => [...(machines.get(tag) ?? [])]);
  return { kind: "known", firewall, taggedMachineIDs: new Set(tagged) };
}
