import type { NotedAcquisition } from "../model/lease-notes.ts";

/** Local time for waits and deadlines. Decisions about the cluster use the API server's time instead. */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary start. */
  monotonicMs(): number;
  /** Local wall clock, milliseconds since the epoch. */
  wallMs(): number;
  /** Resolves after `ms`, or at once when that is not above 0, or when the signal is or becomes aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Returns what the work comes to, or `late` once `ms` are over or the signal is aborted. Rejects as the work does. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>, stop?: AbortSignal): Promise<T | "late"> {
  const timer = new AbortController();
  const signal = stop === undefined ? timer.signal : AbortSignal.any([stop, timer.signal]);
  try {
    return await Promise.race([work, clock.sleep(ms, signal).then(() => "late" as const)]);
  } finally {
    timer.abort();
  }
}

/** Returns what the work comes to, or `late` once the signal has been aborted for `ms`. Rejects as the work does. */
export async function untilAfter<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | "late"> {
  const over = new AbortController();
  const late = async (): Promise<"late"> => {
    if (!signal.aborted) await aborted(signal, over.signal);
    await clock.sleep(ms, over.signal);
    return "late";
  };
  try {
    return await Promise.race([work, late()]);
  } finally {
    over.abort();
  }
}

/**
 * Resolves when a signal is aborted that was not; never after `stop`, which must not be aborted yet. Leaves no listener behind then.
 * Both listeners are removed here: Node 24 forgets that it has to, where several listeners of one signal have a `signal` option
 * and garbage is collected before it is aborted (2026-11-28).
 */
export function aborted(signal: AbortSignal, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop.removeEventListener("abort", forget);
      resolve();
    };
    const forget = (): void => signal.removeEventListener("abort", end);
    signal.addEventListener("abort", end, { once: true });
    stop.addEventListener("abort", forget, { once: true });
  });
}

/** What a mutating run needs of the lock it holds. */
export interface LockState {
  /** True while mutations are allowed; asked before each one. */
  isHeld(): boolean;
  /** Fires when the lock is lost. */
  readonly lost: AbortSignal;
  /** The annotations of the lock as last read or written. */
  annotations(): Readonly<Record<string, string>>;
  /** Leaves notes for later runs on the lock: sets (string) or removes (null) annotations. Throws when the lock is lost. */
  annotate(changes: Readonly<Record<string, string | null>>): Promise<void>;
  /**
   * Adds the time of an acquisition to the notes as they are now, unless as many of its family are there as the provider allows a minute: other shards acquire, too. Returns false
   * then. Throws as `annotate`.
   */
  noteAcquisition(acquisition: NotedAcquisition): Promise<boolean>;
}

/** Knows the secrets of a process, and keeps them out of texts. Code that reads a secret adds it; code that sends a text away has it redacted. */
export interface Secrets {
  /** Makes a text a secret from now on. */
  add(secret: string): void;
  /** Returns a text with `[redacted]` in place of every known secret: as it is, and as URLs, JSON, HTML and base64 write it. */
  redact(text: string): string;
  /** As {@link redact}, for a text of somebody else: replaces short secrets, too, if they stand as whole words. */
  redactQuoted(text: string): string;
}
