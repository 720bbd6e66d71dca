import { isDeepStrictEqual } from "node:util";
import { type ObjectRef, refKey } from "../model/action.ts";
import { claimsReady } from "../model/deletion.ts";
import { KubeError, type KubeFailure } from "../model/errors.ts";
import { noteChanges } from "../model/lease-notes.ts";
import type { LeaseFacts, Observation } from "../model/observation.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import type { Pool, RecordSet } from "../model/resource.ts";
import type { ReportFailure } from "../model/run.ts";
import type { ClusterEvent, ClusterWriter } from "../ports/cluster.ts";
import { type Clock, within } from "../ports/system.ts";
import type { ObjectEvent } from "../report/events.ts";
import type { Attempts, StatusEnd } from "./attempts.ts";
import { movesCallTimesOnly } from "./call-times.ts";
import type { ApplyContext } from "./context.ts";
import type { ResourceStore, ResourceStores } from "./resource-store.ts";

/** A status is written within this, milliseconds, as a rule. */
const PATIENCE_MS = 250;

/**
 * Writes the status of each object once nothing more is under way for it, if it differs from what is stored. A refused status is written again when it is due. A failure
 * stops no other object; one that was made anew under the same name is another object. While the status of an object is being written, no other one is, nor before a plan
 * knows that it was stored: an older plan could take back what was put on record meanwhile.
 */
export class StatusWriter {
  readonly #stores: ResourceStores;
  readonly #attempts: Attempts | undefined;
  /** By {@link refKey}, with the uid of the object. */
  readonly #failures = new Map<string, { readonly uid: string | undefined; readonly failure: ReportFailure }>();
  /** By {@link refKey}, how statuses were refused that differ from what is stored and are not due yet. */
  readonly #refused = new Map<string, ReportFailure>();
  /** By {@link refKey}, objects whose status is on its way. */
  readonly #onItsWay = new Map<string, Promise<StatusEnd>>();
  /** By {@link refKey}, objects whose status was stored since {@link takeWritten}, with the number of outcomes it was planned on. */
  #written = new Map<string, number>();
  /** By {@link refKey}, objects of which a newer status waits for the one that is on its way. */
  readonly #waiting = new Set<string>();
  #hasNews = false;
  #bell = Promise.withResolvers<void>();

  constructor(stores: ResourceStores, attempts: Attempts | undefined) {
    this.#stores = stores;
    this.#attempts = attempts;
  }

  /** Begins to write, at once; nobody waits for it. @param outcomes - how many the plan was made on */
  write({ pools, recordSets, observedAtMs }: Plan, outcomes: number): void {
    const on = { observedAtMs, outcomes };
    for (const pool of pools) this.#begin(this.#stores.ownersOf(pool.object), pool, on);
    for (const recordSet of recordSets) this.#begin(this.#stores.dns, recordSet, on);
  }

