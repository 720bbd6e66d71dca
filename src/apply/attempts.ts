import { isDeepStrictEqual } from "node:util";
import { type Action, type ObjectRef, refKey } from "../model/action.ts";
import { changesAnnotation } from "../model/action-kinds.ts";
import type { Observation } from "../model/observation.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import type { Pool, RecordSet, RetryStatus } from "../model/resource.ts";
import type { ReportFailure } from "../model/run.ts";
import { laterTime } from "../model/time.ts";
import { retryClassOf, retryDelayMs } from "../plan/retries.ts";
import { BusyTries } from "./busy-tries.ts";
import type { ResourceStores } from "./resource-store.ts";
import { type Now, Restless } from "./restless.ts";
import { CHANGED_BACK, Rewrites, TOLD } from "./rewrites.ts";

/** What a process tried for one object. */
interface Memory {
  /** The retries as the cluster stored them when a pass began, and as that pass left them. */
  readonly stored: readonly RetryStatus[];
  readonly own: readonly RetryStatus[];
  readonly lastAssignmentTime: string | undefined;
}

/** How the write of a status ended: the object has this status now, or it was refused. */
export interface StatusEnd {
  readonly status?: object | undefined;
  readonly failure?: ReportFailure;
}

/** A status that could not be written. */
interface Refusal {
  readonly count: number;
  /** When it was refused, milliseconds of the API server's clock. */
  readonly atMs: number;
  /** Milliseconds of the API server's clock. */
  readonly dueMs: number;
  /** Absent where nobody knows yet whether it was refused. */
  readonly failure?: ReportFailure;
}

/**
 * What one process remembers of its own attempts, whatever the cluster stored of them. A status may be refused (403, 422), or an old definition may drop its fields:
 * then a retry that was not stored would be no retry, and the process would try again at every pass.
 *
 *   next attempt, cool-off   the later of what is stored and what is remembered counts
 *   a refused status         is written again after waits that grow
 *   a status that only tells people of nodes and pods which never rest, and what somebody else changes back again and again, too: see rewrites.ts
 */
export class Attempts {
  /** The changes of addresses that a busy provider has refused. */
  readonly busyTries: BusyTries = new BusyTries();
  readonly #restless = new Restless();
  /** When an object that has to rest may have rested, milliseconds of the API server's clock; undefined where none has to. */
  #restedMs: number | undefined;
  #memories: ReadonlyMap<string, Memory> = new Map();
  #stored: ReadonlyMap<string, readonly RetryStatus[]> = new Map();
  readonly #refusals = new Map<string, Refusal>();
  readonly #overwritten = new Rewrites(CHANGED_BACK);
  /** By {@link refKey}, objects whose status an earlier pass is still writing. */
  readonly #underWay = new Set<string>();
  readonly #late: ReportFailure[] = [];
  /** By {@link refKey}, statuses as they were stored when the last pass ended. */
  #left: ReadonlyMap<string, object> = new Map();
  /** By {@link refKey}, objects whose status somebody else has changed since this process wrote it. */
  readonly #foreign = new Set<string>();
  readonly #isLasting: boolean;
  readonly #tellings = new Rewrites(TOLD);
  /** By {@link refKey} the statuses, by {@link noteKey} the annotations, that this pass held back, with the time from which they may be written; milliseconds of the API server's clock. */
  readonly #untold = new Map<string, number>();

  /** @param manner - `isLasting` = the process keeps running: what only tells something may wait for a later pass */
  constructor({ isLasting }: { readonly isLasting: boolean }) {
    this.#isLasting = isLasting;
  }

  /** Begins a pass: looks which statuses are no longer as the last one left them. */
  look(stored: Pick<Observation, "pools" | "recordSets">): void {
    this.#untold.clear();
    for (const { ref, status } of objectsOf(stored)) {
      const left = this.#left.get(refKey(ref));
      if (left !== undefined && !isDeepStrictEqual(left, status)) this.#foreign.add(refKey(ref));
    }
  }

