import type { Push, PushTarget } from "../adapters/pushgateway/pushgateway.ts";
import { TOTALS_ANNOTATION } from "../model/lease-annotations.ts";
import type { RunEnd, Selection } from "../model/run.ts";
import type { Clock } from "../ports/system.ts";
import { exitCodeOfError } from "../report/exit-code.ts";
import { runMetrics } from "../report/metrics/run-metrics.ts";
import { runSamples } from "../report/metrics/run-samples.ts";
import type { Sample } from "../report/metrics/sample.ts";
import { addRun, type Totals } from "../report/metrics/totals.ts";
import { readTotals, writeTotals } from "../report/metrics/totals-note.ts";
import type { NotedRun } from "./backend.ts";
import { exitCodeOfEnd, lastRunAnnotations } from "./last-run.ts";
import { redactedSamples } from "./outgoing-text.ts";
import type { Session } from "./session.ts";
import { readVersion } from "./version.ts";
import { writeLine } from "./write.ts";

/** Returns what a run leaves on its Lease: how it went, and what is counted over all runs. `signal` is the one that ends it early. */
export function runNotes(end: RunEnd, selection: Selection, signal: AbortSignal): Readonly<Record<string, string>> {
  const exitCode = exitCodeOfEnd(end.result, { signal, partialOk: false });
  return {
    ...lastRunAnnotations(exitCode, end.endedAtMs),
    [TOTALS_ANNOTATION]: writeTotals(addRun(storedTotals(end), end, isWhole(selection))),
  };
}

/**
 * Pushes what a run tells. A run over everything replaces the group, so that objects that are gone leave nothing behind; its totals and last success come from the
 * Lease. A run for some objects replaces only the metrics that are not about objects. A failure is a line on stderr and nothing else.
 */
export async function pushRun(
  session: Session,
  { target, clock }: Pushing,
  { end, isNoted }: NotedRun,
  selection: Selection,
): Promise<void> {
  const stored = storedTotals(end);
  const whole = isWhole(selection);
  const samples = runMetrics({
    version: readVersion(),
    exitCode: exitCodeOfEnd(end.result, { signal: session.invocation.signal, partialOk: false }),
    end,
    // What is not on record would be missing from the next push, and a counter that goes down passes for one that began anew.
    totals: isNoted ? addRun(stored, end, whole) : stored,
    isWhole: whole,
  });
  await push(session, { target, clock }, whole ? "PUT" : "POST", samples);
}

/** Pushes that a run ended with an error before it had anything to tell: everything else in the group stays as it was, the last success above all. */
export async function pushFailure(session: Session, pushing: Pushing, error: unknown): Promise<void> {
  const facts = { version: readVersion(), endedAtMs: session.invocation.wallMs(), exitCode: exitCodeOfError(error) };
  await push(session, pushing, "POST", runSamples(facts));
}

/** Where to push, and the clock for waits. */
export interface Pushing {
  readonly target: PushTarget;
  readonly clock: Clock;
}

async function push(
  { invocation, lines, secrets }: Session,
  { target, clock }: Pushing,
  method: Push["method"],
  samples: readonly Sample[],
): Promise<void> {
  const [{ metricsText }, { pushMetrics }] = await Promise.all([
    import("../adapters/pushgateway/pushgateway.ts"),
    import("../adapters/pushgateway/pushgateway.ts"),
  ]);
  const result = await pushMetrics(
    target,
    { method, text: await metricsText(redactedSamples(samples, secrets)) },
    clock,
  );
  if (result.kind === "failed") writeLine(invocation.streams, lines, "warn", result.message, { reason: "PushFailed" });
}

function storedTotals({ notes }: RunEnd): Totals {
  return readTotals(notes[TOTALS_ANNOTATION]);
}

function isWhole(selection: Selection): boolean {
  return Object.keys(selection).length === 0;
}
