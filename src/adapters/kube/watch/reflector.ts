import { ConfigError, InternalError, KubeError } from "../../../model/errors.ts";
import type { Staleness } from "../../../ports/cluster.ts";
import { type Clock, within } from "../../../ports/system.ts";
import type { Listing } from "../lists.ts";
import { ChangeNotifier } from "./change-notifier.ts";
import { type FailedAttempt, failureOf, isRefusal, retryDelayMs, SyncState } from "./sync-state.ts";
import { compareVersions, laterVersion, type ObservedVersion, type StoreRules, WatchedStore } from "./watched-store.ts";

/** What one list is kept by. */
interface ReflectorOptions<T> {
  readonly source: WatchSource<T>;
  readonly rules: StoreRules<T>;
  readonly clock: Clock;
  /** From 0 to 1, anew at each call. */
  readonly random: () => number;
  /** Called with the keys of objects in which a plan can see a difference, once they are in the list. */
  readonly onChange: (keys: readonly string[]) => void;
  /** See {@link SyncState}. */
  readonly isRefused?: (error: unknown) => boolean;
  /** True for a list by which addresses move: a watch of it that tells nothing is not believed for long. */
  readonly isVital?: boolean;
}

/** So long after a long absence the server has told what happened in it. */
const CATCH_UP_MS = 500;
/** After so many failed attempts in a row nobody waits for a watch any more. */
const DOUBTED_FAILURES = 2;
/** And after so many the version that it goes on from may be at fault. */
const LOST_FAILURES = 5;
/** Whoever wants the list waits so long for the answer to a watch. If the last attempt failed longer ago than this, the next one is made at once. */
const PATIENCE_MS = 2_000;
/** While no watch can be relied on, the list is read so often. */
const LOOK_MS = 3_000;
/** A list that takes long to read is read less often: no more than one part in so many of the time goes into that. */
const LOOKING_SHARE = 10;

const RESYNC_MS = 600_000;
/** A watch that has told nothing for so long may be a connection to nobody. */
const QUIET_MS = 20_000;
/** So many objects are one page, which costs nothing to read again. */
const FEW = 500;

/** A watch that lasted so long was sound, and the end of its history is no sign of trouble. */
const SOUND_MS = 10_000;
/** A watch that ends sooner than this, even in good order, must not be asked for again at once. One that lasted longer is no sign of trouble: it counts as the first to break. */
const ABRUPT_MS = 1_000;
/** What a person is told of a history that is not as far as it was. */
const WENT_BACK = "The API server lags behind, or its etcd was set back to a backup: its next list is taken as it is.";

/**
 * One list kept in memory: read once, then watched.
 *
 *                    +---------------------- ends in good order ----------------------+
 *                    v                                                                |
 *   list ---------> watch ---- the server tells of changes: in sync ------------------+
 *    ^               ^ |
 *    |               | breaks, is refused, says nothing: behind
 *    |               | v
 *    +-- 410 or ---- wait, longer after each failure; less when somebody asks for the list
 *        in doubt
 *
 * After an interruption the watch goes on from the last version. It is in doubt once two attempts have failed in a row, or nobody has answered one for two seconds. Then
 * the list is read every few seconds, and whenever somebody asks for it, until a watch stands again. After five failures each attempt begins with the list.
 *
 * Once etcd is set back to a backup, this process may have seen versions that the cluster has yet to reach. A watch that goes on from such a version is accepted, and tells nothing
 * until then. So whoever goes on with a watch asks how far the cluster is, and reads the list where it is behind.
 *
 * A watch may lose something without a word. So the list is read beside it every ten minutes. A watch that tells nothing may be a connection to nobody. So a short
 * list by which addresses move is read beside it after every 20 s of silence, too.
 */
