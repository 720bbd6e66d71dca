import { refKey } from "../../model/action.ts";
import { entryText } from "../../model/address.ts";
import type { Change } from "../../model/change.ts";
import type { ChangeTold, Explanation, Gate, NodeTold, Section, ShownGate, Subject } from "../../model/explanation.ts";
import { GATES } from "../../model/gates.ts";
import { adviceFor, capital, reasonText } from "../../model/hold.ts";
import { nodePhrase, verdictPhrase } from "../../model/node-phrase.ts";
import { REASONS, type Reason } from "../../model/reason.ts";
import { RETRY_REASONS } from "../../model/resource.ts";
import { plain } from "../../model/text.ts";
import { durationText } from "../../model/time.ts";
import { actionLine } from "./actions.ts";
import { pastSymbol, pastText } from "./history.ts";
import { countText, type Layout, listText, wrap } from "./layout.ts";
import { nameTexts } from "./simulation.ts";
import { clockText, paceText, readableTimes, sinceClockText, stampText, untilText } from "./times.ts";

/** The longest name of a gate, with the space behind it. */
const GATE_COLUMN = 18;
/** How many names a line lists. */
const MOST_NAMES = 3;

/** What happened before, as far as it is about what is explained. */
export interface ExplainedPast {
  /** The newest first. */
  readonly changes: readonly Change[];
  /** What could not be read, a sentence each. */
  readonly gaps: readonly string[];
  /** What `flipop history` calls it. */
  readonly target: string;
}

/** How many changes of the past are shown unless `wide`. */
const MOST_PAST = 5;

