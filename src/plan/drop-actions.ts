import type { Action } from "../model/action.ts";
import type { Hold } from "../model/plan.ts";
import type { Decision } from "./addresses/decide-pools.ts";

/** The decisions without some actions and everything that requires one of them, each replaced by a hold; what would clean is then stuck. Pure. */
export function dropActions(
  decisions: readonly Decision[],
  holds: ReadonlyMap<string, Omit<Hold, "kind" | "object">>,
): readonly Decision[] {
  if (holds.size === 0) return decisions;
  const dropped = withDependents(
    decisions.flatMap(({ actions }) => actions),
    [...holds.keys()],
  );
  const isLeft = ({ id }: Action): boolean => !dropped.has(id);
  return decisions.map((decision) => {
    const { actions, assignments, cleaning } = decision;
    const held = actions.flatMap(({ id, kind, object }): readonly Hold[] => {
      const hold = holds.get(id);
      return hold === undefined ? [] : [{ kind, object, ...hold }];
    });
    return {
      ...decision,
      actions: actions.filter(isLeft),
      assignments:
        assignments === undefined ? undefined : { ...assignments, actions: assignments.actions.filter(isLeft) },
      holds: [...decision.holds, ...held],
      cleaning: { ...cleaning, isStuck: cleaning.isStuck || cleaning.after.some((id) => dropped.has(id)) },
    };
  });
}

/** The ids and those of every action that requires one of them. */
export function withDependents(actions: readonly Action[], ids: readonly string[]): ReadonlySet<string> {
  const found = new Set(ids);
  const more = actions.filter(({ id, requires }) => !found.has(id) && requires.some((other) => found.has(other)));
  return more.length === 0 ? found : withDependents(actions, [...found, ...more.map(({ id }) => id)]);
}
