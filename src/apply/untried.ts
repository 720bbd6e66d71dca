import type { Action } from "../model/action.ts";
import type { Outcome } from "../model/run.ts";

/** How often a pass tries an action that was skipped: once more, since what made it wait may have ended meanwhile. */
const TRIES_AFTER_SKIP = 2;

/** The actions worth trying in this pass: those that failed in it wait at least for the next one, and so does what requires them. Pure. */
export function untried(actions: readonly Action[], outcomes: readonly Outcome[]): readonly Action[] {
  const tries = new Map<string, number>();
  for (const { action, outcome } of outcomes) {
    const weight = outcome === "skipped" ? 1 : TRIES_AFTER_SKIP;
    tries.set(attempt(action), (tries.get(attempt(action)) ?? 0) + weight);
  }
  const planned = new Set(actions.map(({ id }) => id));
  return possible(
    actions.filter((action) => (tries.get(attempt(action)) ?? 0) < TRIES_AFTER_SKIP),
    planned,
  );
}

/** Those of the actions that require nothing which is planned and will not be tried. */
function possible(actions: readonly Action[], planned: ReadonlySet<string>): readonly Action[] {
  const tried = new Set(actions.map(({ id }) => id));
  const left = actions.filter(({ requires }) => requires.every((id) => tried.has(id) || !planned.has(id)));
  return left.length === actions.length ? left : possible(left, planned);
}

/** Names the same change of the same thing: an address tried on another node is another attempt. */
function attempt(action: Action): string {
  return `${action.id} ${JSON.stringify([action.before, action.after])}`;
}
