import {
  CHECK_GROUPS,
  CHECKS,
  type CheckFinding,
  type CheckGroup,
  type CheckReport,
  type CheckResult,
  countResults,
} from "../../model/check.ts";
import { type Layout, type Palette, wrap } from "./layout.ts";

const MARKS: Readonly<Record<CheckResult, readonly [mark: string, paint: keyof Palette]>> = {
  success: ["=", "faint"],
  warning: ["~", "notable"],
  error: ["!", "bad"],
  unknown: ["?", "notable"],
  skipped: [".", "faint"],
};

const GROUP_COLUMN = Math.max(...CHECK_GROUPS.map(({ length }) => length)) + 2;
/** Of what follows the mark: the group, the mark, a space and the code. */
const TEXT_COLUMN = GROUP_COLUMN + "! FLP101 ".length;

/** The least room for what is found beside its code, characters. */
const LEAST_TEXT = 32;
const NARROW_INDENT = "    ";

/** Returns what checks found, by group: a group in which all is fine is one line, unless all is shown. Pure. */
export function renderChecks(report: CheckReport, layout: Layout & { readonly wide: boolean }): string {
  const lines = CHECK_GROUPS.flatMap((group) => {
    const findings = report.findings.filter(({ code }) => CHECKS[code].group === group);
    return findings.length === 0 ? [] : groupLines(group, findings, layout);
  });
  return [...lines, "", ...wrap(summaryOf(report), "", layout.width)].map((line) => `${line}\n`).join("");
}

function groupLines(
  group: CheckGroup,
  findings: readonly CheckFinding[],
  layout: Layout & { readonly wide: boolean },
): readonly string[] {
  const shown = findings.filter(({ result }) => layout.wide || !(result === "success" || result === "skipped"));
  const parts = layout.wide ? [] : partLines(findings, layout);
  if (shown.length > 0)
    return [
      ...shown.flatMap((finding, at) => findingLines(at === 0 ? group : "", finding, shown[at + 1], layout)),
      ...parts,
    ];
  const fine = findings.filter(({ result }) => result === "success");
  const [mark, paint] = MARKS[fine.length > 0 ? "success" : "skipped"];
  const [first] = findings;
  const said = fine.length > 0 ? `${fine.length} fine: ${noteOf(group, fine)}` : (first?.message ?? "");
  return [...markedLines(group, layout.palette[paint](mark), said, layout), ...parts];
}

function markedLines(group: string, mark: string, said: string, { width }: Layout): readonly string[] {
  const lines = wrap(said, " ".repeat(GROUP_COLUMN + 2), width);
  return lines.map((line, at) => (at === 0 ? `${group.padEnd(GROUP_COLUMN)}${mark} ${line.trimStart()}` : line));
}

/** The providers that were not looked at although others were, each once. */
function partLines(findings: readonly CheckFinding[], layout: Layout): readonly string[] {
  const [mark, paint] = MARKS.skipped;
  const said = new Set(findings.flatMap(({ isOfPart, message }) => (isOfPart === true ? [message] : [])));
  return [...said].flatMap((text) => markedLines("", layout.palette[paint](mark), text, layout));
}

/** Which finding tells most of a group in which all is fine. */
const TELLING: Readonly<Record<CheckGroup, string>> = {
  cluster: "FLP102",
  crds: "FLP111",
  permissions: "FLP122",
  runs: "FLP132",
  providers: "FLP145",
  addresses: "FLP151",
  names: "FLP161",
  firewalls: "FLP171",
  metrics: "FLP182",
  others: "FLP191",
};

function noteOf(group: CheckGroup, fine: readonly CheckFinding[]): string {
  return (fine.find(({ code }) => code === TELLING[group]) ?? fine[0])?.message ?? "";
}

/** What to know of several findings of one code, and to do about them, is told once, below the last of them. */
function findingLines(
  group: string,
  finding: CheckFinding,
  next: CheckFinding | undefined,
  { palette, width }: Layout,
): readonly string[] {
  const { code, result, message } = finding;
  const [mark, paint] = MARKS[result];
  // Beside the code there would be room for a word or two: what is found stands below it.
  const isNarrow = width !== undefined && width < TEXT_COLUMN + LEAST_TEXT;
  const indent = isNarrow ? NARROW_INDENT : " ".repeat(TEXT_COLUMN);
  const [first = "", ...rest] = isNarrow ? ["", ...wrap(message, indent, width)] : wrap(message, indent, width);
  const head = `${group.padEnd(GROUP_COLUMN)}${palette[paint](mark)} ${code} ${first.trimStart()}`.trimEnd();
  if (result !== "error" && result !== "warning") return [head, ...rest];
  const [own, after] = [adviceOf(finding), next?.code === code ? adviceOf(next) : undefined];
  const told = (part: keyof Advice): readonly string[] => (own[part] === after?.[part] ? [] : [own[part] ?? ""]);
  const below = [[...told("consequence"), ...told("hint")].join(" "), ...told("command")].filter(Boolean);
  return [head, ...rest, ...below.flatMap((text) => wrap(text, indent, width)).map((line) => palette.faint(line))];
}

type Advice = Pick<CheckFinding, "consequence" | "hint" | "command">;

function adviceOf({ code, consequence, hint, command }: CheckFinding): Advice {
  const facts = CHECKS[code];
  const said = command ?? facts.command;
  return {
    consequence: consequence ?? facts.consequence,
    hint: hint ?? facts.hint,
    ...(said === undefined ? {} : { command: said }),
  };
}

function summaryOf(report: CheckReport): string {
  const counts: readonly (readonly [CheckResult, string])[] = [
    ["error", "failed"],
    ["warning", "to look at"],
    ["unknown", "not known"],
    ["success", "fine"],
    ["skipped", "not applicable"],
  ];
  const told = counts.flatMap(([result, words]) => {
    const count = countResults(report, result);
    return count === 0 ? [] : [`${count} ${words}`];
  });
  return told.length === 0 ? "Nothing was looked at." : `${told.join(", ")}.`;
}
