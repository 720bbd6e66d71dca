import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { ConfigError } from "../model/errors.ts";
import { parseLabelSelector } from "../model/label-selector.ts";
import { isNamespaceName, isSubdomain, shownText } from "../model/resource.ts";
import {
  checked,
  type ManifestChanges,
  type ManifestMode,
  type ManifestPart,
  manifestOptions,
  NO_NAMESPACE,
} from "./manifests.ts";

/** What each command does with its targets and flags; returns the exit code. */
export interface Handlers {
  readonly plan: (targets: readonly string[], flags: PlanFlags) => Promise<number>;
  readonly reconcile: (targets: readonly string[], flags: ReconcileFlags) => Promise<number>;
  readonly status: (targets: readonly string[], flags: StatusFlags) => Promise<number>;
  readonly manifests: (flags: ManifestFlags) => Promise<number>;
  readonly version: () => Promise<number>;
}

/** Names of the commands, as on the command line. */
export const COMMANDS: readonly (keyof Handlers)[] = ["plan", "reconcile", "status", "manifests", "version"];

/** Builds the command line. `onExit` gets the code of the one handler that ran. Parsing throws CommanderError and writes help only. */
export function buildProgram(handlers: Handlers, version: string, onExit: (code: number) => void): Command {
  const program = new Command("flipop")
    .description("Keeps DigitalOcean reserved IPs, firewalls and DNS on the Kubernetes nodes that can serve now.")
    .version(`flipop ${version}`, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    .configureHelp({ showGlobalOptions: true })
    .addOption(new Option("--sandbox [DIR]", "run on an embedded world kept in DIR instead of a cluster and accounts"))
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  const command = (name: string, summary: string): Command =>
    withCommonFlags(program.command(name).description(summary));
  const targets = (): Argument => new Argument("[TARGET...]", "[pool/|routedip/|dns/][NAMESPACE/]NAME; all by default");

  command("plan", "Show what reconcile would change, and why. Never writes.")
    .addArgument(
      new Argument("[TARGET...]", "[pool/|routedip/|dns/][NAMESPACE/]NAME, node/NAME or ip/ADDRESS; all by default"),
    )
    .option("--all", "show addresses and names that stay as they are, too")
    .option("--detailed-exitcode", "exit 2 when there are changes to make")
    .action(async (names: string[], _: PlanFlags, self: Command) =>
      onExit(await handlers.plan(names, self.optsWithGlobals())),
    );
  withPushFlags(withWatchFlags(withLockFlags(command("reconcile", "Make it so: one pass, or a loop with --watch."))))
    .addArgument(targets())
    .option("--settle", "pass again until nothing is left to do or the time is over")
    .addOption(duration("--timeout <DURATION>", "time for the whole run; with --watch for one pass", "50s"))
    .addOption(
      new Option("--partial <MODE>", "exit code when some objects are in error")
        .choices(["fail", "ok"])
        .default("fail"),
    )
    .action(async (names: string[], _: ReconcileFlags, self: Command) =>
      onExit(await handlers.reconcile(names, self.optsWithGlobals())),
    );
  command("status", "Show pools, routed IPs, record sets, addresses and the last run, from the cluster alone.")
    .addArgument(targets())
    .option("--check", "exit 6 when an object is not ready or waits for a person, or the last success is too old")
    .addOption(duration("--max-age <DURATION>", "how old the last successful run may be with --check", "5m"))
    .action(async (names: string[], _: StatusFlags, self: Command) =>
      onExit(await handlers.status(names, self.optsWithGlobals())),
    );
  const manifests = program.command("manifests").description("Print what installs flipop, as YAML.");
  for (const option of manifestOptions()) manifests.addOption(option);
  manifests.action(async (flags: ManifestFlags) => onExit(await handlers.manifests(flags)));
  program
    .command("version")
    .description("Print the version.")
    .action(async () => onExit(await handlers.version()));
  return program;
}

function withCommonFlags(command: Command): Command {
  const collect = (value: string, before: string[]): string[] => [...before, value];
  return command
    .option("--kubeconfig <FILE>", "kubeconfig to use instead of $KUBECONFIG and ~/.kube/config")
    .option("--context <NAME>", "context of the kubeconfig")
    .addOption(checked("-n, --namespace <NAME>", "only objects of this namespace", NO_NAMESPACE, isNamespaceName))
    .option("-A, --all-namespaces", "objects of all namespaces (the default), whatever -n says")
    .addOption(
      new Option("-l, --selector <LABELS>", "only objects with these labels, as in kubectl").argParser(readable),
    )
    .addOption(duration("--request-timeout <DURATION>", "time for one call to the cluster"))
    .option("--as <USER>", "act as this user of the cluster")
    .addOption(new Option("--as-group <GROUP>", "act as this group, repeatable").argParser(collect).default([], "none"))
    .addOption(
      checked("--lease-namespace <NAME>", "namespace of the Lease", NO_NAMESPACE, isNamespaceName).default("flipop"),
    )
    .addOption(
      checked("--lease-name <NAME>", "name of the Lease", "It is no name of a Lease.", isSubdomain).default("flipop"),
    )
    .addOption(new Option("-o, --output <FORMAT>", "format of the result").choices(FORMATS).default("table"))
    .option("-q, --quiet", "print the result and errors only")
    .addOption(new Option("-v, --verbose", "say more; twice for stacks").default(0, "off"))
    .addOption(new Option("--color <WHEN>", "colour").choices(["auto", "always", "never"]).default("auto"))
    .addOption(new Option("--log-format <FORMAT>", "lines on stderr").choices(["auto", "text", "json"]).default("auto"))
    .on("option:verbose", () => {
      const before: unknown = command.getOptionValue("verboseCount");
      const count = typeof before === "number" ? before + 1 : 1;
      command.setOptionValue("verboseCount", count).setOptionValueWithSource("verbose", count, "cli");
    });
}

/** A label selector as it was given. @throws ConfigError `usage` for one that cannot be read, before anything else is. */
function readable(text: string): string {
  const parsed = parseLabelSelector(text);
  if ("selector" in parsed) return text;
  throw new ConfigError("usage", `Cannot read the label selector '${shownText(text)}' of -l: ${parsed.error}.`);
}

const FORMATS = ["table", "wide", "json", "yaml", "name"];

function withLockFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--on-locked <MODE>", "while another run holds the lock; fail, with --watch wait, by default").choices(
        ["fail", "skip", "wait"],
      ),
    )
    .addOption(duration("--lease-duration <DURATION>", "how long the lock lasts without a renewal", "15s"))
    .addOption(duration("--renew-deadline <DURATION>", "when to give the lock up without a renewal", "10s"))
    .addOption(duration("--retry-period <DURATION>", "time between renewals", "2s"))
    .option("--no-lock", "run without the lock; only when nothing else can run");
}

