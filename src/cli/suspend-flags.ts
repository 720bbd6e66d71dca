import { duration, suspensionTime } from "./flag-values.ts";
import { CLUSTER, type ClusterFlags, type FlagTable, flag, type GlobalFlags } from "./flags.ts";

/** Flags of `resume`. */
export interface ResumeFlags extends ClusterFlags {
  readonly all?: boolean;
}

/** Flags of `suspend`. */
export interface SuspendFlags extends ResumeFlags {
  readonly reason?: string;
  /** Milliseconds. */
  readonly for?: number;
}

/** Flags of `approve`. */
export interface ApproveFlags extends ClusterFlags {
  /** Milliseconds. */
  readonly for: number;
  readonly yes?: boolean;
}

/** The flags of `suspend`. */
export const SUSPEND: FlagTable<Omit<SuspendFlags, keyof GlobalFlags>> = {
  ...CLUSTER,
  all: flag("--all", "every object that runs under the Lease work for"),
  reason: flag("--reason <TEXT>", "why, for whoever finds it suspended; needed"),
  for: flag(
    "--for <DURATION>",
    "end it by itself after this time, at most 7d; without it only flipop resume ends it",
    suspensionTime,
  ),
};

/** The flags of `approve`. */
export const APPROVE: FlagTable<Omit<ApproveFlags, keyof GlobalFlags>> = {
  ...CLUSTER,
  for: flag("--for <DURATION>", "how long the approval holds", duration, "15m"),
  yes: flag("-y, --yes", "ask nothing"),
};

/** The flags of `resume`. */
export const RESUME: FlagTable<Omit<ResumeFlags, keyof GlobalFlags>> = {
  ...CLUSTER,
  all: flag("--all", "end flipop suspend --all; objects that were suspended by themselves stay so"),
};
