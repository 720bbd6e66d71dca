import { ConfigError } from "../model/errors.ts";
import type { Selection } from "../model/run.ts";
import { EXIT } from "../report/exit-code.ts";
import type { Backend, NotedRun } from "./backend.ts";
import { resolveConfig } from "./config.ts";
import { type Endpoints, serveEndpoints } from "./endpoints.ts";
import type { ReconcileFlags } from "./flags.ts";
import { parseListenAddress } from "./listen-address.ts";
import { lockRequest, reportLocked } from "./locked.ts";
import { runNotes } from "./push-run.ts";
import { selectionFlags } from "./run-plan.ts";
import { resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import { objectTargets } from "./target.ts";
import { WatchHealth } from "./watch-health.ts";
import { WatchMetrics } from "./watch-metrics.ts";
import { WatchVoice } from "./watch-voice.ts";

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
