import type { Action } from "../../model/action.ts";
import { entryText, isSent } from "../../model/address.ts";
import { sourceNamed } from "../../model/address-source.ts";
import type { Observation } from "../../model/observation.ts";
import type { Hold, Obstacle } from "../../model/plan.ts";
import { ipFamilyOf, ownerText } from "../../model/resource.ts";
import { suspendedObstacle } from "../../model/suspension.ts";
import { decided, drainOf, isShownIn, type ServingNames } from "../drain.ts";
import { emptyTargetObstacle, hold, obstacle, personNeeded } from "../holds.ts";
import {
  type BadEntry,
  type Decision,
  drainEndMs,
  isLeftEmpty,
  isShownByName,
  isWritable,
  type ManagedIP,
  type PoolView,
  statusOf,
  storedDrainSeconds,
} from "../pool-view.ts";
import { eachInSteps, type Steps } from "../steps.ts";
import { type AcquisitionBudget, acquireForPool, acquisitionBudgets, pendingHolds } from "./acquire.ts";
import { assignPool } from "./assign.ts";
import type { Claims } from "./claims.ts";
import { drainEnd, settleInherited } from "./hand-over.ts";
import { MachineLedger } from "./machine-ledger.ts";
import { chooseAddress } from "./named-address.ts";
import { settleReleased } from "./pace.ts";
import { servingStays } from "./position.ts";
import { reclaim } from "./reclaim.ts";

/**
 * Decides pool after pool, the senior one first: which address goes to which node, what is acquired, what is given back. Pools that will not be written come last,
 * so that they reserve nothing others could use. The ledgers and budgets of the pass are created here, and filled as decisions are taken.
 * @param stillPublished - addresses that cannot be taken out of DNS in this pass, with the name
 */
export function* decidePools(
  views: readonly PoolView[],
  observation: Observation,
  claims: Claims,
  stillPublished: ReadonlyMap<string, string>,
  names: ServingNames,
): Steps<DecidedPools> {
  const ledgers = machineLedgers(views, observation, claims, stillPublished);
  const budgets = acquisitionBudgets(observation, views);
  const inTurn = [...views.filter(isWritable), ...views.filter((view) => !isWritable(view))];
  const decisions = yield* eachInSteps(inTurn, (view) => {
    const { provider } = view.pool.spec;
    const ledger = ledgers.get(provider);
    const budget = budgets.get(provider);
    if (!isWritable(view) || ledger === undefined || budget === undefined)
      return undecided(view, ledger, stillPublished, names);
    if (view.pool.meta.isDeleting) return given(view, stillPublished, names);
    return decide(view, { ledger, budget, names, stillPublished, onChoice: (next) => ledgers.set(provider, next) });
  });
  const facts = decided(names);
  const settled = decisions.map((decision) => {
    const { view } = decision;
    const leaving = ledgers.get(view.pool.spec.provider)?.leaving;
    if (leaving === undefined || !isWritable(view) || view.pool.meta.isDeleting) return decision;
    const hasLeft = view.released.length + view.handedOver.length > 0;
    const left = hasLeft ? settleReleased(view, facts, leaving) : view;
    return { ...decision, view: left.inherited === undefined ? left : settleInherited(left, facts, leaving) };
  });
  return { decisions: settled, leaving: new Set([...ledgers.values()].flatMap((ledger) => [...ledger.leaving])) };
}

/** What is decided for all pools. */
export interface DecidedPools {
  readonly decisions: readonly Decision[];
  /** Addresses that leave their machines to others, now or once they have drained. */
  readonly leaving: ReadonlySet<string>;
}

/** Creates the ledger of each provider that was read: of all views, since any of them may remember one of its machines. */
function machineLedgers(
  views: readonly PoolView[],
  { providers, registry, observedAtMs }: Observation,
  claims: Claims,
  stillPublished: ReadonlyMap<string, string>,
): Map<string, MachineLedger> {
  // What was found again in this pass, no claim knows yet.
  const acquired = new Set(views.flatMap((view) => view.acquired.map(({ ip }) => ip)));
  return new Map(
    [...providers].map(([name, { addresses }]) => [
      name,
      new MachineLedger({
        // A network has one place, under the address that has it.
        addresses: new Map([...addresses].filter(([ip]) => claims.rivalOf(ip) === undefined)),
        addressesPerMachine: registry.get(name)?.addresses?.addressesPerMachine ?? 1,
        machineOf: (providerID) => registry.machineID(name, providerID),
        // Objects of the other family say nothing of these machines, whose ids they share.
        views: views.filter(({ pool }) => ipFamilyOf(pool.spec) === sourceNamed(name).family),
        isNamed: (ip) => claims.isNamed(ip) || acquired.has(ip),
        stillPublished,
        nowMs: observedAtMs,
      }),
    ]),
  );
}

