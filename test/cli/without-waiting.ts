/** Returns what a command wrote to stderr without the lines that a slow machine makes it say: for whom it waits. */
export function withoutWaiting(stderr: string): string {
  return stderr.replace(/^flipop: (?:waiting|at work for) \d+ s\b.*\n/gm, "");
}
