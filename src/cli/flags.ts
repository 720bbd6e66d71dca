import { type Command, InvalidArgumentError, Option } from "commander";
import { isResolverAddress } from "../adapters/resolver/resolver.ts";
import { ConfigError } from "../model/errors.ts";
import type { FindingCode, Severity } from "../model/finding.ts";
import { isNamespaceName, isSubdomain } from "../model/resource.ts";
import type { Environment } from "./environment.ts";
import { findingCodes } from "./finding-codes.ts";
import {
  addToList,
  anyText,
  countUp,
  duration,
  isURIReference,
  labelSelector,
  manifestParts,
  parseDuration,
  pastTime,
  valid,
  wholeNumber,
} from "./flag-values.ts";
import {
  isCronSchedule,
  isPinnedImage,
  isPriorityClass,
  isRunbooksURL,
  MANIFEST_MODES,
  MANIFEST_PARTS,
  type ManifestChanges,
  type ManifestMode,
  type ManifestPart,
} from "./manifests.ts";

// To add a flag: add its field to the interface of its command, then its row to the table below. Everything else follows from the row:
//
//   row  flag(spelling, help, choices or reader, default)
//     -> commander's option, in the order of the rows, with its line of --help        addFlags
//     -> the variable FLIPOP_REQUEST_TIMEOUT for --request-timeout                    applyFlagEnvironment
//     -> the field of the flags that the command gets: requestTimeout                 (named by commander)

/** Formats of `-o`: `jsonl` is JSON with each document in one line, `markdown` a comment on a pull request. */
export type OutputFormat = "table" | "wide" | "json" | "jsonl" | "yaml" | "name" | "markdown";

/** The flag that stands before or after the command. */
export interface GlobalFlags {
  /** A folder; true = the usual one. */
  readonly sandbox?: string | true;
}

/** Flags of every command that speaks to a cluster. */
export interface ClusterFlags extends GlobalFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  /** Milliseconds. */
  readonly requestTimeout?: number;
  readonly as?: string;
  readonly asGroup: readonly string[];
  readonly leaseNamespace: string;
  readonly leaseName: string;
  readonly quiet?: boolean;
  /** 0, 1 (`-v`) or 2 (`-vv`). */
  readonly verbose: number;
  readonly color: "auto" | "always" | "never";
  readonly logFormat: "auto" | "text" | "json";
}

/** Flags of `plan`, `reconcile` and `status`. */
export interface CommonFlags extends ClusterFlags {
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly output: OutputFormat;
}

/** How much one run may do. */
interface LimitFlags {
  readonly maxVoluntaryMoves?: number;
  readonly maxPurchases?: number;
  readonly maxRemovals?: number;
}

/** Values of `--grants`. */
export type GrantsFlag = "off" | "warn" | "require";

/** Flags of `plan`. */
export interface PlanFlags extends CommonFlags, LimitFlags {
  /** Absent = as the Lease notes. */
  readonly grants?: GrantsFlag;
  readonly all?: boolean;
  readonly detailedExitcode?: boolean;
  /** Edits of the world, as `rehearse/edit.ts` reads them. */
  readonly if: readonly string[];
  /** Files and folders; `-` = standard input. */
  readonly filename: readonly string[];
  /** A snapshot; `-` = standard input. */
  readonly from?: string;
  /** A new file. */
  readonly save?: string;
  readonly force?: boolean;
}

/** Flags of `snapshot`. */
export interface SnapshotFlags extends ClusterFlags {
  readonly grants?: GrantsFlag;
  /** False with `--no-events`. */
  readonly events: boolean;
  readonly anonymize?: boolean;
  readonly force?: boolean;
}

/** Flags of `reconcile`; durations in milliseconds. */
export interface ReconcileFlags extends CommonFlags, LimitFlags {
  readonly grants: GrantsFlag;
  /** Absent = `fail`, with `--watch` `wait`. */
  readonly onLocked?: "fail" | "skip" | "wait";
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
  /** False with `--no-lock`. */
  readonly lock: boolean;
  readonly watch?: boolean;
  /** Absent = a minute, with `--watch`. */
  readonly interval?: number;
  /** `HOST:PORT` or `:PORT`. */
  readonly metricsAddr?: string;
  readonly pushgateway?: string;
  readonly pushJob: string;
  /** `NAME=VALUE` each. */
  readonly pushGrouping: readonly string[];
  /** URLs, each with its format before it where it is not cloudevents. */
  readonly notify: readonly string[];
  readonly notifyFile?: string;
  readonly notifySource?: string;
  readonly notifySecretFile?: string;
  readonly settle?: boolean;
  readonly timeout: number;
  readonly partial: "fail" | "ok";
  readonly yes?: boolean;
  readonly confirm?: boolean;
  /** A saved plan; `-` = standard input. */
  readonly plan?: string;
  readonly allOrNothing?: boolean;
  /** Milliseconds. */
  readonly maxAge: number;
}

