import { type Action, type ImpactClass, isVoluntary, refKey, targetPlace } from "../../model/action.ts";
import { changesName } from "../../model/action-kinds.ts";
import { isAboutObject } from "../../model/hold.ts";
import type { Hold } from "../../model/plan.ts";
import {
  type CallCount,
  type LossCase,
  type Moves,
  type NameFate,
  outagesBeyond,
  type SimulatedStep,
  type Simulation,
} from "../../model/simulation.ts";
import { plain, plainValue } from "../../model/text.ts";
import { durationText } from "../../model/time.ts";
import { actionLine } from "./actions.ts";
import { holdText, whyHold } from "./holds.ts";
import { blockLines, countText, type EntrySymbol, type Layout, listText, renderTable, wrap } from "./layout.ts";
import { editsText, gapBlocks } from "./plan.ts";
import { type EditsTold, symbolOf } from "./plan-entries.ts";
import { paceText, rfc3339, stampText } from "./times.ts";

/** How a simulation is laid out. */
export interface SimulationLayout extends Layout {
  readonly wide: boolean;
  /** How the world was imagined; absent = as it is. */
  readonly edits?: EditsTold;
  /** The longest outage that is expected, milliseconds; absent where nothing is. */
  readonly mostOutageMs?: number | undefined;
}