  /** Takes note of the statuses as a pass leaves them. */
  leave(observation: Pick<Observation, "pools" | "recordSets">, stores: ResourceStores): void {
    const left = objectsOf(observation).flatMap(({ ref }): readonly (readonly [string, object])[] => {
      const stored = stores[ref.kind].get(ref);
      return stored === undefined ? [] : [[refKey(ref), stored.status]];
    });
    this.#left = new Map(left);
    for (const key of this.#foreign) if (!this.#left.has(key)) this.#foreign.delete(key);
  }

  /** False for what somebody else has changed back each time, until it is due again. */
  mayTry(action: Action, nowMs: number): boolean {
    const written = repeatable(action);
    return written === undefined || this.#overwritten.dueMs(written.key, nowMs, written.text) <= nowMs;
  }

  /** Enters what came of an action. */
  ended({ action, outcome }: Outcome, nowMs: number): void {
    const written = outcome === "applied" ? repeatable(action) : undefined;
    if (written !== undefined) this.#overwritten.wrote(written.key, nowMs, written.text);
  }

  /** The observation with what this process remembers of each object entered into its status. */
  recall(observation: Observation): Observation {
    const pools = observation.pools.map((pool) => recalled(pool, this.#memories.get(keyOf(pool.kind, pool))));
    const sets = observation.recordSets.map((set) => recalled(set, this.#memories.get(keyOf("dns", set))));
    this.#stored = new Map(
      objectsOf(observation).map(({ ref, uid, status }) => [`${refKey(ref)} ${uid}`, status.retries] as const),
    );
    return { ...observation, pools, recordSets: sets };
  }

  /** Takes note of objects as they are listed, and returns them as they count, see {@link Restless}. */
  objects<L extends Pick<Observation, "pools" | "recordSets">>(listed: L, { nowMs, monotonicMs }: Now): L {
    if (!this.#isLasting) return listed;
    const { objects, nextMs } = this.#restless.objects(listed, monotonicMs);
    this.#restedMs = nextMs === undefined ? undefined : nowMs + nextMs;
    return objects;
  }

  /** Takes note of nodes and pods as they are now, see {@link Restless}. */
  noteNodes(now: Pick<Observation, "nodes" | "pods">, monotonicMs: number): void {
    if (this.#isLasting) this.#restless.note(now, monotonicMs);
  }

  /** The observation as it is to be planned on: what never rests has to wait for its return, see {@link Restless}. */
  settled(observation: Observation, monotonicMs: number): Observation {
    return this.#isLasting ? this.#restless.settled(observation, monotonicMs) : observation;
  }

  /** Takes over what a pass left: the statuses of its last plan, and which of them could not be written. */
  keep({ pools, recordSets, observedAtMs }: Plan, observation: Observation, failures: readonly ReportFailure[]): void {
    const uids = new Map(objectsOf(observation).map(({ ref, uid }) => [refKey(ref), uid] as const));
    const left = [...pools, ...recordSets].map(({ object, status }): readonly [string, Memory] => {
      const key = `${refKey(object)} ${uids.get(refKey(object)) ?? ""}`;
      const lastAssignmentTime = "lastAssignmentTime" in status ? status.lastAssignmentTime : undefined;
      return [key, { stored: this.#stored.get(key) ?? [], own: status.retries, lastAssignmentTime }];
    });
    // Objects that this run may not write keep what is remembered of them.
    this.#memories = new Map([...[...this.#memories].filter(([key]) => this.#stored.has(key)), ...left]);
    for (const failure of failures)
      if (failure.what === "status") this.#refuse(refKey(failure.object), observedAtMs, failure);
    for (const key of this.#refusals.keys()) if (!uids.has(key)) this.#refusals.delete(key);
  }

  /** Returns when a status may be written that was refused or held back, or an object may have rested, milliseconds of the API server's clock; undefined when there is none. */
  nextStatusMs(): number | undefined {
    const refusedMs = Array.from(this.#refusals.values(), ({ dueMs }) => dueMs);
    const dueMs = [...refusedMs, ...this.#untold.values(), ...(this.#restedMs === undefined ? [] : [this.#restedMs])];
    return dueMs.length === 0 ? undefined : Math.min(...dueMs);
  }

  /**
   * Returns whether the status of an object may be written now. It has to wait after a refusal, while somebody else changes it back each time, and where it only tells
   * something else again and again.
   * @param onlyTells - asked only where it counts
   */
  mayWriteStatus(object: ObjectRef, nowMs: number, onlyTells: () => boolean): boolean {
    const key = refKey(object);
    if (this.#underWay.has(key)) return false;
    if (
      this.#isRefused(key, nowMs) ||
      (this.#foreign.has(key) && this.#overwritten.dueMs(statusKey(key), nowMs) > nowMs)
    )
      return false;
    const dueMs = this.#tellings.dueMs(key, nowMs);
    const mustWait = dueMs > nowMs && onlyTells();
    if (mustWait) this.#untold.set(key, dueMs);
    else this.#untold.delete(key);
    return !mustWait;
  }

  /** Returns how the status of an object was refused that is not written again before its time; undefined for every other one. */
  refusalOf(object: ObjectRef, nowMs: number): ReportFailure | undefined {
    const key = refKey(object);
    return this.#isRefused(key, nowMs) ? this.#refusals.get(key)?.failure : undefined;
  }

  /** Enters that the status of an object is as it should be; `hasTold` = it was written, and only told something else. */
  wrote(object: ObjectRef, nowMs: number, hasTold: boolean): void {
    const key = refKey(object);
    this.#refusals.delete(key);
    if (this.#foreign.delete(key)) this.#overwritten.wrote(statusKey(key), nowMs);
    if (hasTold && this.#isLasting) this.#tellings.wrote(key, nowMs);
  }

  /** Returns whether the copy of an object's purchases may be written where its status says the same already. It has to wait while somebody else takes it away each time. */
  mayRepairNote(object: ObjectRef, nowMs: number): boolean {
    const key = noteKey(refKey(object));
    const dueMs = this.#overwritten.dueMs(key, nowMs);
    if (dueMs > nowMs) this.#untold.set(key, dueMs);
    return dueMs <= nowMs;
  }

  /** Enters that the copy of an object's purchases was written. */
  wroteNote(object: ObjectRef, nowMs: number): void {
    this.#overwritten.wrote(noteKey(refKey(object)), nowMs);
  }

  /**
   * A pass has ended, and still writes the status of an object. No later pass writes that status before the write has ended. When to look at it again is
   * decided as after a refusal.
   */
  awaitStatus(key: string, end: Promise<StatusEnd>, nowMs: number): void {
    this.#underWay.add(key);
    this.#refuse(key, nowMs);
    void end.then(({ status, failure }) => {
      this.#underWay.delete(key);
      if (status !== undefined) this.#left = new Map([...this.#left, [key, status]]);
      if (failure !== undefined) this.#late.push(failure);
    });
  }

  /** Returns the failures of writes that earlier passes have left, each once. */
  takeLate(): readonly ReportFailure[] {
    return this.#late.splice(0);
  }

  #refuse(key: string, nowMs: number, failure?: ReportFailure): void {
    const count = (this.#refusals.get(key)?.count ?? 0) + 1;
    const retryClass = failure === undefined ? "fast" : retryClassOf(failure.error);
    const known = failure === undefined ? {} : { failure };
    this.#refusals.set(key, { count, atMs: nowMs, dueMs: nowMs + retryDelayMs(retryClass, count), ...known });
  }

  /** True until a refused status is due. A clock that was set back ends the wait: none lasts longer than it may. */
  #isRefused(key: string, nowMs: number): boolean {
    const refusal = this.#refusals.get(key);
    return refusal !== undefined && refusal.atMs <= nowMs && nowMs < refusal.dueMs;
  }
}

function statusKey(key: string): string {
  return `status of ${key}`;
}

function noteKey(key: string): string {
  return `purchases of ${key}`;
}

/** An object that was read. */
interface Stored {
  readonly ref: ObjectRef;
  readonly uid: string;
  readonly status: Pool["status"] | RecordSet["status"];
}

/** Every object of an observation, record sets last. */
function objectsOf({ pools, recordSets }: Pick<Observation, "pools" | "recordSets">): readonly Stored[] {
  return [...pools, ...recordSets.map((set) => ({ kind: "dns" as const, ...set }))].map(({ kind, meta, status }) => ({
    ref: { kind, namespace: meta.namespace, name: meta.name },
    uid: meta.uid,
    status,
  }));
}

/** What others may change back at once in the cluster, and what is written there; undefined for changes at providers, whose waits are others. */
function repeatable(action: Action): { readonly key: string; readonly text: string } | undefined {
  if (changesAnnotation(action))
    return {
      key: `annotations of ${action.nodeName} ${action.ipFamily ?? "IPv4"}`,
      text: JSON.stringify(action.after),
    };
  if (action.kind === "add-finalizer" || action.kind === "remove-finalizer")
    return { key: `finalizer of ${refKey(action.object)}`, text: action.kind };
  return undefined;
}

function keyOf(kind: ObjectRef["kind"], { meta }: Pool | RecordSet): string {
  return `${refKey({ kind, ...meta })} ${meta.uid}`;
}

function recalled<O extends Pool | RecordSet>(object: O, memory: Memory | undefined): O {
  if (memory === undefined) return object;
  const retries = laterRetries(object.status.retries, memory);
  const before = "lastAssignmentTime" in object.status ? object.status.lastAssignmentTime : undefined;
  const time = laterTime(before, memory.lastAssignmentTime);
  if (retries === object.status.retries && time === before) return object;
  const cool = time === undefined ? {} : { lastAssignmentTime: time };
  return { ...object, status: { ...object.status, retries, ...cool } };
}

/** Of each subject the entry with the later next attempt. One that this process is done with does not come back because its removal could not be stored. */
function laterRetries(stored: readonly RetryStatus[], memory: Memory): readonly RetryStatus[] {
  if (isDeepStrictEqual(stored, memory.own)) return stored;
  const isStale = (entry: RetryStatus): boolean => memory.stored.some((before) => isDeepStrictEqual(before, entry));
  const bySubject = new Map(stored.filter((entry) => !isStale(entry)).map((entry) => [entry.subject, entry]));
  for (const entry of memory.own) {
    const other = bySubject.get(entry.subject);
    if (other === undefined || isLater(entry, other)) bySubject.set(entry.subject, entry);
  }
  return [...bySubject.values()].toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
}

function isLater(a: RetryStatus, b: RetryStatus): boolean {
  return !(Date.parse(a.nextAttemptTime) < Date.parse(b.nextAttemptTime));
}
