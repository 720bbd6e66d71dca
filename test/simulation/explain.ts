import type { History } from "./history.ts";
import { type Simulate, single } from "./shrink.ts";

/**
 * The story of a history as lines of text: what happened, what the processes did, and which promise was broken; without what only repeats.
 *
 * @param most - the last so many lines are kept.
 */
export async function explain(history: History, most: number, simulate: Simulate = single): Promise<readonly string[]> {
  const { trace } = await simulate(history, true).run();
  const lines = withoutIdlePasses(trace);
  return [
    `seed ${history.seed}, ${history.hasLock ? "with" : "without"} the Lease, latency ${history.latencyMs} ms, ${history.slots.length} process(es)`,
    ...(lines.length > most ? [`… ${lines.length - most} lines before, see --lines`] : []),
    ...lines.slice(-most),
  ];
}

/** Leaves out passes that only read, renewals of the Lease, and Events. */
function withoutIdlePasses(trace: readonly string[]): readonly string[] {
  const lines = trace.filter((text) => !/ (read|replace|create)-lease| event /.test(text) || text.includes("!!"));
  const isStart = (text: string): boolean => / list-pools/.test(text);
  const isRead = (text: string): boolean =>
    / (list|list-pools|list-nodes|list-pods|get|machine|limit|read-node|read-pool) /.test(text) && !text.includes("!!");
  const starts = lines.flatMap((text, index) => (isStart(text) ? [index] : []));
  const idle = new Set<number>();
  for (const [position, start] of starts.entries()) {
    const end = starts[position + 1] ?? lines.length;
    const indexes = Array.from({ length: end - start }, (_, offset) => start + offset);
    const own = indexes.filter((index) => !/ \*\* /.test(lines[index] ?? ""));
    if (own.every((index) => isRead(lines[index] ?? ""))) for (const index of own) idle.add(index);
  }
  return lines.filter((_, index) => !idle.has(index));
}
