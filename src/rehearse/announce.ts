import type { Action, RecordSetContent } from "../model/action.ts";
import { changesName } from "../model/action-kinds.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import type { Selection } from "../model/run.ts";
import { providerBudgets } from "../plan/budget.ts";
import { atOnce, type Steps } from "../plan/steps.ts";
import { passThroughInSteps, type Round } from "./passing.ts";
import { suspendedActions } from "./resumed.ts";

/**
 * The plan with everything that the same run does after it: what follows once its actions have succeeded, what is held even then, and the calls that all of it takes.
 * Each acquisition gets the text that stands for its address. Where nothing fails and nothing changes meanwhile, a run does exactly this. What suspended objects would do is
 * told beside it. Pure.
 *
 * @param first - what `plan` makes of the observation and the selection
 */
export function announce(first: Plan, observation: Observation, selection: Selection): Plan {
  return atOnce(announceInSteps(first, observation, selection));
}

/** As {@link announce}, and stops again and again: a plan is made for each round. */
export function* announceInSteps(first: Plan, observation: Observation, selection: Selection): Steps<Plan> {
  const suspended = yield* suspendedActions(first, observation, selection);
  const whole = yield* withFollowUps(first, observation, selection);
  return suspended === undefined ? whole : { ...whole, suspendedActions: suspended };
}

function* withFollowUps(first: Plan, observation: Observation, selection: Selection): Steps<Plan> {
  const { rounds, remaining } = yield* passThroughInSteps(first, observation, selection, () => 0);
  if (rounds.length === 0) return first;
  const standIns = new Map<string, string>();
  const [actions = [], ...later] = rounds.map((round) => announcedRound(round, standIns));
  const followUps = later.flat();
  return {
    ...first,
    actions,
    followUps,
    holds: remaining.holds.map((hold) => withStandIns(hold, standIns)),
    budget: providerBudgets(observation, [...actions, ...followUps]),
  };
}

/**
 * Returns the actions of a round with the text that stands for each address which is not known yet.
 * @param standIns - imagined address → what stands for it; gets those of the round
 */
export function announcedRound({ actions, bought }: Round, standIns: Map<string, string>): readonly Action[] {
  for (const ip of bought.values()) standIns.set(ip, `(new ${standIns.size + 1})`);
  return actions.map((action) => announced(action, bought.get(action.id), standIns));
}

function announced(action: Action, bought: string | undefined, standIns: ReadonlyMap<string, string>): Action {
  if (standIns.size === 0) return action;
  const newAddress = standIns.get(bought ?? "");
  if (action.kind === "acquire-ip") return newAddress === undefined ? action : { ...action, newAddress };
  const named = withStandIns(action, standIns);
  return changesName(named) ? { ...named, before: unknownLast(named.before), after: unknownLast(named.after) } : named;
}

/** An imagined address, as a rehearsal makes them. */
const STAND_IN = /\b240(\.\d+){3}\b|(?<![\da-f:])100::[\da-f]+\b/g;

/** Returns the value with each imagined address replaced by what stands for it, in every text of it. Pure. */
export function withStandIns<T>(value: T, standIns: ReadonlyMap<string, string>): T {
  const replaced = (part: unknown): unknown => {
    if (typeof part === "string") return part.replace(STAND_IN, (ip) => standIns.get(ip) ?? ip);
    if (Array.isArray(part)) return part.map(replaced);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [replaced(key), replaced(inner)]));
  };
  return standIns.size === 0 ? value : (replaced(value) as T);
}

/** Where a new address stands among others shows once it is known: until then it comes last. */
function unknownLast<C extends RecordSetContent>(content: C): C {
  const isUnknown = (address: string): boolean => address.startsWith("(");
  const { addresses } = content;
  return { ...content, addresses: [...addresses.filter((ip) => !isUnknown(ip)), ...addresses.filter(isUnknown)] };
}
