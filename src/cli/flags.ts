import { type Command, InvalidArgumentError, Option } from "commander";
import { isResolverAddress } from "../adapters/resolver/resolver.ts";
import { ConfigError } from "../model/errors.ts";
import type { FindingCode, Severity } from "../model/finding.ts";
import { isNamespaceName, isSubdomain } from "../model/resource.ts";
import { parseShard, SHARD_RULE } from "../model/shard.ts";
import { listText } from "../report/text/layout.ts";
import type { Environment } from "./environment.ts";
import { findingCodes } from "./finding-codes.ts";
import {
  addToList,
  anyText,
  countUp,
  duration,
  labelSelector,
  manifestParts,
  parseDuration,
  pastTime,
  podSelectors,
  valid,
  wholeNumber,
} from "./flag-values.ts";
import {
  isCronSchedule,
  isPinnedImage,
  isPriorityClass,
  isRunbooksURL,
  isSecretKey,
  MANIFEST_MODES,
  MANIFEST_PARTS,
  type ManifestFlags,
} from "./manifests.ts";
import type { OutputFormat } from "./output.ts";
import { addShard } from "./shard-manifests.ts";

// To add a flag: add its field to the interface of its command, then its row to the table below. Everything else follows from the row:
//
//   row  flag(spelling, help, choices or reader, default)
//     -> commander's option, with its line of --help below the heading of its group   addFlags
//     -> the variable FLIPOP_REQUEST_TIMEOUT for --request-timeout                    applyFlagEnvironment
//     -> the field of the flags that the command gets: requestTimeout                 (named by commander)

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
  /** `NAME=URL`, or a URL. */
  readonly dnsWebhook: readonly string[];
  /** `NAME=FILE`, or a file. */
  readonly dnsTokenFile: readonly string[];
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

/** The flag of the commands that work, or look, for a shard. */
export interface ShardFlags {
  readonly shard?: string;
}

/** How much one run may do. */
export interface LimitFlags {
  readonly maxVoluntaryMoves?: number;
  readonly maxPurchases?: number;
  readonly maxRemovals?: number;
}

/** Values of `--grants`. */
export type GrantsFlag = "off" | "warn" | "require";

/** Flags of `plan`. */
export interface PlanFlags extends CommonFlags, LimitFlags, ShardFlags {
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

/** One row for each flag; a field without a row does not compile. */
export type FlagTable<F> = Readonly<Record<keyof F, FlagRow>>;

/** What a flag is. */
export interface FlagRow {
  readonly spelling: string;
  readonly help: string;
  readonly value: Value;
  /** As it is written on the command line. */
  readonly byDefault: string | undefined;
  /** The heading that help puts it under; absent = among the command's own, which stand first. */
  readonly group?: Group;
}

/** What flags of several commands are about, in the order of help. */
const GROUPS = [
  "Saved plan:",
  "Limits:",
  "Watch:",
  "Metrics:",
  "Notifications:",
  "Objects:",
  "Cluster:",
  "DNS webhooks:",
  "Lock:",
  "Output:",
] as const;
type Group = (typeof GROUPS)[number];

/** Returns rows under a heading of help. */
export function under<T extends Readonly<Record<string, FlagRow>>>(group: Group, rows: T): T {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, group }])) as unknown as T;
}

