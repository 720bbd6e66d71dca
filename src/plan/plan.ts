import { ACTIONS, type Action, type AssignIP, type ObjectRef, refKey, subjectOf } from "../model/action.ts";
import type { Observation } from "../model/observation.ts";
import type { Hold, Plan } from "../model/plan.ts";
import { bySeniority, compareText, objectKey, type Pool, type RetryStatus } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { contentHash } from "../model/text.ts";
import { planAnnotations } from "./addresses/annotations.ts";
import { type Claims, settleClaims } from "./addresses/claims.ts";
import { type Decision, decidePools } from "./addresses/decide-pools.ts";
import { isWritable } from "./addresses/machine-ledger.ts";
import { type PoolView, viewPool } from "./addresses/pool-view.ts";
import { providerBudgets } from "./budget.ts";
import { finalizerStep, NOTHING_TO_CLEAN, withoutRefusedFinalizers } from "./finalizer.ts";
import { type LettingIn, type ObjectFirewalls, planFirewalls } from "./firewalls/plan-firewalls.ts";
import { restoreMemory } from "./fold-status.ts";
import { findGaps } from "./gaps.ts";
import { shownAddresses, stillPublished } from "./names/former-names.ts";
import { keepOneServing, keepPublished } from "./names/keep-serving.ts";
import { type NameClaims, settleNames } from "./names/name-claims.ts";
import { type ObjectNames, planDNS, untouchedNames, withUnrecorded } from "./names/plan-dns.ts";
import { poolAddresses, poolPublisher, type ServedAddresses } from "./names/publishers.ts";
import { verifiedAddresses } from "./names/verified-addresses.ts";
import { machineNodes } from "./nodes/judge-nodes.ts";
import { orderWrites } from "./order-writes.ts";
import { isNamespaceSelected, isSelected } from "./selection.ts";
import { assessPool, type OwnPlan } from "./status/assess-pool.ts";
import {
  assessRecordSet,
  checkRecordSet,
  type RecordSetView,
  recordSetHolds,
  viewRecordSet,
} from "./status/assess-record-set.ts";
import { blockedBy } from "./status/conditions.ts";

/**
 * Computes everything to do, everything deliberately not done, and the status every object should have, from one observation.
 *
 * Premise: objects are served in order of seniority, over one ledger of machines, so that an address is never planned for two nodes nor a node for two
 * addresses; then every name gets what serves by then. Claims, matches and conflicts are computed over the whole cluster; the selection only says what may be
 * written. Pure and deterministic: the order in which lists arrived changes nothing.
 */
export function plan(observed: Observation, selection: Selection): Plan {
  const nowMs = observed.observedAtMs;
  const observation = { ...observed, pools: observed.pools.map((pool) => restoreMemory(pool, nowMs)) };
  const claims = settleClaims(observation.pools);
  const sorted = { ...observation, nodes: observation.nodes.toSorted((a, b) => compareText(a.name, b.name)) };
  const views = viewPools(sorted, claims, selection);
  const checked = observation.recordSets
    .toSorted(bySeniority)
    .map((recordSet) => checkRecordSet(recordSet, isSelected(selection, "dns", recordSet.meta), observation));
  const publishers = [
    ...views.map((view) => poolPublisher(view, observation)),
    ...checked.map(({ publisher }) => publisher),
  ];
  const nameClaims = settleNames(publishers);
  const published = stillPublished(publishers, nameClaims, observation.dns, nowMs);
  const serving = servingNow(views);
  const decided = decidePools(views, observation, claims, published);
  const { decisions: guarded, kept } = keepOneServing(decided, publishers, nameClaims, serving);
  const visible = { stillPublished: published, shown: shownAddresses(publishers, nameClaims) };
  const { decisions: orderly, byObject: firewalls, lettingIn } = planFirewalls(guarded, observation, visible);
  const assigns = orderly.flatMap(({ actions }) => actions.filter(isAssign));
  const used = decided.map(({ view }) => view);
  const verified = verifiedAddresses(used, assigns, lettingIn);
  const recordSets = checked.map((recordSet) => viewRecordSet(recordSet, sorted, verified));
  const names = namePlans(orderly, recordSets, nameClaims, observation, lettingIn);
  const decisions = keepPublished(orderly, [...names.values()]);
  const stillShown = new Map([...published, ...kept]);
  const isInScope = (namespace: string): boolean => isNamespaceSelected(selection, namespace);
  const annotating = { observation, views: used, claims, assignments: assigns, stillPublished: stillShown };
  const annotations = planAnnotations({ ...annotating, isNamespaceSelected: isInScope });
  const writes = writesOf(decisions, recordSets, { names, firewalls }, annotations.actions, serving);
  const due = withoutRefusedFinalizers(writes, retriesOf(views, recordSets), nowMs);
  const actions = due.actions.toSorted(byObjectPhaseSubject);
  const ofSets = { holds: recordSets.flatMap((view) => recordSetHolds(view, nowMs)) };
  const holding = [...decisions, ofSets, ...names.values(), annotations, ...firewalls.values(), due];
  const holds = holding.flatMap((part) => part.holds).toSorted(byObjectSubject);
  const shownHolds = holds.filter(isShown(views, recordSets));
  const gaps = findGaps(observation);
  const own = ownPlans({ names, firewalls }, actions, holds);
  return {
    planID: contentHash(JSON.stringify([actions, shownHolds, gaps])),
    observedAtMs: nowMs,
    ...judgedUntil([...views, ...recordSets]),
    cluster: observation.cluster,
    actions,
    followUps: [],
    holds: shownHolds,
    gaps,
    pools: decisions
      .filter(({ view }) => view.isSelected)
      .flatMap((decision) => own(decision.view.object).map((plans) => assessPool(decision, plans, nowMs)))
      .toSorted(byKey),
    recordSets: recordSets
      .filter((view) => view.isSelected)
      .flatMap((view) => own(view.ref).map((plans) => assessRecordSet(view, plans, nowMs)))
      .toSorted(byKey),
    budget: providerBudgets(observation, actions),
  };
}

