import { refKey } from "../model/action.ts";
import { ConfigError } from "../model/errors.ts";
import { whyHeld } from "../model/hold.ts";
import {
  LAST_RESULT_ANNOTATION,
  LAST_RUN_ANNOTATION,
  LAST_SUCCESS_ANNOTATION,
  TOTALS_ANNOTATION,
} from "../model/lease-annotations.ts";
import type { Hold } from "../model/plan.ts";
import type { PassResult, ReportFailure, RunEnd, Selection } from "../model/run.ts";
import { parseTime } from "../model/time.ts";
import { Interrupted } from "../observe/interrupt.ts";
import {
  type EndSignal,
  EXIT,
  exitCodeOfError,
  exitCodeOfRun,
  isSuccess,
  SIGNAL_CODES,
  troubleText,
} from "../report/exit-code.ts";
import { lockedDocument } from "../report/json/document.ts";
import { outcomeField } from "../report/json/run.ts";
import { whatFailed, whatKeptBack } from "../report/last-result.ts";
import { addRun, readTotals, writeTotals } from "../report/metrics/totals.ts";
import { categoryOf } from "../report/text/errors.ts";
import { listText } from "../report/text/layout.ts";
import { lastOutcomes, runSummary, unwrittenTogether } from "../report/text/run.ts";
import { rfc3339 } from "../report/text/times.ts";
import { toldPool } from "../report/told-pool.ts";
import { leaseOfFlags } from "./config.ts";
import { isDocument, writeDocument, writeLine } from "./output.ts";
import type { ReconcileFlags } from "./reconcile-flags.ts";
import type { Session } from "./session.ts";
import type { ReconcileAnswer, RunRequest } from "./wiring.ts";

// Shared by a single run and a watching process: what they ask for, and how they tell how it went.

/** @throws ConfigError `usage` for what to do about a lock that is not taken: whoever waits for it would work beside somebody else */
export function refuseLockFlags({ lock, onLocked }: ReconcileFlags): void {
  if (lock || onLocked === undefined) return;
  throw new ConfigError(
    "usage",
    `--no-lock takes no lock and waits for nobody, so --on-locked ${onLocked} means nothing. Leave one of them out.`,
  );
}

/** Returns what a run is asked for, with the lock that the flags describe. */
export function runRequest(
  session: Session,
  flags: ReconcileFlags,
  selection: Selection,
  onLocked: "fail" | "wait",
): Omit<RunRequest, "restraint"> {
  const { identity, signal } = session;
  const lock = {
    identity,
    onLocked: flags.onLocked ?? onLocked,
    durationMs: flags.leaseDuration,
    renewDeadlineMs: flags.renewDeadline,
    retryMs: flags.retryPeriod,
  };
  const annotate = (end: RunEnd): Readonly<Record<string, string>> => leaseAnnotations(end, selection, session);
  const annotateFailure: RunRequest["annotateFailure"] = (error, endedAtMs, notes) => ({
    ...successInTime(notes, endedAtMs),
    ...failureAnnotations(error, endedAtMs, session),
  });
  return { selection, signal, annotate, annotateFailure, ...(flags.lock ? { lock } : {}) };
}

/** Returns the annotations of a run that ended with an error: when, and with which exit code. */
function failureAnnotations(
  error: unknown,
  endedAtMs: number,
  { signal, secrets }: Session,
): Readonly<Record<string, string>> {
  const isInterrupted = error instanceof Interrupted;
  const exitCode = isInterrupted ? exitCodeOfSignal(signal) : exitCodeOfError(error);
  const what = isInterrupted ? "" : secrets.redact(whatFailed(error));
  return {
    [LAST_RUN_ANNOTATION]: rfc3339(endedAtMs),
    [LAST_RESULT_ANNOTATION]: `${exitCode} ${behindWord(WORDS[exitCode] ?? "ended early", what)}`,
  };
}

function behindWord(word: string, what: string): string {
  return what === "" ? word : `${word}: ${what}`;
}

/**
 * Returns the last success as a run that is none leaves it: nothing, but where it has a time that has not come. A clock was wrong, and nobody would be told of failures until
 * then: it is now, once.
 */
