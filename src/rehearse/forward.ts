import { type Action, refKey } from "../model/action.ts";
import { ACTIONS, changesName } from "../model/action-kinds.ts";
import type { Address } from "../model/address.ts";
import type { Observation } from "../model/observation.ts";
import type { Hold, NameService, Plan } from "../model/plan.ts";
import type { Selection } from "../model/run.ts";
import { nextLook } from "../plan/next-look.ts";
import { plan } from "../plan/plan.ts";
import { announcedRound, withStandIns } from "./announce.ts";
import { later, standInsOf } from "./edited-world.ts";
import { CallLedger, relieved } from "./limits.ts";
import { type Passed, passThrough } from "./passing.ts";

/** How long things are taken to last, milliseconds: a change of where an address is, and a change of a name. */
export interface Assumed {
  readonly assignMs: number;
  readonly dnsMs: number;
}

/** What is assumed where nobody says otherwise. */
export const ASSUMED: Assumed = { assignMs: 10_000, dnsMs: 1000 };

/** Something that happens to the world while flipop works. */
export interface Happening {
  /** Milliseconds after the story begins. */
  readonly afterMs: number;
  /** As a sentence without its full stop: `worker-1 is cordoned`. */
  readonly text: string;
  /** Returns the world in which it has happened. */
  readonly happen: (world: Observation) => Observation;
}

/** What is begun at one moment. */
export interface Step {
  /** Milliseconds of the world's clock. */
  readonly atMs: number;
  readonly actions: readonly Action[];
  /** The same actions with their times. An address that is not known yet has the value that the rehearsal gives it. */
  readonly spans: readonly Span[];
}

/** Returns the actions of a step one by one, each with when it begins. Pure. */
export function begunIn({
  actions,
  spans,
}: Step): readonly { readonly atMs: number; readonly actions: readonly [Action] }[] {
  return actions.map((action, at) => ({ atMs: spans[at]?.fromMs ?? 0, actions: [action] }));
}