function judgedUntil(views: readonly Pick<PoolView, "judgedUntilMs">[]): Pick<Plan, "judgedUntilMs"> {
  const judgedUntilMs = Math.min(...views.map((view) => view.judgedUntilMs));
  return judgedUntilMs === Number.POSITIVE_INFINITY ? {} : { judgedUntilMs };
}

function viewPools(observation: Observation, claims: Claims, selection: Selection): readonly PoolView[] {
  const names = new Set(observation.pools.map(({ spec }) => spec.provider));
  const machines = new Map([...names].map((name) => [name, machineNodes(observation, name)]));
  const context = {
    observation,
    claims,
    machinesOf: (provider: string) => machines.get(provider) ?? machineNodes(observation, provider),
    isSelected: (pool: PoolView["pool"]) => isSelected(selection, pool.kind, pool.meta),
    firewalls: {
      firewalls: observation.firewalls,
      made: madeRules(observation.pools),
      nowMs: observation.observedAtMs,
      registry: observation.registry,
    },
    found: new Set<string>(),
  };
  return observation.pools.toSorted(bySeniority).map((pool) => viewPool(pool, context));
}

/** The names of every object, by its key; those of a pool that cannot be worked on are left as they are. */
function namePlans(
  decisions: readonly Decision[],
  recordSets: readonly RecordSetView[],
  claims: NameClaims,
  observation: Observation,
  lettingIn: LettingIn,
): ReadonlyMap<string, ObjectNames> {
  const { dns, observedAtMs } = observation;
  const served = new Map<string, ServedAddresses>();
  const names = new Map<string, ObjectNames>();
  for (const { view, actions } of decisions) {
    if (blockedBy(view) === undefined)
      served.set(refKey(view.object), poolAddresses(view, actions.filter(isAssign), lettingIn));
    else names.set(refKey(view.object), untouchedNames(poolPublisher(view, observation)));
  }
  for (const view of recordSets) {
    if (view.validation.kind === "valid") served.set(refKey(view.ref), view.served);
    else names.set(refKey(view.ref), untouchedNames(view.publisher));
  }
  const publishers = [
    ...decisions.map(({ view }) => poolPublisher(view, observation)),
    ...recordSets.map(({ publisher }) => publisher),
  ];
  for (const object of planDNS(publishers, served, claims, dns, observedAtMs))
    names.set(refKey(object.publisher.ref), object);
  return names;
}

/** What is done about names and firewalls, by {@link refKey}. */
interface Plans {
  readonly names: ReadonlyMap<string, ObjectNames>;
  readonly firewalls: ReadonlyMap<string, ObjectFirewalls>;
}

