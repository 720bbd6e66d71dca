import { type AcquireIP, actionID } from "../../model/action.ts";
import type { Address, AddressFact, PendingAcquisition } from "../../model/address.ts";
import { sourceNamed } from "../../model/address-source.ts";
import { ACQUISITION_WINDOW_MS, acquisitionTimes } from "../../model/lease-notes.ts";
import type { Observation, ProviderFacts } from "../../model/observation.ts";
import type { Hold, Obstacle } from "../../model/plan.ts";
import { compareText, ownerText, type Pool } from "../../model/resource.ts";
import { NOT_BEGUN } from "../../model/restraint.ts";
import { nodeSubject } from "../../model/retry-subject.ts";
import { pastMs, timestamp } from "../../model/time.ts";
import { hold, obstacle, personNeeded } from "../holds.ts";
import { countedIPs, firewallObstacles, type MachineOf, type PendingResolution, type PoolView } from "../pool-view.ts";
import { retryDueMs } from "../retries.ts";
import { type Assignments, coolOff, isSamePlace, newCoolOff } from "./assign.ts";
import { type Candidate, hasCandidate } from "./candidates.ts";
import type { MachineLedger } from "./machine-ledger.ts";

/*
 * When an address is acquired, and what stops a second acquisition.
 *
 * An address is acquired when a pool has fewer than it should have, and its free addresses have found their nodes. Nothing is acquired twice:
 *
 *   1 Every managed address counts, also one that is gone, unreadable or somebody else's. So do entries that are no addresses ({@link countedIPs}).
 *   2 Before the call, status gets a pending acquisition with all addresses that the account has. It counts, too, and while it is open nothing else is acquired.
 *   3 The next pass looks for what it brought among the addresses that are new ({@link resolvePending}). Only a list that was read 30 seconds after the call, and
 *     shows nothing that could be it, ends the wait.
 *   4 Acquisitions of one pool are carried out one after another. One that fails or gets no answer stops the later ones.
 *
 * The last free addresses of the account are shared: one is kept for each object that has none and waits for one ({@link isWithoutAny}). Such objects do not wait for
 * each other.
 */

/**
 * How long after its beginning a pending acquisition is watched for, before one unattached address is taken for it or another is made, milliseconds: longer
 * than a call may take (15 s) and lists may lag behind.
 */
export const UNANSWERED_WATCH_MS = 30_000;

/** What acquisitions the account still allows in this pass. {@link acquireForPool} lowers it with each acquisition that it plans. */
export interface AcquisitionBudget {
  /** Addresses the account may still get; Infinity when the limit is not known. */
  quotaLeft: number;
  /** How many it may have; absent when that is not known. */
  readonly limit?: number;
  /** Acquisitions still allowed in the running minute. */
  rateLeft: number;
  /** When the next one is allowed once `rateLeft` is used up, milliseconds. */
  readonly rateResetMs: number;
  /** By key the objects that have no address and ask for one, the senior one first: of the last free addresses one is kept for each that can be given it. */
  readonly withoutAny: Map<string, PoolView>;
  /** What the run may still acquire, over all providers. */
  readonly run: { left: number; readonly limit: number };
}

/**
 * Creates the budget of each provider that was read, from the account's list and limit and the Lease's record of recent acquisitions.
 * @param views - of all objects, also of those that this run does not write: they wait, too
 */
export function acquisitionBudgets(
  observation: Observation,
  views: readonly PoolView[],
): ReadonlyMap<string, AcquisitionBudget> {
  const { providers, registry, observedAtMs: nowMs, lease } = observation;
  const { limits, begun } = observation.restraint ?? { limits: {}, begun: NOT_BEGUN };
  const limitOfRun = limits.purchases ?? Number.POSITIVE_INFINITY;
  const run = { left: limitOfRun - begun.purchases, limit: limitOfRun };
  return new Map(
    [...providers].map(([name, { addressLimit: limit, addressCount: count }]) => {
      const perMinute = registry.get(name)?.addresses?.acquisitionsPerMinute ?? 0;
      const quotaLeft = limit === undefined || count === undefined ? Number.POSITIVE_INFINITY : limit - count;
      const known = limit === undefined ? {} : { limit };
      const ofProvider = views.filter(({ pool }) => pool.spec.provider === name);
      const withoutAny = objectsWithoutAny(ofProvider, quotaLeft);
      const times = acquisitionTimes(lease, sourceNamed(name).family);
      const recent = times.filter((ms) => ms > nowMs - ACQUISITION_WINDOW_MS);
      const rateResetMs = Math.min(...recent.map((ms) => Math.min(ms, nowMs)), nowMs) + ACQUISITION_WINDOW_MS;
      return [name, { quotaLeft, ...known, rateLeft: perMinute - recent.length, rateResetMs, withoutAny, run }];
    }),
  );
}