function successInTime(notes: RunEnd["notes"], endedAtMs: number): Readonly<Record<string, string>> {
  const isAhead = (parseTime(notes[LAST_SUCCESS_ANNOTATION] ?? "") ?? endedAtMs) > endedAtMs;
  return isAhead ? { [LAST_SUCCESS_ANNOTATION]: rfc3339(endedAtMs) } : {};
}

/** Returns the annotations that a run leaves on its Lease: when and how it ended, for `status`, and the totals over all runs. */
function leaseAnnotations(
  end: RunEnd,
  selection: Selection,
  { signal, secrets }: Session,
): Readonly<Record<string, string>> {
  const exitCode = exitCodeOfEnd(end.result, { signal, partialOk: false });
  const word = secrets.redact(wordOf(exitCode, end.result));
  const at = rfc3339(end.endedAtMs);
  const totals = addRun(readTotals(end.notes[TOTALS_ANNOTATION]), end, isWhole(selection));
  return {
    [LAST_RUN_ANNOTATION]: at,
    // A saved plan is carried out as far as it goes: whether all is as it should be only another run tells.
    ...(isSuccess(exitCode) && end.result.saved === undefined
      ? { [LAST_SUCCESS_ANNOTATION]: at }
      : successInTime(end.notes, end.endedAtMs)),
    [LAST_RESULT_ANNOTATION]: `${exitCode} ${[word, ...untoldText(end.result)].join("; ")}`,
    [TOTALS_ANNOTATION]: writeTotals(totals),
  };
}

function wordOf(exitCode: number, result: PassResult): string {
  const { saved } = result;
  if (saved !== undefined && exitCode === EXIT.refused) return "saved plan refused, or a part of it";
  if (saved === undefined && exitCode === EXIT.partly) return troubleText(result) || "some objects in error";
  return behindWord(WORDS[exitCode] ?? "ended early", whatKeptBack(result, exitCode));
}

/** Which objects could not be told how they are: their own statuses, which `flipop status` reads, cannot say so. */
function untoldText({ reportFailures }: PassResult): readonly string[] {
  const objects = reportFailures.flatMap(({ object, what }) => (what === "status" ? [refKey(object)] : []));
  return objects.length === 0 ? [] : [`the status of ${listText([...new Set(objects)], MOST_UNTOLD)} was not written`];
}

/** How many of them are named. */
const MOST_UNTOLD = 3;

const WORDS: Readonly<Record<number, string>> = {
  [EXIT.done]: "done",
  [EXIT.unexpected]: "unexpected error",
  [EXIT.partly]: "some objects in error",
  [EXIT.refused]: "only guarded changes left",
  [EXIT.temporary]: "temporary failure",
  [EXIT.notPermitted]: "not permitted",
  [EXIT.invalidConfiguration]: "invalid configuration",
  [EXIT.hungUp]: "hung up",
  [EXIT.interrupted]: "interrupted",
  [EXIT.terminated]: "terminated",
};

/** Returns the exit code of a run. If a signal ended it early, that is the code of the signal, as the process will have it. */
export function exitCodeOfEnd(
  result: PassResult,
  { signal, partialOk }: { readonly signal: AbortSignal; readonly partialOk: boolean },
): number {
  return signal.aborted ? exitCodeOfSignal(signal) : exitCodeOfRun(result, { partialOk });
}

function exitCodeOfSignal({ reason }: AbortSignal): number {
  return SIGNAL_CODES[reason as EndSignal] ?? EXIT.interrupted;
}

/** True for a selection of everything that the process works for. */
export function isWhole(selection: Selection): boolean {
  return Object.keys(selection).every((key) => key === "shard");
}

/**
 * Writes a run as JSON lines to stderr: one per action tried and one for the run, which is the only one when nothing was to do.
 * @param unwritten - what of it is told of what could not be written; absent = all
 */