/** What is said of an object that is not written in this pass. */
function undecided(
  view: PoolView,
  ledger: MachineLedger | undefined,
  stillPublished: ReadonlyMap<string, string>,
  facts: ServingNames,
): Decision {
  const canServe = view.provider !== undefined && !view.pool.meta.isDeleting;
  const assignments = canServe && ledger !== undefined ? assignPool(view, ledger) : undefined;
  const { holds, cleaning } = reclaim(view, false, stillPublished, facts);
  // What serves goes on serving while nothing may be changed.
  const managed = view.managed.map((address) => (canServe ? servingStays(address) : address));
  const drains = storedDrains(view);
  const staying = new Set([...(view.inherited ?? [])].filter((ip) => !drains.has(ip) && isShownIn(facts.names, ip)));
  return {
    view: { ...view, managed, drains, staying, handedOver: stillHandedOut(view) },
    actions: [],
    later: [],
    holds: [...(isLeftEmpty(view) ? [] : ownHolds(view)), ...(canServe ? pendingHolds(view) : []), ...holds],
    unassigned: assignments?.holds ?? [],
    waiting: assignments?.waiting ?? [],
    skipped: assignments?.skipped ?? [],
    cleaning,
  };
}

/** What an object that stands still handed over, and clients may have: its name shows it, or did until a while ago. */
function stillHandedOut({ pool, handedOver, nowMs }: PoolView): PoolView["handedOver"] {
  return handedOver.filter(({ ip }) => isShownByName(pool, ip) || (drainEndMs(pool, ip, nowMs) ?? 0) > nowMs);
}

/** Until when addresses stay by status: what stands still forgets nothing of it. */
function storedDrains({ pool, managed, released, handedOver, nowMs }: PoolView): NonNullable<PoolView["drains"]> {
  return new Map(
    [...managed, ...released, ...handedOver].flatMap(({ ip }) => {
      const untilMs = drainEndMs(pool, ip, nowMs);
      const forSeconds = storedDrainSeconds(pool, ip);
      const end = untilMs === undefined ? undefined : { untilMs, ...(forSeconds === undefined ? {} : { forSeconds }) };
      return end === undefined ? [] : [[ip, end] as const];
    }),
  );
}

/** Of an object that is being deleted addresses are only given back. */
function given(before: PoolView, stillPublished: ReadonlyMap<string, string>, names: ServingNames): Decision {
  const view = { ...before, drains: drainsOfDeleted(before, names, stillPublished) };
  const { holds, ...reclaimed } = reclaim(view, false, stillPublished, names);
  return { view, ...reclaimed, holds: [...ownHolds(view), ...holds], unassigned: [], waiting: [], skipped: [] };
}

/** Until when the addresses stay that are to be given back: those that another object's name shows, or showed a while ago, beside others that serve. One that its name keeps drains only on. */
function drainsOfDeleted(
  view: PoolView,
  names: ServingNames,
  stillPublished: ReadonlyMap<string, string>,
): NonNullable<PoolView["drains"]> {
  const going = new Set(view.managed.map(({ ip }) => ip));
  return new Map(
    view.managed.flatMap(({ ip, acquired }) => {
      const isServing = acquired !== undefined && isServedThere(view, ip);
      const drain = isServing ? drainOf(view, ip, names, going) : undefined;
      const isKept = drain?.kind === "shown" && stillPublished.has(ip);
      const end = drain === undefined || isKept ? undefined : drainEnd(view, ip, drain);
      return end === undefined ? [] : [[ip, end] as const];
    }),
  );
}

function decide(
  before: PoolView,
  context: {
    readonly ledger: MachineLedger;
    readonly budget: AcquisitionBudget;
    readonly names: ServingNames;
    readonly stillPublished: ReadonlyMap<string, string>;
    /** Told the ledger that later pools go on with. */
    readonly onChoice: (ledger: MachineLedger) => void;
  },
): Decision {
  const { view, ledger, assignments } = chooseAddress(before, context.ledger, context.names);
  context.onChoice(ledger);
  const acquired = acquireForPool(view, assignments, context.budget, ledger);
  const reclaimed = reclaim(view, acquired.actions.length > 0, context.stillPublished, context.names);
  return {
    view,
    actions: unique([...assignments.actions, ...acquired.actions, ...reclaimed.actions]),
    later: reclaimed.later,
    holds: [...ownHolds(before), ...assignments.holds, ...acquired.holds, ...reclaimed.holds],
    unassigned: assignments.holds,
    waiting: assignments.waiting,
    skipped: assignments.skipped,
    cleaning: reclaimed.cleaning,
  };
}

