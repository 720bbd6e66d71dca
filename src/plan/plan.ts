import { type Action, type AssignIP, isAssign, type ObjectRef, refKey } from "../model/action.ts";
import { lacksPermission } from "../model/hold.ts";
import type { Observation } from "../model/observation.ts";
import type { Hold, Obstacle, Plan } from "../model/plan.ts";
import { annotatedFamily } from "../model/record-types.ts";
import { bySeniority, ipFamilyOf, ownerKey } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { contentHash } from "../model/text.ts";
import { planAnnotations } from "./addresses/annotations.ts";
import { type Claims, forgottenBy } from "./addresses/claims.ts";
import { decidePools, inTheWay, servedThere } from "./addresses/decide-pools.ts";
import { withInherited } from "./addresses/hand-over.ts";
import { providerBudgets } from "./budget.ts";
import { type KeptShown, leftAddresses, type ServingNames } from "./drain.ts";
import { type CleanedUp, type Cleaning, finalizerStep } from "./finalizer.ts";
import { undoneAdditions, withoutUndone } from "./firewalls/firewall-memory.ts";
import { isFirewallAwaited } from "./firewalls/firewall-target.ts";
import { type LettingIn, type ObjectFirewalls, planFirewalls } from "./firewalls/plan-firewalls.ts";
import { findGaps } from "./gaps.ts";
import { judgeGrants } from "./grants.ts";
import { type Guarded, guarded } from "./guards.ts";
import { type ImpactJudge, impactJudge, nameServices } from "./impact.ts";
import { keptShown, NOTHING_KEPT } from "./kept-shown.ts";
import { type NameClaims, settleNames } from "./names/name-claims.ts";
import {
  keptByPools,
  type ObjectNames,
  planDNS,
  stayingAddresses,
  untouchedNames,
  wantedOwner,
} from "./names/plan-dns.ts";
import { type Publisher, poolKey, poolPublisher, publisherKey } from "./names/publishers.ts";
import { awaitedByRecordSets, type Shown, shownNow } from "./names/still-published.ts";
import { nameWrites } from "./names/withdrawals.ts";
import { byKey, nodesInOrder, sortedActions, sortedHolds } from "./order.ts";
import { type Decision, firewallObstacles, isLeftEmpty, isWritable, type PoolView } from "./pool-view.ts";
import {
  byRecordSet,
  type CheckedRecordSet,
  checkRecordSet,
  nameHolds,
  type RecordSetView,
  recordSetHolds,
  viewRecordSet,
} from "./record-set-view.ts";
import { isSoon } from "./retries.ts";
import { isNamespaceSelected, isSelected } from "./selection.ts";
import type { ServedAddresses } from "./serving.ts";
import { lastForCertain, poolAddresses, servingAnywhere, servingNow, verifiedAddresses } from "./serving.ts";
import { type Ownership, ownership } from "./shards.ts";
import { assessPool, type OwnPlan } from "./status/pool-status.ts";
import { assessRecordSet } from "./status/record-set-status.ts";
import { atOnce, eachInSteps, type Steps } from "./steps.ts";
import { type Bounds, settlePools } from "./view-pools.ts";
import { decidersOf, type Excess, excess, joinedByObject, NOTHING_WITHHELD, withOthers } from "./withhold.ts";

/**
 * Turns one observation into a plan: actions, holds, and the status that each object should have. Pure: the order of the lists changes nothing.
 *
 *   0 grants     what objects may not ask of the account                      judgeGrants
 *   1 claim      one owner per address and per DNS name                       settlePools, settleNames
 *   2 addresses  assign, acquire, give back; senior object first              decidePools
 *                say who is hurt by each action                               impactJudge
 *     guard      keep one address of each name serving
 *   3 firewalls  open them where addresses go, close them where none is       planFirewalls
 *     guard      no address goes where the firewall is closed
 *   4 names      plan A records for the addresses that will serve             planDNS
 *     guard      give back no address that a name still shows
 *   5 annotate   repair node annotations                                      planAnnotations
 *   6 writes     withdraw leaving addresses from DNS, finalizers              nameWrites, finalizerStep
 *     guard      DNS before unassignment, finalizers before everything
 *   7 status     what each object should show                                 assessPool, assessRecordSet
 *
 * All objects share one ledger of machines: no address goes to two nodes, and no node gets more addresses than its machine can have. The selection limits only which
 * objects are written. Claims, matches and conflicts cover the whole cluster. What is of another shard is decided as if it were written, and left to its process (shards.ts).
 */
