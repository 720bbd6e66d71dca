import type { NodeFacts, Rest, Taint } from "../model/node.ts";
import type { Observation, PodReading, PodSummary } from "../model/observation.ts";
import { WAITS, waitMs } from "../model/waits.ts";

/** So long after something was lost last that no longer counts, milliseconds. */
const OVER_AFTER_MS = 60_000;

/** When something is told. `nowMs` is by the API server's clock, which may leap; `monotonicMs` by the process's own. */
interface Now {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** What takes a node out of service, by a text that is the same each time; undefined where nobody can tell. */
type Bars<B> = ReadonlyMap<string, B> | undefined;

/** What took a node out of service once. */
interface Row<B> {
  readonly nodeName: string;
  readonly key: string;
  readonly bar: B;
  /** How often in a row it came. */
  readonly count: number;
  /** When it came last, monotonic milliseconds. */
  readonly cameAtMs: number;
  /** Since when it is gone again, monotonic milliseconds; undefined while it is there. */
  readonly goneAtMs?: number;
}

/** What comes and goes again and again; it counts for so long as if it were there. */
interface Wait<B> extends Pick<Row<B>, "nodeName" | "key" | "bar"> {
  readonly leftMs: number;
}

/** What takes nodes out of service again and again, of one list of them. */
class Comings<F, B> {
  readonly #barsOf: (fact: F | undefined) => Bars<B>;
  #before: ReadonlyMap<string, F> | undefined;
  #rows: ReadonlyMap<string, Row<B>> = new Map();

  /** @param barsOf - asked of what is known of a node, undefined where it is not in the list */
  constructor(barsOf: (fact: F | undefined) => Bars<B>) {
    this.#barsOf = barsOf;
  }

  /** @param facts - by node name */
  note(facts: ReadonlyMap<string, F>, atMs: number): void {
    const before = this.#before ?? facts;
    const live = [...this.#rows].filter(([, { cameAtMs }]) => atMs - cameAtMs < OVER_AFTER_MS);
    this.#before = facts;
    this.#rows = new Map(live);
    if (before === facts) return;
    const back = live.flatMap(([id, row]): readonly (readonly [string, Row<B>])[] => {
      const isGone = row.goneAtMs === undefined && this.#barsOf(facts.get(row.nodeName))?.has(row.key) === false;
      return isGone ? [[id, { ...row, goneAtMs: atMs }]] : [];
    });
    this.#rows = new Map([...live, ...back, ...this.#came(before, facts, atMs)]);
  }

  /** Returns what has to wait. */
  waits(monotonicMs: number): readonly Wait<B>[] {
    return [...this.#rows.values()].flatMap(({ nodeName, key, bar, count, goneAtMs = monotonicMs }) => {
      const leftMs = goneAtMs + waitMs(WAITS.restless, count - 1) - monotonicMs;
      return leftMs <= 0 ? [] : [{ nodeName, key, bar, leftMs }];
    });
  }

  #came(
    before: ReadonlyMap<string, F>,
    facts: ReadonlyMap<string, F>,
    cameAtMs: number,
  ): readonly (readonly [string, Row<B>])[] {
    return [...before].flatMap(([nodeName, old]): readonly (readonly [string, Row<B>])[] => {
      const fact = facts.get(nodeName);
      if (fact === old) return [];
      const had = this.#barsOf(old);
      const has = had === undefined ? undefined : this.#barsOf(fact);
      return [...(has ?? [])].flatMap(([key, bar]): readonly (readonly [string, Row<B>])[] => {
        const id = `${nodeName} ${key}`;
        const count = (this.#rows.get(id)?.count ?? 0) + 1;
        return had?.has(key) === true ? [] : [[id, { nodeName, key, bar, count, cameAtMs }]];
      });
    });
  }
}

type Pods = ReadonlyMap<string, PodReading>;
type PodComings = Comings<PodSummary, undefined>;

/**
 * Nodes that are out of service and back again and again, by their condition Ready, by a taint such as that of a cordon, or by their pods. Each time the address of such a
 * node, or its place in a name, would go and come back, as often as a few times a second. So that a node leaves never waits, and that it comes back waits for nothing at
 * first. From the third time within a minute on it must have been back for a while, two seconds at most: a node that is ready for less time than a move takes is of no use to
 * anybody, and the recovery of another one may need it. Known to one process only.
 */
export class Restless {
  readonly #nodes = new Comings<NodeFacts, Taint | undefined>(barsOfNode);
  #list: readonly NodeFacts[] = [];
  #byName: ReadonlyMap<string, NodeFacts> = new Map();
  /** By selector of pods. */
  readonly #pods = new Map<string, PodComings>();

