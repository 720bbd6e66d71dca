import { Argument, Command } from "commander";
import { ConfigError } from "../model/errors.ts";
import { EXIT } from "../report/exit-code.ts";
import { versionDocument } from "../report/json/document.ts";
import { completionScript, SHELLS, type Shell } from "./completion.ts";
import { DEFAULT_SANDBOX_DIR } from "./config.ts";
import { DOCTOR, type DoctorFlags } from "./doctor-flags.ts";
import { readVersion } from "./environment.ts";
import {
  addFlags,
  applyFlagEnvironment,
  type ClusterFlags,
  type CommonFlags,
  EXPLAIN,
  type ExplainFlags,
  type FlagTable,
  GLOBAL,
  type GlobalFlags,
  MANIFESTS,
  PLAN,
  type PlanFlags,
  SANDBOX,
  type SandboxFlags,
  VALIDATE,
  type ValidateFlags,
  VERSION_FLAGS,
  type VersionFlags,
} from "./flags.ts";
import { examplesOf, HELP_WIDTH } from "./help-examples.ts";
import { meantCommand, TOPIC_NAMES, topicText } from "./help-topics.ts";
import { HISTORY, type HistoryFlags } from "./history-flags.ts";
import { HOST, type HostFlags } from "./host-flags.ts";
import type { ManifestFlags } from "./manifests.ts";
import { type Streams, writeDocument, writeText } from "./output.ts";
import { RECONCILE, type ReconcileFlags } from "./reconcile-flags.ts";
import type { Invocation, Session } from "./session.ts";
import { SIMULATE, type SimulateFlags } from "./simulate-flags.ts";
import { SNAPSHOT, type SnapshotFlags } from "./snapshot-flags.ts";
import { STATUS, type StatusFlags } from "./status-flags.ts";
import { APPROVE, type ApproveFlags, RESUME, type ResumeFlags, SUSPEND, type SuspendFlags } from "./suspend-flags.ts";
import { namesKind } from "./target.ts";

const NAMES = [
  "plan",
  "explain",
  "reconcile",
  "status",
  "history",
  "simulate",
  "suspend",
  "resume",
  "approve",
  "validate",
  "snapshot",
  "doctor",
  "host",
  "sandbox",
  "manifests",
  "completion",
  "version",
  "help",
] as const;

/** The name of a command, as on the command line. */
export type CommandName = (typeof NAMES)[number];

/** Names of the commands, as on the command line. */
export const COMMANDS: readonly string[] = NAMES;

/** True for the name of a command. */
export function isCommandName(word: string): word is CommandName {
  return COMMANDS.includes(word);
}

/** `--sandbox plan` means the command plan and no directory, `--sandbox node/n1` a target; a directory of that name is written `./plan`. `--sandbox sandbox` names the usual directory. */
export function separateSandbox(argv: readonly string[]): string[] {
  return argv.map((arg, at) =>
    arg === "--sandbox" && isNoDirectory(argv[at + 1] ?? "") ? `--sandbox=${DEFAULT_SANDBOX_DIR}` : arg,
  );
}

/** True for a word behind `--sandbox` that names no directory. */
export function isNoDirectory(word: string): boolean {
  return (isCommandName(word) && word !== DEFAULT_SANDBOX_DIR) || namesKind(word);
}

/** The call that the program parses, and its two effects. */
export interface Program {
  readonly invocation: Invocation;
  /** Resolves how the command talks, before it runs. */
  readonly open: (flags: Partial<CommonFlags>) => Promise<Session>;
  /** Gets the exit code of the one command that ran. */
  readonly onExit: (code: number) => void;
}

function rootCommand({ streams, env, program = "flipop" }: Invocation): Command {
  return new Command(program)
    .description("Keeps reserved and floating IPs, firewalls and DNS on the Kubernetes nodes that can serve now.")
    .version(`flipop ${readVersion()}`, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .addHelpText("after", examplesOf("flipop"))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => writeText(streams, asCalled(text, program)),
      writeErr: (text) => streams.stderr.write(text),
      outputError: () => undefined,
    })
    .hook("preAction", (_, command) => applyFlagEnvironment(command, env));
}

/** Returns a text of help in which every command line is as a person writes it: behind `kubectl`, unless it is for the file of a shell. */
function asCalled(text: string, program: string): string {
  const names = COMMANDS.filter((name) => name !== "completion").join("|");
  return text.replace(new RegExp(`(?<!kubectl )\\bflipop (?=(?:--sandbox|${names})\\b)`, "g"), `${program} `);
}