  /** Waits for what is on its way; true when anything was stored since {@link takeWritten}. */
  async landed(): Promise<boolean> {
    await Promise.all(this.#onItsWay.values());
    return this.#written.size > 0;
  }

  /**
   * As {@link landed}, but with an end: a time, in monotonic milliseconds, or the signal, whichever comes first. It waits {@link PATIENCE_MS} at least.
   * Returns `late` where something is still on its way then.
   */
  async landedBy(endMs: number, clock: Clock, stop?: AbortSignal): Promise<boolean | "late"> {
    const landed = this.landed();
    const soon = await within(clock, PATIENCE_MS, landed);
    return soon === "late" ? await within(clock, endMs - clock.monotonicMs(), landed, stop) : soon;
  }

  /** Resolves when a status has landed, or failed, for which a newer one waits, since {@link takeNews}. */
  get end(): Promise<void> {
    return this.#bell.promise;
  }

  /** True where {@link end} has resolved since it was last asked. */
  takeNews(): boolean {
    const hadNews = this.#hasNews;
    if (hadNews) this.#bell = Promise.withResolvers();
    this.#hasNews = false;
    return hadNews;
  }

  /** The failures of all writes that have ended. */
  get failures(): readonly ReportFailure[] {
    return [...this.#failures.values()].map(({ failure }) => failure);
  }

  /** The earlier failures of statuses that are not written again yet: they are as old as they were. */
  get refusedBefore(): readonly ReportFailure[] {
    return [...this.#refused.values()];
  }

  /** Ends the work of a pass: what is still on its way is no longer waited for. */
  leave(nowMs: number): void {
    for (const [key, end] of this.#onItsWay) this.#attempts?.awaitStatus(key, end, nowMs);
  }

  /** Objects whose status was stored since it was last asked, by {@link refKey}; none that has an outcome which the status does not tell of. */
  takeWritten(outcomes: readonly Outcome[]): ReadonlySet<string> {
    const isWhole = ([key, count]: readonly [string, number]): boolean =>
      !outcomes.slice(count).some(({ action }) => refKey(action.object) === key);
    const written = new Set([...this.#written].filter(isWhole).map(([key]) => key));
    this.#written = new Map();
    return written;
  }

  #begin<O extends Pool | RecordSet>(store: ResourceStore<O>, planned: PlannedStatus<O>, on: PlannedOn): void {
    const key = refKey(planned.object);
    const failed = this.#failures.get(key);
    const hasFailed = failed !== undefined && failed.uid === store.get(planned.object)?.meta.uid;
    const isOnItsWay = this.#onItsWay.has(key);
    if (isOnItsWay) this.#waiting.add(key);
    if (hasFailed || isOnItsWay || this.#written.has(key)) return;
    const work = this.#write(store, planned, on).finally(() => this.#landed(key));
    this.#onItsWay.set(key, work);
  }

  #landed(key: string): void {
    this.#onItsWay.delete(key);
    if (!this.#waiting.delete(key)) return;
    this.#hasNews = true;
    this.#bell.resolve();
  }

  /** Takes note of a status that is left as it is, or no longer is, because it was refused before. */
  #noteRefusal(object: ObjectRef, nowMs: number, isLeft: boolean): void {
    const refusal = isLeft ? this.#attempts?.refusalOf(object, nowMs) : undefined;
    if (refusal === undefined) this.#refused.delete(refKey(object));
    else this.#refused.set(refKey(object), refusal);
  }

  async #write<O extends Pool | RecordSet>(
    store: ResourceStore<O>,
    { object, status }: PlannedStatus<O>,
    { observedAtMs, outcomes }: PlannedOn,
  ): Promise<StatusEnd> {
    const { status: stored, meta }: Partial<O> = store.get(object) ?? {};
    const onlyTells = (): boolean => stored !== undefined && store.onlyTells(stored, status);
    const isStored = (): boolean => stored !== undefined && isDeepStrictEqual(stored, status);
    const isDue =
      !(stored !== undefined && movesCallTimesOnly(stored, status)) &&
      this.#attempts?.mayWriteStatus(object, observedAtMs, onlyTells) !== false &&
      !(this.#attempts?.mayRepairNote(object, observedAtMs) === false && isStored());
    const isAsPlanned = isDue || isStored();
    this.#noteRefusal(object, observedAtMs, !isAsPlanned);
    const written = isDue
      ? await attempt(
          object,
          store.updateStatus(object, () => status),
        )
      : false;
    if (typeof written !== "boolean") {
      this.#failures.set(refKey(object), { uid: meta?.uid, failure: written });
      return { failure: written };
    }
    if (isDue) {
      this.#failures.delete(refKey(object));
      this.#attempts?.wrote(object, observedAtMs, written && onlyTells());
      if (!isDeepStrictEqual(store.get(object)?.meta.note, meta?.note)) this.#attempts?.wroteNote(object, observedAtMs);
    }
    if (isAsPlanned) this.#written.set(refKey(object), outcomes);
    return { status: store.get(object)?.status };
  }
}

/** The status that an object should have. */
interface PlannedStatus<O extends Pool | RecordSet> {
  readonly object: ObjectRef;
  readonly status: O["status"];
}

/** What a status was planned on. */
interface PlannedOn {
  readonly observedAtMs: number;
  /** How many outcomes. */
  readonly outcomes: number;
}

/** Returns whether anything was written, or why it could not be. */
async function attempt(object: ObjectRef, write: Promise<boolean>): Promise<boolean | ReportFailure> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof KubeError && error.failure === "not-found") return false;
    if (error instanceof Error) return { object, what: "status", error };
    throw error;
  }
}

/**
 * Writes Events; none once the lock is lost. Best effort: the first refusal is returned, and no more are tried. After three kinds of refusal the others are still written:
 *
 *   - only the permission to count an Event that is there is missing
 *   - the cluster refuses the Event of this object alone
 *   - the namespace is being deleted, or gone: none of its Events are tried then, and nobody is told, since that is as it should be
 */
export async function writeEvents(
  events: readonly ObjectEvent[],
  stores: ResourceStores,
  cluster: ClusterWriter,
  mayWrite: () => boolean,
): Promise<WrittenEvents> {
  const refused: ReportFailure[] = [];
  const ending = new Set<string>();
  for (const { object, ...facts } of events) {
    if (!mayWrite()) break;
    const store = stores[object.kind];
    const stored = store.get(object);
    if (stored === undefined || ending.has(object.namespace)) continue;
    const { error, isLast } = await write(cluster, { regarding: { kind: store.kind, meta: stored.meta }, ...facts });
    if (OF_NAMESPACE.has(error?.failure)) ending.add(object.namespace);
    else if (error !== undefined) refused.push({ object, what: "event", error });
    if (isLast) return { failures: refused.slice(-1), isOver: true };
  }
  return { failures: refused.slice(0, 1), isOver: false };
}

/** What came of the Events of one pass. */
interface WrittenEvents {
  /** At most one: what is wrong is told once. */
  readonly failures: readonly ReportFailure[];
  /** True where no other Event is worth a try now, of this pass or of another one. */
  readonly isOver: boolean;
}

/** Writes one Event. `isLast` = no other one is worth a try. */
async function write(
  cluster: ClusterWriter,
  event: ClusterEvent,
): Promise<{ readonly error: KubeError | undefined; readonly isLast: boolean }> {
  try {
    return { error: await cluster.createEvent(event), isLast: false };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { error, isLast: !OF_ONE_OBJECT.has(error.failure) };
  }
}

/** Refusals that every other Event in the namespace would meet, too. */
const OF_NAMESPACE: ReadonlySet<KubeFailure | undefined> = new Set(["terminating", "not-found"]);

/** Refusals that say nothing about other objects. */
const OF_ONE_OBJECT: ReadonlySet<KubeFailure> = new Set(["denied", "terminating", "invalid", "not-found"]);

/** So often the notes of a pass are written at most. */
const MOST_NOTES = 3;

/**
 * Leaves on the Lease what {@link noteChanges} says. What is learned while that is written is noted, too: a provider may ask for no calls just then. A Lease that is lost
 * meanwhile ends the pass as it would have a moment before: what was done stays told.
 *
 * @param latest - returns what is known at the moment
 * @param sinceMs - when the pass began, milliseconds of the API server's clock
 * @throws KubeError when the API refuses the notes while the Lease is held
 */
export async function noteRateLimits(
  latest: () => Observation,
  { lock, limits, cluster }: Pick<ApplyContext, "lock" | "cluster" | "limits">,
  sinceMs: number,
): Promise<void> {
  let { providerNotBeforeMs: onLease }: Pick<LeaseFacts, "providerNotBeforeMs"> = latest().lease;
  let before = "{}";
  for (let written = 0; written < MOST_NOTES && lock.isHeld(); written += 1) {
    const changes = noteChanges(latest(), { told: limits, onLease, sinceMs }, lock.annotations(), cluster.now());
    if (Object.keys(changes).length === 0 || JSON.stringify(changes) === before) return;
    before = JSON.stringify(changes);
    try {
      await lock.annotate(changes);
      onLease = limits;
    } catch (error) {
      if (!(error instanceof KubeError) || lock.isHeld()) throw error;
    }
  }
}

/**
 * Returns a plan without objects of which nothing new can be said before a piece of the world has arrived: they keep their status. Pure.
 *
 * @param outcomes - what came of the actions of the pass
 * @param isUnread - true while a piece that an object asks for has not arrived
 */
export function withStatusToTell(
  plan: Plan,
  outcomes: readonly Outcome[],
  { pools, recordSets }: Pick<Observation, "pools" | "recordSets">,
  isUnread: (object: Pool | RecordSet) => boolean,
): Plan {
  const changed = new Set(outcomes.map(({ action }) => refKey(action.object)));
  const waiting = new Set([
    ...pools.filter(isUnread).map((pool) => refKey({ kind: pool.kind, ...pool.meta })),
    ...recordSets.filter(isUnread).map(({ meta }) => refKey({ kind: "dns", ...meta })),
    ...(plan.ownersWanted ?? []).map(({ object }) => refKey(object)),
    // What waits for a name of another object.
    ...plan.holds.filter(({ waitsFor }) => waitsFor === "reading").map(({ object }) => refKey(object)),
  ]);
  // That an object is being deleted is known without its provider: it says so once, whatever else is waited for.
  const going = new Set([
    ...pools.filter(claimsReady).map((pool) => refKey({ kind: pool.kind, ...pool.meta })),
    ...recordSets.filter(claimsReady).map(({ meta }) => refKey({ kind: "dns", ...meta })),
  ]);
  const isTold = ({ object }: { readonly object: ObjectRef }): boolean =>
    changed.has(refKey(object)) || !waiting.has(refKey(object)) || going.has(refKey(object));
  return { ...plan, pools: plan.pools.filter(isTold), recordSets: plan.recordSets.filter(isTold) };
}
