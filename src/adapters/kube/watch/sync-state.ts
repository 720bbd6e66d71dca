import { KubeError, type KubeFailure } from "../../../model/errors.ts";
import { WAITS, waitMs } from "../../../model/waits.ts";
import type { Staleness } from "../../../ports/cluster.ts";
import type { Clock } from "../../../ports/system.ts";

/** So long a list is trusted without a watch: a connection that is made again at once makes no difference. */
const TRUSTED_MS = 2_000;

/** Whether a list in memory is in sync with the cluster, and why it is not. */
export class SyncState {
  readonly #clock: Clock;
  readonly #refuses: (error: unknown) => boolean;
  #isListed = false;
  /** True once the server has let this process watch, or has not. */
  #isTried = false;
  #wasInSync = false;
  #failure: unknown;
  /** Since when nobody tells of changes, in monotonic time; undefined while the server watches. */
  #behindSinceMs: number | undefined;
  /** Since when there is no watch, in monotonic time, however often the list was read meanwhile; undefined while the server watches. */
  #unwatchedSinceMs: number | undefined;
  /** Settles when the present attempt to list and watch has succeeded or failed. */
  #attempt: PromiseWithResolvers<void> | undefined;
  #waiting = 0;

  /**
   * @param refuses - true for a refusal of what the list asks for: it is asked for again with growing waits, and who wants it
   *   meanwhile is refused at once. Default: there is no such refusal.
   */
  constructor(clock: Clock, refuses: (error: unknown) => boolean = () => false) {
    this.#clock = clock;
    this.#refuses = refuses;
    this.#behindSinceMs = clock.monotonicMs();
    this.#unwatchedSinceMs = this.#behindSinceMs;
  }

  /** True once the list has been read. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** Since when the list may be behind, in monotonic time; undefined while the server watches. */
  get behindSinceMs(): number | undefined {
    return this.#behindSinceMs;
  }

  /** True when it is long ago that anybody told of changes: much may be about to be told. */
  get isLongBehind(): boolean {
    return this.#behindSinceMs !== undefined && this.#isLongAgo(this.#behindSinceMs);
  }

  /** True once the server has let this process watch. */
  get wasInSync(): boolean {
    return this.#wasInSync;
  }

  /** True while somebody waits for the present attempt. */
  get isAwaited(): boolean {
    return this.#waiting > 0;
  }

  /** True since the server has refused what the list asks for, until it watches. */
  get isRefused(): boolean {
    return this.#failure !== undefined && this.#refuses(this.#failure);
  }

  /** An attempt begins, unless one is under way. */
  begin(): void {
    this.#attempt ??= Promise.withResolvers();
  }

  /** The list is as it was at this time. */
  markListed(atMs: number): void {
    this.#isListed = true;
    if (this.#behindSinceMs !== undefined) this.#behindSinceMs = atMs;
  }

  /** The server watches: the attempt has succeeded. */
  markInSync(): void {
    this.#behindSinceMs = undefined;
    this.#unwatchedSinceMs = undefined;
    this.#wasInSync = true;
    this.#failure = undefined;
    this.#endAttempt();
  }

  /** The server watches no longer, since now or since an earlier time; what is behind already stays so. */
  markBehind(sinceMs: number = this.#clock.monotonicMs()): void {
    this.#behindSinceMs ??= sinceMs;
    this.#unwatchedSinceMs ??= sinceMs;
  }

  /** The attempt, or the watch, has failed. */
  markFailed(error: unknown): void {
    this.markBehind();
    this.#failure = error;
    this.#endAttempt();
  }

  /** Resolves when the list is in sync, after the attempt that is under way, and rejects with why it is not; undefined while it is. */
  wait(): Promise<void> | undefined {
    // Whoever may list and not watch is to learn that before anything is done with the list.
    return this.#isTried && this.#isTrusted(this.#behindSinceMs) ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    this.#waiting += 1;
    await this.#attempt?.promise;
    this.#waiting -= 1;
    if (!this.#isTrusted(this.#behindSinceMs)) throw this.#failure;
  }

  /**
   * Why the list may be behind; undefined while it is in sync, or being read for the first time. A list that is read beside a broken watch may be behind, too. One that is refused for what
   * it asks is not behind: whoever asks for it knows that it is refused.
   */
  staleness(): Staleness | undefined {
    const sinceMs = this.#behindSinceMs;
    const isTold = this.#failure !== undefined && !this.isRefused && !this.#isTrusted(this.#unwatchedSinceMs);
    if (sinceMs === undefined || !isTold) return undefined;
    return { sinceMs, error: asKubeError(this.#failure) };
  }

  #isTrusted(sinceMs: number | undefined): boolean {
    if (!this.#isListed) return false;
    if (sinceMs === undefined) return true;
    if (this.#failure !== undefined && isRefusal(failureOf(this.#failure))) return false;
    return !this.#isLongAgo(sinceMs);
  }

  #isLongAgo(atMs: number): boolean {
    return this.#clock.monotonicMs() - atMs >= TRUSTED_MS;
  }

  #endAttempt(): void {
    this.#isTried = true;
    this.#attempt?.resolve();
    this.#attempt = undefined;
  }
}

/** The kind of failure; undefined for an error that no API server caused. */
export function failureOf(error: unknown): KubeError["failure"] | undefined {
  return error instanceof KubeError ? error.failure : undefined;
}

/** A certificate that cannot be used, in the terms of the port. */
function asKubeError(error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const facts = { failure: "unavailable", operation: "watch", subject: "", status: 0, message } as const;
  return new KubeError(facts, { cause: error });
}

/** Failures that somebody has to mend: soon trying again is of no use, and neither is waiting for it. */
const REFUSALS: readonly (KubeFailure | undefined)[] = ["forbidden", "unauthorized", "missing-resource"];

/** True for a failure that does not pass by itself. @param failure of a KubeError; undefined for any other error. */
export function isRefusal(failure: KubeFailure | undefined): boolean {
  return failure === undefined || REFUSALS.includes(failure);
}

/** An attempt to watch that has failed. */
export interface FailedAttempt {
  /** Of a KubeError, or `refused` where the list is refused for what it asks. */
  readonly failure: KubeFailure | "refused" | undefined;
  /** How many have failed in a row, this one included; 1 where a version is too old and the failure before was another. */
  readonly failures: number;
  /** True if the server has let this process watch before. */
  readonly wasAllowed: boolean;
}

/**
 * Returns how long to wait before a watch is tried again, milliseconds. It is 0.8 s at first, and twice as long after each further failure, 30 s at most.
 * Chance adds up to half of that, because many lose their watches at the same moment. Exceptions:
 * 1. The version is too old for the first time: none at all, since the list can be read at once.
 * 2. The list is refused for what it asks: 5 minutes at most.
 * 3. What was never allowed is refused: 30 s. An API server that has just started also refuses what it will allow once it has read the roles.
 * @param random from 0 to 1.
 */
export function retryDelayMs({ failure, failures, wasAllowed }: FailedAttempt, random: number): number {
  if (failure === "gone" && failures === 1) return 0;
  if (failure === "refused") return waitMs(WAITS.refusedList, failures - 1, random);
  const isForbidden = isRefusal(failure) && !wasAllowed;
  return waitMs(isForbidden ? WAITS.forbiddenWatch : WAITS.brokenWatch, failures - 1, random);
}