/** Builds the command line. Each command is loaded only when it runs. Parsing throws CommanderError and writes help only. */
export function buildProgram({ invocation, open, onExit }: Program): Command {
  const { streams } = invocation;
  const program = rootCommand(invocation);
  addFlags(program, GLOBAL);
  const tools = toolsOf(program, open, onExit);
  addDaily(tools);
  addSimulate(program, open, onExit);
  addPersonal(tools);
  addValidate(program, open, onExit);
  addSnapshot(program, open, onExit);
  addDoctor(program, open, onExit);
  addHost(program, open, onExit);
  addSandbox(program, open, onExit);
  addManifests(program, streams, onExit);
  addCompletion(program, streams, onExit);
  addVersion(program, streams, onExit);
  addHelp(program, invocation, onExit);
  return program;
}

/** What commands with targets have in common. */
interface Tools {
  /** Adds a command; `byDefault` ends the help of its targets. */
  readonly command: (
    name: string,
    summary: string,
    table: FlagTable<Omit<ClusterFlags, keyof GlobalFlags>>,
    target?: string,
    byDefault?: string,
  ) => Command;
  /** Returns what commander calls with the arguments of a command. */
  readonly run: <F extends ClusterFlags>(
    work: (session: Session, names: readonly string[], flags: F) => Promise<number>,
  ) => (names: readonly string[], _: unknown, self: Command) => Promise<void>;
}

function toolsOf(program: Command, open: Program["open"], onExit: Program["onExit"]): Tools {
  return {
    command: (name, summary, table, target = OBJECT, byDefault = "; all by default") => {
      const argument = new Argument("[TARGET...]", `${target}${byDefault}`);
      return addFlags(program.command(name).description(summary), table).addArgument(argument);
    },
    run: (work) => async (names, _, self) => {
      const flags = self.optsWithGlobals<Parameters<typeof work>[2]>();
      onExit(await work(await open(flags), names, flags));
    },
  };
}

function addDaily({ command, run }: Tools): void {
  command(
    "plan",
    "Show what reconcile would change, and why. Never writes.",
    PLAN,
    `${OBJECT}, node/NAME or ip/ADDRESS`,
  )
    .addHelpText("after", examplesOf("plan"))
    .action(run<PlanFlags>(async (...given) => (await import("./plan.ts")).runPlan(...given)));
  command(
    "explain",
    "Say why something is as it is, and the smallest change that would make it otherwise. Never writes.",
    EXPLAIN,
    `${OBJECT}, a DNS name, node/NAME, ip/ADDRESS, a reason or a code; or ip/ADDRESS and node/NAME`,
    "",
  )
    .addHelpText("after", examplesOf("explain"))
    .action(run<ExplainFlags>(async (...given) => (await import("./explain.ts")).runExplain(...given)));
  command("reconcile", "Make it so: one pass, or a loop with --watch.", RECONCILE)
    .addHelpText("after", examplesOf("reconcile"))
    .action(run<ReconcileFlags>(async (...given) => (await import("./reconcile.ts")).runReconcile(...given)));
  command("status", "Show pools, routed IPs, record sets, addresses and the last run, from the cluster alone.", STATUS)
    .addHelpText("after", examplesOf("status"))
    .action(run<StatusFlags>(async (...given) => (await import("./status.ts")).runStatus(...given)));
  command(
    "history",
    "Tell what happened, newest first: from Events, from status and, with --logs, from logs. Never writes.",
    HISTORY,
    `${OBJECT}, a DNS name, node/NAME or ip/ADDRESS`,
  )
    .addHelpText("after", examplesOf("history"))
    .action(run<HistoryFlags>(async (...given) => (await import("./history.ts")).runHistory(...given)));
}

function addPersonal({ command, run }: Tools): void {
  command("suspend", "Let flipop stand still for objects, or for all of them.", SUSPEND, OBJECT, "")
    .addHelpText("after", examplesOf("suspend"))
    .action(run<SuspendFlags>(async (...given) => (await import("./suspend.ts")).runSuspend(...given)));
  command("resume", "Let flipop go on after suspend.", RESUME, OBJECT, "")
    .addHelpText("after", examplesOf("resume"))
    .action(run<ResumeFlags>(async (...given) => (await import("./suspend.ts")).runResume(...given)));
  command("approve", "Let an object with spec.approval: Voluntary take what it asks to take.", APPROVE, OBJECT, "")
    .addHelpText("after", examplesOf("approve"))
    .action(run<ApproveFlags>(async (...given) => (await import("./approve.ts")).runApprove(...given)));
}

function addSimulate(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  const summary = "Tell what happens next, and what clients get meanwhile. Never writes.";
  addFlags(program.command("simulate").description(summary), SIMULATE)
    .addHelpText("after", examplesOf("simulate"))
    .action(async (_: unknown, self: Command) => {
      const flags = self.optsWithGlobals<SimulateFlags>();
      onExit(await (await import("./simulate.ts")).runSimulate(await open(flags), flags));
    });
}

function addDoctor(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  const summary = "Check the cluster, the installation and the accounts. Never writes.";
  addFlags(program.command("doctor").description(summary), DOCTOR)
    .addHelpText("after", examplesOf("doctor"))
    .action(async (_: unknown, self: Command) => {
      const flags = self.optsWithGlobals<DoctorFlags>();
      onExit(await (await import("./doctor.ts")).runDoctor(await open(flags), flags));
    });
}

