import type { ObjectRef } from "../model/action.ts";
import { actionKind } from "../model/action-kinds.ts";
import type { Change, ChangeOutcome } from "../model/change.ts";
import { plain } from "../model/text.ts";
import { parseTime } from "../model/time.ts";
import { foldRepeats } from "./merge.ts";
import { objectIn, outcomeOfRun, placeOf, splitNote, subjectIn } from "./texts.ts";

/** The most facts of logs that are kept, so that a log of any length needs no more memory. The newest stay. */
export const MOST_CHANGES = 10_000;

/** What one line of a log is. */
type LogLine =
  | { readonly kind: "change"; readonly change: Change }
  /** A line of flipop that tells of no change. */
  | { readonly kind: "aside"; readonly timeMs: number }
  /** No log line of flipop, or a broken one. */
  | { readonly kind: "foreign" };

/**
 * Reads one line of a log. A log store may have put something before it (`kubectl logs --prefix --timestamps`) or around it (`{"log":"…"}`). Never throws. Pure.
 *
 *   line of flipop                                 what it is
 *   a change that was tried, and what came of it   a change, but for what was left out for a reason
 *   a status or an Event that was not written      a change
 *   a run that ended with another code than 0      a change
 *   a warning or an error without a reason         a change
 *   anything else                                  an aside
 */
function readLogLine(text: string): LogLine {
  const at = text.indexOf("{");
  const line = at < 0 ? undefined : ownLine(parsed(text.slice(at)));
  const timeMs = line === undefined ? undefined : parseTime(line.time);
  if (line === undefined || timeMs === undefined) return { kind: "foreign" };
  const [, pod] = /\[pod\/([^/\]]+)\//.exec(text.slice(0, at)) ?? [];
  const told = changeOf(line.fields, line);
  if (told === undefined) return { kind: "aside", timeMs };
  const by = pod === undefined ? {} : { by: plain(pod) };
  const defaults = { timeMs, firstMs: timeMs, count: 1, subject: "", reason: "", sources: ["log"], ...by } as const;
  const change = { ...defaults, ...told };
  return { kind: "change", change: { ...change, firstMs: change.timeMs } };
}

type Fields = Readonly<Record<string, unknown>>;

