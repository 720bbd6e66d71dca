import type { NodeFacts, Rest, RestingLabel, Taint } from "../model/node.ts";
import type { Observation, PodReading, PodSummary } from "../model/observation.ts";
import { WAITS, waitMs } from "../model/waits.ts";

/** So long after something was lost last that no longer counts, milliseconds. */
const OVER_AFTER_MS = 60_000;

/** When something is told. `nowMs` is by the API server's clock, which may leap; `monotonicMs` by the process's own. */
interface Now {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** How things that can be lost are told from each other, and how they are found in what is known of a node. */
interface Losses<F, B> {
  /** Returns what has taken the node out of service since an earlier reading, each by a text that is the same each time; `fact` is undefined where the node is not in the list any more. */
  readonly came: (before: F, fact: F | undefined) => ReadonlyMap<string, B>;
  /** Returns whether that takes the node out of service now; undefined where nobody can tell. */
  readonly isThere: (bar: B, fact: F | undefined) => boolean | undefined;
}

/** What took a node out of service once. */
interface Row<B> {
  readonly nodeName: string;
  readonly bar: B;
  /** How often in a row it came. */
  readonly count: number;
  /** When it came last, monotonic milliseconds. */
  readonly cameAtMs: number;
  /** Since when it is gone again, monotonic milliseconds; undefined while it is there. */
  readonly goneAtMs?: number;
}

/** What comes and goes again and again; it counts for so long as if it were there. */
interface Wait<B> extends Pick<Row<B>, "nodeName" | "bar"> {
  readonly leftMs: number;
}

/** What takes nodes out of service again and again, of one list of them. */
class Comings<F, B> {
  readonly #losses: Losses<F, B>;
  #before: ReadonlyMap<string, F> | undefined;
  #rows: ReadonlyMap<string, Row<B>> = new Map();

  constructor(losses: Losses<F, B>) {
    this.#losses = losses;
  }

