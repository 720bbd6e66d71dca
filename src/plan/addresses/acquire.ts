import { type AcquireIP, actionID } from "../../model/action.ts";
import { ACQUISITION_WINDOW_MS } from "../../model/lease-notes.ts";
import type { Observation, ProviderFacts } from "../../model/observation.ts";
import type { Hold } from "../../model/plan.ts";
import type { Reason } from "../../model/reason.ts";
import type { Pool } from "../../model/resource.ts";
import { firewallObstacle } from "../firewalls/firewall-target.ts";
import { retryDueMs, retryOf } from "../retries.ts";
import { type Assignments, type Candidate, isSamePlace } from "./assign.ts";
import type { MachineLedger } from "./machine-ledger.ts";
import { countedIPs, type PoolView } from "./pool-view.ts";

/** What creations the account still allows in this pass; entered as they are planned. */
export interface AcquisitionBudget {
  /** Addresses the account may still get; Infinity when the limit is not known. */
  quotaLeft: number;
  /** How many it may have; absent when that is not known. */
  readonly limit?: number;
  /** Creations still allowed in the running minute. */
  rateLeft: number;
  /** When the next creation is allowed once `rateLeft` is used up, milliseconds. */
  readonly rateResetMs: number;
}

/** Creates the budget of each provider that was read, from the account's list and limit and the Lease's record of recent acquisitions. */
export function acquisitionBudgets(observation: Observation): ReadonlyMap<string, AcquisitionBudget> {
  const { providers, registry } = observation;
  return new Map(
    [...providers].map(([name, facts]) => {
      const perMinute = registry.get(name)?.addresses?.acquisitionsPerMinute ?? 0;
      return [name, budgetOf(facts, perMinute, observation)];
    }),
  );
}

function budgetOf(facts: ProviderFacts, perMinute: number, observation: Observation): AcquisitionBudget {
  const nowMs = observation.observedAtMs;
  const recent = observation.lease.acquisitionTimesMs.filter((ms) => ms > nowMs - ACQUISITION_WINDOW_MS);
  const { addressLimit: limit, addressCount: count } = facts;
  return {
    quotaLeft: limit === undefined || count === undefined ? Number.POSITIVE_INFINITY : limit - count,
    ...(limit === undefined ? {} : { limit }),
    rateLeft: perMinute - recent.length,
    rateResetMs: Math.min(...recent.map((ms) => Math.min(ms, nowMs)), nowMs) + ACQUISITION_WINDOW_MS,
  };
}

/**
 * Plans the addresses a pool lacks: for empty candidates left over first, else unattached in the spec's region, or without one in that of a candidate whose machine
 * an address must leave first. Reduces the budget, and enters the targets in the ledger.
 */
export function acquireForPool(
  view: PoolView,
  assignments: Assignments,
  budget: AcquisitionBudget,
  ledger: MachineLedger,
  nowMs: number,
): { readonly actions: readonly AcquireIP[]; readonly holds: readonly Hold[] } {
  const missing = view.desired - countedIPs(view);
  const open = openIntents(view);
  if (open.length > 0) return { actions: [], holds: open };
  if (missing <= 0) return { actions: [], holds: [] };
  const lacking = (held: Hold, count: number): readonly Hold[] => [
    { ...held, missing: { count, desired: view.desired } },
  ];
  const blocked = blocker(view, nowMs);
  if (blocked !== undefined) return { actions: [], holds: lacking(blocked, missing) };
  const places = placesToBuyFor(view, assignments.leftOver, nowMs);
  const actions: AcquireIP[] = [];
  let coolOffUntilMs = assignments.coolOffUntilMs;
  for (let ordinal = 1; ordinal <= missing; ordinal += 1) {
    const place = places[ordinal - 1] ?? inRegion(view.pool.spec.region);
    const left = missing - actions.length;
    if (place === undefined) return { actions, holds: lacking(withoutPlace(view, assignments.leftOver, nowMs), left) };
    const held = heldBy(view, budget, place.target, coolOffUntilMs);
    if (held !== undefined) return { actions, holds: lacking(held, left) };
    actions.push(acquisition(view, ordinal, place.after));
    budget.quotaLeft -= 1;
    budget.rateLeft -= 1;
    if (place.target === undefined) continue;
    ledger.promise(place.target.place.machineID, view.key);
    coolOffUntilMs = coolOffFrom(view, nowMs);
  }
  return { actions, holds: [] };
}

/** When the cool-off ends that begins with an assignment now; undefined where the pool has none. */
function coolOffFrom({ pool }: PoolView, nowMs: number): number | undefined {
  const { assignmentCoolOffSeconds } = pool.spec;
  return assignmentCoolOffSeconds > 0 ? nowMs + assignmentCoolOffSeconds * 1000 : undefined;
}

/** Where an address is bought; `target` is absent where it is for no machine yet. */
interface BuyingPlace {
  readonly target?: Candidate;
  readonly after: AcquireIP["after"];
}