/** Empty where the account has enough for all of them, or nothing at all. */
function objectsWithoutAny(views: readonly PoolView[], quotaLeft: number): Map<string, PoolView> {
  const lacking = views.reduce((sum, view) => sum + Math.max(0, view.desired - countedIPs(view)), 0);
  const isEnough = lacking + views.flatMap(unanswered).length <= quotaLeft;
  const waiting = quotaLeft <= 0 || isEnough ? [] : views.filter(isWithoutAny);
  return new Map(waiting.map((view) => [view.key, view]));
}

/**
 * True for an object that has no address and asks for one of the account. An acquisition without an answer may have brought none. It does not wait for the account
 * while it is suspended, without a grant, or while a person must act first at its firewall or say what an earlier acquisition brought.
 */
function isWithoutAny(view: PoolView): boolean {
  const { pool, provider, suspended } = view;
  if (provider === undefined || suspended !== undefined || pool.meta.isDeleting || hasAddress(view)) return false;
  if (view.pending.some(({ kind }) => kind === "ambiguous")) return false;
  const mayBuy = view.deadEnd === undefined && grantedPurchases(view) > 0;
  return unanswered(view).length > 0 || (mayBuy && view.desired > countedIPs(view));
}

/** True while there is a place that an address could be acquired for. */
function hasPlace(view: PoolView, ledger: MachineLedger): boolean {
  return unanswered(view).length > 0 || view.pool.spec.region !== "" || hasCandidate(view, ledger);
}

function unanswered({ pending }: PoolView): readonly PendingResolution[] {
  return pending.filter(({ kind }) => kind === "waiting");
}

/** True for an object with an address that is its own and that exists, as far as is known. */
function hasAddress({ managed }: PoolView): boolean {
  return managed.some(
    ({ standing: { kind } }) => kind === "placed" || kind === "free" || kind === "busy" || kind === "gap",
  );
}

/**
 * Plans the addresses that a pool lacks. Enters them in the budget, and their nodes in the ledger. An address is acquired
 *
 *   1 for a node that got none and whose machine is free; where the provider makes none for a machine, unattached in the node's region
 *   2 else unattached, in the spec's region
 *   3 else, without a region in the spec, in the region of a node whose machine another address must leave first
 */
export function acquireForPool(
  view: PoolView,
  assignments: Left & Pick<Assignments, "taken">,
  budget: AcquisitionBudget,
  ledger: MachineLedger,
): Purchases {
  const missing = view.desired - countedIPs(view);
  const open = pendingHolds(view);
  const blocked = obstacleToAll(view, assignments);
  if (open.length === 0) return buy(view, { missing, blocked }, assignments, budget, ledger);
  const tried = { ...budget, withoutAny: new Map(budget.withoutAny), run: { ...budget.run } };
  if (view.pending.every(({ kind }) => kind !== "ambiguous")) keepNodes(view, missing, assignments, tried, ledger);
  return { actions: [], holds: open };
}

type Left = Pick<Assignments, "leftOver" | "coolOffUntilMs">;

interface Purchases {
  readonly actions: readonly AcquireIP[];
  readonly holds: readonly Hold[];
}

/**
 * Keeps nodes for the addresses that are coming: for those that acquisitions without an answer bring unattached, then for those that are bought once there is an answer.
 * What is made for a machine has it on record, and so in the ledger.
 * @param budget - a copy: nothing is bought now
 */
function keepNodes(
  view: PoolView,
  missing: number,
  { leftOver, coolOffUntilMs }: Left,
  budget: AcquisitionBudget,
  ledger: MachineLedger,
): void {
  const unattached = view.pending.filter(
    ({ kind }, at) => kind === "waiting" && view.pool.status.pendingAcquisitions[at]?.providerID === undefined,
  );
  const targets = leftOver.filter((candidate) => isTarget(view, candidate));
  const first = new Set(targets.slice(0, unattached.length));
  for (const { place } of first) ledger.promise(place.machineID, view.key);
  const others = leftOver.filter((candidate) => !first.has(candidate));
  // By then a failure is tried again: acquisitions wait for an answer for longer.
  const blocked = unreadAccount(view) ?? view.deadEnd;
  buy(view, { missing, blocked }, { leftOver: others, coolOffUntilMs }, budget, ledger);
}

