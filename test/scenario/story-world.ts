import { expect } from "vitest";
import { type Action, refKey, subjectOf } from "../../src/model/action.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { PassResult } from "../../src/model/run.ts";
import { planPass } from "../../src/reconcile.ts";
import { forward, type Story } from "../../src/rehearse/forward.ts";
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
  /** True where the first run that can be told goes on for half an hour, and is the last. */
  tellsFar = false;
  #isClear = true;

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
    const settles = this.tellsFar || options.settle === true;
    const deadlineMs = (this.tellsFar ? FAR_MS : 120_000 - CLOSING_MS) + CLOSING_MS;
    const story = await this.#story(settles ? deadlineMs - CLOSING_MS : 0);
    const end = await super.run(settles ? { ...options, settle: true, deadlineMs } : options);
    if (story !== undefined && end.kind === "done" && wentWell(end.result)) {
      this.told += 1;
      compare(story, end.result);
    }
    if (this.tellsFar) throw new Told();
    return end;
  }

  /** Undefined where the provider is at work already: nobody knows how long. */
  async #story(horizonMs: number): Promise<Story | undefined> {
    const running = this.backend.clock.process();
    const ports = this.backend.open(adapterClock(running.clock), () => false);
    try {
      const { observation } = await planPass(this.deps(running.clock, ports), {});
      return isMoving(observation) ? undefined : forward(observation, {}, { horizonMs, assumed: AT_ONCE });
    } finally {
      running.kill();
      ports.close();
    }
  }
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
      .replace(/\d+\.\d+\.\d+\.\d+/g, (ip) => bought.get(ip) ?? ip)
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
