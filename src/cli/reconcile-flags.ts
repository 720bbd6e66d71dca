import { addToList, anyText, duration, isURIReference, lookInterval, valid } from "./flag-values.ts";
import {
  COMMON,
  type CommonFlags,
  type FlagTable,
  flag,
  type GlobalFlags,
  GRANTS,
  type GrantsFlag,
  LIMITS,
  type LimitFlags,
  objectOutputFlag,
  SHARD,
  type ShardFlags,
  under,
} from "./flags.ts";

/** Flags of `reconcile`; durations in milliseconds. */
export interface ReconcileFlags extends CommonFlags, LimitFlags, ShardFlags {
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
  /** Milliseconds; absent = a day. */
  readonly maxAge?: number;
}

/** The flags of `reconcile`. */
export const RECONCILE: FlagTable<Omit<ReconcileFlags, keyof GlobalFlags>> = {
  ...COMMON,
  ...SHARD,
  output: objectOutputFlag("jsonl"),
  settle: flag("--settle", "pass again until nothing is left to do or the time is over"),
  timeout: flag("--timeout <DURATION>", "time for the whole run; with --watch for one pass", duration, "50s"),
  partial: flag("--partial <MODE>", "exit code when some objects are in error", ["fail", "ok"], "fail"),
  yes: flag("-y, --yes", "ask nothing; without it a terminal is asked before what cannot be undone"),
  confirm: flag("--confirm", "without a terminal leave what cannot be undone, list it and exit 4"),
  grants: flag("--grants <MODE>", "whether grants of namespaces count: not, as a warning, or required", GRANTS, "off"),
  ...under("Saved plan:", {
    plan: flag("--plan <FILE>", "carry out a saved plan, and nothing else; - reads it from stdin"),
    allOrNothing: flag("--all-or-nothing", "with --plan: do nothing when a part of it cannot be done as it was saved"),
    maxAge: flag("--max-age <DURATION>", "with --plan: how old the saved plan may be; 24h by default", duration),
  }),
  ...LIMITS,
  ...under("Watch:", {
    watch: flag("--watch", "go on, and pass again whenever something changes"),
    interval: flag(
      "--interval <DURATION>",
      "with --watch: time between two looks at the providers; 60s by default",
      lookInterval,
    ),
    metricsAddr: flag(
      "--metrics-addr <ADDRESS>",
      "with --watch: serve /metrics, /healthz and /readyz here, such as :8080",
    ),
  }),
  ...under("Metrics:", {
    pushgateway: flag("--pushgateway <URL>", "push metrics to this Pushgateway after the run"),
    pushJob: flag("--push-job <NAME>", "job of the pushed group", anyText, "flipop"),
    pushGrouping: flag("--push-grouping <NAME=VALUE>", "further label of the pushed group, repeatable", addToList),
  }),
  ...under("Notifications:", {
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
  }),
  ...under("Lock:", {
    onLocked: flag("--on-locked <MODE>", "while another run holds the lock; fail, with --watch wait, by default", [
      "fail",
      "skip",
      "wait",
    ]),
    leaseDuration: flag(
      "--lease-duration <DURATION>",
      "how long the lock lasts without a renewal; at most half of --timeout",
      duration,
      "15s",
    ),
    renewDeadline: flag("--renew-deadline <DURATION>", "when to give the lock up without a renewal", duration, "10s"),
    retryPeriod: flag("--retry-period <DURATION>", "time between renewals", duration, "2s"),
    lock: flag("--no-lock", "run without the lock; only when nothing else can run"),
  }),
};
