import { readFileSync } from "node:fs";

/** The hidden command: `flipop __complete -- WORDS…`, of which the last word is the one to complete. */
export const COMPLETE = "__complete";

/**
 * In place of the dashes: a further word has not begun, which is the one to complete. Windows PowerShell hands no empty argument to a program, and drops the
 * dashes where npm has made a script of it.
 */
export const NEW_WORD = "--then-new-word";

/** The shells that there is a script for. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
/** One of {@link SHELLS}. */
export type Shell = (typeof SHELLS)[number];

/**
 * Returns the script that a shell loads once. It hands the words up to the cursor to {@link COMPLETE} and offers what comes back: all that is known of flipop
 * and of the cluster stays here, and the script does not change with them. Reads a file beside this one.
 */
export function completionScript(shell: Shell): string {
  return readFileSync(new URL(`completion/flipop.${shell === "powershell" ? "ps1" : shell}`, import.meta.url), "utf8");
}
