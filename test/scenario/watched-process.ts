import { setImmediate } from "node:timers/promises";
import { Attempts } from "../../src/apply/attempts.ts";
import type { Reason } from "../../src/model/reason.ts";
import type { Pass, PassResult } from "../../src/model/run.ts";
import { ReusableFacts } from "../../src/observe/reusable-facts.ts";
import type { WriterDeps } from "../../src/pass.ts";
import { pass } from "../../src/reconcile.ts";
import { type LoopPass, type WatchedPass, watchLoop } from "../../src/watch/watch-loop.ts";
import type { WatchPorts } from "./backend.ts";
import { HeldNews } from "./held-news.ts";
import { LoopClock } from "./loop-clock.ts";
import { heldLock } from "./scenario-run.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** As the command has it by default, milliseconds. */
const INTERVAL_MS = 60_000;
const PASS_MS = 120_000;
/** What a single run waits for, too, or never has to. */
const SOON: ReadonlySet<Reason> = new Set(["Settling", "JustDeleted", "StillPublished", "InProgress"]);

/** What a watching process is made of. */
export interface ProcessParts {
  readonly running: ReturnType<VirtualClock["process"]>;
  readonly ports: WatchPorts;
  readonly deps: Omit<WriterDeps, "lock" | "clock">;
}

/** One process of `reconcile --watch`. It stands still unless a scenario lets it go on. */
export class WatchedProcess {
  readonly #parts: ProcessParts;
  readonly #time: LoopClock;
  readonly #news: HeldNews;
  readonly #reusable: ReusableFacts;
  readonly #attempts = new Attempts({ isLasting: true });
  readonly #ending = new AbortController();
  readonly #loop: Promise<void>;
  #isOver = false;
  #turns: { readonly turn: WatchedPass; readonly heardAtStart: number }[] = [];
  #told = Promise.withResolvers<void>();
  #heardAtStart = 0;
  /** When the loop would pass although nothing changes, in its own time. */
  #dueAtMs = 0;
  #beganAtMs = 0;
  /** True until the first turn has ended. */
  #isNew = true;
  /** Whether the last turn asked the providers for everything. */
  #hasLooked = false;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
    this.#time = new LoopClock(parts.running.clock);
    this.#news = new HeldNews(parts.ports.cluster);
    this.#reusable = new ReusableFacts(this.#time);
    const { cluster } = parts.ports;
    this.#loop = watchLoop(
      {
        cluster: { now: () => cluster.now(), onChange: (listener) => this.#news.onChange(listener) },
        clock: this.#time,
        lock: heldLock(),
        pass: (request) => this.#pass(request),
        onPass: (turn) => this.#tell(turn),
        identity: "watcher",
      },
      { intervalMs: INTERVAL_MS, signal: this.#ending.signal },
    ).finally(() => {
      this.#isOver = true;
    });
    this.#loop.catch(() => undefined);
  }