/** Flags of `explain`. */
export interface ExplainFlags extends ClusterFlags {
  readonly output: Exclude<OutputFormat, "name">;
  /** The object to look from, as a target. */
  readonly in?: string;
  /** Milliseconds. */
  readonly horizon: number;
  /** False with `--no-history`. */
  readonly history: boolean;
  /** A snapshot; `-` = standard input. */
  readonly from?: string;
}

/** Formats of `validate`: `github` are commands of a workflow, `sarif` is a log for code reviews. */
export type FindingsFormat = "table" | "json" | "yaml" | "github" | "sarif";

/** Flags of `validate`. */
export interface ValidateFlags extends ClusterFlags {
  readonly cluster?: boolean;
  readonly recursive?: boolean;
  readonly suppress: readonly FindingCode[];
  readonly failOn: Severity;
  readonly output: FindingsFormat;
}

/** Flags of `sandbox`. */
export interface SandboxFlags extends GlobalFlags, Partial<Pick<CommonFlags, "quiet" | "logFormat">> {
  readonly output: "table" | "json" | "yaml";
}

/** Flags of `version`. */
export interface VersionFlags {
  readonly output: "table" | "json" | "yaml";
}

/** Flags of `manifests`. */
export interface ManifestFlags extends ManifestChanges {
  readonly only?: readonly ManifestPart[];
  readonly mode: ManifestMode;
}

/** One row for each flag; a field without a row does not compile. */
export type FlagTable<F> = Readonly<Record<keyof F, FlagRow>>;

/** What a flag is. */
export interface FlagRow {
  readonly spelling: string;
  readonly help: string;
  readonly value: Value;
  /** As it is written on the command line. */
  readonly byDefault: string | undefined;
}

/** The choices that there are; or what returns the value of a text, or refuses it. */
type Value = readonly string[] | ((text: string, before: never) => unknown);

/** Returns a row; see the top of this file. */
export function flag(spelling: string, help: string, value: Value = anyText, byDefault?: string): FlagRow {
  return { spelling, help, value, byDefault };
}

/** The flag of the whole program. */
export const GLOBAL: FlagTable<GlobalFlags> = {
  sandbox: flag("--sandbox [DIR]", "run on an embedded world kept in DIR instead of a cluster and accounts"),
};

/** Returns the flag of a command whose result is about objects; `more` are the formats that it has beside the usual ones. */
export function outputFlag(...more: readonly ("jsonl" | "markdown")[]): FlagRow {
  const telling = [
    ...(more.includes("jsonl") ? ["jsonl is json in one line"] : []),
    ...(more.includes("markdown") ? ["markdown is a comment on a pull request"] : []),
    "name prints targets of flipop, which kubectl cannot read",
  ];
  const formats = ["table", "wide", "json", "yaml", "name", ...more];
  return flag("-o, --output <FORMAT>", `format of the result; ${telling.join("; ")}`, formats, "table");
}

const LEASE_NAME = valid(isSubdomain, "It is no name of a Lease.");
const NAMESPACE = valid(isNamespaceName, "It is no name of a namespace.");

