import { LAST_RESULT_ANNOTATION, LAST_RUN_ANNOTATION, LAST_SUCCESS_ANNOTATION } from "../model/lease-annotations.ts";
import { EXIT } from "../report/exit-code.ts";
import { isSuccess } from "../report/run-success.ts";
import { rfc3339 } from "../report/time-text.ts";

const WORDS: Readonly<Record<number, string>> = {
  [EXIT.done]: "done",
  [EXIT.unexpected]: "unexpected error",
  [EXIT.partly]: "some objects in error",
  [EXIT.temporary]: "temporary failure",
  [EXIT.notPermitted]: "not permitted",
  [EXIT.invalidConfiguration]: "invalid configuration",
};

/** Returns what a run leaves on its Lease of when it ended and how; `status` shows it. */
export function lastRunAnnotations(exitCode: number, nowMs: number): Readonly<Record<string, string>> {
  const at = rfc3339(nowMs);
  return {
    [LAST_RUN_ANNOTATION]: at,
    ...(isSuccess(exitCode) ? { [LAST_SUCCESS_ANNOTATION]: at } : {}),
    [LAST_RESULT_ANNOTATION]: `${exitCode} ${WORDS[exitCode] ?? "ended early"}`,
  };
}
