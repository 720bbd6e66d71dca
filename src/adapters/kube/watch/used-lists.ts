import type { Clock } from "../../../ports/clock.ts";
import type { Reflector } from "./reflector.ts";

interface Used<T> {
  readonly reflector: Reflector<T>;
  usedAtMs: number;
}

/** What nobody asks for any more is followed no longer, after a time in which it may be wanted again. */
const UNUSED_MS = 600_000;
const LOOK_MS = 60_000;

/** Lists of one kind of object, each of what one selector selects, followed as long as somebody asks for them. */
export class UsedLists<T> {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #lists = new Map<string, Used<T>>();
  #isLooking = false;

  /** @param signal ends the looking for unused lists; their watches end with {@link all}'s `close`. */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** See {@link Reflector.values}; `follow` begins a list that is not followed. */
  async values(key: string, follow: () => Reflector<T>): Promise<readonly T[]> {
    const usedAtMs = this.#clock.monotonicMs();
    const list = this.#lists.get(key) ?? { reflector: follow(), usedAtMs };
    list.usedAtMs = usedAtMs;
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
      for (const [key, { reflector, usedAtMs }] of this.#lists) {
        if (this.#clock.monotonicMs() - usedAtMs < UNUSED_MS) continue;
        this.#lists.delete(key);
        reflector.close();
      }
    }
  }
}