/** Renders what happens next for people: each step with its time, then what it costs and whom. */
export function renderSimulation(told: Simulation, layout: SimulationLayout): string {
  const simulation = plainValue(told);
  const read = rfc3339(simulation.observedAtMs).replace("T", " ").replace("Z", " UTC");
  const when = simulation.scenario === undefined ? "" : `, while ${simulation.scenario}`;
  const head = `What happens next in ${simulation.cluster}, read ${read}${when}${editsText(layout.edits)}`;
  const gaps = blockLines(
    gapBlocks({ gaps: simulation.gaps, holds: [], pools: [], observedAtMs: simulation.observedAtMs }),
    layout,
  );
  const { cases } = simulation;
  const body =
    cases === undefined
      ? [...storyLines(simulation, layout), "", ...gaps, ...wrapped(summaryLines(simulation), layout)]
      : [...lossTable(cases, layout), "", ...gaps, ...wrapped(lossSummary(simulation, cases), layout)];
  const lines = [
    ...wrap(`${head} (${assumedText(simulation)})`, "", layout.width),
    "",
    ...body,
    ...expectationLines(simulation, layout),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function wrapped(texts: readonly string[], { width }: Layout): readonly string[] {
  return texts.flatMap((text) => wrap(text, "", width));
}

function storyLines({ steps, observedAtMs }: Simulation, layout: SimulationLayout): readonly string[] {
  if (steps.length === 0) return ["Nothing: all is as it should be, or waits for a change."];
  return steps.flatMap((step) => stepLines(step, observedAtMs, layout));
}

function assumedText({ assumed }: Simulation): string {
  const { nodeReadyMs, drainMs, goneAfterMs } = assumed;
  const node = nodeReadyMs === undefined ? [] : [`a new node ${durationText(nodeReadyMs)}`];
  const drained = drainMs === undefined ? [] : [`a drained node keeps its pods for ${durationText(drainMs)}`];
  const gone = goneAfterMs === undefined ? [] : [`a lost node is gone after ${durationText(goneAfterMs)}`];
  return [paceText(assumed), ...node, ...drained, ...gone].join(", ");
}

/** What stands before a line: two spaces, the time, two spaces. */
const STAMP_COLUMN = 11;

function stepLines(step: SimulatedStep, startMs: number, layout: SimulationLayout): readonly string[] {
  const { palette } = layout;
  const stamp = `  ${stampText(step.atMs - startMs)}`.padEnd(STAMP_COLUMN);
  const annotations = step.actions.filter(isAnnotation);
  const told = layout.wide ? step.actions : step.actions.filter((action) => !isAnnotation(action));
  const entry = (symbol: EntrySymbol, text: string): readonly string[] => entryAt(`${stamp}${symbol} `, text, layout);
  return [
    ...(step.event === undefined
      ? []
      : wrap(step.event, " ".repeat(STAMP_COLUMN), layout.width).map((line, at) =>
          palette.strong(at === 0 ? `${stamp}${line.slice(STAMP_COLUMN)}` : line),
        )),
    ...told.flatMap((action) => entry(symbolOf(action), `${actionLine(action)}${classText(action)}`)),
    ...(layout.wide || annotations.length === 0
      ? []
      : entry(
          "~",
          `${countText(annotations.length, "annotation")} (-o wide shows ${annotations.length === 1 ? "it" : "them"})`,
        )),
    ...step.holds.flatMap((hold) =>
      entry(hold.needsPerson ? "!" : ".", `${heldText(hold)}. ${whyHold(hold, step.atMs)}`),
    ),
  ];
}

/** An entry behind its time; further lines stand below its first word. */
function entryAt(head: string, text: string, { width }: Layout): readonly string[] {
  return wrap(text, " ".repeat(head.length), width).map((line, at) =>
    at === 0 ? `${head}${line.slice(head.length)}` : line,
  );
}

function heldText(hold: Hold): string {
  return isAboutObject(hold) ? `${refKey(hold.object)}: ${holdText(hold)}` : holdText(hold);
}

function isAnnotation({ kind }: Action): boolean {
  return kind === "annotate-node" || kind === "clear-annotation";
}

const TOLD_CLASSES: Readonly<Record<ImpactClass, string>> = {
  none: "",
  recovery: "",
  relocation: ": relocation",
  reduction: ": reduction",
  takeover: ": takeover",
};

function classText(action: Action): string {
  return isVoluntary(action) ? TOLD_CLASSES[action.impact ?? "none"] : "";
}

function summaryLines(simulation: Simulation): readonly string[] {
  const { steps, moves, calls, names, spares, isCutOff, endsAtMs, observedAtMs } = simulation;
  const writes = steps.flatMap(({ actions }) => actions).filter(changesName).length;
  const scarce = spares.filter(({ nodes }) => nodes.length === 0).map(({ object }) => refKey(object));
  const comings = steps.flatMap(({ actions }) => actions).filter((action) => targetPlace(action) !== undefined).length;
  const counts = [
    `${movesText(moves, comings - moves.made)}.`,
    ...(writes === 0 ? [] : [`${countText(writes, "DNS write")}.`]),
    ...(calls.length === 0 ? [] : [`${calls.map(callsText).join("; ")}.`]),
  ];
  return [
    counts.join(" "),
    ...names.flatMap(nameTexts),
    ...servedText(names),
    ...(scarce.length === 0
      ? []
      : [`${listText(scarce, 3)} ${scarce.length === 1 ? "has" : "have"} no spare node in the end.`]),
    isCutOff
      ? `After ${durationText(endsAtMs - observedAtMs)} something is still waited for: --horizon looks further.`
      : `At rest ${endsAtMs === observedAtMs ? "now" : `from ${stampText(endsAtMs - observedAtMs)} on`}.`,
  ];
}

const LOSS_HEADER = ["LOST", "MOVES", "NO SERVICE", "DEAD ANSWERS", "SPARE NODES"];

/** One row for each loss, and one more for each further name that it concerns. */
function lossTable(cases: readonly LossCase[], { width }: Layout): readonly string[] {
  const told = new Map<string, string>();
  const rows = cases.flatMap(({ lost, moves, names, spareNodes }) => {
    const own = names.map((name) => [lostService(name), deadText(name)] as const);
    const key = JSON.stringify(own);
    const same = own.length === 0 ? undefined : told.get(key);
    if (same === undefined) told.set(key, lost);
    const [first = ["-", "-"], ...more] =
      same === undefined ? own : [[own.some(([text]) => text !== "-") ? "" : "-", `as ${same}`]];
    const row = [lost, String(moves), ...first, spareNodes === undefined ? "-" : String(spareNodes)];
    return [row, ...more.map((texts) => ["", "", ...texts, ""])];
  });
  const cells = rows.map((row) => row.map((text) => ({ text })));
  return renderTable(LOSS_HEADER, cells, { width }).split("\n").slice(0, -1);
}

function lostService({ fqdn, unservedMs, isUnservedAtEnd }: NameFate): string {
  if (isUnservedAtEnd) return `${fqdn} in the end`;
  return unservedMs === 0 ? "-" : `${fqdn} for ${secondsText(unservedMs)}`;
}

function deadText({ fqdn, dead, ttlSeconds }: NameFate): string {
  if (dead === undefined) return "-";
  const howLong = dead.isLasting ? "in the end" : `for ${secondsText(dead.ms)}`;
  return `${fqdn} ${dead.dead}/${dead.of} ${howLong}${dead.ms < ttlSeconds * 1000 ? "" : ` (TTL ${ttlSeconds})`}`;
}

/** What the table comes to, and what is so before anything is lost. */
function lossSummary({ steps, names }: Simulation, cases: readonly LossCase[]): readonly string[] {
  const due = steps.reduce((sum, { actions }) => sum + actions.length, 0);
  const bad = cases.filter((one) => one.names.some((name) => name.unservedMs > 0 || name.isUnservedAtEnd));
  const scarce = Map.groupBy(
    cases
      .filter(({ spareNodes }) => spareNodes === 0)
      .flatMap((one) => one.scarce.map((object) => ({ object, count: one.losses }))),
    ({ object }) => refKey(object),
  );
  const down = names.filter(({ isUnservedAtEnd }) => isUnservedAtEnd).map(({ fqdn }) => fqdn);
  return [
    ...(due === 0
      ? []
      : [
          `First flipop does ${countText(due, "change")} that ${due === 1 ? "is" : "are"} due anyway: flipop simulate shows ${due === 1 ? "it" : "them"}.`,
        ]),
    ...(down.length === 0
      ? []
      : [`Without any loss ${listText(down, 3)} ${down.length === 1 ? "has" : "have"} no service.`]),
    blamedText(bad, down.length > 0),
    ...[...scarce].map(
      ([key, own]) =>
        `In ${countText(
          own.reduce((sum, { count }) => sum + count, 0),
          "case",
        )} ${key} has no spare node left: a second loss would leave an address without a node.`,
    ),
  ];
}

/** Which losses leave a name without service; `areMoreDown` = others have none whatever is lost. */
function blamedText(bad: readonly LossCase[], areMoreDown: boolean): string {
  if (bad.length === 0) return `No ${areMoreDown ? "other " : ""}name loses service.`;
  const count = bad.reduce((sum, { losses }) => sum + losses, 0);
  const list = listText(
    bad.map(({ lost }) => lost),
    5,
  );
  return `${countText(count, "loss", "losses")} ${count === 1 ? "leaves" : "leave"} ${areMoreDown ? "another" : "a"} name without service: ${list}.`;
}

/** `first` is how many addresses come to a node that were on none. */
function movesText({ made, needed, again }: Moves, first: number): string {
  const come = `${countText(first, "address comes", "addresses come")} to a node`;
  if (made === 0) return first <= 0 ? "No address moves" : `${come}, none moves`;
  const coming = first <= 0 ? [] : [come];
  return [movedText({ made, needed, again }), ...coming].join("; ");
}

function movedText({ made, needed, again }: Moves): string {
  const paths = again.map(
    ({ ip, nodes }) => `${ip} moves ${countText(nodes.length - 1, "time")} (${nodes.join(" > ")})`,
  );
  return `${countText(made, "move")}, ${needed} needed${paths.length === 0 ? "" : `: ${listText(paths, 3)}`}`;
}

function callsText({ provider, calls, perMinutePeak, limit }: CallCount): string {
  const most = limit === undefined ? "" : ` (limit ${limit.calls} in ${durationText(limit.ms)})`;
  return `${provider}: at least ${countText(calls, "call")}, at most ${perMinutePeak} in a minute${most}`;
}

/** Returns a sentence about each thing that clients of a name miss; none where they miss nothing. */
export function nameTexts({ fqdn, unservedMs, isUnservedAtEnd, dead, ttlSeconds }: NameFate): readonly string[] {
  const name = plain(fqdn);
  const unserved = isUnservedAtEnd
    ? [`${name} has no service in the end.`]
    : unservedMs > 0
      ? [`${name} has no service for ${secondsText(unservedMs)}.`]
      : [];
  if (dead === undefined) return unserved;
  const ttl = dead.ms < ttlSeconds * 1000 ? "" : ` (TTL ${ttlSeconds})`;
  const howLong = dead.isLasting ? "in the end, too" : `for ${secondsText(dead.ms)} in all${ttl}`;
  const who = dead.dead === 1 ? "1 of" : `up to ${dead.dead} of`;
  const verb = dead.dead === 1 ? "answers" : "answer";
  return [...unserved, `${name}: ${who} ${countText(dead.of, "address", "addresses")} ${verb} nobody ${howLong}.`];
}

function secondsText(ms: number): string {
  return ms < 120_000 ? `${Math.ceil(ms / 1000)} s` : durationText(ms);
}

/** Names that always have service, in one sentence. */
function servedText(names: readonly NameFate[]): readonly string[] {
  const served = names.filter(({ unservedMs, isUnservedAtEnd }) => unservedMs === 0 && !isUnservedAtEnd);
  if (served.length === 0) return [];
  const list = listText(
    served.map(({ fqdn }) => plain(fqdn)),
    3,
  );
  return [`${list} always ${served.length === 1 ? "has" : "have"} service.`];
}

/** Returns what became of the expectation; nothing where there is none. */
function expectationLines(
  simulation: Simulation,
  { mostOutageMs, width, palette }: SimulationLayout,
): readonly string[] {
  if (mostOutageMs === undefined) return [];
  const expected = mostOutageMs === 0 ? "no outage" : `no outage longer than ${secondsText(mostOutageMs)}`;
  const outages = outagesBeyond(simulation, mostOutageMs);
  if (simulation.gaps.length > 0 && outages.length === 0)
    return wrap(palette.bad(`Expected ${expected}: nobody can say, since not everything could be read.`), "", width);
  if (outages.length === 0) return wrap(palette.good(`Expected ${expected}: so it is.`), "", width);
  const texts = outages.map(({ name, lost }) => `${name.fqdn}${lost === undefined ? "" : ` (${lost} lost)`}`);
  return wrap(palette.bad(`Expected ${expected}; missed by ${listText(texts, 5)}.`), "", width);
}
