import { LAST_RESULT_ANNOTATION, LAST_RUN_ANNOTATION, LAST_SUCCESS_ANNOTATION } from "../model/lease-annotations.ts";
import type { PassResult } from "../model/run.ts";
import { EXIT, exitCodeOfRun } from "../report/exit-code.ts";
import { isSuccess } from "../report/run-success.ts";
import { rfc3339 } from "../report/time-text.ts";

const WORDS: Readonly<Record<number, string>> = {
  [EXIT.done]: "done",
  [EXIT.unexpected]: "unexpected error",
  [EXIT.partly]: "some objects in error",
  [EXIT.temporary]: "temporary failure",
  [EXIT.notPermitted]: "not permitted",
  [EXIT.invalidConfiguration]: "invalid configuration",
  [EXIT.interrupted]: "interrupted",
  [EXIT.terminated]: "terminated",
};

/** Returns the exit code of a run; of one that a signal ended early the code of the signal, as the process will have it. */
export function exitCodeOfEnd(
  result: PassResult,
  { signal, partialOk }: { readonly signal: AbortSignal; readonly partialOk: boolean },
): number {
  if (!signal.aborted) return exitCodeOfRun(result, { partialOk });
  return signal.reason === "SIGTERM" ? EXIT.terminated : EXIT.interrupted;
}

/** Returns what a run leaves on its Lease of when it ended and how; `status` shows it. */
export function lastRunAnnotations(exitCode: number, nowMs: number): Readonly<Record<string, string>> {
  const at = rfc3339(nowMs);
  return {
    [LAST_RUN_ANNOTATION]: at,
    ...(isSuccess(exitCode) ? { [LAST_SUCCESS_ANNOTATION]: at } : {}),
    [LAST_RESULT_ANNOTATION]: `${exitCode} ${WORDS[exitCode] ?? "ended early"}`,
  };
}
