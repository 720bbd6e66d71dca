import type { Clock } from "../../../ports/system.ts";
import type { Reflector } from "./reflector.ts";

interface Used<T> {
  readonly reflector: Reflector<T>;
  usedAtMs: number;
  usedIn: number;
}

/** A list stays open for at least so long after its last use: it may be wanted again. */
const UNUSED_MS = 600_000;
const LOOK_MS = 60_000;
/** So many readings must begin after the last use: the first of them has then ended without the list. */
const READINGS = 2;

/** How many lists every reading of the cluster begins with: nodes, pools, record sets, routed IPs. They say which others it needs. */
const FIRST_LISTS = 4;
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
    if (this.#answers === FIRST_LISTS) this.ask(FIRST);
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
  async values(key: string, follow: () => Reflector<T>): Promise<readonly T[]> {
    this.#readings.ask(key);
    const use = { usedAtMs: this.#clock.monotonicMs(), usedIn: this.#readings.count };
    const list = Object.assign(this.#lists.get(key) ?? { reflector: follow(), ...use }, use);
    this.#lists.set(key, list);
    if (!this.#isLooking) void this.#dropUnused();
    return await list.reflector.values();
  }

  /** The lists that are followed now, in no order. */
  all(): readonly Reflector<T>[] {
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
