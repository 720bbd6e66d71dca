import type { ProviderError } from "../model/errors.ts";
import type { Secrets } from "../ports/system.ts";
import { errorText, messageOf, type Verbosity } from "../report/text/errors.ts";
import { type Layout, type Palette, PLAIN } from "../report/text/layout.ts";
import { rfc3339 } from "../report/text/times.ts";
import type { Ask } from "./ask.ts";
import type { Environment } from "./environment.ts";
import type { CommonFlags } from "./flags.ts";
import {
  isDocument,
  type LineStyle,
  type OutputFormat,
  type Streams,
  type Voice,
  type Warn,
  writeLine,
} from "./output.ts";
import { Silence } from "./silence.ts";
import type { Wiring } from "./wiring.ts";

/** What a person calls the program. */
export type ProgramName = "flipop" | "kubectl flipop";

/** A call of the program: everything that comes from outside, so that a test can give it. */
export interface Invocation {
  /** What a person calls the program: `flipop`, the default, or `kubectl flipop`. */
  readonly program?: ProgramName;
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly streams: Streams;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** Short and unique per run; in every log line. */
  readonly runID: string;
  /** Names this process on the Lease. */
  readonly identity: string;
  /** Local wall clock, milliseconds; times of log lines. */
  readonly wallMs: () => number;
  /** Knows the secrets of the process. Absent = the call starts with those of its own environment. */
  readonly secrets?: Secrets;
  /** Asks a person; absent where nobody sits at a terminal. */
  readonly ask?: Ask;
  /** Told by a command that only a signal ends: its own exit code counts then. */
  readonly endedAsMeant?: () => void;
  /** Told when a call may be left in flight: the process is not to wait for its answer. */
  readonly abandon?: () => void;
  /** Called only by commands that need a cluster. */
  readonly loadWiring: () => Promise<Wiring>;
}

/** The invocation, and how its command talks: resolved once from flags, environment and streams. */
export interface Session extends Invocation {
  readonly output: OutputFormat;
  readonly verbosity: Verbosity;
  /** The layout of texts on stdout. */
  readonly layout: Layout & { readonly wide: boolean };
  readonly lines: LineStyle;
  /** Writes a warning to stderr, each text once. */
  readonly warn: Warn;
  readonly secrets: Secrets;
  /** Tells a person what the command waits for, from when it has a world to ask. */
  readonly progress: Silence;
  /** Writes a failed read of a provider to stderr, with its request id. Absent without `-v`. */
  readonly onFailedRead?: (error: ProviderError) => void;
}

/** Resolves how a command talks. `auto` lines are JSON in a pod without a terminal; documents are never coloured. */
export async function openSession(
  invocation: Invocation & Pick<Session, "secrets">,
  flags: Partial<CommonFlags>,
): Promise<Session> {
  const { env, runID, wallMs, ask } = invocation;
  const { output = "table", quiet = false, verbose = 0, color = "auto", logFormat = "auto" } = flags;
  const { isTTY, columns } = invocation.streams.stdout;
  const isColoured = isColourOn(color, env, isTTY) && !isDocument(output) && output !== "markdown";
  const isInPod = Boolean(env["KUBERNETES_SERVICE_HOST"]) && !invocation.streams.stderr.isTTY;
  const lines: LineStyle = {
    format: logFormat === "auto" ? (isInPod ? "json" : "text") : logFormat,
    isQuiet: quiet,
    now: () => rfc3339(wallMs()),
    fields: { runID },
  };
  const progress = new Silence((text) => writeLine({ streams, lines }, "info", text));
  const streams = progress.heardBoth(invocation.streams);
  const warned = new Set<string>();
  return {
    ...invocation,
    streams,
    progress,
    ...(ask === undefined ? {} : { ask: (...asked) => progress.paused(() => ask(...asked)) }),
    loadWiring: async () => {
      const wiring = await invocation.loadWiring();
      if (lines.format === "text" && !quiet) progress.watch(wiring.clock);
      return wiring;
    },
    output,
    verbosity: verbose >= 2 ? 2 : verbose === 1 ? 1 : 0,
    layout: {
      palette: isColoured ? await loadPalette() : PLAIN,
      wide: output === "wide",
      ...(isTTY ? widthOf(columns) : {}),
    },
    lines,
    ...(verbose > 0 ? { onFailedRead: (error) => tellFailedRead({ streams, lines }, error) } : {}),
    warn: (reason, text) => {
      if (!warned.has(text)) writeLine({ streams, lines }, "warn", text, { reason });
      warned.add(text);
    },
  };
}

function tellFailedRead(voice: Voice, error: ProviderError): void {
  const { requestID: requestId } = error;
  const isText = voice.lines.format === "text";
  writeLine(
    voice,
    "info",
    isText ? errorText(error, 1) : messageOf(error),
    requestId === undefined ? {} : { requestId },
  );
}

/** A terminal in which nothing fits counts as one of the usual width: some report 0 columns. */
function widthOf(columns: number | undefined): { readonly width?: number } {
  if (columns === undefined) return {};
  return { width: columns < LEAST_COLUMNS ? USUAL_COLUMNS : columns };
}

const LEAST_COLUMNS = 40;
const USUAL_COLUMNS = 80;

/** Returns whether a stream gets colour. Precedence: flag, FORCE_COLOR (`0` and `false` = off), NO_COLOR unless empty, TERM=dumb, terminal or not. */
export function isColourOn(flag: "auto" | "always" | "never", env: Environment, isTTY: boolean): boolean {
  if (flag !== "auto") return flag === "always";
  const force = env["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  if (env["NO_COLOR"]) return false;
  return env["TERM"] !== "dumb" && isTTY;
}

/** The colour library is loaded only when there is colour. */
async function loadPalette(): Promise<Palette> {
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