/** Returns the flag `-o` of a command that has these formats; the first is the default. */
export function outputFlag<F extends string>(
  formats: readonly [F, ...F[]],
  help: string = "format of the result",
): FlagRow {
  return { ...flag("-o, --output <FORMAT>", help, formats, formats[0]), group: "Output:" };
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
export function objectOutputFlag(...more: readonly ("jsonl" | "markdown")[]): FlagRow {
  const telling = [
    ...(more.includes("jsonl") ? ["jsonl is json in one line"] : []),
    ...(more.includes("markdown") ? ["markdown is a comment on a pull request"] : []),
    "name prints targets of flipop, which kubectl cannot read",
  ];
  return outputFlag(["table", "wide", "json", "yaml", "name", ...more], `format of the result; ${telling.join("; ")}`);
}

const LEASE_NAME = valid(isSubdomain, "It is no name of a Lease.");
const NAMESPACE = valid(isNamespaceName, "It is no name of a namespace.");

/** The flags of all that lists objects. */
export const COMMON: FlagTable<Omit<CommonFlags, keyof GlobalFlags>> = {
  ...under("Objects:", {
    namespace: flag("-n, --namespace <NAMESPACE>", "only objects of this namespace", NAMESPACE),
    allNamespaces: flag("-A, --all-namespaces", "objects of all namespaces (the default), whatever -n says"),
    selector: flag("-l, --selector <LABELS>", "only objects with these labels, as in kubectl", labelSelector),
  }),
  ...under("Cluster:", {
    kubeconfig: flag("--kubeconfig <FILE>", "kubeconfig to use instead of $KUBECONFIG and ~/.kube/config"),
    context: flag("--context <CONTEXT>", "context of the kubeconfig"),
    requestTimeout: flag("--request-timeout <DURATION>", "time for one call to the cluster; 30s by default", duration),
    as: flag("--as <USER>", "act as this user of the cluster"),
    asGroup: flag("--as-group <GROUP>", "act as this group, repeatable", addToList),
  }),
  ...under("DNS webhooks:", {
    dnsWebhook: flag(
      "--dns-webhook <NAME=URL>",
      "DNS provider that external-dns could use, as webhook=http://127.0.0.1:8888, repeatable",
      addToList,
    ),
    dnsTokenFile: flag(
      "--dns-token-file <NAME=FILE>",
      "file with the token of a webhook on another machine, repeatable",
      addToList,
    ),
  }),
  ...under("Lock:", {
    leaseNamespace: flag("--lease-namespace <NAME>", "namespace of the Lease", NAMESPACE, "flipop"),
    leaseName: flag("--lease-name <NAME>", "name of the Lease", LEASE_NAME, "flipop"),
  }),
  output: objectOutputFlag(),
  ...under("Output:", {
    quiet: flag("-q, --quiet", "print the result and errors only"),
    verbose: flag("-v, --verbose", "say more, such as request ids of errors; twice for stacks", countUp),
    color: flag("--color <WHEN>", "colour", ["auto", "always", "never"], "auto"),
    logFormat: flag("--log-format <FORMAT>", "lines on stderr", ["auto", "text", "json"], "auto"),
  }),
};

/** The flag of a shard. */
export const SHARD: FlagTable<ShardFlags> = under("Objects:", {
  shard: flag(
    "--shard <SHARD>",
    "only objects of this shard: 2/3 by namespace, or the value of the label flipop.digitalocean.com/shard",
    valid((text) => parseShard(text) !== undefined, SHARD_RULE),
  ),
});

/** The flags of what one run may do. */
export const LIMITS: FlagTable<LimitFlags> = under("Limits:", {
  maxVoluntaryMoves: flag(
    "--max-voluntary-moves <N>",
    "in one run take at most N addresses and names from somebody; what no longer serves is never counted",
    wholeNumber,
  ),
  maxPurchases: flag("--max-purchases <N>", "in one run acquire at most N addresses", wholeNumber),
  maxRemovals: flag("--max-removals <N>", "of these, remove at most N that the spec asks for no longer", wholeNumber),
});

const { allNamespaces: _all, selector: _selector, output: _output, ...REST } = COMMON;
/** The flags of all that speaks to a cluster. */
export const CLUSTER: FlagTable<Omit<ClusterFlags, keyof GlobalFlags>> = REST;

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
  ...SHARD,
  output: objectOutputFlag("markdown"),
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

/** The flags of `explain`. */
export const EXPLAIN: FlagTable<Omit<ExplainFlags, keyof GlobalFlags>> = {
  output: outputFlag(["table", "wide", "json", "yaml"]),
  ...CLUSTER,
  in: flag("--in <OBJECT>", "look from this object, where several ask for the node"),
  horizon: flag("--horizon <DURATION>", "how far ahead to look", duration, "15m"),
  history: flag("--no-history", "leave out what happened before"),
  from: FROM,
};

/** The flags of `validate`. */
export const VALIDATE: FlagTable<Omit<ValidateFlags, keyof GlobalFlags>> = {
  output: outputFlag(["table", "json", "yaml", "github", "sarif"]),
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
};

const SECRET_KEY = valid(isSecretKey, "It is no key of a Secret.");

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
  dnsWebhookImage: flag(
    "--dns-webhook-image <IMAGE>",
    "image of a DNS webhook of external-dns to run beside flipop, for objects with provider: webhook",
    valid(isPinnedImage, "Write it like NAME:TAG or NAME@sha256:DIGEST; not latest."),
  ),
  notifySecretName: flag(
    "--notify-secret-name <NAME>",
    "Secret with the URLs to notify, mounted as the file of reconcile --notify-file",
    valid(isSubdomain, "It is no name of a Secret."),
  ),
  notifyFileKey: flag("--notify-file-key <KEY>", "key of it with the URLs; urls by default", SECRET_KEY),
  notifySecretFileKey: flag(
    "--notify-secret-file-key <KEY>",
    "key of it with the secret that signs, for --notify-secret-file; without it nothing is signed",
    SECRET_KEY,
  ),
  priorityClass: flag(
    "--priority-class <NAME>",
    "PriorityClass of the pods, such as system-cluster-critical",
    valid(isPriorityClass, "It is no name of a PriorityClass."),
  ),
  shard: flag("--shard <SHARD>", "run a process for this shard, with a name of its own, repeatable", addShard),
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
  output: outputFlag(["table", "json", "yaml"], "format of what is printed"),
  quiet: COMMON.quiet,
  logFormat: COMMON.logFormat,
};

