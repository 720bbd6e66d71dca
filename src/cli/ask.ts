import { createInterface } from "node:readline";

/** Asks a question that is answered with y or n. `signal` ends it with no. */
export type Ask = (question: string, signal: AbortSignal) => Promise<boolean>;

/**
 * Asks a person at a terminal. Only `y` and `yes` mean yes, in any case. Everything else is no: an empty line, the end of the input, Ctrl-C, a signal.
 */
export function askOnTerminal(question: string, signal: AbortSignal): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  return new Promise((resolve) => {
    const end = (isYes: boolean): void => {
      signal.removeEventListener("abort", decline);
      // Closing says no, to nobody who has been answered.
      resolve(isYes);
      reader.close();
    };
    const decline = (): void => {
      process.stderr.write("\n");
      end(false);
    };
    signal.addEventListener("abort", decline, { once: true });
    reader.once("SIGINT", decline);
    reader.once("close", () => end(false));
    reader.question(question, (answer) => end(/^\s*y(es)?\s*$/i.test(answer)));
  });
}
