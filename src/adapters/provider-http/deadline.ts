import type { ProviderError } from "../../model/errors.ts";
import type { CallFacts } from "./call-facts.ts";
import { failedCall } from "./failed-call.ts";
import type { ProviderVoice } from "./provider-voice.ts";

/** When a call must be over. */
export interface Deadline {
  /** Aborted at the deadline, and when the caller gives up. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Returns a deadline that many milliseconds from now, or earlier when `stop` is aborted. Starts a timer. */
export function newDeadline(timeoutMs: number, stop: AbortSignal | undefined): Deadline {
  const timer = AbortSignal.timeout(timeoutMs);
  return { signal: stop === undefined ? timer : AbortSignal.any([stop, timer]), timeoutMs };
}

/** The error of a call whose time is over, by its deadline or because the run ends. */
export function outOfTime(
  voice: ProviderVoice,
  call: CallFacts,
  { signal, timeoutMs }: Deadline,
  isAmbiguous: boolean,
): ProviderError {
  const isDeadline = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  const reason = isDeadline
    ? `nothing complete within ${(timeoutMs / 1000).toFixed(1).replace(".0", "")} s`
    : "the run was told to stop";
  return failedCall(voice, call, { failure: "timeout", status: 0, reason, isAmbiguous });
}

/** The error of a call that the run has no time left for; nothing was sent. */
export function tooLate(voice: ProviderVoice, call: CallFacts): ProviderError {
  const reason = "the time of the run is over, so nothing was sent; allow more with --timeout";
  return failedCall(voice, call, { failure: "timeout", status: 0, reason });
}
