import type { Purpose } from "./limits.ts";

/**
 * A read that is expensive. One reading serves everybody who asks while it runs, and whoever asks right after it, before the event loop turns. Some must know how things
 * are now: they get a reading that begins after they have asked, and share it with all who ask before it begins.
 */
export class SharedRead<T> {
  readonly #read: (purpose: Purpose) => Promise<T>;
  readonly #running = new Map<Purpose, Promise<T>>();
  readonly #next = new Map<Purpose, Promise<T>>();
  /** Until the event loop turns. */
  #last: { readonly value: T } | undefined;
  #changes = 0;

  constructor(read: (purpose: Purpose) => Promise<T>) {
    this.#read = read;
  }

  /** Returns what has just been read, or is being read; else reads. */
  recent(purpose: Purpose): Promise<T> {
    if (this.#last !== undefined) return Promise.resolve(this.#last.value);
    const own = this.#running.get(purpose) ?? this.#next.get(purpose);
    if (own !== undefined) return own;
    const [other] = [...this.#running.values(), ...this.#next.values()];
    // What is less urgent may be put off.
    return other?.catch(() => this.fresh(purpose)) ?? this.fresh(purpose);
  }

  /** Returns a reading that begins after this call. */
  fresh(purpose: Purpose): Promise<T> {
    const planned = this.#next.get(purpose);
    if (planned !== undefined) return planned;
    const begin = (): Promise<T> => {
      if (this.#next.get(purpose) === next) this.#next.delete(purpose);
      return this.#begin(purpose);
    };
    const next: Promise<T> = (this.#running.get(purpose) ?? Promise.resolve()).then(begin, begin);
    this.#next.set(purpose, next);
    return next;
  }

  /** Something has changed: what was read before, or is being read, serves nobody who comes later. */
  forget(): void {
    this.#changes += 1;
    this.#last = undefined;
    this.#running.clear();
    this.#next.clear();
  }

  #begin(purpose: Purpose): Promise<T> {
    const changes = this.#changes;
    const reading = this.#read(purpose).finally(() => {
      if (this.#running.get(purpose) === reading) this.#running.delete(purpose);
    });
    this.#running.set(purpose, reading);
    return reading.then((value) => {
      if (changes === this.#changes) this.#keep(value);
      return value;
    });
  }

  #keep(value: T): void {
    const last = { value };
    this.#last = last;
    setImmediate(() => {
      if (this.#last === last) this.#last = undefined;
    });
  }
}
