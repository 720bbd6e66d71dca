import { KubeError } from "../../../model/errors.ts";
import type { ClusterChange, Staleness } from "../../../ports/cluster.ts";
import type { Clock } from "../../../ports/system.ts";
import type { ListRequest } from "../lists.ts";
import { Reflector } from "./reflector.ts";
import { KubeWatchSource, type StreamSource } from "./watch-source.ts";
import { subjectOf } from "./watched-store.ts";

type Kind = ClusterChange["kind"];

/** What is asked of any list that is followed. */
type Followed<T> = Pick<Reflector<T>, "values" | "staleness" | "askAgain" | "close">;

/** The lists that every reading of the cluster begins with. They say which others it needs. */
const FIRST_KINDS: readonly Kind[] = ["node", "pool", "record-set", "routed-ip"];
/** Kinds of which each object of flipop asks for a list of its own. */
const SELECTED_KINDS: readonly Kind[] = ["pod", "endpoint-slice"];
/** Kinds that an older cluster does not know. */
const LATER_KINDS: readonly Kind[] = ["record-set", "routed-ip", "issuer"];

/** The lists that somebody has asked for, each read and watched since then. */
export class WarmLists {
  readonly #access: StreamSource;
  readonly #listeners: ((change: ClusterChange) => void)[] = [];
  readonly #ending = new AbortController();
  readonly #readings = new Readings();
  readonly #whole = new Map<Kind, Followed<unknown>>();
  readonly #selected: UsedLists<unknown>;

  constructor(access: StreamSource) {
    this.#access = access;
    this.#selected = new UsedLists(access.clock, this.#readings, this.#ending.signal);
  }

