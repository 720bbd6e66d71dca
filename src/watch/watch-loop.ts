import { refKey, type WriteDNS } from "../model/action.ts";
import { addressesWithout } from "../model/dns.ts";
import { ConfigError, KubeError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { Pass, Settling, SettlingFacts } from "../model/run.ts";
import { WAITS, waitMs } from "../model/waits.ts";
import { Interrupted } from "../observe/interrupt.ts";
import { fruitless, type NextLook, nextLook } from "../plan/next-look.ts";
import type { ClusterChange, WarmCluster } from "../ports/cluster.ts";
import type { Clock, LockState } from "../ports/system.ts";
import { isRefusal, jittered } from "./lease-record.ts";

/*
 * When does the watcher pass? After a rest, as soon as the first of these comes:
 *
 *   cause      comes
 *   start      at once, when the process has the lock
 *   change     when a list in memory has changed in a way that a plan can see
 *   due        when something held is due: a retry, a cool-off, the end of a grace, a status that was refused or held back; after a pass that achieved
 *              nothing, 250 ms to 30 s later
 *   interval   `--interval` after the start of the last pass; then the providers are asked for everything anew
 *   again      0.8 to 6 s after a pass that could not read the cluster, longer each time
 *
 * Two passes never run at once. A rest lasts 50 ms from the start of a pass, or twice what its planning cost, so that at most half of the time goes
 * into passes. A change during a pass ends its waits for providers, not its actions; the next pass sees it.
 */

/** Why a pass was made. */
type Cause =
  | { readonly kind: "start" | "interval" | "again" }
  | { readonly kind: "change"; readonly changes: Changes }
  | { readonly kind: "due"; readonly look: NextLook };

/** A pass of the loop, or an attempt that could not read the cluster and changed nothing. */
export type WatchedPass =
  | {
      readonly kind: "passed";
      readonly cause: Cause;
      readonly pass: Pass;
      /** The reason and time of the next pass if nothing changes before; absent = the interval. */
      readonly next?: NextLook;
    }
  | {
      readonly kind: "failed";
      readonly cause: Cause;
      readonly error: KubeError;
      /** How many passes in a row have failed. */
      readonly failures: number;
      readonly retryInMs: number;
    };

/** The manner of one pass of the loop. */
export interface LoopPass {
  /** True for a full look: the providers are asked for everything anew. Else what earlier passes left is reused. */
  readonly isFullLook: boolean;
  /** Aborted when a change has come that the next pass should see soon: then nothing is waited for. */
  readonly hurry: AbortSignal;
  /** Returns a signal that the next change of the cluster aborts. */
  readonly nextChange: () => AbortSignal;
  /** Returns which objects of a plan must wait a moment, and until when. */
  readonly settling: Settling;
}

/** The collaborators of the loop. */
export interface WatchLoopDeps {
  readonly cluster: Pick<WarmCluster, "now" | "onChange">;
  readonly clock: Clock;
  readonly lock: LockState;
  readonly pass: (manner: LoopPass) => Promise<Pass>;
  /** Called after each pass. */
  readonly onPass: (pass: WatchedPass) => void;
  /** Names this process, so that processes do not all try again at once. */
  readonly identity: string;
}

/** The time from one look at the providers to the next, milliseconds; a pass is made at least as often. */
export interface WatchLoopOptions {
  readonly intervalMs: number;
  /** Ends the loop after the pass that is under way. */
  readonly signal: AbortSignal;
}

/** The least time between the beginnings of two passes, milliseconds. */
const REST_MS = 50;

/**
 * Passes until the signal is aborted or the lock is lost.
 *
 * @throws ConfigError, and what is no failure of the cluster, as the pass throws it; KubeError `forbidden` of the very first pass; the reason why the lock was lost.
 */
export async function watchLoop(deps: WatchLoopDeps, options: WatchLoopOptions): Promise<void> {
  await new WatchLoop(deps, options).run();
}

class WatchLoop {
  readonly #deps: WatchLoopDeps;
  readonly #intervalMs: number;
  readonly #stop: AbortSignal;
  readonly #signal: ChangeSignal;
  readonly #debounce = new DNSDebounce();
  readonly #departures = new Departures();
  /** When the last full look began. */
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #hasPassed = false;
  #fruitlessPasses = 0;

  constructor(deps: WatchLoopDeps, { intervalMs, signal }: WatchLoopOptions) {
    this.#deps = deps;
    this.#intervalMs = intervalMs;
    this.#stop = AbortSignal.any([signal, deps.lock.lost]);
    this.#signal = new ChangeSignal(deps.clock);
  }

  async run(): Promise<void> {
    const { cluster, clock, lock, onPass } = this.#deps;
    cluster.onChange((change) => this.#signal.add(change));
    let cause: Cause = { kind: "start" };
    while (!this.#stop.aborted) {
      const startMs = clock.monotonicMs();
      const made = await this.#pass(cause, startMs);
      if (made === "interrupted") break;
      onPass(made);
      if (this.#stop.aborted) break;
      cause = await this.#nextCause(made, startMs);
    }
    if (lock.lost.aborted) throw lock.lost.reason;
  }

  async #pass(cause: Cause, startMs: number): Promise<WatchedPass | "interrupted"> {
    const { cluster, identity } = this.#deps;
    const isFullLook = startMs - this.#lookedAtMs >= this.#intervalMs;
    try {
      const pass = await this.#deps.pass({
        isFullLook,
        hurry: this.#signal.changed,
        nextChange: () => this.#signal.nextChange(),
        settling: (plan, known) => new Map([...this.#debounce.waiting(plan, known), ...this.#departures.waiting(plan)]),
      });
      if (isFullLook) this.#lookedAtMs = startMs;
      this.#remember(pass);
      const leftOverMs = waitMs(WAITS.fruitlessPass, this.#fruitlessPasses);
      const { nextReadInMs, nextStatusMs } = pass;
      const next = nextLook(pass.result.remaining, cluster.now(), { leftOverMs, nextReadInMs, nextStatusMs });
      return { kind: "passed", cause, pass, ...(next === undefined ? {} : { next }) };
    } catch (error) {
      if (error instanceof Interrupted) return "interrupted";
      if (!isPassingFailure(error, this.#hasPassed)) throw error;
      this.#failures += 1;
      const retryInMs = backoffMs(this.#failures, identity);
      return { kind: "failed", cause, error, failures: this.#failures, retryInMs };
    }
  }

  #remember({ result }: Pass): void {
    this.#failures = 0;
    this.#hasPassed = true;
    this.#fruitlessPasses = fruitless(result, this.#fruitlessPasses);
  }

  /** Rests, then waits until there is a reason to pass. */
  async #nextCause(made: WatchedPass, startMs: number): Promise<Cause> {
    const { clock } = this.#deps;
    // What the pass cost this process; waits for the providers do not count.
    const costMs = made.kind === "passed" ? made.pass.result.timing.planMs : 0;
    await clock.sleep(startMs + Math.max(REST_MS, 2 * costMs) - clock.monotonicMs(), this.#stop);
    const { inMs, cause } = this.#timer(made, startMs);
    await this.#signal.wait(inMs, this.#stop);
    const changes = this.#signal.take();
    return changes.count > 0 ? { kind: "change", changes } : cause;
  }

  /** Returns when to pass if nothing changes, and why then. */
  #timer(made: WatchedPass, startMs: number): { readonly inMs: number; readonly cause: Cause } {
    if (made.kind === "failed") return { inMs: made.retryInMs, cause: { kind: "again" } };
    const intervalMs = Math.max(0, startMs + this.#intervalMs - this.#deps.clock.monotonicMs());
    const { next } = made;
    if (next === undefined || next.inMs >= intervalMs) return { inMs: intervalMs, cause: { kind: "interval" } };
    return { inMs: next.inMs, cause: { kind: "due", look: next } };
  }
}

/** The number of changes that are kept by name; the others are counted. */
const KEPT = 10;

/** The changes since the last {@link ChangeSignal.take}; `changes` are the first of `count`, in the order they came. */
interface Changes {
  readonly changes: readonly ClusterChange[];
  readonly count: number;
}

/** Collects changes of the cluster while a pass runs, and wakes the loop. */
class ChangeSignal {
  readonly #clock: Clock;
  #changes: ClusterChange[] = [];
  #count = 0;
  #changed = new AbortController();
  #next = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborted by the first change after the last {@link take}. */
  get changed(): AbortSignal {
    return this.#changed.signal;
  }

  /** Returns a signal that the next change aborts, whatever came before. */
  nextChange(): AbortSignal {
    if (this.#next.signal.aborted) this.#next = new AbortController();
    return this.#next.signal;
  }

  add(change: ClusterChange): void {
    this.#count += 1;
    if (this.#changes.length < KEPT) this.#changes.push(change);
    this.#changed.abort();
    this.#next.abort();
  }

  /** Returns what has changed, and begins anew. */
  take(): Changes {
    const taken = { changes: this.#changes, count: this.#count };
    this.#changes = [];
    this.#count = 0;
    this.#changed = new AbortController();
    return taken;
  }

  /** Resolves after `ms`, or as soon as there is a change or the signal is aborted. Never rejects. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, AbortSignal.any([signal, this.#changed.signal]));
  }
}

/** The time without a change of its addresses after which the records of a set follow, milliseconds. */
const QUIET_MS = 500;
/** The longest that records wait for that, milliseconds. */
const LONGEST_QUIET_MS = 5500;
/** So long after a node had to rest its address is still one of those that come and go, milliseconds. */
const RESTED_MS = 60_000;

interface Desired {
  /** The addresses that were desired last. */
  readonly addresses: string;
  /** Since when it is these, and since when the records differ at all; milliseconds of the plans' clock. */
  readonly sinceMs: number;
  readonly firstMs: number;
}

/**
 * Delays changes of a record set's name until its addresses stop changing: at DigitalOcean every change costs a list of the name, and many nodes that
 * leave or join one after the other would cost as many. While nodes of a set have to rest it is quiet between their changes, and no reason to write the name so soon after the
 * last time; what leaves or joins with any other node waits no longer for that. Addresses of pools wait for nothing: they follow their nodes, and their names stay the same.
 */
class DNSDebounce {
  /** By {@link refKey} of the record set. */
  #desired: ReadonlyMap<string, Desired> = new Map();
  /** By the same: when a change was let go last, milliseconds of the plans' clock. */
  readonly #lastMs = new Map<string, number>();
  /** By the same, by address: when its node had to rest last, milliseconds of the plans' clock. */
  readonly #restedMs = new Map<string, Map<string, number>>();

  /**
   * Returns the record sets whose names must wait, by {@link refKey}, and until when, milliseconds. Of those whose records the plan knows nothing of yet, what they desired
   * before stands.
   */
  waiting(
    { actions, recordSets, observedAtMs: nowMs }: Plan,
    { unread, begun }: SettlingFacts,
  ): ReadonlyMap<string, number> {
    const restless = new Map(recordSets.flatMap((set) => (set.restless ? [[refKey(set.object), set.restless]] : [])));
    for (const [key, addresses] of restless) this.#noteRest(key, addresses, nowMs);
    const desired = new Map([...this.#desired].filter(([key]) => unread.has(key)));
    const waiting = new Map<string, number>();
    this.#forget(nowMs);
    for (const action of actions) {
      if (action.kind !== "update-dns" || action.object.kind !== "dns") continue;
      const key = refKey(action.object);
      if (begun.has(key)) continue;
      const now = desiredNow(this.#desired.get(key), action.after.addresses.join(), nowMs);
      const untilMs = this.#untilMs(now, this.#isOfRestless(action, key, restless) ? this.#lastMs.get(key) : undefined);
      if (untilMs <= nowMs) {
        this.#lastMs.set(key, nowMs);
        continue;
      }
      desired.set(key, now);
      waiting.set(key, untilMs);
    }
    this.#desired = desired;
    return waiting;
  }

  /** @param lastMs - where the change waits for the one before, too */
  #untilMs({ sinceMs, firstMs }: Desired, lastMs = 0): number {
    return Math.min(Math.max(sinceMs + QUIET_MS, lastMs + LONGEST_QUIET_MS), firstMs + LONGEST_QUIET_MS);
  }

  /** True where nodes of a set have to rest, and no address of another one leaves its name, or of one that has not had to lately joins it. */
  #isOfRestless({ before, after }: WriteDNS, key: string, restless: ReadonlyMap<string, readonly string[]>): boolean {
    const now = restless.get(key);
    if (now === undefined) return false;
    const lately = [...(this.#restedMs.get(key)?.keys() ?? [])];
    const leaving = addressesWithout(before.addresses, after.addresses);
    const joining = addressesWithout(after.addresses, before.addresses);
    return addressesWithout(leaving, now).length === 0 && addressesWithout(joining, lately).length === 0;
  }

  #noteRest(key: string, addresses: readonly string[], nowMs: number): void {
    const rested = this.#restedMs.get(key) ?? new Map<string, number>();
    for (const address of addresses) rested.set(address, nowMs);
    this.#restedMs.set(key, rested);
  }

  #forget(nowMs: number): void {
    forgetAfter(LONGEST_QUIET_MS, this.#lastMs, nowMs);
    for (const [key, rested] of this.#restedMs) {
      forgetAfter(RESTED_MS, rested, nowMs);
      if (rested.size === 0) this.#restedMs.delete(key);
    }
  }
}

/** Forgets what is older than that, or, by a clock that was set back, newer. */
function forgetAfter(ms: number, times: Map<string, number>, nowMs: number): void {
  for (const [key, atMs] of times) if (Math.abs(nowMs - atMs) >= ms) times.delete(key);
}

/** A clock that was set back begins the wait anew: nothing waits longer than it may. */
function desiredNow(before: Desired | undefined, addresses: string, nowMs: number): Desired {
  if (before === undefined || before.firstMs > nowMs || before.sinceMs > nowMs)
    return { addresses, sinceMs: nowMs, firstMs: nowMs };
  return before.addresses === addresses ? before : { ...before, addresses, sinceMs: nowMs };
}

/** How long an object must have been gone before what it left on nodes is cleared, milliseconds. */
const GONE_MS = 5000;

/**
 * Delays the clearing of what a deleted object left on nodes: `kubectl replace --force` and its like delete an object and make it again a moment later, and only by what the nodes
 * say of it does the new one find the addresses that the old one acquired. Without, it would acquire others.
 */
class Departures {
  /** {@link refKey} of the objects that the plan before knew. */
  #known: ReadonlySet<string> = new Set();
  /** By {@link refKey} of an object that is gone: when what it left may be cleared, milliseconds of the plans' clock. */
  #untilMs: ReadonlyMap<string, number> = new Map();

  /** Returns the objects whose traces would be cleared and must stay, by {@link refKey}, and until when, milliseconds. */
  waiting({ actions, pools, observedAtMs: nowMs }: Plan): ReadonlyMap<string, number> {
    const known = new Set(pools.map(({ object }) => refKey(object)));
    const gone = [...this.#known].map((key) => [key, nowMs + GONE_MS] as const);
    const untilMs = [...gone, ...this.#untilMs].filter(([key, ms]) => !known.has(key) && ms > nowMs);
    this.#known = known;
    // A clock that was set back makes nothing wait longer than it may.
    this.#untilMs = new Map(untilMs.map(([key, ms]) => [key, Math.min(ms, nowMs + GONE_MS)]));
    const cleared = new Set(
      actions.filter(({ kind }) => kind === "clear-annotation").map(({ object }) => refKey(object)),
    );
    return new Map([...this.#untilMs].filter(([key]) => cleared.has(key)));
  }
}

/** Returns how long to wait after so many failures in a row (from 1), milliseconds: twice as long each time, at most 6 s, different for each process. Pure. */
export function backoffMs(failures: number, identity: string): number {
  return jittered(waitMs(WAITS.failedPass, failures - 1), identity, failures);
}

/**
 * True for a failure of the cluster that a process which goes on waits out. A right that is missing is one only where it has been there before: what never worked
 * does not mend itself, and whoever started the process should see it end.
 */
export function isPassingFailure(error: unknown, hasWorked: boolean): error is KubeError {
  if (error instanceof ConfigError || !(error instanceof KubeError)) return false;
  return hasWorked || !isRefusal(error);
}