export function plan(observed: Observation, selection: Selection): Plan {
  return atOnce(planInSteps(observed, selection));
}

/** Plans as {@link plan} does, and stops again and again: a plan of hundreds of objects and thousands of nodes takes seconds, many on a slow machine. */
export function* planInSteps(observed: Observation, selection: Selection): Steps<Plan> {
  const world: Observation = { ...observed, nodes: nodesInOrder(observed.nodes) };
  const grants = judgeGrants(world);
  const whose = ownership(world, selection);
  const deciders = decidersOf(world);
  if (deciders === undefined)
    return (yield* planned(world, selection, { grants, withheld: NOTHING_WITHHELD, ownership: whose })).made;
  let asked: Pick<Excess, "toConfirm" | "toApprove"> = { toConfirm: [], toApprove: [] };
  let withheld = NOTHING_WITHHELD;
  for (;;) {
    const { made, later, others } = yield* planned(world, selection, { grants, withheld, ownership: whose });
    const more = withOthers(excess([...made.actions, ...later], deciders), others, deciders);
    const isAllHeld = [...more.withheld.keys()].every((what) => withheld.has(what));
    if (isAllHeld) return { ...made, ...withoutEmpty(asked) };
    asked = {
      toConfirm: [...asked.toConfirm, ...more.toConfirm],
      toApprove: joinedByObject([...asked.toApprove, ...more.toApprove]),
    };
    withheld = new Map([...withheld, ...more.withheld]);
  }
}

function withoutEmpty({ toConfirm, toApprove }: Pick<Excess, "toConfirm" | "toApprove">): Partial<Plan> {
  return { ...(toConfirm.length === 0 ? {} : { toConfirm }), ...(toApprove.length === 0 ? {} : { toApprove }) };
}

/** Plans once. What is withheld stays as it is. `later` as of a {@link Decision}. */
function* planned(
  world: Observation,
  selection: Selection,
  bounds: Bounds,
): Steps<{ readonly made: Plan; readonly later: readonly Action[]; readonly others: readonly Action[] }> {
  const claimed = yield* claim(world, selection, bounds);
  const { addresses, names } = yield* planChanges(world, claimed);
  const annotations = planAnnotations({
    observation: world,
    views: addresses.decisions.map(({ view }) => view),
    claims: claimed.claims,
    assignments: addresses.assignments,
    stillPublished: new Map([...claimed.shown.stuck, ...addresses.kept, ...names.kept]),
    inherited: names.inherited,
    isNamespaceSelected: (namespace) => isNamespaceSelected(selection, namespace),
  });
  yield;
  const writes = planWrites(claimed, addresses, names, annotations.actions, world.firewalls);
  yield;
  const holds = [
    ...addresses.holds,
    ...names.holds,
    ...annotations.holds,
    ...[...addresses.firewalls.values()].flatMap((object) => object.holds),
    ...writes.holds,
  ];
  return {
    made: yield* assess({ world, claimed, addresses, names, actions: writes.actions, holds }),
    later: addresses.decisions
      .filter(({ view }) => view.isOthers !== true)
      .flatMap(({ later }) => later.map(addresses.impact.classed)),
    others: addresses.others,
  };
}

/** Plans what becomes of addresses, and of names; once more where an address drains for the sake of a name that keeps it. */
function* planChanges(
  world: Observation,
  claimed: Claimed,
): Steps<{ readonly addresses: AddressPlan; readonly names: NamesPlan }> {
  let kept = NOTHING_KEPT;
  for (;;) {
    const addresses = yield* planAddresses(world, claimed, kept);
    const names = yield* planNames(world, claimed, addresses);
    const more = keptShown(addresses, claimed.shown.names, [...names.byObject.values()].flat(), kept);
    if (more === undefined) return { addresses, names };
    kept = more;
  }
}

