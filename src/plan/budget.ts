import { ACTIONS, type Action } from "../model/action.ts";
import type { Observation } from "../model/observation.ts";
import type { ProviderBudget } from "../model/plan.ts";

/** Calls an action takes by itself: the precondition read of what is destructive, and the change. */
const CALLS: Readonly<Partial<Record<Action["kind"], number>>> = {
  "assign-ip": 1,
  "move-ip": 2,
  "unassign-ip": 2,
  "acquire-ip": 2,
  "delete-ip": 2,
};

/** How many assignments one confirming read covers: they are confirmed together, from a page of the list. */
const CONFIRMED_PER_READ = 200;

/** Calls the actions will take when nothing is slow, and the account's quota; one entry per provider that was read, in order of name. */
export function providerBudgets(observation: Observation, actions: readonly Action[]): readonly ProviderBudget[] {
  return [...observation.providers.values()].map((provider) => {
    const own = actions.filter(
      (action) =>
        ACTIONS[action.kind].target === "provider" && "provider" in action && action.provider === provider.name,
    );
    const direct = own.reduce((sum, { kind }) => sum + (CALLS[kind] ?? 0), 0);
    const confirming = own.filter(({ kind }) => kind !== "delete-ip").length;
    return {
      provider: provider.name,
      calls: direct + Math.ceil(confirming / CONFIRMED_PER_READ),
      ...(provider.addressCount === undefined ? {} : { addressCount: provider.addressCount }),
      ...(provider.addressLimit === undefined ? {} : { addressLimit: provider.addressLimit }),
    };
  });
}
