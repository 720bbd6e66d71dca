import type { Secrets } from "../ports/system.ts";
import type { Verbosity } from "../report/text/errors.ts";
import { type Palette, PLAIN } from "../report/text/layout.ts";
import { rfc3339 } from "../report/text/times.ts";
import type { Warn } from "./config.ts";
import type { Environment } from "./environment.ts";
import { KnownSecrets, type LineStyle, type Streams, writeLine } from "./output.ts";
import type { CommonFlags, OutputFormat } from "./program.ts";
import type { Backend } from "./wiring.ts";

/** How one command talks: resolved once from flags, environment and streams. */
export interface Session {
  readonly invocation: Invocation;
  readonly output: OutputFormat;
  readonly verbosity: Verbosity;
  /** For texts on stdout. */
  readonly palette: Palette;
  /** Width of the terminal on stdout; absent for a pipe. */
  readonly width?: number;
  readonly lines: LineStyle;
  /** Writes a warning to stderr, each text once. */
  readonly warn: Warn;
  readonly secrets: Secrets;
}

/** Resolves how a command talks. `auto` lines are JSON in a pod without a terminal; documents are never coloured. */
export async function openSession(invocation: Invocation, flags: Partial<CommonFlags>): Promise<Session> {
  const { stdout } = invocation.streams;
  const output = flags.output ?? "table";
  const isColoured = isColourOn(flags.color ?? "auto", invocation.env, stdout.isTTY) && !isDocument(output);
  const lines: LineStyle = {
    format: lineFormat(invocation, flags.logFormat ?? "auto"),
    isQuiet: flags.quiet ?? false,
    now: () => rfc3339(invocation.wallMs()),
    fields: { runID: invocation.runID },
  };
  const warned = new Set<string>();
  return {
    invocation,
    output,
    verbosity: verbosityOf(flags.verbose ?? 0),
    palette: await loadPalette(isColoured),
    ...(stdout.isTTY ? widthOf(stdout.columns) : {}),
    lines,
    secrets: invocation.secrets ?? new KnownSecrets(),
    warn: (reason, text) => {
      if (!warned.has(text)) writeLine(invocation.streams, lines, "warn", text, { reason });
      warned.add(text);
    },
  };
}

/** A terminal that says nothing of its width, or that nothing fits in, counts as one of the usual width: some report 0 columns. */
function widthOf(columns: number | undefined): { readonly width?: number } {
  if (columns === undefined) return {};
  return { width: columns < LEAST_COLUMNS ? USUAL_COLUMNS : columns };
}

const LEAST_COLUMNS = 40;
const USUAL_COLUMNS = 80;

function verbosityOf(count: number): Verbosity {
  if (count >= 2) return 2;
  return count === 1 ? 1 : 0;
}

function lineFormat({ env, streams }: Invocation, wanted: CommonFlags["logFormat"]): LineStyle["format"] {
  if (wanted !== "auto") return wanted;
  return env["KUBERNETES_SERVICE_HOST"] && !streams.stderr.isTTY ? "json" : "text";
}

/** True for the formats that print exactly one document. */
export function isDocument(output: OutputFormat): output is "json" | "yaml" {
  return output === "json" || output === "yaml";
}

/** One call of the program: everything that comes from outside, so that a test can give it. */
export interface Invocation {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly streams: Streams;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Short and unique per run; in every log line. */
  readonly runID: string;
  /** Names this process on the Lease. */
  readonly identity: string;
  /** Local wall clock, milliseconds; times of log lines. */
  readonly wallMs: () => number;
  /** Knows the secrets of the process. Absent = the call starts with those of its own environment. */
  readonly secrets?: Secrets;
  /** Called only by commands that need a cluster. */
  readonly loadBackend: () => Promise<Backend>;
}

/** Returns the palette for a stream; the colour library is loaded only when there is colour. */
async function loadPalette(isColoured: boolean): Promise<Palette> {
  if (!isColoured) return PLAIN;
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level: 1 });
  return {
    strong: (text) => chalk.bold(text),
    faint: (text) => chalk.dim(text),
    good: (text) => chalk.green(text),
    bad: (text) => chalk.red(text),
    notable: (text) => chalk.yellow(text),
  };
}

/** Returns whether a stream gets colour. Precedence: flag, FORCE_COLOR (`0` and `false` = off), NO_COLOR unless empty, TERM=dumb, terminal or not. */
export function isColourOn(flag: "auto" | "always" | "never", env: Environment, isTTY: boolean): boolean {
  if (flag !== "auto") return flag === "always";
  const force = env["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  if (env["NO_COLOR"]) return false;
  return env["TERM"] !== "dumb" && isTTY;
}