function writesOf(
  decisions: readonly Decision[],
  recordSets: readonly RecordSetView[],
  { names, firewalls }: Plans,
  annotations: readonly Action[],
  serving: ReadonlySet<string>,
): readonly Action[] {
  const dns = [...names.values()];
  const cleaning = (ref: ObjectRef): readonly ObjectNames["cleaning"][] => {
    const own = names.get(refKey(ref));
    return own === undefined ? [] : [own.cleaning];
  };
  const finalizers = [
    ...decisions
      .filter(({ view }) => isWritable(view))
      .flatMap(({ view, cleaning: addresses }) =>
        finalizerStep(view.object, view.pool.meta, [
          addresses,
          ...cleaning(view.object),
          firewalls.get(refKey(view.object))?.cleaning ?? NOTHING_TO_CLEAN,
        ]),
      ),
    ...recordSets
      .filter(({ publisher }) => publisher.isWritable)
      .flatMap(({ ref, recordSet }) => finalizerStep(ref, recordSet.meta, cleaning(ref))),
  ];
  const changes = [
    ...decisions.flatMap((decision) => decision.actions),
    ...dns.flatMap(({ present, former }) => [...present.actions, ...former.actions]),
    ...annotations,
    ...[...firewalls.values()].flatMap((object) => object.actions),
  ];
  const published = recordSets.flatMap(({ served }) =>
    [...served.serving].flatMap(([ip, first]) => (first.length === 0 ? [ip] : [])),
  );
  return withUnrecorded(orderWrites(changes, dns, finalizers, new Set([...serving, ...published])), dns);
}

function retriesOf(
  views: readonly PoolView[],
  recordSets: readonly RecordSetView[],
): (object: ObjectRef) => readonly RetryStatus[] {
  const retries = new Map([
    ...views.map(({ object, pool }) => [refKey(object), pool.status.retries] as const),
    ...recordSets.map(({ ref, recordSet }) => [refKey(ref), recordSet.status.retries] as const),
  ]);
  return (object) => retries.get(refKey(object)) ?? [];
}

/** What the plan has for each object; grouped once, since a plan can be long. */
function ownPlans(
  { names, firewalls }: Plans,
  actions: readonly Action[],
  holds: readonly Hold[],
): (ref: ObjectRef) => readonly OwnPlan[] {
  const ownActions = Map.groupBy(actions, ({ object }) => refKey(object));
  const ownHolds = Map.groupBy(holds, ({ object }) => refKey(object));
  return (ref) => {
    const key = refKey(ref);
    const own = names.get(key);
    if (own === undefined) return [];
    const firewall = firewalls.get(key);
    return [
      {
        names: own,
        actions: ownActions.get(key) ?? [],
        holds: ownHolds.get(key) ?? [],
        ...(firewall === undefined ? {} : { firewall }),
      },
    ];
  };
}

function isAssign(action: Action): action is AssignIP {
  return action.kind === "assign-ip" || action.kind === "move-ip";
}

/** Holds of objects outside the run's selection are not shown; those of objects that no longer exist are. */
function isShown(views: readonly PoolView[], recordSets: readonly RecordSetView[]): (hold: Hold) => boolean {
  const selected = new Map([
    ...views.map((view) => [refKey(view.object), view.isSelected] as const),
    ...recordSets.map((view) => [refKey(view.ref), view.isSelected] as const),
  ]);
  return ({ object }) => selected.get(refKey(object)) ?? true;
}

function byKey(a: { readonly object: ObjectRef }, b: { readonly object: ObjectRef }): number {
  return compareText(objectKey(a.object), objectKey(b.object));
}

/** By namespace and name; a pool before the record set of the same name. */
function byObject(a: { readonly object: ObjectRef }, b: { readonly object: ObjectRef }): number {
  return byKey(a, b) || compareText(b.object.kind, a.object.kind);
}

function byObjectSubject(a: Hold, b: Hold): number {
  return byObject(a, b) || compareText(a.subject, b.subject) || compareText(a.kind, b.kind);
}

function byObjectPhaseSubject(a: Action, b: Action): number {
  return byObject(a, b) || ACTIONS[a.kind].phase - ACTIONS[b.kind].phase || compareText(subjectOf(a), subjectOf(b));
}

/** The addresses pools manage, or released, that are attached to a match at this moment, whatever is planned for them. Pure. */
function servingNow(views: readonly PoolView[]): ReadonlySet<string> {
  return new Set(
    views.flatMap((view) => {
      const placed = view.managed.flatMap(({ ip, standing }) =>
        standing.kind === "placed" && standing.unready === undefined ? [ip] : [],
      );
      const isMatch = (holderID: string | undefined): boolean =>
        view.matches.some(({ providerID }) => view.machineOf(providerID) === holderID);
      const released = view.released.flatMap(({ ip, fact }) =>
        fact.kind === "known" && !fact.address.isLocked && isMatch(fact.address.holderID) ? [ip] : [],
      );
      return [...placed, ...released];
    }),
  );
}

/** Firewall id → the ports that flipop opened there, for whatever object, as its status has them. Pure. */
function madeRules(pools: readonly Pool[]): ReadonlyMap<string, ReadonlySet<string>> {
  const made = new Map<string, Set<string>>();
  for (const { id, ports } of pools.flatMap(({ status }) => status.firewalls ?? []))
    made.set(id, new Set([...(made.get(id) ?? []), ...ports]));
  return made;
}
