import { CHECK_CODES, CHECKS } from "../model/check.ts";
import { FINDING_CODES, FINDINGS, type Severity } from "../model/finding.ts";
import { nearest } from "../model/nearest.ts";
import { REASONS } from "../model/reason.ts";
import type { ReasonFacts } from "../model/reason-facts.ts";
import { SHARD_LABEL, SHARD_RULE } from "../model/shard.ts";
import { EDIT_FORMS } from "../rehearse/edit.ts";
import { exitCodes } from "../report/exit-code.ts";
import { wrap } from "../report/text/layout.ts";
import { TARGET_FORMS } from "./target.ts";

/** What `flipop help TOPIC` tells, beside the help of commands; printed from the tables that the manual is made of. */
const TOPICS: Readonly<
  Record<
    "exit-codes" | "reasons" | "checks" | "findings" | "targets" | "edits" | "shards",
    (width: number) => readonly string[]
  >
> = {
  "exit-codes": (width) => [
    "Every command ends with one of these codes. A code that says retry is passed by itself, or by another run.",
    "",
    ...exitCodes().flatMap(({ code, meaning, retry }) =>
      entry(String(code), `${meaning.replaceAll("`", "")}${retry === "yes" ? " (retry)" : ""}`, 5, width),
    ),
  ],
  reasons: (width) => [
    "Plans, conditions, Events and logs name one of these words for everything that is done, held or in error.",
    "flipop help QuotaExceeded tells more of one.",
    "",
    ...Object.entries(REASONS).flatMap(([reason, { text }]) => entry(reason, text, REASON_COLUMN, width)),
  ],
  checks: (width) => [
    "flipop doctor makes these checks. flipop help FLP122 tells more of one.",
    "",
    ...CHECK_CODES.flatMap((code) => entry(code, CHECKS[code].text, CHECK_COLUMN, width)),
  ],
  findings: (width) => [
    "flipop validate names one of these codes for everything that it finds. With ~ it is a warning, else an error.",
    "",
    ...FINDING_CODES.flatMap((code) =>
      entry(`${code}${FINDINGS[code].severity === "warning" ? " ~" : ""}`, FINDINGS[code].text, FINDING_COLUMN, width),
    ),
  ],
  targets: () => [
    "plan, explain, reconcile, status, history, suspend, resume and approve take what they are to be about as one of these:",
    "",
    ...TARGET_FORMS.map((form) => `  ${form}`),
    "",
    "Kinds may be written as kubectl knows them: fip/web, floatingippool.flipop.digitalocean.com/web.",
    "A DNS name means the objects that publish it. node/ and ip/ are for plan, explain and history.",
  ],
  edits: () => [
    "flipop plan --if EDIT plans for a world with this difference. Several are made in their order.",
    "",
    ...EDIT_FORMS.map((form) => `  ${form}`),
    "",
    "FIELD is a path below spec, VALUE is YAML; an empty one takes the field away.",
  ],
  shards: (width) => [
    ...wrap(
      "Several processes may share a cluster, each with --shard and with objects of its own. One process is enough for 1,000 nodes and hundreds of objects.",
      "",
      width,
    ),
    "",
    ...entry(
      "--shard 2/3",
      "what has no label, in the namespaces whose name falls to part 2 of 3",
      SHARD_COLUMN,
      width,
    ),
    ...entry("--shard vip", `what has the label ${SHARD_LABEL}=vip`, SHARD_COLUMN, width),
    ...entry("no --shard", "what has no label, in every namespace", SHARD_COLUMN, width),
    "",
    "  flipop manifests --shard 1/2 --shard 2/2   a process for each, and the Role",
    "  flipop plan --shard 2/2                    what that process would do",
    "  flipop doctor                              objects that no process works for",
    "",
    ...wrap(SHARD_RULE, "", width),
    ...wrap("Who would work for objects of another process at work changes nothing and ends with 5.", "", width),
  ],
};

/** The names of all topics. */
export const TOPIC_NAMES: readonly string[] = Object.keys(TOPICS);

const SHARD_COLUMN = "--shard 2/3  ".length;
const CHECK_COLUMN = "FLP101  ".length;
const FINDING_COLUMN = "FLP217 ~  ".length;
const REASON_COLUMN = Math.max(...Object.keys(REASONS).map((reason) => reason.length)) + 2;

/** Returns what is known of a topic or a reason, for people, with a line end; undefined for a word that is neither. */
export function topicText(word: string, width: number): string | undefined {
  const lines = Object.hasOwn(TOPICS, word)
    ? TOPICS[word as keyof typeof TOPICS](width)
    : (checkLines(word, width) ?? findingLines(word, width) ?? reasonLines(word, width));
  return lines === undefined ? undefined : lines.map((line) => `${line}\n`).join("");
}

function checkLines(word: string, width: number): readonly string[] | undefined {
  const code = CHECK_CODES.find((known) => known === word.toUpperCase());
  if (code === undefined) return undefined;
  const { text, consequence, hint, command } = CHECKS[code];
  return [
    ...wrap(`${code}: ${text}`, "", width),
    ...wrap(`${consequence} ${hint}`, "  ", width),
    ...(command === undefined ? [] : [`  ${command}`]),
  ];
}

function findingLines(word: string, width: number): readonly string[] | undefined {
  const code = FINDING_CODES.find((known) => known === word.toUpperCase());
  if (code === undefined) return undefined;
  const { severity, text } = FINDINGS[code];
  return [...wrap(`${code}: ${text}`, "", width), ...wrap(FINDING_MEANS[severity], "  ", width)];
}

const FINDING_MEANS: Readonly<Record<Severity, string>> = {
  error:
    "flipop validate finds it in manifests. It is an error: the API server refuses the object, or something of it is left undone until a person corrects it.",
  warning:
    "flipop validate finds it in manifests. It is a warning: the object works, and may not be meant so. --suppress with the code says that it is.",
};

function reasonLines(word: string, width: number): readonly string[] | undefined {
  const found = Object.entries(REASONS).find(([reason]) => reason.toLowerCase() === word.toLowerCase());
  if (found === undefined) return undefined;
  const [reason, { text, advice, wait, isGuard }] = found;
  return [
    ...wrap(`${reason}: ${text}`, "", width),
    ...(advice === undefined ? [] : wrap(advice, "  ", width)),
    ...wrap(isGuard ? "It is a guard: what it holds would hurt somebody." : ENDS[wait], "  ", width),
    ...(wait === "none" ? [] : wrap(countedText(reason), "  ", width)),
  ];
}

/** Returns which metrics count what is held for the reason. */
function countedText(reason: string): string {
  return `flipop_blocked{reason="${reason}"} counts what it holds until a person acts, flipop_deferred what ends by itself.`;
}

/** What ends it, in words. */
const ENDS: Readonly<Record<ReasonFacts["wait"], string>> = {
  none: "It tells how things are; what they wait for, if anything, is told beside it.",
  time: "Its own time ends it.",
  reading: "The provider is at work; a later look shows the end.",
  change: "flipop goes on by itself once that has changed.",
  run: "A later run goes on with it.",
};

/** Words that other tools have for what flipop calls otherwise. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["apply", "reconcile"],
  ["sync", "reconcile"],
  ["run", "reconcile"],
  ["up", "reconcile"],
  ["diff", "plan"],
  ["preview", "plan"],
  ["dry-run", "plan"],
  ["rehearse", "simulate"],
  ["forecast", "simulate"],
  ["why", "explain"],
  ["get", "status"],
  ["list", "status"],
  ["ls", "status"],
  ["show", "status"],
  ["describe", "status -o wide"],
  ["check", "status --check"],
  ["log", "history"],
  ["logs", "history"],
  ["events", "history"],
  ["audit", "history"],
  ["watch", "reconcile --watch"],
  ["wait", "status --check --wait 2m"],
  ["pause", "suspend"],
  ["stop", "suspend --all"],
  ["unpause", "resume"],
  ["continue", "resume"],
  ["install", "manifests"],
  ["lint", "validate"],
  ["verify", "validate"],
  ["diagnose", "doctor"],
  ["health", "doctor"],
  ["preflight", "doctor --pre"],
]);

/** Returns ` Did you mean reconcile?` for `apply`; `""` where nothing is meant by a word. */
export function meantCommand(word: string, commands: readonly string[]): string {
  const meant = SYNONYMS.get(word.toLowerCase()) ?? nearest(word, commands);
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
}

function entry(name: string, text: string, column: number, width: number): readonly string[] {
  const [first = "", ...rest] = wrap(text, " ".repeat(column), width);
  return [name.padEnd(column) + first.trimStart(), ...rest];
}