function withWatchFlags(command: Command): Command {
  return command
    .option("--watch", "go on, and pass again whenever something changes")
    .addOption(
      duration("--interval <DURATION>", "with --watch: time between two looks at the providers; 60s by default"),
    )
    .option("--metrics-addr <ADDRESS>", "with --watch: serve /metrics, /healthz and /readyz here, such as :8080");
}

function withPushFlags(command: Command): Command {
  const collect = (value: string, before: string[]): string[] => [...before, value];
  return command
    .option("--pushgateway <URL>", "push metrics to this Pushgateway after the run")
    .option("--push-job <NAME>", "job of the pushed group", "flipop")
    .addOption(
      new Option("--push-grouping <NAME=VALUE>", "further label of the pushed group, repeatable")
        .argParser(collect)
        .default([], "none"),
    );
}

function duration(flags: string, description: string, byDefault?: string): Option {
  const option = new Option(flags, description).argParser((text: string) => {
    const ms = parseDuration(text);
    if (ms === undefined) throw new InvalidArgumentError("Write it like 500ms, 30s, 5m or 1h; at most 24h.");
    return ms;
  });
  return byDefault === undefined ? option : option.default(parseDuration(byDefault), byDefault);
}

const EXAMPLES = `
Examples:
  flipop plan                          what would change, and why
  flipop reconcile --settle            make it so
  flipop status -o wide                where every address is, and what DNS says
  flipop --sandbox plan                try it without a cluster or an account

Every flag can also be set as an environment variable: --request-timeout as FLIPOP_REQUEST_TIMEOUT.
Tokens come from the environment only: DIGITALOCEAN_ACCESS_TOKEN and CLOUDFLARE_TOKEN, or files in …_FILE.`;

/** Formats of `-o`. */
export type OutputFormat = "table" | "wide" | "json" | "yaml" | "name";

/** Flags every command has. */
export interface CommonFlags {
  readonly sandbox?: string | true;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  /** Milliseconds. */
  readonly requestTimeout?: number;
  readonly as?: string;
  readonly asGroup: readonly string[];
  readonly output: OutputFormat;
  readonly quiet?: boolean;
  /** 0, 1 (`-v`) or 2 (`-vv`). */
  readonly verbose: number;
  readonly color: "auto" | "always" | "never";
  readonly logFormat: "auto" | "text" | "json";
}

/** Which Lease, and how it is kept; durations in milliseconds. */
export interface LeaseFlags {
  readonly leaseNamespace: string;
  readonly leaseName: string;
}

/** Flags of `plan`. */
export interface PlanFlags extends CommonFlags, LeaseFlags {
  readonly all?: boolean;
  readonly detailedExitcode?: boolean;
}

/** Flags of `reconcile`; durations in milliseconds. */
export interface ReconcileFlags extends CommonFlags, LeaseFlags {
  readonly settle?: boolean;
  readonly watch?: boolean;
  /** Absent = a minute, with `--watch`. */
  readonly interval?: number;
  /** `HOST:PORT` or `:PORT`. */
  readonly metricsAddr?: string;
  readonly timeout: number;
  readonly partial: "fail" | "ok";
  /** Absent = `fail`, with `--watch` `wait`. */
  readonly onLocked?: "fail" | "skip" | "wait";
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
  /** False with `--no-lock`. */
  readonly lock: boolean;
  readonly pushgateway?: string;
  readonly pushJob: string;
  /** `NAME=VALUE` each. */
  readonly pushGrouping: readonly string[];
}

/** Flags of `status`. */
export interface StatusFlags extends CommonFlags, LeaseFlags {
  readonly check?: boolean;
  /** Milliseconds. */
  readonly maxAge: number;
}

/** Flags of `manifests`. */
export interface ManifestFlags extends ManifestChanges {
  readonly only?: readonly ManifestPart[];
  readonly mode: ManifestMode;
}

const UNIT_MS: ReadonlyMap<string, number> = new Map<string, number>(
  Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 }),
);
const LONGEST_MS = 24 * 3_600_000;

/**
 * Returns the milliseconds of `500ms`, `30s`, `5m`, `1h` or `1m30s`; undefined for anything else, for nothing (`0s`), and for
 * more than a day.
 */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) {
    sum += Number(number) * (UNIT_MS.get(unit ?? "") ?? 0);
  }
  return sum > 0 && sum <= LONGEST_MS ? sum : undefined;
}