export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #store: WatchedStore<T>;
  readonly #notifier: ChangeNotifier<T>;
  readonly #sync: SyncState;
  readonly #ending = new AbortController();
  /** Up to here the watch has told everything. */
  #version = "";
  #mustList = true;
  #mayGoBack = false;
  /** True while a watch goes on from a version that nobody has compared with the cluster's own. */
  #isUnchecked = false;
  /** Ends the watch. */
  #over = new AbortController();
  #isResyncing = false;
  /** Counts how often the list was read from the start, resyncs not included. */
  #listings = 0;
  #failures = 0;
  #lastFailure: FailedAttempt["failure"];
  #failedAtMs = 0;
  #listFailedAtMs = Number.NEGATIVE_INFINITY;
  #hasFailedToList = false;
  /** True while no watch can be relied on to come. */
  #isDoubtful = false;
  /** When a watch was asked for that nobody has answered; undefined while there is none. */
  #askedAtMs: number | undefined;
  /** When the watch told of something last. */
  #toldAtMs = 0;
  #isLooking = false;
  /** A reading of the list that is under way. */
  #reading: Promise<void> | undefined;
  /** How long the last watch lasted. */
  #lastedMs = 0;
  /** Ends the wait for the next attempt. */
  #rest: AbortController | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#store = new WatchedStore(options.rules);
    this.#notifier = new ChangeNotifier(this.#store, options.onChange);
    this.#sync = new SyncState(options.clock, options.isRefused);
  }

  /** Begins to list and watch; ends with {@link close}. */
  start(): void {
    this.#sync.begin();
    const ended = (error: unknown): void => this.#sync.markFailed(error);
    this.#run(ended).catch(ended);
    this.#resyncAgainAndAgain().catch(ended);
  }

  /** Ends everything; whoever waits for the list is refused. */
  close(): void {
    this.#ending.abort();
    this.#rest?.abort();
    this.#sync.markFailed(new InternalError("The cluster was closed while somebody used it."));
  }

  /** The list as it is now, once it is known. @throws KubeError, ConfigError: why it is not known, or not known to be current. */
  async values(): Promise<readonly T[]> {
    for (;;) {
      const mustList = this.#isUnwatched && this.#isLongAgo(this.#listFailedAtMs);
      if (mustList) await this.#listOnce();
      if (this.#isLongAgo(Math.max(this.#failedAtMs, this.#listFailedAtMs))) this.askAgain(false);
      const isKnown = mustList && !this.#ending.signal.aborted;
      if (isKnown || (await this.#isInSync())) return this.#store.values();
    }
  }

  /** True once the list is in sync; false where the present attempt takes its time. @throws why it is not */
  async #isInSync(): Promise<boolean> {
    const wait = this.#sync.wait();
    if (wait === undefined) return true;
    return (await within(this.#options.clock, PATIENCE_MS, wait)) !== "late";
  }

  /** True while nobody tells of changes of a list that was read before, and no watch can be relied on to come. */
  get #isUnwatched(): boolean {
    const isUnanswered = this.#askedAtMs !== undefined && this.#isLongAgo(this.#askedAtMs);
    return (this.#isDoubtful || isUnanswered) && this.#sync.isLongBehind;
  }

  #isLongAgo(atMs: number): boolean {
    return this.#options.clock.monotonicMs() - atMs >= PATIENCE_MS;
  }

  /** Begins the next attempt now, if the list is refused for what it asks; with `false`, if it is not. */
  askAgain(isRefused = true): void {
    if (this.#rest === undefined || this.#sync.isRefused !== isRefused) return;
    this.#sync.begin();
    this.#rest.abort();
  }

  /** See {@link SyncState.staleness}. */
  staleness(): Staleness | undefined {
    return this.#sync.staleness();
  }

  /** Runs a write of this process upon an object of the list, see {@link ChangeNotifier.write}. */
  async write<R>(
    key: string,
    write: () => Promise<R>,
    stored: (answer: R) => ObservedVersion<T> | undefined,
  ): Promise<R> {
    return await this.#notifier.write(key, write, (answer) => (this.#sync.isListed ? stored(answer) : undefined));
  }

  async #run(ended: (error: unknown) => void): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        this.#sync.begin();
        this.#lookMeanwhile().catch(ended);
        this.#lastedMs = 0;
        const mustList = this.#mustList;
        if (mustList) await this.#listOnce();
        await this.#watch(mustList);
      } catch (error) {
        if (signal.aborted) return;
        this.#fail(error);
        this.#rest = new AbortController();
        await clock.sleep(this.#restMs(failureOf(error)), this.#rest.signal);
        this.#rest = undefined;
      }
    }
  }

  /** Returns how long to wait after a failure, milliseconds. The history is lost anew where something else failed before. */
  #restMs(kind: ReturnType<typeof failureOf>): number {
    // A permission is granted without a change of the objects that need it: who waits for one asks as often as for any other.
    const failure = this.#sync.isRefused && kind !== "forbidden" ? ("refused" as const) : kind;
    const isLostAnew = failure === "gone" && this.#lastFailure !== "gone";
    this.#lastFailure = failure;
    const attempt = { failure, failures: isLostAnew ? 1 : this.#failures, wasAllowed: this.#sync.wasInSync };
    return retryDelayMs(attempt, this.#options.random());
  }

  /** Until a watch stands nobody tells of changes: while none can be relied on, the list is read again and again, as long as it can be. */
  async #lookMeanwhile(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#ending;
    if (this.#isLooking) return;
    this.#isLooking = true;
    let tookMs = 0;
    while (this.#sync.behindSinceMs !== undefined && !signal.aborted) {
      await clock.sleep(Math.max(LOOK_MS, (LOOKING_SHARE - 1) * tookMs), signal);
      const startMs = clock.monotonicMs();
      if (this.#isUnwatched && !signal.aborted && !this.#hasFailedToList) await this.#listOnce().catch(ignoreRefusal);
      tookMs = clock.monotonicMs() - startMs;
    }
    this.#isLooking = false;
  }

  /** Reads the list, or waits for the reading that is under way. */
  async #listOnce(): Promise<void> {
    this.#reading ??= this.#list()
      .then(() => {
        this.#hasFailedToList = false;
      })
      .catch((error: unknown) => {
        this.#hasFailedToList = true;
        this.#listFailedAtMs = this.#options.clock.monotonicMs();
        throw error;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    await this.#reading;
  }

  async #list(): Promise<void> {
    const { clock, source } = this.#options;
    const startedMs = clock.monotonicMs();
    // In a history that was set back, a version may stand for something else than it did.
    const { items, resourceVersion } = await source.list(this.#mayGoBack ? () => undefined : this.#known);
    if (this.#ending.signal.aborted) return;
    const isOlder = (compareVersions(resourceVersion, this.#version) ?? 0) < 0 || this.#store.isBehind(resourceVersion);
    if (isOlder && !this.#mayGoBack) {
      // A server that lags says so once; a cluster that was set back to a backup says so for ever.
      this.#mayGoBack = true;
      throw source.refuse(
        `the list is older (${resourceVersion}) than what was seen before (${this.#version})`,
        WENT_BACK,
      );
    }
    if (isOlder) this.#store.forgetVersions();
    const changed = this.#store.replace(items, resourceVersion) ?? [];
    this.#listings += 1;
    const isNewsToNobody = !this.#sync.isListed && this.#sync.isAwaited;
    this.#mayGoBack = false;
    this.#mustList = false;
    this.#version = resourceVersion;
    this.#sync.markListed(startedMs);
    if (!isNewsToNobody) this.#notifier.report(changed);
  }

  /** Watches until the server ends it. */
  async #watch(isJustListed: boolean): Promise<void> {
    const { clock, source } = this.#options;
    const { signal } = this.#ending;
    const { behindSinceMs } = this.#sync;
    const over = new AbortController();
    this.#over = over;
    let startedMs: number | undefined;
    let hasTold = false;
    const lastedMs = (): number => (startedMs === undefined ? 0 : clock.monotonicMs() - startedMs);
    this.#askedAtMs = clock.monotonicMs();
    try {
      await source.watch(this.#version, {
        signal: AbortSignal.any([signal, over.signal]),
        known: (key) => this.#store.get(key),
        take: (events) => {
          if (signal.aborted || over.signal.aborted) return;
          this.#askedAtMs = undefined;
          if (startedMs === undefined) this.#goOn(isJustListed, over.signal);
          startedMs ??= clock.monotonicMs();
          hasTold ||= events.length > 0;
          if (events.some(({ kind }) => kind !== "bookmark")) this.#toldAtMs = clock.monotonicMs();
          this.#take(events);
        },
      });
    } finally {
      over.abort();
      this.#askedAtMs = undefined;
      // A watch that was over before it began has shown nothing: the list is as old as it was before.
      const wasReal = hasTold || lastedMs() >= ABRUPT_MS;
      this.#sync.markBehind(wasReal ? undefined : behindSinceMs);
      this.#lastedMs = lastedMs();
    }
    if (signal.aborted) return;
    if (this.#mayGoBack) throw source.refuse("the cluster is not as far as it was", WENT_BACK);
    if (lastedMs() < ABRUPT_MS) throw source.refuse("the server ends it at once");
  }

  #goOn(isJustListed: boolean, over: AbortSignal): void {
    void this.#catchUp(isJustListed, over);
    this.#isUnchecked = !isJustListed;
    if (this.#isUnchecked) this.#checkHistory().catch((error: unknown) => this.#sync.markFailed(error));
  }

  /** Compares versions with the cluster's own. What fails is tried again at the next time. */
  async #checkHistory(): Promise<void> {
    const [listings, version, over] = [this.#listings, this.#version, this.#over];
    try {
      const newest = await this.#options.source.newest();
      if (this.#listings !== listings || this.#over !== over) return;
      this.#isUnchecked = false;
      this.#distrust(newest, version);
    } catch (error) {
      ignoreRefusal(error);
    }
  }

  /** Ends the watch, to begin with the list, if the cluster is not even as far as the version that was seen before it was asked. */
  #distrust(newest: string, seen: string): void {
    if ((compareVersions(newest, seen) ?? 0) >= 0) return;
    this.#mayGoBack = true;
    this.#mustList = true;
    this.#over.abort();
  }

  /** What has happened in a long absence is told within moments; until then the list is as old as it was. */
  async #catchUp(isJustListed: boolean, over: AbortSignal): Promise<void> {
    if (this.#sync.isLongBehind && !isJustListed) await this.#options.clock.sleep(CATCH_UP_MS, over);
    if (over.aborted) return;
    this.#isDoubtful = false;
    this.#sync.markInSync();
  }

  #take(events: readonly WatchEvent<T>[]): void {
    const changed = new Set<string>();
    try {
      for (const event of events) {
        if (this.#apply(event) && "observed" in event) changed.add(event.observed.key);
      }
    } finally {
      this.#notifier.report([...changed]);
    }
  }

  /** True when a plan can see the difference. */
  #apply(event: WatchEvent<T>): boolean {
    switch (event.kind) {
      case "changed":
        this.#advance(event.observed.version);
        return this.#store.see(event.observed);
      case "deleted":
        this.#advance(event.observed.version);
        return this.#store.remove(event.observed.key, event.observed.version);
      case "bookmark":
        this.#advance(event.version);
        if (!this.#isResyncing) this.#store.completeTo(event.version);
        return false;
      case "failed":
        throw event.error;
      case "unknown":
        this.#mustList = true;
        throw this.#options.source.refuse(`an event of the unknown type ${JSON.stringify(event.type)}`);
    }
  }

  #advance(version: string): void {
    this.#version = laterVersion(this.#version, version);
  }

  #fail(error: unknown): void {
    const failure = failureOf(error);
    const soundMs = failure === "gone" ? SOUND_MS : ABRUPT_MS;
    this.#failures = this.#lastedMs >= soundMs ? 1 : this.#failures + 1;
    this.#failedAtMs = this.#options.clock.monotonicMs();
    this.#sync.markFailed(error);
    const isUnanswered = failure === "timeout" && this.#lastedMs === 0;
    const isDoubtful = this.#failures >= DOUBTED_FAILURES || isUnanswered;
    this.#isDoubtful = isDoubtful && !isRefusal(failure) && !this.#sync.isRefused;
    const isLost = isUnanswered || this.#failures >= LOST_FAILURES;
    if (failure === "gone" || (this.#isDoubtful && isLost) || this.#sync.isRefused) this.#mustList = true;
  }

  async #resyncAgainAndAgain(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#ending;
    let dueMs = clock.monotonicMs();
    while (!signal.aborted) {
      const nowMs = clock.monotonicMs();
      const isDue = nowMs >= dueMs;
      if (isDue) dueMs = nowMs + RESYNC_MS * (0.9 + random() / 5);
      // Where the watch is down the list is read anew anyway, or nobody answers.
      const isWatched = this.#sync.behindSinceMs === undefined;
      if (isWatched && this.#isUnchecked) await this.#checkHistory();
      if (isWatched && (isDue || this.#isQuiet)) await this.#resync();
      await clock.sleep(Math.min(QUIET_MS, dueMs - clock.monotonicMs()), signal);
    }
  }

  /** True while the watch of a short, vital list tells nothing. */
  get #isQuiet(): boolean {
    const { isVital = false, clock } = this.#options;
    return isVital && this.#store.values().length <= FEW && clock.monotonicMs() - this.#toldAtMs >= QUIET_MS;
  }

  /**
   * Reads the list while the watch goes on. What fails is tried again at the next time; the watch tells of trouble. The answer is dropped in two cases:
   * 1. The list was read from the start meanwhile: its history may be another one.
   * 2. The watch went on meanwhile, and versions cannot be compared.
   */
  async #resync(): Promise<void> {
    const { source } = this.#options;
    const [listings, version] = [this.#listings, this.#version];
    this.#isResyncing = true;
    try {
      const { items, resourceVersion } = await source.list(this.#known);
      const isComparable = compareVersions(resourceVersion, version) !== undefined;
      const isOvertaken = this.#listings !== listings || (!isComparable && this.#version !== version);
      if (this.#ending.signal.aborted || isOvertaken) return;
      this.#distrust(resourceVersion, version);
      this.#notifier.report(this.#store.replace(items, resourceVersion) ?? []);
    } catch (error) {
      ignoreRefusal(error);
    } finally {
      this.#isResyncing = false;
    }
  }

  readonly #known = (key: string, version: string): T | undefined => {
    const entry = this.#store.get(key);
    return entry?.version === version && version !== "" ? entry.facts : undefined;
  };
}

/** For a reading that is repeated: ignores what the API server, or a certificate, is to blame for, and throws everything else. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof KubeError || error instanceof ConfigError)) throw error;
}

/** What a watch says. */
export type WatchEvent<T> =
  | { readonly kind: "changed"; readonly observed: ObservedVersion<T> }
  /** It is gone, or the selector no longer selects it. */
  | { readonly kind: "deleted"; readonly observed: ObservedVersion<T> }
  /** Everything up to this version has been said. */
  | { readonly kind: "bookmark"; readonly version: string }
  | { readonly kind: "failed"; readonly error: KubeError }
  /** Something else that cannot be understood. */
  | { readonly kind: "unknown"; readonly type: string };

/** Who follows a watch. */
export interface Follower<T> {
  /** Ends the watch at any time. */
  readonly signal: AbortSignal;
  /**
   * Told what happens, as batches in order of arrival. The first batch is empty and says that the server watches now. What it throws ends the watch, which throws the
   * same.
   */
  readonly take: (events: readonly WatchEvent<T>[]) => void;
  /** An object as it is known: of what has not changed nothing need be read again. */
  readonly known: (key: string) => ObservedVersion<T> | undefined;
}

/** One list of a cluster, and how to follow it. */
export interface WatchSource<T> {
  /**
   * The list as it is now, read from the cluster itself. `known` may return the facts of an object at a version, which then is not decoded again.
   * @throws KubeError, ConfigError
   */
  list(known: (key: string, version: string) => T | undefined): Promise<Listing<ObservedVersion<T>>>;
  /** The version of the list as it is now, which costs next to nothing. @throws KubeError, ConfigError */
  newest(): Promise<string>;
  /**
   * Tells what happens after a version. Resolves when the server ends it in good order, or when the follower's signal has ended it.
   * @throws KubeError, ConfigError when it is refused, breaks or stays silent for too long; what the follower throws.
   */
  watch(version: string, follower: Follower<T>): Promise<void>;
  /** A KubeError `malformed` about this watch, for what only its reader can see. @param why one clause, without a full stop. */
  refuse(why: string, fix?: string): KubeError;
}
