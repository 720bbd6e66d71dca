import { entryText } from "../../model/address.ts";
import { REASONS } from "../../model/reason.ts";
import type { RetryStatus } from "../../model/resource.ts";
import { retrySubjectText } from "../../model/retry-subject.ts";
import { type Suspended, whySuspended } from "../../model/suspension.ts";
import { parseTime } from "../../model/time.ts";
import { type AddressRow, type NamedRow, namedRows, type Overview, type Readiness } from "../overview.ts";
import { countText, entryLines, type Layout, listText } from "./layout.ts";
import { lostAddresses, lostTexts, UNKEPT_HELP, unkeptAddresses, unkeptTexts } from "./node-problems.ts";
import { agoText, aheadText, readableTimes, sinceText, untilText } from "./times.ts";
import { UNSERVED_HELP, unservedTexts } from "./unserved.ts";

// What status tells below its tables, wrapped and never cut: everything that is not as it should be, since when, and what is known of its end. One cause is told once.
//
//   of one object   what waits for a person, who suspended it, why it is not ready; what failed and is tried again; what addresses wait for
//   of several      that nobody works for their shard; that their nodes cannot serve any more and no run has seen it; that nobody puts them on their hosts; that no run has looked at them

/** Something that is not as it should be. */
export interface StatusProblem {
  /** As a target; `""` where it is of no single object. */
  readonly object: string;
  /** `.` where it waits by itself, or is as a person wants it. */
  readonly symbol: "!" | ".";
  readonly what: string;
  /** Since when it is so; `""` = nobody knows. */
  readonly since: string;
  /** What is known of its end, or what a person can do; `""` = nothing. */
  readonly next: string;
}

/**
 * Returns everything that is not as it should be: of each object in the order of the tables, then of several. What several objects suffer from the same cause is told once,
 * at the place of the first. With `isApart` everything is told of each object alone, so that it stays the same while others come and go. Its texts must be plain by now. Pure.
 */
export function problemsOf(
  overview: Overview,
  { isApart = false }: { readonly isApart?: boolean } = {},
): readonly StatusProblem[] {
  const { nowMs } = overview;
  const rows = namedRows(overview);
  const parts = isApart ? rows.map((row) => [row]) : [rows];
  return [
    ...parts.flatMap((some) =>
      oncePerCause(
        some.flatMap((row) => objectProblems(row, nowMs)),
        nowMs,
      ),
    ),
    ...parts.flatMap((some) => unservedProblems(some, overview)),
    ...parts.flatMap((some) => [
      ...unseenTrouble(some, overview),
      ...unkeptProblems(some, nowMs),
      ...unseenObjects(some),
    ]),
  ];
}

/** What is wrong with one object. `!` is its symbol where it has none. */
interface Told {
  readonly symbol?: StatusProblem["symbol"];
  /** What of the object it concerns, such as its addresses; left out for the object as a whole. */
  readonly about?: readonly string[];
  readonly text: string;
  /** Since when, in RFC 3339, and what is so since then. */
  readonly since?: string;
  readonly sinceWhat?: "not ready" | "not matching" | "waiting for a person";
  /** What failed and is tried again. */
  readonly retry?: RetryStatus | undefined;
}

/** The same, with the object that it is wrong with. */
type ToldOf = Told & Required<Pick<Told, "symbol">> & { readonly name: string };

/** Returns one problem per cause: all objects and all of them that it concerns, the earliest beginning, and the next attempt. */
function oncePerCause(told: readonly ToldOf[], nowMs: number): readonly StatusProblem[] {
  const groups = Map.groupBy(told, ({ symbol, text, sinceWhat, retry, about }) =>
    JSON.stringify([symbol, text, sinceWhat, retry === undefined, about === undefined]),
  );
  return [...groups.values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const { name, symbol, text, sinceWhat } = first;
    const names = [...new Set(of.map((one) => one.name))];
    const about = of.flatMap((one) => one.about ?? []);
    const [since = ""] = of.flatMap((one) => one.since || []).toSorted();
    const begun = sinceText(since, nowMs);
    const retries = of.flatMap(({ retry }) => retry ?? []);
    return {
      object: names.length > 1 ? "" : name,
      symbol,
      what: `${listText(names, MOST_SUBJECTS)}: ${aboutText({ about, text })}`,
      since: begun === "" ? "" : [sinceWhat, begun].filter(Boolean).join(" "),
      next: retries.length === 0 ? "" : retryText(nextOf(retries), nowMs),
    };
  });
}

