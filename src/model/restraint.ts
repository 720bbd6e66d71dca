import type { Action, Taken } from "./action.ts";

/** How much one run may do. Recoveries are never counted. */
export interface RunLimits {
  /** Addresses and names that a relocation, a reduction or a takeover takes from somebody. */
  readonly voluntaryMoves?: number;
  readonly purchases?: number;
  /** Of the voluntary moves those that are reductions: what the spec asks for no longer. */
  readonly removals?: number;
}

/** What a run may do of what hurts somebody, and what it has begun of that, over all its passes. */
export interface Restraint {
  readonly limits: RunLimits;
  /** What a person has confirmed, by {@link Taken.what}. Absent = nobody is asked. */
  readonly confirmed?: ReadonlySet<string>;
  readonly begun: Begun;
}

/** What a run has begun. What was begun goes on to its end. */
interface Begun {
  /** By {@link Taken.what}. */
  readonly taken: ReadonlyMap<string, Taken["impact"]>;
  readonly purchases: number;
}

/** Nothing begun as yet. */
export const NOT_BEGUN: Begun = { taken: new Map(), purchases: 0 };

/** Returns the restraint once an action was begun. Pure. */
export function withBegun(restraint: Restraint, { kind, takes = [] }: Action): Restraint {
  const { taken, purchases } = restraint.begun;
  if (kind !== "acquire-ip" && takes.length === 0) return restraint;
  const more = takes.map(({ what, impact }) => [what, impact] as const);
  return {
    ...restraint,
    begun: { taken: new Map([...taken, ...more]), purchases: purchases + (kind === "acquire-ip" ? 1 : 0) },
  };
}

/** Remembers over all passes of a run what the run has begun. */
export class RunRestraint {
  #current: Restraint;

  constructor(restraint: Restraint) {
    this.#current = restraint;
  }

  get current(): Restraint {
    return this.#current;
  }

  begin(action: Action): void {
    this.#current = withBegun(this.#current, action);
  }
}
