import type { Action } from "../model/action.ts";
import type { Observation } from "../model/observation.ts";
import type { ChangedFact, Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import type { SavedRun } from "../model/run.ts";
import { type SavedAction, type SavedPlan, savedActions } from "../model/saved-plan.ts";
import { actionText } from "../report/text/actions.ts";
import { changeKey, type Judged, type Judgement, judge } from "./saved-plan.ts";

/** Lets a run do what stands in a saved plan, and nothing else. The run plans as ever: what is planned and not let through stays planned. */
export class SavedApplication {
  readonly #saved: SavedPlan;
  readonly #isAllOrNothing: boolean;
  #judgement: Judgement = { judged: [], newAddresses: new Map(), others: [] };
  /** What may be begun, by {@link changeKey}. */
  #open = new Map<string, SavedAction[]>();
  /** Which action of the saved plan each one that was begun is. */
  readonly #begun = new Map<Action, SavedAction>();
  readonly #newAddresses = new Map<string, string>();
  readonly #ends = new Map<SavedAction, Outcome>();

  constructor(saved: SavedPlan, { isAllOrNothing }: { readonly isAllOrNothing: boolean }) {
    this.#saved = saved;
    this.#isAllOrNothing = isAllOrNothing;
  }

  /** Judges the saved plan, once, before anything is begun. @param plan - with what follows */
  judge(world: Observation, plan: Plan): void {
    this.#judgement = judge(this.#saved, { world, plan });
    for (const [name, ip] of this.#judgement.newAddresses) this.#newAddresses.set(name, ip);
    this.#enterOpen();
  }

  /** Returns those of the actions that stand in the saved plan, without what requires another one of the plan that does not. */
  allowed(actions: readonly Action[], { actions: planned }: Pick<Plan, "actions">): readonly Action[] {
    const mine = actions.filter((action) => this.#entryOf(action) !== undefined);
    return withRequired(mine, new Set(planned.map(({ id }) => id)));
  }

  /** Notes that an action was begun. */
  begin(action: Action): void {
    const entry = this.#entryOf(action);
    if (entry !== undefined) this.#begun.set(action, entry);
  }

  /** Takes over what has ended: from now on it is known which addresses were acquired. */
  learn(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      const entry = this.#begun.get(outcome.action);
      if (entry === undefined) continue;
      this.#ends.set(entry, outcome);
      if (entry.action.kind !== "acquire-ip" || outcome.address === undefined) continue;
      const { newAddress } = entry.action;
      if (newAddress !== undefined) this.#newAddresses.set(newAddress, outcome.address.ip);
      this.#enterOpen();
    }
  }

  /**
   * Returns what became of the saved plan, with an outcome for each of its actions that has none.
   * @param stoppedBy - why the run ended early; absent = it did not
   */
  result(
    outcomes: readonly Outcome[],
    endedAtMs: number,
    stoppedBy: Reason | undefined,
  ): { readonly saved: SavedRun; readonly left: readonly Outcome[] } {
    const { judged, others } = this.#judgement;
    const told = new Set(outcomes.map(({ action }) => changeKey(action)));
    const left = judged.flatMap((one): readonly Outcome[] => {
      const isTold = this.#ends.has(one.saved) || told.has(changeKey(one.saved.action, this.#newAddresses));
      if (one.kind === "done" || (one.kind === "same" && isTold)) return [];
      return [{ action: one.saved.action, ms: 0, endedAtMs, outcome: "skipped", ...this.#whyLeft(one, stoppedBy) }];
    });
    const { planID, savedAtMs } = this.#saved;
    const done = judged.flatMap(({ kind, saved }) => (kind === "done" ? [saved.action] : []));
    return { saved: { planID, savedAtMs, count: savedActions(this.#saved).length, done, others }, left };
  }

  #enterOpen(): void {
    const { judged } = this.#judgement;
    const isNothing = this.#isAllOrNothing && judged.some(({ kind }) => kind === "changed");
    const same = isNothing ? [] : judged.flatMap(({ kind, saved }) => (kind === "same" ? [saved] : []));
    this.#open = Map.groupBy(same, ({ action }) => changeKey(action, this.#newAddresses));
  }

  /** The action of the saved plan that an action is; of several the first that was not begun. An action that was skipped may be tried again. */
  #entryOf(action: Action): SavedAction | undefined {
    const entries = this.#open.get(changeKey(action)) ?? [];
    const begun = new Set(this.#begun.values());
    return entries.find((entry) => !begun.has(entry)) ?? (action.kind === "acquire-ip" ? undefined : entries[0]);
  }

  #whyLeft(one: Judged, stoppedBy: Reason | undefined): Why {
    if (one.kind === "changed") return refused(one.fact);
    const { judged } = this.#judgement;
    if (this.#isAllOrNothing && judged.some(({ kind }) => kind === "changed")) return refused(ALL_OR_NOTHING);
    const needed = one.saved.needs.flatMap((at) => judged[at] ?? []);
    const missing = needed.find(({ kind, saved }) => kind !== "done" && this.#ends.get(saved)?.outcome !== "applied");
    if (missing !== undefined) {
      const detail = `"${actionText(missing.saved.action)}" has not succeeded`;
      return { reason: "PrerequisiteFailed", detail };
    }
    if (stoppedBy !== undefined) return { reason: stoppedBy, detail: "" };
    return refused({
      path: "plan",
      was: one.saved.text,
      is: "",
      message: "The world changed while the run was at work.",
    });
  }
}

type Why = Pick<Extract<Outcome, { readonly outcome: "skipped" }>, "reason" | "detail" | "refusedFor">;

const ALL_OR_NOTHING: ChangedFact = {
  path: "plan",
  was: "all",
  is: "part",
  message: "Another action is refused, and --all-or-nothing asks for all of them.",
};

function refused(refusedFor: ChangedFact): Why {
  return { reason: "Stale", detail: refusedFor.message, refusedFor };
}

/** Leaves out what requires something that is planned and left out. */
function withRequired(actions: readonly Action[], planned: ReadonlySet<string>): readonly Action[] {
  const kept = new Set(actions.map(({ id }) => id));
  const left = actions.filter(({ requires }) => requires.every((id) => kept.has(id) || !planned.has(id)));
  return left.length === actions.length ? left : withRequired(left, planned);
}
