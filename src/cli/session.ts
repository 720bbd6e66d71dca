import type { Verbosity } from "../report/error-text.ts";
import type { Palette } from "../report/palette.ts";
import { rfc3339 } from "../report/time-text.ts";
import { isColourOn } from "./colour.ts";
import type { CommonFlags, OutputFormat } from "./flags.ts";
import type { Invocation } from "./invocation.ts";
import { loadPalette } from "./palette.ts";
import type { LineStyle } from "./write.ts";

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
}

/** Resolves how a command talks. `auto` lines are JSON in a pod without a terminal; documents are never coloured. */
export async function openSession(invocation: Invocation, flags: Partial<CommonFlags>): Promise<Session> {
  const { stdout, stderr } = invocation.streams;
  const output = flags.output ?? "table";
  const isColoured = isColourOn(flags.color ?? "auto", invocation.env, stdout.isTTY) && !isDocument(output);
  const verbosity: Verbosity = (flags.verbose ?? 0) >= 2 ? 2 : flags.verbose === 1 ? 1 : 0;
  const isPod = Boolean(invocation.env["KUBERNETES_SERVICE_HOST"]) && !stderr.isTTY;
  const wanted = flags.logFormat ?? "auto";
  return {
    invocation,
    output,
    verbosity,
    palette: await loadPalette(isColoured),
    ...(stdout.isTTY && stdout.columns !== undefined ? { width: stdout.columns } : {}),
    lines: {
      format: wanted === "auto" ? (isPod ? "json" : "text") : wanted,
      isQuiet: flags.quiet ?? false,
      now: () => rfc3339(invocation.wallMs()),
      fields: { runID: invocation.runID },
    },
  };
}

/** True for the formats that print exactly one document. */
export function isDocument(output: OutputFormat): output is "json" | "yaml" {
  return output === "json" || output === "yaml";
}
