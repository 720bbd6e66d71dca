import { checkText } from "./knowledge.ts";

/** Returns each finding of a text as `LINE:COLUMN CODE PATH`, with `~` behind the code of a warning. */
export function toldOf(text: string): readonly string[] {
  return checkText(text).findings.map(({ line, column, code, severity, path }) =>
    `${line}:${column} ${code}${severity === "warning" ? "~" : ""} ${path}`.trim(),
  );
}
