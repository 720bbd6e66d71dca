import { type Action, attemptKey, refKey, subjectOf } from "../model/action.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";

/** How often a pass tries an action that was skipped: once more, since what made it wait may have ended meanwhile. */
const TRIES_AFTER_SKIP = 2;
/** After this, milliseconds, what failed or was skipped may be tried again where a pass looks on: the plan has it only once its wait is over. It is as long as the shortest wait of a retry. */
const FORGIVEN_MS = 1000;

/** What a pass has tried, and what came of it: so it tries nothing for ever. */
export class Tries {
  /** In the order they ended. */
  readonly outcomes: Outcome[] = [];
  readonly #most: number;
  readonly #looksOn: boolean;
  /** By each action that was begun, the plan it is of. */
  readonly #plans = new Map<Action, Plan>();
  /** How often something was begun for what an action is about, by {@link thingOf}. */
  readonly #begun = new Map<string, number>();

  /**
   * @param most - how often something is begun for one thing at most
   * @param looksOn - true where a pass sees times come and things change while it waits for something else; else what failed waits for the next pass
   */
  constructor(most: number, looksOn: boolean) {
    this.#most = most;
    this.#looksOn = looksOn;
  }

  /** Takes note that an action of a plan begins. */
  begin(action: Action, plan: Plan): void {
    const thing = thingOf(action);
    this.#plans.set(action, plan);
    this.#begun.set(thing, (this.#begun.get(thing) ?? 0) + 1);
  }

  /** Takes note of what came of actions. */
  end(outcomes: readonly Outcome[]): void {
    this.outcomes.push(...outcomes);
  }

  /** Returns the plan that an action was begun for; undefined for one that was not begun. */
  planOf(action: Action): Plan | undefined {
    return this.#plans.get(action);
  }

  /** The objects that something was begun for, by {@link refKey}. */
  get objects(): ReadonlySet<string> {
    return new Set([...this.#plans.keys()].map(({ object }) => refKey(object)));
  }

  /**
   * Returns the actions of a plan that are worth trying, without those that require one which is not.
   *
   * @param nowMs - milliseconds of the API server's clock
   * @param mayTry - false for what must wait. Absent = nothing must
   */
  left(actions: readonly Action[], nowMs: number, mayTry: (action: Action) => boolean = () => true): readonly Action[] {
    const tries = new Map<string, number>();
    const newest = this.#newestDone();
    for (const one of this.outcomes) {
      if (this.#isForgiven(one, nowMs) || this.#isUndone(one, newest)) continue;
      const weight = one.outcome === "skipped" ? 1 : TRIES_AFTER_SKIP;
      tries.set(attemptKey(one.action), (tries.get(attemptKey(one.action)) ?? 0) + weight);
    }
    const planned = new Set(actions.map(({ id }) => id));
    return possible(
      actions.filter((action) => (tries.get(attemptKey(action)) ?? 0) < TRIES_AFTER_SKIP && mayTry(action)),
      planned,
    );
  }

  /** False for what a pass has begun so often that it leaves it to the next. */
  mayBegin(action: Action): boolean {
    return (this.#begun.get(thingOf(action)) ?? 0) < this.#most;
  }

  /** The action that was carried out last, by what it is about. */
  #newestDone(): ReadonlyMap<string, Action> {
    const done = this.outcomes.filter(isDone);
    return new Map(done.map(({ action }) => [thingOf(action), action]));
  }

  /** True for what was carried out, and undone since by something else that was done to the same thing: an address that came back may go there once more. */
  #isUndone(outcome: Outcome, newest: ReadonlyMap<string, Action>): boolean {
    const { action } = outcome;
    const last = newest.get(thingOf(action));
    const isLast = last === undefined || attemptKey(last) === attemptKey(action);
    return this.#looksOn && isDone(outcome) && !isLast;
  }

  #isForgiven({ outcome, endedAtMs }: Outcome, nowMs: number): boolean {
    return (
      this.#looksOn && (outcome === "failed" || outcome === "skipped") && nowMs - (endedAtMs ?? nowMs) >= FORGIVEN_MS
    );
  }
}

/** True for what was carried out, also where nobody has seen yet that it is so. */
function isDone({ outcome }: Outcome): boolean {
  return outcome === "applied" || outcome === "unconfirmed";
}

/** Those of the actions that require nothing which is planned and will not be tried. */
function possible(actions: readonly Action[], planned: ReadonlySet<string>): readonly Action[] {
  const tried = new Set(actions.map(({ id }) => id));
  const left = actions.filter(({ requires }) => requires.every((id) => tried.has(id) || !planned.has(id)));
  return left.length === actions.length ? left : possible(left, planned);
}

/** Names what an action is about, of its object: an address, a node, a name, a firewall. */
function thingOf(action: Action): string {
  return `${refKey(action.object)} ${subjectOf(action)}`;
}
