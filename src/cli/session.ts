import type { Secrets } from "../ports/system.ts";
import type { Verbosity } from "../report/error-text.ts";
import type { Palette } from "../report/palette.ts";
import { rfc3339 } from "../report/time-text.ts";
import { isColourOn } from "./colour.ts";
import type { Warn } from "./config.ts";
import type { CommonFlags, OutputFormat } from "./flags.ts";
import type { Invocation } from "./invocation.ts";
import { KnownSecrets } from "./outgoing-text.ts";
import { loadPalette } from "./palette.ts";
import { type LineStyle, writeLine } from "./write.ts";

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