/** Renders an explanation for people, with what happened before below it. `past` absent = it was not asked for. */
export function renderExplanation(
  explanation: Explanation,
  layout: Layout & { readonly wide: boolean },
  past?: ExplainedPast,
): string {
  const { sections, facts } = explanation;
  const lines = [
    ...sections.flatMap((section, at) => [...(at === 0 ? [] : [""]), ...sectionLines(section, explanation, layout)]),
    ...(sections.length > 0 && facts.length > 0 ? [""] : []),
    ...facts.flatMap((fact) => wrap(shown(fact, explanation), "", layout.width)),
    ...(past === undefined ? [] : pastLines(past, explanation, layout)),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** A text as people read it: on one line, with times of the day. */
function shown(text: string, { observedAtMs }: Pick<Explanation, "observedAtMs">): string {
  return readableTimes(plain(text), observedAtMs);
}

function pastLines(
  { changes, gaps, target }: ExplainedPast,
  { observedAtMs, sections }: Explanation,
  { width, wide }: Layout & { readonly wide: boolean },
): readonly string[] {
  if (changes.length + gaps.length === 0) return [];
  const newest = wide ? changes : changes.slice(0, MOST_PAST);
  const lines = newest.map((change) => {
    const { timeMs, object, outcome, reason } = change;
    const whose = object === undefined || sections.length === 1 ? "" : `${refKey(object)}: `;
    const text = `${pastSymbol(change)} ${whose}${pastText(change, observedAtMs)}${outcome === "applied" && reason !== "" ? ` (${reason})` : afterColon(change.why)}`;
    return `${clockText(timeMs, observedAtMs)}  ${plain(text)}`;
  });
  const rest = changes.length - newest.length;
  const more = rest === 0 ? [] : [`${rest} more: flipop history ${target}`];
  return ["", "History:", ...[...lines, ...more, ...gaps].flatMap((line) => wrap(plain(line), "  ", width))];
}

function afterColon(why: string): string {
  return why === "" ? "" : `: ${why}`;
}

function sectionLines(
  section: Section,
  explanation: Explanation,
  layout: Layout & { readonly wide: boolean },
): readonly string[] {
  const { palette, width } = layout;
  return [
    ...wrap(shown(section.message, explanation), "", width),
    ...section.facts.flatMap((fact) => wrap(shown(fact, explanation), "  ", width)),
    "",
    palette.strong(refKey(section.object)),
    ...gateLines(section, explanation, layout),
    ...nodeLines(section.nodes, layout),
    ...changeLines(section, explanation, layout),
  ];
}

const MARK = { open: "=", shut: "!", unread: "?", unasked: "." } as const;

function markOf({ pass, isUnread }: Gate): string {
  if (isUnread === true) return MARK.unread;
  if (pass === undefined) return MARK.unasked;
  return pass ? MARK.open : MARK.shut;
}

function gateLines(
  { gates, object }: Section,
  { observedAtMs: nowMs, subject }: Explanation,
  { palette, width, wide }: Layout & { readonly wide: boolean },
): readonly string[] {
  const isPlain = (gate: Gate): boolean => gate.pass === true && gateText(gate, object.kind, nowMs) === "";
  const folded = wide ? [] : gates.filter(isPlain);
  const names = folded.map(({ id }) => id);
  const head =
    names.length === 0
      ? []
      : wrap(names.join(", "), "  = ", width).map((line, at) => (at === 0 ? line : `    ${line.slice(4)}`));
  const others = gates.filter((gate) => !folded.includes(gate));
  const lines = others.flatMap((gate) => {
    const text = `${addressOf(gate, subject)}${gateText(gate, object.kind, nowMs)}`;
    const paint = gate.pass === false ? palette.bad : gate.isUnread ? palette.notable : palette.faint;
    const [first = "", ...rest] = wrap(text, " ".repeat(4 + GATE_COLUMN), width);
    return [`  ${paint(markOf(gate))} ${gate.id.padEnd(GATE_COLUMN)}${first.trimStart()}`.trimEnd(), ...rest];
  });
  return [...head, ...lines];
}

/** The address that a gate is about, where an object's are explained together. */
function addressOf({ id, about }: Gate, subject: Subject): string {
  const isOfAddress = GATES[id].of === "address" || GATES[id].of === "pair";
  const isOfWhole = subject.kind === "object" || subject.kind === "name";
  return isOfWhole && isOfAddress && about !== undefined ? `${entryText(about)}: ` : "";
}

/** Returns what a gate says, without its name; `""` where it only holds. */
export function gateText(gate: Gate, kind: Section["object"]["kind"], nowMs: number): string {
  const { id, pass, reason, detail, sinceMs, about, isUnread } = gate;
  const since = sinceMs === undefined ? "" : sinceClockText(sinceMs, nowMs);
  if (pass === true) return since;
  if (pass === undefined && isUnread !== true) return "not asked";
  if (about !== undefined && id === "stays") return `${about} matches, and an address never leaves a node that matches`;
  if (about !== undefined && id === "turn") return `${about} comes first`;
  return reason === undefined ? detail : whyShut({ ...gate, reason }, kind, since, nowMs);
}

function whyShut(
  { id, reason, detail, notBeforeMs, advice }: Gate & { readonly reason: Reason },
  kind: Section["object"]["kind"],
  since: string,
  nowMs: number,
): string {
  const { isOfTaint, phrase, tell } = REASONS[reason];
  if (isOfTaint === true) return taintText({ reason, detail }, since);
  if (phrase !== undefined)
    return [nodePhrase({ reason, detail: plain(detail) }), since].filter((part) => part !== "").join(" ");
  const general = reasonText(reason, kind).replace(/\.$/, "");
  const said = readableTimes(plain(detail), nowMs).replace(/\.$/, "");
  const told = said === "" ? general : tell === "detail" ? capital(said) : `${general}: ${said}`;
  // What waits for a time of its own may say it already.
  const isTimed = notBeforeMs === undefined || told.includes(clockText(notBeforeMs, nowMs));
  const until = isTimed ? "" : ` ${capital(untilText(notBeforeMs, nowMs))}.`;
  return `${told}${since === "" ? "" : `, ${since}`}.${until}${isSaidAtGate(id) && advice !== undefined ? ` ${advice}` : ""}`;
}

/** True where the gate itself says what to do: it may be shut although the object has all that it asks for. */
function isSaidAtGate(id: Gate["id"]): boolean {
  return id === "approval";
}

function taintText(verdict: Parameters<typeof verdictPhrase>[0], since: string): string {
  const when = since === "" ? "" : ` ${since}`;
  const taint = `${plain(verdict.detail)} is not tolerated`;
  return verdictPhrase(verdict) === "cordoned" ? `cordoned${when}; ${taint}` : `${taint}${when}`;
}

/** Nodes by the first gate that they fail, the largest group first. */
function nodeLines(nodes: readonly NodeTold[], { width }: Layout): readonly string[] {
  if (nodes.length === 0) return [];
  const groups = Map.groupBy(nodes, ({ gate }) => (gate === undefined ? "match" : phraseOf(gate)));
  const sorted = [...groups].toSorted(
    ([a, x], [b, y]) => Number(b === "match") - Number(a === "match") || y.length - x.length,
  );
  const parts = sorted.map(([phrase, group]) => {
    const names = listText(
      group.map(({ node }) => node),
      MOST_NAMES,
    );
    return `${group.length} ${phrase} (${names})`;
  });
  return wrap(`${countText(nodes.length, "node")}: ${parts.join("; ")}.`, "    ", width);
}

function phraseOf({ reason, detail, isUnread }: Gate): string {
  if (isUnread === true || reason === undefined) return "not readable";
  return verdictPhrase({ reason, detail });
}

/** Said where what flipop will do next was refused the last time, and only a person can end that. */
const REFUSED = "What was refused has to be mended first; then it comes true by itself";

function isRefused(gates: readonly ShownGate[]): boolean {
  return gates.some(({ pass, reason }) => pass === false && RETRY_REASONS.some((one) => one === reason));
}

function changeLines(
  section: Section,
  { horizonMs, assumed, observedAtMs }: Explanation,
  { width }: Layout,
): readonly string[] {
  const { counterfactual, holds, isComing, plans, next, gates } = section;
  if (holds || gates.some(({ reason }) => reason === "Deleting")) return [];
  const what = `(${countText(plans, "plan")} tried)`;
  const head = isComing
    ? [
        `${isRefused(gates) ? REFUSED : "Nothing has to change: it comes true by itself"} within ${durationText(horizonMs)} ${what}.`,
      ]
    : counterfactual === undefined
      ? [
          `No change of up to 6 facts that flipop knows would do it within ${durationText(horizonMs)} ${what}.`,
          ...adviceLines(section),
        ]
      : [
          `Smallest change: ${countText(counterfactual.changes.length, "fact")} ${what}`,
          ...counterfactual.changes.flatMap((change, at) => [
            `  ${at + 1} ${changeText(change)}`,
            ...(counterfactual.alternatives[at] ?? []).map((other) => `      or ${changeText(other)}`),
          ]),
        ];
  const actions = next.steps.flatMap((step) => step.actions.map((action) => ({ atMs: step.atMs, action })));
  const lines = actions.map(({ atMs, action }) => `  ${stampText(atMs - observedAtMs)}  ${actionLine(action)}`);
  const pace = paceText(assumed);
  return [
    "",
    ...head.flatMap((line) => wrap(line.trimStart(), " ".repeat(line.length - line.trimStart().length), width)),
    ...(lines.length === 0 ? [] : wrap(`Then (${pace}):`, "", width)),
    ...[...lines, ...next.names.flatMap(nameTexts)].flatMap((line) => wrap(line.trimStart(), "  ", width)),
  ];
}

function changeText({ message, command, edit }: ChangeTold): string {
  if (command !== undefined) return command;
  return edit === undefined ? message : `${message} (--if ${edit})`;
}

/** What a person can do about the first gate that is shut, where flipop cannot tell a change. */
function adviceLines({ gates, object }: Section): readonly string[] {
  const shut = gates.find(({ pass }) => pass === false);
  if (shut?.reason === undefined || isSaidAtGate(shut.id)) return [];
  const { reason, detail, advice: own } = shut;
  const told = own === undefined ? {} : { advice: own };
  const advice = adviceFor({ kind: "reconcile", object, subject: "", reason, detail, needsPerson: true, ...told });
  return advice === undefined ? [] : [advice];
}
