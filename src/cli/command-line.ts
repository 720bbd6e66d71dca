import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { type Command, CommanderError } from "commander";
import { ConfigError } from "../model/errors.ts";
import { Interrupted } from "../observe/interrupt.ts";
import { type EndSignal, EXIT, exitCodeOfError, SIGNAL_CODES } from "../report/exit-code.ts";
import { errorDocument } from "../report/json/document.ts";
import { errorMarkdown } from "../report/markdown/markdown.ts";
import { categoryOf, errorText, messageOf } from "../report/text/errors.ts";
import { askOnTerminal } from "./ask.ts";
import { COMPLETE, NEW_WORD } from "./completion.ts";
import { filledSwitch, flagsBehindCommand, missingCommand } from "./early-flags.ts";
import { secretsIn, takeEnvironment } from "./environment.ts";
import { type CommonFlags, variablesBehind } from "./flags.ts";
import { meantCommand } from "./help-topics.ts";
import {
  isDocument,
  KnownSecrets,
  type OutputStream,
  redactingStreams,
  writeDocument,
  writeLine,
  writeText,
} from "./output.ts";
import { buildProgram, COMMANDS, separateSandbox } from "./program.ts";
import { type Invocation, openSession, type Session } from "./session.ts";
import type { Wiring } from "./wiring.ts";

/** Runs one command line from parsing to the last byte of output. Returns the exit code. @throws never */
export async function runCommandLine(given: Invocation): Promise<number> {
  const invocation = withoutSecretsShown(given);
  const [first, ...words] = given.argv;
  if (first !== COMPLETE) return await runCommand(invocation);
  const { runComplete } = await import("./complete.ts");
  if (words[0] === NEW_WORD) return await runComplete(invocation, [...words.slice(1), ""]);
  return await runComplete(invocation, words[0] === "--" ? words.slice(1) : words);
}

async function runCommand(invocation: Invocation & Pick<Session, "secrets">): Promise<number> {
  let session = await openSession(invocation, guessFlags(invocation));
  let exitCode: number = EXIT.done;
  const program = buildProgram({
    invocation,
    open: async (flags) => {
      session = await openSession(invocation, flags);
      return session;
    },
    onExit: (code) => {
      exitCode = code;
    },
  });
  try {
    await program.parseAsync(flagsBehindCommand(program, separateSandbox(invocation.argv)), { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof Interrupted) return EXIT.interrupted;
    if (!(error instanceof CommanderError)) return reportError(session, withVariables(program, error));
    if (error.exitCode === 0) return EXIT.done;
    if (error.code === "commander.help") return EXIT.usage;
    return await reportError(session, withoutCommand(program, invocation) ?? usageError(program, error, invocation));
  } finally {
    session.progress.end();
  }
}

/** Returns the invocation with streams that show no secret, and with the secrets of its environment known. */
function withoutSecretsShown(invocation: Invocation): Invocation & Pick<Session, "secrets"> {
  const secrets = invocation.secrets ?? new KnownSecrets();
  for (const secret of secretsIn(invocation.env)) secrets.add(secret);
  return { ...invocation, secrets, streams: redactingStreams(invocation.streams, secrets) };
}

/** Returns the error of a command line that has flags and no command; undefined for any other. */
function withoutCommand(program: Command, { argv, program: called = "flipop" }: Invocation): ConfigError | undefined {
  const missing = missingCommand(program, separateSandbox(argv));
  if (missing === undefined || argv.some((arg) => COMMANDS.includes(arg) && missing.kind === "unknown"))
    return undefined;
  const text =
    missing.kind === "missing"
      ? `The command is missing: ${called} ${missing.command} ${argv.join(" ")}, for one.`
      : `Unknown command '${missing.word}'.${meantCommand(missing.word, COMMANDS)}`;
  return new ConfigError("usage", `${text} See ${called} --help.`);
}

/** Returns a mistake of the operator with the variables that set the flags it names; any other error as it is. */
function withVariables(program: Command, error: unknown): unknown {
  if (!(error instanceof ConfigError)) return error;
  const told = variablesBehind(program, error.message);
  return told === "" ? error : new ConfigError(error.kind, `${error.message}${told}`, { cause: error });
}

function usageError(
  known: Command,
  { message }: CommanderError,
  { argv, program = "flipop" }: Invocation,
): ConfigError {
  const command = argv.find((arg) => COMMANDS.includes(arg));
  const filled = message.startsWith("error: unknown option") ? filledSwitch(known, argv, message) : undefined;
  const text = filled === undefined ? plainText(message) : `${filled} takes no value.`;
  const see = `${program} ${command === undefined ? "" : `${command} `}--help`;
  return new ConfigError("usage", `${text.charAt(0).toUpperCase()}${text.slice(1)}${meant(text)} See ${see}.`);
}

/** What commander says, as flipop says it. */
function plainText(message: string): string {
  return (
    message
      .replace(/^error: /, "")
      // The value may be a secret, such as the URL of --notify.
      .replace(/^(unknown option '[^'=]+)=.*'/s, "$1'")
      .replace(/\n\(Did you mean (one of )?(.*)\?\)$/s, ". Did you mean $1$2?")
      .replace(/([^.?])$/, "$1.")
  );
}

/** What a person means who knows other tools; commander itself knows only what is spelled nearly so. */
function meant(text: string): string {
  if (text.includes("Did you mean")) return "";
  const [, option = "", word = ""] = /^unknown (?:option '(--?[a-z-]+)'|command '([^']*)')/.exec(text) ?? [];
  if (option === "--dry-run" || option === "--diff") return " flipop plan is the dry run.";
  if (option === "--watch" || option === "-w") return " flipop status --watch shows what changes.";
  if (option === "--max-moves") return " Did you mean --max-voluntary-moves?";
  return word === "" ? "" : meantCommand(word, COMMANDS);
}