function buy(
  view: PoolView,
  { missing, blocked }: { readonly missing: number; readonly blocked: Obstacle | undefined },
  { leftOver, coolOffUntilMs }: Left,
  budget: AcquisitionBudget,
  ledger: MachineLedger,
): Purchases {
  if (missing <= 0) return { actions: [], holds: [] };
  const actions: AcquireIP[] = [];
  const stoppedBy = (why: Obstacle): Purchases => {
    const lacking = { missing: { count: missing - actions.length, desired: view.desired } };
    return { actions, holds: [{ ...hold("acquire-ip", view.object, view.key, why), ...lacking }] };
  };
  if (blocked !== undefined) return stoppedBy(blocked);
  const places = placesToBuyFor(view, leftOver);
  let untilMs = coolOffUntilMs;
  for (let ordinal = 1; ordinal <= missing; ordinal += 1) {
    const place = places[ordinal - 1] ?? inRegion(view.pool.spec.region);
    if (place === undefined) return stoppedBy(withoutPlace(view, leftOver));
    const why =
      ungranted(view, actions.length) ??
      keptForOthers(view, actions.length, budget, ledger) ??
      obstacleTo(place, view, { budget, coolOffUntilMs: untilMs });
    if (why !== undefined) return stoppedBy(why);
    actions.push(acquisition(view, ordinal, place.after, actions.at(-1)));
    enterPurchase(view, budget);
    if (keepsMachine(view, place, ledger)) untilMs = newCoolOff(view);
  }
  return { actions, holds: [] };
}

/** Enters one purchase. What another process buys it notes itself, and this run's limits are not its. */
function enterPurchase({ key, isOthers }: PoolView, budget: AcquisitionBudget): void {
  budget.quotaLeft -= 1;
  budget.withoutAny.delete(key);
  if (isOthers === true) return;
  budget.rateLeft -= 1;
  budget.run.left -= 1;
}

/** Promises the machine that an address is bought for to its object. True where the purchase is an assignment, too. */
function keepsMachine(view: PoolView, { target, next = target }: BuyingPlace, ledger: MachineLedger): boolean {
  if (next !== undefined) ledger.promise(next.place.machineID, view.key);
  return target !== undefined;
}

/** Where an address is bought; `target` is absent where it is for no machine yet. */
interface BuyingPlace {
  readonly target?: Candidate;
  /** Whom an unattached one is for: it is assigned once it is there. */
  readonly next?: Candidate;
  readonly after: AcquireIP["after"];
}

function placesToBuyFor(view: PoolView, leftOver: readonly Candidate[]): readonly BuyingPlace[] {
  const targets = leftOver.filter((candidate) => isTarget(view, candidate));
  const occupied = view.pool.spec.region === "" ? leftOver.filter(({ leaving }) => leaving.length > 0) : [];
  return [
    ...targets.flatMap((target) => forTarget(view, target)),
    ...occupied.flatMap(({ region }) => inRegion(region) ?? []),
  ];
}

function forTarget({ pool, buysUnattached }: PoolView, target: Candidate): readonly BuyingPlace[] {
  if (buysUnattached !== true) return [{ target, after: { node: target.place } }];
  const place = inRegion(pool.spec.region || target.region);
  return place === undefined ? [] : [{ ...place, next: target }];
}

function inRegion(region: string): BuyingPlace | undefined {
  return region === "" ? undefined : { after: { region } };
}

function isTarget(view: PoolView, candidate: Candidate): boolean {
  return candidate.leaving.length === 0 && isSamePlace(view.pool.spec.region, candidate) && isDue(view, candidate);
}

/**
 * A node whose last attempt failed is asked for again only at its time; after a second failure not at all where an unattached address can be had instead, since
 * it may never take one.
 */
function isDue({ retries, pool, nowMs }: PoolView, { place }: Candidate): boolean {
  const retry = retries.of(nodeSubject(place));
  if (retry === undefined) return true;
  const mayHelp = retry.attempts < 2 || pool.spec.region === "";
  return mayHelp && retryDueMs(retry, nowMs) <= nowMs;
}

