import { refKey } from "../model/action.ts";
import { annotatedOn } from "../model/annotated.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import { compareText } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import type { LossCase, NameFate, Simulation, SpareNodes } from "../model/simulation.ts";
import { editWorld } from "./edited-world.ts";
import { forward, type Happening } from "./forward.ts";
import { namesServed } from "./serving.ts";
import { movesOf, type Rehearsed, simulate, sparesOf } from "./simulate.ts";

/** What is lost at once. */
export const LOSS_KINDS = ["node", "zone", "region"] as const;
/** One of {@link LOSS_KINDS}. */
export type LossKind = (typeof LOSS_KINDS)[number];

/** How long after it stops being ready a lost node is gone, milliseconds: about what a cloud takes to notice. */
const GONE_AFTER_MS = 5 * 60_000;

/** How many of the losses that are rehearsed one by one have been. */
export interface Progress {
  readonly done: number;
  readonly of: number;
}

/** What is lost together. */
interface Loss {
  readonly lost: string;
  readonly nodes: readonly string[];
}

/**
 * Tells what follows when each node, zone or region is lost in turn, each from the world as it is once flipop has done what is due anyway. What is lost stops being
 * ready, and is gone five minutes later. A node that has no address of a pool, and that no name shows, is not rehearsed: nothing but a spare node can be lost with it.
 * Of many nodes that only names show, the same names for the same objects, one is rehearsed. Pure; yields after each loss, so that whoever waits can be told.
 */
export function* simulateLosses(
  observation: Observation,
  selection: Selection,
  { by, ...rehearsed }: Rehearsed & { readonly by: LossKind },
): Generator<Progress, Simulation> {
  const base = simulate(observation, selection, rehearsed);
  const { world, remaining } = forward(observation, selection, { ...rehearsed, isLimited: true });
  const { carriers, shown } = nodesInUse(world);
  const losses = lossesOf(world, by);
  const isConcerned = ({ nodes }: Loss): boolean => nodes.some((node) => carriers.has(node) || shown.has(node));
  const groups = alike(losses.filter(isConcerned), carriers, shown, remaining);
  const down = new Set(base.names.filter(({ isUnservedAtEnd }) => isUnservedAtEnd).map(keyOfName));
  const cases: LossCase[] = [];
  for (const [at, { loss, nodes }] of groups.entries()) {
    const told = withoutNames(caseOf(loss, world, selection, rehearsed), down);
    cases.push(
      nodes.length === loss.nodes.length
        ? told
        : { ...told, lost: `${nodes.length} like ${loss.lost}`, losses: nodes.length, nodes },
    );
    yield { done: at + 1, of: groups.length };
  }
  const others = losses.filter((loss) => !isConcerned(loss));
  const count = losses.length === 1 ? `the only ${by}` : `each of ${losses.length} ${by}s`;
  return {
    ...base,
    scenario: `${count} is lost${losses.length === 1 ? "" : " in turn"}`,
    assumed: { ...base.assumed, goneAfterMs: GONE_AFTER_MS },
    cases: [...cases, ...othersOf(others, base.spares)],
  };
}

/** From so many nodes on that differ in nothing but their names, one stands for all. */
const FEWEST_ALIKE = 4;

/** Losses to be rehearsed, each with the nodes that it stands for: those of the loss itself, or many of which each is lost alone. */
function alike(
  losses: readonly Loss[],
  carriers: ReadonlySet<string>,
  shown: ReadonlyMap<string, string>,
  { pools, recordSets }: Plan,
): readonly { readonly loss: Loss; readonly nodes: readonly string[] }[] {
  const roles = new Map<string, string>();
  const enter = (node: string, role: string): void => {
    roles.set(node, `${roles.get(node) ?? ""} ${role}`);
  };
  for (const { object, matching } of [...pools, ...recordSets])
    for (const node of matching) enter(node, refKey(object));
  for (const { object, waiting } of pools) for (const node of waiting) enter(node, `spare ${refKey(object)}`);
  const keyOf = ({ lost, nodes }: Loss): string => {
    const [node = "", ...more] = nodes;
    const isOwn = more.length > 0 || carriers.has(node);
    return isOwn ? `one ${lost}` : `many ${shown.get(node)} ${roles.get(node)}`;
  };
  return [...Map.groupBy(losses, keyOf).values()]
    .flatMap((own) => (own.length < FEWEST_ALIKE ? own.map((loss) => [loss]) : [own]))
    .flatMap((own) => {
      const [loss] = own;
      return loss === undefined ? [] : [{ loss, nodes: own.flatMap(({ nodes }) => nodes) }];
    });
}

