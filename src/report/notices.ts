import { type Action, type ObjectRef, refKey, subjectOf } from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import type { FailedRunNotice, Notice, PassNotice } from "../model/notice.ts";
import type { Outcome } from "../model/outcome.ts";
import { GROUP } from "../model/resource.ts";
import type { PassResult } from "../model/run.ts";
import { contentHash, plain } from "../model/text.ts";
import { timestamp } from "../model/time.ts";
import { newlyStalled, type ToldPass } from "./events.ts";
import { isSignalled, isSuccess } from "./exit-code.ts";
import { API_VERSION, type JSONObject } from "./json/document.ts";
import { objectField } from "./json/plan.ts";
import { outcomeField } from "./json/run.ts";
import { categoryOf, messageOf } from "./text/errors.ts";
import { lastOutcomes, outcomeLine, runSummary, whyOutcome } from "./text/run.ts";
import { toldPool } from "./told-pool.ts";

/*
 * What is told to whoever asked to be notified, and how. A pass tells what is new after it:
 *
 *   applied      each change that was made
 *   unconfirmed  each change that was accepted and not seen to be true in time: the next pass looks again, and tells no more of it
 *   failed       each change that failed for the first, the second, the fourth, the eighth … time in a row
 *   blocked      each object that waits for a person, and did not before: its stored status says so, as for Events
 *   run-failed   a run that did not look at everything
 *   left-out     how much of all that is not told, because it was too much
 *
 * What one process has told no other one knows. So nothing is told from memory: a repeated failure is known by the count in status, and an event has the same id whenever it is
 * made of the same facts.
 */

/** What is known of each type of notice: the end of the `type` of its CloudEvent, the name of its alert, where it is one, and its mark in a message. The most urgent first. */
const TYPES = {
  "run-failed": { event: "run.failed", alert: "FlipopRunFailed", mark: "!" },
  blocked: { event: "object.blocked", alert: "FlipopObjectBlocked", mark: "!" },
  failed: { event: "change.failed", alert: "FlipopChangeFailed", mark: "!" },
  applied: { event: "change.applied", alert: undefined, mark: undefined },
  unconfirmed: { event: "change.accepted", alert: undefined, mark: "?" },
  "left-out": { event: "notices.left-out", alert: undefined, mark: "." },
} as const;

type NoticeType = keyof typeof TYPES;

/** Returns how the types of events end, the most urgent first: `run.failed`. */
export function eventTypes(): readonly string[] {
  return Object.values(TYPES).map(({ event }) => event);
}

/** What is told of notices that are too many: how many of each type are left out. */
interface LeftOut {
  readonly kind: "left-out";
  readonly counts: ReadonlyMap<NoticeType, number>;
  readonly atMs: number;
}

/** A notice that is told, or how many are not. */
export type Told = Notice | LeftOut;

/** Returns what is new after a pass, in the order in which it happened. `failuresOf` counts how often an action has failed in a row, before the pass and after it. Pure. */
export function noticesOf(
  pass: ToldPass,
  failuresOf: (action: Action) => { readonly before: number; readonly after: number },
): readonly PassNotice[] {
  const { planned, outcomes, remaining } = pass;
  const { planID } = planned;
  const changes = lastOutcomes(outcomes).flatMap(({ last: outcome, attempts }): readonly PassNotice[] => {
    if (outcome.outcome === "skipped") return [];
    const { before, after } = failuresOf(outcome.action);
    const failures = outcome.outcome === "failed" ? after : 0;
    if (outcome.outcome === "failed" && !isNews(before, after)) return [];
    const pool = toldPool(outcome.action.object, planned, remaining);
    const atMs = outcome.endedAtMs ?? remaining.observedAtMs;
    return [{ kind: "change", outcome, attempts, failures, planID, atMs, ...(pool === undefined ? {} : { pool }) }];
  });
  const blocked = newlyStalled(pass).map(({ object, reason, message }): PassNotice => {
    return { kind: "blocked", object, reason, message, planID, atMs: remaining.observedAtMs };
  });
  return [...changes, ...blocked];
}

/** True where a power of two lies behind the failures before and not behind those after, and for the first failure of a new series. */
function isNews(before: number, after: number): boolean {
  return after <= before || Math.floor(Math.log2(after)) > (before === 0 ? -1 : Math.floor(Math.log2(before)));
}