/** Why nothing can be acquired for the pool at all. What its firewall will not let in would serve nobody. Addresses of nobody that have all its nodes may be its own, of which all memory was lost: more would serve nobody. */
function obstacleToAll(view: PoolView, { taken }: Pick<Assignments, "taken">): Obstacle | undefined {
  const why = view.provider?.isComplete === true ? view.retries.obstacle("acquire") : undefined;
  return why === undefined ? (unreadAccount(view) ?? view.deadEnd ?? taken) : { ...why, ...regionAdvice(view) };
}

function unreadAccount({ provider }: PoolView): Obstacle | undefined {
  if (provider?.isComplete !== true) return obstacle("Unreadable", "the account's list of addresses could not be read");
  if (provider.isLimitAwaited !== true) return undefined;
  return obstacle("Unreadable", "the account's limit of addresses has not been read yet", { waitsFor: "reading" });
}

/** What a person should look at after a refused purchase: a region without matching node and address is most likely mistyped. Where no node tells of any, nobody has to act on that guess. */
function regionAdvice({ pool, matches, provider, regionOf, areaOf }: PoolView): Partial<Obstacle> {
  const { spec, issuerName } = pool;
  const regions = new Set(matches.map(regionOf).filter((region) => region !== ""));
  const known = [...(provider?.addresses.values() ?? [])].flatMap((fact) =>
    fact.kind === "known" ? [fact.address.region] : [],
  );
  const isKnown = [...regions, ...known].some((region) => areaOf(region) === areaOf(spec.region));
  if (spec.region === "" || isKnown) return {};
  const where = issuerName === undefined ? "spec.region" : `spec.region of issuer ${issuerName}`;
  const unused = `no matching node and no address of the account is in ${spec.region}`;
  if (regions.size === 0) return { advice: `Look at ${where}: ${unused}.` };
  const all = [...regions].toSorted(compareText).join(", ");
  return { needsPerson: true, advice: `Set ${where}: ${unused}; the nodes are in ${all}.` };
}

/** Why no place is left: a node that failed is waited for, and so is a firewall that keeps nodes waiting; only without either is the region missing. */
function withoutPlace(view: PoolView, leftOver: readonly Candidate[]): Obstacle {
  const failed = leftOver
    .filter(({ leaving }) => leaving.length === 0)
    .map(({ place }) => nodeSubject(place))
    .filter((subject) => view.retries.of(subject) !== undefined);
  const [next] = failed.toSorted((a, b) => view.retries.dueMs(a) - view.retries.dueMs(b));
  if (next !== undefined) return view.retries.wait([next], { notBeforeMs: view.retries.dueMs(next) });
  return firewallObstacles(view).find((closed) => closed !== undefined) ?? personNeeded("NoRegion");
}

/** Why no more may be acquired than so many, for want of a grant. */
function ungranted(view: PoolView, planned: number): Obstacle | undefined {
  return planned < grantedPurchases(view) ? undefined : view.held.purchases?.why();
}

/** How many addresses may be acquired for the pool; Infinity without grants. What brought nothing may be made anew: its grant was kept for it. */
function grantedPurchases({ held: { purchases }, pending }: PoolView): number {
  if (purchases === undefined) return Number.POSITIVE_INFINITY;
  const inVain = pending.filter(({ kind }) => kind === "never-made").length;
  return purchases.left + Math.min(purchases.again, inVain);
}

/** Why the next address is kept for others: the account has no more than one for each object without any, and this one has some. */
function keptForOthers(
  view: PoolView,
  planned: number,
  { quotaLeft, withoutAny }: AcquisitionBudget,
  ledger: MachineLedger,
): Obstacle | undefined {
  const isFirst = planned === 0 && !hasAddress(view);
  if (isFirst || quotaLeft <= 0 || quotaLeft > withoutAny.size) return undefined;
  const waiting = [...withoutAny.values()].filter((other) => other.key !== view.key && hasPlace(other, ledger));
  const [first, ...more] = waiting;
  if (first === undefined || quotaLeft > waiting.length) return undefined;
  const free = `the last ${quotaLeft === 1 ? "free address" : `${quotaLeft} free addresses`} of the account`;
  const others = more.length === 0 ? "which has none" : `and ${more.length} more that have none`;
  const who = `${ownerText(first.key)}${more.length === 0 ? ", " : " "}${others}`;
  return overQuota(view, `${free} ${quotaLeft === 1 ? "is" : "are"} kept for ${who}`);
}

