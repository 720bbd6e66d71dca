import type { Gate } from "../model/explanation.ts";
import type { Observation } from "../model/observation.ts";
import { ASSUMED, forward, type Story } from "./forward.ts";
import type { Planned } from "./gates.ts";
import type { Change } from "./remedies.ts";

/** A statement about a world, and what keeps it from being true. */
export interface Statement {
  readonly isTrue: (planned: Planned) => boolean;
  /** Returns the gates that are shut, the first to be opened first, each with the changes that can open it. */
  readonly obstacles: (planned: Planned) => readonly Obstacle[];
}

/** A shut gate, and what can open it, the cheapest first. */
export interface Obstacle {
  readonly gate: Gate;
  readonly remedies: readonly Change[];
}

/** The fewest changes with which a statement comes true. */
export interface Answer {
  /** In the order in which they were found. */
  readonly changes: readonly Change[];
  /** For each change, others of the same gate that do as well. */
  readonly alternatives: readonly (readonly Change[])[];
  /** What happens with the changes. */
  readonly story: Story;
}

/** The most changes that are tried together, and the most plans that are made for it. */
const MOST_CHANGES = 6;
const MOST_PLANS = 200;

/** Tells what happens in a world with changes made, and counts what it costs. */
export class Rehearsal {
  /** How often it was planned. */
  plans = 0;
  readonly #world: Observation;
  readonly #horizonMs: number;
  /** By the names of the changes, in their order. */
  readonly #told = new Map<string, Story>();

  constructor(world: Observation, horizonMs: number) {
    this.#world = world;
    this.#horizonMs = horizonMs;
  }

  with(changes: readonly Change[]): Story {
    const key = changes.map(nameOf).join("\n");
    const known = this.#told.get(key);
    if (known !== undefined) return known;
    const world = changes.reduce((changed, { make }) => make(changed), this.#world);
    const story = forward(world, {}, { horizonMs: this.#horizonMs, assumed: ASSUMED });
    this.plans += story.plans;
    this.#told.set(key, story);
    return story;
  }

  get isSpent(): boolean {
    return this.plans >= MOST_PLANS;
  }
}

/**
 * Looks for the fewest changes that make a statement true. Each change opens the first gate that is shut then, in the cheapest way that helps; afterwards every change
 * is dropped without which the statement still comes true. Undefined where none is found. Pure but for the counting of plans.
 */
export function counterfactual(rehearsal: Rehearsal, statement: Statement): Answer | undefined {
  const found = search(rehearsal, statement, [], new Set());
  if (found === undefined) return undefined;
  const kept = minimal(rehearsal, statement, found);
  const alternatives = kept.map(({ choice, others }) =>
    others.filter((other) => {
      if (rehearsal.isSpent) return false;
      const changes = kept.map((one) => (one.choice === choice ? other : one.choice));
      return comesTrue(rehearsal, statement, changes) !== undefined;
    }),
  );
  const changes = kept.map(({ choice }) => choice);
  return { changes, alternatives, story: rehearsal.with(changes) };
}

/** One change that was made, and what else there was for the same gate. */
interface Made {
  readonly choice: Change;
  readonly others: readonly Change[];
}

function search(
  rehearsal: Rehearsal,
  statement: Statement,
  made: readonly Made[],
  failed: Set<string>,
): readonly Made[] | undefined {
  const story = rehearsal.with(made.map(({ choice }) => choice));
  const planned = { world: story.world, plan: story.remaining };
  if (statement.isTrue(planned)) return made;
  if (made.length >= MOST_CHANGES) return undefined;
  const [obstacle] = statement.obstacles(planned);
  const remedies = obstacle?.remedies ?? [];
  for (const choice of remedies) {
    if (rehearsal.isSpent) return undefined;
    const next = [...made, { choice, others: remedies.filter((other) => other !== choice) }];
    const key = keyOf(next);
    const isRepeated = made.some((one) => nameOf(one.choice) === nameOf(choice));
    if (isRepeated || failed.has(key)) continue;
    const found = search(rehearsal, statement, next, failed);
    if (found !== undefined) return found;
    failed.add(key);
  }
  return undefined;
}

/** Names a set of changes, in whatever order they were found. */
function keyOf(made: readonly Made[]): string {
  const names = made.map(({ choice }) => nameOf(choice));
  return names.toSorted().join("\n");
}

function nameOf({ edit, command = "", message }: Change): string {
  return edit ?? `${command} ${message}`;
}

/** Leaves out every change without which the statement still comes true, the dearest first, until each is needed. */
function minimal(rehearsal: Rehearsal, statement: Statement, made: readonly Made[]): readonly Made[] {
  for (const candidate of made.toSorted((a, b) => b.choice.cost - a.choice.cost)) {
    const others = made.filter((one) => one !== candidate);
    const changes = others.map(({ choice }) => choice);
    if (comesTrue(rehearsal, statement, changes) !== undefined) return minimal(rehearsal, statement, others);
  }
  return made;
}

function comesTrue(rehearsal: Rehearsal, statement: Statement, changes: readonly Change[]): Story | undefined {
  const story = rehearsal.with(changes);
  return statement.isTrue({ world: story.world, plan: story.remaining }) ? story : undefined;
}
