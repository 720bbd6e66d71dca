import type { MeterReading } from "../model/meter.ts";
import type { PassResult } from "../model/run.ts";
import type { Clock, LockState } from "../ports/system.ts";
import { metersSince } from "../report/metrics/meters-since.ts";
import type { NotedRun, WatchRequest } from "./backend.ts";

/** What notes are made of. */
export interface WatchNotesDeps {
  readonly clock: Clock;
  readonly lock: LockState;
  /** By the API server's clock, milliseconds. */
  readonly now: () => number;
  /** What the meters show since the process began. */
  readonly readMeters: () => readonly MeterReading[];
  readonly annotate: WatchRequest["annotate"];
  readonly intervalMs: number;
}

/**
 * Leaves on the Lease how the passes of a watching process went: after each that did something, and else once per interval, so that idle passes write nothing more than
 * the renewals do. What was counted in between is in the next note.
 */
export class WatchNotes {
  readonly #deps: WatchNotesDeps;
  #noted: readonly MeterReading[] = [];
  #notedAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: WatchNotesDeps) {
    this.#deps = deps;
  }

  /** Never rejects: a note that cannot be left changes nothing of the pass. */
  async note(result: PassResult, startMs: number): Promise<NotedRun> {
    const { clock, lock, annotate, intervalMs } = this.#deps;
    const meters = this.#deps.readMeters();
    const nowMs = clock.monotonicMs();
    const end = {
      result,
      endedAtMs: this.#deps.now(),
      durationMs: nowMs - startMs,
      meters: metersSince(this.#noted, meters),
      notes: lock.annotations(),
    };
    const isDue = result.outcomes.length > 0 || nowMs - this.#notedAtMs >= intervalMs;
    if (!isDue || !lock.isHeld()) return { end, isNoted: false };
    try {
      await lock.annotate(annotate(end));
    } catch {
      return { end, isNoted: false };
    }
    this.#noted = meters;
    this.#notedAtMs = nowMs;
    return { end, isNoted: true };
  }
}