/** Guesses how to report an error in the command line itself, which cannot be parsed then. The last one of a flag counts, as always. */
function guessFlags({ argv, env }: Invocation): Partial<CommonFlags> {
  const end = argv.indexOf("--");
  const flags = end === -1 ? argv : argv.slice(0, end);
  const find = (flag: RegExp, variable: string): string | undefined => {
    const at = flags.findLastIndex((arg) => flag.test(arg));
    if (at === -1) return env[variable];
    return flag.exec(flags[at] ?? "")?.groups?.["value"] || flags[at + 1];
  };
  // `-o json`, `-ojson`, `-o=json`, and behind letters that are switches: `-qojson`.
  const asked = find(/^(?:--output(?:=|$)|-[qvARy]*o=?)(?<value>.*)$/s, "FLIPOP_OUTPUT");
  const output = TELLING.find((format) => format === asked);
  const logFormat = find(/^--log-format(?:=|$)(?<value>.*)$/s, "FLIPOP_LOG_FORMAT");
  return {
    ...(output === undefined ? {} : { output }),
    ...(logFormat === "json" || logFormat === "text" ? { logFormat } : {}),
  };
}

/** The formats of results in which an error is told, too. */
const TELLING = ["json", "jsonl", "yaml", "markdown"] as const;

/** Writes an error to stderr, with `-o json|jsonl|yaml` also as the one document on stdout, with `-o markdown` as that. Returns the exit code. */
async function reportError(session: Session, error: unknown): Promise<number> {
  const { streams, output, lines, verbosity } = session;
  const exitCode = exitCodeOfError(error);
  const category = categoryOf(error);
  if (lines.format === "json") {
    const isStackShown = category === "bug" || verbosity === 2;
    const stack = isStackShown && error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
    writeLine(session, "error", messageOf(error), { exitCode, category, ...stack });
  } else {
    writeLine(session, "error", errorText(error, verbosity));
  }
  if (isDocument(output)) await writeDocument(streams, errorDocument(error, exitCode), output);
  if (output === "markdown") writeText(streams, errorMarkdown(error, exitCode));
  return exitCode;
}

