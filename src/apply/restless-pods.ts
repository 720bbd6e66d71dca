import type { PodReading, PodSummary } from "../model/observation.ts";
import { WAITS, waitMs } from "../model/waits.ts";

/** So long after the pods of a node have stopped being ready last that no longer counts, milliseconds. */
const OVER_AFTER_MS = 60_000;

/** What is known of the pods of one selector on a node on which none was ready once. */
interface Row {
  /** How often in a row none was ready any more. */
  readonly count: number;
  /** When that was last, monotonic milliseconds. */
  readonly leftAtMs: number;
  /** Since when one is ready again, monotonic milliseconds; undefined while none is. */
  readonly readyAtMs?: number;
}

type Pods = ReadonlyMap<string, PodReading>;
type ByNode = ReadonlyMap<string, PodSummary>;

/** What is known of one selector. */
interface Selected {
  /** As it was read last. */
  readonly byNode: ByNode;
  /** By node name. */
  readonly rows: ReadonlyMap<string, Row>;
}

/**
 * Pods that are ready and not ready again and again. Each time the address of their node, or its place in a name, would go and come back, as often as a few times a second.
 * So that a node leaves never waits, and that it comes back waits for nothing at first. From the third time within a minute on its pods must have been ready for a
 * while, two seconds at most: a node that is ready for less time than a move takes is of no use to anybody, and the recovery of another one may need it. Known to one process only.
 */
export class RestlessPods {
  readonly #known = new Map<string, Selected>();

  /** Takes note of the pods as they are now. Never of an older reading: what has come back meanwhile would be taken for gone again. `atMs` is by the process's own clock. */
  note(pods: Pods, atMs: number): void {
    for (const key of this.#known.keys()) if (!pods.has(key)) this.#known.delete(key);
    for (const [key, reading] of pods) if (reading.kind === "read") this.#look(key, reading.byNode, atMs);
  }

  /**
   * Returns pods, also those of an older reading, with {@link PodSummary.restsUntilMs} on each node that has to wait; the same map where none has.
   *
   * @param now - `nowMs` by the API server's clock, which may leap; `monotonicMs` by the process's own
   */
  settled(pods: Pods, now: { readonly nowMs: number; readonly monotonicMs: number }): Pods {
    const waiting = [...pods].flatMap(([key, reading]): readonly (readonly [string, PodReading])[] => {
      if (reading.kind !== "read") return [];
      const rows = this.#known.get(key)?.rows ?? [];
      const resting = [...rows].flatMap(([name, row]) => restOf(reading.byNode, name, row, now));
      return resting.length === 0 ? [] : [[key, { ...reading, byNode: new Map([...reading.byNode, ...resting]) }]];
    });
    return waiting.length === 0 ? pods : new Map([...pods, ...waiting]);
  }

  #look(key: string, byNode: ByNode, atMs: number): void {
    const { byNode: before, rows: old } = this.#known.get(key) ?? { byNode, rows: new Map<string, Row>() };
    const live = new Map([...old].filter(([, { leftAtMs }]) => atMs - leftAtMs < OVER_AFTER_MS));
    this.#known.set(key, { byNode, rows: before === byNode ? live : changedRows(live, before, byNode, atMs) });
  }
}

/** The rows, once the pods of a selector have changed. */
function changedRows(rows: Selected["rows"], before: ByNode, byNode: ByNode, atMs: number): Selected["rows"] {
  const left = [...before].flatMap(([name, summary]): readonly (readonly [string, Row])[] => {
    const hasLeft = isReady(summary) && !mayBeReady(byNode.get(name));
    return hasLeft ? [[name, { count: (rows.get(name)?.count ?? 0) + 1, leftAtMs: atMs }]] : [];
  });
  const back = [...rows].flatMap(([name, row]): readonly (readonly [string, Row])[] =>
    row.readyAtMs === undefined && isReady(byNode.get(name)) ? [[name, { ...row, readyAtMs: atMs }]] : [],
  );
  return new Map([...rows, ...left, ...back]);
}

/** The pods of a node that have to wait; nothing where they need not. */
function restOf(
  byNode: ByNode,
  name: string,
  { count, readyAtMs }: Row,
  { nowMs, monotonicMs }: { readonly nowMs: number; readonly monotonicMs: number },
): readonly (readonly [string, PodSummary])[] {
  const summary = byNode.get(name);
  const wholeMs = waitMs(WAITS.restlessPods, count - 1);
  if (summary === undefined) return [];
  const leftMs = (readyAtMs ?? monotonicMs) + wholeMs - monotonicMs;
  return leftMs <= 0 ? [] : [[name, { ...summary, restsUntilMs: nowMs + leftMs }]];
}

function isReady(summary: PodSummary | undefined): boolean {
  return summary !== undefined && summary.ready > 0;
}

function mayBeReady(summary: PodSummary | undefined): boolean {
  return isReady(summary) || summary?.unreadable !== undefined;
}