/** An address that leaves both because its machine is needed and because it is surplus is unassigned once. */
function unique(actions: readonly Action[]): readonly Action[] {
  return [...new Map(actions.toReversed().map((action) => [action.id, action])).values()].toReversed();
}

/** What is held for a pool for a reason of its own: invalid, suspended, its provider, its addresses. */
function ownHolds(view: PoolView): readonly Hold[] {
  const { blocked, object, key, suspended } = view;
  if (blocked !== undefined) return [hold("reconcile", object, key, blocked)];
  const ofAddress = (ip: string, why: Obstacle | undefined): readonly Hold[] =>
    why === undefined ? [] : [hold("assign-ip", object, ip, why)];
  return [
    ...(suspended === undefined ? [] : [hold("reconcile", object, key, suspendedObstacle(suspended, object))]),
    ...(view.emptyTarget === undefined ? [] : [hold("reconcile", object, key, emptyTargetObstacle(view.emptyTarget))]),
    ...(view.isOnePerNode === true ? [hold("reconcile", object, key, personNeeded("OnePerNode"))] : []),
    ...view.badEntries.map((bad): Hold => {
      return { ...hold("assign-ip", object, entryText(bad.entry), entryObstacle(bad)), isOfEntry: true };
    }),
    ...view.managed.flatMap((managed) => ofAddress(managed.ip, positionObstacle(view, managed))),
    ...view.released.flatMap(({ ip, fact }) =>
      fact.kind === "gap" ? ofAddress(ip, obstacle("Unreadable", fact.error)) : [],
    ),
  ];
}

/** Why an entry of `spec.ips` is not used. Of an IPv6 address that stands there twice the two may look different. */
function entryObstacle(bad: BadEntry): Obstacle {
  if (bad.fault === "invalid") return personNeeded("InvalidIP", `it ${bad.problem}`);
  const advice = "Keep one of its entries in spec.ips: an IPv6 address can be written in several ways.";
  return { ...personNeeded("DuplicateIP"), ...(bad.entry.includes(":") ? { advice } : {}) };
}

const TAKE_OVER = "Take it off that machine, or set spec.foreignHolder: TakeOver.";

/** Why an address stays as it is, for its position's sake alone. */
function positionObstacle(view: PoolView, { ip, standing }: ManagedIP): Obstacle | undefined {
  switch (standing.kind) {
    case "conflict":
      return personNeeded("Conflict", `owned by ${ownerText(standing.owner)}, ${standing.right}`);
    case "ungranted":
      return standing.why;
    case "gap":
      return obstacle("Unreadable", standing.error);
    case "blocked":
      return personNeeded("IPBlocked");
    case "gone":
      return personNeeded("IPNotFound");
    case "foreign": {
      const { machineID } = standing.holder;
      if (view.held.takeOver !== undefined) return view.held.takeOver;
      return { ...personNeeded("ForeignHolder", `machine ${machineID}`), advice: TAKE_OVER };
    }
    case "busy":
      return obstacle("InProgress", onItsWay(view, ip));
    case "placed": {
      const { unready, on } = standing;
      if (unready === undefined || !view.inUse.has(ip)) return undefined;
      return obstacle("Grace", `stays on node ${on.nodeName}`, { notBeforeMs: unready.graceUntilMs });
    }
    case "free":
      return undefined;
  }
}

/** Where the object has sent an address that the provider is working on; `""` where it has not. */
function onItsWay(view: PoolView, ip: string): string {
  const entry = statusOf(view.pool, ip);
  return isSent(entry) && entry?.nodeName !== undefined ? `on its way to ${entry.nodeName}` : "";
}

/** Returns the addresses that serve where they are, those of deleted objects, too. Pure. */
export function servedThere(views: readonly PoolView[]): ReadonlySet<string> {
  return new Set(views.flatMap((view) => view.managed.flatMap(({ ip }) => (isServedThere(view, ip) ? [ip] : []))));
}

function isServedThere(view: PoolView, ip: string): boolean {
  const fact = view.provider?.addresses.get(ip);
  return fact?.kind === "known" && view.isServedThere(fact.address);
}

/** Returns why objects whose address waits for a node pass nodes over, as texts. An address that has the machine of such a node is one of them. Pure. */
export function inTheWay(decisions: readonly Decision[]): ReadonlySet<string> {
  const waiting = decisions.filter(
    ({ view, unassigned }) => isWritable(view) && unassigned.some(({ waitsFor }) => waitsFor === "node"),
  );
  return new Set(waiting.flatMap(({ skipped }) => skipped.map(({ detail }) => detail)));
}