/** Nobody can lower desiredIPs below 1. */
function overQuota({ desired, pool }: PoolView, detail: string): Obstacle {
  const why = personNeeded("QuotaExceeded", detail);
  return desired > 1 || pool.kind !== "pool" ? why : { ...why, advice: "Ask the provider for a higher limit." };
}

/** Why the next address is not acquired, although there is a place for it. */
function obstacleTo(
  { target }: BuyingPlace,
  view: PoolView,
  { budget, coolOffUntilMs }: { readonly budget: AcquisitionBudget; readonly coolOffUntilMs: number | undefined },
): Obstacle | undefined {
  if (budget.quotaLeft <= 0) {
    const limit = budget.limit === undefined ? "" : ` of ${budget.limit}`;
    return overQuota(view, `the account's limit${limit} reserved addresses is reached`);
  }
  if (view.isOthers !== true && budget.run.left <= 0) return obstacle("Limited", `--max-purchases ${budget.run.limit}`);
  if (budget.rateLeft <= 0) return obstacle("CreationRate", "", { notBeforeMs: budget.rateResetMs });
  return target === undefined || coolOffUntilMs === undefined ? undefined : coolOff(target, view, coolOffUntilMs);
}

function acquisition(
  { object, pool }: PoolView,
  ordinal: number,
  after: AcquireIP["after"],
  earlier: AcquireIP | undefined,
): AcquireIP {
  return {
    kind: "acquire-ip",
    id: actionID("acquire-ip", object, `new-${ordinal}`),
    object,
    reason: "BelowDesired",
    requires: earlier === undefined ? [] : [earlier.id],
    follows: [],
    provider: pool.spec.provider,
    ordinal,
    before: undefined,
    after,
  };
}

/** Returns what pending acquisitions hold up, whether or not the pool may be written. */
export function pendingHolds({ pending, pool, object, key }: PoolView): readonly Hold[] {
  return pending.flatMap((resolution, at): readonly Hold[] => {
    if (resolution.kind === "ambiguous")
      return [hold("acquire-ip", object, key, personNeeded(ambiguityOf(pool, at), resolution.candidates.join(", ")))];
    if (resolution.kind !== "waiting") return [];
    return [
      hold("acquire-ip", object, key, obstacle("AcquisitionUnanswered", "", { notBeforeMs: resolution.untilMs })),
    ];
  });
}

/** Returns why it cannot be told which address the n-th pending acquisition brought. */
export function ambiguityOf({ status }: Pool, at: number): "AmbiguousAcquisition" | "LostAcquisition" {
  return status.pendingAcquisitions[at]?.restored === true ? "LostAcquisition" : "AmbiguousAcquisition";
}

/** What the address of a pending acquisition is looked for with. */
interface ResolutionContext {
  readonly provider: ProviderFacts;
  /** The uid of the object, if its provider keeps for whom an address was bought. */
  readonly ownerUID?: string;
  readonly machineOf: MachineOf;
  /** True for an address that some object manages or remembers, or that was found for another acquisition. */
  readonly isNamed: (ip: string) => boolean;
  /** True for an address that the pool's spec lists and that is not yet the answer to another acquisition. */
  readonly isListed: (ip: string) => boolean;
  /** True for an address that an acquisition may be taken to have brought of which only the object's annotation tells. */
  readonly mayRestore: (ip: string) => boolean;
  readonly nowMs: number;
}

/**
 * Looks for the address of a pending acquisition among those the account did not have before:
 *
 *   1 the one on the machine that it was made for
 *   2 the one that a person listed in the spec, as the answer to a hold
 *   3 the only unattached one in its region that no object names. It is adopted, and never deleted: another cluster of the account may have acquired it.
 *     Exception: where status had lost the acquisition, nobody knows what the account had. Then a person has to say.
 *
 * A provider that keeps for whom an address was bought leaves nothing to guess: only an address of this object counts, wherever it is.
 *
 * Where grants are required, a person has to say so of the one on the machine, too, if status had lost the acquisition and the address is not granted.
 */
