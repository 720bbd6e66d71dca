import { ACTIONS, type AcquireIP, type Action, type AssignIP, subjectOf, type UnassignIP } from "../model/action.ts";
import { contentHash } from "../model/content-hash.ts";
import type { Observation } from "../model/observation.ts";
import type { Gap, Hold, Plan, PoolAssessment } from "../model/plan.ts";
import { objectKey, type Pool } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { acquireForPool, acquisitionBudget } from "./acquire.ts";
import { planAnnotations } from "./annotations.ts";
import { type Assignments, assignPool } from "./assign.ts";
import { blockedBy } from "./blocked.ts";
import { providerBudgets } from "./budget.ts";
import { type Claims, settleClaims } from "./claims.ts";
import { isWritable, MachineLedger } from "./machine-ledger.ts";
import { machineNodes } from "./machine-nodes.ts";
import { bySeniority, compareText } from "./object-order.ts";
import { poolHolds } from "./pool-holds.ts";
import { poolStatus } from "./pool-status.ts";
import { type PoolView, viewPool } from "./pool-view.ts";
import { reclaim } from "./reclaim.ts";
import { isNamespaceSelected, isPoolSelected } from "./selection.ts";

/**
 * Computes everything to do, everything deliberately not done, and the status every pool should have, from one observation.
 *
 * Premise: objects are served in order of seniority, over one ledger of machines, so that an address is never planned for two nodes nor a node for two
 * addresses. Claims, matches and conflicts are computed over the whole cluster; the selection only says what may be written. Pure and deterministic: the order
 * in which lists arrived changes nothing.
 */
export function plan(observation: Observation, selection: Selection): Plan {
  const claims = settleClaims(observation.pools);
  const views = viewAll(observation, claims, selection);
  const decisions = decide(views, observation, claims);
  const assigns = decisions.flatMap(({ actions }) => actions.filter(isAssign));
  const annotations = planAnnotations({
    observation,
    views,
    claims,
    assignments: assigns,
    isNamespaceSelected: (namespace) => isNamespaceSelected(selection, namespace),
  });
  const actions = afterClearing([
    ...decisions.flatMap((decision) => decision.actions),
    ...annotations.actions,
  ]).toSorted(byObjectPhaseSubject);
  const selected = new Set(views.filter((view) => view.isSelected).map(({ key }) => key));
  const holds = [...decisions.flatMap((decision) => decision.holds), ...annotations.holds].toSorted(byObjectSubject);
  const shownHolds = holds.filter(
    ({ object }) => selected.has(objectKey(object)) || !views.some(({ key }) => key === objectKey(object)),
  );
  const gaps = findGaps(observation);
  return {
    planID: contentHash(JSON.stringify([actions, shownHolds, gaps])),
    observedAtMs: observation.observedAtMs,
    cluster: observation.cluster,
    actions,
    holds: shownHolds,
    gaps,
    pools: decisions
      .filter(({ view }) => view.isSelected)
      .map((decision) => assess(decision, actions, holds, observation.observedAtMs))
      .toSorted((a, b) => compareText(objectKey(a.object), objectKey(b.object))),
    budget: providerBudgets(observation, actions),
  };
}

function viewAll(observation: Observation, claims: Claims, selection: Selection): readonly PoolView[] {
  const machines = machineNodes(observation.nodes, "digitalocean");
  const nodes = observation.nodes.toSorted((a, b) => compareText(a.name, b.name));
  const sorted = { ...observation, nodes };
  const isSelected = (pool: Pool): boolean => isPoolSelected(selection, pool);
  const found = new Set<string>();
  return observation.pools
    .toSorted(bySeniority)
    .map((pool) => viewPool(pool, { observation: sorted, claims, machines, isSelected, found }));
}

interface Decision {
  readonly view: PoolView;
  readonly assignments: Assignments | undefined;
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
}