  /** @param facts - by node name */
  note(facts: ReadonlyMap<string, F>, atMs: number): void {
    const before = this.#before ?? facts;
    const live = [...this.#rows].filter(([, { cameAtMs }]) => atMs - cameAtMs < OVER_AFTER_MS);
    this.#before = facts;
    this.#rows = new Map(live);
    if (before === facts) return;
    const back = live.flatMap(([id, row]): readonly (readonly [string, Row<B>])[] => {
      const isGone = row.goneAtMs === undefined && this.#losses.isThere(row.bar, facts.get(row.nodeName)) === false;
      return isGone ? [[id, { ...row, goneAtMs: atMs }]] : [];
    });
    this.#rows = new Map([...live, ...back, ...this.#came(before, facts, atMs)]);
  }

  /** Returns what has to wait. */
  waits(monotonicMs: number): readonly Wait<B>[] {
    return [...this.#rows.values()].flatMap(({ nodeName, bar, count, goneAtMs = monotonicMs }) => {
      const leftMs = goneAtMs + waitMs(WAITS.restless, count - 1) - monotonicMs;
      return leftMs <= 0 ? [] : [{ nodeName, bar, leftMs }];
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
      return [...this.#losses.came(old, fact)].map(([key, bar]): readonly [string, Row<B>] => {
        const id = `${nodeName} ${key}`;
        return [id, { nodeName, bar, count: (this.#rows.get(id)?.count ?? 0) + 1, cameAtMs }];
      });
    });
  }
}

type Pods = ReadonlyMap<string, PodReading>;
type PodComings = Comings<PodSummary, Unready>;

/**
 * Nodes that are out of service and back again and again: by their condition Ready, by a taint such as that of a cordon, by a label, or by their pods; because they are deleted
 * and made again, with the same machine or another one; because they lose an address and get it back. Each time the address of such a node, or its place in a name, would go and come back, as often as a few times a second. So that a node leaves never waits, and that it comes back waits for nothing at
 * first. From the third time within a minute on it must have been back for a while, two seconds at most: a node that is ready for less time than a move takes is of no use to
 * anybody, and the recovery of another one may need it. Known to one process only.
 */
export class Restless {
  readonly #nodes = new Comings<NodeFacts, NodeBar>(NODE_LOSSES);
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
      const known = this.#pods.get(key) ?? new Comings<PodSummary, Unready>(POD_LOSSES);
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
      return own === undefined ? node : rested(node, own, nowMs);
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

interface Unready {
  readonly kind: "unready";
}

/**
 * What takes a node out of service. Which labels do depends on who asks for them, so each value of a label counts for those who ask for another one, and so does that it has
 * none. Another machine is one that nothing is known of.
 */
type NodeBar =
  | Unready
  | { readonly kind: "gone" }
  | { readonly kind: "taint"; readonly taint: Taint }
  | { readonly kind: "label"; readonly label: RestingLabel }
  | { readonly kind: "machine"; readonly providerID: string }
  /** It lacks that address. */
  | { readonly kind: "address"; readonly type: string; readonly address: string };

const UNREADY: Unready = { kind: "unready" };

const NODE_LOSSES: Losses<NodeFacts, NodeBar> = {
  came(before, node) {
    if (node === undefined) return new Map([["gone", { kind: "gone" }]]);
    if (before.unreadable !== undefined || node.unreadable !== undefined) return new Map();
    const had = new Set(before.taints.map(taintText));
    const names = Object.keys({ ...before.labels, ...node.labels });
    const labels = names.filter((name) => before.labels[name] !== node.labels[name]);
    const bars: readonly NodeBar[] = [
      ...(before.ready.isReady && !node.ready.isReady ? [UNREADY] : []),
      ...node.taints.filter((taint) => !had.has(taintText(taint))).map((taint) => ({ kind: "taint", taint }) as const),
      ...labels.map((name) => ({ kind: "label", label: labelOf(name, node.labels[name]) }) as const),
      ...(before.providerID === node.providerID ? [] : [{ kind: "machine", providerID: node.providerID } as const]),
      ...before.addresses.filter((one) => !hasAddress(node, one)).map((one) => ({ kind: "address", ...one }) as const),
    ];
    return new Map(bars.map((bar) => [barText(bar), bar]));
  },
  isThere(bar, node) {
    if (bar.kind === "gone") return node === undefined;
    if (node === undefined || node.unreadable !== undefined) return undefined;
    switch (bar.kind) {
      case "unready":
        return !node.ready.isReady;
      case "taint":
        return node.taints.some((taint) => taintText(taint) === taintText(bar.taint));
      case "label":
        return node.labels[bar.label.name] === bar.label.value;
      case "machine":
        return node.providerID === bar.providerID;
      case "address":
        return !hasAddress(node, bar);
    }
  },
};

const POD_LOSSES: Losses<PodSummary, Unready> = {
  came: (before, pods) =>
    arePodsOut(before) === false && arePodsOut(pods) === true ? new Map([["", UNREADY]]) : new Map<string, Unready>(),
  isThere: (_, pods) => arePodsOut(pods),
};

/** What cannot be read says nothing. */
function arePodsOut(summary: PodSummary | undefined): boolean | undefined {
  if (summary !== undefined && summary.ready > 0) return false;
  return summary?.unreadable === undefined ? true : undefined;
}

function barText(bar: NodeBar): string {
  return bar.kind === "taint" ? `taint ${taintText(bar.taint)}` : JSON.stringify(bar);
}

function taintText({ key, value, effect }: Taint): string {
  return `${key}=${value}:${effect}`;
}

function labelOf(name: string, value: string | undefined): RestingLabel {
  return value === undefined ? { name } : { name, value };
}

type NodeAddress = NodeFacts["addresses"][number];

function hasAddress({ addresses }: NodeFacts, { type, address }: NodeAddress): boolean {
  return addresses.some((one) => one.type === type && one.address === address);
}

/** A node with what counts of it as if it were still there, and until when the first of that does; without addresses that came back a moment ago. */
function rested(node: NodeFacts, waits: readonly Wait<NodeBar>[], nowMs: number): NodeFacts {
  const gone = waits.filter(({ bar }) => NODE_LOSSES.isThere(bar, node) === false);
  const isUnready = waits.some(({ bar }) => bar.kind === "unready");
  if (gone.length === 0 && !waits.some(({ bar }) => bar.kind === "unready" || bar.kind === "taint")) return node;
  const labels = gone.flatMap(({ bar }) => (bar.kind === "label" ? [bar.label] : []));
  const back = gone.flatMap(({ bar }) => (bar.kind === "address" ? [bar] : []));
  const isBack = ({ type, address }: NodeAddress): boolean =>
    back.some((one) => one.type === type && one.address === address);
  const isGone = gone.some(({ bar }) => bar.kind === "gone" || bar.kind === "machine");
  const rest: Rest = {
    isUnready,
    ...(isGone ? { isGone } : {}),
    taints: gone.flatMap(({ bar }) => (bar.kind === "taint" ? [bar.taint] : [])),
    ...(labels.length === 0 ? {} : { labels }),
    ...(gone.length === 0 ? {} : { untilMs: nowMs + Math.min(...gone.map(({ leftMs }) => leftMs)) }),
  };
  return { ...node, rest, ...(back.length === 0 ? {} : { addresses: node.addresses.filter((one) => !isBack(one)) }) };
}
