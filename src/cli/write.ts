import type { JSONObject } from "../report/document.ts";
import type { OutputFormat } from "./flags.ts";

/** A stream to write to, and what it is. */
export interface OutputStream {
  readonly isTTY: boolean;
  /** Width of the terminal; absent for anything else. */
  readonly columns?: number;
  write(text: string): void;
}

/** Where a command's output goes. */
export interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** How the lines on stderr look. */
export interface LineStyle {
  readonly format: "text" | "json";
  readonly isQuiet: boolean;
  /** RFC 3339 time of a JSON line. */
  readonly now: () => string;
  /** Fields that every JSON line carries. */
  readonly fields: JSONObject;
}

/** Level of a line on stderr. */
export type Level = "info" | "warn" | "error";

/** Writes a result to stdout: text as it is. */
export function writeText(streams: Streams, text: string): void {
  if (text !== "") streams.stdout.write(text);
}

/** Writes exactly one document to stdout, as JSON or YAML. */
export async function writeDocument(
  streams: Streams,
  document: JSONObject,
  format: OutputFormat & ("json" | "yaml"),
): Promise<void> {
  if (format === "json") return streams.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  const { yamlText } = await import("./yaml-text.ts");
  streams.stdout.write(yamlText(document));
}

/** Writes one line to stderr, as text or as JSON; `-q` leaves only errors. */
export function writeLine(
  streams: Streams,
  style: LineStyle,
  level: Level,
  msg: string,
  fields: JSONObject = {},
): void {
  if (style.isQuiet && level !== "error") return;
  const text =
    style.format === "json"
      ? JSON.stringify({ time: style.now(), level, msg, ...style.fields, ...fields })
      : `flipop: ${msg}`;
  streams.stderr.write(`${text}\n`);
}