function aboutText({ about = [], text }: Pick<Told, "about" | "text">): string {
  return [listText(about, MOST_SUBJECTS), text].filter(Boolean).join(": ");
}

function nextOf(retries: readonly RetryStatus[]): RetryStatus | undefined {
  return retries.toSorted((a, b) => (a.nextAttemptTime < b.nextAttemptTime ? -1 : 1))[0];
}

function objectProblems({ row, name, retries, addresses, unanswered }: NamedRow, nowMs: number): readonly ToldOf[] {
  // Where the object stands still as a whole, what failed before says nothing of what comes next.
  const failing = row.isBlocked ? [] : retries;
  const standing = [...waitingForPerson(row, nowMs), ...standingStill(row, failing, nowMs)];
  // What waits for a person may have failed before: that is one cause.
  const untold = failing.filter(({ error }) => row.stalled?.message.includes(error) !== true);
  const causes = [...standing, ...failingTexts(untold, row, nowMs)];
  const rest = row.isBlocked || row.suspended !== undefined ? [] : addressTexts(addresses, causes, row, nowMs);
  return [...causes, ...unansweredText(unanswered, nowMs), ...rest].map((one) => ({ symbol: "!", ...one, name }));
}

/** How long a purchase may take whose answer is merely on its way, milliseconds. */
const LONG_PURCHASE_MS = 30_000;

/** What was asked for long ago and got no answer. Where it may be one of several a person is asked, which is told above. */
function unansweredText(unanswered: NamedRow["unanswered"], nowMs: number): readonly Told[] {
  const lost = unanswered.filter(
    ({ startedAt, candidates }) => candidates === undefined && isLongAgo(startedAt, nowMs - LONG_PURCHASE_MS),
  );
  const [since] = lost.map(({ startedAt }) => startedAt).toSorted();
  if (since === undefined) return [];
  return [
    {
      symbol: ".",
      about: [countText(lost.length, "new address", "new addresses")],
      text: sentenceOf("AcquisitionUnanswered"),
      since,
    },
  ];
}

function isLongAgo(time: string, beforeMs: number): boolean {
  return (parseTime(time) ?? Number.POSITIVE_INFINITY) < beforeMs;
}

/** Everything that waits for a person, one by one. What waits for a grant alone is told below, with all that is missing. Where the object is not ready for the same cause, what that says beside it stands behind it. */
function waitingForPerson(row: Readiness, nowMs: number): readonly Told[] {
  const { stalled, notGranted } = row;
  if (stalled === undefined || stalled.reason === notGranted?.reason) return [];
  const { problems, since } = stalled;
  return problems.map(({ message, reason }, at): Told => {
    const beside = at === 0 ? besideCause(row) : undefined;
    const text = readableTimes([message || reason, ...(beside ?? [])].join(" "), nowMs);
    // Since when is known of the whole.
    return at === 0 ? { text, since, sinceWhat: "waiting for a person" } : { text };
  });
}

/** What Ready says beside the cause that a person has to end, in sentences; undefined where it is not ready for another cause. */
function besideCause({ ready, reason, message, stalled }: Readiness): readonly string[] | undefined {
  if (ready !== "False" || stalled === undefined || stalled.reason !== reason) return undefined;
  const told = sentencesOf(stalled.message.toLowerCase());
  const own = sentencesOf(message);
  const others = own.filter((sentence) => !told.includes(sentence.toLowerCase()));
  return others.length === own.length ? undefined : others;
}

function sentencesOf(text: string): readonly string[] {
  return text.split(/(?<=[.!?]) +/);
}