/**
 * Returns that a run which came to its end has failed, by its exit code without `--partial ok`; nothing for one that looked at everything, or that somebody ended. A run
 * that ends as the one before it, whose exit code `lastResult` begins with, is no news. Pure.
 */
export function failedRun(
  result: PassResult,
  { exitCode, lastResult, atMs }: { readonly exitCode: number; readonly lastResult: string; readonly atMs: number },
): readonly FailedRunNotice[] {
  if (isSuccess(exitCode) || isSignalled(exitCode) || lastResult.startsWith(`${exitCode} `)) return [];
  return [{ kind: "run", exitCode, message: runSummary(result), atMs }];
}

/** Returns that a run ended with an error. Pure. */
export function failedWith(
  error: unknown,
  { exitCode, failures, atMs }: { readonly exitCode: number; readonly failures?: number; readonly atMs: number },
): FailedRunNotice {
  const counted = failures === undefined ? {} : { failures };
  return { kind: "run", exitCode, category: categoryOf(error), message: messageOf(error), atMs, ...counted };
}

/** The most that is told of one run or pass. */
const MOST = 50;

/** Returns notices as they are told: of too many the most urgent, in their order, and then how many are left out. Pure. */
export function toldOf(notices: readonly Notice[], most: number = MOST): readonly Told[] {
  if (notices.length <= most) return notices;
  const ranks = Object.keys(TYPES);
  const urgent = new Set(
    notices.toSorted((a, b) => ranks.indexOf(typeOf(a)) - ranks.indexOf(typeOf(b))).slice(0, most - 1),
  );
  const left = notices.filter((notice) => !urgent.has(notice));
  const counts = new Map([...Map.groupBy(left, typeOf)].map(([type, own]) => [type, own.length]));
  const atMs = Math.max(...left.map((notice) => notice.atMs));
  return [...notices.filter((notice) => urgent.has(notice)), { kind: "left-out", counts, atMs }];
}

function typeOf(notice: Told): NoticeType {
  if (notice.kind === "run") return "run-failed";
  return notice.kind === "change" ? notice.outcome.outcome : notice.kind;
}

/** Who tells: the same for all notices of a process. */
export interface Teller {
  /** Names the cluster and the installation, for machines: the `source` of events. */
  readonly source: string;
  /** The same for people. */
  readonly name: string;
  /** The server of the cluster; absent where it is not known. */
  readonly cluster?: string;
  /** Of this process, as in its log lines. */
  readonly runID: string;
}

/** Returns a notice as a CloudEvent 1.0 in JSON (structured mode); the schema of its data is `schema/notice.json`. Pure. */
export function cloudEvent(notice: Told, { source, cluster, runID }: Teller): JSONObject {
  const type = typeOf(notice);
  const object = objectOf(notice);
  return {
    specversion: "1.0",
    id: idOf(notice, source),
    source,
    type: `${GROUP.split(".").toReversed().join(".")}.${TYPES[type].event}`,
    subject: object === undefined ? undefined : refKey(object),
    time: timestamp(notice.atMs),
    datacontenttype: "application/json",
    dataschema: `https://${GROUP}/schemas/cli/v1/notice.json`,
    data: {
      apiVersion: API_VERSION,
      kind: "Notice",
      runId: runID,
      cluster,
      message: sentenceOf(notice),
      ...detailsOf(notice),
    },
  };
}

/** What the data of an event says beside its sentence, by the kind of the notice. */
function detailsOf(notice: Told): JSONObject {
  switch (notice.kind) {
    case "change": {
      const { outcome: last, attempts, failures, pool, planID } = notice;
      const outcome = outcomeField({ last, attempts }, pool);
      return { planId: planID, outcome, failures: failures === 0 ? undefined : failures };
    }
    case "blocked": {
      const { object, reason, message, planID } = notice;
      return { planId: planID, blocked: { object: objectField(object), reason, message: plain(message) } };
    }
    case "run": {
      const { exitCode, category, message, failures } = notice;
      return { run: { exitCode, category, message: plain(message) }, failures };
    }
    case "left-out":
      return { leftOut: Object.fromEntries(notice.counts) };
  }
}

