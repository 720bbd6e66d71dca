import type { ObservedVersion, WatchedStore } from "./watched-store.ts";

/** A write of this process that is not answered yet. */
interface OwnWrite<T> {
  /** The object as the list showed it before. */
  readonly before: ObservedVersion<T> | undefined;
  /** True when there is something to report in the end. */
  isChanged: boolean;
}

/** Reports which objects of a list have changed, except for what this process wrote itself: it knows that. */
export class ChangeNotifier<T> {
  readonly #store: WatchedStore<T>;
  readonly #onChange: (keys: readonly string[]) => void;
  readonly #writes = new Map<string, OwnWrite<T>>();

  constructor(store: WatchedStore<T>, onChange: (keys: readonly string[]) => void) {
    this.#store = store;
    this.#onChange = onChange;
  }

  /** Reports objects that are different in the list now. What looks like the echo of a write that is still under way waits for its answer. */
  report(keys: readonly string[]): void {
    const foreign = keys.filter((key) => {
      const own = this.#writes.get(key);
      if (own === undefined || !this.#store.isOwnDifference(own.before, this.#store.get(key))) return true;
      own.isChanged = true;
      return false;
    });
    if (foreign.length > 0) this.#onChange(foreign);
  }

  /**
   * Runs a write of this process, and takes note of the object as stored, which the watch may show before the answer comes. What the answer shows beyond the writer's
   * own doing is reported.
   * @param stored the object in the answer; undefined when it is not to be noted.
   * @throws what the write throws
   */
  async write<R>(
    key: string,
    write: () => Promise<R>,
    stored: (answer: R) => ObservedVersion<T> | undefined,
  ): Promise<R> {
    const own: OwnWrite<T> = { before: this.#store.get(key), isChanged: false };
    this.#writes.set(key, own);
    try {
      const answer = await write();
      const after = stored(answer);
      if (after !== undefined) this.#note(own, after);
      return answer;
    } finally {
      if (this.#writes.get(key) === own) this.#writes.delete(key);
      if (own.isChanged) this.#onChange([key]);
    }
  }

  #note(own: OwnWrite<T>, after: ObservedVersion<T>): void {
    const isVisible = this.#store.see(after);
    const isLast = this.#store.get(after.key)?.version === after.version;
    if (isLast && this.#store.isOwnDifference(own.before, after)) own.isChanged = false;
    else if (isVisible && after.facts !== undefined) own.isChanged = true;
  }
}
