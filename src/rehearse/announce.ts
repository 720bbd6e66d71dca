import type { AcquireIP, Action, RecordSetContent } from "../model/action.ts";
import { changesName } from "../model/action-kinds.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import { withBegun } from "../model/restraint.ts";
import type { Selection } from "../model/run.ts";
import { providerBudgets } from "../plan/budget.ts";
import { plan } from "../plan/plan.ts";
import { imagine } from "./imagine.ts";

/** Most times a run plans again on what it learned. */
export const MOST_ROUNDS = 25;

/**
 * The plan with everything that the same run does after it: what follows once its actions have succeeded, what is held even then, and the calls that all of it takes.
 * Each acquisition gets the text that stands for its address. Where nothing fails and nothing changes meanwhile, a run does exactly this. Pure.
 *
 * @param first - what `plan` makes of the observation and the selection
 */
export function announce(first: Plan, observation: Observation, selection: Selection): Plan {
  const addresses = unusedAddresses(observation);
  const standIns = new Map<string, string>();
  const tried = new Set<string>();
  const rounds: (readonly Action[])[] = [];
  let world = observation;
  let current = first;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const actions = current.actions.filter((action) => !tried.has(attempt(action)));
    if (actions.length === 0) break;
    for (const action of actions) tried.add(attempt(action));
    const acquiring = actions.filter(isAcquiring);
    const bought = new Map(acquiring.map(({ id }) => [id, addresses.next().value]));
    for (const ip of bought.values()) standIns.set(ip, `(new ${standIns.size + 1})`);
    rounds.push(actions.map((action) => announced(action, bought.get(action.id), standIns)));
    world = imagine(begun(world, actions), current, actions, bought);
    current = plan(world, selection);
  }
  if (rounds.length === 0) return first;
  const [actions = [], ...later] = rounds;
  const followUps = later.flat();
  return {
    ...first,
    actions,
    followUps,
    holds: current.holds.map((hold) => withStandIns(hold, standIns)),
    budget: providerBudgets(observation, [...actions, ...followUps]),
  };
}

/** What a run has begun counts for the limits of the run. */
function begun(world: Observation, actions: readonly Action[]): Observation {
  const { restraint } = world;
  return restraint === undefined ? world : { ...world, restraint: actions.reduce(withBegun, restraint) };
}

/** Names the same change of the same thing. */
function attempt({ id, before, after }: Action): string {
  return `${id} ${JSON.stringify([before, after])}`;
}

function isAcquiring(action: Action): action is AcquireIP {
  return action.kind === "acquire-ip";
}

/** Addresses that stand in a rehearsal for those that are not known yet: of the range that nobody can have, RFC 1112 section 4, and seen nowhere in the world. */
function* unusedAddresses({ pools, nodes, providers, dns }: Observation): Generator<string, never> {
  const records = [...dns.values()].flatMap((facts) => [...facts.records.values()]);
  const seen = new Set([
    ...[...providers.values()].flatMap((provider) => [...provider.addresses.keys()]),
    ...pools.flatMap(({ spec, status }) => [...spec.ips, ...Object.keys(status.ips)]),
    ...nodes.flatMap(({ addresses, addressAnnotation = "" }) => [
      ...addresses.map(({ address }) => address),
      addressAnnotation,
    ]),
    ...records.flatMap((fact) => (fact.kind === "known" ? fact.records.addresses : [])),
  ]);
  for (let number = 1; ; number += 1) {
    const ip = `240.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
    if (!seen.has(ip)) yield ip;
  }
}

function announced(action: Action, bought: string | undefined, standIns: ReadonlyMap<string, string>): Action {
  if (standIns.size === 0) return action;
  const newAddress = standIns.get(bought ?? "");
  if (action.kind === "acquire-ip") return newAddress === undefined ? action : { ...action, newAddress };
  const named = withStandIns(action, standIns);
  return changesName(named) ? { ...named, before: unknownLast(named.before), after: unknownLast(named.after) } : named;
}

/** Returns the value with each imagined address replaced by what stands for it, in every text of it. Pure. */
export function withStandIns<T>(value: T, standIns: ReadonlyMap<string, string>): T {
  const replaced = (part: unknown): unknown => {
    if (typeof part === "string") return part.replace(/\b240(\.\d+){3}\b/g, (ip) => standIns.get(ip) ?? ip);
    if (Array.isArray(part)) return part.map(replaced);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, replaced(inner)]));
  };
  return standIns.size === 0 ? value : (replaced(value) as T);
}

/** Where a new address stands among others shows once it is known: until then it comes last. */
function unknownLast<C extends RecordSetContent>(content: C): C {
  const isUnknown = (address: string): boolean => address.startsWith("(");
  const { addresses } = content;
  return { ...content, addresses: [...addresses.filter((ip) => !isUnknown(ip)), ...addresses.filter(isUnknown)] };
}