/** The flags of `version`. */
export const VERSION_FLAGS: FlagTable<VersionFlags> = {
  output: outputFlag(["table", "json", "yaml"]),
};

/** Adds the options of a table to a command: its own in their order, then those of each group. Returns the command. */
export function addFlags(command: Command, table: Readonly<Record<string, FlagRow>>): Command {
  const rows = Object.values(table);
  for (const group of [undefined, ...GROUPS])
    for (const row of rows.filter((one) => one.group === group))
      command.addOption(group === undefined ? optionOf(row) : optionOf(row).helpGroup(group));
  return command;
}

/** The readers of what may be given several times. */
const LISTS: ReadonlySet<Value> = new Set<Value>([addToList, findingCodes, podSelectors]);

function optionOf({ spelling, help, value, byDefault }: FlagRow): Option {
  const option = new Option(spelling, help);
  if (LISTS.has(value)) return option.argParser(value as typeof addToList).default([], "none");
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

/** The variable of a flag. */
function variableOf({ long }: Option): string {
  return `FLIPOP_${(long ?? "").slice(2).replaceAll("-", "_").toUpperCase()}`;
}

/**
 * Returns a sentence about the flags that a text names and that a variable has set, with a space before it: nobody finds them on the command line. `""` where there is none.
 * Pure.
 */
export function variablesBehind(program: Command, text: string): string {
  const options = [program, ...program.commands].flatMap((owner) =>
    owner.options.filter((option) => owner.getOptionValueSource(option.attributeName()) === "env"),
  );
  const named = options.flatMap((option) => {
    const flag = [option.long, option.short].find((one) => one !== undefined && isNamed(one ?? "", text));
    return flag == null ? [] : [{ flag, variable: variableOf(option) }];
  });
  if (named.length === 0) return "";
  const [variables, flags] = [listText(named.map(({ variable }) => variable)), listText(named.map(({ flag }) => flag))];
  return named.length === 1
    ? ` The environment variable ${variables} sets ${flags}.`
    : ` The environment variables ${variables} set ${flags}.`;
}

function isNamed(flag: string, text: string): boolean {
  return new RegExp(`(?<![\\w-])${flag}(?![\\w-])`).test(text);
}

function applyOne(owner: Command | null, option: Option, env: Environment): void {
  const variable = variableOf(option);
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
  if (option.parseArg === (podSelectors as unknown)) return podSelectors(text, []);
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