/** A line as flipop wrote it. */
interface OwnLine {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly fields: Fields;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The line itself, or the one that a log store has put into a field. */
function ownLine(value: unknown): OwnLine | undefined {
  const fields = recordOf(value);
  if (fields === undefined) return undefined;
  const inner = Object.values(fields).flatMap((field) => {
    const text = typeof field === "string" && field.startsWith("{") ? parsed(field) : field;
    const record = recordOf(text);
    return record === undefined ? [] : [record];
  });
  return [fields, ...inner].map(lineOf).find((line) => line !== undefined);
}

function recordOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function lineOf(fields: Fields): OwnLine | undefined {
  const { time, level, msg, runID } = fields as { readonly [name in "time" | "level" | "msg" | "runID"]?: unknown };
  if (typeof time !== "string" || typeof level !== "string" || typeof msg !== "string") return undefined;
  return typeof runID === "string" ? { time, level, msg: plain(msg), fields } : undefined;
}

const TRIED: readonly ChangeOutcome[] = ["applied", "unconfirmed", "failed"];

type Told = Pick<Change, "kind" | "outcome" | "what" | "why"> & Partial<Change>;

function changeOf(fields: Fields, { level, msg }: OwnLine): Told | undefined {
  const object = objectIn(textOf(fields, "object"));
  const isTrouble = level === "warn" || level === "error";
  if (object !== undefined && "outcome" in fields) return tried(object, fields, msg);
  if (object !== undefined)
    return isTrouble ? { object, ...REPORT, reason: textOf(fields, "reason"), ...splitNote(msg) } : undefined;
  const code = fields["exitCode"];
  if (typeof code === "number") return code === 0 ? undefined : ended(code, msg);
  return isTrouble && fields["reason"] === undefined ? { ...REPORT, what: "warned", why: msg } : undefined;
}

const REPORT = { kind: "report", outcome: "failed" } as const;

/** Undefined for what was left out for a reason, and for what is held. */
function tried(object: ObjectRef, fields: Fields, msg: string): Told | undefined {
  const kind = actionKind(textOf(fields, "kind"));
  const outcome = TRIED.find((known) => known === fields["outcome"]);
  if (outcome === undefined) return undefined;
  const told = splitNote(msg);
  const [ms, attempts] = [fields["ms"], fields["attempts"]];
  const endedMs = parseTime(textOf(fields, "endedAt"));
  return {
    object,
    // As an Event says it.
    reason: outcome === "failed" ? "Failed" : textOf(fields, "reason"),
    kind: kind ?? "other",
    subject: kind === undefined ? textOf(fields, "subject") : subjectIn(told.what, kind),
    outcome,
    ...told,
    ...(typeof ms === "number" && Number.isFinite(ms) ? { tookMs: ms } : {}),
    // What went well in the end was done once, however often it was tried before.
    ...(outcome === "failed" && Number.isSafeInteger(attempts) ? { count: Math.max(1, Number(attempts)) } : {}),
    ...(endedMs === undefined ? {} : { timeMs: endedMs }),
  };
}

function ended(code: number, msg: string): Told {
  return { kind: "run", outcome: outcomeOfRun(code), what: `run ended with exit code ${code}`, why: msg };
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? plain(value) : "";
}

/** What was read of logs. */
export interface LogRead {
  /** At most {@link MOST_CHANGES}, the newest. */
  readonly changes: readonly Change[];
  readonly lines: number;
  /** How many lines are no log lines of flipop, and which is the first, from 1. */
  readonly foreign: number;
  readonly firstForeign: number;
  /** The times of the first and the last line of flipop, milliseconds; absent where there is none. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** True where older changes than those were left out, because there are too many. */
  readonly isCut: boolean;
}

/** Reads logs line by line, in any order. What it keeps does not grow with their length. */
export class LogReader {
  readonly #isWanted: (change: Change) => boolean;
  readonly #most: number;
  #changes: readonly Change[] = [];
  #fresh: Change[] = [];
  #lines = 0;
  #foreign = 0;
  #firstForeign = 0;
  #fromMs: number | undefined;
  #toMs: number | undefined;
  #isCut = false;

  /** @param isWanted - changes for which it is false are not kept */
  constructor(isWanted: (change: Change) => boolean, most: number = MOST_CHANGES) {
    this.#isWanted = isWanted;
    this.#most = most;
  }

  /** Takes the next line, without its line end; an empty one is none. */
  add(text: string): void {
    this.#lines += 1;
    if (text.trim() === "") return;
    const line = readLogLine(text);
    if (line.kind === "foreign") {
      this.#foreign += 1;
      this.#firstForeign ||= this.#lines;
      return;
    }
    const timeMs = line.kind === "aside" ? line.timeMs : line.change.timeMs;
    this.#fromMs = Math.min(this.#fromMs ?? timeMs, timeMs);
    this.#toMs = Math.max(this.#toMs ?? timeMs, timeMs);
    if (line.kind === "change" && this.#isWanted(line.change)) this.#fresh.push(line.change);
    if (this.#fresh.length >= this.#most) this.#settle();
  }

  /** Returns what was read so far. */
  end(): LogRead {
    this.#settle();
    return {
      changes: this.#changes,
      lines: this.#lines,
      foreign: this.#foreign,
      firstForeign: this.#firstForeign,
      ...(this.#fromMs === undefined ? {} : { fromMs: this.#fromMs }),
      ...(this.#toMs === undefined ? {} : { toMs: this.#toMs }),
      isCut: this.#isCut,
    };
  }

  /** Folds what repeats, and drops the oldest of what are too many. A line that comes twice, since logs were read twice, counts once. */
  #settle(): void {
    const distinct = [
      ...new Map([...this.#changes, ...this.#fresh].map((change) => [lineKey(change), change])).values(),
    ];
    const all = foldRepeats(distinct).toSorted((a, b) => a.timeMs - b.timeMs);
    this.#fresh = [];
    this.#isCut ||= all.length > this.#most;
    this.#changes = all.slice(-this.#most);
  }
}

function lineKey({ timeMs, firstMs, count, kind, outcome, what, why, ...change }: Change): string {
  return JSON.stringify([placeOf(change), timeMs, firstMs, count, kind, outcome, what, why]);
}