/** When an action begins and ends, milliseconds of the world's clock. */
export interface Span {
  readonly action: Action;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What names offer their clients from one moment on. */
export interface View {
  readonly atMs: number;
  readonly names: readonly NameService[];
  /** True for something that happens within a pass: the view does not show what the pass has done so far. */
  readonly isWithinPass?: true;
}

/** What happens next in a world to which nothing else happens. */
export interface Story {
  /** In the order of their times. */
  readonly steps: readonly Step[];
  /** One for each plan, in the order of their times. */
  readonly views: readonly View[];
  /** What is held after each pass, in the order of their times. */
  readonly holds: readonly { readonly atMs: number; readonly holds: readonly Hold[] }[];
  /** What stands in texts for the addresses of nodes that only come. */
  readonly newNodes: ReadonlyMap<string, string>;
  /** The world at the end. */
  readonly world: Observation;
  /** What remains at the end. */
  readonly remaining: Plan;
  /** True where nothing is left to be done or waited for; false where the horizon ended the story. */
  readonly isAtRest: boolean;
  /** How often it was planned. */
  readonly plans: number;
}

/** How a story is told. */
export interface Telling {
  /** How far after the last happening, milliseconds. */
  readonly horizonMs: number;
  readonly assumed?: Assumed;
  /** What happens meanwhile. */
  readonly happenings?: readonly Happening[];
  /** True where the providers' limits of calls hold up what is done. */
  readonly isLimited?: boolean;
}

/** After a pass that leaves actions the next one comes after this, milliseconds; and never sooner than the shorter one. */
const LEFT_OVER_MS = 2000;
const SHORTEST_WAIT_MS = 500;
/** The most looks after the last happening. */
const MOST_LOOKS = 100;

/**
 * Tells what flipop does from now on if everything it does succeeds and nothing else happens than what is given: one pass after the other, each when it is due, until
 * nothing is left or the horizon is reached. It sees what happens at once, or when the pass ends that it is in. What the provider is at work on has ended by the next
 * look. Pure.
 */
export function forward(observation: Observation, selection: Selection, telling: Telling): Story {
  const { horizonMs, assumed = ASSUMED } = telling;
  const startMs = observation.observedAtMs;
  const coming = (telling.happenings ?? [])
    .map((one) => ({ ...one, atMs: startMs + one.afterMs }))
    .toSorted((a, b) => a.atMs - b.atMs);
  const untilMs = (coming.at(-1)?.atMs ?? startMs) + horizonMs;
  const told: Told = { steps: [], views: [], holds: [], standIns: new Map(), newNodes: new Map() };
  const ledger = telling.isLimited === true ? new CallLedger(observation.registry) : undefined;
  let world = observation;
  for (let look = 1; ; look += 1) {
    const happened = takeDue(coming, world.observedAtMs);
    if (happened.length > 0) look = 1;
    const passed = tellPass(happenedIn(world, happened), selection, { assumed, coming, told, ledger });
    const { remaining } = passed;
    world = withStatuses(passed.world, remaining);
    const nowMs = world.observedAtMs;
    const lookMs = lookAgainMs(world, remaining, selection, assumed);
    const atMs = Math.min(look < MOST_LOOKS ? lookMs : NEVER, Math.max(coming[0]?.atMs ?? NEVER, nowMs));
    if (atMs > untilMs) {
      const { standIns, views, ...rest } = told;
      const sorted = views.toSorted((a, b) => a.atMs - b.atMs);
      const end = { world, isAtRest: lookMs === NEVER, remaining: withStandIns(remaining, standIns) };
      return { ...rest, ...end, views: sorted, plans: views.length };
    }
    world = relieved(later(settled(world, atMs - nowMs, assumed), atMs - nowMs), observation);
  }
}

/** What has been told so far; each pass adds to it. */
interface Told {
  readonly steps: Step[];
  readonly views: View[];
  readonly holds: Story["holds"][number][];
  /** Imagined address → what stands for it. */
  readonly standIns: Map<string, string>;
  readonly newNodes: Map<string, string>;
}

interface PassTerms {
  readonly assumed: Assumed;
  readonly coming: readonly (Happening & { readonly atMs: number })[];
  readonly told: Told;
  readonly ledger: CallLedger | undefined;
}

/** Carries out one pass in thought, and adds to what is told. */
function tellPass(world: Observation, selection: Selection, { assumed, coming, told, ledger }: PassTerms): Passed {
  const { steps, views, holds, standIns, newNodes } = told;
  for (const [ip, text] of standInsOf(world)) newNodes.set(ip, text);
  const first = plan(world, selection);
  const passed = passThrough(first, world, selection, (actions) => lengthOf(actions, assumed), ledger);
  views.push({ atMs: world.observedAtMs, names: first.names }, ...viewsWithin(passed, world, coming, selection));
  for (const round of passed.rounds)
    steps.push({ atMs: round.atMs, actions: announcedRound(round, standIns), spans: spansOf(round, assumed) });
  const atMs = passed.world.observedAtMs;
  holds.push({ atMs, holds: passed.remaining.holds.map((hold) => withStandIns(hold, standIns)) });
  return passed;
}

const NEVER = Number.POSITIVE_INFINITY;

/** Takes what has happened by now out of what is coming. */
function takeDue<H extends { readonly atMs: number }>(coming: H[], nowMs: number): readonly H[] {
  const isLater = coming.findIndex(({ atMs }) => atMs > nowMs);
  return coming.splice(0, isLater === -1 ? coming.length : isLater);
}

function happenedIn(world: Observation, happened: readonly Happening[]): Observation {
  return happened.reduce((before, { happen }) => happen(before), world);
}

/** What names offer after each round of a pass, and at each moment within it at which something happens to the world. */
function viewsWithin(
  { rounds, world: after }: Passed,
  before: Observation,
  coming: readonly (Happening & { readonly atMs: number })[],
  selection: Selection,
): readonly View[] {
  const within = coming.filter(({ atMs }) => atMs < after.observedAtMs);
  return [
    ...rounds.map((round, at): View => {
      const { atMs } = rounds[at + 1] ?? { atMs: after.observedAtMs };
      return { atMs, names: round.after.names };
    }),
    ...within.map(({ atMs }, at): View => {
      const edited = happenedIn(before, within.slice(0, at + 1));
      return { atMs, names: plan(edited, selection).names, isWithinPass: true };
    }),
  ];
}

/**
 * When flipop passes again by itself, milliseconds of the world's clock; {@link NEVER} = not before something happens. What statuses say since the pass ended may let something
 * go on, such as the end of an object whose address another one has on record now.
 */
function lookAgainMs(world: Observation, remaining: Plan, selection: Selection, assumed: Assumed): number {
  const lookMs = lookAfterMs(world, remaining, assumed);
  return lookMs === NEVER ? lookAfterMs(world, plan(world, selection), assumed) : lookMs;
}

function lookAfterMs(world: Observation, remaining: Plan, { assignMs }: Assumed): number {
  const nowMs = world.observedAtMs;
  const nextReadInMs = isMoving(world) ? assignMs : undefined;
  const next = nextLook(remaining, nowMs, { leftOverMs: LEFT_OVER_MS, nextReadInMs });
  return next === undefined ? NEVER : nowMs + Math.max(next.inMs, SHORTEST_WAIT_MS);
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

/** How long actions take that are begun together, milliseconds. */
function lengthOf(actions: readonly Action[], assumed: Assumed): number {
  return Math.max(0, ...[...endsOf(actions, assumed).values()]);
}

/** When actions end that are begun together, milliseconds from then, by id: each begins when those it waits for have ended. */
function endsOf(actions: readonly Action[], assumed: Assumed): ReadonlyMap<string, number> {
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
  for (const action of actions) endOf(action);
  return ends;
}

function spansOf({ actions, atMs }: Passed["rounds"][number], assumed: Assumed): readonly Span[] {
  const ends = endsOf(actions, assumed);
  return actions.map((action) => {
    const untilMs = atMs + (ends.get(action.id) ?? 0);
    return { action, fromMs: untilMs - millisecondsOf(action, assumed), untilMs };
  });
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
    const targets = targetsAt(world, name);
    const addresses = [...facts.addresses].map(
      ([ip, fact]) =>
        [ip, fact.kind === "known" ? { ...fact, address: arrived(fact.address, targets.get(ip)) } : fact] as const,
    );
    return [name, { ...facts, addresses: new Map(addresses) }] as const;
  });
  return { ...world, providers: new Map(providers) };
}

function arrived(address: Address, target: string | undefined): Address {
  const holder = address.isLocked && target !== undefined ? { holderID: target } : {};
  return { ...address, ...holder, isLocked: false };
}

/** The machines to which objects have sent addresses of a provider that are still on their way, by address. */
function targetsAt({ pools, registry }: Observation, provider: string): ReadonlyMap<string, string> {
  const own = pools.filter(({ spec }) => spec.provider === provider);
  const entries = own.flatMap(({ status }) => Object.entries(status.ips));
  return new Map(
    entries.flatMap(([ip, { state, error, providerID }]) => {
      const machine =
        state === "in-progress" && error === undefined ? registry.machineID(provider, providerID ?? "") : undefined;
      return machine === undefined ? [] : [[ip, machine] as const];
    }),
  );
}
