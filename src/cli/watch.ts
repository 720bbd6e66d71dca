import { ConfigError, type KubeError } from "../model/errors.ts";
import { TOTALS_ANNOTATION } from "../model/lease-annotations.ts";
import type { MeterReading } from "../model/meter.ts";
import type { Plan } from "../model/plan.ts";
import type { PassResult, Selection } from "../model/run.ts";
import type { Clock, LockState, Secrets } from "../ports/system.ts";
import { EXIT, exitCodeOfRun } from "../report/exit-code.ts";
import { metersSince, runMetrics, type Sample, sample } from "../report/metrics/samples.ts";
import { addRun, readTotals } from "../report/metrics/totals.ts";
import { watchLines } from "../report/text/run.ts";
import { activeText } from "../report/text/summary.ts";
import type { Turn } from "../watch/watch-loop.ts";
import { resolveConfig } from "./config.ts";
import { type Endpoints, parseListenAddress, serveEndpoints, WatchHealth } from "./endpoints.ts";
import { readVersion } from "./environment.ts";
import { redactedSamples, writeLine, writeLines } from "./output.ts";
import { selectionFlags } from "./plan.ts";
import type { ReconcileFlags } from "./program.ts";
import { runNotes } from "./push.ts";
import { lockRequest, logRun, reportLocked } from "./run-log.ts";
import { objectTargets, resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import type { Backend, NotedRun, WatchRequest } from "./wiring.ts";

/** How often the providers are looked at when nothing says otherwise. */
const INTERVAL_MS = 60_000;

type World = Parameters<Parameters<Backend["withWatchWorld"]>[1]>[0];

/** Runs `reconcile --watch` until a signal comes, or something that does not pass. Returns the exit code. */
export async function runWatch(session: Session, names: readonly string[], flags: ReconcileFlags): Promise<number> {
  checkFlags(session, flags);
  const { invocation } = session;
  const { interval: intervalMs = INTERVAL_MS } = flags;
  const targets = objectTargets(names, "reconcile");
  const address = flags.metricsAddr === undefined ? undefined : parseListenAddress(flags.metricsAddr);
  const backend = await invocation.loadBackend();
  return backend.withWatchWorld(resolveConfig(flags, invocation.env, session), async (world) => {
    const health = new WatchHealth({
      clock: backend.clock,
      intervalMs,
      passMs: flags.timeout,
      staleness: () => world.staleness(),
    });
    const metrics = new WatchMetrics(() => world.staleness() === undefined, session.secrets);
    const sources = {
      metrics: () => metrics.text(),
      health: () => health.health(),
      readiness: () => {
        const { isOK, why } = health.readiness();
        return { isOK, why: session.secrets.redact(why) };
      },
    };
    const endpoints = address === undefined ? undefined : await serveEndpoints(address, sources);
    try {
      const selection = await resolveSelection(selectionFlags(targets, flags), world.cluster);
      return await watchUntilEnd(session, flags, { intervalMs, world, selection, health, metrics, endpoints });
    } finally {
      await endpoints?.close();
    }
  });
}

interface Parts {
  readonly intervalMs: number;
  readonly world: World;
  readonly selection: Selection;
  readonly health: WatchHealth;
  readonly metrics: WatchMetrics;
  readonly endpoints: Endpoints | undefined;
}

async function watchUntilEnd(session: Session, flags: ReconcileFlags, parts: Parts): Promise<number> {
  const { intervalMs, world, selection, health, metrics, endpoints } = parts;
  const { invocation } = session;
  const voice = new WatchVoice(session);
  const lease = flags.lock ? `${flags.leaseNamespace}/${flags.leaseName}` : undefined;
  if (endpoints !== undefined) voice.serving(`port ${endpoints.port}`);
  if (lease !== undefined) voice.waiting(lease);
  const answer = await world.watch({
    selection,
    identity: invocation.identity,
    intervalMs,
    passMs: flags.timeout,
    signal: invocation.signal,
    ...(flags.lock ? { lock: lockRequest(invocation.identity, flags, flags.onLocked ?? "wait") } : {}),
    annotate: (end) => runNotes(end, selection, invocation.signal),
    onLead: () => {
      health.lead();
      metrics.lead();
      voice.leading(lease);
    },
    onRun: (noted: NotedRun) => metrics.add(noted, selection),
    onTurn: (turn) => {
      health.beat(turn.kind === "passed");
      voice.turn(turn);
    },
    onWarm: () => health.beat(true),
    onStandbyFailure: (error, failures) => voice.failure(error, failures),
  });
  return answer.kind === "locked" ? reportLocked(session, answer.holder, flags) : EXIT.done;
}

/** @throws ConfigError `usage` for flags that mean something for a single run only */
function checkFlags({ output }: Session, flags: ReconcileFlags): void {
  const refuse = (why: string): never => {
    throw new ConfigError("usage", why);
  };
  if (flags.settle === true)
    refuse("--settle is for a single run: --watch waits for what is held anyway. Leave it out.");
  if (flags.pushgateway !== undefined)
    refuse("--pushgateway is for single runs: with --watch Prometheus scrapes --metrics-addr. Leave one of them out.");
  if (output !== "table" && output !== "wide")
    refuse(
      `-o ${output} prints one document, and --watch does not end. Use --log-format json for lines that programs read.`,
    );
}

const LEVELS = { info: "", warn: "held: ", error: "failed: " } as const;

/** What a watching process says: a line per change with time and reason, on a terminal to stdout, in a pod as JSON lines to stderr. Silent while nothing changes. */
export class WatchVoice {
  readonly #session: Session;
  #before: Plan | undefined;
  #failed: { readonly sinceMs: number } | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  waiting(lease: string): void {
    this.#say("info", `waiting for the Lease ${lease}`);
  }

  leading(lease: string | undefined): void {
    this.#say(
      "info",
      lease === undefined ? "passing without a lock" : `holds the Lease ${lease} and passes from now on`,
    );
  }

  serving(where: string): void {
    this.#say("info", `serves /metrics, /healthz and /readyz on ${where}`);
  }

  turn(turn: Turn): void {
    if (turn.kind === "failed") this.failure(turn.error, turn.failures);
    else this.#passed(turn.pass.result);
  }

  /** Told at the first failure in a row, and then ever more rarely. */
  failure(error: KubeError, failures: number): void {
    this.#failed ??= { sinceMs: this.#session.invocation.wallMs() };
    if ((failures & (failures - 1)) !== 0) return;
    const times = failures === 1 ? "" : ` (${failures} times in a row)`;
    this.#say("warn", `The cluster cannot be read; nothing is changed meanwhile${times}. ${error.message}`);
  }

  #passed(result: PassResult): void {
    this.#recovered();
    const lines = watchLines(result, this.#before);
    const isFirst = this.#before === undefined;
    this.#before = result.remaining;
    if (this.#session.lines.format === "json") {
      const exitCode = exitCodeOfRun(result, { partialOk: true });
      if (lines.length > 0 || isFirst) logRun(this.#session, result, exitCode);
      return;
    }
    for (const { level, object, text } of lines) this.#print(`${LEVELS[level]}${object}: ${text}`);
    if (isFirst) this.#print(`${activeText(result.remaining)}; watching for changes.`);
  }

  #recovered(): void {
    if (this.#failed === undefined) return;
    const seconds = Math.round((this.#session.invocation.wallMs() - this.#failed.sinceMs) / 1000);
    this.#failed = undefined;
    this.#say("info", `the cluster can be read again after ${seconds}s`);
  }

  #print(text: string): void {
    const { invocation, lines } = this.#session;
    writeLines(invocation.streams, [`${lines.now()} ${text}`]);
  }

  #say(level: "info" | "warn", text: string): void {
    writeLine(this.#session.invocation.streams, this.#session.lines, level, text);
  }
}

/** What notes are made of. */
export interface WatchNotesDeps {
  readonly clock: Clock;
  readonly lock: LockState;
  /** By the API server's clock, milliseconds. */
  readonly now: () => number;
  /** What the meters show since the process began. */
  readonly readMeters: () => readonly MeterReading[];
  readonly annotate: WatchRequest["annotate"];
  readonly intervalMs: number;
}

/**
 * Leaves on the Lease how the passes of a watching process went: after each that did something, and else once per interval, so that idle passes write nothing more than
 * the renewals do. What was counted in between is in the next note.
 */
export class WatchNotes {
  readonly #deps: WatchNotesDeps;
  #noted: readonly MeterReading[] = [];
  #notedAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: WatchNotesDeps) {
    this.#deps = deps;
  }

  /** Never rejects: a note that cannot be left changes nothing of the pass. */
  async note(result: PassResult, startMs: number): Promise<NotedRun> {
    const { clock, lock, annotate, intervalMs } = this.#deps;
    const meters = this.#deps.readMeters();
    const nowMs = clock.monotonicMs();
    const end = {
      result,
      endedAtMs: this.#deps.now(),
      durationMs: nowMs - startMs,
      meters: metersSince(this.#noted, meters),
      notes: lock.annotations(),
    };
    const isDue = result.outcomes.length > 0 || nowMs - this.#notedAtMs >= intervalMs;
    if (!isDue || !lock.isHeld()) return { end, isNoted: false };
    try {
      await lock.annotate(annotate(end));
    } catch {
      return { end, isNoted: false };
    }
    this.#noted = meters;
    this.#notedAtMs = nowMs;
    return { end, isNoted: true };
  }
}

/** What `/metrics` of a watching process shows: the last pass, and totals that go on from what the Lease has of earlier processes. */
export class WatchMetrics {
  readonly #isCurrent: () => boolean;
  readonly #secrets: Secrets;
  #isLeading = false;
  #ofPasses: readonly Sample[] = [];

  /** @param isCurrent - whether the lists in memory are known to be those of the cluster. */
  constructor(isCurrent: () => boolean, secrets: Secrets) {
    this.#isCurrent = isCurrent;
    this.#secrets = secrets;
  }

  lead(): void {
    this.#isLeading = true;
  }

  add({ end }: NotedRun, selection: Selection): void {
    const isWhole = Object.keys(selection).length === 0;
    this.#ofPasses = runMetrics({
      version: readVersion(),
      exitCode: exitCodeOfRun(end.result, { partialOk: false }),
      end,
      totals: addRun(readTotals(end.notes[TOTALS_ANNOTATION]), end, isWhole),
      isWhole,
    });
  }

  /** In Prometheus' text format. */
  async text(): Promise<string> {
    const { metricsText } = await import("../adapters/pushgateway/pushgateway.ts");
    const own = [
      ...(this.#ofPasses.length > 0 ? [] : [sample("flipop_build_info", { version: readVersion() }, 1)]),
      sample("flipop_leader", {}, this.#isLeading ? 1 : 0),
      sample("flipop_cluster_current", {}, this.#isCurrent() ? 1 : 0),
    ];
    return metricsText(redactedSamples([...own, ...this.#ofPasses], this.#secrets));
  }
}
