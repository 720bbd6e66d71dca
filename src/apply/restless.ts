import { isDeepStrictEqual } from "node:util";
import { refKey } from "../model/action.ts";
import type { NodeFacts, Rest, RestingLabel, Taint } from "../model/node.ts";
import type { Observation, PodReading, PodSummary } from "../model/observation.ts";
import type { Pool, RecordSet } from "../model/resource.ts";
import { WAITS, waitMs } from "../model/waits.ts";

/** So long after something was lost last that no longer counts, milliseconds. */
const OVER_AFTER_MS = 60_000;

/** When something is told. `nowMs` is by the API server's clock, which may leap; `monotonicMs` by the process's own. */
export interface Now {
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

/** What took a node out of service once, or what an object began to ask for. */
interface Row<B> {
  readonly name: string;
  readonly bar: B;
  /** How often in a row it came. */
  readonly count: number;
  /** When it came last, monotonic milliseconds. */
  readonly cameAtMs: number;
  /** Since when it is gone again, monotonic milliseconds; undefined while it is there. */
  readonly goneAtMs?: number;
}

/** What comes and goes again and again; it counts for so long as if it were there. */
interface Wait<B> extends Pick<Row<B>, "name" | "bar"> {
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

  /** @param facts - by name */
  note(facts: ReadonlyMap<string, F>, atMs: number): void {
    const before = this.#before ?? facts;
    const live = [...this.#rows].filter(([, { cameAtMs }]) => atMs - cameAtMs < OVER_AFTER_MS);
    this.#before = facts;
    this.#rows = new Map(live);
    if (before === facts) return;
    const back = live.flatMap(([id, row]): readonly (readonly [string, Row<B>])[] => {
      const isGone = row.goneAtMs === undefined && this.#losses.isThere(row.bar, facts.get(row.name)) === false;
      return isGone ? [[id, { ...row, goneAtMs: atMs }]] : [];
    });
    this.#rows = new Map([...live, ...back, ...this.#came(before, facts, atMs)]);
  }

  /** Returns what has to wait. */
  waits(monotonicMs: number): readonly Wait<B>[] {
    return [...this.#rows.values()].flatMap(({ name, bar, count, goneAtMs = monotonicMs }) => {
      const leftMs = goneAtMs + waitMs(WAITS.restless, count - 1) - monotonicMs;
      return leftMs <= 0 ? [] : [{ name, bar, leftMs }];
    });
  }

  #came(
    before: ReadonlyMap<string, F>,
    facts: ReadonlyMap<string, F>,
    cameAtMs: number,
  ): readonly (readonly [string, Row<B>])[] {
    return [...before].flatMap(([name, old]): readonly (readonly [string, Row<B>])[] => {
      const fact = facts.get(name);
      if (fact === old) return [];
      return [...this.#losses.came(old, fact)].map(([key, bar]): readonly [string, Row<B>] => {
        const id = `${name} ${key}`;
        return [id, { name, bar, count: (this.#rows.get(id)?.count ?? 0) + 1, cameAtMs }];
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
  readonly #wishes = new Comings<Wishing, Wish>(WISH_LOSSES);
  /** By {@link keyOf}, objects with what they asked for when they had rested last. */
  #rested: ReadonlyMap<string, Wishing> = new Map();

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

  /**
   * Takes note of objects as they are listed, and returns them as they count. One whose spec, or what that refers to, is changed back and forth asks for what it did when it had
   * rested last, as if the list were older. Not one that is to stand still now, or to go.
   */
  objects<L extends Wishes>(listed: L, monotonicMs: number): Rested<L> {
    const own = new Map([...listed.pools, ...listed.recordSets].map((object) => [keyOf(object), object] as const));
    this.#wishes.note(own, monotonicMs);
    const leftMs = new Map<string, number>();
    for (const wait of this.#wishes.waits(monotonicMs)) {
      const object = own.get(wait.name);
      if (object === undefined || WISH_LOSSES.isThere(wait.bar, object) !== false) continue;
      leftMs.set(wait.name, Math.max(leftMs.get(wait.name) ?? 0, wait.leftMs));
    }
    const before = this.#rested;
    this.#rested = own;
    if (leftMs.size === 0) return { objects: listed };
    this.#rested = new Map(
      [...own].map(([key, now]) => [key, leftMs.has(key) ? restedWish(before.get(key), now) : now]),
    );
    const rested = <O extends Wishing>(object: O): O => withWish(object, this.#rested.get(keyOf(object)) ?? object);
    const objects = { ...listed, pools: listed.pools.map(rested), recordSets: listed.recordSets.map(rested) };
    return { objects, nextMs: Math.min(...leftMs.values()) };
  }

  #settledNodes(nodes: readonly NodeFacts[], { nowMs, monotonicMs }: Now): readonly NodeFacts[] {
    const waits = Map.groupBy(this.#nodes.waits(monotonicMs), ({ name }) => name);
    if (waits.size === 0) return nodes;
    return nodes.map((node) => {
      const own = waits.get(node.name);
      return own === undefined ? node : rested(node, own, nowMs);
    });
  }

  #settledPods(pods: Pods, { nowMs, monotonicMs }: Now): Pods {
    const waiting = [...pods].flatMap(([key, reading]): readonly (readonly [string, PodReading])[] => {
      if (reading.kind !== "read") return [];
      const resting = (this.#pods.get(key)?.waits(monotonicMs) ?? []).flatMap(({ name, leftMs }) => {
        const summary = reading.byNode.get(name);
        return summary === undefined ? [] : [[name, { ...summary, restsUntilMs: nowMs + leftMs }] as const];
      });
      return resting.length === 0 ? [] : [[key, { ...reading, byNode: new Map([...reading.byNode, ...resting]) }]];
    });
    return waiting.length === 0 ? pods : new Map([...pods, ...waiting]);
  }
}

type Wishing = Pool | RecordSet;
type Wishes = Pick<Observation, "pools" | "recordSets">;
/** What an object asks for: all but its name and its status. */
type Wish = Omit<Pool, "meta" | "status"> | Omit<RecordSet, "meta" | "status">;

/** Objects as they count, and after how long the first of them may count otherwise, milliseconds; absent = none. */
interface Rested<L> {
  readonly objects: L;
  readonly nextMs?: number;
}

const WISH_LOSSES: Losses<Wishing, Wish> = {
  came(before, object) {
    if (object === undefined || object.meta.uid !== before.meta.uid) return new Map();
    const wish = wishOf(object);
    return isDeepStrictEqual(wish, wishOf(before)) ? new Map() : new Map([[JSON.stringify(wish), wish]]);
  },
  isThere: (wish, object) => (object === undefined ? undefined : isDeepStrictEqual(wish, wishOf(object))),
};

function wishOf({ meta: _meta, status: _status, ...wish }: Wishing): Wish {
  return wish;
}

function keyOf(object: Wishing): string {
  return refKey({ kind: "kind" in object ? object.kind : "dns", ...object.meta });
}

/** What an object that has to rest asks for. */
function restedWish(before: Wishing | undefined, now: Wishing): Wishing {
  const { meta, spec } = now;
  if (before?.meta.uid !== meta.uid || meta.isDeleting) return now;
  return !spec.suspend || before.spec.suspend ? before : now;
}

/** The object with what it asked for when it was like the other one. */
function withWish<O extends Wishing>(object: O, other: Wishing): O {
  const { meta, status } = object;
  if (other.meta.generation === meta.generation && isDeepStrictEqual(wishOf(object), wishOf(other))) return object;
  return { ...other, status, meta: { ...meta, generation: other.meta.generation } } as O;
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