/** The objects with their claims, before anything is decided. */
interface Claimed extends Bounds {
  readonly claims: Claims;
  /** The senior object first, as all lists of this kind. */
  readonly views: readonly PoolView[];
  readonly recordSets: readonly CheckedRecordSet[];
  /** Every object as DNS sees it: pools before record sets. */
  readonly publishers: readonly Publisher[];
  readonly nameClaims: NameClaims;
  /** What names show before anything changes. */
  readonly shown: Shown;
  /** Addresses that serve at this moment, whatever is planned for them. */
  readonly serving: ReadonlySet<string>;
  readonly servedBy: ServingNames["servedBy"];
  readonly left: ServingNames["left"];
  readonly nowMs: number;
}

/** Gives each address and each name one owner. */
function* claim(world: Observation, selection: Selection, bounds: Bounds): Steps<Claimed> {
  const { dns, observedAtMs: nowMs } = world;
  const { grants } = bounds;
  const { claims, views: found } = yield* settlePools(world, bounds, selection);
  const recordSets = world.recordSets
    .toSorted(bySeniority)
    .flatMap((recordSet) => checkRecordSet(recordSet, isSelected(selection, "dns", recordSet.meta), world, grants));
  const publishers = [
    ...found.map((view) => poolPublisher(view, world)),
    ...recordSets.map(({ publisher }) => publisher),
  ];
  yield;
  const nameClaims = settleNames(publishers);
  const shown = withOwners(shownNow(publishers, nameClaims, dns, nowMs), bounds.ownership);
  const left = leftAddresses(publishers);
  const views = withInherited(found, { ...shown, left });
  const servedBy = servingNow(views);
  const serving = servingAnywhere(views, servedBy);
  return {
    ...bounds,
    claims,
    views,
    recordSets,
    publishers,
    nameClaims,
    left,
    shown: { ...shown, stuck: new Map([...shown.stuck, ...lastForCertain(views, shown.names, serving)]) },
    serving,
    servedBy,
    nowMs,
  };
}

/** What names show, and which of them another process changes. */
function withOwners(shown: Shown, { hasOthers, isOwn }: Ownership): Shown {
  if (!hasOthers) return shown;
  return { ...shown, names: shown.names.map((name) => (isOwn(name.owner) ? name : { ...name, isOthers: true })) };
}

/** What is planned so far, as the guards left it. */
type Draft = Pick<Guarded, "actions" | "holds">;

/** Where addresses go, and what firewalls do about it. */
interface AddressPlan extends Guarded {
  /** Those that may be written first. Their actions are as they were decided: `actions` has what the guards left of them. */
  readonly decisions: readonly Decision[];
  readonly leaving: ReadonlySet<string>;
  readonly assignments: readonly AssignIP[];
  /** By {@link refKey}. */
  readonly firewalls: ReadonlyMap<string, ObjectFirewalls>;
  readonly lettingIn: LettingIn;
  /** Says who is hurt by the actions of the plan. */
  readonly impact: ImpactJudge;
  /** What other processes are to do. */
  readonly others: readonly Action[];
}

/** Decides about addresses, then opens and closes the firewalls in front of them. */
function* planAddresses(world: Observation, claimed: Claimed, kept: KeptShown): Steps<AddressPlan> {
  const { views, claims, shown, serving, servedBy, left, ownership: whose } = claimed;
  const facts = { ...shown, serving, servedBy, left, kept };
  const { decisions, leaving } = yield* decidePools(views, world, claims, shown.stuck, facts);
  const impact = impactJudge(
    world,
    decisions.map(({ view }) => view),
    claimed.recordSets,
  );
  const decided = decisions.flatMap(({ actions }) => actions.map(impact.classed));
  yield;
  const isRead = shown.names.filter((name) => name.isRead);
  const staying = guarded("addresses", decided, { shown: isRead, serving, ownership: whose });
  const { byObject, sending, lettingIn } = planFirewalls(
    decisions.map(({ view }) => view),
    staying.actions,
    world,
    { stillPublished: shown.stuck, shown: shown.addresses },
  );
  yield;
  const { actions, holds } = guarded("firewalls", staying.actions, { sending });
  return {
    decisions,
    leaving,
    actions,
    assignments: actions.filter(isAssign),
    holds: [...decisions.flatMap((decision) => decision.holds), ...staying.holds, ...holds],
    kept: staying.kept,
    firewalls: byObject,
    lettingIn,
    impact,
    others: decided.filter(({ object }) => !whose.isOwn(object)),
  };
}

