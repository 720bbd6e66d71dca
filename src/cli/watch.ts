import { ConfigError, type KubeError } from "../model/errors.ts";
import { TOTALS_ANNOTATION } from "../model/lease-annotations.ts";
import type { Plan } from "../model/plan.ts";
import type { PassResult, RunEnd, Selection } from "../model/run.ts";
import { plain } from "../model/text.ts";
import type { Secrets } from "../ports/system.ts";
import { EXIT, exitCodeOfRun } from "../report/exit-code.ts";
import { runDocument } from "../report/json/run.ts";
import { runMetrics, type Sample, sample } from "../report/metrics/samples.ts";
import { addRun, readTotals } from "../report/metrics/totals.ts";
import { painted } from "../report/text/layout.ts";
import { watchLines } from "../report/text/run.ts";
import { activeText } from "../report/text/summary.ts";
import type { WatchAnswer } from "../watch/watch.ts";
import type { WatchedPass } from "../watch/watch-loop.ts";
import { resolveConfig } from "./config.ts";
import { refuseLimits } from "./confirm.ts";
import { type Endpoints, type ListenAddress, parseListenAddress, serveEndpoints, WatchHealth } from "./endpoints.ts";
import { readVersion } from "./environment.ts";
import { NoticeQueue, Notifier } from "./notify.ts";
import { Outage } from "./outage.ts";
import { redactedSamples, writeDocumentLine, writeLine, writeText } from "./output.ts";
import type { ReconcileFlags } from "./reconcile-flags.ts";
import { isWhole, leaseText, logRun, reportLocked, runRequest } from "./run.ts";
import { resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import { objectTargets } from "./target.ts";
import { Unwritten } from "./unwritten.ts";

/** The time between two looks at the providers by default. */
const INTERVAL_MS = 60_000;

/**
 * Runs `reconcile --watch` until a signal comes, or something that does not pass. Returns the exit code.
 * @param begin - called once something may have been changed
 */
export async function runWatch(
  session: Session,
  names: readonly string[],
  flags: ReconcileFlags,
  begin: () => void,
): Promise<number> {
  checkFlags(session, flags);
  session.progress.end();
  const { env, identity } = session;
  const { interval: intervalMs = INTERVAL_MS, timeout: passMs } = flags;
  const targets = objectTargets(names, "reconcile");
  const address = flags.metricsAddr === undefined ? undefined : parseListenAddress(flags.metricsAddr);
  const notifier = Notifier.create(session, flags);
  notifier?.tellUnreadable();
  const { clock, withWatcher } = await session.loadWiring();
  return withWatcher(resolveConfig(flags, env, session), async ({ cluster, staleness, watch }) => {
    const log = new WatchLog(session);
    const health = new WatchHealth({ clock, intervalMs, passMs, staleness });
    const metrics = new WatchMetrics(() => staleness() === undefined, session.secrets, flags.shard);
    const endpoints = address === undefined ? undefined : await serve(session, address, health, metrics);
    const audience = new NoticeQueue(notifier, cluster, clock);
    try {
      const selection = await resolveSelection(targets, flags, cluster);
      const lease = flags.lock ? leaseText(flags) : undefined;
      if (endpoints !== undefined) log.serving(`port ${endpoints.port}`);
      if (lease !== undefined) log.waiting(lease);
      // The Lease is free when that is over: nobody waits for what is still to be told.
      const answer = await audience.until(
        watch({
          ...runRequest(session, flags, selection, "wait"),
          identity,
          intervalMs,
          passMs,
          onWarm: () => health.beat(true),
          onStandbyFailure: (error, failures) => log.failed(error, failures),
          onLead: () => {
            health.lead();
            metrics.lead();
            log.leading(lease);
          },
          onRun: ({ end }) => metrics.add(end, selection),
          onPass: (pass) => {
            if (pass.kind === "passed") begin();
            health.beat(pass.kind === "passed");
            log.told(pass);
            audience.add(pass);
          },
        }),
      );
      if (answer.kind === "locked") return await reportLocked(session, answer, flags);
      log.stopped(answer);
      return EXIT.done;
    } finally {
      await endpoints?.close();
    }
  });
}

async function serve(
  { secrets }: Session,
  address: ListenAddress,
  health: WatchHealth,
  metrics: WatchMetrics,
): Promise<Endpoints> {
  const { processMetrics } = await import("../adapters/pushgateway/pushgateway.ts");
  const ofProcess = processMetrics();
  return await serveEndpoints(address, {
    metrics: async () => `${await metrics.text()}${await ofProcess()}`,
    health: () => health.health(),
    readiness: () => {
      const { isOK, why } = health.readiness();
      return { isOK, why: secrets.redact(why) };
    },
  });
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
  refuseLimits(flags);
  if (output !== "table" && output !== "wide" && output !== "jsonl")
    refuse(
      `-o ${output} prints one result, and --watch does not end. Use -o jsonl for a document per line, or --log-format json for lines on stderr.`,
    );
}

/** Writes a line per change with time and reason: on a terminal to stdout, in a pod as JSON to stderr; with `-o jsonl` a document per pass that changed something. Silent while nothing changes. */
class WatchLog {
  readonly #session: Session;
  readonly #outage: Outage;
  readonly #unwritten: Unwritten;
  #before: Plan | undefined;

  constructor(session: Session) {
    this.#session = session;
    this.#outage = new Outage(session, "; nothing is changed meanwhile");
    this.#unwritten = new Unwritten(session.wallMs);
  }

  serving(where: string): void {
    writeLine(this.#session, "info", `serves /metrics, /healthz and /readyz on ${where}`);
  }

  waiting(lease: string): void {
    writeLine(this.#session, "info", `waiting for the Lease ${lease}`);
  }

  leading(lease: string | undefined): void {
    const text = lease === undefined ? "passing without a lock" : `holds the Lease ${lease} and passes from now on`;
    writeLine(this.#session, "info", text);
  }

  failed(error: KubeError, failures: number): void {
    this.#outage.failed(error, failures);
  }

  told(pass: WatchedPass): void {
    if (pass.kind === "passed") this.#passed(pass.pass.result);
    else this.failed(pass.error, pass.failures);
  }

  #passed(result: PassResult): void {
    this.#outage.recovered();
    const { lines: style, streams, verbosity, layout, output } = this.#session;
    const unwritten = this.#unwritten.fresh(result.reportFailures);
    const lines = watchLines({ ...result, reportFailures: unwritten }, this.#before).filter(
      ({ isBrief }) => isBrief !== true || verbosity > 0,
    );
    const isFirst = this.#before === undefined;
    this.#before = result.remaining;
    const exitCode = exitCodeOfRun(result, { partialOk: true });
    const isTold = lines.length > 0 || isFirst;
    if (output === "jsonl" && isTold) writeDocumentLine(streams, runDocument(result, exitCode));
    if (style.format === "json" && isTold) logRun(this.#session, result, exitCode, unwritten);
    if (output === "jsonl" || style.format === "json") return;
    const texts = lines.map(({ symbol, text }) => `${painted(symbol, layout.palette)} ${text}`);
    if (isFirst) texts.push(plain(`${activeText(result.remaining)}; watching for changes.`));
    writeText(streams, texts.map((text) => `${style.now()} ${text}\n`).join(""));
  }

  stopped({ isLeaseFree }: Extract<WatchAnswer, { readonly kind: "stopped" }>): void {
    writeLine(this.#session, "info", isLeaseFree === true ? "stopped; the Lease is free" : "stopped");
  }
}

/** Makes `/metrics` of a watching process: the last pass, and totals that go on from those of earlier processes on the Lease. */
export class WatchMetrics {
  readonly #isCurrent: () => boolean;
  readonly #secrets: Secrets;
  readonly #labels: Sample["labels"];
  #isLeading = false;
  #ofPasses: readonly Sample[] = [];

  /**
   * @param isCurrent - whether the lists in memory are known to be those of the cluster.
   * @param shard - the label of every metric, as pushed groups have it.
   */
  constructor(isCurrent: () => boolean, secrets: Secrets, shard: string | undefined) {
    this.#isCurrent = isCurrent;
    this.#secrets = secrets;
    this.#labels = shard === undefined ? {} : { shard };
  }

  lead(): void {
    this.#isLeading = true;
  }

  add(end: RunEnd, selection: Selection): void {
    const whole = isWhole(selection);
    this.#ofPasses = runMetrics({
      version: readVersion(),
      exitCode: exitCodeOfRun(end.result, { partialOk: false }),
      end,
      totals: addRun(readTotals(end.notes[TOTALS_ANNOTATION]), end, whole),
      isWhole: whole,
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
    return metricsText(redactedSamples([...own, ...this.#ofPasses], this.#secrets), this.#labels);
  }
}
