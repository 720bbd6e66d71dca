import { ProviderError } from "../model/errors.ts";
import type { SkewNotes } from "./skew-notes.ts";

/** How many reads are under way at once. */
const PARALLEL_READS = 4;
/** After so many reads in a row without any answer the provider is taken to be away. */
const UNANSWERED_LIMIT = 3;

/** A reading; `isUnanswered` when nothing came back at all. */
interface Reading {
  readonly kind: string;
  readonly error?: string;
  readonly isUnanswered?: boolean;
}

/**
 * Reads many things of one provider, a few at a time. Once several reads in a row got no answer, the provider is taken to be away, and what is left is not asked for:
 * every call would only wait for its deadline. A failure of the provider as a whole (a read that throws) ends the reading, too; what was read before is kept.
 */
export class Attentive {
  #unanswered = 0;
  #lastError = "";
  #failure: ProviderError | undefined;
  readonly #skews: SkewNotes | undefined;

  /** @param skews - enters every failure of the provider as a whole as it comes. */
  constructor(skews?: SkewNotes) {
    this.#skews = skews;
  }

  /** The failure of the provider as a whole; undefined when there was none. */
  get failure(): ProviderError | undefined {
    return this.#failure;
  }

  /** @returns each key with its reading, in the order of the keys; what was not asked for is `skipped`, given the last error. */
  async all<T extends Reading>(
    keys: readonly string[],
    read: (key: string) => Promise<T>,
    skipped: (error: string) => T,
  ): Promise<ReadonlyMap<string, T>> {
    const readings = new Map<string, T>(keys.map((key) => [key, skipped("it was not read")]));
    const queue = keys.values();
    const work = async (): Promise<void> => {
      for (const key of queue) readings.set(key, await this.#readOne(key, read, skipped));
    };
    await Promise.all(Array.from({ length: PARALLEL_READS }, work));
    return readings;
  }

  async #readOne<T extends Reading>(
    key: string,
    read: (key: string) => Promise<T>,
    skipped: (error: string) => T,
  ): Promise<T> {
    if (this.#failure !== undefined) return skipped(this.#failure.message);
    if (this.#unanswered >= UNANSWERED_LIMIT) return skipped(this.#lastError);
    const reading = await this.#guard(() => read(key));
    if (reading === undefined) return skipped(this.failure?.message ?? "");
    const isUnanswered = reading.isUnanswered === true;
    this.#unanswered = isUnanswered ? this.#unanswered + 1 : 0;
    if (isUnanswered) this.#lastError = reading.error ?? "";
    return reading;
  }

  async #guard<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      this.#skews?.note(error);
      // Until when to wait must reach later runs, whatever else failed beside it.
      if (this.#failure === undefined || error.failure === "rate-limited") this.#failure = error;
      return undefined;
    }
  }
}
