import { type Action, refKey } from "../model/action.ts";
import { ACTIONS, changesName } from "../model/action-kinds.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import type { Selection } from "../model/run.ts";
import { nextLook } from "../plan/next-look.ts";
import { plan } from "../plan/plan.ts";
import { announcedRound, withStandIns } from "./announce.ts";
import { later } from "./edited-world.ts";
import { passThrough } from "./passing.ts";

/** How long things are taken to last, milliseconds: a change of where an address is, and a change of a name. */
export interface Assumed {
  readonly assignMs: number;
  readonly dnsMs: number;
}

/** What is assumed where nobody says otherwise. */
export const ASSUMED: Assumed = { assignMs: 10_000, dnsMs: 1000 };

/** What is done at one moment. */
export interface Step {
  /** Milliseconds of the world's clock. */
  readonly atMs: number;
  readonly actions: readonly Action[];
}

/** What happens next in a world to which nothing else happens. */
export interface Story {
  readonly steps: readonly Step[];
  /** The world at the end. */
  readonly world: Observation;
  /** What remains at the end. */
  readonly remaining: Plan;
  /** How often it was planned. */
  readonly plans: number;
}

/** After a pass that leaves actions the next one comes after this, milliseconds; and never sooner than the shorter one. */
const LEFT_OVER_MS = 2000;
const SHORTEST_WAIT_MS = 500;
/** The most looks of one story. */
const MOST_LOOKS = 100;

/**
 * Tells what flipop does from now on if everything it does succeeds and nothing else changes: one pass after the other, each when it is due, until nothing is left
 * or the horizon is reached. What the provider is at work on has ended by the next look. Pure.
 */
export function forward(
  observation: Observation,
  selection: Selection,
  { horizonMs, assumed = ASSUMED }: { readonly horizonMs: number; readonly assumed?: Assumed },
): Story {
  const untilMs = observation.observedAtMs + horizonMs;
  const standIns = new Map<string, string>();
  const steps: Step[] = [];
  let world = observation;
  let plans = 0;
  for (let look = 1; ; look += 1) {
    const first = plan(world, selection);
    const passed = passThrough(first, world, selection, (actions) => lengthOf(actions, assumed));
    steps.push(...passed.rounds.map((round) => ({ atMs: round.atMs, actions: announcedRound(round, standIns) })));
    plans += 1 + passed.rounds.length;
    const { remaining } = passed;
    world = withStatuses(passed.world, remaining);
    const nowMs = world.observedAtMs;
    const nextReadInMs = isMoving(world) ? assumed.assignMs : undefined;
    const next = nextLook(remaining, nowMs, { leftOverMs: LEFT_OVER_MS, nextReadInMs });
    const atMs = nowMs + Math.max(next?.inMs ?? 0, SHORTEST_WAIT_MS);
    if (next === undefined || atMs > untilMs || look >= MOST_LOOKS)
      return { steps, world, remaining: withStandIns(remaining, standIns), plans };
    world = later(settled(world, atMs - nowMs, assumed), atMs - nowMs);
  }
}

/** The world with the statuses that a pass writes at its end: the next one begins with them. */
function withStatuses(world: Observation, { pools, recordSets }: Plan): Observation {
  const ofPools = new Map(pools.map(({ object, status }) => [refKey(object), status]));
  const ofRecordSets = new Map(recordSets.map(({ object, status }) => [refKey(object), status]));
  return {
    ...world,
    pools: world.pools.map((pool) => ({
      ...pool,
      status: ofPools.get(refKey({ kind: pool.kind, ...pool.meta })) ?? pool.status,
    })),
    recordSets: world.recordSets.map((recordSet) => ({
      ...recordSet,
      status: ofRecordSets.get(refKey({ kind: "dns", ...recordSet.meta })) ?? recordSet.status,
    })),
  };
}

/** How long actions take that are begun together, milliseconds: each begins when those it waits for have ended. */
function lengthOf(actions: readonly Action[], assumed: Assumed): number {
  const byID = new Map(actions.map((action) => [action.id, action]));
  const ends = new Map<string, number>();
  const endOf = (action: Action): number => {
    const known = ends.get(action.id);
    if (known !== undefined) return known;
    // Where actions waited for each other, none would ever begin.
    ends.set(action.id, 0);
    const before = [...action.requires, ...action.follows].flatMap((id) => byID.get(id) ?? []);
    const end = Math.max(0, ...before.map(endOf)) + millisecondsOf(action, assumed);
    ends.set(action.id, end);
    return end;
  };
  return Math.max(0, ...actions.map(endOf));
}

function millisecondsOf(action: Action, { assignMs, dnsMs }: Assumed): number {
  if (changesName(action)) return dnsMs;
  return ACTIONS[action.kind].target === "provider" ? assignMs : 0;
}

function isMoving({ providers }: Observation): boolean {
  return [...providers.values()].some(({ addresses }) =>
    [...addresses.values()].some((fact) => fact.kind === "known" && fact.address.isLocked),
  );
}

/** The world once the provider has had enough time for what it is at work on. */
function settled(world: Observation, ms: number, { assignMs }: Assumed): Observation {
  if (ms < assignMs || !isMoving(world)) return world;
  const providers = [...world.providers].map(([name, facts]) => {
    const addresses = [...facts.addresses].map(
      ([ip, fact]) =>
        [ip, fact.kind === "known" ? { ...fact, address: { ...fact.address, isLocked: false } } : fact] as const,
    );
    return [name, { ...facts, addresses: new Map(addresses) }] as const;
  });
  return { ...world, providers: new Map(providers) };
}