/**
 * Runs the process's own command line and sets its exit code; the process ends by itself once all output is written. The
 * first SIGINT, SIGTERM or SIGHUP (its terminal is gone) asks the command to end in order, the second ends the process at once.
 */
export async function runProcess(loadWiring: () => Promise<Wiring>): Promise<void> {
  const stopping = new AbortController();
  let stoppedBy: EndSignal | undefined;
  let isCallLeft = false;
  let isEndMeant = false;
  let isOutputLost = false;
  const onLost = ({ message }: Error): void => {
    if (!isOutputLost) process.stderr.write(`flipop: its output could not be written: ${message}\n`);
    isOutputLost = true;
    process.exitCode = codeWhereLost(process.exitCode);
  };
  for (const signal of Object.keys(SIGNAL_CODES) as EndSignal[]) {
    process.on(signal, () => {
      if (stoppedBy !== undefined) process.exit(SIGNAL_CODES[signal]);
      stoppedBy = signal;
      stopping.abort(signal);
    });
  }
  const runID = randomBytes(4).toString("hex");
  const invocation: Invocation = {
    // The launcher says so when kubectl has called it.
    ...(process.title === "kubectl flipop" ? { program: process.title } : {}),
    argv: process.argv.slice(2),
    env: takeEnvironment(),
    streams: { stdout: outputStream(process.stdout, onLost), stderr: outputStream(process.stderr, () => undefined) },
    signal: stopping.signal,
    runID,
    identity: `${hostname()}_${process.pid}_${runID}`,
    wallMs: () => Date.now(),
    secrets: new KnownSecrets(),
    endedAsMeant: () => {
      isEndMeant = true;
    },
    abandon: () => {
      isCallLeft = true;
    },
    ...(process.stdin.isTTY && process.stderr.isTTY ? { ask: askOnTerminal } : {}),
    loadWiring,
  };
  process.on("uncaughtException", (error) => void crash(invocation, error));
  const exitCode = await runCommandLine(invocation);
  // Never process.exit() here: of a large output into a pipe only the first part would arrive.
  const ended = stoppedBy === undefined || isEndMeant ? exitCode : SIGNAL_CODES[stoppedBy];
  process.exitCode = isOutputLost ? codeWhereLost(ended) : ended;
  // A call in flight would keep the process alive; after a signal a reader may have left one.
  if (stoppedBy !== undefined || isCallLeft) process.stdout.write("", () => process.exit());
}

/** Reports an error that nobody caught, and ends the process. Node's own report would show secrets, and the line of source that threw. */
async function crash(given: Invocation, error: unknown): Promise<void> {
  const invocation = withoutSecretsShown(given);
  const exitCode = await openSession(invocation, guessFlags(invocation))
    .then((session) => reportError(session, error))
    .catch(() => EXIT.unexpected);
  process.stderr.write("", () => process.stdout.write("", () => process.exit(exitCode)));
}

/** Output that nobody could read is no success, whatever the command did. */
function codeWhereLost(exitCode: typeof process.exitCode): typeof process.exitCode {
  return exitCode === undefined || exitCode === EXIT.done ? EXIT.unexpected : exitCode;
}

/** A closed pipe (`| head`) is the reader's choice, not an error: what follows is dropped. `onLost` is told of any other failure, such as a full disk. */
function outputStream(stream: NodeJS.WriteStream, onLost: (error: Error) => void): OutputStream {
  let isClosed = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    isClosed = true;
    if (error.code !== "EPIPE") onLost(error);
  });
  return {
    isTTY: stream.isTTY === true,
    ...(stream.isTTY ? { columns: stream.columns } : {}),
    write: (text) => {
      if (!isClosed) stream.write(text);
    },
    isClosed: () => isClosed,
  };
}
