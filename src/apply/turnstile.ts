/** Runs pieces of work one after another, in the order they came. */
export class Turnstile {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the work once all earlier work has ended, however it ended. Resolves or rejects as the work does. */
  pass<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
