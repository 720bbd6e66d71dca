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
  type ManifestFlags,
  PLAN,
  type PlanFlags,
  RECONCILE,
  type ReconcileFlags,
  SANDBOX,
  type SandboxFlags,
  SNAPSHOT,
  type SnapshotFlags,
  VALIDATE,
  type ValidateFlags,
  VERSION_FLAGS,
  type VersionFlags,
} from "./flags.ts";
import { meantCommand, TOPIC_NAMES, topicText } from "./help-topics.ts";
import { HISTORY, type HistoryFlags } from "./history-flags.ts";
import { type Streams, writeDocument, writeText } from "./output.ts";
import type { Invocation, Session } from "./session.ts";
import { SIMULATE, type SimulateFlags } from "./simulate-flags.ts";
import { STATUS, type StatusFlags } from "./status-flags.ts";
import { APPROVE, type ApproveFlags, RESUME, type ResumeFlags, SUSPEND, type SuspendFlags } from "./suspend-flags.ts";

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

/** `--sandbox plan` means the command plan and no directory; a directory of that name is written `./plan`. `--sandbox sandbox` names the usual directory. */
export function separateSandbox(argv: readonly string[]): string[] {
  return argv.map((arg, at) =>
    arg === "--sandbox" && isCommandBehindSandbox(argv[at + 1] ?? "") ? `--sandbox=${DEFAULT_SANDBOX_DIR}` : arg,
  );
}