export function resolvePending(intent: PendingAcquisition, context: ResolutionContext): PendingResolution {
  const { provider, ownerUID, machineOf, isListed, mayRestore, nowMs } = context;
  if (!provider.isComplete) return { kind: "waiting", untilMs: undefined };
  const startedMs = pastMs(intent.startedAt, nowMs) ?? nowMs;
  const untilMs = startedMs + UNANSWERED_WATCH_MS;
  // What was read before the creation began says nothing about it: an address that has gone since would pass for the new one.
  if (provider.readAtMs <= startedMs) return { kind: "waiting", untilMs };
  const known = new Set(intent.knownIPs);
  const fresh = newAddresses(intent, known, context);
  const target = intent.providerID === undefined ? undefined : machineOf(intent.providerID);
  const onTarget = fresh.find((address) => target !== undefined && address.holderID === target);
  const acquiredAt = timestamp(startedMs);
  if (onTarget !== undefined) return foundAt(onTarget.ip, intent, { mayRestore, acquiredAt });
  const answer = intent.candidates?.find((ip) => isListed(ip) && !known.has(ip));
  if (answer !== undefined) return { kind: "listed", ip: answer };
  if (ownerUID !== undefined && fresh.length > 0) return ofOwner(fresh, intent, { mayRestore, acquiredAt });
  const possible = fresh.filter((address) => couldBe(address, intent));
  if (possible.some((address) => address.isLocked)) return { kind: "waiting", untilMs: undefined };
  // Lists lag behind: before the time is over an address of somebody else may be shown, and the new one not yet.
  if (provider.readAtMs < untilMs) return { kind: "waiting", untilMs };
  return resolveUnattached(possible.map(({ ip }) => ip).toSorted(compareText), intent, acquiredAt);
}

/** The addresses that the account did not have before, that no object names, and that may have been bought for the object. */
function newAddresses(
  intent: PendingAcquisition,
  known: ReadonlySet<string>,
  { provider, isNamed, ownerUID }: ResolutionContext,
): readonly Address[] {
  return [...provider.addresses.values()]
    .flatMap((fact: AddressFact) => (fact.kind === "known" ? [fact.address] : []))
    .filter(({ ip }) => !known.has(ip) && !isNamed(ip) && isInTime(ip, intent, provider))
    .filter(({ boughtFor }) => ownerUID === undefined || boughtFor === ownerUID);
}

/** The acquisition brought this address. What only the object's annotation told of is never deleted, and may want a grant. */
function foundAt(
  ip: string,
  intent: PendingAcquisition,
  { mayRestore, acquiredAt }: Pick<ResolutionContext, "mayRestore"> & { readonly acquiredAt: string },
): PendingResolution {
  if (intent.restored !== true) return { kind: "found", acquired: { ip, acquiredAt } };
  return mayRestore(ip)
    ? { kind: "found", acquired: { ip, acquiredAt, adopted: true } }
    : { kind: "ambiguous", candidates: [ip] };
}

/** What the first of the addresses says that were bought for the object. If status had lost the acquisition, some of them may be older. */
function ofOwner(
  own: readonly Address[],
  intent: PendingAcquisition,
  how: Pick<ResolutionContext, "mayRestore"> & { readonly acquiredAt: string },
): PendingResolution {
  const [first = "", ...others] = own.map(({ ip }) => ip).toSorted(compareText);
  const isGuess = intent.restored === true && others.length > 0;
  return isGuess ? { kind: "ambiguous", candidates: [first, ...others] } : foundAt(first, intent, how);
}

function resolveUnattached(
  [only, ...others]: readonly string[],
  intent: PendingAcquisition,
  acquiredAt: string,
): PendingResolution {
  if (only === undefined) return { kind: "never-made" };
  const isGuess = others.length > 0 || intent.restored === true;
  if (isGuess) return { kind: "ambiguous", candidates: [only, ...others] };
  return { kind: "found", acquired: { ip: only, acquiredAt, adopted: true } };
}

/**
 * Once the candidates are on record every list has shown what the acquisition brought: what comes later, also to its machine, was acquired for somebody else.
 * Candidates that the account does not have, or had before, are no record of that.
 */
function isInTime(
  ip: string,
  { candidates = [], knownIPs }: PendingAcquisition,
  { addresses }: ProviderFacts,
): boolean {
  const isNew = (candidate: string): boolean =>
    addresses.get(candidate)?.kind === "known" && !knownIPs.includes(candidate);
  const isRecord = candidates.some(isNew);
  return !isRecord || candidates.includes(ip);
}

function couldBe(address: Address, intent: PendingAcquisition): boolean {
  if (address.holderID !== undefined) return false;
  return intent.region === undefined || address.region === "" || address.region === intent.region;
}
