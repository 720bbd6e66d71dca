import type { Outcome } from "../model/run.ts";

/** The last outcome of one action, and how often it was tried in the run. */
export interface LastOutcome {
  readonly last: Outcome;
  readonly attempts: number;
}

/** Returns one entry per action and target, in the order in which they last ended: an address that went on to another node has two. Skipped tries do not count as attempts. */
export function lastOutcomes(outcomes: readonly Outcome[]): readonly LastOutcome[] {
  const byID = new Map<string, LastOutcome>();
  for (const last of outcomes) {
    const key = `${last.action.id} ${JSON.stringify(last.action.after)}`;
    const before = byID.get(key);
    byID.delete(key);
    byID.set(key, { last, attempts: (before?.attempts ?? 0) + (last.outcome === "skipped" ? 0 : 1) });
  }
  return [...byID.values()];
}