/** Decides pool after pool; those that will not be written come last, so that they reserve nothing others could use. */
function decide(views: readonly PoolView[], observation: Observation, claims: Claims): readonly Decision[] {
  const addresses = observation.providers.get("digitalocean")?.addresses ?? new Map();
  const ledger = new MachineLedger("digitalocean", addresses, views, (ip) => claims.isNamed(ip));
  const budget = acquisitionBudget(observation, "digitalocean");
  const nowMs = observation.observedAtMs;
  const inTurn = [...views.filter(isWritable), ...views.filter((view) => !isWritable(view))];
  return inTurn.map((view) => {
    const canServe = view.provider !== undefined && !view.pool.meta.isDeleting;
    const assignments = canServe ? assignPool(view, ledger, nowMs) : undefined;
    const holds = poolHolds(view, observation);
    if (!isWritable(view))
      return { view, assignments, actions: [], holds: [...holds, ...reclaim(view, false, nowMs).holds] };
    const acquired =
      assignments === undefined ? { actions: [], holds: [] } : acquireForPool(view, assignments, budget, ledger, nowMs);
    const reclaimed = reclaim(view, acquired.actions.length > 0, nowMs);
    const finalizers = reclaimed.actions.filter(({ kind }) => kind === "add-finalizer").map(({ id }) => id);
    const acquisitions = oneAfterAnother(acquired.actions, finalizers);
    return {
      view,
      assignments,
      actions: unique([...(assignments?.actions ?? []), ...acquisitions, ...reclaimed.actions]),
      holds: [...holds, ...(assignments?.holds ?? []), ...acquired.holds, ...reclaimed.holds],
    };
  });
}

/** A creation that was refused or got no answer stops the later ones of its pool: they would meet the same, and wait for the same time. */
function oneAfterAnother(actions: readonly AcquireIP[], finalizers: readonly string[]): readonly AcquireIP[] {
  return actions.map((action, index) => ({
    ...action,
    requires: [...finalizers, ...actions.slice(Math.max(0, index - 1), index).map(({ id }) => id)],
  }));
}

/** An address that leaves both because its machine is needed and because it is surplus is unassigned once. */
function unique(actions: readonly Action[]): readonly Action[] {
  return [...new Map(actions.toReversed().map((action) => [action.id, action])).values()].toReversed();
}

function isAssign(action: Action): action is AssignIP {
  return action.kind === "assign-ip" || action.kind === "move-ip";
}

/** An address is taken off a machine only after the node's annotation of it went. */
function afterClearing(actions: readonly Action[]): readonly Action[] {
  const clearing = new Map(
    actions.flatMap((action) => (action.kind === "clear-annotation" ? [[action.nodeName, action.id]] : [])),
  );
  const distinct = [...new Map(actions.map((action) => [action.id, action])).values()];
  return distinct.map((action) => {
    const id = action.kind === "unassign-ip" ? clearing.get(action.before.nodeName ?? "") : undefined;
    return id === undefined
      ? action
      : ({ ...(action as UnassignIP), follows: [...action.follows, id] } satisfies UnassignIP);
  });
}

function assess(decision: Decision, actions: readonly Action[], holds: readonly Hold[], nowMs: number): PoolAssessment {
  const { view, assignments } = decision;
  const isOwn = ({ object }: { readonly object: Action["object"] }): boolean => objectKey(object) === view.key;
  const graced = view.managed.flatMap(({ standing }) =>
    standing.kind === "placed" && standing.unready !== undefined ? [standing.on.nodeName] : [],
  );
  return {
    object: view.object,
    matching: [...new Set([...view.matches.map(({ name }) => name), ...graced])].toSorted(compareText),
    notMatching: view.notMatching.filter(({ nodeName }) => !graced.includes(nodeName)),
    waiting: assignments?.waiting ?? [],
    skipped: assignments?.skipped ?? [],
    desired: view.desired,
    status: poolStatus({
      view,
      assignments,
      holds: holds.filter(isOwn),
      pendingActions: actions.filter(isOwn).length,
      blocked: blockedBy(view),
      nowMs,
    }),
  };
}

function findGaps(observation: Observation): readonly Gap[] {
  return [...observation.providers.values()].flatMap((provider): readonly Gap[] => {
    if (provider.unusable !== undefined)
      return [{ provider: provider.name, subject: "", error: provider.unusable.message }];
    return [...provider.addresses]
      .flatMap(([subject, fact]) =>
        fact.kind === "gap" ? [{ provider: provider.name, subject, error: fact.error }] : [],
      )
      .toSorted((a, b) => compareText(a.subject, b.subject));
  });
}

function byObjectSubject(a: Hold, b: Hold): number {
  return (
    compareText(objectKey(a.object), objectKey(b.object)) ||
    compareText(a.subject, b.subject) ||
    compareText(a.kind, b.kind)
  );
}

function byObjectPhaseSubject(a: Action, b: Action): number {
  return (
    compareText(objectKey(a.object), objectKey(b.object)) ||
    ACTIONS[a.kind].phase - ACTIONS[b.kind].phase ||
    compareText(subjectOf(a), subjectOf(b))
  );
}