/** The flags of all that lists objects. */
export const COMMON: FlagTable<Omit<CommonFlags, keyof GlobalFlags>> = {
  kubeconfig: flag("--kubeconfig <FILE>", "kubeconfig to use instead of $KUBECONFIG and ~/.kube/config"),
  context: flag("--context <CONTEXT>", "context of the kubeconfig"),
  namespace: flag("-n, --namespace <NAMESPACE>", "only objects of this namespace", NAMESPACE),
  allNamespaces: flag("-A, --all-namespaces", "objects of all namespaces (the default), whatever -n says"),
  selector: flag("-l, --selector <LABELS>", "only objects with these labels, as in kubectl", labelSelector),
  requestTimeout: flag("--request-timeout <DURATION>", "time for one call to the cluster; 30s by default", duration),
  as: flag("--as <USER>", "act as this user of the cluster"),
  asGroup: flag("--as-group <GROUP>", "act as this group, repeatable", addToList),
  leaseNamespace: flag("--lease-namespace <NAME>", "namespace of the Lease", NAMESPACE, "flipop"),
  leaseName: flag("--lease-name <NAME>", "name of the Lease", LEASE_NAME, "flipop"),
  output: outputFlag(),
  quiet: flag("-q, --quiet", "print the result and errors only"),
  verbose: flag("-v, --verbose", "say more, such as request ids of errors; twice for stacks", countUp),
  color: flag("--color <WHEN>", "colour", ["auto", "always", "never"], "auto"),
  logFormat: flag("--log-format <FORMAT>", "lines on stderr", ["auto", "text", "json"], "auto"),
};

const LIMITS: FlagTable<LimitFlags> = {
  maxVoluntaryMoves: flag(
    "--max-voluntary-moves <N>",
    "in one run take at most N addresses and names from somebody; what no longer serves is never counted",
    wholeNumber,
  ),
  maxPurchases: flag("--max-purchases <N>", "in one run acquire at most N addresses", wholeNumber),
  maxRemovals: flag("--max-removals <N>", "of these, remove at most N that the spec asks for no longer", wholeNumber),
};

const { allNamespaces: _all, selector: _selector, output: _output, ...cluster } = COMMON;
/** The flags of all that speaks to a cluster. */
export const CLUSTER: FlagTable<Omit<ClusterFlags, keyof GlobalFlags>> = cluster;

/** Modes of `--grants`. */
export const GRANTS: readonly GrantsFlag[] = ["off", "warn", "require"];
/** Of readers: `reconcile` notes on the Lease how grants counted. */
export const NOTED_GRANTS = "by default as in the last run of reconcile";

/** Returns the flag that names a DNS server. */
export function resolverFlag(help: string): FlagRow {
  const reader = valid(isResolverAddress, "Write an address, such as 9.9.9.9 or 127.0.0.1:5353.");
  return flag("--resolver <ADDRESS[:PORT]>", help, reader);
}

/** Of every command that reads a snapshot. */
export const FROM: FlagRow = flag(
  "--from <FILE>",
  "of the world of a snapshot instead of a cluster; - reads it from stdin",
);

/** The flags of `plan`. */
export const PLAN: FlagTable<Omit<PlanFlags, keyof GlobalFlags>> = {
  ...COMMON,
  output: outputFlag("markdown"),
  grants: flag("--grants <MODE>", `whether grants of namespaces count; ${NOTED_GRANTS}`, GRANTS),
  all: flag("--all", "show objects, addresses and names that stay as they are, too, and every hold at its object"),
  detailedExitcode: flag("--detailed-exitcode", "exit 2 when there are changes to make"),
  ...LIMITS,
  if: flag("--if <EDIT>", "plan for the world with this difference, repeatable; see below", addToList),
  filename: flag(
    "-f, --filename <FILE>",
    "plan as if these objects were applied, repeatable; - reads them from stdin",
    addToList,
  ),
  from: FROM,
  save: flag("--save <FILE>", "also save the plan to a new file, for reconcile --plan"),
  force: flag("--force", "with --save: replace a file that exists"),
};

/** The flags of `snapshot`. */
export const SNAPSHOT: FlagTable<Omit<SnapshotFlags, keyof GlobalFlags>> = {
  ...CLUSTER,
  grants: flag("--grants <MODE>", `whether to hold what namespaces grant; ${NOTED_GRANTS}`, GRANTS),
  events: flag("--no-events", "leave out the Events that flipop wrote"),
  anonymize: flag("--anonymize", "put other names in the place of all names and addresses; the plan stays the same"),
  force: flag("--force", "replace a file that exists"),
};

