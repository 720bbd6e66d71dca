import { ConfigError, KubeError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import { objectKey } from "../model/resource.ts";
import type { Pass, Settling } from "../model/run.ts";
import { Interrupted } from "../observe/interrupt.ts";
import { type NextLook, nextLook } from "../plan/retries.ts";
import type { ClusterChange, WarmCluster } from "../ports/cluster.ts";
import type { Clock, LockState } from "../ports/system.ts";
import { jittered } from "./lease-acquire.ts";

/** Why a pass was made: something changed, something held was due, the interval was over, or it was the first. */
type Cause =
  | { readonly kind: "start" | "interval" | "again" }
  | { readonly kind: "change"; readonly news: News }
  | { readonly kind: "due"; readonly look: NextLook };

/** One turn of the loop: a pass that was made, or one that could not read the cluster and changed nothing. */
export type Turn =
  | {
      readonly kind: "passed";
      readonly cause: Cause;
      readonly pass: Pass;
      /** What the next pass waits for, if nothing changes before; absent = the interval. */
      readonly next?: NextLook;
    }
  | {
      readonly kind: "failed";
      readonly cause: Cause;
      readonly error: KubeError;
      /** How many turns in a row have failed. */
      readonly failures: number;
      readonly retryInMs: number;
    };

/** What a pass of the loop is made with. */
export interface LoopPass {
  /** True for a full look: the providers are asked for everything anew. Else what earlier passes left is reused. */
  readonly isFullLook: boolean;
  /** Aborted when a change has come that the next pass should see soon: then nothing is waited for. */
  readonly hurry: AbortSignal;
  /** Returns a signal that the next change of the cluster aborts. */
  readonly nextChange: () => AbortSignal;
  /** Says of a plan which record sets are to wait a moment, and until when. */
  readonly settling: Settling;
}

/** What the loop works with. */
export interface WatchLoopDeps {
  readonly cluster: Pick<WarmCluster, "now" | "onChange">;
  readonly clock: Clock;
  readonly lock: LockState;
  /** Makes one pass. */
  readonly pass: (request: LoopPass) => Promise<Pass>;
  /** Told of every turn. */
  readonly tell: (turn: Turn) => void;
  /** Names this process, so that processes do not all try again at once. */
  readonly identity: string;
}

/** The time from one look at the providers to the next, milliseconds; a pass is made at least as often. */
export interface WatchLoopOptions {
  readonly intervalMs: number;
  /** Ends the loop after the pass that is under way. */
  readonly signal: AbortSignal;
}

/** The least time between the beginnings of two passes, milliseconds; lengthened to twice what the last pass cost, so that at most half of the time goes into passes. */
const REST_MS = 50;
/** After passes that leave actions and achieve nothing the next one comes after these, milliseconds; the last one repeats. */
const FRUITLESS_WAITS: readonly number[] = [250, 500, 1000, 2000, 4000, 8000, 15_000, 30_000];

/**
 * Passes whenever something changes, something held is due, or the interval is over; never two at once. Returns when the signal is aborted.
 *
 * @throws ConfigError, and what is no failure of the cluster, as the pass throws it; KubeError `forbidden` of the very first pass; the reason why the lock was lost.
 */
export async function watchLoop(deps: WatchLoopDeps, options: WatchLoopOptions): Promise<void> {
  await new WatchLoop(deps, options).run();
}

class WatchLoop {
  private readonly deps: WatchLoopDeps;
  private readonly options: WatchLoopOptions;
  private readonly alarm: Alarm;
  private readonly settler = new NameSettler();
  private readonly stop: AbortSignal;
  /** When the last full look began. */
  private readAtMs = Number.NEGATIVE_INFINITY;
  private failures = 0;
  private hasPassed = false;
  private fruitlessPasses = 0;

  constructor(deps: WatchLoopDeps, options: WatchLoopOptions) {
    this.deps = deps;
    this.options = options;
    this.alarm = new Alarm(deps.clock);
    this.stop = AbortSignal.any([options.signal, deps.lock.lost]);
  }

  async run(): Promise<void> {
    this.deps.cluster.onChange((change) => this.alarm.ring(change));
    let cause: Cause = { kind: "start" };
    while (!this.stop.aborted) {
      const startMs = this.deps.clock.monotonicMs();
      const turn = await this.turn(cause, startMs);
      if (turn === "interrupted") break;
      this.deps.tell(turn);
      if (this.stop.aborted) break;
      cause = await this.nextCause(turn, startMs);
    }
    if (this.deps.lock.lost.aborted) throw this.deps.lock.lost.reason;
  }

  private async turn(cause: Cause, startMs: number): Promise<Turn | "interrupted"> {
    const isFullLook = startMs - this.readAtMs >= this.options.intervalMs;
    const hurry = this.alarm.rung;
    const settling: Settling = (plan, unread) => this.settler.waiting(plan, unread);
    try {
      const nextChange = (): AbortSignal => this.alarm.next();
      const pass = await this.deps.pass({ hurry, nextChange, settling, isFullLook });
      this.remember(pass, isFullLook ? startMs : this.readAtMs);
      const waits = { leftOverMs: this.leftOverMs(), nextReadInMs: pass.nextReadInMs };
      const look = nextLook(pass.result.remaining, this.deps.cluster.now(), waits);
      return { kind: "passed", cause, pass, ...(look === undefined ? {} : { next: look }) };
    } catch (error) {
      if (error instanceof Interrupted) return "interrupted";
      if (!isPassingFailure(error, this.hasPassed)) throw error;
      this.failures += 1;
      const retryInMs = backoffMs(this.failures, this.deps.identity);
      return { kind: "failed", cause, error, failures: this.failures, retryInMs };
    }
  }

  private remember(pass: Pass, readAtMs: number): void {
    const { outcomes } = pass.result;
    this.readAtMs = readAtMs;
    this.failures = 0;
    this.hasPassed = true;
    this.fruitlessPasses = outcomes.some(({ outcome }) => outcome === "applied") ? 0 : this.fruitlessPasses + 1;
  }

  private leftOverMs(): number {
    return FRUITLESS_WAITS[Math.min(this.fruitlessPasses, FRUITLESS_WAITS.length - 1)] ?? 0;
  }

  private async nextCause(turn: Turn, startMs: number): Promise<Cause> {
    const { clock } = this.deps;
    const costMs = turn.kind === "passed" ? ownWorkMs(turn.pass) : 0;
    await clock.sleep(startMs + Math.max(REST_MS, 2 * costMs) - clock.monotonicMs(), this.stop);
    const endMs = clock.monotonicMs();
    const { ms, cause } =
      turn.kind === "failed" ? { ms: turn.retryInMs, cause: AGAIN } : this.due(turn, startMs, endMs);
    await this.alarm.wait(ms, this.stop);
    const news = this.alarm.take();
    return news.count > 0 ? { kind: "change", news } : cause;
  }

  private due(
    { next }: Extract<Turn, { kind: "passed" }>,
    startMs: number,
    nowMs: number,
  ): { readonly ms: number; readonly cause: Cause } {
    const intervalMs = Math.max(0, startMs + this.options.intervalMs - nowMs);
    if (next === undefined || next.inMs >= intervalMs) return { ms: intervalMs, cause: { kind: "interval" } };
    return { ms: next.inMs, cause: { kind: "due", look: next } };
  }
}

const AGAIN: Cause = { kind: "again" };

/** What a pass cost this process, waits for the providers not counted, milliseconds. */
function ownWorkMs({ result: { timing } }: Pass): number {
  return timing.planMs;
}

/** How many changes are kept by name; of the others only the number matters. */
const KEPT = 10;

/** What has changed since it was last asked; `changes` are the first of `count`, in the order they came. */
interface News {
  readonly changes: readonly ClusterChange[];
  readonly count: number;
}

/** Collects changes of the cluster while a pass runs, and wakes whoever waits for one. */
class Alarm {
  readonly #clock: Clock;
  #changes: ClusterChange[] = [];
  #count = 0;
  #rung = new AbortController();
  #next = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborted by the first change after the last {@link take}. */
  get rung(): AbortSignal {
    return this.#rung.signal;
  }

  /** Returns a signal that the next change aborts, whatever came before. */
  next(): AbortSignal {
    if (this.#next.signal.aborted) this.#next = new AbortController();
    return this.#next.signal;
  }

  ring(change: ClusterChange): void {
    this.#count += 1;
    if (this.#changes.length < KEPT) this.#changes.push(change);
    this.#rung.abort();
    this.#next.abort();
  }

  /** Returns what has changed, and begins anew. */
  take(): News {
    const news = { changes: this.#changes, count: this.#count };
    this.#changes = [];
    this.#count = 0;
    this.#rung = new AbortController();
    return news;
  }

  /** Resolves after `ms`, or as soon as there is a change or the signal is aborted. Never rejects. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, AbortSignal.any([signal, this.#rung.signal]));
  }
}

/** How long the addresses of a record set must have stood still before its records follow, milliseconds. */
const QUIET_MS = 500;
/** The longest that records wait for that, milliseconds. */
const LONGEST_QUIET_MS = 5500;

interface Wish {
  /** The addresses that were wanted last. */
  readonly addresses: string;
  /** Since when it is these, and since when the records differ at all; milliseconds of the plans' clock. */
  readonly sinceMs: number;
  readonly firstMs: number;
}

/**
 * Holds changes of a record set's name back while its nodes are just changing: at DigitalOcean every change costs a list of the name, and many nodes that leave or join one
 * after the other would cost as many. Addresses of pools wait for nothing: they follow their nodes, and their names stay the same.
 */
class NameSettler {
  /** By {@link objectKey} of the record set. */
  #wishes: ReadonlyMap<string, Wish> = new Map();

  /**
   * The record sets whose names are to wait, by {@link objectKey}, and until when, milliseconds.
   *
   * @param unread - record sets of whose records the plan knows nothing yet, by {@link objectKey}: what they wished for before stands
   */
  waiting({ actions, observedAtMs: nowMs }: Plan, unread: ReadonlySet<string>): ReadonlyMap<string, number> {
    const wishes = new Map([...this.#wishes].filter(([key]) => unread.has(key)));
    const waiting = new Map<string, number>();
    for (const action of actions) {
      if (action.kind !== "update-dns" || action.object.kind !== "dns") continue;
      const key = objectKey(action.object);
      const wish = wishFor(this.#wishes.get(key), action.after.addresses.join(), nowMs);
      const untilMs = Math.min(wish.sinceMs + QUIET_MS, wish.firstMs + LONGEST_QUIET_MS);
      if (untilMs <= nowMs) continue;
      wishes.set(key, wish);
      waiting.set(key, untilMs);
    }
    this.#wishes = wishes;
    return waiting;
  }
}

/** A clock that was set back begins the wait anew: nothing waits longer than it may. */
function wishFor(before: Wish | undefined, addresses: string, nowMs: number): Wish {
  if (before === undefined || before.firstMs > nowMs || before.sinceMs > nowMs)
    return { addresses, sinceMs: nowMs, firstMs: nowMs };
  return before.addresses === addresses ? before : { ...before, addresses, sinceMs: nowMs };
}

const FIRST_MS = 800;
const LONGEST_BACKOFF_MS = 5000;

/** How long to wait after so many failures in a row (from 1), milliseconds: twice as long each time, at most 6 s, different for each process. Pure. */
export function backoffMs(failures: number, identity: string): number {
  return jittered(Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_BACKOFF_MS), identity, failures);
}

/**
 * True for a failure of the cluster that a process which goes on waits out. A right that is missing is one only where it has been there before: what never worked
 * does not mend itself, and whoever started the process should see it end.
 */
export function isPassingFailure(error: unknown, hasWorked: boolean): error is KubeError {
  if (error instanceof ConfigError || !(error instanceof KubeError)) return false;
  return hasWorked || (error.failure !== "forbidden" && error.failure !== "unauthorized");
}
