import type { ClusterChange, WarmCluster } from "../../src/ports/cluster.ts";

/** What the watches of a process tell. Kept back while a scenario makes its changes, so that the process sees them as one does that was busy meanwhile. */
export class HeldNews {
  readonly #held: ClusterChange[] = [];
  readonly #listeners: ((change: ClusterChange) => void)[] = [];
  #isOpen = false;
  #heard = 0;

  constructor(cluster: Pick<WarmCluster, "onChange">) {
    cluster.onChange((change) => {
      this.#heard += 1;
      if (this.#isOpen) this.#tell(change);
      else this.#held.push(change);
    });
  }

  /** How many changes have come, told or not. */
  get heard(): number {
    return this.#heard;
  }

  /** True when there is something to tell. */
  get isWaiting(): boolean {
    return this.#held.length > 0;
  }

  onChange(listener: (change: ClusterChange) => void): void {
    this.#listeners.push(listener);
  }

  /** Tells what was kept back, and from now on everything at once. */
  open(): void {
    this.#isOpen = true;
    for (const change of this.#held.splice(0)) this.#tell(change);
  }

  close(): void {
    this.#isOpen = false;
  }

  #tell(change: ClusterChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
