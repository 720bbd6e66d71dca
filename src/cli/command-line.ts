import { CommanderError } from "commander";
import { ConfigError } from "../model/errors.ts";
import { Interrupted } from "../observe/interrupt.ts";
import type { Secrets } from "../ports/system.ts";
import { EXIT } from "../report/exit-code.ts";
import { DEFAULT_SANDBOX_DIR } from "./config.ts";
import { secretsIn } from "./environment.ts";
import { applyFlagEnvironment } from "./flag-environment.ts";
import type { CommonFlags } from "./flags.ts";
import type { Invocation } from "./invocation.ts";
import { KnownSecrets, redactingStreams } from "./outgoing-text.ts";
import { buildProgram, COMMANDS, type Handlers } from "./program.ts";
import { reportError } from "./report-error.ts";
import { openSession, type Session } from "./session.ts";
import { readVersion } from "./version.ts";
import { writeText } from "./write.ts";

/** Runs one command line from parsing to the last byte of output. Returns the exit code. @throws never */
export async function runCommandLine(given: Invocation): Promise<number> {
  const invocation = withoutSecretsShown(given);
  let session = await openSession(invocation, guessFlags(invocation));
  let exitCode: number = EXIT.done;
  const open = async <F extends CommonFlags>(flags: F, run: (opened: Session) => Promise<number>): Promise<number> => {
    session = await openSession(invocation, flags);
    return run(session);
  };
  const program = buildProgram(handlers(invocation, open), readVersion(), (code) => {
    exitCode = code;
  })
    .configureOutput({
      writeOut: (text) => writeText(invocation.streams, text),
      writeErr: (text) => invocation.streams.stderr.write(text),
      outputError: () => undefined,
    })
    .hook("preAction", (_, command) => applyFlagEnvironment(command, invocation.env));
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    await program.parseAsync(separateSandbox(invocation.argv), { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof Interrupted) return EXIT.interrupted;
    if (!(error instanceof CommanderError)) return reportError(session, error);
    if (error.exitCode === 0) return EXIT.done;
    return error.code === "commander.help" ? EXIT.usage : reportError(session, usageError(error, invocation.argv));
  }
}

/** Reports an error that {@link runCommandLine} could not catch. Returns the exit code. */
export async function reportCrash(given: Invocation, error: unknown): Promise<number> {
  const invocation = withoutSecretsShown(given);
  return await reportError(await openSession(invocation, guessFlags(invocation)), error);
}

/** Returns the invocation with streams that show no secret, and with the secrets of its environment known. */
function withoutSecretsShown(invocation: Invocation): Invocation & { readonly secrets: Secrets } {
  const secrets = invocation.secrets ?? new KnownSecrets();
  for (const secret of secretsIn(invocation.env)) secrets.add(secret);
  return { ...invocation, secrets, streams: redactingStreams(invocation.streams, secrets) };
}

type Open = <F extends CommonFlags>(flags: F, run: (opened: Session) => Promise<number>) => Promise<number>;

/** Each command is loaded only when it runs. */
function handlers({ streams }: Invocation, open: Open): Handlers {
  return {
    plan: (names, flags) =>
      open(flags, async (session) => (await import("./run-plan.ts")).runPlan(session, names, flags)),
    reconcile: (names, flags) =>
      open(flags, async (session) => (await import("./run-reconcile.ts")).runReconcile(session, names, flags)),
    status: (names, flags) =>
      open(flags, async (session) => (await import("./run-status.ts")).runStatus(session, names, flags)),
    manifests: async (flags) => (await import("./run-manifests.ts")).runManifests(streams, flags),
    version: async () => {
      writeText(streams, `flipop ${readVersion()}\n`);
      return EXIT.done;
    },
  };
}

/** `--sandbox plan` means the command plan and no directory; a directory of that name is written `./plan`. */
function separateSandbox(argv: readonly string[]): string[] {
  const names: readonly string[] = COMMANDS;
  return argv.map((arg, at) =>
    arg === "--sandbox" && names.includes(argv[at + 1] ?? "") ? `--sandbox=${DEFAULT_SANDBOX_DIR}` : arg,
  );
}

function usageError({ message }: CommanderError, argv: readonly string[]): ConfigError {
  const names: readonly string[] = COMMANDS;
  const command = argv.find((arg) => names.includes(arg));
  const text = message
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (one of )?(.*)\?\)$/s, ". Did you mean $1$2?")
    .replace(/([^.?])$/, "$1.");
  const see = `flipop ${command === undefined ? "" : `${command} `}--help`;
  return new ConfigError("usage", `${text.charAt(0).toUpperCase()}${text.slice(1)} See ${see}.`);
}

/** How to report an error in the command line itself, which then cannot be trusted: the plain spellings only. */
function guessFlags({ argv, env }: Invocation): Partial<CommonFlags> {
  const find = (names: readonly string[], variable: string): string | undefined => {
    const at = argv.findLastIndex((arg) => names.some((name) => arg === name || arg.startsWith(`${name}=`)));
    const arg = argv[at];
    if (arg === undefined) return env[variable];
    return arg.includes("=") ? arg.slice(arg.indexOf("=") + 1) : argv[at + 1];
  };
  const output = find(["-o", "--output", "-ojson", "-oyaml"], "FLIPOP_OUTPUT");
  const logFormat = find(["--log-format"], "FLIPOP_LOG_FORMAT");
  return {
    ...(output === "json" || output === "yaml" ? { output } : {}),
    ...(logFormat === "json" || logFormat === "text" ? { logFormat } : {}),
  };
}