/** Who suspended it, and why it is not ready where neither a person nor a failure is what it waits for. */
function standingStill(row: Readiness, failing: readonly RetryStatus[], nowMs: number): readonly Told[] {
  const { ready, reason, message, since = "", stalled, suspended, notGranted } = row;
  const stays: readonly Told[] =
    suspended === undefined ? [] : [{ symbol: ".", text: suspendedText(suspended, nowMs) }];
  const isTold =
    ready !== "False" ||
    (suspended !== undefined && reason === "Suspended") ||
    stalled?.problems.some((problem) => problem.message === message) === true ||
    besideCause(row) !== undefined ||
    notGranted?.reason === reason ||
    failing.some(({ error }) => message.includes(error));
  if (isTold) return stays;
  const text = [reason, readableTimes(message, nowMs)].filter(Boolean).join(": ");
  return [...stays, { text, since, sinceWhat: "not ready" }];
}

/** One cause is told once, however much of the object waits for it, and with it since when the object is not ready where that is why. */
function failingTexts(
  failing: readonly RetryStatus[],
  { since = "", message }: Readiness,
  nowMs: number,
): readonly Told[] {
  return [...Map.groupBy(failing, ({ error }) => error)].map(([error, of]) => {
    const subjects = of.map(({ subject }) => retrySubjectText(subject));
    const node = subjects.find((subject) => error.startsWith(`${subject.replace(/^node /, "")}: `));
    const shown = node === undefined ? error : error.slice(error.indexOf(": ") + 2);
    const told = { about: subjects, text: readableTimes(shown, nowMs), retry: nextOf(of) };
    return message.includes(error) ? { ...told, since, sinceWhat: "not ready" } : told;
  });
}

/** How many things that one cause concerns are named. */
const MOST_SUBJECTS = 3;

/** An IPv4 address, or the beginning of an IPv6 one. */
const ANY_ADDRESS = /\b\d+\.\d+\.\d+\.\d+\b|\b[\da-f]{1,4}:[\da-f]*:/i;

/** Returns what addresses wait for, those of one reason together, as far as nothing tells of them yet. */
function addressTexts(
  addresses: readonly AddressRow[],
  causes: readonly Told[],
  row: Readiness,
  nowMs: number,
): readonly Told[] {
  const { ready } = row;
  const told = causes.map(aboutText).join("\n");
  const isOfWhole = (reason: string): boolean => row.reason === reason && !ANY_ADDRESS.test(row.message);
  const untold = addresses.filter(
    ({ ip, status: { state, reason, error } }) =>
      reason !== undefined &&
      state !== "disabled" &&
      !isOfWhole(reason) &&
      !mentions(told, ip) &&
      !(error && told.includes(error)),
  );
  const symbol = ready === "True" ? "." : "!";
  // What stands on a node that matches is not told with what does not.
  const factOf = (row: AddressRow): string =>
    JSON.stringify([addressReason(row, nowMs), row.status.notMatchingSince === undefined]);
  return [...Map.groupBy(untold, factOf).values()].map((of) => {
    const [since] = of.flatMap(({ status }) => status.notMatchingSince ?? []).toSorted();
    const [first] = of;
    const reason = first === undefined ? "" : addressReason(first, nowMs);
    const error = of.length === 1 && first !== undefined ? ownText(first, nowMs) : "";
    const text = [reason, error || sentenceOf(first?.status.reason)].filter(Boolean).join(": ");
    const told: Told = { symbol, about: of.map(({ ip }) => entryText(ip)), text };
    return since === undefined || error.includes("since") ? told : { ...told, since, sinceWhat: "not matching" };
  });
}

/** What is particular to one address; `""` where nothing is. */
function ownText({ status: { state, error = "", nodeName } }: AddressRow, nowMs: number): string {
  const isSent = state === "in-progress" && error === "" && nodeName !== undefined;
  return isSent ? `on its way to ${nodeName}` : readableTimes(error, nowMs);
}

function sentenceOf(reason = ""): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as keyof typeof REASONS].text : "";
}

