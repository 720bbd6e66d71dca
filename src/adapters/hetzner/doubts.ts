import { ProviderError } from "../../model/errors.ts";
import type { Clock } from "../../ports/system.ts";

/** How long something counts as unread after it could first not be read, milliseconds. */
const LONGEST_DOUBT_MS = 10_000;

/** What is asked beside the thing itself, and may get no answer: then the thing is believed after a while. So a fault of `/actions` alone holds up nothing for longer. */
export class Doubts {
  /** By key since when nobody answers, monotonic milliseconds. */
  readonly #sinceMs = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What was answered. Where nobody answers, that is `unread` for {@link LONGEST_DOUBT_MS}, and then `believed`. */
  async answer<T>(
    key: string,
    answer: Promise<T>,
    { unread, believed }: { readonly unread: T; readonly believed: T },
  ): Promise<T> {
    try {
      const told = await answer;
      this.#sinceMs.delete(key);
      return told;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const nowMs = this.#clock.monotonicMs();
      const sinceMs = this.#sinceMs.get(key) ?? nowMs;
      const isOver = nowMs - sinceMs >= LONGEST_DOUBT_MS;
      if (isOver) this.#sinceMs.delete(key);
      else this.#sinceMs.set(key, sinceMs);
      return isOver ? believed : unread;
    }
  }

  /** The next answer is about something new. */
  forget(key: string): void {
    this.#sinceMs.delete(key);
  }
}
