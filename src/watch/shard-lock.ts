import { KubeError } from "../model/errors.ts";
import { SHARDS_ANNOTATION } from "../model/lease-annotations.ts";
import { acquisitionAdded, isSharedNote, type NotedAcquisition, sharedChange } from "../model/lease-notes.ts";
import { overlaps, type Shard, shardName, shardsOn, shardText } from "../model/shard.ts";
import type { LeaseRecord } from "../ports/cluster.ts";
import type { LockState } from "../ports/system.ts";
import { type LeaseOptions, withLease } from "./lease.ts";
import { callLimitMs, isOvertaken, isTransient, leaseCall, leaseDurationMs, renewalAgeMs } from "./lease-record.ts";

/*
 * What keeps processes with --shard, and one without, from working for the same object?
 *
 * Each shard holds a Lease of its own: `flipop-2-of-3` beside `flipop`. That of the process without --shard, the base, is their meeting point: its annotation
 * `flipop.digitalocean.com/shards` names the shards that have run, and shards write it at its resourceVersion while they hold their own.
 *
 *   a shard       takes its own Lease, then enters itself in the base, unless a shard that overlaps it holds its Lease, or, if it is numbered, somebody holds the base
 *   no --shard    takes the base, then looks at the shards that it names, and gives it back if one of them holds its Lease
 *
 * Of two that overlap one writes the base first, since the API server refuses the other one's write at the same resourceVersion; the other one reads the base again
 * and finds the first one at work. So never both go on, and it costs a process without shards not a single call.
 *
 * A shard that is named and holds nothing keeps nobody away. One that works looks every lease duration whether the base still names it: a person may have deleted the base.
 * It enters itself again. If a process has begun meanwhile that works for some of the same objects, the shard gives up: that process does not look again.
 *
 * What shards share they note on the base, too: the times of acquisitions, and what providers asked for. There a person suspends everything.
 */

/** What is held: the Lease of a shard, or the base itself without one. */
export interface ShardLeaseOptions extends LeaseOptions {
  /** `name` is that of the base all the same. Absent = without --shard. */
  readonly shard?: Shard | undefined;
}

/** The Lease of another process that works for objects of this one, too. */
export interface Overlap {
  readonly lease: string;
  readonly holder: string;
  /** As `--shard` has it; absent for the process without. */
  readonly shard?: string;
}

/** How holding ended: as with {@link withLease}; `overlap` tells of `locked` that another Lease was in the way. */
export type ShardAnswer<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "locked"; readonly holder: string; readonly overlap?: Overlap };

/**
 * Runs `work` as {@link withLease} does, unless another process works for some of the same objects.
 *
 * Effects beside those of `withLease`: with a shard one read of the base and one of each shard that overlaps, and one write of the base where it does not name the shard yet; then one
 * read of the base every lease duration.
 * Without one, a read for each shard that the base names.
 *
 * @throws as `withLease`, and KubeError where the other Leases cannot be read or the base cannot be written: then nothing tells who else is at work. One that is `forbidden` says what to do.
 */
export async function withShardLease<T>(
  options: ShardLeaseOptions,
  work: (lock: LockState) => Promise<T>,
): Promise<ShardAnswer<T>> {
  const { shard, name } = options;
  const own = shard === undefined ? options : { ...options, name: shardName(name, shard) };
  const holding = withLease(own, async (lock): Promise<ShardAnswer<T>> => {
    const meeting = new Meeting(options, lock);
    const overlap = await meeting.overlap();
    if (overlap !== undefined) return { kind: "locked", holder: overlap.holder, overlap };
    if (shard === undefined) return { kind: "done", value: await work(lock) };
    const held = new ShardLock(lock, meeting);
    const ending = new AbortController();
    const keeping = meeting.keepEntered(shard, (found) => held.lose(found), ending.signal);
    try {
      return { kind: "done", value: await work(held) };
    } finally {
      ending.abort();
      await keeping;
    }
  });
  const answer = await holding.catch((error: unknown) => {
    const isOwnLease = isForbidden(error) && error.subject === `${own.namespace}/${own.name}`;
    throw shard !== undefined && isOwnLease ? withAdvice(error, roleAdvice(shard)) : error;
  });
  return answer.kind === "locked" ? answer : answer.value;
}

