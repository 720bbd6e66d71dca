import { expect } from "vitest";
import { type Action, refKey, subjectOf } from "../../src/model/action.ts";
import type { Observation } from "../../src/model/observation.ts";
import { podsKeyOf } from "../../src/model/pods.ts";
import type { PassResult } from "../../src/model/run.ts";
import type { NameFate } from "../../src/model/simulation.ts";
import { planPass } from "../../src/reconcile.ts";
import { forward, type Story } from "../../src/rehearse/forward.ts";
import { namesServed } from "../../src/rehearse/serving.ts";
import { isServedBy } from "./dns-safety.ts";
import { type MeasuredFate, ServiceMeter } from "./measured-service.ts";
import type { OperationFault } from "./operation-fault.ts";
import { adapterClock, type RunEnd, type RunOptions } from "./scenario-run.ts";
import { World } from "./world.ts";

/** Nothing takes time in memory. */
const AT_ONCE = { assignMs: 0, dnsMs: 0 };
/** A run keeps so much of its time for what it writes last, milliseconds. */
const CLOSING_MS = 3000;
/** How far a story is told, milliseconds. */
const FAR_MS = 30 * 60_000;

/** Ends a scenario whose story was told. */
export class Told extends Error {}

/** A world in which each run is told beforehand: what is told is compared with what the run does. */
export class StoryWorld extends World {
  /** How many runs were told as they went. */
  told = 0;
  /** How many runs there were. */
  runs = 0;
  /** How many names were measured, and in how many of them clients lacked something. */
  measured = 0;
  eventful = 0;
  /** Which run goes on for half an hour, where it can be told, and is the last; 1 = the first that can. Absent = none. */
  tellsFar: number | undefined;
  #isClear = true;
  #clearRuns = 0;

  override fail(fault: OperationFault): void {
    this.#isClear = false;
    super.fail(fault);
  }

  override clearFaults(): void {
    this.#isClear = true;
    super.clearFaults();
  }

  override before(method: string, action: () => Promise<void>): void {
    this.#isClear = false;
    super.before(method, action);
  }

  /** A process that died leaves what nobody can know of. */
  override async crash(dieBeforeWrite: number, options: RunOptions = {}): Promise<boolean> {
    this.#isClear = false;
    return await super.crash(dieBeforeWrite, options);
  }

  override async run(options: RunOptions = {}): Promise<RunEnd> {
    this.runs += 1;
    const isTold = Object.keys(options).every((key) => key === "settle");
    if (!isTold || !this.#isClear || this.takesMs !== undefined) return await super.run(options);
    this.#clearRuns += 1;
    if (this.#clearRuns === this.tellsFar) return await this.#runFar(options);
    const isSettling = options.settle === true;
    const story = await this.#story(isSettling ? 120_000 - CLOSING_MS : 0);
    const end = await super.run(isSettling ? { ...options, deadlineMs: 120_000 } : options);
    this.#compared(story, end);
    return end;
  }

  /** A run that goes on until nothing is left to do, for half an hour at most: what is done, and what clients of names get meanwhile. @throws Told */
  async #runFar(options: RunOptions): Promise<never> {
    const story = await this.#story(FAR_MS);
    const isServed = isServedBy(this.cloud, () => this.nodes.ready());
    const meter = new ServiceMeter(this.dns, isServed, this.nowMs());
    this.backend.clock.onPass = (fromMs, untilMs) => meter.pass(fromMs, untilMs);
    const end = await super.run({ ...options, settle: true, deadlineMs: FAR_MS + CLOSING_MS });
    this.backend.clock.onPass = undefined;
    // What its statuses let go on is done by the next run.
    const next = end.kind === "done" ? await super.run({ settle: true, deadlineMs: CLOSING_MS }) : end;
    if (this.#compared(story, joined(end, next)) && story.isAtRest)
      this.#compareService(story, meter.end(this.nowMs()));
    throw new Told();
  }

  /** Compares a run that was told and went well. Returns false where it was not, or did not. */
  #compared(story: Story | undefined, end: RunEnd): story is Story {
    if (story === undefined || end.kind !== "done" || !wentWell(end.result)) return false;
    this.told += 1;
    compare(story, end.result);
    return true;
  }

  /** What is told of the service of each name is what its clients got. Not where flipop asks for pods: nothing measured knows of them. */
  #compareService(story: Story, measured: ReadonlyMap<string, MeasuredFate>): void {
    const known = this.#knownNames(story);
    for (const fate of namesServed(story)) {
      const key = `${fate.fqdn} ${fate.provider}`;
      const found = measured.get(key);
      if (found === undefined || !known.has(key)) continue;
      this.measured += 1;
      if (fate.unservedMs > 0 || fate.dead !== undefined) this.eventful += 1;
      expect({ key, ...toldFate(fate, found) }, "what is told of service is what clients got").toEqual({
        key,
        ...found,
      });
    }
  }

