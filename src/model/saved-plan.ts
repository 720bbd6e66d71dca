import type { Action } from "./action.ts";
import type { FactValue } from "./outcome.ts";
import type { RunLimits } from "./restraint.ts";
import type { Selection } from "./run.ts";

/** A fact that an action of a saved plan depends on: where it differs, the action is refused. */
export interface Precondition {
  /** Names the fact: `ip/203.0.113.11.holder`. Unique within an action. */
  readonly path: string;
  readonly equals: FactValue;
  /** What must be true, as a sentence. */
  readonly message: string;
}

/** An action as it stands in a saved plan. */
export interface SavedAction {
  readonly action: Action;
  /** The action as people read it: `move 203.0.113.11 from worker-2 to worker-5`. */
  readonly text: string;
  /** In the order in which they are asked. */
  readonly preconditions: readonly Precondition[];
  /** The actions before it that it needs, as places in {@link savedActions}: what they change is no precondition of its own. */
  readonly needs: readonly number[];
}

/** A plan that a person has read, to be carried out later as it stands and not further. */
export interface SavedPlan {
  readonly planID: string;
  /** When the world was read that it was made for, milliseconds of the API server's clock. */
  readonly savedAtMs: number;
  /** The uid of the cluster's namespace `kube-system`. */
  readonly clusterUID: string;
  readonly selection: Selection;
  /** How much the run was to take from anybody; it counts for the run, too. */
  readonly limits: RunLimits;
  /** What could be done at once, as in {@link Plan.actions}. */
  readonly actions: readonly SavedAction[];
  /** What the same run does after them, as in {@link Plan.followUps}. */
  readonly followUps: readonly SavedAction[];
}

/** Returns every action of a saved plan, in its order. */
export function savedActions({ actions, followUps }: SavedPlan): readonly SavedAction[] {
  return [...actions, ...followUps];
}
