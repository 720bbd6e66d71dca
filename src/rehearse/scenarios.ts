import { ConfigError } from "../model/errors.ts";
import { parseLabelSelector, selects } from "../model/label-selector.ts";
import { nearest } from "../model/nearest.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { FactEdit } from "./edit.ts";
import { editWorld, withNewNode } from "./edited-world.ts";
import type { Happening } from "./forward.ts";
import type { Scenario } from "./simulate.ts";

/*
 * What can happen to nodes, one thing after the other:
 *
 *   a drain            the node is cordoned; after the drain time its pods are gone, and then the node itself
 *   a rolling upgrade  new nodes come, and the old ones are drained as soon as enough others serve, until all are new
 */

/** How long a scenario's own steps take, milliseconds. */
export interface ScenarioTimes {
  /** From the order of a new node until it is ready. */
  readonly nodeReadyMs: number;
  /** From the cordon of a node until its pods are gone. */
  readonly drainMs: number;
}

/** Returns the drain of one node. Pure. @throws ConfigError `usage` for no name, `invalid` where there is no such node, with the nearest */
export function drainOf({ nodes }: Observation, name: string, { drainMs }: ScenarioTimes): Scenario {
  if (name.trim() === "") throw new ConfigError("usage", "--drain needs the name of a node.");
  if (!nodes.some((node) => node.name === name)) {
    const near = nearest(
      name,
      nodes.map((node) => node.name),
    );
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    throw new ConfigError("invalid", `There is no node named ${name} to drain.${hint}`);
  }
  return { text: `${name} is drained`, happenings: drained(name, 0, drainMs), assumed: { drainMs } };
}

function drained(node: string, fromMs: number, drainMs: number): readonly Happening[] {
  const state = (value: "Cordoned" | "Gone"): FactEdit => ({
    kind: "node-state",
    text: `node/${node}=${value}`,
    node,
    state: value,
  });
  const empty: FactEdit = { kind: "pods", text: `node/${node}.pods=None`, node, state: "None" };
  return [
    { afterMs: fromMs, text: `${node} is cordoned`, happen: (world) => editWorld(world, [state("Cordoned")]) },
    {
      afterMs: fromMs + drainMs,
      text: `${node} has lost its pods, and is gone`,
      happen: (world) => editWorld(world, [empty, state("Gone")]),
    },
  ];
}

/** How many nodes may be there beyond the usual number, and how many may be missing, during an upgrade. */
export interface UpgradePace {
  readonly surge: number;
  readonly unavailable: number;
}

/** @throws ConfigError `usage` for a pace at which nothing moves */
export function checkPace({ surge, unavailable }: UpgradePace): void {
  if (surge + unavailable > 0) return;
  throw new ConfigError(
    "usage",
    "With --surge 0 and --unavailable 0 no node can be replaced. Give one of them at least 1.",
  );
}

/**
 * Returns the replacement of every node that a selector selects, in the order of their names, by a fresh one like it. Pure.
 *
 * @throws ConfigError `usage` for a selector that is empty or cannot be read, and for a pace at which nothing moves, `invalid` where no node is selected
 */
export function rollingUpgradeOf(
  observation: Observation,
  selector: string,
  pace: UpgradePace,
  times: ScenarioTimes,
): Scenario {
  const { nodes } = observation;
  checkPace(pace);
  const selected = nodes.filter(selecting(selector, nodes)).map(({ name }) => name);
  const taken = new Set(nodes.map(({ name }) => name));
  const pairs = selected.map((old): Replacement => {
    const fresh = freshName(old, taken);
    taken.add(fresh);
    return { old, fresh };
  });
  return {
    text: `${selected.length === 1 ? "1 node is" : `${selected.length} nodes are`} replaced (${selector})`,
    happenings: upgraded(pairs, pace, times, observation),
    assumed: times,
  };
}

function selecting(text: string, nodes: readonly NodeFacts[]): (node: NodeFacts) => boolean {
  // No label selects every node. Whoever means that has a label for it; an empty variable of a shell does not mean it.
  if (text.trim() === "") throw new ConfigError("usage", "--rolling-upgrade needs labels that select nodes.");
  const parsed = parseLabelSelector(text);
  if (!("selector" in parsed))
    throw new ConfigError("usage", `Cannot read the label selector '${text}' of --rolling-upgrade: ${parsed.error}.`);
  const isSelected = (node: NodeFacts): boolean => selects(parsed.selector, node.labels);
  if (nodes.some(isSelected)) return isSelected;
  const keys = [...new Set(nodes.flatMap(({ labels }) => Object.keys(labels)))];
  const key = /^!?\s*([^\s=!<>,()]+)/.exec(text)?.[1] ?? "";
  const near = keys.includes(key) ? undefined : nearest(key, keys);
  const hint = near === undefined ? "" : ` Did you mean the label ${near}?`;
  throw new ConfigError("invalid", `--rolling-upgrade ${text} selects no node.${hint}`);
}

function freshName(old: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const name = `${old}-new${number === 1 ? "" : number}`;
    if (!taken.has(name)) return name;
  }
}

interface Replacement {
  readonly old: string;
  readonly fresh: string;
}

/**
 * The order in which nodes come and go. There are never more than the usual number and the surge, those that are ordered included; and never fewer that serve, neither
 * cordoned nor still to come, than the usual number without the unavailable ones. A new node is ordered, and an old one cordoned, as soon as that allows it.
 */
function upgraded(
  pairs: readonly Replacement[],
  { surge, unavailable }: UpgradePace,
  { nodeReadyMs, drainMs }: ScenarioTimes,
  before: Observation,
): readonly Happening[] {
  const usual = pairs.length;
  const happenings: Happening[] = [];
  /** When a node that is ordered is ready, and when one that is cordoned is gone; each ascending, since every order takes the same time. */
  const ready: number[] = [];
  const gone: number[] = [];
  let nowMs = 0;
  for (;;) {
    const readyCount = ready.filter((atMs) => atMs <= nowMs).length;
    const goneCount = gone.filter((atMs) => atMs <= nowMs).length;
    while (ready.length < usual && usual - goneCount + ready.length < usual + surge) {
      const { old = "", fresh = "" } = pairs[ready.length] ?? {};
      const atMs = nowMs + nodeReadyMs;
      const happen = (world: Observation): Observation => withNewNode(world, { node: fresh, like: old }, before);
      happenings.push({ afterMs: atMs, text: `${fresh} is ready`, happen });
      ready.push(atMs);
    }
    while (gone.length < usual && usual - gone.length + readyCount - 1 >= usual - unavailable) {
      happenings.push(...drained(pairs[gone.length]?.old ?? "", nowMs, drainMs));
      gone.push(nowMs + drainMs);
    }
    const next = Math.min(...[...ready, ...gone].filter((atMs) => atMs > nowMs));
    if (next === Number.POSITIVE_INFINITY) return happenings;
    nowMs = next;
  }
}