/** The empty candidates; then, where the spec has no region, that of each candidate whose machine is not empty: an address is assigned there once the other one has left. */
function placesToBuyFor(view: PoolView, leftOver: readonly Candidate[], nowMs: number): readonly BuyingPlace[] {
  const targets = leftOver.filter((candidate) => isTarget(view, candidate, nowMs));
  const occupied = view.pool.spec.region === "" ? leftOver.filter(({ leaving }) => leaving.length > 0) : [];
  return [
    ...targets.map((target) => ({ target, after: { node: target.place } })),
    ...occupied.flatMap(({ region }) => inRegion(region) ?? []),
  ];
}

function inRegion(region: string): BuyingPlace | undefined {
  return region === "" ? undefined : { after: { region } };
}

function isTarget(view: PoolView, candidate: Candidate, nowMs: number): boolean {
  return (
    candidate.leaving.length === 0 &&
    isSamePlace(view.pool.spec.region, candidate) &&
    isDue(view, candidate.node.name, nowMs)
  );
}

/**
 * A node whose last attempt failed is asked for again only at its time; after a second failure not at all where an unattached address can be had instead, since
 * it may never take one.
 */
function isDue(view: PoolView, nodeName: string, nowMs: number): boolean {
  const retry = retryOf(view, `node/${nodeName}`);
  if (retry === undefined) return true;
  const mayHelp = retry.attempts < 2 || view.pool.spec.region === "";
  return mayHelp && retryDueMs(retry, nowMs) <= nowMs;
}

/** What creations without an answer hold up, whether or not the pool may be written. Pure. */
export function openIntents(view: PoolView): readonly Hold[] {
  return view.intents.flatMap((intent, at): readonly Hold[] => {
    if (intent.kind === "ambiguous")
      return [hold(view, ambiguityOf(view.pool, at), intent.candidates.join(", "), undefined, true)];
    if (intent.kind === "waiting") return [hold(view, "AcquisitionUnanswered", "", intent.untilMs, false)];
    return [];
  });
}

/** Why it cannot be told which address the n-th creation without an answer got. */
export function ambiguityOf({ status }: Pool, at: number): "AmbiguousAcquisition" | "LostAcquisition" {
  return status.pendingAcquisitions[at]?.restored === true ? "LostAcquisition" : "AmbiguousAcquisition";
}

function blocker(view: PoolView, nowMs: number): Hold | undefined {
  if (view.provider?.isComplete !== true)
    return hold(view, "Unreadable", "the account's list of addresses could not be read", undefined, false);
  const retry = retryOf(view, "acquire");
  if (retry === undefined || retryDueMs(retry, nowMs) <= nowMs) return undefined;
  return hold(view, "Backoff", retry.error, retryDueMs(retry, nowMs), false);
}

/** A node that failed and will be asked for again is waited for, and so is a firewall that keeps nodes waiting; only without either is the region missing. */
function withoutPlace(view: PoolView, leftOver: readonly Candidate[], nowMs: number): Hold {
  const retries = leftOver
    .filter(({ leaving }) => leaving.length === 0)
    .flatMap(({ node }) => retryOf(view, `node/${node.name}`) ?? []);
  const [next] = retries.toSorted((a, b) => retryDueMs(a, nowMs) - retryDueMs(b, nowMs));
  if (next !== undefined) return hold(view, "Backoff", next.error, retryDueMs(next, nowMs), false);
  const closed = view.matches.flatMap(({ providerID }) => {
    const machine = view.machineOf(providerID);
    return machine === undefined ? [] : (firewallObstacle(view.firewall, view.placeOf(machine)) ?? []);
  })[0];
  if (closed === undefined) return hold(view, "NoRegion", "", undefined, true);
  return hold(view, closed.reason, closed.detail, closed.notBeforeMs, closed.needsPerson);
}

function heldBy(
  view: PoolView,
  budget: AcquisitionBudget,
  target: Candidate | undefined,
  coolOffUntilMs: number | undefined,
): Hold | undefined {
  if (budget.quotaLeft <= 0) {
    const limit = budget.limit === undefined ? "" : ` of ${budget.limit}`;
    return hold(view, "QuotaExceeded", `the account's limit${limit} reserved addresses is reached`, undefined, true);
  }
  if (budget.rateLeft <= 0) return hold(view, "CreationRate", "", budget.rateResetMs, false);
  if (target !== undefined && coolOffUntilMs !== undefined) {
    return hold(view, "CoolOff", `for node ${target.node.name}`, coolOffUntilMs, false);
  }
  return undefined;
}

function hold(
  view: PoolView,
  reason: Reason,
  detail: string,
  notBeforeMs: number | undefined,
  needsPerson: boolean,
): Hold {
  const common: Hold = { kind: "acquire-ip", object: view.object, subject: view.key, reason, detail, needsPerson };
  return notBeforeMs === undefined ? common : { ...common, notBeforeMs };
}

function acquisition(view: PoolView, ordinal: number, after: AcquireIP["after"]): AcquireIP {
  return {
    kind: "acquire-ip",
    id: actionID("acquire-ip", view.object, `new-${ordinal}`),
    object: view.object,
    reason: "BelowDesired",
    requires: [],
    follows: [],
    provider: view.pool.spec.provider,
    ordinal,
    before: undefined,
    after,
  };
}
