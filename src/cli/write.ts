import { escapedJSON, plain, withoutSteering } from "../model/text.ts";
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

/** What a text may hold that steers a terminal: our own line ends and colours; whatever came from outside is plain by now. */
const OWN_CODES = new RegExp(`(\\n|${String.fromCharCode(27)}\\[\\d{1,2}m)`);

/** Writes a result to stdout. Its line ends and colours are our own; nothing else in it can steer a terminal. */
export function writeText(streams: Streams, text: string): void {
  if (text !== "") streams.stdout.write(shownText(text));
}

/** Writes lines to stdout, each as one line whatever it holds. */
export function writeLines(streams: Streams, lines: readonly string[]): void {
  writeText(streams, lines.map((line) => `${plain(line)}\n`).join(""));
}

function shownText(text: string): string {
  return text
    .split(OWN_CODES)
    .map((part, at) => (at % 2 === 1 ? part : withoutSteering(part)))
    .join("");
}

/** Writes exactly one document to stdout, as JSON or YAML. */
export async function writeDocument(
  streams: Streams,
  document: JSONObject,
  format: OutputFormat & ("json" | "yaml"),
): Promise<void> {
  if (format === "json") return streams.stdout.write(`${escapedJSON(JSON.stringify(document, null, 2))}\n`);
  const { yamlText } = await import("./yaml-text.ts");
  streams.stdout.write(yamlText(document));
}

/** Writes one line to stderr, as text or as JSON; `-q` leaves only errors. A text of several lines is our own. */
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
      ? escapedJSON(JSON.stringify({ time: style.now(), level, msg, ...style.fields, ...fields }))
      : shownText(`flipop: ${msg}`);
  streams.stderr.write(`${text}\n`);
}