  /** The names of objects that ask for no pods, all of whose addresses are of this world. */
  #knownNames({ views, world }: Story): ReadonlySet<string> {
    const withPods = new Set(
      [
        ...world.pools.map((pool) => ({ ref: { kind: pool.kind, ...pool.meta }, asks: podsKeyOf(pool) })),
        ...world.recordSets.map((one) => ({ ref: { kind: "dns" as const, ...one.meta }, asks: podsKeyOf(one) })),
      ].flatMap(({ ref, asks }) => (asks === undefined ? [] : [refKey(ref)])),
    );
    const own = new Set([
      ...this.cloud.state.reserved_ips.map(({ ip }) => ip),
      ...world.nodes.flatMap(({ addresses }) => addresses.map(({ address }) => address)),
    ]);
    const all = views.flatMap(({ names }) => names);
    const unknown = all.filter(({ object, shown }) => withPods.has(refKey(object)) || shown.some((ip) => !own.has(ip)));
    const key = ({ fqdn, provider }: { readonly fqdn: string; readonly provider: string }) => `${fqdn} ${provider}`;
    return new Set(all.map(key).filter((one) => !unknown.map(key).includes(one)));
  }

  /** Undefined where the provider is at work already: nobody knows how long. */
  async #story(horizonMs: number): Promise<Story | undefined> {
    const running = this.backend.clock.process();
    const ports = this.backend.open(adapterClock(running.clock), { diesAt: () => false, mayWrite: () => false });
    try {
      const { observation } = await planPass(this.deps(running.clock, ports), {});
      return isMoving(observation) ? undefined : forward(observation, {}, { horizonMs, assumed: AT_ONCE });
    } finally {
      running.kill();
      ports.close();
    }
  }
}

/** What two runs did, one after the other. */
function joined(first: RunEnd, second: RunEnd): RunEnd {
  if (first.kind !== "done" || second.kind !== "done") return second;
  const outcomes = [...first.result.outcomes, ...second.result.outcomes];
  return { ...second, result: { ...second.result, outcomes } };
}

/**
 * A run looks at what it changed until it is there, half a second each: so much longer it takes than what is told, where nothing takes time, milliseconds. In a ring of three
 * pools three changes wait for one another.
 */
const CONFIRMED_MS = 1500;

/** What is told, as it was measured where it is the same. What lasts at the end lasts for as long as somebody looks. */
function toldFate({ unservedMs, isUnservedAtEnd, dead }: NameFate, found: MeasuredFate): MeasuredFate {
  const same = (told: number, measured: number, isLasting: boolean): number =>
    isLasting || Math.abs(told - measured) <= CONFIRMED_MS ? measured : told;
  return {
    unservedMs: same(unservedMs, found.unservedMs, isUnservedAtEnd),
    isUnservedAtEnd,
    deadMs: same(dead?.ms ?? 0, found.deadMs, dead?.isLasting ?? false),
  };
}

function isMoving({ providers }: Observation): boolean {
  const facts = [...providers.values()].flatMap(({ addresses }) => [...addresses.values()]);
  return facts.some((fact) => fact.kind === "known" && fact.address.isLocked);
}

function wentWell({ outcomes, wasInterrupted, plan }: PassResult): boolean {
  return !wasInterrupted && plan.gaps.length === 0 && outcomes.every(({ outcome }) => outcome === "applied");
}

/** The same is done, and in the same order for each thing: an address, a node, a name, a firewall. */
function compare({ steps }: Story, { outcomes }: PassResult): void {
  const told = steps.flatMap(({ actions }) => actions);
  const bought = new Map(
    outcomes.flatMap(({ action, address }) =>
      action.kind === "acquire-ip" && address !== undefined ? [[address.ip, "(new)"] as const] : [],
    ),
  );
  const done = outcomes.map(({ action }) => action);
  expect(byThing(done, bought), "what is told is what is done").toEqual(byThing(told, bought));
}

function byThing(actions: readonly Action[], bought: ReadonlyMap<string, string>): readonly string[] {
  const named = (text: string): string =>
    text
      .replace(/\(new \d+\)/g, "(new)")
      .replace(/\d+(?:\.\d+){3}|[\da-f]*(?::[\da-f]*){2,}/g, (ip) => bought.get(ip) ?? ip)
      .replace(/\[[^\]]*\]/g, (list) => JSON.stringify((JSON.parse(list) as readonly string[]).toSorted()));
  const things = Map.groupBy(actions, (action) => named(`${refKey(action.object)} ${subjectOf(action)}`));
  const lines = [...things].map(([thing, own]) => {
    const changes = own.map(({ kind, before, after }) =>
      named(`${kind} ${JSON.stringify(before ?? null, sortedKeys)} -> ${JSON.stringify(after ?? null, sortedKeys)}`),
    );
    return `${thing}: ${(thing.endsWith("(new)") ? changes.toSorted() : changes).join(", then ")}`;
  });
  return lines.toSorted();
}

function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
