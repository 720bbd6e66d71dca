import { actionID, type DeleteIP, type Place, type UnassignIP } from "../../model/action.ts";
import type { Hold, Obstacle } from "../../model/plan.ts";
import { FINALIZER } from "../../model/resource.ts";
import { ipRemovalSubject } from "../../model/retry-subject.ts";
import { deletionSuspended } from "../../model/suspension.ts";
import type { ServingNames } from "../drain.ts";
import { type Cleaning, NOTHING_TO_CLEAN } from "../finalizer.ts";
import { hold, obstacle, personNeeded } from "../holds.ts";
import { countedIPs, isAsked, isLeftEmpty, isWritable, type ManagedIP, type PoolView } from "../pool-view.ts";
import { ambiguityOf } from "./acquire.ts";
import { unassignment } from "./assign.ts";
import { draining } from "./pace.ts";

/** What `reclaimPolicy: Delete` does with addresses in this pass. */
interface Reclaim {
  readonly actions: readonly (UnassignIP | DeleteIP)[];
  /** As of a {@link Decision}. */
  readonly later: readonly (UnassignIP | DeleteIP)[];
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
  facts: ServingNames,
): Reclaim {
  const { meta, spec } = view.pool;
  const isOurs = meta.finalizers.includes(FINALIZER);
  if (!isWritable(view)) return nothing(view);
  const reclaimable =
    spec.reclaimPolicy === "Delete" ? view.managed.filter(({ acquired }) => acquired?.isAdopted === false) : [];
  const surplus = meta.isDeleting ? reclaimable : reclaimable.filter((address) => isSurplus(view, address));
  const steps = surplus.map((address) =>
    giveBack(view, address, publishedIn(view, stillPublished.get(address.ip), facts)),
  );
  const hasPending = spec.reclaimPolicy === "Delete" && view.pool.status.pendingAcquisitions.length > 0;
  return {
    actions: steps.flatMap(({ actions }) => actions),
    later: steps.flatMap(({ later = [] }) => later),
    holds: [...steps.flatMap(({ holds }) => holds), ...(meta.isDeleting && isOurs ? unanswered(view) : [])],
    cleaning: {
      isNeeded: reclaimable.length > 0 || hasPending || (willAcquire && spec.reclaimPolicy === "Delete"),
      isAwaited: spec.reclaimPolicy === "Delete" && countedIPs(view) < view.desired,
      isStuck: steps.some(({ holds }) => holds.length > 0) || !hasAllAnswers(view),
      after: steps.flatMap(({ actions }) => actions.map(({ id }) => id)),
    },
  };
}

/** Gives nothing back for an object that may not be written now. */
function nothing(view: PoolView): Reclaim {
  const { isDeleting, finalizers } = view.pool.meta;
  const isBlocked = isDeleting && finalizers.includes(FINALIZER) && !isLeftEmpty(view);
  const holds = isBlocked ? [deletionHold(view, blocked(view))] : [];
  return { actions: [], later: [], holds, cleaning: NOTHING_TO_CLEAN };
}

/** True for an address that the object does not ask for. One that the provider blocks is kept in its place: giving it back would only buy another one. */
export function isSurplus(view: PoolView, { ip, standing }: ManagedIP): boolean {
  return !isAsked(view, ip) && (standing.kind !== "blocked" || view.managed.length > view.desired);
}

/** Why a deletion cannot go on although nobody may write for the object. */
function blocked({ validation, suspended, object }: PoolView): Obstacle {
  if (validation.kind === "blocked") return personNeeded(validation.why.reason);
  return suspended === undefined ? personNeeded("ProviderUnavailable") : deletionSuspended(suspended, object);
}

function deletionHold({ object, key }: PoolView, why: Obstacle): Hold {
  return hold("remove-finalizer", object, key, { ...why, detail: "the deletion waits for it" });
}

function giveBack(
  view: PoolView,
  { ip, standing }: ManagedIP,
  published: Obstacle | undefined,
): Pick<Reclaim, "holds" | "actions"> & Partial<Pick<Reclaim, "later">> {
  const why =
    published ??
    view.withheld.get(ip) ??
    protection(view, ip) ??
    view.retries.obstacle(ipRemovalSubject(ip)) ??
    positionObstacle(standing);
  if (why !== undefined) return { actions: [], holds: [hold("delete-ip", view.object, ip, why)] };
  const actions = removal(view, ip, standing);
  const drainsUntilMs = view.drains?.get(ip)?.untilMs;
  return drainsUntilMs !== undefined && drainsUntilMs > view.nowMs
    ? { actions: [], later: actions, holds: [hold("delete-ip", view.object, ip, draining(drainsUntilMs))] }
    : { actions, holds: [] };
}

