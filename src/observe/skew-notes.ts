/**
 * How far the API server's clock was ahead of the local one when an error came, milliseconds. What an answer said in local time is true by the clock of that moment:
 * the local one may leap before the last of the other reads has ended.
 */
export class SkewNotes {
  readonly #skewMs: () => number;
  readonly #noted = new WeakMap<Error, number>();

  constructor(skewMs: () => number) {
    this.#skewMs = skewMs;
  }

  /** Enters an error that has just come. */
  note(error: unknown): void {
    if (error instanceof Error && !this.#noted.has(error)) this.#noted.set(error, this.#skewMs());
  }

  /** As it was when the error was noted; as it is now for any other. */
  of(error: Error): number {
    return this.#noted.get(error) ?? this.#skewMs();
  }
}