/** True for a word behind `--sandbox` that names no directory. */
export function isCommandBehindSandbox(word: string): boolean {
  return isCommandName(word) && word !== DEFAULT_SANDBOX_DIR;
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
    .description("Keeps DigitalOcean reserved IPs, firewalls and DNS on the Kubernetes nodes that can serve now.")
    .version(`flipop ${readVersion()}`, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .addHelpText("after", EXAMPLES)
    .exitOverride()
    .configureOutput({
      // Examples are indented lines.
      writeOut: (text) => writeText(streams, text.replace(/^ {2}flipop /gm, `  ${program} `)),
      writeErr: (text) => streams.stderr.write(text),
      outputError: () => undefined,
    })
    .hook("preAction", (_, command) => applyFlagEnvironment(command, env));
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
  addSandbox(program, open, onExit);
  addManifests(program, streams, onExit);
  addCompletion(program, streams, onExit);
  addVersion(program, streams, onExit);
  addHelp(program, streams, onExit);
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
    .addHelpText("after", PLAN_EXAMPLES)
    .action(run<PlanFlags>(async (...given) => (await import("./plan.ts")).runPlan(...given)));
  command(
    "explain",
    "Say why something is as it is, and the smallest change that would make it otherwise. Never writes.",
    EXPLAIN,
    `${OBJECT}, a DNS name, node/NAME, ip/ADDRESS or a reason; or ip/ADDRESS and node/NAME`,
    "",
  )
    .addHelpText("after", EXPLAIN_EXAMPLES)
    .action(run<ExplainFlags>(async (...given) => (await import("./explain.ts")).runExplain(...given)));
  command("reconcile", "Make it so: one pass, or a loop with --watch.", RECONCILE)
    .addHelpText("after", RECONCILE_EXAMPLES)
    .action(run<ReconcileFlags>(async (...given) => (await import("./reconcile.ts")).runReconcile(...given)));
  command("status", "Show pools, routed IPs, record sets, addresses and the last run, from the cluster alone.", STATUS)
    .addHelpText("after", STATUS_EXAMPLES)
    .action(run<StatusFlags>(async (...given) => (await import("./status.ts")).runStatus(...given)));
  command(
    "history",
    "Tell what happened, newest first: from Events, from status and, with --logs, from logs. Never writes.",
    HISTORY,
    `${OBJECT}, a DNS name, node/NAME or ip/ADDRESS`,
  )
    .addHelpText("after", HISTORY_EXAMPLES)
    .action(run<HistoryFlags>(async (...given) => (await import("./history.ts")).runHistory(...given)));
}

function addPersonal({ command, run }: Tools): void {
  command("suspend", "Let flipop stand still for objects, or for all of them.", SUSPEND, OBJECT, "")
    .addHelpText("after", SUSPEND_EXAMPLES)
    .action(run<SuspendFlags>(async (...given) => (await import("./suspend.ts")).runSuspend(...given)));
  command("resume", "Let flipop go on after suspend.", RESUME, OBJECT, "").action(
    run<ResumeFlags>(async (...given) => (await import("./suspend.ts")).runResume(...given)),
  );
  command("approve", "Let an object with spec.approval: Voluntary take what it asks to take.", APPROVE, OBJECT, "")
    .addHelpText("after", APPROVE_EXAMPLES)
    .action(run<ApproveFlags>(async (...given) => (await import("./approve.ts")).runApprove(...given)));
}

function addSimulate(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  const summary = "Tell what happens next, and what clients get meanwhile. Never writes.";
  addFlags(program.command("simulate").description(summary), SIMULATE)
    .addHelpText("after", SIMULATE_EXAMPLES)
    .action(async (_: unknown, self: Command) => {
      const flags = self.optsWithGlobals<SimulateFlags>();
      onExit(await (await import("./simulate.ts")).runSimulate(await open(flags), flags));
    });
}

function addDoctor(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  const summary = "Check the cluster, the installation and the accounts. Never writes.";
  addFlags(program.command("doctor").description(summary), DOCTOR)
    .addHelpText("after", DOCTOR_EXAMPLES)
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
    .addHelpText("after", VALIDATE_EXAMPLES)
    .action(async (paths: readonly string[], _: unknown, self: Command) => {
      const flags = self.optsWithGlobals<ValidateFlags>();
      const { output } = flags;
      const session = await open({ ...flags, output: output === "json" || output === "yaml" ? output : "table" });
      onExit(await (await import("./validate.ts")).runValidate(session, paths, flags));
    });
}

function addManifests(program: Command, streams: Streams, onExit: Program["onExit"]): void {
  addFlags(program.command("manifests").description("Print what installs flipop, as YAML."), MANIFESTS)
    .addHelpText("after", MANIFESTS_EXAMPLES)
    .action(async (flags: ManifestFlags) => onExit((await import("./manifests.ts")).runManifests(streams, flags)));
}

function addSnapshot(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  addFlags(
    program.command("snapshot").description("Write what flipop sees to a file, for plan --from and bug reports."),
    SNAPSHOT,
  )
    .addArgument(new Argument("[FILE]", "file to make; standard output by default"))
    .addHelpText("after", SNAPSHOT_EXAMPLES)
    .action(async (file: string | undefined, _: unknown, self: Command) => {
      const flags = self.optsWithGlobals<SnapshotFlags>();
      onExit(await (await import("./snapshot.ts")).runSnapshot(await open(flags), file, flags));
    });
}

function addSandbox(program: Command, open: Program["open"], onExit: Program["onExit"]): void {
  const summary = "Serve the embedded world on loopback, for kubectl, curl and flipop, until it is interrupted.";
  addFlags(program.command("sandbox").description(summary), SANDBOX)
    .addArgument(new Argument("[DIR]", `folder of the world; ${DEFAULT_SANDBOX_DIR} by default`))
    .addHelpText("after", SANDBOX_EXAMPLES)
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
    .addHelpText("after", COMPLETION_EXAMPLES)
    .action((shell: Shell) => {
      writeText(streams, completionScript(shell));
      onExit(EXIT.done);
    });
}

function addVersion(program: Command, streams: Streams, onExit: Program["onExit"]): void {
  addFlags(program.command("version").description("Print the version."), VERSION_FLAGS).action(
    async ({ output }: VersionFlags) => {
      if (output === "table") writeText(streams, `flipop ${readVersion()}\n`);
      else await writeDocument(streams, versionDocument(readVersion(), process.version), output);
      onExit(EXIT.done);
    },
  );
}

/** Help of commands is commander's; topics and reasons are told from flipop's own tables. */
function addHelp(program: Command, streams: Streams, onExit: Program["onExit"]): void {
  program
    .command("help")
    .argument("[WORD]", "a command, a topic or a reason")
    .description(`Print help for a command, a reason such as QuotaExceeded, or a topic: ${TOPIC_NAMES.join(", ")}.`)
    .action((word = "") => {
      const about = word === "" ? program : program.commands.find((one) => one.name() === word);
      if (about === undefined) writeText(streams, helpText(word));
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

/** As wide as commander's own help. */
const HELP_WIDTH = 80;

const OBJECT = "[pool/|routedip/|dns/][NAMESPACE/]NAME";

const PLAN_EXAMPLES = `
Examples:
  flipop plan pool/ingress/web node/worker-1
  flipop plan --if node/worker-1=NotReady --if +5m
  flipop plan --if pool/ingress/web.desiredIPs=2
  flipop plan -f web.yaml
  flipop plan --save friday.json   read it, then: flipop reconcile --plan friday.json
  flipop plan -f web.yaml -o markdown --detailed-exitcode   for a pull request; 2 = there is something to change

flipop help edits lists what --if can say. Objects of -f take the place of those that the cluster has.`;

const EXPLAIN_EXAMPLES = `
Examples:
  flipop explain ip/203.0.113.10 node/worker-6   why is the address not on that node?
  flipop explain pool/ingress/web                why does it not serve on all addresses?
  flipop explain www.example.com
  flipop explain QuotaExceeded                   what the word means; needs no cluster

"Smallest change" is computed: with all of its facts it comes true, without any one of them it does not.
flipop plan --if EDIT shows what one of them would do.`;

const SIMULATE_EXAMPLES = `
Examples:
  flipop simulate                                what will flipop do by itself, and when?
  flipop simulate --if node/worker-1=NotReady
  flipop simulate -f web.yaml --expect no-outage=30s
  flipop simulate --n-1                          which node may be lost?
  flipop simulate --drain worker-3
  flipop simulate --rolling-upgrade node-pool=edge --surge 1 --expect no-outage

It is told as if flipop saw every change at once, as with --watch, and as if every call succeeded. flipop help edits lists what --if can say.
With --expect it exits with 6 when a name is without service for longer.`;

const RECONCILE_EXAMPLES = `
Examples:
  flipop reconcile --settle                      once, until nothing is left to do
  flipop reconcile pool/ingress/web              for one object
  flipop reconcile --watch --metrics-addr :8080  go on until it is stopped
  flipop reconcile --watch -o jsonl              print a RunResult for each pass that changed something, one in a line
  flipop plan --save friday.json && flipop reconcile --plan friday.json

flipop plan is the dry run. With --plan it does what stands in the saved plan and nothing else: no recovery either that has become
necessary since. What has changed since the plan was saved is refused by name, the rest is done; it exits with 4 then.`;

const STATUS_EXAMPLES = `
Examples:
  flipop status -o wide
  flipop status pool/ingress/web www.example.com
  flipop status --check && echo fine
  flipop status --check --wait 2m                after an apply: until nothing is wrong, else 6
  flipop status --watch                          go on, and print each row that changes
  flipop status --watch -o jsonl                 print a Status when something has changed, one in a line
  flipop status --live pool/ingress/web          what the provider, the nodes, the DNS provider and the servers of the zone
                                                 say now; = agrees with what is stored

--live needs the rights and the tokens of flipop plan, and makes the calls of one run that finds nothing to do. With --check it
exits with 6 when something differs that the next run does not put right, or cannot be read.`;

const HISTORY_EXAMPLES = `
Examples:
  flipop history                                 of all objects, the last 24 hours
  flipop history ip/203.0.113.10 --since 7d
  flipop history pool/ingress/web --failed
  kubectl -n flipop logs -l app.kubernetes.io/name=flipop --prefix --tail=-1 | flipop history --logs -

A cluster keeps Events for about an hour, status the last times only; logs reach as far back as they are kept.`;

const SNAPSHOT_EXAMPLES = `
Examples:
  flipop snapshot world.yaml
  flipop plan --from world.yaml --if node/worker-1=NotReady
  flipop status --from world.yaml
  flipop snapshot --anonymize world.yaml         to show it to strangers

It holds the objects of flipop, the nodes, and what providers show of the addresses and names that objects ask for; no token, no URL, no name of a pod, and of the
nodes only the labels that selectors read. Writes nothing but the file, which only its owner may read.
With --anonymize no name and no address of the world is in it: worker-1 becomes n2014-2003, and of texts only the words that flipop
knows are left. What came first by name still does, so plan, explain and simulate say the same with other names.`;

const VALIDATE_EXAMPLES = `
Examples:
  flipop validate web.yaml
  kustomize build . | flipop validate -
  flipop validate -R manifests/ --fail-on warning
  flipop validate --cluster web.yaml       would a person have to mend something then?
  flipop validate -R manifests/ -o sarif > findings.sarif

What it finds has a code: flipop help findings lists them all. It exits with 6 when there are errors.`;

const DOCTOR_EXAMPLES = `
Examples:
  flipop doctor                        is everything all right?
  flipop doctor -o wide                show what is fine, too
  flipop doctor --pre                  before flipop is installed
  flipop doctor --as-service-account --only permissions
  flipop doctor --skip FLP104 --fail-on warning

Marks: = fine, ~ warning, ! fails, ? could not be looked at, . not applicable. It exits with 6 when something fails, else with 0.
flipop help checks lists all codes, flipop help FLP122 tells more of one.`;

const SANDBOX_EXAMPLES = `
Examples:
  flipop sandbox world                 then, in another terminal:
  . world/exports.sh
  flipop reconcile --watch             and in a third one, after the same line:
  kubectl cordon worker-1

It holds what flipop --sandbox=world works on, and both may run at a time. Nothing but this machine reaches it; whoever does may do everything in it.`;

const MANIFESTS_EXAMPLES = `
Examples:
  flipop manifests | kubectl apply -f -
  flipop manifests --mode watch --namespace networking
  flipop manifests --only crds,policy`;

const COMPLETION_EXAMPLES = `
Examples:
  source <(flipop completion bash)              in ~/.bashrc
  source <(flipop completion zsh)               in ~/.zshrc, behind compinit
  flipop completion fish | source               in ~/.config/fish/config.fish

Names of objects, nodes and addresses are asked of the cluster that the words before choose, for at most a second.`;

const APPROVE_EXAMPLES = `
Examples:
  flipop approve pool/ingress/web
  flipop approve routedip/ingress/vip --for 1h --yes

Shows what the object would take from somebody, asks, and writes one annotation. It holds for these things only: one more, or another spec, needs another
approval. The next run carries it out. Needs the tokens of the providers, as plan does, and the right to patch the object.`;

const SUSPEND_EXAMPLES = `
Examples:
  flipop suspend pool/ingress/web --for 2h --reason "maintenance 4711"
  flipop suspend --all --for 30m --reason "provider incident"
  flipop resume pool/ingress/web

A suspended object is looked at and reported, and nothing is changed for it: a failed node keeps its address.
A run that has already begun goes on with what it saw. Writes one annotation, no spec; needs the right to patch the object, with --all the Lease.`;

const EXAMPLES = `
Examples:
  flipop plan                          what would change, and why
  flipop reconcile --settle            make it so
  flipop status -o wide                where every address is, and what DNS says
  flipop --sandbox plan                try it without a cluster or an account

Every flag can also be set as an environment variable: --request-timeout as FLIPOP_REQUEST_TIMEOUT.
Tokens come from the environment only: DIGITALOCEAN_ACCESS_TOKEN and CLOUDFLARE_TOKEN, or files in …_FILE.`;
