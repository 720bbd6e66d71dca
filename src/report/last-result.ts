import { KubeError } from "../model/errors.ts";
import { whyHeld } from "../model/hold.ts";
import { REASONS } from "../model/reason.ts";
import type { PassResult } from "../model/run.ts";
import { EXIT } from "./exit-code.ts";
import { categoryOf, messageOf } from "./text/errors.ts";

// What the Lease keeps of why a run failed, behind the word of its exit code: one short line, which `status` shows to whoever was not there.

/** The longest text, characters. */
const LONGEST = 120;

/** Returns what an error of a run was about: `list nodes`, or its first sentence; `""` for a bug, which nobody can mend by its name. Pure. */
export function whatFailed(error: unknown): string {
  if (error instanceof KubeError) return shortened(`${error.operation} ${error.subject}`);
  return categoryOf(error) === "bug" ? "" : shortened(messageOf(error));
}

/** Returns why a run that came to its end could serve no object, for the exit codes that stand for one cause; `""` for all others. Pure. */
export function whatKeptBack({ outcomes, remaining }: PassResult, exitCode: number): string {
  const meaning = MEANINGS.get(exitCode);
  if (meaning === undefined) return "";
  const failed = outcomes.find((one) => one.outcome === "failed" && categoryOf(one.error) === meaning);
  if (failed?.outcome === "failed") return whatFailed(failed.error);
  const hold = remaining.holds.find(({ reason }) => REASONS[reason].service === meaning);
  return hold === undefined ? "" : shortened(whyHeld(hold));
}

const MEANINGS: ReadonlyMap<number, "config" | "permission"> = new Map([
  [EXIT.notPermitted, "permission"],
  [EXIT.invalidConfiguration, "config"],
]);

/** The first sentence, without its full stop. What follows in the same annotation stands behind a semicolon, so there is none in here. */
function shortened(text: string): string {
  const [first = ""] = /^.*?(?=[.!?](?: |$)|$)/s.exec(text.trim()) ?? [];
  const line = first.replaceAll(";", ",");
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`;
}
