import type { LockState } from "../ports/system.ts";

/** The lock of a run with `--no-lock`: always held, never lost, and notes for later runs go nowhere. */
export const NO_LOCK: LockState = {
  isHeld: () => true,
  lost: new AbortController().signal,
  annotations: () => ({}),
  annotate: () => Promise.resolve(),
};