function addValidate(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  addFlags(
    program
      .command("validate")
      .description("Check manifests before they are applied. Needs no cluster, unless --cluster asks it, too."),
    VALIDATE,
  )
    .addArgument(new Argument("[FILE...]", "files or folders; - reads from standard input"))
    .addHelpText("after", examplesOf("validate"))
    .action(async (paths: readonly string[], _: unknown, self: Command) => {
      const flags = self.optsWithGlobals<ValidateFlags>();
      const { output } = flags;
      const session = await open({ ...flags, output: output === "json" || output === "yaml" ? output : "table" });
      onExit(await (await import("./validate.ts")).runValidate(session, paths, flags));
    });
}

function addManifests(program: Command, streams: Streams, onExit: Program["onExit"]): void {
  addFlags(program.command("manifests").description("Print what installs flipop, as YAML."), MANIFESTS)
    .addHelpText("after", examplesOf("manifests"))
    .action(async (flags: ManifestFlags) => onExit((await import("./manifests.ts")).runManifests(streams, flags)));
}

function addSnapshot(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  addFlags(
    program.command("snapshot").description("Write what flipop sees to a file, for plan --from and bug reports."),
    SNAPSHOT,
  )
    .addArgument(new Argument("[FILE]", "file to make; standard output by default, and for -"))
    .addHelpText("after", examplesOf("snapshot"))
    .action(async (file: string | undefined, _: unknown, self: Command) => {
      const flags = self.optsWithGlobals<SnapshotFlags>();
      onExit(await (await import("./snapshot.ts")).runSnapshot(await open(flags), file, flags));
    });
}

function addHost(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  const summary =
    "Keep the addresses of the host on its interface as its node says, for objects with hostAddress: Managed.";
  addFlags(program.command("host").description(summary), HOST)
    .addHelpText("after", examplesOf("host"))
    .action(async (_: unknown, self: Command) => {
      const flags = self.optsWithGlobals<HostFlags>();
      onExit(await (await import("./host.ts")).runHost(await open(flags), flags));
    });
}

function addSandbox(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  const summary = "Serve the embedded world on loopback, for kubectl, curl and flipop, until it is interrupted.";
  addFlags(program.command("sandbox").description(summary), SANDBOX)
    .addArgument(new Argument("[DIR]", `folder of the world; ${DEFAULT_SANDBOX_DIR} by default`))
    .addHelpText("after", examplesOf("sandbox"))
    .action(async (dir: string | undefined, _: unknown, self: Command) => {
      const flags = self.optsWithGlobals<SandboxFlags>();
      onExit(await (await import("./sandbox.ts")).runSandbox(await open(flags), dir, flags));
    });
}

function addCompletion(program: Command, streams: Streams, onExit: Program["onExit"]): void {
  program
    .command("completion")
    .description("Print what lets a shell complete commands, flags and names.")
    .addArgument(new Argument("<SHELL>", "the shell").choices(SHELLS))
    .addHelpText("after", examplesOf("completion"))
    .action((shell: Shell) => {
      writeText(streams, completionScript(shell));
      onExit(EXIT.done);
    });
}

function addVersion(program: Command, streams: Streams, onExit: Program["onExit"]): void {
  addFlags(program.command("version").description("Print the version."), VERSION_FLAGS)
    .addHelpText("after", examplesOf("version"))
    .action(async ({ output }: VersionFlags) => {
      if (output === "table") writeText(streams, `flipop ${readVersion()}\n`);
      else await writeDocument(streams, versionDocument(readVersion(), process.version), output);
      onExit(EXIT.done);
    });
}

/** Help of commands is commander's; topics and reasons are told from flipop's own tables. */
function addHelp(
  program: Command,
  { streams, program: called = "flipop" }: Invocation,
  onExit: Program["onExit"],
): void {
  program
    .command("help")
    .argument("[WORD]", "a command, a topic or a reason")
    .description(`Print help for a command, a reason such as QuotaExceeded, or a topic: ${TOPIC_NAMES.join(", ")}.`)
    .addHelpText("after", examplesOf("help"))
    .action((word = "") => {
      const about = word === "" ? program : program.commands.find((one) => one.name() === word);
      if (about === undefined) writeText(streams, asCalled(helpText(word), called));
      else about.outputHelp();
      onExit(EXIT.done);
    });
}

/** @throws ConfigError `usage` for a word that nothing is known of */
function helpText(word: string): string {
  const text = topicText(word, HELP_WIDTH);
  if (text !== undefined) return text;
  throw new ConfigError(
    "usage",
    `There is no command, topic or reason '${word}'.${meantCommand(word, COMMANDS)} Topics are ${TOPIC_NAMES.join(", ")}.`,
  );
}

const OBJECT = "[pool/|routedip/|dns/][NAMESPACE/]NAME";
