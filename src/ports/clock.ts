/** Local time for waits and deadlines. Decisions about the cluster use the API server's time instead. */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary start. */
  monotonicMs(): number;
  /** Local wall clock, milliseconds since the epoch. */
  wallMs(): number;
  /** Resolves after `ms`, or at once when that is not above 0, or when the signal is or becomes aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