/** The same for the same fact. A run that fails again and again for one cause has one id an hour. */
function idOf(notice: Told, source: string): string {
  const own = (): readonly unknown[] => {
    switch (notice.kind) {
      case "change": {
        const { action, outcome, address } = notice.outcome;
        return [
          outcome,
          action.kind,
          refKey(action.object),
          address?.ip ?? subjectOf(action),
          action.after,
          notice.atMs,
        ];
      }
      case "blocked":
        return [refKey(notice.object), notice.reason, notice.atMs];
      case "run":
        return [notice.exitCode, notice.message, Math.floor(notice.atMs / HOUR_MS)];
      case "left-out":
        return [[...notice.counts], notice.atMs];
    }
  };
  const text = JSON.stringify([source, typeOf(notice), ...own()]);
  return `${contentHash(text)}${contentHash(`${text} `)}`;
}

const HOUR_MS = 3_600_000;

function objectOf(notice: Told): ObjectRef | undefined {
  if (notice.kind === "change") return notice.outcome.action.object;
  return notice.kind === "blocked" ? notice.object : undefined;
}

/** A notice as a line that stands alone: `pool/ingress/web: moved 203.0.113.10 from worker-1 to worker-5: worker-1 no longer matches (not ready), …` */
function sentenceOf(notice: Told): string {
  switch (notice.kind) {
    case "change": {
      const { outcome, failures, pool } = notice;
      const times = failures > 1 ? ` (${failures} times in a row)` : "";
      return plain(`${refKey(outcome.action.object)}: ${outcomeLine(outcome)}${times}: ${whyOf(outcome, pool)}`);
    }
    case "blocked":
      return plain(`${refKey(notice.object)} waits for a person: ${notice.reason}: ${notice.message}`);
    case "run": {
      const times = (notice.failures ?? 1) > 1 ? ` (${notice.failures} times in a row)` : "";
      return plain(`The run failed${times}, exit code ${notice.exitCode}: ${notice.message}`);
    }
    case "left-out": {
      const counts = [...notice.counts].map(([type, count]) => `${count} ${type}`);
      return `Left out, because it was too much at once: ${counts.join(", ")}.`;
    }
  }
}

function whyOf(outcome: Outcome, pool: Parameters<typeof whyOutcome>[1]): string {
  return outcome.outcome === "failed" ? messageOf(outcome.error) : whyOutcome(outcome, pool, 0);
}

/** The most characters of one line of a message. */
const MOST_IN_LINE = 500;

/** Returns the notices of one run as a message for Slack, a line each. Pure. */
export function slackMessage(told: readonly Told[], { name }: Teller): JSONObject {
  const lines = told.map((notice) => {
    const sentence = sentenceOf(notice);
    const cut = sentence.length > MOST_IN_LINE ? `${sentence.slice(0, MOST_IN_LINE)}…` : sentence;
    return `\`${markOf(notice)}\` ${asSlackText(cut)}`;
  });
  return { text: [`*flipop* ${asSlackText(name)}`, ...lines].join("\n") };
}

function markOf(notice: Told): string {
  const { mark } = TYPES[typeOf(notice)];
  return mark ?? (notice.kind === "change" ? ACTIONS[notice.outcome.action.kind].symbol : "");
}

/** Slack reads links, mentions and channels in pointed brackets alone. */
function asSlackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** How long an alert lasts of which nothing more is heard, milliseconds. */
const ALERT_MS = 15 * 60_000;

/** Returns what failed or waits for a person as alerts for the Alertmanager; a change that was made is none. Pure. */
export function alertsOf(told: readonly Told[], { source, cluster }: Teller): readonly JSONObject[] {
  return told.flatMap((notice) => {
    const { alert } = TYPES[typeOf(notice)];
    if (alert === undefined) return [];
    return [
      {
        labels: { alertname: alert, source, ...labelsOf(notice) },
        annotations: { summary: sentenceOf(notice), ...(cluster === undefined ? {} : { cluster }) },
        startsAt: timestamp(notice.atMs),
        endsAt: timestamp(notice.atMs + ALERT_MS),
      },
    ];
  });
}

/** The Alertmanager takes alerts with the same labels for one. */
function labelsOf(notice: Told): JSONObject {
  if (notice.kind === "run") return { exit_code: String(notice.exitCode) };
  const object = objectOf(notice);
  const { kind = "", namespace = "", name = "" } = object ?? {};
  const own = { kind, namespace, name };
  if (notice.kind === "blocked") return { ...own, reason: notice.reason };
  if (notice.kind !== "change") return own;
  const { action, address } = notice.outcome;
  return { ...own, action: action.kind, subject: address?.ip ?? subjectOf(action) };
}