export function logRun(
  session: Session,
  result: PassResult,
  exitCode: number,
  unwritten: readonly ReportFailure[] = result.reportFailures,
): void {
  const { plan, remaining } = result;
  const { planID } = plan;
  for (const outcome of lastOutcomes(result.outcomes)) {
    const pool = toldPool(outcome.last.action.object, plan, remaining);
    const { message, object: _, ...fields } = outcomeField(outcome, pool);
    const level = outcome.last.outcome === "failed" ? "error" : "info";
    const object = refKey(outcome.last.action.object);
    writeLine(session, level, String(message), { planID, object, ...fields });
  }
  logUnwritten(session, unwritten, planID);
  if (session.verbosity > 0) {
    for (const hold of result.remaining.holds) {
      const { object, subject, reason } = hold;
      const fields = { planID, object: refKey(object), subject, reason, outcome: "held" };
      writeLine(session, "info", heldMessage(hold), fields);
    }
  }
  const held = Map.groupBy(result.remaining.holds, ({ reason }) => reason);
  writeLine(session, exitCode === 0 ? "info" : "error", runSummary(result), {
    planID,
    exitCode,
    tried: result.outcomes.length,
    held: Object.fromEntries([...held].map(([reason, holds]) => [reason, holds.length])),
  });
}

function logUnwritten(session: Session, unwritten: readonly ReportFailure[], planID: string): void {
  for (const { failure, more } of unwrittenTogether(unwritten)) {
    const { object, what, error } = failure;
    const others = more === 0 ? "" : `, and of ${more} more`;
    const msg = `Could not write the ${what} of ${refKey(object)}${others}: ${error.message}`;
    const reason = categoryOf(error) === "permission" ? "PermissionMissing" : "Failed";
    writeLine(session, "warn", msg, { planID, object: refKey(object), reason, ...(more === 0 ? {} : { more }) });
  }
}

function heldMessage(hold: Hold): string {
  return hold.subject === "" ? whyHeld(hold) : `${hold.subject}: ${whyHeld(hold)}`;
}

/** Returns the Lease that a run with these flags holds, as people name it. */
export function leaseText(flags: ReconcileFlags): string {
  const { namespace, name } = leaseOfFlags(flags);
  return `${namespace}/${name}`;
}

/** How a run or a process that watches ended that never began. */
type Locked = Extract<ReconcileAnswer, { readonly kind: "locked" }>;

/** Says that somebody else works for the same objects. Whatever `--on-locked` says that is an error: it does not end by itself. Returns the exit code. */
async function reportOverlap(
  session: Session,
  { lease, holder, shard }: NonNullable<Locked["overlap"]>,
  flags: ReconcileFlags,
): Promise<number> {
  const { output, streams } = session;
  const other = shard === undefined ? "a run without --shard" : `a run with --shard ${shard}`;
  const own = flags.shard === undefined ? "without --shard" : `with --shard ${flags.shard}`;
  const message = `${holder} holds the Lease ${lease}: ${other} works for some of the objects of this one, which is ${own}. It changed nothing. Stop one of the two, or give both a --shard so that no object is of both.`;
  writeLine(session, "error", message, { reason: "Overlap", exitCode: EXIT.locked });
  if (isDocument(output)) await writeDocument(streams, lockedDocument(message, EXIT.locked), output);
  return EXIT.locked;
}

/** Says that another run keeps the Lease, and that this one changed nothing. Returns the exit code. */
export async function reportLocked(
  session: Session,
  { holder, overlap }: Locked,
  flags: ReconcileFlags,
): Promise<number> {
  if (overlap !== undefined) return await reportOverlap(session, overlap, flags);
  const { output, streams } = session;
  const who = holder === "" ? "someone else" : holder;
  const lease = leaseText(flags);
  const isSkip = flags.onLocked === "skip";
  const what = `Another run works now: ${who} holds the Lease ${lease}. This one changed nothing.`;
  const message = isSkip ? what : `${what} ${adviceOfLocked(flags)}`;
  const exitCode = isSkip ? EXIT.done : EXIT.locked;
  writeLine(session, isSkip ? "info" : "error", message, { reason: "Locked", exitCode });
  if (isDocument(output)) await writeDocument(streams, lockedDocument(message, exitCode), output);
  return exitCode;
}

function adviceOfLocked({ onLocked }: ReconcileFlags): string {
  if (onLocked !== "wait") return "Wait for it to end, or pass --on-locked wait or skip.";
  return "It was waited for as long as --timeout allows. Give the run more time, or pass --on-locked skip.";
}
