import { actionID, type DeleteIP, type Place, type UnassignIP } from "../../model/action.ts";
import type { Hold } from "../../model/plan.ts";
import type { Reason } from "../../model/reason.ts";
import { FINALIZER } from "../../model/resource.ts";
import { type Cleaning, NOTHING_TO_CLEAN } from "../finalizer.ts";
import { leavingDueMs, retryOf } from "../retries.ts";
import { ambiguityOf } from "./acquire.ts";
import type { ManagedIP } from "./claims.ts";
import { isWritable } from "./machine-ledger.ts";
import { isAsked } from "./named-address.ts";
import type { PoolView } from "./pool-view.ts";

/** What `reclaimPolicy: Delete` does with addresses in this pass. */
interface Reclaim {
  readonly actions: readonly (UnassignIP | DeleteIP)[];
  readonly holds: readonly Hold[];
  readonly cleaning: Cleaning;
}

/**
 * Gives surplus acquired addresses back: all of them when the pool is being deleted. Only addresses flipop itself acquired, only with
 * `Delete`, and a delete only after the unassignment is confirmed and once no name shows the address.
 */
export function reclaim(
  view: PoolView,
  willAcquire: boolean,
  stillPublished: ReadonlyMap<string, string>,
  nowMs: number,
): Reclaim {
  const { meta, spec } = view.pool;
  const isOurs = meta.finalizers.includes(FINALIZER);
  if (!isWritable(view)) {
    const isBlocked = meta.isDeleting && isOurs;
    return { actions: [], holds: isBlocked ? [blocked(view)] : [], cleaning: NOTHING_TO_CLEAN };
  }
  const reclaimable =
    spec.reclaimPolicy === "Delete" ? view.managed.filter(({ acquired }) => acquired?.isAdopted === false) : [];
  const surplus = meta.isDeleting ? reclaimable : reclaimable.filter(({ ip }) => !isAsked(view, ip));
  const steps = surplus.map((address) => giveBack(view, address, stillPublished.get(address.ip), nowMs));
  const hasOpenIntent = spec.reclaimPolicy === "Delete" && view.pool.status.pendingAcquisitions.length > 0;
  return {
    actions: steps.flatMap(({ actions }) => actions),
    holds: [...steps.flatMap(({ holds }) => holds), ...(meta.isDeleting && isOurs ? unanswered(view) : [])],
    cleaning: {
      isNeeded: reclaimable.length > 0 || hasOpenIntent || (willAcquire && spec.reclaimPolicy === "Delete"),
      isStuck: steps.some(({ holds }) => holds.length > 0) || !hasAllAnswers(view),
      after: steps.flatMap(({ actions }) => actions.map(({ id }) => id)),
    },
  };
}

function blocked(view: PoolView): Hold {
  const { validation, pool } = view;
  const other = pool.spec.suspend ? "Suspended" : "ProviderUnavailable";
  const reason: Reason = validation.kind === "blocked" ? validation.reason : other;
  return {
    kind: "remove-finalizer",
    object: view.object,
    subject: view.key,
    reason,
    detail: "the deletion waits for it",
    needsPerson: true,
  };
}

function giveBack(
  view: PoolView,
  { ip, standing }: ManagedIP,
  publishedAs: string | undefined,
  nowMs: number,
): Pick<Reclaim, "holds" | "actions"> {
  if (publishedAs !== undefined)
    return { actions: [], holds: [{ ...held(view, ip, "StillPublished", false), detail: publishedAs }] };
  const notBeforeMs = leavingDueMs(view, ip, nowMs);
  if (notBeforeMs > nowMs) {
    const detail = retryOf(view, `ip/${ip}`)?.error ?? "";
    return { actions: [], holds: [{ ...held(view, ip, "Backoff", false), detail, notBeforeMs }] };
  }
  switch (standing.kind) {
    case "placed":
      return { actions: takeDown(view, ip, standing.on, false), holds: [] };
    case "free":
      return standing.rank === "foreign"
        ? { actions: [], holds: [held(view, ip, "ForeignHolder", true)] }
        : { actions: takeDown(view, ip, standing.from, standing.rank === "not-matching"), holds: [] };
    case "busy":
      return { actions: [], holds: [held(view, ip, "InProgress", false)] };
    case "foreign":
      return { actions: [], holds: [held(view, ip, "ForeignHolder", true)] };
    case "gap":
      return { actions: [], holds: [held(view, ip, "Unreadable", false)] };
    case "conflict":
      return { actions: [], holds: [held(view, ip, "Conflict", true)] };
    case "gone":
      return { actions: [], holds: [] };
  }
}

function held(view: PoolView, ip: string, reason: Reason, needsPerson: boolean): Hold {
  return { kind: "delete-ip", object: view.object, subject: ip, reason, detail: "", needsPerson };
}

function takeDown(
  view: PoolView,
  ip: string,
  from: Place | undefined,
  isNotMatching: boolean,
): readonly (UnassignIP | DeleteIP)[] {
  const reason: Reason = view.pool.meta.isDeleting ? "PoolDeleted" : "AboveDesired";
  const common = { object: view.object, provider: view.pool.spec.provider, ip, follows: [], after: undefined };
  const unassignID = actionID("unassign-ip", view.object, ip);
  const remove: DeleteIP = {
    ...common,
    kind: "delete-ip",
    id: actionID("delete-ip", view.object, ip),
    reason: "ReclaimDelete",
    requires: from === undefined ? [] : [unassignID],
    before: from,
  };
  if (from === undefined) return [remove];
  // A deleted pool has no matches: its addresses leave whatever becomes of their nodes.
  const isHolderJudged = isNotMatching && !view.pool.meta.isDeleting;
  const step = { ...common, id: unassignID, reason, requires: [], before: from, isHolderJudged } as const;
  return [{ ...step, kind: "unassign-ip" }, remove];
}

/** A deletion waits for the answers of creations, and says so. */
function unanswered(view: PoolView): readonly Hold[] {
  if (hasAllAnswers(view)) return [];
  const until = view.intents.flatMap((intent) => (intent.kind === "waiting" ? (intent.untilMs ?? []) : []));
  const ambiguous = view.intents.findIndex(({ kind }) => kind === "ambiguous");
  const hold: Hold = {
    kind: "remove-finalizer",
    object: view.object,
    subject: view.key,
    reason: ambiguous >= 0 ? ambiguityOf(view.pool, ambiguous) : "AcquisitionUnanswered",
    detail: "the deletion waits for it",
    needsPerson: ambiguous >= 0,
  };
  return [until.length === 0 ? hold : { ...hold, notBeforeMs: Math.max(...until) }];
}

/** A deletion can end once no creation is without an answer, beside that every acquired address can be given back in this pass. */
function hasAllAnswers({ pool, intents }: PoolView): boolean {
  return (
    pool.spec.reclaimPolicy !== "Delete" || !intents.some(({ kind }) => kind === "waiting" || kind === "ambiguous")
  );
}