function lossesOf({ nodes, registry }: Observation, by: LossKind): readonly Loss[] {
  if (by === "node") return nodes.map(({ name }) => ({ lost: name, nodes: [name] }));
  const label = registry.placeLabels[by];
  const groups = Map.groupBy(nodes, ({ labels }) => labels[label] ?? "");
  return [...groups]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([place, own]) => ({
      lost: place === "" ? `(no ${label})` : place,
      nodes: own.map(({ name }) => name),
    }));
}

/** The nodes that have an address of a pool; and those that names show by their own addresses, each with those names. */
function nodesInUse({ nodes, pools, providers, dns, registry }: Observation): {
  readonly carriers: ReadonlySet<string>;
  readonly shown: ReadonlyMap<string, string>;
} {
  const managed = new Set(pools.flatMap(({ spec, status }) => [...spec.ips, ...Object.keys(status.ips)]));
  const holders = new Set(
    [...providers.values()].flatMap(({ name, addresses }) =>
      [...addresses].flatMap(([ip, fact]) =>
        fact.kind === "known" && managed.has(ip) ? `${name} ${fact.address.holderID}` : [],
      ),
    ),
  );
  const namesOf = new Map<string, string[]>();
  for (const { records } of dns.values())
    for (const [name, fact] of records)
      for (const ip of fact.kind === "known" ? fact.records.addresses : [])
        namesOf.set(ip, [...(namesOf.get(ip) ?? []), name]);
  const isCarrier = (node: NodeFacts): boolean =>
    [...providers.keys()].some((name) => holders.has(`${name} ${registry.machineID(name, node.providerID)}`)) ||
    annotatedOn(node).some(({ ip }) => namesOf.has(ip));
  const shown = nodes.flatMap(({ name, addresses }) => {
    const names = addresses.flatMap(({ address }) => namesOf.get(address) ?? []);
    return names.length === 0 ? [] : [[name, names.join(" ")] as const];
  });
  return { carriers: new Set(nodes.filter(isCarrier).map(({ name }) => name)), shown: new Map(shown) };
}

function caseOf(
  { lost, nodes }: Loss,
  world: Observation,
  selection: Selection,
  { horizonMs, assumed }: Rehearsed,
): LossCase {
  const story = forward(world, selection, { horizonMs, assumed, happenings: happeningsOf(nodes), isLimited: true });
  const names = namesServed(story).filter(({ unservedMs, isUnservedAtEnd, dead }) => {
    return dead !== undefined || unservedMs > 0 || isUnservedAtEnd;
  });
  return {
    lost,
    losses: 1,
    nodes,
    moves: movesOf(story, world).made,
    names,
    isRehearsed: true,
    ...scarcity(sparesOf(story.remaining)),
  };
}

/** Leaves out names that have no service without any loss: none is to blame for them. */
function withoutNames({ names, ...rest }: LossCase, down: ReadonlySet<string>): LossCase {
  return { ...rest, names: names.filter((name) => !down.has(keyOfName(name))) };
}

function keyOfName({ provider, fqdn }: NameFate): string {
  return `${provider} ${fqdn}`;
}

function happeningsOf(nodes: readonly string[]): readonly Happening[] {
  const turn = (state: "NotReady" | "Gone", afterMs: number): Happening => ({
    afterMs,
    text: `${nodes.length === 1 ? nodes.join() : `${nodes.length} nodes`} ${state === "Gone" ? "gone" : "not ready"}`,
    happen: (world) =>
      editWorld(
        world,
        nodes.map((node) => ({ kind: "node-state", text: `node/${node}=${state}`, node, state })),
      ),
  });
  return [turn("NotReady", 0), turn("Gone", GONE_AFTER_MS)];
}

/** The losses that nobody notices, those together that leave the same spare nodes. */
function othersOf(others: readonly Loss[], spares: readonly SpareNodes[]): readonly LossCase[] {
  const told = others.map((loss) => {
    const left = spares.map((spare) => ({ ...spare, nodes: spare.nodes.filter((node) => !loss.nodes.includes(node)) }));
    return { loss, left: scarcity(left) };
  });
  const groups = Map.groupBy(told, ({ left }) => `${left.spareNodes} ${left.scarce.map(refKey)}`);
  return [...groups.values()].flatMap((own): readonly LossCase[] => {
    const [first] = own;
    if (first === undefined) return [];
    return [
      {
        lost: own.length === 1 ? first.loss.lost : `${own.length} others`,
        losses: own.length,
        nodes: own.flatMap(({ loss }) => loss.nodes),
        moves: 0,
        names: [],
        isRehearsed: false,
        ...first.left,
      },
    ];
  });
}

function scarcity(spares: readonly SpareNodes[]): Pick<LossCase, "spareNodes" | "scarce"> {
  if (spares.length === 0) return { scarce: [] };
  const spareNodes = Math.min(...spares.map(({ nodes }) => nodes.length));
  const scarce = spares.filter(({ nodes }) => nodes.length === spareNodes).map(({ object }) => object);
  return { spareNodes, scarce };
}
