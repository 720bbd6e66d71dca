import type { Outcome } from "../model/outcome.ts";
import type { Hold, Plan, PoolAssessment } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import type { PassResult } from "../model/run.ts";
import { categoryOf, type ErrorCategory } from "./error-category.ts";
import { objectText } from "./object-text.ts";

/**
 * How one object came out of a run. `served`: as desired, or on its way with nothing but holds. `idle`: suspended, so neither
 * served nor in trouble. Everything else is why it is in error; the worst of several.
 */
export type Service = "served" | "idle" | Trouble;

/** Why an object is in error, worst first: the categories of errors, as far as an object can have them. */
export type Trouble = Exclude<ErrorCategory, "usage">;

const WORST_FIRST: readonly Trouble[] = ["bug", "config", "permission", "refused", "temporary"];

/** What a hold on the whole object means for it. */
const OBJECT_HOLDS: Readonly<Partial<Record<Reason, Service>>> = {
  InvalidSpec: "config",
  CRDTooOld: "config",
  Suspended: "idle",
  ProviderUnavailable: "permission",
  PermissionMissing: "permission",
  RateLimited: "temporary",
  Unreadable: "temporary",
};

/** Returns how one pool stands by its plan and by the troubles of the run. */
export function serviceOf(pool: PoolAssessment, plan: Plan, troubles: readonly Trouble[]): Service {
  const key = objectText(pool.object);
  const holds = plan.holds.filter(({ object }) => objectText(object) === key);
  const held = holds.flatMap((hold) => (hold.kind === "reconcile" ? (OBJECT_HOLDS[hold.reason] ?? []) : []));
  const states = [...held, ...troubles, ...(hasNothingReadable(pool, holds) ? (["temporary"] as const) : [])];
  const worst = WORST_FIRST.find((trouble) => states.includes(trouble));
  if (worst !== undefined) return worst;
  if (held.includes("idle")) return "idle";
  return pool.status.error === undefined ? "served" : "refused";
}

/** Every address of the pool is a gap: nothing of it could be served in this pass. */
function hasNothingReadable(pool: PoolAssessment, holds: readonly Hold[]): boolean {
  const ips = Object.keys(pool.status.ips);
  const unread = new Set(holds.filter(isUnread).map(({ subject }) => subject));
  return ips.length > 0 && ips.every((ip) => unread.has(ip));
}

function isUnread({ reason }: Hold): boolean {
  return reason === "Unreadable" || reason === "RateLimited";
}

/** Returns what went wrong for one pool in a run: failed actions, what a lost lock or the deadline cut off, an unwritten status. */
export function troublesOf(result: PassResult, pool: PoolAssessment): readonly Trouble[] {
  const key = objectText(pool.object);
  // A failure does not count once the same was done in another way, such as on another node.
  const outcomes = [...new Map(result.outcomes.map((outcome) => [outcome.action.id, outcome])).values()];
  const unwritten = result.reportFailures.filter(({ what, object }) => what === "status" && objectText(object) === key);
  return [
    ...outcomes.filter(({ action }) => objectText(action.object) === key).flatMap(troubleOf),
    ...unwritten.map(({ error }) => asTrouble(error)),
  ];
}

function troubleOf(outcome: Outcome): readonly Trouble[] {
  if (outcome.outcome === "failed") return [asTrouble(outcome.error)];
  const isCutOff = outcome.outcome === "skipped" && (outcome.reason === "LockLost" || outcome.reason === "Deadline");
  return isCutOff ? ["temporary"] : [];
}

function asTrouble(error: Error): Trouble {
  const category = categoryOf(error);
  return category === "usage" ? "config" : category;
}