/** What names show after the plan. */
interface NamesPlan extends Guarded {
  /** Every record set, with what it has to publish: once for each type of records that it has, A first. */
  readonly recordSets: readonly RecordSetView[];
  /** By {@link refKey}; of every object, in the same order. */
  readonly byObject: ReadonlyMap<string, readonly ObjectNames[]>;
  /** As of {@link keptByPools}. */
  readonly inherited: ReadonlySet<string>;
}

/**
 * Returns the pools that have an address to publish before long, though nobody can say which yet or where: it is being bought, or will be; it may not be sent yet, as the pool
 * cools off; or the firewall of a node that it could go to cannot be read yet, or is about to be in force there. They wait for no person, but for the permissions of a token.
 */
function comingPools({ decisions, actions }: AddressPlan): readonly PoolView[] {
  const buying = new Set(actions.flatMap(({ kind, object }) => (kind === "acquire-ip" ? [refKey(object)] : [])));
  return decisions
    .filter((decision) => buying.has(refKey(decision.view.object)) || isComing(decision))
    .map(({ view }) => view);
}

/** True for a record set that shows what pools have on its nodes, where one of these pools is about to have an address there. */
function isAwaiting({ recordSet, matching }: RecordSetView, coming: ReadonlySet<PoolView>): boolean {
  const family = annotatedFamily(recordSet.spec.addressType);
  const own = [...coming].filter(({ pool }) => ipFamilyOf(pool.spec) === family);
  if (own.length === 0) return false;
  const nodes = new Set(matching);
  return own.some(({ matches }) => matches.some(({ name }) => nodes.has(name)));
}

function isComing({ view, holds, unassigned }: Decision): boolean {
  if (view.pool.meta.isDeleting) return false;
  const isHeld = holds.some(
    (why) =>
      (why.kind === "acquire-ip" && endsWithout(why, view.nowMs)) ||
      (why.kind === "assign-ip" && why.waitsFor === "cool-off" && !why.needsPerson),
  );
  const hasFirewall = view.firewall.kind !== "none" && unassigned.length > 0;
  const isShut =
    hasFirewall && firewallObstacles(view).some((why) => why !== undefined && endsWithout(why, view.nowMs));
  return isHeld || isShut || view.pool.status.pendingAcquisitions.length > 0;
}

/** True for what ends without an edit of the object: by itself and soon, or once a permission is there that was refused. Example: a token may not buy addresses, or change firewalls. */
function endsWithout({ needsPerson, reason, waitsFor, notBeforeMs }: Obstacle, nowMs: number): boolean {
  if (needsPerson) return lacksPermission(reason);
  return waitsFor === "cool-off" || notBeforeMs === undefined || isSoon(notBeforeMs, nowMs);
}

/** Plans the records of every object. Leaves the records of a blocked pool or an invalid record set as they are. */
function* planNames(world: Observation, claimed: Claimed, addresses: AddressPlan): Steps<NamesPlan> {
  const { nameClaims: claims, nowMs } = claimed;
  const { decisions, assignments, lettingIn, impact } = addresses;
  const publisherOf = new Map(claimed.publishers.map((publisher) => [publisherKey(publisher), publisher]));
  const views = decisions.map(({ view }) => view);
  const verified = verifiedAddresses(views, assignments, lettingIn);
  const recordSets = yield* eachInSteps(claimed.recordSets, (recordSet) =>
    viewRecordSet(recordSet, world, verified, claims),
  );
  const assigned = Map.groupBy(assignments, ({ object }) => refKey(object));
  const coming = new Set(comingPools(addresses));
  const withComing = (own: ServedAddresses, isComing: boolean): ServedAddresses =>
    isComing ? { ...own, isComing } : own;
  const served = new Map<string, ServedAddresses>([
    ...views
      .filter((view) => view.blocked === undefined)
      .map((view) => {
        const own = poolAddresses(view, assigned.get(refKey(view.object)) ?? [], lettingIn);
        return [poolKey(view), withComing(own, coming.has(view))] as const;
      }),
    ...recordSets
      .filter(({ validation }) => validation.kind === "valid")
      .map((view) => [publisherKey(view.publisher), withComing(view.served, isAwaiting(view, coming))] as const),
  ]);
  const publishers = [...views.map(poolKey), ...recordSets.map(({ publisher }) => publisherKey(publisher))].flatMap(
    (key) => publisherOf.get(key) ?? [],
  );
  const isDown = (object: ObjectRef, ip: string): boolean => impact.leaving(object, ip) === "recovery";
  const untouched = publishers.filter((publisher) => !served.has(publisherKey(publisher))).map(untouchedNames);
  const isForgotten = forgottenBy(world.pools, claimed.ownership.ownPools);
  const facts = { claims, isDown, leaving: addresses.leaving, nowServing: claimed.serving, isForgotten, nowMs };
  const planned = yield* planDNS(publishers, served, world.dns, facts);
  const objects = [...untouched, ...planned];
  const changes = [...addresses.actions, ...[...addresses.firewalls.values()].flatMap((object) => object.actions)];
  const deleting = new Set(views.filter(({ pool }) => pool.meta.isDeleting).map(({ key }) => key));
  const isDeleting = (object: ObjectRef): boolean => deleting.has(ownerKey(object));
  const staying = stayingAddresses(objects, servedThere(views));
  const { actions, holds, kept } = guarded("names", changes, { staying, inTheWay: inTheWay(decisions), isDeleting });
  return {
    recordSets,
    byObject: Map.groupBy(objects, (object) => refKey(object.publisher.ref)),
    actions,
    kept,
    inherited: keptByPools(objects),
    holds: [...holds, ...recordSetHolds(recordSets, nowMs), ...nameHolds(objects)],
  };
}

