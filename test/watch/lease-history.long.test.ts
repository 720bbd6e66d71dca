import { expect, test } from "vitest";
import type { Clock, LockState } from "../../src/ports/system.ts";
import { withLease } from "../../src/watch/lease.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { LeaseConnection, type LeaseFault, LeaseMemory } from "./lease-memory.ts";
import { leaseOptions } from "./lease-run.ts";

/** A process that can be frozen: while it is, none of its waits end, so none of its code runs. */
class Process implements Clock {
  readonly name: string;
  readonly connection: LeaseConnection;
  lock: LockState | undefined;
  passes = 0;
  private readonly world: FakeClock;
  private frozenUntilMs = 0;

  constructor(name: string, world: FakeClock, memory: LeaseMemory, latencyMs: number) {
    this.name = name;
    this.world = world;
    this.connection = new LeaseConnection(memory, this, name, latencyMs);
  }

  freeze(ms: number): void {
    this.frozenUntilMs = this.world.monotonicMs() + ms;
  }

  isFrozen(): boolean {
    return this.world.monotonicMs() < this.frozenUntilMs;
  }

  monotonicMs(): number {
    return this.world.monotonicMs();
  }

  wallMs(): number {
    return this.world.wallMs();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.world.sleep(ms, signal);
    while (this.isFrozen()) await this.world.sleep(this.frozenUntilMs - this.world.monotonicMs());
  }
}

/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Passes again and again; inside, asks `isHeld` before each of a few steps, as work that changes something does. */
async function live(process: Process, roll: () => number, all: readonly Process[], stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const onLocked = (["fail", "skip", "wait"] as const)[Math.floor(roll() * 3)] ?? "fail";
    const options = leaseOptions(
      { clock: new FakeClock(), memory: new LeaseMemory(process), connection: process.connection },
      {
        clock: process,
        identity: process.name,
        onLocked,
        deadline: process.monotonicMs() + 20_000 + roll() * 40_000,
        signal: stop,
      },
    );
    await withLease(options, async (lock) => {
      process.lock = lock;
      const steps = 1 + Math.floor(roll() * 40);
      for (let i = 0; i < steps && lock.isHeld(); i++) {
        const holders = all.filter((other) => !other.isFrozen() && other.lock?.isHeld() === true);
        expect(holders.map((holder) => holder.name)).toEqual([process.name]);
        if (roll() < 0.1) await lock.annotate({ [process.name]: String(i) }).catch(() => undefined);
        await process.sleep(200 + roll() * 800);
      }
      process.passes += 1;
    }).catch((error: unknown) => {
      if (error instanceof Error && error.name === "AssertionError") throw error;
    });
    process.lock = undefined;
    await process.sleep(500 + roll() * 5_000, stop);
  }
}

function aFault(roll: () => number): LeaseFault {
  const how = (["refuse", "lose-answer", "hang", "late"] as const)[Math.floor(roll() * 4)] ?? "refuse";
  const failure =
    (["unavailable", "conflict", "timeout", "rate-limited"] as const)[Math.floor(roll() * 4)] ?? "unavailable";
  return { how, failure, lateMs: roll() * 20_000 };
}

function disturb(process: Process, memory: LeaseMemory, roll: () => number): void {
  const dice = roll();
  if (dice < 0.25) process.connection.faults.push(aFault(roll));
  else if (dice < 0.32) process.freeze(roll() * 40_000);
  else if (dice < 0.36) process.connection.away = { how: roll() < 0.5 ? "hang" : "refuse" };
  else if (dice < 0.6) process.connection.away = undefined;
  else if (dice < 0.65 && memory.record !== undefined) memory.edit({ annotations: { person: String(roll()) } });
}

/** One seeded history of three processes: five minutes of faults, freezes and hand edits, then two quiet ones. */
async function history(seed: number): Promise<readonly Process[]> {
  const roll = random(seed);
  const clock = new FakeClock();
  const memory = new LeaseMemory(clock, (roll() - 0.5) * 1_200_000);
  const all = ["a", "b", "c"].map((name) => new Process(name, clock, memory, 1 + roll() * 300));
  const stop = new AbortController();
  const lives = Promise.all(all.map((process) => live(process, roll, all, stop.signal)));
  lives.catch(() => undefined);
  for (let second = 0; second < 300; second += 2) {
    await clock.advance(2_000);
    disturb(all[Math.floor(roll() * 3)] as Process, memory, roll);
  }
  for (const process of all) {
    process.connection.away = undefined;
    process.connection.faults.length = 0;
    process.passes = 0;
  }
  await clock.advance(120_000);
  const passes = all.map((process) => process.passes);
  stop.abort();
  await clock.advance(120_000);
  await lives;
  expect(memory.record?.holder, `seed ${seed}: the Lease is free once everyone has left`).toBe("");
  expect(
    passes.reduce((sum, count) => sum + count, 0),
    `seed ${seed}: passes in two quiet minutes`,
  ).toBeGreaterThan(1);
  return all;
}

test.for([0, 1, 2, 3])(
  "no two processes ever hold the Lease at once, and someone always gets it again (25 histories from seed %i00)",
  async (block) => {
    for (let seed = block * 100; seed < block * 100 + 25; seed++) await history(seed);
  },
);