  /**
   * Lets the process see what has changed and act on it, first on what it knows of the providers and then, as after its interval, on a fresh look at them.
   * @param settle - whether to wait for what is held, too, as long as a single run would.
   * @throws what the loop, or its last turn, ended with
   */
  async goOn(settle: boolean): Promise<PassResult> {
    this.#turns = [];
    this.#hasLooked = false;
    if (!this.#isNew) await this.#parts.ports.caughtUp();
    const isPressed = this.#isNew || this.#news.isWaiting || this.#time.monotonicMs() >= this.#dueAtMs;
    this.#news.open();
    if (isPressed) await this.#untilRest(settle);
    if (!this.#hasLooked && !this.#hasFailed()) {
      this.#time.jump(INTERVAL_MS);
      await this.#untilRest(settle);
    }
    this.#news.close();
    // Whatever a person does now comes as an event of its own.
    await setImmediate();
    return this.#result();
  }

  /** Lets so much time pass; meanwhile the process does as it likes. */
  async live(ms: number): Promise<void> {
    const untilMs = this.#time.monotonicMs() + ms;
    this.#news.open();
    while (this.#time.monotonicMs() < untilMs) await this.#nextTurn();
    this.#news.close();
  }

  /** True once the loop has ended by itself. */
  get hasEnded(): boolean {
    return this.#isOver;
  }

  /** Whether the process waits for nothing but changes and its interval. */
  get isIdle(): boolean {
    const last = this.#turns.at(-1)?.turn;
    return last?.kind === "passed" && last.next === undefined;
  }

  /** Ends it as SIGTERM does. */
  async end(): Promise<void> {
    this.#ending.abort();
    this.#parts.running.hold(false);
    await this.#loop.catch(() => undefined);
    this.#parts.ports.close();
  }

  async #pass({ isFullLook, ...manner }: LoopPass): Promise<Pass> {
    const { deps } = this.#parts;
    const deadlineMs = this.#time.monotonicMs() + PASS_MS;
    this.#heardAtStart = this.#news.heard;
    this.#hasLooked = isFullLook;
    if (isFullLook) this.#reusable.forget();
    return await pass(
      { ...deps, clock: this.#time, lock: heldLock(), reusable: this.#reusable, attempts: this.#attempts },
      { selection: {}, deadlineMs, signal: this.#ending.signal, ...manner },
    );
  }

  #tell(turn: WatchedPass): void {
    const nowMs = this.#time.monotonicMs();
    this.#isNew = false;
    this.#dueAtMs = nowMs + (turn.kind === "failed" ? turn.retryInMs : (turn.next?.inMs ?? INTERVAL_MS));
    this.#turns.push({ turn, heardAtStart: this.#heardAtStart });
    this.#parts.running.hold(true);
    const told = this.#told;
    this.#told = Promise.withResolvers();
    told.resolve();
  }

  /** Lets turns happen until one has left nothing to be done now. */
  async #untilRest(settle: boolean): Promise<void> {
    this.#beganAtMs = this.#time.monotonicMs();
    do await this.#nextTurn();
    while (!this.#isAtRest(this.#beganAtMs + (settle ? PASS_MS : 0)));
  }

  async #nextTurn(): Promise<void> {
    const told = this.#told.promise;
    this.#parts.running.hold(false);
    await Promise.race([told, this.#loop]);
    await this.#parts.ports.caughtUp();
  }

  #isAtRest(untilMs: number): boolean {
    const last = this.#turns.at(-1);
    if (last === undefined || last.turn.kind === "failed") return true;
    if (last.heardAtStart < this.#news.heard) return false;
    const { next } = last.turn;
    if (next === undefined) return true;
    const nowMs = this.#time.monotonicMs();
    const isSoon = next.hold !== undefined && SOON.has(next.hold.reason) && nowMs < this.#beganAtMs + PASS_MS;
    return !isSoon && nowMs + next.inMs > untilMs;
  }

  #hasFailed(): boolean {
    return this.#turns.at(-1)?.turn.kind === "failed";
  }

  /** All that was done, as if one pass had done it. */
  #result(): PassResult {
    const turns = this.#turns.map(({ turn }) => turn);
    const last = turns.at(-1);
    if (last?.kind === "failed") throw last.error;
    const results = turns.flatMap((turn) => (turn.kind === "passed" ? [turn.pass.result] : []));
    const [first] = results;
    const end = results.at(-1);
    if (first === undefined || end === undefined) throw new Error("the loop ended without a pass");
    return {
      ...end,
      plan: first.plan,
      outcomes: results.flatMap(({ outcomes }) => outcomes),
      reportFailures: results.flatMap(({ reportFailures }) => reportFailures),
      notices: results.flatMap(({ notices = [] }) => notices),
      wasInterrupted: results.some(({ wasInterrupted }) => wasInterrupted),
    };
  }
}
