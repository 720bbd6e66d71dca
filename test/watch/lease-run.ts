import type { Clock, LockState } from "../../src/ports/system.ts";
import { type LeaseOptions, withLease } from "../../src/watch/lease.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { LeaseConnection, LeaseMemory } from "./lease-memory.ts";

/** What a test gets: a clock, the Lease, a connection, and a run of the lock whose work ends when told to. */
export interface LeaseWorld {
  readonly clock: FakeClock;
  readonly memory: LeaseMemory;
  readonly connection: LeaseConnection;
}

/** An empty cluster with no Lease; the server's clock is `skewMs` ahead of the local one. */
export function aLeaseWorld(skewMs = 0): LeaseWorld {
  const clock = new FakeClock();
  const memory = new LeaseMemory(clock, skewMs);
  return { clock, memory, connection: new LeaseConnection(memory, clock, "me") };
}

/** Valid options: 15 s, 10 s, 2 s, fail at once, 50 s to wait. */
export function leaseOptions(world: LeaseWorld, changes: Partial<LeaseOptions> = {}): LeaseOptions {
  const clock: Clock = changes.clock ?? world.clock;
  return {
    cluster: world.connection,
    clock,
    namespace: "flipop",
    name: "flipop",
    identity: "me",
    durationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryMs: 2_000,
    onLocked: "fail",
    deadline: clock.monotonicMs() + 50_000,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** A run in the background that holds the lock until `end()`. */
export interface BackgroundRun {
  readonly lock: LockState;
  readonly result: ReturnType<typeof withLease<string>>;
  end(): void;
}

/** Starts a run and lets time pass until its work has begun. */
export async function holdLease(world: LeaseWorld, changes: Partial<LeaseOptions> = {}): Promise<BackgroundRun> {
  const work = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<LockState>();
  const result = withLease(leaseOptions(world, changes), (lock) => {
    begun.resolve(lock);
    return work.promise;
  });
  result.catch(begun.reject);
  const lock = await world.clock.settle(begun.promise);
  return { lock, result, end: () => work.resolve("worked") };
}