/** Joins all writes, and puts them in their order. */
function planWrites(
  { publishers, serving, withheld, ownership: whose }: Claimed,
  { decisions, firewalls, impact, holds: addressHolds }: AddressPlan,
  names: NamesPlan,
  annotations: readonly Action[],
  facts: Observation["firewalls"],
): Draft {
  const objects = [...names.byObject.values()].flat();
  const leaving = new Set(
    names.actions.flatMap((action) =>
      action.kind === "unassign-ip" || action.kind === "delete-ip" ? [action.ip] : [],
    ),
  );
  const moving = new Set(names.actions.flatMap((action) => (action.kind === "move-ip" ? [action.ip] : [])));
  const published = new Set(serving);
  for (const own of new Set(names.recordSets.map(({ served }) => served.serving)))
    for (const [ip, after] of own) if (after.length === 0) published.add(ip);
  const changes = [...names.actions, ...nameWrites(objects, { leaving, moving, serving: published }), ...annotations];
  const distinct = new Map(changes.map((action) => [action.id, impact.classed(action)]));
  const cleaningOf = (ref: ObjectRef): readonly Cleaning[] =>
    [...(names.byObject.get(refKey(ref)) ?? []), ...[firewalls.get(refKey(ref)) ?? []].flat()].map(
      ({ cleaning }) => cleaning,
    );
  // What a guard dropped cleans nothing.
  const asPlanned = (cleaning: Cleaning): Cleaning => ({
    ...cleaning,
    isStuck: cleaning.isStuck || cleaning.after.some((id) => !distinct.has(id)),
  });
  const finalizers = [
    ...decisions
      .filter(({ view }) => isWritable(view) || isLeftEmpty(view))
      .flatMap(({ view: { object, pool }, cleaning }) =>
        finalizerStep(object, pool.meta, [asPlanned(cleaning), ...cleaningOf(object)]),
      ),
    ...byRecordSet(names.recordSets)
      .filter(({ publisher }) => publisher.isWritable)
      .flatMap(({ ref, recordSet }) => finalizerStep(ref, recordSet.meta, cleaningOf(ref))),
  ];
  const publisherOf = new Map(publishers.map((publisher) => [refKey(publisher.ref), publisher]));
  const told = new Set(
    [...addressHolds, ...names.holds].map((one) => `${refKey(one.object)} ${one.subject} ${one.reason}`),
  );
  const statuses = new Map<string, CleanedUp>([
    ...decisions.map(({ view }) => [refKey(view.object), view.pool.status] as const),
    ...names.recordSets.map(({ ref, recordSet }) => [refKey(ref), recordSet.status] as const),
  ]);
  const awaiting = decisions.filter(({ view }) => isFirewallAwaited(view.pool, facts));
  const awaitingKeys = new Set(awaiting.map(({ view }) => refKey(view.object)));
  return guarded("writes", [...distinct.values(), ...finalizers], {
    withheld,
    ownership: whose,
    isTold: (object, what, { reason }) => told.has(`${refKey(object)} ${what} ${reason}`),
    isDeleting: (object) => publisherOf.get(refKey(object))?.meta.isDeleting === true,
    awaitsFirewall: (object) => awaitingKeys.has(refKey(object)),
    retriesOf: (object) => publisherOf.get(refKey(object))?.retries,
    statusOf: (object) => statuses.get(refKey(object)),
  });
}

