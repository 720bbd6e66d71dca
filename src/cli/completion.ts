import { readFileSync } from "node:fs";

/** The hidden command: `flipop __complete -- WORDS…`, of which the last word is the one to complete. */
export const COMPLETE = "__complete";

/** The shells that there is a script for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
/** One of {@link SHELLS}. */
export type Shell = (typeof SHELLS)[number];

/**
 * Returns the script that a shell loads once. It hands the words up to the cursor to {@link COMPLETE} and offers what comes back: all that is known of flipop
 * and of the cluster stays here, and the script does not change with them. Reads a file beside this one.
 */
export function completionScript(shell: Shell): string {
  return readFileSync(new URL(`completion/flipop.${shell}`, import.meta.url), "utf8");
}