/** A look that failed is made again. */
function passed(error: unknown): undefined {
  if (!(error instanceof KubeError)) throw error;
}

function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.failure === "forbidden";
}

function withAdvice(error: KubeError, advice: string): KubeError {
  const { failure, operation, subject, status, message } = error;
  return new KubeError({ failure, operation, subject, status, message: `${message} ${advice}` }, { cause: error });
}

function roleAdvice(shard: Shard): string {
  return `The Role names the Lease of each shard: print it with flipop manifests --only rbac and the --shard of every process, ${shardText(shard)} among them.`;
}

/** Says how to let it be forgotten that shards have run. The Role that is printed for others does not name their Leases. */
function forgetAdvice(
  { namespace, name }: Pick<ShardLeaseOptions, "namespace" | "name">,
  { shards, left }: { readonly shards: readonly Shard[]; readonly left: readonly Shard[] },
): string {
  const told = shards.map((shard) => `--shard ${shardText(shard)}`).join(" or ");
  const change =
    left.length === 0 ? `${SHARDS_ANNOTATION}-` : `--overwrite ${SHARDS_ANNOTATION}=${left.map(shardText).join(",")}`;
  return `So nobody can tell whether a process with ${told} works for the same objects: it has run, the Lease ${namespace}/${name} says. If none runs any more, say so: kubectl -n ${namespace} annotate lease ${name} ${change}`;
}

function without(shards: readonly Shard[], some: readonly Shard[]): readonly Shard[] {
  return shards.filter((shard) => !some.includes(shard));
}

type Annotations = LeaseRecord["annotations"];

/** So often a write of the base is tried again that others were quicker with. */
const MOST_TRIES = 20;

/** The base, as one process reads and writes it while it holds its own Lease. */
class Meeting {
  readonly #options: ShardLeaseOptions;
  readonly #lock: LockState;
  #annotations: Annotations = {};

  constructor(options: ShardLeaseOptions, lock: LockState) {
    this.#options = options;
    this.#lock = lock;
  }

  /** The annotations of the base as last read or written here. */
  get annotations(): Annotations {
    return this.#annotations;
  }

  /** Looks who works for the same objects, and enters the shard. Who waits for a Lease waits here, too, until it is clear that the other process lives. */
  async overlap(): Promise<Overlap | undefined> {
    const { clock, deadline, onLocked, retryMs, signal } = this.#options;
    const seen = new Map<string, number>();
    for (;;) {
      const found = await this.#overlapNow();
      if (found === undefined) return undefined;
      const { overlap, record } = found;
      const before = seen.get(overlap.lease);
      seen.set(overlap.lease, record.renewTimeMs);
      const isAlive = onLocked !== "wait" || (before !== undefined && before !== record.renewTimeMs);
      if (isAlive || signal.aborted || clock.monotonicMs() + retryMs > deadline) return overlap;
      await clock.sleep(retryMs, signal);
    }
  }

