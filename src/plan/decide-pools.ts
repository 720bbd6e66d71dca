import type { AcquireIP, Action } from "../model/action.ts";
import type { Observation } from "../model/observation.ts";
import type { Hold } from "../model/plan.ts";
import { type AcquisitionBudget, acquireForPool, acquisitionBudget, openIntents } from "./acquire.ts";
import { type Assignments, assignPool } from "./assign.ts";
import type { Claims } from "./claims.ts";
import type { Cleaning } from "./finalizer-step.ts";
import { isWritable, MachineLedger } from "./machine-ledger.ts";
import { type AddressChoice, chooseAddress } from "./named-address.ts";
import { poolHolds } from "./pool-holds.ts";
import type { PoolView } from "./pool-view.ts";
import { reclaim } from "./reclaim.ts";

/** What is done about the addresses of one pool. */
export interface Decision {
  readonly view: PoolView;
  readonly assignments: Assignments | undefined;
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
  readonly cleaning: Cleaning;
}

/**
 * Decides pool after pool; those that will not be written come last, so that they reserve nothing others could use.
 * @param stillPublished - addresses that cannot be taken out of DNS in this pass, with the name
 */
export function decidePools(
  views: readonly PoolView[],
  observation: Observation,
  claims: Claims,
  stillPublished: ReadonlyMap<string, string>,
): readonly Decision[] {
  const addresses = observation.providers.get("digitalocean")?.addresses ?? new Map();
  const nowMs = observation.observedAtMs;
  // What was found again in this pass, no claim knows yet.
  const acquired = new Set(views.flatMap((view) => view.acquired.map(({ ip }) => ip)));
  const isNamed = (ip: string): boolean => claims.isNamed(ip) || acquired.has(ip);
  let ledger = new MachineLedger("digitalocean", addresses, views, isNamed, stillPublished, nowMs);
  const budget = acquisitionBudget(observation, "digitalocean");
  const inTurn = [...views.filter(isWritable), ...views.filter((view) => !isWritable(view))];
  return inTurn.map((view) => {
    if (!isWritable(view)) return undecided(view, ledger, observation, stillPublished);
    const isLeaving = view.pool.meta.isDeleting;
    const choice = isLeaving ? { view, ledger, assignments: undefined } : chooseAddress(view, ledger, nowMs);
    ledger = choice.ledger;
    const holds = poolHolds(view, observation);
    return decide(choice, { holds, budget, stillPublished, nowMs });
  });
}

/** What is said of an object that is not written in this pass. */
function undecided(
  view: PoolView,
  ledger: MachineLedger,
  observation: Observation,
  stillPublished: ReadonlyMap<string, string>,
): Decision {
  const nowMs = observation.observedAtMs;
  const canServe = view.provider !== undefined && !view.pool.meta.isDeleting;
  const { holds, cleaning } = reclaim(view, false, stillPublished, nowMs);
  const open = canServe ? openIntents(view) : [];
  return {
    view,
    assignments: canServe ? assignPool(view, ledger, nowMs) : undefined,
    actions: [],
    holds: [...poolHolds(view, observation), ...open, ...holds],
    cleaning,
  };
}

function decide(
  { view, ledger, assignments }: AddressChoice,
  context: {
    readonly holds: readonly Hold[];
    readonly budget: AcquisitionBudget;
    readonly stillPublished: ReadonlyMap<string, string>;
    readonly nowMs: number;
  },
): Decision {
  const { holds, budget, stillPublished, nowMs } = context;
  const acquired =
    assignments === undefined ? { actions: [], holds: [] } : acquireForPool(view, assignments, budget, ledger, nowMs);
  const reclaimed = reclaim(view, acquired.actions.length > 0, stillPublished, nowMs);
  return {
    view,
    assignments,
    actions: unique([...(assignments?.actions ?? []), ...oneAfterAnother(acquired.actions), ...reclaimed.actions]),
    holds: [...holds, ...(assignments?.holds ?? []), ...acquired.holds, ...reclaimed.holds],
    cleaning: reclaimed.cleaning,
  };
}

/** A creation that was refused or got no answer stops the later ones of its pool: they would meet the same, and wait for the same time. */
function oneAfterAnother(actions: readonly AcquireIP[]): readonly AcquireIP[] {
  return actions.map((action, index) => ({
    ...action,
    requires: actions.slice(Math.max(0, index - 1), index).map(({ id }) => id),
  }));
}

/** An address that leaves both because its machine is needed and because it is surplus is unassigned once. */
function unique(actions: readonly Action[]): readonly Action[] {
  return [...new Map(actions.toReversed().map((action) => [action.id, action])).values()].toReversed();
}