function mentions(text: string, ip: string): boolean {
  return text.split(/[\s,:;()"]+/).some((word) => word.replace(/\.$/, "") === ip);
}

/** Returns why an address is as it is, and until when where that is known: `CoolOff until 09:00:09 UTC (in 41m)`; `""` where nothing is to say. */
export function addressReason({ status, waitsUntilMs }: AddressRow, nowMs: number): string {
  const until = waitsUntilMs === undefined ? "" : ` ${untilText(waitsUntilMs, nowMs)}`;
  return status.reason === undefined ? "" : status.reason + until;
}

/** Objects of which status does not tell how they are now. */
function unseenObjects(rows: readonly NamedRow[]): readonly StatusProblem[] {
  const unseen = rows.filter(({ row }) => row.ready === "Unknown");
  return [...Map.groupBy(unseen, ({ row }) => row.message)].map(([message, of]) => {
    const names = of.map(({ name }) => name);
    const [object = ""] = names;
    const text = names.length > 1 ? ofSeveral(message) : message;
    return {
      object: names.length > 1 ? "" : object,
      symbol: "!",
      what: `${listText(names, MOST_SUBJECTS)}: ${text}`,
      since: "",
      next: "",
    };
  });
}

function ofSeveral(message: string): string {
  return message
    .replace(/\bit\b/, "them")
    .replace(/\bspec was\b/, "specs were")
    .replace(/\bits status\b/, "their statuses");
}

/** Returns what is wrong with addresses that no `flipop host` keeps on their hosts. Pure. */
export function unkeptProblems(rows: readonly NamedRow[], nowMs: number): readonly StatusProblem[] {
  const unkept = unkeptAddresses(rows);
  const [object = "", ...others] = new Set(unkept.map((one) => one.object));
  return unkeptTexts(unkept, nowMs).map((what) => {
    return { object: others.length === 0 ? object : "", symbol: "!", what, since: "", next: UNKEPT_HELP };
  });
}

/** Objects of shards that nobody runs with. */
function unservedProblems(rows: readonly NamedRow[], { unusedShards }: Overview): readonly StatusProblem[] {
  const texts = unservedTexts(rows, unusedShards);
  return texts.map((what) => ({ object: "", symbol: "!", what, since: "", next: UNSERVED_HELP }));
}

/** Addresses that status calls active, on nodes that cannot serve any more. */
function unseenTrouble(rows: readonly NamedRow[], { reconciler, nowMs }: Overview): readonly StatusProblem[] {
  const lost = lostAddresses(rows);
  const [object = "", ...others] = new Set(lost.map((one) => one.object));
  return lostTexts(lost, nowMs).map((what) => {
    return {
      object: others.length === 0 ? object : "",
      symbol: "!",
      what,
      since: "",
      next:
        reconciler.lastRun === ""
          ? "flipop plan shows what a run does about it."
          : `The last run was ${agoText(reconciler.lastRun, nowMs)}. flipop plan shows what the next one does.`,
    };
  });
}

/** Returns what objects ask for and are not granted, since when, and who can grant it. */
export function missingGrants(overview: Overview): readonly StatusProblem[] {
  return namedRows(overview).flatMap(({ row: { notGranted }, name }) => {
    if (notGranted === undefined) return [];
    const { since, message, reason } = notGranted;
    const what = `${name}, since ${agoText(since, overview.nowMs)}: ${message || reason}`;
    return [{ object: name, symbol: "!", what, since: "", next: "" }];
  });
}

/** Returns a problem as lines, wrapped: what, and below it since when and what next. */
export function problemLines({ symbol, what, since, next }: StatusProblem, layout: Layout): readonly string[] {
  return entryLines(symbol, what, [since, next].filter(Boolean).join("; "), layout);
}

/** Returns `2 failed, next in 5s`, or `-` when nothing is to be tried again. */
export function retryText(retry: RetryStatus | undefined, nowMs: number): string {
  return retry === undefined ? "-" : `${retry.attempts} failed, next ${aheadText(retry.nextAttemptTime, nowMs)}`;
}

/** Returns `suspended until 10:00:00 UTC (in 2h) by ana (maintenance 4711)`; only `suspended` where the spec says it. */
export function suspendedText(suspended: Suspended, nowMs: number): string {
  const { source, untilMs } = suspended;
  if (source === "spec") return "suspended";
  const until = untilMs === undefined ? "" : ` ${untilText(untilMs, nowMs)}`;
  return `suspended${until} ${whySuspended(suspended)}`;
}
