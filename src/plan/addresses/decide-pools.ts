import type { AcquireIP, Action } from "../../model/action.ts";
import type { Observation } from "../../model/observation.ts";
import type { Hold } from "../../model/plan.ts";
import type { Reason } from "../../model/reason.ts";
import { ownerText } from "../../model/resource.ts";
import type { Cleaning } from "../finalizer.ts";
import { blockedBy } from "../status/conditions.ts";
import { type AcquisitionBudget, acquireForPool, acquisitionBudgets, openIntents } from "./acquire.ts";
import { type Assignments, assignPool } from "./assign.ts";
import type { Claims, ManagedIP } from "./claims.ts";
import { isWritable, MachineLedger } from "./machine-ledger.ts";
import { type AddressChoice, chooseAddress } from "./named-address.ts";
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
  const nowMs = observation.observedAtMs;
  const ledgers = machineLedgers(views, observation, claims, stillPublished);
  const budgets = acquisitionBudgets(observation);
  const inTurn = [...views.filter(isWritable), ...views.filter((view) => !isWritable(view))];
  return inTurn.map((view) => {
    const { provider } = view.pool.spec;
    const ledger = ledgers.get(provider);
    const budget = budgets.get(provider);
    if (!isWritable(view) || ledger === undefined || budget === undefined)
      return undecided(view, ledger, observation, stillPublished);
    const isLeaving = view.pool.meta.isDeleting;
    const choice = isLeaving ? { view, ledger, assignments: undefined } : chooseAddress(view, ledger, nowMs);
    ledgers.set(provider, choice.ledger);
    const holds = poolHolds(view, observation);
    return decide(choice, { holds, budget, stillPublished, nowMs });
  });
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
        addresses,
        addressesPerMachine: registry.get(name)?.addresses?.addressesPerMachine ?? 1,
        machineOf: (providerID) => registry.machineID(name, providerID),
        views,
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
  observation: Observation,
  stillPublished: ReadonlyMap<string, string>,
): Decision {
  const nowMs = observation.observedAtMs;
  const canServe = view.provider !== undefined && ledger !== undefined && !view.pool.meta.isDeleting;
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

/** What is held for a pool for a reason of its own: invalid, suspended, its provider, its addresses. */
function poolHolds(view: PoolView, observation: Observation): readonly Hold[] {
  const blocked = blockedBy(view);
  if (blocked !== undefined) {
    const notBeforeMs = observation.providers.get(view.pool.spec.provider)?.unusable?.notBeforeMs;
    return [whole(view, blocked.reason, blocked.message, blocked.needsPerson, notBeforeMs)];
  }
  const { suspend } = view.pool.spec;
  return [
    ...(suspend ? [whole(view, "Suspended", "", false, undefined)] : []),
    ...view.badEntries.map(({ entry, fault }): Hold => {
      return { ...address(view, entry, fault === "invalid" ? "InvalidIP" : "DuplicateIP", "", true), isOfEntry: true };
    }),
    ...view.managed.flatMap((managed) => addressHold(view, managed)),
    ...view.released.flatMap(({ ip, fact }) =>
      fact.kind === "gap" ? [address(view, ip, "Unreadable", fact.error, false)] : [],
    ),
  ];
}

function whole(
  view: PoolView,
  reason: Reason,
  detail: string,
  needsPerson: boolean,
  notBeforeMs: number | undefined,
): Hold {
  const hold: Hold = { kind: "reconcile", object: view.object, subject: view.key, reason, detail, needsPerson };
  return notBeforeMs === undefined ? hold : { ...hold, notBeforeMs };
}

function address(view: PoolView, ip: string, reason: Reason, detail: string, needsPerson: boolean): Hold {
  return { kind: "assign-ip", object: view.object, subject: ip, reason, detail, needsPerson };
}

function addressHold(view: PoolView, { ip, standing }: ManagedIP): readonly Hold[] {
  switch (standing.kind) {
    case "conflict":
      return [address(view, ip, "Conflict", `owned by ${ownerText(standing.owner)}`, true)];
    case "gap":
      return [address(view, ip, "Unreadable", standing.error, false)];
    case "gone":
      return [address(view, ip, "IPNotFound", "", true)];
    case "foreign":
      return [
        address(
          view,
          ip,
          "ForeignHolder",
          `machine ${standing.holder.machineID}; spec.foreignHolder: TakeOver would move it`,
          true,
        ),
      ];
    case "busy":
      return [address(view, ip, "InProgress", "", false)];
    case "placed":
      if (standing.unready === undefined || !view.inUse.has(ip)) return [];
      return [
        {
          ...address(view, ip, "Grace", `stays on node ${standing.on.nodeName}`, false),
          notBeforeMs: standing.unready.graceUntilMs,
        },
      ];
    case "free":
      return [];
  }
}
