import type { ReportFailure } from "../model/run.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import { type Clock, within } from "../ports/system.ts";
import type { ObjectEvent } from "../report/events.ts";
import type { ResourceStores } from "./resource-store.ts";
import { writeEvents } from "./write-back.ts";

/** So long a pass waits for its Events, milliseconds: by then they are written as a rule, and the pass tells what was refused. */
const PATIENCE_MS = 250;

/** The Events of one pass. */
export interface Batch {
  readonly events: readonly ObjectEvent[];
  readonly stores: ResourceStores;
  /** Asked right before every Event. */
  readonly mayWrite: () => boolean;
}

/**
 * Writes the Events of a process that makes more than one pass, pass after pass. No pass waits long for them: an API server that is slow with Events delays no recovery.
 * Best effort: where one Event shows that no other one is worth a try, what other passes have left waiting is dropped, too.
 */
export class EventWriter {
  readonly #cluster: ClusterWriter;
  readonly #clock: Clock;
  #waiting: Batch[] = [];
  #failures: ReportFailure[] = [];
  /** The end of all that waits; undefined while nothing does. */
  #work: Promise<void> | undefined;

  constructor(cluster: ClusterWriter, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /**
   * Writes the Events of a pass behind those that wait.
   * @param stop - ends the wait for them, not the writing
   * @returns the failures that are known by now and that no pass was told of, those of earlier passes among them
   */
  async write(batch: Batch, stop?: AbortSignal): Promise<readonly ReportFailure[]> {
    if (batch.events.length > 0) this.#begin(batch);
    if (this.#work !== undefined) await within(this.#clock, PATIENCE_MS, this.#work, stop);
    return this.#taken();
  }

  /** Waits until all Events are written or dropped. @returns as {@link write} */
  async ended(): Promise<readonly ReportFailure[]> {
    await this.#work;
    return this.#taken();
  }

  #taken(): readonly ReportFailure[] {
    const failures = this.#failures;
    this.#failures = [];
    return failures;
  }

  #begin(batch: Batch): void {
    this.#waiting.push(batch);
    this.#work ??= this.#writeAll().finally(() => {
      this.#work = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) {
      const { events, stores, mayWrite } = batch;
      const { failures, isOver } = await writeEvents(events, stores, this.#cluster, mayWrite);
      this.#failures.push(...failures);
      if (isOver) this.#waiting = [];
    }
  }
}
