import type { KubeFailure } from "../../../model/errors.ts";

const FIRST_MS = 800;
const LONGEST_MS = 30_000;
/** The longest wait for a list that is refused for what it asks: only a change of the object or of the server helps. */
const LONGEST_REFUSED_MS = 300_000;

/** Failures that somebody has to mend: soon trying again is of no use, and neither is waiting for it. */
const REFUSALS: readonly (KubeFailure | undefined)[] = ["forbidden", "unauthorized", "missing-resource"];

/** True for a failure that does not pass by itself. @param failure of a KubeError; undefined for any other error. */
export function isRefusal(failure: KubeFailure | undefined): boolean {
  return failure === undefined || REFUSALS.includes(failure);
}

/**
 * How long to wait before a watch is tried again, milliseconds: 0.8 s at first, twice as long after each further failure, 30 s at most and after a refusal; up to half
 * as long again by chance, because many lose their watches at the same moment. None at all where the version is too old for the first time: the list can be read at once.
 * @param failure of a KubeError, or `refused` where the list is refused for what it asks: then it is 5 minutes at most.
 * @param failures in a row, the one just now included. @param random from 0 to 1.
 */
export function retryDelayMs(failure: KubeFailure | "refused" | undefined, failures: number, random: number): number {
  if (failure === "gone" && failures === 1) return 0;
  const growingMs = FIRST_MS * 2 ** (failures - 1);
  const baseMs =
    failure === "refused"
      ? Math.min(growingMs, LONGEST_REFUSED_MS)
      : isRefusal(failure)
        ? LONGEST_MS
        : Math.min(growingMs, LONGEST_MS);
  return baseMs * (1 + random / 2);
}