/**
 * Why an address stays that cannot be taken out of this name in this pass. Where the name has nothing else that serves, and nobody has looked at it yet, nothing new can be
 * said: it may keep its records until a person acts.
 */
function publishedIn(
  { managed }: PoolView,
  fqdn: string | undefined,
  { names, serving }: ServingNames,
): Obstacle | undefined {
  if (fqdn === undefined) return undefined;
  const isOther = (ip: string): boolean => serving.has(ip) && managed.every((own) => own.ip !== ip);
  const isReadFirst = names.some((name) => name.fqdn === fqdn && !name.isRead && !name.addresses.some(isOther));
  return obstacle("StillPublished", fqdn, isReadFirst ? { waitsFor: "reading" } : {});
}

function removal(view: PoolView, ip: string, standing: ManagedIP["standing"]): readonly (UnassignIP | DeleteIP)[] {
  if (standing.kind === "placed" || standing.kind === "blocked") return unassignAndDelete(view, ip, standing.on, false);
  if (standing.kind !== "free") return [];
  return unassignAndDelete(view, ip, standing.from, standing.rank === "not-matching");
}

/** What the provider would refuse: nothing of the address is taken away before a person has decided. */
function protection({ provider }: PoolView, ip: string): Obstacle | undefined {
  const fact = provider?.addresses.get(ip);
  return fact?.kind === "known" && fact.address.isProtected === true ? personNeeded("IPProtected") : undefined;
}

/** Why an address in this position is not given back. */
function positionObstacle(standing: ManagedIP["standing"]): Obstacle | undefined {
  switch (standing.kind) {
    case "free":
      return standing.rank === "foreign" ? personNeeded("ForeignHolder") : undefined;
    case "busy":
      return obstacle("InProgress");
    case "foreign":
      return personNeeded("ForeignHolder");
    case "gap":
      return obstacle("Unreadable");
    case "conflict":
      return personNeeded("Conflict");
    case "ungranted":
      return standing.why;
    case "placed":
    case "blocked":
    case "gone":
      return undefined;
  }
}

/** Deletes an address, and takes it off its machine before. */
function unassignAndDelete(
  view: PoolView,
  ip: string,
  from: Place | undefined,
  isNotMatching: boolean,
): readonly (UnassignIP | DeleteIP)[] {
  const { isDeleting } = view.pool.meta;
  const reason = isDeleting ? "PoolDeleted" : "AboveDesired";
  // A deleted pool has no matches: its addresses leave whatever becomes of their nodes.
  const isHolderJudged = isNotMatching && !isDeleting;
  const how = { reason, isHolderJudged, isGivenBack: true } as const;
  const steps = from === undefined ? [] : [unassignment(view, ip, { ...how, before: from })];
  const remove: DeleteIP = {
    kind: "delete-ip",
    id: actionID("delete-ip", view.object, ip),
    object: view.object,
    reason: "ReclaimDelete",
    requires: steps.map(({ id }) => id),
    follows: [],
    provider: view.pool.spec.provider,
    ip,
    before: from,
    after: undefined,
  };
  return [...steps, remove];
}

/** A deletion waits for the answers of pending acquisitions, and says so. */
function unanswered(view: PoolView): readonly Hold[] {
  if (hasAllAnswers(view)) return [];
  const until = view.pending.flatMap((intent) => (intent.kind === "waiting" ? (intent.untilMs ?? []) : []));
  const ambiguous = view.pending.findIndex(({ kind }) => kind === "ambiguous");
  const needsPerson = ambiguous >= 0;
  const notBeforeMs = until.length === 0 ? undefined : Math.max(...until);
  const reason = needsPerson ? ambiguityOf(view.pool, ambiguous) : "AcquisitionUnanswered";
  return [deletionHold(view, obstacle(reason, "", { needsPerson, notBeforeMs }))];
}

/** A deletion can end once no creation is without an answer, beside that every acquired address can be given back in this pass. */
function hasAllAnswers({ pool, pending }: PoolView): boolean {
  return (
    pool.spec.reclaimPolicy !== "Delete" || !pending.some(({ kind }) => kind === "waiting" || kind === "ambiguous")
  );
}