/** Puts the plan together, with the status that follows from it. */
function* assess(planned: {
  readonly world: Observation;
  readonly claimed: Claimed;
  readonly addresses: AddressPlan;
  readonly names: NamesPlan;
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
}): Steps<Plan> {
  const { world, claimed, addresses, names } = planned;
  const { nowMs } = claimed;
  const actions = sortedActions(planned.actions);
  const holds = sortedHolds(planned.holds);
  const shownHolds = holds.filter(isShown(claimed));
  const gaps = findGaps(world);
  const grants = claimed.grants.told(isShown(claimed));
  const actionsOf = Map.groupBy(actions, ({ object }) => refKey(object));
  const holdsOf = Map.groupBy(holds, ({ object }) => refKey(object));
  const undone = undoneAdditions([...addresses.firewalls.values()], actions);
  const ownPlan = (ref: ObjectRef): Omit<OwnPlan, "names" | "isAwaited"> => {
    const key = refKey(ref);
    const firewall = addresses.firewalls.get(key);
    return {
      actions: actionsOf.get(key) ?? [],
      holds: holdsOf.get(key) ?? [],
      missing: claimed.grants.missingOf(ref),
      ...(firewall === undefined ? {} : { firewall: { ...firewall, memory: withoutUndone(firewall.memory, undone) } }),
    };
  };
  const namesOf = (ref: ObjectRef): readonly ObjectNames[] => names.byObject.get(refKey(ref)) ?? [];
  const judgedUntilMs = Math.min(...[...claimed.views, ...names.recordSets].map((view) => view.judgedUntilMs));
  const allNames = [...names.byObject.values()].flat();
  const { isOwn } = claimed.ownership;
  const ownersWanted = allNames.flatMap(wantedOwner).filter(({ object }) => isOwn(object));
  const isAwaited = awaitedByRecordSets(claimed.publishers);
  const decisions = addresses.decisions.filter(({ view }) => view.isSelected && view.isOthers !== true);
  const pools = yield* eachInSteps(decisions, (decision) => {
    const { object } = decision.view;
    return namesOf(object).map((own) => assessPool(decision, { ...ownPlan(object), names: own, isAwaited }));
  });
  const viewed = byRecordSet(names.recordSets).filter(({ ref, isSelected: isMeant }) => isMeant && isOwn(ref));
  const recordSets = yield* eachInSteps(
    viewed,
    ({ ref, views }) => assessRecordSet(views, { ...ownPlan(ref), names: namesOf(ref) }, nowMs) ?? [],
  );
  return {
    planID: contentHash(JSON.stringify([actions, shownHolds, gaps])),
    observedAtMs: nowMs,
    ...(judgedUntilMs === Number.POSITIVE_INFINITY ? {} : { judgedUntilMs }),
    cluster: world.cluster,
    actions,
    followUps: [],
    ...(ownersWanted.length === 0 ? {} : { ownersWanted }),
    holds: shownHolds,
    gaps,
    ...(grants === undefined ? {} : { grants }),
    pools: pools.flat().toSorted(byKey),
    recordSets: recordSets.flat().toSorted(byKey),
    names: nameServices(allNames, actions, addresses.impact),
    budget: providerBudgets(world, actions),
  };
}

/** Holds of objects outside the run's selection, or of other shards, are not shown; those of objects that no longer exist are. */
function isShown({ views, recordSets, ownership: whose }: Claimed): (about: { object: ObjectRef }) => boolean {
  const hidden = new Set([
    ...views.filter((view) => !view.isSelected).map(({ object }) => refKey(object)),
    ...recordSets.filter((recordSet) => !recordSet.isSelected).map(({ publisher }) => refKey(publisher.ref)),
  ]);
  return ({ object }) => whose.isOwn(object) && !hidden.has(refKey(object));
}