  /** See {@link Reflector.values}. Two requests of one kind, path and query are one list. */
  async values<T>(request: ListRequest<T>): Promise<readonly T[]> {
    const { kind, path, query } = request;
    if (SELECTED_KINDS.includes(kind)) {
      const key = `${path}?${new URLSearchParams(query)}`;
      return (await this.#selected.values(key, () => this.#follow(request))) as readonly T[];
    }
    const list = this.followed<T>(kind) ?? this.#follow(request);
    this.#whole.set(kind, list);
    return FIRST_KINDS.includes(kind) ? await this.#first(kind, list) : await list.values();
  }

  /** The list of a kind, if it is followed, for what this process writes itself. */
  followed<T>(kind: Kind): Reflector<T> | undefined {
    return this.#whole.get(kind) as Reflector<T> | undefined;
  }

  onChange(listener: (change: ClusterChange) => void): void {
    this.#listeners.push(listener);
  }

  /** The oldest failure among the lists. That the cluster has none of a later kind of object because it does not know the kind is none: it is known. */
  staleness(): Staleness | undefined {
    const whole = Array.from(this.#whole, ([kind, list]) => {
      const staleness = list.staleness();
      const failure = staleness?.error.failure;
      const isKnown = LATER_KINDS.includes(kind)
        ? failure === "missing-resource"
        : // Who may not list namespaces knows that nothing is granted.
          kind === "namespace" && failure === "forbidden";
      return isKnown ? undefined : staleness;
    });
    const failures = [...whole, ...this.#selected.all().map((list) => list.staleness())];
    return failures.filter((one) => one !== undefined).sort((a, b) => a.sinceMs - b.sinceMs)[0];
  }

  close(): void {
    this.#ending.abort();
    for (const list of [...this.#whole.values(), ...this.#selected.all()]) list.close();
  }

  /** Reads one of the lists that every reading begins with. An unknown kind counts as an answer: the cluster has no such objects. */
  async #first<T>(kind: Kind, list: Followed<T>): Promise<readonly T[]> {
    const attempt = this.#readings.begin(kind);
    try {
      const values = await list.values();
      this.#readings.answered(attempt);
      return values;
    } catch (error) {
      if (error instanceof KubeError && error.failure === "missing-resource") this.#readings.answered(attempt);
      throw error;
    }
  }

  #follow<T>(request: ListRequest<T>): Reflector<T> {
    const { clock, random } = this.#access;
    const { kind, rules } = request;
    const onChange = (keys: readonly string[]): void => {
      // Whoever edits an object, or its Service, may have mended why its list is refused.
      const isOfObject = kind !== "node" && kind !== "namespace" && !SELECTED_KINDS.includes(kind);
      if (isOfObject) for (const list of this.#selected.all()) list.askAgain();
      for (const key of keys) for (const tell of this.#listeners) tell({ kind, subject: subjectOf(key) });
    };
    const source = new KubeWatchSource(this.#access, request);
    const isRefused = request.isRefused ?? (() => false);
    const isVital = kind === "node" || SELECTED_KINDS.includes(kind);
    const reflector = new Reflector({ source, rules, clock, random, onChange, isRefused, isVital });
    if (this.#ending.signal.aborted) reflector.close();
    else reflector.start();
    return reflector;
  }
}

interface Used<T> {
  readonly reflector: Followed<T>;
  usedAtMs: number;
  usedIn: number;
}

/** A list stays open for at least so long after its last use: it may be wanted again. */
const UNUSED_MS = 600_000;
const LOOK_MS = 60_000;
/** So many readings must begin after the last use: the first of them has then ended without the list. */
const READINGS = 2;

/** The key that stands for all first lists of a reading. */
const FIRST = "";

/**
 * Counts readings of the cluster. One reading asks for each list once: a list that is asked for again begins the next. A reading that fails over one of its first lists
 * does not count: nobody knows what else it would have asked for.
 *
 *   first lists, pods of a, pods of b | first lists, pods of a | first lists, …      the second reading went on without "pods of b"
 */
export class Readings {
  #count = 0;
  readonly #asked = new Set<string>();
  #attempt = 0;
  readonly #begun = new Set<string>();
  #answers = 0;

  /** Number of the reading under way. */
  get count(): number {
    return this.#count;
  }

  /** Takes note that somebody asks for one of the first lists. Returns what to tell {@link answered}. */
  begin(list: string): number {
    if (this.#begun.has(list)) {
      this.#begun.clear();
      this.#answers = 0;
      this.#attempt += 1;
    }
    this.#begun.add(list);
    return this.#attempt;
  }

  /** Takes note that one of the first lists was answered. */
  answered(attempt: number): void {
    if (attempt !== this.#attempt) return;
    this.#answers += 1;
    if (this.#answers === FIRST_KINDS.length) this.ask(FIRST);
  }

  /** Takes note that somebody asks for another list. */
  ask(key: string): void {
    if (this.#asked.has(key)) {
      this.#asked.clear();
      this.#count += 1;
    }
    this.#asked.add(key);
  }
}

/**
 * Lists of one kind of object, each of what one selector selects. A list is closed if a whole reading of the cluster did not ask for it, and its last use is ten
 * minutes ago. While nobody reads the cluster, all lists stay open: the watch loop waits for their changes.
 */
export class UsedLists<T> {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #readings: Readings;
  readonly #lists = new Map<string, Used<T>>();
  #isLooking = false;

  /** @param readings is told of every use. @param signal ends the looking for unused lists; their watches end with {@link all}'s `close`. */
  constructor(clock: Clock, readings: Readings, signal: AbortSignal) {
    this.#clock = clock;
    this.#readings = readings;
    this.#signal = signal;
  }

  /** See {@link Reflector.values}; `follow` begins a list that is not followed. `key` is unique over all kinds of lists. */
  async values(key: string, follow: () => Followed<T>): Promise<readonly T[]> {
    this.#readings.ask(key);
    const use = { usedAtMs: this.#clock.monotonicMs(), usedIn: this.#readings.count };
    const list = Object.assign(this.#lists.get(key) ?? { reflector: follow(), ...use }, use);
    this.#lists.set(key, list);
    if (!this.#isLooking) void this.#dropUnused();
    return await list.reflector.values();
  }

  /** The lists that are followed now, in no order. */
  all(): readonly Followed<T>[] {
    return Array.from(this.#lists.values(), ({ reflector }) => reflector);
  }

  async #dropUnused(): Promise<void> {
    this.#isLooking = true;
    while (!this.#signal.aborted) {
      await this.#clock.sleep(LOOK_MS, this.#signal);
      for (const [key, { reflector, usedAtMs, usedIn }] of this.#lists) {
        const isRecent = this.#clock.monotonicMs() - usedAtMs < UNUSED_MS;
        if (isRecent || this.#readings.count - usedIn < READINGS) continue;
        this.#lists.delete(key);
        reflector.close();
      }
    }
  }
}
