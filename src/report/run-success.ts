import { EXIT } from "./exit-code.ts";

/** True for the exit code (`partialOk: false`) of a run that looked at everything. Objects in error beside served ones are no failure of the run itself. */
export function isSuccess(exitCode: number): boolean {
  return exitCode === EXIT.done || exitCode === EXIT.partly;
}
