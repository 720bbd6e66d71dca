import { countOf, type Finding, type Findings } from "../../model/finding.ts";
import { countText, type Layout, wrap } from "./layout.ts";

/** Returns findings as a table, one a line, and below it what was looked at; on a terminal messages are wrapped beside their column. Pure. */
export function renderFindings(result: Findings, { palette, width }: Layout): string {
  const { findings } = result;
  const places = columnOf(findings.map(({ file, line, column }) => `${file}:${line}:${column}`));
  const severities = columnOf(findings.map(({ severity }) => severity));
  const lines = findings.flatMap((finding, at) => {
    const { code, severity } = finding;
    const paint = severity === "error" ? palette.bad : palette.notable;
    const head = `${places[at]}   ${severities[at]}   ${code}   `;
    const [first = "", ...rest] = wrap(saidOf(finding), " ".repeat(head.length), roomFor(head, width));
    return [`${places[at]}   ${paint(severities[at] ?? "")}   ${code}   ${first.trimStart()}`, ...rest];
  });
  return [...lines, summaryOf(result)].map((line) => `${line}\n`).join("");
}

function summaryOf({ findings, objects, others, files, suppressed }: Findings): string {
  const [errors, warnings] = [countOf(findings, "error"), countOf(findings, "warning")];
  const counts = [
    ...(errors === 0 ? [] : [countText(errors, "error")]),
    ...(warnings === 0 ? [] : [countText(warnings, "warning")]),
    ...(suppressed === 0 ? [] : [`${suppressed} suppressed`]),
  ];
  const looked = `${countText(objects, "object")} in ${countText(files, "file")}`;
  const passed = others === 0 ? "" : ` ${countText(others, "object")} of other groups passed over.`;
  return `${looked}: ${counts.length === 0 ? "nothing found" : counts.join(", ")}.${passed}`;
}

/** Returns a finding as a sentence that begins with its path. Pure. */
export function saidOf({ path, message }: Pick<Finding, "path" | "message">): string {
  return path === "" ? message : `${path}: ${message}`;
}

/** A terminal too narrow for the column gets lines as long as they are. */
function roomFor(head: string, width: number | undefined): number | undefined {
  return width === undefined || width < head.length + LEAST_ROOM ? undefined : width;
}

const LEAST_ROOM = 32;

function columnOf(texts: readonly string[]): readonly string[] {
  const width = Math.max(0, ...texts.map(({ length }) => length));
  return texts.map((text) => text.padEnd(width));
}

/** So many annotations of a severity GitHub shows for one step; more are dropped without a word (documented, verified 2026-11). */
const MOST_SHOWN = 10;

/** Returns findings as commands of a GitHub workflow, which shows them at their lines: the worst first, at most ten of a severity. Pure. */
export function renderAnnotations(result: Findings): string {
  const annotations = (["error", "warning"] as const).flatMap((severity) => {
    const all = result.findings.filter((finding) => finding.severity === severity);
    const more = all.length - MOST_SHOWN;
    return [
      ...all.slice(0, MOST_SHOWN).map(annotationOf),
      ...(more > 0 ? [`${countText(more, `more ${severity}`)}`] : []),
    ];
  });
  return [...annotations, summaryOf(result)].map((line) => `${line}\n`).join("");
}

function annotationOf(finding: Finding): string {
  const { severity, file, line, column, code } = finding;
  const properties = `file=${escapedProperty(file)},line=${line},col=${column},title=${code}`;
  return `::${severity} ${properties}::${escapedData(saidOf(finding))}`;
}

function escapedData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
