import { Attempts } from "../apply/attempts.ts";
import type { Limits } from "../apply/context.ts";
import { EventWriter } from "../apply/event-writer.ts";
import type { MeterReading } from "../model/meter.ts";
import type { Pass, PassResult } from "../model/run.ts";
import { ReusableFacts } from "../observe/reusable-facts.ts";
import type { WarmCluster } from "../ports/cluster.ts";
import type { Clock, LockState } from "../ports/system.ts";
import { pass } from "../reconcile.ts";
import { metersSince } from "../report/metrics/samples.ts";
import { NO_LOCK } from "../watch/lease.ts";
import { type WatchAnswer, watch } from "../watch/watch.ts";
import type { LoopPass } from "../watch/watch-loop.ts";
import { type Config, type Runtime, warnOfKeptLease } from "./config.ts";
import { openProviders, readMeters, tokenState, unusableTokens } from "./providers.ts";
import type { NotedRun, RunRequest, WatchRequest } from "./wiring.ts";

interface Watching {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly cluster: WarmCluster;
  readonly request: WatchRequest;
}

/** The Lease of this process; absent before it leads for the first time. */
interface Leading {
  lock?: LockState;
}

/** The providers, and the tokens that there were when they were opened. */
interface Opened {
  readonly providers: Awaited<ReturnType<typeof openProviders>>;
  readonly tokens: ReturnType<typeof tokenState>;
}

/** Watches a cluster whose lists are kept in memory. The providers stay open from pass to pass, with their counts and limits. */
export async function watchCluster(watching: Watching): Promise<WatchAnswer> {
  const { config, runtime, cluster, request } = watching;
  const leading: Leading = {};
  const opened = await open(watching, leading);
  const lead = (lock: LockState): ((manner: LoopPass) => Promise<Pass>) => {
    leading.lock = lock;
    const passes = new WatchedPasses(watching, lock, opened);
    return (manner) => passes.pass(manner);
  };
  const onKept = (error: unknown): void => warnOfKeptLease(config, error);
  const { annotateFailure } = request;
  const lease =
    request.lock === undefined
      ? undefined
      : { ...config.lease, ...request.lock, shard: config.shard, onKept, annotateFailure };
  return watch({ ...request, cluster, clock: runtime.clock, lead }, lease, request);
}

async function open({ config, runtime }: Watching, leading: Leading): Promise<Opened> {
  const tokens = tokenState(config);
  return { tokens, providers: await openProviders(config, runtime, () => leading.lock?.isHeld() === true) };
}

/** The passes of one process while it leads: what each needs of those before it. */
class WatchedPasses {
  readonly #watching: Watching;
  readonly #lock: LockState;
  readonly #recorder: PassRecorder;
  readonly #reusable: ReusableFacts;
  readonly #attempts = new Attempts({ isLasting: true });
  readonly #limits: Limits = new Map();
  readonly #events: EventWriter;
  #opened: Opened;

  constructor(watching: Watching, lock: LockState, opened: Opened) {
    const { runtime, cluster, request } = watching;
    this.#watching = watching;
    this.#lock = lock;
    this.#opened = opened;
    this.#reusable = new ReusableFacts(runtime.clock);
    this.#events = new EventWriter(cluster, runtime.clock);
    this.#recorder = new PassRecorder({
      clock: runtime.clock,
      lock,
      now: () => cluster.now(),
      readMeters: () => readMeters(this.#opened.providers.meters),
      annotate: request.annotate,
      intervalMs: request.intervalMs,
    });
  }

  async pass({ isFullLook, ...manner }: LoopPass): Promise<Pass> {
    const { config, runtime, cluster, request } = this.#watching;
    const { clock } = runtime;
    await this.#followTokens(isFullLook);
    const startMs = clock.monotonicMs();
    const { meters: _, ...access } = this.#opened.providers;
    // As long as the providers need not be asked anew the Lease need not be, either: nobody else writes what this process renews.
    const notes = isFullLook || this.#lock === NO_LOCK ? undefined : this.#lock.annotations();
    const memory = {
      reusable: this.#reusable,
      attempts: this.#attempts,
      limits: this.#limits,
      events: this.#events,
    };
    const { lease: leaseName, shard, grants = "off" } = config;
    const made = await pass(
      { cluster, ...access, clock, lock: this.#lock, leaseName, shard, grants, ...memory, notes },
      { selection: request.selection, deadlineMs: startMs + request.passMs, signal: request.signal, ...manner },
    );
    const result = { ...made.result, unusableTokens: unusableTokens(config) };
    request.onRun(await this.#recorder.record(result, startMs));
    return { ...made, result };
  }

  /** Opens the providers anew when a token appears or is gone. What another token was refused, this one may be allowed. */
  async #followTokens(isFullLook: boolean): Promise<void> {
    const tokens = tokenState(this.#watching.config);
    const hasOthers = tokens.fingerprint !== this.#opened.tokens.fingerprint;
    if (isFullLook || hasOthers) this.#reusable.forget(hasOthers);
    const isOther = tokens.present !== this.#opened.tokens.present;
    this.#opened = isOther ? await open(this.#watching, { lock: this.#lock }) : { ...this.#opened, tokens };
  }
}

interface PassRecorderDeps {
  readonly clock: Clock;
  readonly lock: LockState;
  /** By the API server's clock, milliseconds. */
  readonly now: () => number;
  /** Returns the meters since the process began. */
  readonly readMeters: () => readonly MeterReading[];
  readonly annotate: RunRequest["annotate"];
  readonly intervalMs: number;
}

/**
 * Writes onto the Lease how the passes of a watching process went: after each that did something, and else once per interval, so that idle passes write
 * nothing more than the renewals do. A record holds what was counted since the one before.
 */
export class PassRecorder {
  readonly #deps: PassRecorderDeps;
  #recorded: readonly MeterReading[] = [];
  #recordedAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: PassRecorderDeps) {
    this.#deps = deps;
  }

  /** Never rejects: a record that cannot be written changes nothing of the pass. */
  async record(result: PassResult, startMs: number): Promise<NotedRun> {
    const { clock, lock, now, readMeters: read, annotate, intervalMs } = this.#deps;
    const meters = read();
    const nowMs = clock.monotonicMs();
    const end = {
      result,
      endedAtMs: now(),
      durationMs: nowMs - startMs,
      meters: metersSince(this.#recorded, meters),
      notes: lock.annotations(),
    };
    const isDue = result.outcomes.length > 0 || nowMs - this.#recordedAtMs >= intervalMs;
    if (!isDue || !lock.isHeld()) return { end, isNoted: false };
    try {
      await lock.annotate(annotate(end));
    } catch {
      return { end, isNoted: false };
    }
    this.#recorded = meters;
    this.#recordedAtMs = nowMs;
    return { end, isNoted: true };
  }
}