  /** Takes note of nodes and pods as they are now. Never of an older reading: what has come back meanwhile would be taken for gone again. `atMs` is by the process's own clock. */
  note({ nodes, pods }: Pick<Observation, "nodes" | "pods">, atMs: number): void {
    if (this.#list !== nodes) this.#byName = new Map(nodes.map((node) => [node.name, node]));
    this.#list = nodes;
    this.#nodes.note(this.#byName, atMs);
    for (const key of this.#pods.keys()) if (!pods.has(key)) this.#pods.delete(key);
    for (const [key, reading] of pods) {
      if (reading.kind !== "read") continue;
      const known = this.#pods.get(key) ?? new Comings<PodSummary, undefined>(barsOfPods);
      this.#pods.set(key, known);
      known.note(reading.byNode, atMs);
    }
  }

  /** Returns an observation, also an older one, with {@link NodeFacts.rest} on each node and {@link PodSummary.restsUntilMs} on the pods of each that has to wait; the same one where none has. */
  settled<O extends Pick<Observation, "observedAtMs" | "nodes" | "pods">>(observation: O, monotonicMs: number): O {
    const now = { nowMs: observation.observedAtMs, monotonicMs };
    const nodes = this.#settledNodes(observation.nodes, now);
    const pods = this.#settledPods(observation.pods, now);
    return nodes === observation.nodes && pods === observation.pods ? observation : { ...observation, nodes, pods };
  }

  #settledNodes(nodes: readonly NodeFacts[], { nowMs, monotonicMs }: Now): readonly NodeFacts[] {
    const waits = Map.groupBy(this.#nodes.waits(monotonicMs), ({ nodeName }) => nodeName);
    if (waits.size === 0) return nodes;
    return nodes.map((node) => {
      const own = waits.get(node.name);
      return own === undefined ? node : { ...node, rest: restOf(node, own, nowMs) };
    });
  }

  #settledPods(pods: Pods, { nowMs, monotonicMs }: Now): Pods {
    const waiting = [...pods].flatMap(([key, reading]): readonly (readonly [string, PodReading])[] => {
      if (reading.kind !== "read") return [];
      const resting = (this.#pods.get(key)?.waits(monotonicMs) ?? []).flatMap(({ nodeName, leftMs }) => {
        const summary = reading.byNode.get(nodeName);
        return summary === undefined ? [] : [[nodeName, { ...summary, restsUntilMs: nowMs + leftMs }] as const];
      });
      return resting.length === 0 ? [] : [[key, { ...reading, byNode: new Map([...reading.byNode, ...resting]) }]];
    });
    return waiting.length === 0 ? pods : new Map([...pods, ...waiting]);
  }
}

/** The text of a condition Ready that is not true; no taint has it. */
const UNREADY = "";

/** What is gone or cannot be read says nothing. */
function barsOfNode(node: NodeFacts | undefined): Bars<Taint | undefined> {
  if (node === undefined || node.unreadable !== undefined) return undefined;
  const taints = node.taints.map((taint) => [`${taint.key}=${taint.value}:${taint.effect}`, taint] as const);
  return new Map<string, Taint | undefined>([
    ...(node.ready.isReady ? [] : [[UNREADY, undefined] as const]),
    ...taints,
  ]);
}

function barsOfPods(summary: PodSummary | undefined): Bars<undefined> {
  if (summary !== undefined && summary.ready > 0) return new Map();
  return summary?.unreadable === undefined ? new Map([[UNREADY, undefined]]) : undefined;
}

/** What counts of a node as if it were still there, and until when the first of it does. */
function restOf(node: NodeFacts, waits: readonly Wait<Taint | undefined>[], nowMs: number): Rest {
  const has = barsOfNode(node);
  const gone = has === undefined ? [] : waits.filter(({ key }) => !has.has(key));
  const untilMs = nowMs + Math.min(...gone.map(({ leftMs }) => leftMs));
  return {
    isUnready: waits.some(({ key }) => key === UNREADY),
    taints: gone.flatMap(({ bar }) => bar ?? []),
    ...(gone.length === 0 ? {} : { untilMs }),
  };
}