/** The flags of `reconcile`. */
export const RECONCILE: FlagTable<Omit<ReconcileFlags, keyof GlobalFlags>> = {
  ...COMMON,
  output: outputFlag("jsonl"),
  grants: flag("--grants <MODE>", "whether grants of namespaces count: not, as a warning, or required", GRANTS, "off"),
  onLocked: flag("--on-locked <MODE>", "while another run holds the lock; fail, with --watch wait, by default", [
    "fail",
    "skip",
    "wait",
  ]),
  leaseDuration: flag("--lease-duration <DURATION>", "how long the lock lasts without a renewal", duration, "15s"),
  renewDeadline: flag("--renew-deadline <DURATION>", "when to give the lock up without a renewal", duration, "10s"),
  retryPeriod: flag("--retry-period <DURATION>", "time between renewals", duration, "2s"),
  lock: flag("--no-lock", "run without the lock; only when nothing else can run"),
  watch: flag("--watch", "go on, and pass again whenever something changes"),
  interval: flag(
    "--interval <DURATION>",
    "with --watch: time between two looks at the providers; 60s by default",
    duration,
  ),
  metricsAddr: flag(
    "--metrics-addr <ADDRESS>",
    "with --watch: serve /metrics, /healthz and /readyz here, such as :8080",
  ),
  pushgateway: flag("--pushgateway <URL>", "push metrics to this Pushgateway after the run"),
  pushJob: flag("--push-job <NAME>", "job of the pushed group", anyText, "flipop"),
  pushGrouping: flag("--push-grouping <NAME=VALUE>", "further label of the pushed group, repeatable", addToList),
  notify: flag(
    "--notify <URL>",
    "post changes, blocked objects and failed runs here as CloudEvents, repeatable; slack+https://… and alertmanager+http://… are other formats",
    addToList,
  ),
  notifyFile: flag("--notify-file <FILE>", "file with such URLs, one in a line"),
  notifySource: flag(
    "--notify-source <URI>",
    "names the cluster in what is posted, such as https://k8s.example.com/production",
    valid(isURIReference, "Write a URI without spaces, such as https://k8s.example.com/production."),
  ),
  notifySecretFile: flag("--notify-secret-file <FILE>", "file with the secret that signs what is posted"),
  settle: flag("--settle", "pass again until nothing is left to do or the time is over"),
  timeout: flag("--timeout <DURATION>", "time for the whole run; with --watch for one pass", duration, "50s"),
  partial: flag("--partial <MODE>", "exit code when some objects are in error", ["fail", "ok"], "fail"),
  yes: flag("-y, --yes", "ask nothing; without it a terminal is asked before what cannot be undone"),
  confirm: flag("--confirm", "without a terminal leave what cannot be undone, list it and exit 4"),
  ...LIMITS,
  plan: flag("--plan <FILE>", "carry out a saved plan, and nothing else; - reads it from stdin"),
  allOrNothing: flag("--all-or-nothing", "with --plan: do nothing when a part of it cannot be done as it was saved"),
  maxAge: flag("--max-age <DURATION>", "with --plan: how old the saved plan may be", duration, "24h"),
};

/** The flags of `explain`. */
export const EXPLAIN: FlagTable<Omit<ExplainFlags, keyof GlobalFlags>> = {
  ...CLUSTER,
  output: flag("-o, --output <FORMAT>", "format of the result", ["table", "wide", "json", "yaml"], "table"),
  in: flag("--in <OBJECT>", "look from this object, where several ask for the node"),
  horizon: flag("--horizon <DURATION>", "how far ahead to look", duration, "15m"),
  history: flag("--no-history", "leave out what happened before"),
  from: FROM,
};

/** The flags of `validate`. */
export const VALIDATE: FlagTable<Omit<ValidateFlags, keyof GlobalFlags>> = {
  ...CLUSTER,
  cluster: flag("--cluster", "plan the cluster with these objects, and say what would need a person; writes nothing"),
  recursive: flag("-R, --recursive", "look into the folders below, too"),
  namespace: flag("-n, --namespace <NAME>", "where objects are that do not say; default by default", NAMESPACE),
  suppress: flag(
    "--suppress <CODE>",
    "leave out findings of this code, repeatable or separated by commas",
    findingCodes,
  ),
  failOn: flag("--fail-on <SEVERITY>", "exit 6 from this severity on", ["error", "warning"], "error"),
  output: flag("-o, --output <FORMAT>", "format of the result", ["table", "json", "yaml", "github", "sarif"], "table"),
};