  #overlapNow(): Promise<Found | undefined> {
    const { shard } = this.#options;
    if (shard === undefined) return this.#atWork(undefined, shardsOn(this.#lock.annotations()));
    return this.#enter(shard);
  }

  /**
   * Looks every lease duration whether the base still names the shard, and enters it again where it does not, until the signal or until the own Lease is lost. Tells of somebody who is
   * in the way, and ends. A look that fails is made again. @throws never
   */
  async keepEntered(shard: Shard, onOverlap: (found: Overlap) => void, signal: AbortSignal): Promise<void> {
    const { clock, durationMs } = this.#options;
    const stop = AbortSignal.any([signal, this.#lock.lost]);
    for (;;) {
      await clock.sleep(durationMs, stop);
      if (stop.aborted) return;
      const found = await this.#entered(shard).catch(passed);
      if (found === undefined) continue;
      onOverlap(found.overlap);
      return;
    }
  }

  /** Enters the shard where the base does not name it. */
  async #entered(shard: Shard): Promise<Found | undefined> {
    const base = await this.#read(this.#options.name);
    const isNamed = shardsOn(base?.annotations ?? {}).some((one) => shardText(one) === shardText(shard));
    return isNamed ? undefined : await this.#enter(shard);
  }

  /** Enters the shard in the base, unless somebody is in the way. */
  async #enter(shard: Shard): Promise<Found | undefined> {
    let found: Found | undefined;
    await this.change(async (base) => {
      found = undefined;
      const named = shardsOn(base?.annotations ?? {});
      const others = named.filter((other) => shardText(other) !== shardText(shard));
      const isInTheWay = base !== undefined && overlaps(shard, undefined) && this.#isHeld(base);
      found = isInTheWay ? asFound(base, undefined) : await this.#atWork(shard, others);
      if (found !== undefined) return undefined;
      // Who overlaps and is not at work enters itself again when it is.
      const left = others.filter((other) => !overlaps(shard, other));
      return { [SHARDS_ANNOTATION]: [...left, shard].map(shardText).toSorted().join(",") };
    });
    return found;
  }

  /** Returns the first of the shards that overlaps and holds its Lease. */
  async #atWork(shard: Shard | undefined, others: readonly Shard[]): Promise<Found | undefined> {
    const unread: { readonly shard: Shard; readonly error: KubeError }[] = [];
    for (const other of others.filter((one) => overlaps(shard, one))) {
      try {
        const record = await this.#read(shardName(this.#options.name, other));
        if (record !== undefined && this.#isHeld(record)) return asFound(record, shardText(other));
      } catch (error) {
        if (!isForbidden(error)) throw error;
        unread.push({ shard: other, error });
      }
    }
    const [first] = unread;
    if (first === undefined) return undefined;
    const shards = unread.map((one) => one.shard);
    throw withAdvice(first.error, forgetAdvice(this.#options, { shards, left: without(others, shards) }));
  }

  #isHeld(record: LeaseRecord): boolean {
    const { cluster, durationMs } = this.#options;
    return record.holder !== "" && renewalAgeMs(record, cluster.now()) < leaseDurationMs(record, durationMs);
  }

  /**
   * Changes annotations of the base: sets (string) or removes (null) what `changes` returns for the base as it is then; undefined = nothing, after all.
   * @returns false where nothing was to be changed after all
   * @throws KubeError where it cannot be read or written
   */
  async change(changes: MakeChanges): Promise<boolean> {
    const { clock, retryMs } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#tryToChange(changes);
      } catch (error) {
        const mayTryAgain = isOvertaken(error) || isTransient(error);
        if (!mayTryAgain || tries === MOST_TRIES || !this.#lock.isHeld()) throw error;
        await clock.sleep(isOvertaken(error) ? Math.min(50 * tries, retryMs) : retryMs, this.#lock.lost);
      }
    }
  }

  async #tryToChange(changes: MakeChanges): Promise<boolean> {
    const { name, namespace } = this.#options;
    const base = await this.#read(name);
    this.#annotations = base?.annotations ?? {};
    const wanted = await changes(base);
    if (wanted === undefined) return false;
    const annotations = changed(this.#annotations, wanted);
    if (isSame(annotations, this.#annotations)) return true;
    this.#annotations = (await this.#write(base ?? { ...EMPTY, namespace, name }, annotations)).annotations;
    return true;
  }

  async #read(name: string): Promise<LeaseRecord | undefined> {
    const { cluster, namespace } = this.#options;
    const limits = { clock: this.#options.clock, limitMs: callLimitMs(this.#options), signal: this.#lock.lost };
    return await leaseCall(limits, { verb: "get", namespace, name }, () => cluster.readLease(namespace, name));
  }

  async #write(base: LeaseRecord, annotations: Annotations): Promise<LeaseRecord> {
    const { clock, cluster, namespace, name } = this.#options;
    if (!this.#lock.isHeld()) throw lostBefore(`${namespace}/${name}`);
    const limits = { clock, limitMs: callLimitMs(this.#options), signal: this.#lock.lost };
    const isNew = base.resourceVersion === "";
    const { resourceVersion: _none, ...created } = { ...base, annotations };
    return await leaseCall(limits, { verb: isNew ? "create" : "update", namespace, name }, () =>
      isNew ? cluster.createLease(created) : cluster.replaceLease({ ...base, annotations }),
    );
  }
}

/** A base that no process without --shard has ever held. The API server wants a duration above 0. */
const EMPTY: LeaseRecord = {
  namespace: "",
  name: "",
  resourceVersion: "",
  holder: "",
  durationSeconds: 1,
  acquireTimeMs: 0,
  renewTimeMs: 0,
  transitions: 0,
  annotations: {},
};

type Changes = Parameters<LockState["annotate"]>[0];

/** Returns the changes of the base as it is; undefined = nothing, after all. */
type MakeChanges = (base: LeaseRecord | undefined) => Promise<Changes | undefined> | Changes | undefined;

interface Found {
  readonly overlap: Overlap;
  readonly record: LeaseRecord;
}

function asFound(record: LeaseRecord, shard: string | undefined): Found {
  const lease = `${record.namespace}/${record.name}`;
  return { record, overlap: { lease, holder: record.holder, ...(shard === undefined ? {} : { shard }) } };
}

function changed(before: Annotations, changes: Changes): Annotations {
  const all = Object.entries({ ...before, ...changes });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
}

function isSame(a: Annotations, b: Annotations): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

function lostBefore(subject: string): KubeError {
  return leaseConflict(subject, `Did not write Lease ${subject}: the shard's own Lease was lost.`);
}

function leaseConflict(subject: string, message: string): KubeError {
  return new KubeError({
    failure: "conflict",
    operation: "update leases.coordination.k8s.io",
    subject,
    status: 0,
    message,
  });
}

/** The lock of a shard: its own Lease, with what all shards share on the base. */
class ShardLock implements LockState {
  readonly lost: AbortSignal;
  readonly #own: LockState;
  readonly #meeting: Meeting;
  readonly #losing = new AbortController();

  constructor(own: LockState, meeting: Meeting) {
    this.#own = own;
    this.#meeting = meeting;
    this.lost = AbortSignal.any([own.lost, this.#losing.signal]);
  }

  isHeld(): boolean {
    return this.#own.isHeld() && !this.#losing.signal.aborted;
  }

  /** Gives up for a process that works for some of the same objects. */
  lose({ lease, holder }: Overlap): void {
    const why = `${holder} holds Lease ${lease} now, and works for some of the same objects`;
    const message = `Lost the shard's place: ${why}. This run changes nothing more; the next one carries on.`;
    this.#losing.abort(leaseConflict(lease, message));
  }

  annotations(): Annotations {
    const shared = Object.entries(this.#meeting.annotations).filter(([key]) => isSharedNote(key));
    const own = Object.entries(this.#own.annotations()).filter(([key]) => !isSharedNote(key));
    return Object.fromEntries([...own, ...shared]);
  }

  async annotate(changes: Changes): Promise<void> {
    const all = Object.entries(changes);
    const own = all.filter(([key]) => !isSharedNote(key));
    const shared = Object.fromEntries(all.filter(([key]) => isSharedNote(key)));
    const seen = this.#meeting.annotations;
    if (Object.keys(shared).length > 0)
      await this.#meeting.change((base) => sharedChange(shared, seen, base?.annotations ?? {}));
    if (own.length > 0) await this.#own.annotate(Object.fromEntries(own));
  }

  /** The API server lets one shard after the other add its time, so that all of them together keep the limit. */
  async noteAcquisition(acquisition: NotedAcquisition): Promise<boolean> {
    return await this.#meeting.change(({ annotations } = EMPTY) => acquisitionAdded(annotations, acquisition));
  }
}