/** The flags of `manifests`. Each refuses what the API server would, and an image that may change by itself. */
export const MANIFESTS: FlagTable<ManifestFlags> = {
  namespace: flag("-n, --namespace <NAME>", "namespace to install into", NAMESPACE),
  image: flag(
    "--image <IMAGE>",
    "image to run",
    valid(isPinnedImage, "Write it like NAME:TAG or NAME@sha256:DIGEST; not latest."),
  ),
  schedule: flag(
    "--schedule <CRON>",
    "schedule of the CronJob, in UTC",
    valid(isCronSchedule, "Write five fields like '*/5 * * * *', or a macro like @hourly."),
  ),
  priorityClass: flag(
    "--priority-class <NAME>",
    "PriorityClass of the pods, such as system-cluster-critical",
    valid(isPriorityClass, "It is no name of a PriorityClass."),
  ),
  runbooks: flag(
    "--runbooks <URL>",
    "page with the manual's sections on alerts, for those who are called",
    valid(isRunbooksURL, "Write it like https://wiki.example.com/flipop, without a #."),
  ),
  mode: flag("--mode <MODE>", "run by a CronJob, or as a Deployment that watches", MANIFEST_MODES, "cronjob"),
  only: flag("--only <PARTS>", `only these, separated by commas: ${MANIFEST_PARTS.join(", ")}`, manifestParts),
};

/** The flags of `sandbox`. */
export const SANDBOX: FlagTable<Omit<SandboxFlags, keyof GlobalFlags>> = {
  output: flag("-o, --output <FORMAT>", "format of what is printed", ["table", "json", "yaml"], "table"),
  quiet: COMMON.quiet,
  logFormat: COMMON.logFormat,
};

/** The flags of `version`. */
export const VERSION_FLAGS: FlagTable<VersionFlags> = {
  output: flag("-o, --output <FORMAT>", "format of the result", ["table", "json", "yaml"], "table"),
};

/** Adds the options of a table to a command, in its order. Returns the command. */
export function addFlags(command: Command, table: Readonly<Record<string, FlagRow>>): Command {
  for (const row of Object.values(table)) command.addOption(optionOf(row));
  return command;
}

function optionOf({ spelling, help, value, byDefault }: FlagRow): Option {
  const option = new Option(spelling, help);
  if (value === addToList || value === findingCodes)
    return option.argParser(value as typeof addToList).default([], "none");
  if (value === countUp) return option.argParser(countUp).default(0, "off");
  if (typeof value !== "function") option.choices(value);
  else if (value !== anyText) option.argParser(value as (text: string, before: unknown) => unknown);
  if (byDefault === undefined) return option;
  const isTime = value === duration || value === pastTime;
  return isTime ? option.default(parseDuration(byDefault), byDefault) : option.default(byDefault);
}

/**
 * Gives every flag that is not on the command line the value of its `FLIPOP_…` variable, if that is set and not empty.
 * (commander's own `.env()` reads the process's environment, takes `false` for true, and cannot be given another one.)
 * @throws ConfigError `usage` naming the variable and what it may be.
 */
export function applyFlagEnvironment(command: Command, env: Environment): void {
  for (const owner of [command, command.parent]) {
    for (const option of owner?.options ?? []) if (option.long !== "--version") applyOne(owner, option, env);
  }
}

function applyOne(owner: Command | null, option: Option, env: Environment): void {
  const variable = `FLIPOP_${(option.long ?? "").slice(2).replaceAll("-", "_").toUpperCase()}`;
  const text = env[variable];
  const name = option.attributeName();
  if (!text || owner?.getOptionValueSource(name) === "cli") return;
  try {
    owner?.setOptionValueWithSource(name, readVariable(option, text), "env");
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new ConfigError("usage", `The environment variable ${variable} is '${text}'. ${error.message}`);
  }
}

/** @throws InvalidArgumentError for a text that is no value of the flag */
function readVariable(option: Option, text: string): unknown {
  if (option.parseArg === (findingCodes as unknown)) return findingCodes(text, []);
  if (Array.isArray(option.defaultValue)) return text.split(",");
  if (option.long === "--verbose" && /^[012]$/.test(text)) return Number(text);
  if (option.isBoolean() || option.negate) return readSwitch(text) !== option.negate;
  if (option.optional && (text === "true" || text === "1")) return true;
  return option.parseArg === undefined ? text : option.parseArg(text, undefined);
}

function readSwitch(text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new InvalidArgumentError("It takes true or false.");
}
